"""Rows of a table of text read as the records that they were made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from serialpack.columns.fields.wanted import Field
from serialpack.conversion.losses.literals import without_literals
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.cells import CellStyle, from_json, reads_as_json
from serialpack.conversion.tables.nested import check_named, nested, no_json, records_of
from serialpack.conversion.tables.shaping import Shaping
from serialpack.csv_front import before_header
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.formats.csv.text import CsvText
from serialpack.formats.csv.tokens import raw_columns, rows_of, texts_of
from serialpack.formats.csv.uneven import names_beyond
from serialpack.formats.losses.marks import Marks, renamed
from serialpack.formats.losses.reading import parse_lossy
from serialpack.formats.losses.utf8 import ESCAPED, is_marked, mended, original, replaced
from serialpack.formats.tables.table import TableFormat
from serialpack.values.kinds import (
    ARRAYS,
    BLANK_LINES,
    DUPLICATES,
    LONG_ROWS,
    NULLS,
    RENAMED,
    SHORT_ROWS,
    TIMESTAMPS,
    UTF8,
    ZONES,
    Loss,
    shown,
    value_step,
)
from serialpack.values.missing import MISSING

_HEEDED = frozenset({BLANK_LINES, SHORT_ROWS, LONG_ROWS, RENAMED, UTF8})


class RowReader:
    """Reads blocks of a table of text as ``shaping`` says."""

    def __init__(self, fmt: CsvText, shaping: Shaping, fields: Collection[Field]) -> None:
        """``fields``: those that are taken of the records; none: all."""
        self._format = fmt
        self._shaping = shaping
        self._fields = fields
        self._delimiter = fmt.declared.delimiter.decode()
        self._style = CellStyle(self._delimiter, shaping.null or "")

    def read(
        self, block: SourceBlock, allowed: frozenset[str], *, literals: bool = True
    ) -> tuple[list[Any], list[Loss]]:
        """The records of a block, and what is carried of it; errors as of ``ValueFormat.parse``.

        ``allowed``: rules, of which those of rows which end early, and of columns of one name, are
        heeded. ``literals``: numbers
        that are spelled as Python does not are literals, else their nearest.
        """
        found: list[Loss] = []
        ends: list[int] = []
        base = 0
        if UTF8 in allowed:
            data, base = mended(bytes(block.data))
            block = block._replace(data=data) if base else block
        try:
            names, columns = self._columns(block, allowed, found)
        except ValueError:  # parsing says what is wrong, and where, unless rows end early alone
            # Of columns of one name each is there, since only some rows have the last one.
            rows, found = parse_lossy(self._format, block, allowed & _HEEDED)
            ends = list(map(len, rows))
            width = max(ends, default=0)
            names, columns = self._columns(block, allowed, [], padded=width)
            columns = [cells[: len(ends)] for cells in columns]  # without the last blank lines
        if UTF8 in allowed:
            names, columns = _in_utf8(names, columns, base, block, found)
        if block.index == 0:
            check_named(self._shaping.nest, names)
        values = [
            self._values(name, cells, literals=literals)
            for name, cells in zip(names, columns, strict=True)
        ]
        if not self._shaping.typed and self._shaping.null:
            found += self._nulls(names, values, self._shaping.null, block.first_record)
        for row, end in enumerate(ends):
            for column in values[end:]:
                column[row] = MISSING
        if self._shaping.nest is not None:
            return nested(names, values, self._shaping.between, block.first_record), found
        return records_of(names, values), found

    def _columns(
        self,
        block: SourceBlock,
        allowed: frozenset[str],
        found: list[Loss],
        *,
        padded: int | None = None,
    ) -> tuple[list[str], list[Sequence[str]]]:
        """The names, and the raw cells below each of them; ValueError. ``found``: where it is told
        that some are renamed, as ``allowed`` says. ``padded``: empty ones behind rows that end
        early, of which the longest has so many fields."""
        data = self._format.without_header(block)
        head = self._format.header_of(block)
        errors = "surrogateescape" if UTF8 in allowed else "strict"
        rows = rows_of(head[before_header(head) :].decode(errors=errors), self._delimiter)
        names = rows[0] if rows else []
        if len(set(names)) < len(names):
            if DUPLICATES in allowed and padded is None:
                cells = raw_columns(data.decode(), self._delimiter, len(names))
                return self._last(names, cells, block.first_record, found)
            if RENAMED not in allowed:
                raise ValueError("a name twice")
            names = renamed(names, found, first=block.index == 0)
        if not names:
            return names, []
        names = names_beyond(names, padded or 0)
        cells = raw_columns(data.decode(), self._delimiter, len(names), padded=padded is not None)
        return names, cells

    def _last(
        self,
        names: list[str],
        columns: list[Sequence[str]],
        first_record: int,
        found: list[Loss],
    ) -> tuple[list[str], list[Sequence[str]]]:
        """Of columns of one name the last, which is told in ``found``."""
        last = {name: number for number, name in enumerate(names)}
        count = len(columns[0]) * (len(names) - len(last))
        if count:
            twice = next(name for number, name in enumerate(names) if last[name] != number)
            parts = texts_of([columns[names.index(twice)][0], columns[last[twice]][0]])
            path = "$" + value_step(twice)
            found.append(Loss(DUPLICATES, count, first_record, path, *map(shown, parts)))
        return list(last), [columns[number] for number in last.values()]

    def _values(self, name: str, cells: Sequence[str], *, literals: bool) -> list[Any]:
        shaping = self._shaping
        if shaping.nest and name in shaping.nest:
            texts = enumerate(texts_of(cells))
            values = [
                _of_json(name, row, text, shaping) if text else MISSING for row, text in texts
            ]
            return values if literals else without_literals(values)
        if shaping.typed:
            values = self._style.read(cells, literals=literals)
        else:
            values = list(texts_of(cells))
            if shaping.null in cells:  # bare: what is quoted is text
                values = [None if c == shaping.null else v for c, v in zip(cells, values)]  # noqa: B905 (it is slow)
        if shaping.nest == ():
            values = [
                from_json(value) if type(value) is str and reads_as_json(value) else value
                for value in values
            ]
            values = values if literals else without_literals(values)
        if shaping.null is None and MISSING in values and not self._is_dotted(name):
            return [None if value is MISSING else value for value in values]
        return values

    def _is_dotted(self, name: str) -> bool:
        return self._shaping.nest is not None and self._shaping.between in name

    def _nulls(
        self, names: list[str], columns: list[list[Any]], word: str, first_record: int
    ) -> Iterator[Loss]:
        """What is told of the cells of each column that say ``word`` for null."""
        for name, values in zip(names, columns, strict=True):
            if None in values and self._is_taken(name):
                place = first_record + values.index(None), "$" + value_step(name)
                yield Loss(NULLS, values.count(None), *place, shown(word), "null")

    def _is_taken(self, name: str) -> bool:
        """Whether any of a column is among the fields that are taken."""
        nests = self._is_dotted(name)
        keys = tuple(name.split(self._shaping.between)) if nests else (name,)
        taken = (field[: len(keys)] == keys[: len(field)] for field in self._fields)
        return not self._fields or any(taken)


def _in_utf8(
    names: list[str],
    columns: Sequence[Sequence[str]],
    base: int,
    block: SourceBlock,
    found: list[Loss],
) -> tuple[list[str], list[Sequence[str]]]:
    """Names and raw cells with U+FFFD for what is no UTF-8, which is told in ``found``; ``base`` as
    of ``mended``. Unheld where two names would become one."""
    marks, first = Marks(frozenset({UTF8})), block.index == 0
    names = marks.mended_names(names, base if base and first else ESCAPED, count=first)
    found += marks.placed
    if not base:
        return names, [*columns]
    made: list[Sequence[str]] = []
    for name, cells in zip(names, columns, strict=True):
        new = [replaced(cell, base) if is_marked(cell, base) else cell for cell in cells]
        odd = [row for row, cell in enumerate(cells) if cell != new[row]]
        made.append(new)
        if odd:
            was, became = texts_of([cells[odd[0]], new[odd[0]]])
            place = block.first_record + odd[0], "$" + value_step(name)
            found.append(Loss(UTF8, len(odd), *place, shown(original(was, base)), shown(became)))
    return names, made


class FrameReader:
    """Reads a table with types: dotted columns are maps, and those marked as JSON are values."""

    def __init__(self, fmt: TableFormat, shaping: Shaping) -> None:
        self._format = fmt
        self._shaping = shaping

    def read(
        self,
        block: SourceBlock,
        allowed: frozenset[str],
        *,
        literals: bool = True,
    ) -> tuple[list[Any], list[Loss]]:
        """As ``RowReader.read``; the rule that is heeded is that of columns of one name."""
        records, found = parse_lossy(
            self._format, block, allowed & {RENAMED, ARRAYS, ZONES, TIMESTAMPS}
        )
        if not records:
            return records, found
        names = list(records[0])
        if block.index == 0:
            check_named(self._shaping.nest, names)
        columns = list(map(list, zip(*map(dict.values, records), strict=True)))
        named = self._shaping.nest or self._format.json_columns(block)
        for number, name in enumerate(names):
            if name in named:
                values = [
                    _of_json(name, *pair, self._shaping) for pair in enumerate(columns[number])
                ]
                columns[number] = values if literals else without_literals(values)
        return nested(
            names, columns, self._shaping.between, block.first_record, null_is_missing=True
        ), found


def _of_json(name: str, row: int, text: Any, shaping: Shaping) -> Any:
    value = from_json(text) if type(text) is str else text
    if value is MISSING:
        raise no_json(row, name, text, nest=shaping.nest)
    return value


def row_reader(fmt: ValueFormat, plan: ConversionPlan) -> RowReader | FrameReader | None:
    """What reads rows as the plan says; None where they are read as ever, or are none."""
    if not plan.shaping.reads or plan.source_serializer is not None:
        return None
    if isinstance(fmt, TableFormat):
        return None if plan.shaping.nest is None else FrameReader(fmt, plan.shaping)
    return RowReader(fmt, plan.shaping, plan.fields) if isinstance(fmt, CsvText) else None
