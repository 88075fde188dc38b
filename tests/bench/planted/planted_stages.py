"""Serializers and a codec that do wrong, for tests that bench says so."""
# ruff: noqa: ARG002 (what fails at once looks at nothing)

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.pipeline import line
from serialpack.pipeline.writing import Writing
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.json import JsonSerializer
from serialpack.stages.stage import Buffer, Entry, Registry

#: What large blocks are to LateCrash and LateHang: no first look is at one of them.
LARGE = 300_000


class Slow(JsonSerializer):
    """json with everything done twice."""

    def dump_object(self, records: list[Any]) -> list[Buffer]:
        super().dump_object(records)
        return super().dump_object(records)

    def load_object(self, pieces: list[Buffer]) -> list[Any]:
        super().load_object(pieces)
        return super().load_object(pieces)


def _twice(half: Callable[..., Any]) -> Callable[..., Any]:
    """What does it all twice for Slow: the text of the source too, as other serializers have it."""

    def done(self: Writing, *args: Any, **named: Any) -> Any:
        if isinstance(self.serializer, Slow):
            half(self, *args, **named)
        return half(self, *args, **named)

    return done


class Lossy(JsonSerializer):
    """json that reads every ``note`` as nothing."""

    def _load(self, data: Buffer) -> list[Any]:
        return [{**record, "note": None} for record in super()._load(data)]


class Aborting(JsonSerializer):
    """Ends its process."""

    def _dump(self, records: list[Any]) -> bytes:
        os.abort()


class Crashing(JsonSerializer):
    """Reads where there is no memory."""

    def _dump(self, records: list[Any]) -> bytes:
        return ctypes.string_at(1)


class LateCrash(JsonSerializer):
    """Ends its process when a block is large."""

    def _dump(self, records: list[Any]) -> bytes:
        data = super()._dump(records)
        if len(data) > LARGE:
            os.abort()
        return data


class LateHang(JsonSerializer):
    """Does not end when a block is large."""

    def _dump(self, records: list[Any]) -> bytes:
        data = super()._dump(records)
        while len(data) > LARGE:
            time.sleep(60)
        return data


class Hanging(JsonSerializer):
    """Does not end."""

    def _dump(self, records: list[Any]) -> bytes:
        while True:
            time.sleep(60)


class Greedy(JsonSerializer):
    """Takes all memory."""

    def _dump(self, records: list[Any]) -> bytes:
        taken = []
        while True:
            taken.append(bytes(64 << 20))


class Failing(JsonSerializer):
    """Raises what nobody expects."""

    def _dump(self, records: list[Any]) -> bytes:
        raise KeyError("no such luck")


class AbortingCodec(Codec):
    """Ends its process."""

    bound = "It never writes."

    def _compress(self, data: Buffer) -> Buffer:
        os.abort()

    def _decompress(self, stored: Buffer, size: int) -> Buffer:
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
    Writing.encode = _twice(Writing.encode)  # type: ignore[method-assign]
    Writing.decode = _twice(Writing.decode)  # type: ignore[method-assign]
    if "PLANTED_PROCESSES" in os.environ:
        # Worker processes for sources of any size.
        line.PROCESSES_FROM = 1
