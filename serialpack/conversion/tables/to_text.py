"""Records as the rows of a table of text, proved column by column."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, compress, cycle, repeat
from operator import is_, not_
from typing import Any

from serialpack.conversion.losses.literals import has_literals
from serialpack.conversion.tables.cells import CellStyle, reads_as_json
from serialpack.conversion.tables.columns import Absent
from serialpack.conversion.tables.layout import Layout, TableColumn
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.table import Table, lost_in, same_column, unlike
from serialpack.conversion.types.kept import KeptColumn, KeptTable
from serialpack.csv_front import is_mistaken
from serialpack.formats.csv.join import TableJoin
from serialpack.formats.csv.style import ALL, NEEDED, CsvStyle, TableStyle, write_rows
from serialpack.formats.csv.tokens import rows_of, texts_of
from serialpack.formats.pieces.join import Join
from serialpack.literal import Literal
from serialpack.serializers.base import FAILURES
from serialpack.values.kinds import NAN, Difference, Loss, shown, unplaced
from serialpack.values.missing import MISSING, Missing

_LITERALS: frozenset[type] = frozenset({int, float, bool, Literal})

#: What a cell holds whatever the column.
_PLAIN: frozenset[type] = _LITERALS | {str, type(None), Missing}

#: Columns of fewer rows than these are not taken one by one: each costs as much as so many cells.
_FEW_ROWS = 64

#: What text may have where it reads as a list, a map or a string of JSON.
_OPENS = ("\n[", "\n{", '\n"')


class TextTable(Table):
    """One of text."""

    def __init__(
        self,
        layout: Layout,
        shaping: Shaping,
        delimiter: str,
        *,
        verify: bool,
        lossy: tuple[tuple[str, ...], ...],
        plain: bool,
    ) -> None:
        """``plain``: the records are maps of text, and are to be read as such, also null where a
        word for it was read."""
        super().__init__(layout, verify=verify, lossy=lossy)
        alone = len(layout.columns) == 1
        null = "" if plain and not shaping.reads else shaping.null or ""
        self._style = CellStyle(delimiter, null, alone, plain)
        self._beside_json = bool(layout.json_names) or layout.flattens
        names = [column.name for column in layout.columns]
        style = layout.style
        self._newline = style.newline
        self._head = b"" if layout.rows == "lists" else head_of(names, delimiter, style)
        self._quotes = [column.quotes for column in layout.columns]
        self._quoted = set(self._quotes) != {NEEDED}
        if style.marked:
            self._head = BOM_UTF8 + self._head
        self._kept = layout.kept
        self._alone = alone
        if layout.kept is not None:
            head = layout.kept.first_line(names) or self._head
            self._head = head.rstrip(b"\r\n")

    #: What stands between the pieces: nothing.
    join = Join()

    def _rows(
        self, values: list[Sequence[Any]], told: list[Loss], first_record: int
    ) -> tuple[bytes, Difference | None]:
        if (data := self._text_by_row(values, told, first_record)) is not None:
            return data, None
        columns = self._layout.columns
        values = list(values)
        lost: Difference | None = None
        for number, column in enumerate(columns):
            if column.is_json:
                if NAN in self._lossy[0]:  # which cells have a word for, and JSON text has not
                    values[number], odd = self._as_json(column, values[number], first_record, told)
                else:
                    odd = self._odd(column, values[number])
                lost = lost or odd
        absent = list(map(type, values)).count(Absent)
        for column, each in zip(columns, values, strict=True):
            if type(each) is Absent and not absent:
                continue
            some = self._carried(column, each, first_record, beside_json=self._beside_json)
            if type(each) is Absent:  # of all at once, of which there may be very many
                told += [loss._replace(count=loss.count * absent) for loss in some]
                absent = 0
            else:
                told += some
        try:
            cells = self._columns_of_cells(values)
            text = _lines(cells, self._style.delimiter, self._newline)
            if self._kept is not None:
                text = self._kept.rows(cells)
            if self._verify:
                lost = self._unheld(text, cells, values)
            if self._kept is not None:  # the last line has an end, or none: ``KeptJoin``
                end = self._kept.newline
                text = end + text.removesuffix(end)
            return text.encode(), lost
        except FAILURES as error:
            return b"", self._blame(values, error)

    def _text_by_row(
        self, values: list[Sequence[Any]], told: list[Loss], first_record: int
    ) -> bytes | None:
        """The proved rows of a few records of plain values, all cells as if of one column.

        None where there is more to say of them, or anything is wrong: who goes by columns says
        what. Of a wide table a block has few rows, and of very many columns one.
        """
        if len(values[0]) >= _FEW_ROWS or self._kept is not None or self._beside_json:
            return None
        was = list(chain.from_iterable(zip(*values, strict=True)))
        kinds = list(map(type, was))
        types = set(kinds)
        if not types <= _PLAIN or {Missing, type(None)} <= types:
            return None
        try:
            cells, width = self._style.written(was), len(values)
            if self._quoted:
                cells = self._as_source(cells, was, cycle(self._quotes))
            starts = range(0, len(cells), width)
            lines = (self._style.delimiter.join(cells[at : at + width]) for at in starts)
            text = self._newline.join([*lines, ""])
            if self._verify:
                rows = rows_of(text, self._style.delimiter)
                texts = [*chain.from_iterable(rows)]
                if not {width}.issuperset(map(len, rows)) or texts != texts_of(cells):
                    return None
                for kind in types:  # a cell is read the same beside any others
                    of_kind = list(map(partial(is_, kind), kinds))
                    some = list(compress(was, of_kind))
                    if not self._comes_back(some, list(compress(cells, of_kind))):
                        return None
            data = text.encode()
        except FAILURES:
            return None
        columns = self._layout.columns
        for loss in self._carried(columns[0], was, 0, beside_json=False):
            row, at = divmod(loss.record, width)
            place = columns[at].value_path
            told.append(loss._replace(record=first_record + row, value_path=place))
        return data

    def _carried(
        self, column: TableColumn, values: Sequence[Any], first_record: int, *, beside_json: bool
    ) -> list[Loss]:
        """As ``_carried``; a word for null that was read among plain text stays what it was."""
        apart, plain = bool(self._style.null), self._style.plain
        found = _carried(column, values, first_record, apart=apart, beside_json=beside_json)
        return [loss for loss in found if not (plain and loss.rule == "null")]

    def _comes_back(self, values: Sequence[Any], cells: list[str]) -> bool:
        """Whether cells are read as these values, of one type."""
        if type(values[0]) is str and self._style.read_as_text(cells):
            return texts_of(cells) == values
        became = self._style.read(cells, literals=has_literals([values]))
        return same_column(self._expected(values, is_json=False), became)

    def _comes_back_beside_null(self, values: Sequence[Any], cells: list[str]) -> bool:
        """Whether cells are read as these values: those of one type, and empty ones, which are read
        as nothing, for null. False where there are others, of which it is not known here."""
        style, types = self._style, set(map(type, values))
        if len(types) != 2 or type(None) not in types or style.null or style.alone or style.plain:
            return False
        there = [value is not None for value in values]
        if any(compress(cells, map(not_, there))):
            return False
        return self._comes_back(list(compress(values, there)), list(compress(cells, there)))

    def _columns_of_cells(self, values: list[Sequence[Any]]) -> list[list[str]]:
        """The cells of each column; one list for all that have nothing in them."""
        made: list[list[str]] = []
        blank: list[str] | None = None
        for column, each in zip(self._layout.columns, values, strict=True):
            if type(each) is not Absent or self._kept is not None:
                made.append(self._cells(column, each))
                continue
            blank = self._cells(column, each) if blank is None else blank
            made.append(blank)
        return made

    def _cells(self, column: TableColumn, values: Sequence[Any]) -> list[str]:
        if (kept := self._kept_column(column)) is not None:
            return kept.cells(values, self._style.delimiter, alone=self._alone)
        cells = self._style.written(values, is_json=column.is_json)
        if column.quotes == NEEDED:
            return cells
        return self._as_source(cells, values, repeat(column.quotes))

    def _as_source(
        self, cells: list[str], values: Sequence[Any], quotes: Iterable[str]
    ) -> list[str]:
        """Cells as the source has them in quotes; what is no text is bare, if there are others."""
        plain = self._style.plain
        return [
            f'"{cell}"'
            if how != NEEDED
            and cell[:1] != '"'
            and (cell or how == ALL)
            and (plain or type(value) is str)
            else cell
            for cell, value, how in zip(cells, values, quotes)  # noqa: B905
        ]

    def _kept_column(self, column: TableColumn) -> KeptColumn | None:
        whole = self._kept is not None and len(column.path) == 1 and not column.is_json
        return self._kept.columns.get(column.name) if self._kept is not None and whole else None

    def _unheld(
        self, text: str, cells: list[list[str]], values: list[Sequence[Any]]
    ) -> Difference | None:
        """The first value that does not come back from the text of the rows.

        The text has the cells, each in its place, and each cell is read as its value.
        """
        columns = self._layout.columns
        rows = rows_of(text, self._style.delimiter)
        if not {len(columns)}.issuperset(map(len, rows)):
            return Difference(0, "$", "the cells", "others", "value")
        blank: dict[bool, tuple[list[str], Sequence[str]]] = {}
        found = zip(*rows, strict=True)
        for column, was, raw, texts in zip(columns, values, cells, found, strict=True):
            if type(was) is Absent:
                if (known := blank.get(column.is_json)) and known[0] is raw and known[1] == texts:
                    continue
                blank[column.is_json] = raw, texts
            is_text = not column.is_json and {str}.issuperset(map(type, was))
            # Of text, what was read is compared at once, and not cell by cell.
            if is_text and list(texts) == list(was) and self._style.read_as_text(raw):
                continue
            if list(texts) != texts_of(raw):
                return Difference(0, column.value_path, "the cells", "others", "value")
            if (kept := self._kept_column(column)) is not None:
                lost = unlike(column, was, kept.texts_of(raw, texts))
            elif not column.is_json and self._comes_back_beside_null(was, raw):
                continue
            else:
                literals = has_literals([was])
                became = self._style.read(raw, is_json=column.is_json, literals=literals)
                expected = self._expected(was, is_json=column.is_json)
                lost = unlike(column, expected, became)
            if lost is not None:
                return lost
        return None

    def _expected(self, values: Sequence[Any], *, is_json: bool) -> Sequence[Any]:
        """What is read where null and what is missing are told apart only as far as they are."""
        style = self._style
        if style.plain and not is_json:
            return ["" if v is MISSING else v for v in values]
        if style.alone and not style.null:
            return [None if v is MISSING else v for v in values]
        if is_json or style.null:
            return values
        return [MISSING if v is None else v for v in values]

    def _blame(self, values: list[Sequence[Any]], error: Exception) -> Difference:
        """The first value that cannot be written alone."""
        for column, each in zip(self._layout.columns, values, strict=True):
            for number, value in enumerate(each):
                try:
                    self._cells(column, [value])[0].encode()
                except FAILURES:
                    return lost_in(number, column.value_path, value)
        return unplaced(error)


class KeptJoin(Join):
    """Rows that each begin with the end of the line before, since the last may have none."""

    block_size = TableJoin.block_size

    def __init__(self, kept: KeptTable) -> None:
        self._end = kept.newline.encode() if kept.end else b""

    def end(self) -> Iterator[bytes]:
        yield self._end


def _lines(columns: list[list[str]], delimiter: str, newline: str) -> str:
    """The lines of raw cells that stand column by column."""
    if not columns or not columns[0]:
        return ""
    if len(columns) == 1:
        return newline.join([*columns[0], ""])
    return newline.join([*map(delimiter.join, zip(*columns, strict=True)), ""])


def head_of(names: list[str], delimiter: str, source: TableStyle) -> bytes:
    """The line of names above the rows, as that of the source."""
    if not names:
        return b""
    # Unquoted, it would begin with a byte-order mark, or name the delimiter.
    style = CsvStyle(source.newline, int(source.names or is_mistaken(names, delimiter)))
    return (write_rows([names], delimiter, style) + style.newline).encode()


def _carried(
    column: TableColumn, values: Sequence[Any], first_record: int, *, apart: bool, beside_json: bool
) -> Iterator[Loss]:
    """What is told of a column: how many of its values have another shape in a cell."""
    types = set(map(type, values))
    if types == {str} and not (column.is_json or beside_json):
        return  # which is most often so
    kinds = list(map(type, values))

    def told(rule: str, some: set[Any], became: str) -> Loss:
        count = sum(map(kinds.count, some))
        first = min(map(kinds.index, some))
        was = "nothing" if values[first] is MISSING else shown(values[first])
        return Loss(rule, count, first_record + first, column.value_path, was, became)

    if column.is_json:
        if rest := types - {Missing, type(None)}:
            yield told("mixed", rest, "JSON text")
    elif literals := types & _LITERALS:
        yield told("cells", literals, "a cell")
    if str in types and not column.is_json and beside_json:
        texts = [v if type(v) is str else "" for v in values] if len(types) > 1 else values
        joined = "\n" + "\n".join(texts)
        if any(map(joined.__contains__, _OPENS)) and (
            like := [n for n, text in enumerate(texts) if reads_as_json(text)]
        ):
            was = shown(texts[like[0]])
            place = first_record + like[0], column.value_path
            yield Loss("json-like", len(like), *place, was, "the same text")
    nothing = types & {Missing, type(None)}
    # An empty cell below a map that is there is read as missing, whatever it was.
    alike = Missing in nothing or len(column.path) > 1
    both = nothing if alike and not (apart or column.is_json) else nothing & {Missing}
    if both:
        yield told("missing", both, "an empty cell")
        nothing -= both
    if nothing:
        yield told("null", nothing, "null" if apart or column.is_json else "an empty cell")
