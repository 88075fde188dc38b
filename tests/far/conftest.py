"""Far files of the tests' own: on a small HTTP server, and without long waits."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

import serialpack
from serialpack.far import trouble
from tests.far.server import FileServer, file_server

#: Many blocks of records that hardly shrink, so that there is something to leave out.
_RANDOM = Random(1)
RECORDS = b"".join(
    json.dumps({"id": n, "text": _RANDOM.randbytes(40).hex()}).encode() + b"\n"
    for n in range(20_000)
)


class BrokenSource(io.RawIOBase):
    """Zeros, until ``fails()``."""

    def __init__(self, fails: Callable[[], object]) -> None:
        self._fails = fails

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        if self._fails():
            raise OSError("the source is gone")
        into[:] = bytes(len(into))
        return len(into)


@pytest.fixture(scope="session")
def packed() -> bytes:
    """``RECORDS`` in a container of many blocks."""
    target = io.BytesIO()
    serialpack.pack(
        io.BytesIO(RECORDS), target, format="ndjson", serializer="raw", block_size=64 << 10
    )
    return target.getvalue()


@pytest.fixture
def server(packed: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A server with ``records.ndjson`` and ``records.spk``; nobody waits long to try again."""
    for library in ("fsspec", "aiohttp"):
        pytest.importorskip(library, reason="the extra remote is not installed")
    monkeypatch.setattr(trouble, "WAITS", [0.01, 0.01])
    with file_server() as found:
        found.files = {"records.ndjson": RECORDS, "records.spk": packed}
        yield found
