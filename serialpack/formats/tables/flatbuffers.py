"""FlatBuffers, as far as it takes to find how much Arrow's compressed buffers say they restore to:
pyarrow makes room for that much before it looks.

Sources: https://flatbuffers.dev/internals and https://arrow.apache.org/docs/format/Columnar.html
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import error as StructError
from struct import unpack_from
from typing import NamedTuple

from serialpack.stages.stage import Buffer


class FlatTable(NamedTuple):
    """A table within ``data``. Its methods raise struct.error or ValueError for a field beyond
    that."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes) -> FlatTable:
        return cls(data, unpack_from("<I", data)[0])

    def field(self, number: int) -> int | None:
        """Where field ``number`` begins; None where it is absent."""
        index = self.at - unpack_from("<i", self.data, self.at)[0]
        if index < 0:
            raise ValueError("a table without fields")
        size = unpack_from("<H", self.data, index)[0]
        place = 4 + 2 * number
        offset = unpack_from("<H", self.data, index + place)[0] if place < size else 0
        return self.at + offset if offset else None

    def follow(self, number: int) -> int | None:
        """Where that begins which field ``number`` refers to; None where it is absent."""
        at = self.field(number)
        return None if at is None else int(at + unpack_from("<I", self.data, at)[0])

    def table(self, number: int) -> FlatTable | None:
        at = self.follow(number)
        return None if at is None else FlatTable(self.data, at)

    def structs(self, number: int, layout: str, size: int) -> Iterator[tuple[int, ...]]:
        """The structs of the vector in field ``number``, each of ``size`` bytes."""
        at = self.follow(number)
        if at is None:
            return
        count = unpack_from("<I", self.data, at)[0]
        if count * size > len(self.data) - at:
            raise ValueError(f"{count} structs are announced")
        for number in range(count):
            yield unpack_from(layout, self.data, at + 4 + number * size)


_SCHEMA, _DICTIONARY_BATCH, _RECORD_BATCH = 1, 2, 3

#: What stands before the length of a message's metadata, except in streams from before 2019.
CONTINUES = b"\xff\xff\xff\xff"
#: The last version of metadata that is known; they are numbered from 0.
_LAST_VERSION = 4


def begins_stream(head: bytes) -> bool:
    """Whether ``head`` begins as a stream of Arrow's messages: with a schema, which has no body."""
    at = 8 if head.startswith(CONTINUES) else 4
    size = int.from_bytes(head[at - 4 : at], "little")
    if (at + size) % 8 or not 0 < size < 1 << 31:
        return False
    metadata = head[at : at + size]
    try:
        message = FlatTable.root(metadata)
        version, kind, body = message.field(0), message.field(1), message.field(3)
        header = message.follow(2)
        return (
            (version is None or unpack_from("<H", metadata, version)[0] <= _LAST_VERSION)
            and (kind is not None and metadata[kind] == _SCHEMA)
            and (body is None or unpack_from("<q", metadata, body)[0] == 0)
            and (header is not None and header < size)
        )
    except (StructError, IndexError, ValueError):
        return False


def restored_size(metadata: bytes, body: Buffer) -> int:
    """How many bytes the compressed buffers of a message restore to, as they say themselves; 0
    without such.

    ValueError for what is no message of Arrow's.
    """
    try:
        message = FlatTable.root(metadata)
        kind, header = message.field(1), message.table(2)
        batch = None
        if kind is not None and header is not None:
            if metadata[kind] == _RECORD_BATCH:
                batch = header
            elif metadata[kind] == _DICTIONARY_BATCH:
                batch = header.table(1)
        if batch is None or batch.field(3) is None:  # no values, or none that are compressed
            return 0
        total = 0
        for offset, length in batch.structs(2, "<qq", 16):
            # Before each buffer stands its length; -1 where it is not compressed.
            if length >= 8 and 0 <= offset <= len(body) - 8:
                total += max(unpack_from("<q", body, offset)[0], 0)
        return total
    except (StructError, IndexError) as error:
        raise ValueError(str(error)) from None


def file_blocks(footer: bytes) -> Iterator[tuple[int, int, int]]:
    """Of each message that a file's footer points at: its offset, and the bytes of its metadata and
    of its body."""
    try:
        root = FlatTable.root(footer)
        for number in (2, 3):  # dictionaries, and record batches
            for offset, metadata, _, body in root.structs(number, "<qiiq", 24):
                yield offset, metadata, body
    except (StructError, IndexError) as error:
        raise ValueError(str(error)) from None
