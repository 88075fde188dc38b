"""Some fields of the records in a container: only the columns of these fields are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import IO, NamedTuple

from serialpack.collector import gc_paused
from serialpack.columns.fields import csv as rows
from serialpack.columns.fields import json as project
from serialpack.columns.fields.wanted import Field, UntoldError
from serialpack.columns.parse import shape
from serialpack.columns.stored.block import ColumnBlock, Form, read_text
from serialpack.columns.stored.structure import TextShape
from serialpack.columns.texts import Broken, Texts, Unknown
from serialpack.container.block import Block, StoredBlock
from serialpack.container.seek import BlockParts, StoredMember, find_members
from serialpack.errors import DamagedError, RefusedError, SerialpackError, UnsupportedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.pipeline.blocks import MALFORMED, BlockUnpacker
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.timing import Timer
from serialpack.pipeline.workers import in_order
from serialpack.stages.stage import Buffer
from serialpack.values.structure import Structure

#: Blank lines, each with its end.
_BLANK_LINES = re.compile(rb"(?:(?<=\n)|\A)\r?\n")

_NO_LOCK = nullcontext()


def projectable(source: Source, plan: Plan) -> StoredMember | None:
    """The member of the container ``source``, where fields can be read from their columns alone.

    None where that cannot be: the container is not seekable or has several members, its records are
    not stored as columns, or its source is neither a sequence of records nor an array of them.
    """
    columns = plan.chain.serializer.name == "columns"
    records = FORMATS.declaration(plan.format).has_lines or plan.style.get("k") == Structure.ARRAY
    if FORMATS.declaration(plan.format).variants:
        return None  # its columns are not in UTF-8, or have no names
    if not (columns and records and source.seekable()):
        return None
    first, *others = find_members(source.file)
    return None if others else first


class OpenBlock:
    """A block of the serializer columns, of which only the parts are read that are needed.

    ``load(number)`` gives the stored bytes of a part, verified. All work with the columns must be
    done within ``with block.checked():``, which turns the errors of columns into DamagedError and
    UnsupportedError.
    """

    def __init__(self, plan: Plan, block: Block, start: int, load: Callable[[int], Buffer]) -> None:
        if not block.exact:
            raise DamagedError("says that columns is not exact", block=block.seq, start=start)
        self.block = block
        self._start = start
        self._load = load
        self._kind = FORMATS.declaration(plan.format).columns
        self._bounds = [0]
        for part in block.parts:
            self._bounds.append(self._bounds[-1] + part.stored)
        self._there = [False] * len(block.parts)
        if plan.chain.plain and all(part.chain is None for part in block.parts):
            self._data = bytearray(self._bounds[-1])
        else:
            self._data = self._decompressed(plan)
        with self.checked():
            self._need(0, 1)
            self.form = Form.of(self._data[:1])

    def columns(self) -> ColumnBlock:
        """The columns of a block in the form of columns."""
        columns = ColumnBlock(memoryview(self._data), self._need)
        if self._kind not in ("", columns.shape.text_kind):
            raise Broken("the structure of a text in another format")
        return columns

    def text(self) -> bytes:
        """The text of a block that is kept as text."""
        self._need(0, len(self._data))
        return read_text(bytes(self._data))

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Turn the errors of columns into those of a container."""
        try:
            with gc_paused():
                yield
        except Unknown as error:
            raise UnsupportedError(f"needs {error}", hint="update serialpack") from None
        except (UntoldError, SerialpackError):
            raise
        except MALFORMED as error:
            raise DamagedError(
                f"its columns cannot be read ({error})", block=self.block.seq, start=self._start
            ) from None

    def _need(self, start: int, stop: int) -> None:
        for number, there in enumerate(self._there):
            first, last = self._bounds[number : number + 2]
            if not there and start < last and first < stop:
                self._data[first:last] = self._load(number)
                self._there[number] = True

    def _decompressed(self, plan: Plan) -> bytearray:
        payload = tuple(map(self._load, range(len(self.block.parts))))
        self._there = [True] * len(payload)
        stored = StoredBlock(self.block, self._start, self._start + self.block.payload, payload)
        return bytearray(BlockUnpacker(plan).decompress(stored, Timer()))


def opened_block(
    file: IO[bytes],
    member: StoredMember,
    plan: Plan,
    number: int,
    start: int,
    lock: AbstractContextManager[object] = _NO_LOCK,
) -> tuple[OpenBlock, BlockParts]:
    """Block ``number`` of a member, at byte ``start`` of ``file``; and its ``BlockParts``, which
    say how many bytes were read. ``lock``: held while ``file`` is read, where threads share it.
    """
    with lock:
        parts = BlockParts(file, member, number, start)

    def load(part: int) -> Buffer:
        with lock:
            return parts.read(part)

    return OpenBlock(plan, parts.block, start, load), parts


class _Piece(NamedTuple):
    """What became of one block: its lines, how many bytes were read for them, and the fields that
    no record in it has."""

    text: bytes
    read: int
    missing: frozenset[Field]


