"""Serializers and a codec that do wrong, for tests that bench says so."""
# ruff: noqa: ARG002 (what fails at once looks at nothing)

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from typing import Any

from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.formats.base import Format, SourceBlock, Spelling
from serialpack.pipeline import pack
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.json import Json
from serialpack.stages.stage import Buffer, Entry, Registry

#: What large blocks are to LateCrash and LateHang: no first look is at one of them.
LARGE = 300_000


class Slow(Json):
    """json with everything done twice."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        super().encode(block, fmt)
        return super().encode(block, fmt)

    def decode(self, data: Buffer, fmt: Format, spelling: Spelling, *, first: bool) -> Buffer:
        super().decode(data, fmt, spelling, first=first)
        return super().decode(data, fmt, spelling, first=first)

    def restore(self, data: Buffer, fmt: Format, spelling: Spelling, *, first: bool) -> Buffer:
        super().restore(data, fmt, spelling, first=first)
        return super().restore(data, fmt, spelling, first=first)

    def dump_object(self, records: list[Any]) -> Buffer:
        super().dump_object(records)
        return super().dump_object(records)

    def load_object(self, pieces: list[Buffer]) -> list[Any]:
        super().load_object(pieces)
        return super().load_object(pieces)


class Lossy(Json):
    """json that reads every ``note`` as nothing."""

    def load(self, data: Buffer) -> list[Any]:
        return [{**record, "note": None} for record in super().load(data)]


class Aborting(Json):
    """Ends its process."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        os.abort()


class Crashing(Json):
    """Reads where there is no memory."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        return ctypes.string_at(1), 0


class LateCrash(Json):
    """Ends its process when a block is large."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        if len(block.data) > LARGE:
            os.abort()
        return super().encode(block, fmt)


class LateHang(Json):
    """Does not end when a block is large."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        while len(block.data) > LARGE:
            time.sleep(60)
        return super().encode(block, fmt)


class Hanging(Json):
    """Does not end."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        while True:
            time.sleep(60)


class Greedy(Json):
    """Takes all memory."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        taken = []
        while True:
            taken.append(bytes(64 << 20))


class Failing(Json):
    """Raises what nobody expects."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        raise KeyError("no such luck")


class AbortingCodec(Codec):
    """Ends its process."""

    bound = "It never writes."

    def compress(self, data: Buffer) -> Buffer:
        os.abort()

    def decompress(self, stored: Buffer, size: int) -> Buffer:
        raise NotImplementedError


#: By the names that they have in chains.
PLANTED: dict[str, tuple[Registry[Any], type[Any]]] = {
    "slow": (SERIALIZERS, Slow),
    "lossy": (SERIALIZERS, Lossy),
    "aborting": (SERIALIZERS, Aborting),
    "crashing": (SERIALIZERS, Crashing),
    "latecrash": (SERIALIZERS, LateCrash),
    "latehang": (SERIALIZERS, LateHang),
    "hanging": (SERIALIZERS, Hanging),
    "greedy": (SERIALIZERS, Greedy),
    "failing": (SERIALIZERS, Failing),
    "abortingcodec": (CODECS, AbortingCodec),
}


def entries() -> Iterator[tuple[Registry[Any], Entry]]:
    """Each stage's line, and the registry that it belongs in."""
    for number, (name, (registry, cls)) in enumerate(PLANTED.items(), 900):
        yield registry, Entry(name, number, f"{__name__}:{cls.__name__}")


def plant() -> None:
    """Register the stages in this process."""
    for registry, entry in entries():
        registry._by_name[entry.name] = entry
        registry._by_number[entry.number] = entry
    if "PLANTED_PROCESSES" in os.environ:
        # Worker processes for sources of any size.
        pack.PROCESSES_FROM = 1
