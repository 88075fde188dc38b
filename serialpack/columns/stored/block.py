"""A column block: a byte that says its form, then structure and columns, or the text itself.

``serializers.columns`` writes and reads whole blocks; ``pipeline.fields`` reads some columns of
one, by ``ColumnBlock``: the structure first, then what is asked for. The forms are in man/spk.5,
structure and columns in man/spk-columns.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import cached_property

import zstandard

from serialpack.columns.parse import shape
from serialpack.columns.stored import structure
from serialpack.columns.stored import write as pack
from serialpack.columns.stored.read import StoredColumns, header_end
from serialpack.columns.stored.structure import TextShape
from serialpack.columns.stored.wire import WireReader, counted
from serialpack.columns.texts import Broken, Texts, Unknown
from serialpack.stages.stage import MAX_BLOCK, Buffer

#: Values may be so many times as long as the source: numbers of MessagePack stand in columns as
#: text.
_LONGER = 3

#: The most bytes that the form and the length behind it take.
_LENGTH = 11

#: A piece of a block (see ``pieces``) has more than so many bytes, and leaves so many for the next
#: one. A block of up to so many is one piece: it is read at once, wherever it is, and a file that
#: is this one block takes 370 bytes less (``container.short``).
_PIECE, _REST, _WHOLE = 8 << 10, 1 << 10, 64 << 10


class Form(IntEnum):
    """The byte that a block begins with: what the rest is, and where that is the text, why."""

    LARGER = 0
    """The text under zstd: its columns would not be smaller, or hardly."""
    COLUMNS = 1
    """Structure and columns."""
    SHAPELESS = 2
    """The text under zstd: it has no records, or no two alike."""
    UNPROVED = 3
    """The text under zstd: its columns did not give back its bytes."""

    @classmethod
    def of(cls, start: Buffer) -> Form:
        """The form of a block that begins with ``start``. Broken where it is empty, Unknown."""
        if not len(start):
            raise Broken("it is empty")
        try:
            return cls(start[0])
        except ValueError:
            raise Unknown(f"a column block of form {start[0]}") from None


def write(split: shape.Split, effort: int) -> bytes:
    """The block of a text that was split. ``effort``: to make it small, from 1 to 9."""
    names = ["/".join(map(str, column.path)) for column in split.shape.columns]
    outline = counted(structure.write(split.shape, effort))
    return b"".join((bytes([Form.COLUMNS]), outline, pack.encode_all(split.columns, effort, names)))


def write_text(text: Buffer, form: Form, compressor: zstandard.ZstdCompressor) -> bytes:
    """The block of a text as it is, under zstd."""
    return bytes([form]) + compressor.compress(text)


def read(data: bytes) -> bytes:
    """The text of a block. Broken; Unknown for what only a later version knows."""
    if Form.of(data) is Form.COLUMNS:
        return ColumnBlock(memoryview(data)).text()
    return read_text(data)


def read_text(data: bytes) -> bytes:
    """The text of a block in any form but ``COLUMNS``. Broken."""
    try:
        size = zstandard.frame_content_size(data[1:])
        if not 0 <= size <= MAX_BLOCK:
            raise Broken("its text does not say its size, or one that is too large")
        text = zstandard.ZstdDecompressor().decompress(data[1:], allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise Broken(str(error)) from None
    if len(text) != size:
        raise Broken("its text is of another size than it says")
    return text


class ColumnBlock:
    """The structure and the columns of a block in the form ``COLUMNS``, each read when it is asked
    for.

    ``data``: the block, of which bytes may be missing: ``need(start, stop)`` is called before these
    bytes are looked at, and may put them there. Broken and Unknown are raised by the constructor,
    or by whatever is called later.
    """

    def __init__(
        self, data: memoryview, need: Callable[[int, int], object] = lambda _start, _stop: None
    ) -> None:
        self._need = need
        need(0, min(_LENGTH, len(data)))
        start = WireReader(data[:_LENGTH], 1)
        size = start.varint(len(data))
        self._base = start.position + size
        need(0, min(self._base + _LENGTH * 2, len(data)))
        #: How many bytes the structure takes, with the form and its own length.
        self.outline_size = self._base
        self._outline = data[start.position : self._base]
        if len(self._outline) != size:
            raise Broken("the structure ends early")
        self._packed_data = data[self._base :]

    @cached_property
    def shape(self) -> TextShape:
        """The structure of the text."""
        return structure.read(bytes(self._outline), MAX_BLOCK)

    @cached_property
    def packed(self) -> StoredColumns:
        """The stored columns. Of their bytes only those of columns are
        there that ``texts`` was asked for."""
        self._need(self._base, self._base + header_end(self._packed_data))
        most = MAX_BLOCK * _LONGER - self.shape.size
        packed = StoredColumns(self._packed_data, sum(self.shape.numbers), most)
        if [packed.number(index) for index in range(len(packed))] != list(self.shape.numbers):
            raise Broken("columns of more or fewer values than the structure has")
        return packed

    def texts(self, index: int) -> Texts:
        """The values of a column."""
        for start, stop in self.packed.ranges(index):
            self._need(self._base + start, self._base + stop)
        return self.packed.texts(index)

    def text(self, start: int | None = None, stop: int | None = None) -> bytes:
        """The text; with ``start`` and ``stop`` that of these records (``shape.join``)."""
        self._need(self._base, self._base + len(self._packed_data))
        packed = self.packed
        columns = [packed.texts(index) for index in range(len(packed))]
        return shape.join(self.shape, columns, start, stop)

    def pieces(self) -> Iterator[tuple[int, int]]:
        """The pieces of the block, where each starts and stops: cut where columns are worth reading
        on their own, so that the container can give each piece a checksum.

        The first piece has all that must be known before any column is read. Only for a block that
        was just written: how much its header may promise is not held against the structure.
        """
        at = 0
        *bounds, end = [self._base + bound for bound in StoredColumns(self._packed_data).bounds]
        before = bounds[0] if bounds else end
        least = _PIECE if end > _WHOLE else end
        for bound in [*bounds[1:], end]:
            if bound - at > least and before - at > _REST:
                yield at, before
                at = before
            before = bound
        yield at, end
