"""A file of one array as a source: its rows are records."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, ClassVar, Literal

from serialpack.errors import RefusedError
from serialpack.formats.arrays.header import MOST_HEADER, ArrayHeader, scale_words
from serialpack.formats.base import MAX_BLOCK, Read, SourceBlock, Style
from serialpack.formats.shared.document import DocumentFormat, Malformed
from serialpack.formats.shared.large import ReadAt
from serialpack.formats.shared.preview import CORNER, shown_corner
from serialpack.formats.shared.random_access import FileRead, as_file
from serialpack.stages.stage import Buffer
from serialpack.text import number_of
from serialpack.values.kinds import HEADER, Loss
from serialpack.values.structure import Structure

#: The longest record that is made of zeros to say what fields it has.
_MOST_SAMPLE = 1 << 20

#: Bytes that are read at a time where they are passed over.
_PIECE = 1 << 20


class ArrayFormat(DocumentFormat):
    """An array: its rows, the items of one with one dimension, the item of one with none."""

    joins = False
    unpacked = ("is an array of them", "unpack --to ndjson takes its rows")
    #: How many bytes at the front of a file say where its items begin.
    lead: ClassVar[int]

    @abstractmethod
    def header_size(self, lead: bytes) -> int:
        """How many bytes stand before the items, by the first ``lead``; Malformed."""

    @abstractmethod
    def read_header(self, data: bytes) -> ArrayHeader:
        """The header that ``data`` begins with; Malformed where it is not whole or lies."""

    def header_of(self, read: ReadAt) -> tuple[ArrayHeader, Any, int]:
        """The header of a file, the numpy.dtype of its items, and how many bytes both take; as
        ``read_header`` and ``dtype_in``."""
        header = self.read_header(bytes(read(0, self.header_size(bytes(read(0, self.lead))))))
        kind = dtype_in(header)
        if math.prod(length or 1 for length in header.shape) * kind.itemsize >= 1 << 63:
            raise Malformed("its shape is beyond what NumPy has", header.size)
        return header, kind, header.size + math.prod(header.shape) * kind.itemsize

    def length_of(self, piece: Buffer) -> int:
        """How many bytes a file has that begins with ``piece``; 0 where that does not tell."""
        with suppress(Malformed, RefusedError):
            return self.header_of(lambda start, stop: piece[start:stop])[2]
        return 0

    def array(self, data: Buffer) -> Any:
        """The array of the file ``data``, in whose memory its items stay; errors as of
        ``whole_header``."""
        import numpy as np

        header, kind = self.whole_header(lambda start, stop: data[start:stop], len(data))
        order: Literal["C", "F"] = "F" if header.fortran else "C"
        return np.ndarray(header.shape, kind, data[header.size :] or None, order=order)

    def whole_header(self, read: ReadAt, size: int) -> tuple[ArrayHeader, Any]:
        """As ``header_of``; Malformed also where a file of so many bytes is longer or shorter."""
        header, kind, length = self.header_of(read)
        if length != size:
            raise Malformed("its items are fewer or more than its shape has", header.size)
        return header, kind

    def split(
        self,
        read: Read,
        block_size: int,
        *,
        for_values: bool = False,
        most_values: int = 0,  # noqa: ARG002
    ) -> Iterator[SourceBlock]:
        if not for_values:
            return super().split(read, block_size)
        head = read_all(read, self.lead)
        try:
            head = self.whole_head(head, read)
            header = self.read_header(head)
            row = header.items_a_row * dtype_in(header).itemsize
        except Malformed:  # which parse will say
            return self._split_whole(_before(head, read))
        if row and not header.is_fortran:
            return _rows(read, head, header, row, block_size)
        front = head + read_all(read, MAX_BLOCK + 1 - len(head))
        if row and len(front) > MAX_BLOCK:
            return self._rows_across(read, front, header, row, block_size)
        return _whole(read, front, header, header.size + header.rows * row)

    def _rows_across(
        self, read: Read, front: bytes, header: ArrayHeader, row: int, block_size: int
    ) -> Iterator[SourceBlock]:
        """As ``_rows``, of a file in Fortran order, which begins with ``front``: each row is
        gathered from all of it, and stands in C order in its block."""
        import numpy as np

        path = as_file(read).path
        head, left = front[: header.size], [front] if path is None else []
        del front  # 64 MiB, which nobody needs any more
        copied = FileRead(lambda size: left.pop() if left else read(size))
        with copied.file() if path is None else nullcontext(Path(path)) as file:
            size, there = header.rows * row, file.stat().st_size - header.size
            if there < size:
                bad = Malformed(f"its items take {size} bytes, {there} are there", header.size)
                raise self._placed(SourceBlock(b"", index=0, offset=0), bad)
            shape, kind = header.shape, dtype_in(header)
            array = np.memmap(file, kind, "r", header.size, shape, order="F")
            done = 0

            def gathered(wanted: int) -> bytes:
                nonlocal done
                if done == header.rows and there > size:
                    return rest.read(wanted)
                rows = array[done : done + wanted // row]
                done += len(rows)
                return rows.tobytes()

            with file.open("rb") as rest:
                rest.seek(header.size + size)
                yield from _rows(gathered, head, header, row, block_size)

    def whole_head(self, head: bytes, read: Read) -> bytes:
        """What stands before the items, of which ``head`` are the first ``lead`` bytes; Malformed
        where that cannot be."""
        size = self.header_size(head)
        if size > MOST_HEADER:
            raise Malformed(f"a header of {size} bytes is announced", 0)
        return head + read_all(read, size - len(head)) if size > len(head) else head

    def look_at_head(self, read: Read, count: int) -> bytes:
        """A corner of the array, as JSON: ``count`` rows, of each the first ``CORNER`` items."""
        try:
            rows = self.corner(read, count)
        except Malformed as bad:
            raise self._placed(SourceBlock(b"", index=0, offset=0), bad) from None
        return b"".join(map(shown_corner, rows if isinstance(rows, list) else [rows]))

    def corner(self, read: Read, count: int) -> Any:
        """The values of ``count`` rows, of each a few more than are shown, or of the one item.

        Malformed, RefusedError for what no value holds.
        """
        from serialpack.formats.arrays.values import values_of

        header = self.read_header(self.whole_head(read_all(read, self.lead), read))
        return values_of(_corner_in(header, read, count))

    def structure(self, block: SourceBlock, count: int) -> Structure:  # noqa: ARG002
        try:
            header = self.read_header(block.context or bytes(block.data))
        except Malformed:
            return Structure.ARRAY
        if not header.shape:
            return Structure.DOCUMENT
        is_table = len(header.shape) == 1 and isinstance(header.descr, list)
        return Structure.SEQUENCE if is_table else Structure.ARRAY

    def in_source(
        self,
        block: SourceBlock,
        style: Style,  # noqa: ARG002
        first: Callable[[], Buffer],
    ) -> SourceBlock:
        return block._replace(context=bytes(first()) if block.index else b"")

    def parse(self, block: SourceBlock) -> list[Any]:
        return self._placed_records(block)

    def read_block(self, block: SourceBlock) -> list[Any]:
        header = self.read_header(block.context or bytes(block.data))
        start = 0 if block.context else header.size
        if block.index and not block.records:
            raise Malformed(behind(len(block.data)), 0)
        if block.records is not None:  # else it is all of the file
            header = header._replace(fortran=False)
        rows = header.rows if block.records is None else block.records
        return _records(header, memoryview(block.data)[start:], start, rows)

    def read(self, data: bytes) -> list[Any]:
        header = self.read_header(data)
        return _records(header, memoryview(data)[header.size :], header.size, header.rows)

    def sample(self, block: SourceBlock) -> dict[str, Any]:
        with suppress(Malformed, RefusedError):
            header = self.read_header(block.context or bytes(block.data))
            kind = dtype_in(header)
            if kind.names and len(header.shape) == 1:
                if kind.itemsize > _MOST_SAMPLE:
                    return dict.fromkeys(kind.names)
                record = _records(header, memoryview(bytes(kind.itemsize)), header.size, 1)[0]
                return dict(record)
        return {}

    def write(self, records: list[Any]) -> bytes:  # noqa: ARG002
        raise ValueError(f"{self.name} is read, never written")


class VolumeFormat(ArrayFormat):
    """An array whose header says more than type and shape: that is not among the values."""

    def comments(self, block: SourceBlock) -> Loss | None:
        """The header: where the numbers were measured, and by what they are to be multiplied."""
        if block.index:
            return None
        became = ""
        with suppress(Malformed):
            if scale := self.read_header(bytes(block.data[: self.lead])).scale:
                became = f"numbers x as they are stored, not {scale_words(scale)}"
        return Loss(HEADER, 1, 0, "$", f"the header of {self.about}", became)


def _corner_in(header: ArrayHeader, read: Read, count: int) -> Any:
    """The array of the first ``count`` rows, of each the first items; no more is kept in memory,
    and nothing behind it is read. Malformed where that is not there."""
    import numpy as np

    kind, shape = dtype_in(header), header.shape
    most = tuple(map(min, shape, (count, *[CORNER + 1] * len(shape))))
    lengths, wanted = (shape[::-1], most[::-1]) if header.fortran else (shape, most)
    lines, done = list[bytes](), 0
    line = math.prod(wanted[-1:]) * kind.itemsize
    for index in np.ndindex(wanted[:-1]) if line else ():
        start = 0
        for length, place in zip(lengths, (*index, 0), strict=False):
            start = start * length + place
        _pass_over(read, start * kind.itemsize - done)
        # Piece by piece: a header that lies may ask for more than there is memory.
        lines.append(read_all(lambda size: read(min(size, _PIECE)), line))
        if len(lines[-1]) < line:
            raise Malformed("it ends too early", header.size)
        done = start * kind.itemsize + line
    found: Any = np.ndarray(wanted, kind, b"".join(lines) or None)
    return found.T if header.fortran else found


def _pass_over(read: Read, size: int) -> None:
    """Read ``size`` bytes, which nobody wants; fewer only at the end."""
    while size and (piece := read(min(size, _PIECE))):
        size -= len(piece)


def _rows(
    read: Read, head: bytes, header: ArrayHeader, row: int, block_size: int
) -> Iterator[SourceBlock]:
    """Blocks of whole rows, the header before the first; what is too much is one without rows."""
    if row > MAX_BLOCK:
        raise RefusedError(
            f"a row of the array has {row} bytes, more than 64 MiB",
            hint="pack -s raw keeps the bytes",
        )
    index = offset = done = 0
    left = header.rows
    while True:
        count = min(left, max(block_size // row, 1))
        data = read_all(read, count * row)
        left -= count
        more = b"" if left or len(data) < count * row else read_all(read, MAX_BLOCK)
        last = not (left or more) or len(data) < count * row
        whole = data if index else head + data
        context = head if index else b""
        yield SourceBlock(whole, index, offset, count, done, last=last, context=context, line=0)
        index, offset, done = index + 1, offset + len(whole), done + count
        if more:
            yield _block_behind(more, index, offset, header, head)
        if last or more:
            return


def _whole(read: Read, front: bytes, header: ArrayHeader, size: int) -> Iterator[SourceBlock]:
    """One block of an array that takes ``size`` bytes of the file, and one of what is too much.

    ``front``: what has been read.
    """
    more = front[size:] and front[size:] + read_all(read, MAX_BLOCK - len(front) + size)
    yield SourceBlock(front[:size], index=0, offset=0, last=not more, line=0)
    if more:
        yield _block_behind(more, 1, size, header, front[: header.size])


def _block_behind(
    data: bytes, index: int, offset: int, header: ArrayHeader, head: bytes
) -> SourceBlock:
    """The block of what stands behind an array, as far as it is told how much that is."""
    return SourceBlock(data, index, offset, 0, header.rows, last=True, context=head, line=0)


def behind(count: int) -> str:
    """Says that ``count`` bytes, or all that are read of more, stand behind an array."""
    more = "at least " if count == MAX_BLOCK else ""
    return f"{more}{number_of(count, 'byte is', 'bytes are')} behind the array"


def _records(header: ArrayHeader, data: memoryview, start: int, rows: int) -> list[Any]:
    """The next ``rows`` rows, which ``data`` must be; ``start``: where it begins in its block."""
    from serialpack.formats.arrays.values import values_of

    shape = (rows, *header.shape[1:]) if header.shape else ()
    found = values_of(array_in(header._replace(shape=shape), data, start))
    return found if header.shape else [found]


def array_in(header: ArrayHeader, data: memoryview, start: int) -> Any:
    """The array of NumPy whose items ``data`` is, all of it.

    ``start``: where that begins in the file, for Malformed; RefusedError as of ``dtype_in``.
    """
    import numpy as np

    kind, rows = dtype_in(header), header.rows
    row = header.items_a_row * kind.itemsize
    if rows * row > len(data):
        said = f"it ends too early: {rows} rows of {row} bytes, {len(data)} bytes are there"
        raise Malformed(said, start + len(data))
    if rows * row < len(data):
        raise Malformed("there are bytes behind the array", start + rows * row)
    order: Literal["C", "F"] = "F" if header.fortran else "C"
    try:
        return np.ndarray(header.shape, kind, data if len(data) else None, order=order)
    except ValueError as error:  # of an older NumPy, about dimensions
        raise Malformed(str(error), 0) from None


def dtype_in(header: ArrayHeader) -> Any:
    """The numpy.dtype of an item; Malformed, RefusedError for Python's objects."""
    from serialpack.formats.arrays.types import dtype_of

    if header.has_objects:
        raise RefusedError(
            "its items are Python objects, a pickle that can run code",
            hint="unpack --to FORMAT --trust converts it, if you know who wrote it",
        )
    try:
        return dtype_of(header.descr)
    except ValueError as error:
        raise Malformed(str(error), 0) from None


def read_all(read: Read, size: int) -> bytes:
    """``size`` bytes; fewer only at the end."""
    pieces = [piece := bytes(read(size))]
    while piece and (size := size - len(piece)):
        pieces.append(piece := bytes(read(size)))
    return b"".join(pieces)


def _before(head: bytes, read: Read) -> Read:
    """Reads ``head``, then what ``read`` gives."""
    return lambda size: head + read_all(read, size - len(head))
