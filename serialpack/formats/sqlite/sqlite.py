"""SQLite as a format: the rows of one table or view are its records.

A column that is declared BOOLEAN has booleans for 0 and 1; all else is what SQLite says it is:
integers of 64 bits, doubles, text, bytes and null. Rows come in the order of their keys.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from copy import copy
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from serialpack.errors import InputError, UsageError
from serialpack.formats.base import Read, SourceBlock, Span, Style
from serialpack.formats.losses.marks import Marks
from serialpack.formats.shared.document import DocumentFormat, Malformed
from serialpack.formats.shared.preview import first_lines
from serialpack.formats.shared.random_access import as_file
from serialpack.formats.shared.split import split_plain
from serialpack.formats.sqlite import rows
from serialpack.formats.sqlite.database import opened
from serialpack.formats.sqlite.rows import MARK, RowHead
from serialpack.formats.sqlite.write import DECLARED, MOST_COLUMNS, NewDatabase
from serialpack.hidden import temporary_folder
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import (
    BEYOND_JSON,
    DIGITS,
    DUPLICATES,
    UTF8,
    Loss,
    shown,
    value_step,
)

#: Bytes of a block, where nobody says how large they are to be.
_BLOCK = 4 << 20


class SqliteFormat(DocumentFormat):
    """A database, of which one table is read, or written."""

    title = "SQLite"
    about = "SQLite databases, a table of them"
    unpacked = (
        "has tables of them",
        "unpack --to ndjson --table NAME takes one, --to json takes all",
    )
    in_file = True
    heeds = frozenset({UTF8, DIGITS, DUPLICATES})
    cannot = (BEYOND_JSON - {"bytes", "non-finite"}) | {
        *("boolean", "nested", "array", "bare", "mixed", "uint64", "bigint", "surrogates", "nul"),
    }
    #: Infinities it holds, but not NaN, which is null to SQLite.
    partly: ClassVar[frozenset[str]] = frozenset({"non-finite"})

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        if not for_values:
            yield from split_plain(read, block_size)
            return
        if block_size <= _BLOCK:  # rows take fewer bytes than their text, but as much memory
            block_size, most_values = block_size // 2, most_values // 2
        index = offset = first = 0
        before: SourceBlock | None = None
        with opened(as_file(read)) as table:
            for head, piece in table.pieces(block_size, most_values):
                if before is not None:
                    yield before
                before = SourceBlock(
                    piece.data,
                    index=index,
                    offset=offset,
                    records=piece.count,
                    first_record=first,
                    context=head.packed(),
                )
                index, offset, first = index + 1, offset + len(piece.data), first + piece.count
        assert before is not None
        yield before._replace(last=True)

    def look_at_head(self, read: Read, count: int) -> bytes:
        """Text that is no UTF-8 with U+FFFD in it, as of files of text."""
        shown = copy(self)
        shown.marks = Marks(frozenset({UTF8}))
        try:
            return first_lines(shown, read, count)
        except UsageError as error:
            error.hint = "unpack --to json takes all, --to ndjson --table NAME one of them"
            raise

    def record_spans(
        self,
        data: Buffer,
        style: Style,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> Iterator[Span]:
        return rows.spans(bytes(data))

    def sample(self, block: SourceBlock) -> dict[str, Any]:
        return RowHead.unpacked(block.context).sample() if block.context.startswith(MARK) else {}

    def flat_names(self, block: SourceBlock) -> list[str] | None:
        if not block.context.startswith(MARK):
            return None
        head = RowHead.unpacked(block.context)
        is_flat = not head.json and len(set(head.names)) == len(head.names)
        return list(head.names) if is_flat else None

    def flat_columns(self, block: SourceBlock) -> dict[str, Sequence[Any]] | None:
        names = self.flat_names(block)
        if names is None or (head := RowHead.unpacked(block.context)).odd:
            return None
        found = rows.decoded(bytes(block.data))
        if not found or len(found) != block.records:
            return None
        columns: list[Sequence[Any]] = list(zip(*found, strict=True))
        for number in head.boolean:
            columns[number] = list(map(_as_boolean, columns[number]))
        return dict(zip(names, columns, strict=True))

    def kept_words(self, block: SourceBlock) -> bytes | None:
        return RowHead.unpacked(block.context).kept if block.context.startswith(MARK) else None

    def read_block(self, block: SourceBlock) -> list[Any]:
        """The rows as maps, in the order of columns."""
        if not block.context.startswith(MARK):
            return self.read(bytes(block.data))
        head = RowHead.unpacked(block.context)
        found = rows.decoded(bytes(block.data))
        for number in head.boolean:
            for row in found:
                row[number] = _as_boolean(row[number])
        if head.odd:
            self._mend(head.names, found, block.first_record)
        return [dict(zip(head.names, row, strict=True)) for row in found]

    def _mend(self, names: list[str], found: list[list[Any]], first_record: int) -> None:
        """Put U+FFFD where text is no UTF-8; InputError where that is not allowed."""
        from msgspec.msgpack import Ext

        for number, row in enumerate(found):
            for column, value in enumerate(row):
                if type(value) is not Ext:
                    continue
                path = "$" + value_step(names[column])
                if self.marks is None or UTF8 not in self.marks.allowed:
                    raise InputError(
                        f"record {first_record + number}, {path}: its text is not valid UTF-8",
                        hint=f"--lossy {UTF8} puts U+FFFD there",
                    )
                row[column] = bytes(value.data).decode("utf-8", "replace")
                was, became = shown(bytes(value.data)), shown(row[column])
                self.marks.placed.append(Loss(UTF8, 1, number, path, was, became))

    def read(self, data: bytes) -> list[Any]:
        blocks = self.split(BytesIO(data).read, _BLOCK, for_values=True)
        try:
            return list(chain.from_iterable(map(self.read_block, blocks)))
        except InputError as error:
            raise Malformed(error.message) from None

    def write(self, records: list[Any]) -> bytes:
        if not all(type(record) is dict for record in records):
            raise TypeError("a row is a map")
        names = list(dict.fromkeys(chain.from_iterable(records)))
        if not names or len(names) > MOST_COLUMNS:
            raise ValueError("a table has columns, and 2,000 of them at most")
        if not all(type(name) is str for name in names):
            raise TypeError("a key that is no text")
        if not all(list(record) == names for record in records):
            raise TypeError("a table has the same columns in each row")
        columns = list(zip(*map(dict.values, records), strict=True))
        declared = [_declared(column) for column in columns]
        with temporary_folder() as folder:
            path = Path(folder) / "new.db"
            try:
                made = NewDatabase(path, "data", list(zip(names, declared, strict=True)))
                try:
                    made.add(zip(*columns, strict=True))
                finally:
                    made.close()
            except sqlite3.Error as error:
                raise ValueError(str(error)) from None
            return path.read_bytes()


def _as_boolean(value: Any) -> Any:
    """What is in a column of booleans: 0 and 1 are such, all else is what it is."""
    return value == 1 if type(value) is int and value in (0, 1) else value


def _declared(values: tuple[Any, ...]) -> str:
    types = set(map(type, values)) - {type(None)}
    if not types <= DECLARED.keys() or (bool in types and len(types) > 1):
        raise TypeError("a value that SQLite has no type for")
    return DECLARED[types.pop()] if len(types) == 1 else ""
