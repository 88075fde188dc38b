"""How a table of text was written, as a typed table keeps it, and how it is written so again."""

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from serialpack.conversion.types.seen import TypesSeen
from serialpack.conversion.types.spelling import (
    COMMA,
    LIST,
    TEXT,
    Spelling,
    is_style,
    spelled,
    values_of,
)
from serialpack.conversion.types.typing import TypedColumn
from serialpack.csv_front import before_header
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.by_columns import TextColumns
from serialpack.formats.csv.quoting import EVERY, needs_quotes, quoted
from serialpack.formats.csv.style import ALL, FILLED, NEEDED
from serialpack.formats.csv.tokens import rows_of
from serialpack.serializers.base import FAILURES
from serialpack.values.missing import MISSING, each_column

#: The longest first line that is kept, in characters.
_MOST_HEAD = 1 << 20

_VERSION = 1


class KeptColumn(NamedTuple):
    """How the cells of one column are written: their spelling, how they are quoted, and the word
    that stands bare for null; none: an empty cell does."""

    spelling: Spelling = Spelling(TEXT)
    quotes: str = NEEDED
    null: str = ""

    def texts(self, values: Sequence[Any]) -> list[Any]:
        """The text of the column's cells: null is empty, or None where it is a word. One of
        ``serializers.base.FAILURES`` where a value is not of the type, or has no such text."""
        if self.spelling.type == TEXT:
            types = set(map(type, values))
            if not types <= {str} and not (self.null and types <= {str, type(None)}):
                raise TypeError("a cell that is no text")
            return list(values)
        some = [value for value in values if value is not None and value is not MISSING]
        made = spelled(some, self.spelling) if some else []
        if len(some) == len(values):
            return made
        each = iter(made)
        nothing = None if self.null else ""
        return [nothing if v is None or v is MISSING else next(each) for v in values]

    def read(self, texts: Sequence[Any]) -> list[Any]:
        """The values of the text of cells; ValueError where they are not spelled so."""
        if self.spelling.type == TEXT:
            return list(texts)
        some = [text for text in texts if text]
        values = values_of(some, self.spelling)
        if values is None:
            raise ValueError("a cell in another spelling")
        if len(some) == len(texts):
            return values
        each = iter(values)
        return [next(each) if text else None for text in texts]

    def proved_texts(self, values: Sequence[Any]) -> list[Any] | None:
        """As ``texts``; None where values cannot be written so, and read again."""
        try:
            texts = self.texts(values)
            again = self.read(texts)
        except FAILURES:
            return None
        same = again == [None if value is MISSING else value for value in values] or (
            self.spelling.type in ("number", COMMA) and all(map(_is_same, again, values))
        )
        return texts if same else None

    def cells(self, texts: Sequence[Any], delimiter: str, *, alone: bool) -> list[str]:
        """The raw cells of texts, quoted as they were."""
        if not self.null:
            return quoted(texts, self.quotes, delimiter, alone=alone)
        filled = ["" if text is None else text for text in texts]
        cells = quoted(filled, self.quotes, delimiter, alone=alone)
        pairs = zip(cells, texts, strict=True)
        # The text that is the word was in quotes.
        return [
            self.null if text is None else f'"{cell}"' if cell == self.null else cell
            for cell, text in pairs
        ]

    def texts_of(self, cells: Sequence[str], texts: Sequence[str]) -> list[Any]:
        """As ``texts``, of raw cells that have these ``texts``."""
        if not self.null:
            return list(texts)
        return [None if c == self.null else text for c, text in zip(cells, texts, strict=True)]


def _is_same(one: Any, other: Any) -> bool:
    """Whether they are equal, or both NaN, or nothing."""
    both_nan = one != one and other != other
    return both_nan or bool(one == (None if other is MISSING else other))