class Projected:
    """Iterates over the records of a container with only some of their ``fields``, as text, a piece
    for each block. JSON and NDJSON become NDJSON, tables stay tables (``columns.fields``).

    ``member``: from ``projectable``; ``plan``: of that member. While it goes on, ``read`` says how
    many bytes of the file were read so far, and ``missing`` which fields no record had so far.
    RefusedError where a record is no map or not valid JSON (``verify``: the text that is given out
    is checked, too); DamagedError.
    """

    def __init__(
        self,
        file: IO[bytes],
        member: StoredMember,
        plan: Plan,
        fields: Sequence[Field],
        threads: int,
        *,
        verify: bool = True,
    ) -> None:
        self._file = file
        self._member = member
        self._lock = Lock()
        self._plan = plan
        #: The format of what is given out.
        self._delimiter = FORMATS.declaration(plan.format).delimiter
        self.format = plan.format if self._delimiter else "ndjson"
        self._fields = tuple(fields)
        self._threads = threads
        self._verify = verify
        #: How many records were given out so far; None of a table.
        self.records: int | None = None if self._delimiter else 0
        self.count = len(self._member.index.rows)
        self.missing = frozenset(self._fields)
        self._offsets = self._member.offsets
        self.read = self._member.length - (self._offsets[-1] - self._offsets[0])
        numbers = [n for n, row in enumerate(self._member.index.rows) if row.records != 0]
        #: The last block that has records: blocks of white space may follow.
        self._last = max(numbers, default=0)
        #: Of a table: the places of the fields, and how many there are.
        self._places: list[int] = []
        self._width = 0

    @property
    def found(self) -> frozenset[Field]:
        """The fields that some record had."""
        return frozenset(self._fields) - self.missing

    def __iter__(self) -> Iterator[bytes]:
        if self._delimiter and self.count:
            self._look_at_head()
        for number, piece in in_order(iter(range(self.count)), lambda: self._piece, self._threads):
            self.read += piece.read
            self.missing &= piece.missing
            if self.records is not None:
                self.records += self._member.index.rows[number].records or 0
            yield piece.text

    @property
    def may_be_otherwise(self) -> bool:
        """Whether it is a table that may be read without spaces before its names, or without lines
        above these (``by_table``)."""
        if not (self._delimiter and self.count):
            return False
        names = self._names()
        above = len(names) == 1 or names[0].startswith("#")
        return above or any(name[:1] == " " for name in names[1:])

    def _piece(self, number: int) -> _Piece:
        """The chosen fields of one block. RefusedError where they cannot be told apart."""
        block, parts = opened_block(
            self._file, self._member, self._plan, number, self._offsets[number], self._lock
        )
        try:
            with block.checked():
                text, missing = self._table(block) if self._delimiter else self._lines(block)
        except UntoldError as error:
            first = sum(row.records or 0 for row in self._member.index.rows[:number])
            raise RefusedError(
                f"fields cannot be told apart from record {first + (error.record or 0)} on:"
                f" {error.reason}",
                hint="unpack all of it, or convert it without --fields",
            ) from None
        return _Piece(text, parts.bytes_read, missing)

    def _lines(self, block: OpenBlock) -> tuple[bytes, frozenset[Field]]:
        """The chosen fields of a block of records, as lines of JSON, and those that no record
        had."""
        text_shape, texts = _shape_and_columns(block)
        projection = project.Projection(
            text_shape,
            self._fields,
            inside=self._plan.style.get("k", Structure.SEQUENCE),
            first=block.block.seq == 0,
            last=block.block.seq >= self._last,
            records=block.block.records,
        )
        lines = projection.lines(texts)
        if self._verify and not _is_json(lines):
            raise UntoldError(None, "it is not valid JSON")
        return lines, frozenset(projection.missing)

    def _table(self, block: OpenBlock) -> tuple[bytes, frozenset[Field]]:
        """The chosen columns of a block of a table, as text, and those that are not there."""
        if block.form is Form.COLUMNS:
            columns = block.columns()
            table = rows.Rows(columns.shape, self._places, self._width)
            text = table.text(columns.texts)
        else:
            text = rows.select(block.text(), self._places, self._delimiter)
        if len(self._places) == 1 and _BLANK_LINES.search(text):
            # Blank lines of the source would become records of an empty value. Those within
            # quotes are part of a value, and cannot be told from them here.
            if b'"' in text.replace(b'""', b""):
                raise UntoldError(None, "blank lines in a table of one column")
            text = _BLANK_LINES.sub(b"", text)
        return text, self.missing

    def _look_at_head(self) -> None:
        """Find the places of the fields in the line of names."""
        names = self._names()
        self._width = len(names)
        self._places = [place for place, name in enumerate(names) if (name,) in self._fields]
        self.missing -= {(name,) for name in names}

    def _names(self) -> list[str]:
        """The names of a table, which the first block has."""
        block, parts = opened_block(self._file, self._member, self._plan, 0, self._offsets[0])
        with block.checked():
            text = head_of(block)
        self.read += parts.bytes_read
        return rows.names(text, self._delimiter)


def head_of(block: OpenBlock) -> bytes:
    """The beginning of a table, from its first block: the first line, and maybe more."""
    if block.form is not Form.COLUMNS:
        return block.text()
    columns = block.columns()
    head = columns.shape.nodes[0].text if columns.shape.nodes else b""
    return head if head.strip() else columns.text()


def _is_json(lines: bytes) -> bool:
    """Whether these are lines of JSON, by their grammar (RFC 8259)."""
    import msgspec

    try:
        if not lines.isascii():
            lines.decode()
        msgspec.json.Decoder(msgspec.Raw).decode_lines(lines)
    except ValueError:
        return False
    return True


def _shape_and_columns(block: OpenBlock) -> tuple[TextShape, Callable[[int], Texts]]:
    """The structure of a block of JSON, and what gives each column, in either form of a block."""
    if block.form is Form.COLUMNS:
        columns = block.columns()
        return columns.shape, columns.texts
    text = block.text()
    split = shape.split(text, "json") or project.untied(text)
    return split.shape, split.columns.__getitem__
