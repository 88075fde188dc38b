"""A sound container in parts, and what bends one of them: what bad files are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import zstandard
from xxhash import xxh3_128_digest

from serialpack.container.ends import seek_table, trailer
from serialpack.container.frames import (
    BLOCK,
    HEADER,
    INDEX,
    START_OWN,
    START_ZSTD,
    checksum,
    pack_body,
    write_frame,
)

DATA = [b'{"id": 1, "name": "one"}\n' * 3, b'{"id": 2, "name": "two"}\n' * 3]
RAW, JSON, COLUMNS, NONE, ZSTD, XZ = 32, 33, 36, 0, 1, 4
MIB = 1 << 20


class Draft:
    """A sound container of two blocks, whose parts can be bent before it is put together.

    ``fixed`` overrides fields of a block header: (block, field) -> value, or (block, "part",
    field) for its only part. The functions are given what would be written, and give what is.
    """

    def __init__(self, *, zstd: bool) -> None:
        self.zstd = zstd
        self.start = START_ZSTD if zstd else START_OWN
        self.version = 1
        codec = [ZSTD, 3] if zstd else NONE
        self.header: Any = {"c": [RAW, codec], "f": 2, "n": "x.ndjson", "w": 100}
        self.payload = [zstd_frame(d) if zstd else d for d in DATA]
        self.flags = [2, 2]
        self.fixed: dict[tuple[int | str, ...], Any] = {}
        self.extras: Any = None
        self.part_chain: Any = None
        self.fields: Callable[[list[Any]], list[Any]] = lambda fields: fields
        self.blocks: Callable[[list[bytes]], list[bytes]] = lambda blocks: blocks
        self.index: Callable[[bytes], bytes] = lambda index: index
        self.end: Callable[[bytes], bytes] = lambda end: end
        self.body: Callable[[bytes], bytes] = lambda body: body
        self.digest = xxh3_128_digest(b"".join(DATA))

    def build(self) -> bytes:
        """The container."""
        body = self.body(bytes([self.version]) + pack_body(self.header))
        member = checksum(HEADER + body)
        head = write_frame(HEADER, body)
        sizes = [(len(self.start), 0), (len(head), 0)]
        blocks, rows = [], []
        for seq, payload in enumerate(self.payload):
            part = [len(payload), len(DATA[seq]), checksum(payload)]
            for field, value in self._of(seq, "part"):
                part[field] = value
            fixed: list[Any] = [member, seq, self.flags[seq], 3, len(DATA[seq])]
            fixed += [checksum(DATA[seq]), None, [part]]
            for field, value in self._of(seq):
                fixed[field] = value
            if self.part_chain is not None:
                part.append(self.part_chain)
            more = [] if self.extras is None else [self.extras]
            frame = write_frame(BLOCK, pack_body(fixed, *more))
            blocks.append(frame + payload)
            sizes += [(len(frame), 0), (len(payload), len(DATA[seq]))]
            check = int.from_bytes(frame[-8:], "little")
            rows.append([len(frame), len(payload), fixed[2], fixed[3], fixed[4], None, check])
        total = sum(map(len, DATA))
        fields = [0, rows, 1, body, 6, total, total, self.digest]
        index = self.index(write_frame(INDEX, pack_body(self.fields(fields))))
        sizes.append((len(index), 0))
        body_bytes = self.start + head + b"".join(self.blocks(blocks)) + index
        end = seek_table(sizes) if self.zstd else trailer(len(index), len(body_bytes) + 32)
        return body_bytes + self.end(end)

    def _of(self, seq: int, *kind: str) -> Iterator[tuple[int, Any]]:
        for key, value in self.fixed.items():
            if key[:-1] == (seq, *kind):
                yield int(key[-1]), value


def zstd_frame(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)


class Bad(NamedTuple):
    """One file: its name, the rule it breaks, the error (class, words) and how it is made."""

    name: str
    sentence: str
    error: str
    words: str
    make: Callable[[], bytes]


def bent(bend: Callable[[Draft], object], *, zstd: bool = True) -> Callable[[], bytes]:
    """A draft with one thing bent."""

    def make() -> bytes:
        draft = Draft(zstd=zstd)
        bend(draft)
        return draft.build()

    return make


def setting(**values: Any) -> Callable[[Draft], object]:
    return lambda draft: vars(draft).update(values)


def header(**values: Any) -> Callable[[Draft], object]:
    return lambda draft: draft.header.update(values)


def field(*key: int | str, value: Any) -> Callable[[Draft], object]:
    """Set a field of a block header: 0 id, 1 seq, 2 flags, 3 records, 4 size, 5 check,
    6 source check, 7 parts; of its part: 0 stored, 1 restored, 2 check."""
    return lambda draft: draft.fixed.update({key: value})


def index_field(number: int, value: Any) -> Callable[[Draft], object]:
    """Set a field of the index: 0 left, 1 rows, 2 frames, 3 header, 4 records, 5 size,
    6 serialized, 7 digest."""

    def bend(draft: Draft) -> None:
        draft.fields = lambda fields: [*fields[:number], value, *fields[number + 1 :]]

    return bend


def row(number: int, place: int, value: Any) -> Callable[[Draft], object]:
    """Set a field of an index row: 0 frame, 1 payload, 2 flags, 3 records, 4 size,
    5 serialized, 6 check."""

    def change(fields: list[Any]) -> list[Any]:
        fields[1][number][place] = value
        return fields

    return setting(fields=change)


def row_with(number: int, value: Any) -> Callable[[Draft], object]:
    """Append a field to an index row."""

    def change(fields: list[Any]) -> list[Any]:
        fields[1][number].append(value)
        return fields

    return setting(fields=change)


def payload(data: bytes) -> Callable[[Draft], object]:
    return lambda draft: draft.payload.__setitem__(1, data)


def nested(depth: int) -> Callable[[Draft], object]:
    return setting(body=lambda _: b"\x01" + b"\x91" * depth + b"\xc0")


D, U, T, N = "DamagedError", "UnsupportedError", "TruncatedError", "NotContainerError"