class KeptTable(NamedTuple):
    """How a table of text was written.

    ``head``: its first line with what ends it, as it stood; ``end``: whether its last line ends.
    ``back``: the words that gave it its types.
    """

    head: str
    delimiter: str
    newline: str
    end: bool
    columns: dict[str, KeptColumn]
    back: tuple[str, ...] = ()

    def stored(self) -> bytes:
        """As a typed table keeps it."""
        columns = {
            name: [*each.spelling, each.quotes, *[each.null] * bool(each.null)]
            for name, each in self.columns.items()
        }
        words = {"version": _VERSION, **self._asdict(), "columns": columns}
        return json.dumps(words, ensure_ascii=False).encode()

    def rows(self, columns: Sequence[Sequence[str]]) -> str:
        """The lines of raw cells, column by column, each with its end."""
        rows = zip(*columns, strict=True)
        return self.newline.join([*map(self.delimiter.join, rows), ""])

    def first_line(self, names: list[str]) -> bytes:
        """The line of names as it stood; nothing where it has others."""
        try:
            head = self.head.encode()
            rows = rows_of(head[before_header(head) :].decode(), self.delimiter)
        except ValueError:
            return b""
        ends = self.head.endswith(self.newline) or not self.head.endswith(("\r", "\n"))
        return self.head.encode() if rows == [names] and ends else b""

    def writes(self, data: bytes, records: list[Any], *, first: bool, last: bool) -> bool:
        """Whether the text of a block's records is written as the bytes of that block."""
        if any(list(record) != list(self.columns) for record in records[:1]):
            return False
        columns = dict(each_column(records)) if records else None
        return self.writes_columns(data, columns, first=first, last=last)

    def writes_columns(
        self, data: bytes, columns: dict[str, Sequence[str]] | None, *, first: bool, last: bool
    ) -> bool:
        """As ``writes``, of the text of columns by their names; None: there are no rows."""
        if first and not data.startswith(self.head.encode()):
            return False
        body = data[len(self.head.encode()) :] if first else data
        if columns is None:
            return not body
        alone = len(self.columns) == 1
        try:
            cells = [
                column.cells(columns[name], self.delimiter, alone=alone)
                for name, column in self.columns.items()
            ]
            text = self.rows(cells).encode()
        except (*FAILURES, LookupError, AttributeError):  # also for what a short row lacks
            return False
        return body == (text.removesuffix(self.newline.encode()) if last and not self.end else text)

    def writes_arrays(
        self, data: bytes, found: TextColumns, delimiter: str, *, first: bool, last: bool
    ) -> bool:
        """As ``writes``, of columns that are arrays, of which it is known how they are quoted."""
        if found.quotes is None or found.names != list(self.columns):
            return False
        kept = [column.quotes for column in self.columns.values()]
        quoted_so = all(way in ways for way, ways in zip(kept, found.quotes, strict=True))
        same = (delimiter, found.newline) == (self.delimiter, self.newline)
        head = not first or data.startswith(self.head.encode())
        ends = data.endswith(found.newline.encode()) != (last and not self.end)
        return quoted_so and same and head and ends


def is_written_so(kept: KeptTable, block: SourceBlock, records: list[Any]) -> bool:
    """Whether the text of a block's records is written as the bytes of that block."""
    return kept.writes(bytes(block.data), records, first=block.index == 0, last=block.last)


def kept_of(stored: bytes | None) -> KeptTable | None:
    """What a typed table keeps; None where it keeps nothing, or what is not known here."""
    if not stored:
        return None
    try:
        words = json.loads(stored)
        if words.pop("version") != _VERSION:
            return None
        columns = {
            name: KeptColumn(Spelling(kind, style), quotes, *null)
            for name, (kind, style, quotes, *null) in words.pop("columns").items()
        }
        kept = KeptTable(**words, columns=columns)
        kept = kept._replace(back=tuple(map(str, kept.back)))
        sound = kept.newline in ("\n", "\r\n") and kept.delimiter in (",", ";", "|", "\t")
        sound = sound and type(kept.head) is str and type(kept.end) is bool
        sound = sound and all(_is_sound(column) for column in columns.values())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return kept if sound else None


def _is_sound(column: KeptColumn) -> bool:
    kind, style = column.spelling
    is_word = type(column.null) is str and not needs_quotes(",;|\t")(column.null)
    return is_style(kind, style) and column.quotes in (ALL, FILLED, NEEDED) and is_word


def kept_from(
    seen: TypesSeen,
    names: Collection[str],
    types: Sequence[TypedColumn],
    delimiter: str,
    back: tuple[str, ...],
    null: str | None,
) -> KeptTable | None:
    """What is kept of a table of text whose cells were looked at; None where that is too much,
    cells become lists, or in one column an empty cell and the word ``null`` are both null."""
    head = seen.head.decode("utf-8", "replace")
    spellings = {column.name: column.spelling for column in types}
    if len(head) > _MOST_HEAD or any(column.spelling.type == LIST for column in types):
        return None
    columns = {}
    for name in names:
        fit = seen.columns[name].quotes if name in seen.columns else EVERY
        quotes = next((each for each in (NEEDED, FILLED, ALL) if each in fit), NEEDED)
        spelling = spellings.get(name, Spelling(TEXT))
        cells = seen.by_hand.get(name) or seen.columns.get(name)
        word = ""
        if null is not None and cells is not None and cells.word:
            if cells.empty and spelling.type != TEXT:
                return None
            word = null
        columns[name] = KeptColumn(spelling, quotes, word)
    newline = "\r\n" if head.endswith("\r\n") else "\n"
    return KeptTable(head, delimiter, newline, seen.end, columns, back)
