"""Columns of text become columns of values, block by block."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, time
from itertools import compress
from typing import Any, NamedTuple

from serialpack.conversion.types.seen import CellsSeen, TypesSeen
from serialpack.conversion.types.spelling import (
    COMMA,
    COMMA_THOUSANDS,
    DAY_FIRST,
    DECIMAL,
    LIST,
    MOMENT,
    MONTH_FIRST,
    TEXT,
    TYPES,
    Spelling,
    decimal_of,
    python_types,
    read,
    spelled,
    types_option,
    values_of,
    with_point,
)
from serialpack.conversion.types.times import SLASHED
from serialpack.errors import InputError, UsageError, ValueRefusedError, Ways
from serialpack.formats.losses.exact import Inexact
from serialpack.literal import Literal
from serialpack.serializers.base import FAILURES
from serialpack.values.kinds import DIGITS, Loss, shown, value_step
from serialpack.values.missing import each_column

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(?:\.[0-9]{3})*,[0-9]+").fullmatch

#: What R, spreadsheets and databases write for no value, in capitals.
_NOTHING = frozenset({"NA", "N/A", "NULL", "NONE"})

#: The types that are looked for in the text of any format: one that has no such types writes these
#: values as text. Numbers it does not write so, and they are looked for in tables of text alone.
OF_ANY = ("date", "time", "timestamp")
#: The spelling of a named type where the cells have several.
_USUAL = {"boolean": "true", "time": "0", "timestamp": "T0"}

SPELLINGS = "spellings"

#: What else is to be said of text that is none of a type.
_WHY = {
    "date": ", as 2023-12-31 and 31.12.2023 are",
    COMMA: ", as 1234,5 and 1.234,5 are",
    MONTH_FIRST: ", as 12/31/2023 is",
    DAY_FIRST: ", as 31/12/2023 is",
    MOMENT: ", as 2023-12-31T09:30:00+02:00 is",
    "duration": ", as P1DT2H30M and PT0.5S are: months and years have no length",
}


#: What the types are called in messages, where that is not their name.
_IN_WORDS = {
    COMMA: "number with a decimal comma",
    MONTH_FIRST: "date with the month first",
    DAY_FIRST: "date with the day first",
    MOMENT: "time with an offset",
}

#: What the types are called in other programs.
_CALLED = {
    **dict.fromkeys(("float", "float64", "double", "real", "numeric"), "number"),
    **dict.fromkeys(("int", "int64", "bigint", "long"), "integer"),
    **dict.fromkeys(("str", "string", "varchar"), TEXT),
    **dict.fromkeys(("bool", "logical"), "boolean"),
    **dict.fromkeys(("datetime", "timestamptz"), "timestamp"),
    **dict.fromkeys(("binary", "blob", "bytea"), "bytes"),
    "array": LIST,
    "timedelta": "duration",
    "ymd": "date",
}


class TypedColumn(NamedTuple):
    """A column of text that gets values. ``by_hand``: the user named its type: cells in another
    spelling are read too. Its name is a key, or else the way to one, with dots."""

    name: str
    spelling: Spelling
    by_hand: bool = False


def named_types(text: Sequence[tuple[str, str]]) -> tuple[TypedColumn, ...]:
    """The columns that the user named; UsageError for a type that there is not."""
    found: dict[tuple[str, bool], TypedColumn] = {}
    for name, kind in text:
        if kind not in TYPES:
            raise UsageError(f"--types: unknown type {kind!r}", hint=_instead_of(kind))
        if (name, kind == LIST) in found:
            raise UsageError(f"--types names {name} twice")
        # A list is one beside the type of what is in it.
        column = TypedColumn(name, Spelling(kind, _USUAL.get(kind, "")), True)
        found[name, kind == LIST] = column
    return tuple(found.values())


def _instead_of(kind: str) -> str:
    """What does in the place of a type that there is not."""
    if kind == "interval":
        return "duration is of days, hours, minutes and seconds; one with months stays text"
    if (called := _CALLED.get(kind.lower())) is not None:
        return f"{called} is what it is called here"
    return "known: " + ", ".join(TYPES)


class Typer:
    """Gives columns of records their values. ``empty_is_null``: as in tables of text."""

    def __init__(self, columns: Sequence[TypedColumn], *, empty_is_null: bool) -> None:
        self._columns = [c for c in columns if c.spelling.type not in (TEXT, LIST)]
        self._texts = [column for column in columns if column.spelling.type == TEXT]
        self._lists = [column for column in columns if column.spelling.type == LIST]
        self._empty_is_null = empty_is_null
        #: Where it is said how the named columns are spelled, while they are looked at.
        self.seen: TypesSeen | None = None

    def _look(self, records: list[Any], seen: TypesSeen) -> None:
        for column in [*self._columns, *self._texts, *self._lists]:
            if not column.by_hand or not any(True for _ in _places(records, column.name)):
                continue
            seen.named.add(column.name)
            cells = seen.by_hand.setdefault(column.name, CellsSeen())
            if column.spelling.type == LIST:
                continue
            values = [place[key] for _, place, key in _cells(records, column.name)]
            if column.spelling.type == COMMA:
                values = [with_point(v) or "-" if type(v) is str and v else v for v in values]
            cells.look(values, empty_is_null=self._empty_is_null)

    def apply(
        self, records: list[Any], first_record: int, allowed: Collection[str] = ()
    ) -> list[Loss]:
        """Put values in the place of text, within ``records``; what is to be told of that.

        ValueRefusedError for a cell that is not of the type.
        """
        told: list[Loss] = []
        if self.seen is not None:
            self._look(records, self.seen)
        for column in self._lists:
            self._as_list(column, records)
        for column in self._columns:
            if column.by_hand:
                self._by_hand(column, records, first_record, allowed, told)
        if inferred := [column for column in self._columns if not column.by_hand]:
            self._infer(inferred, records)
        for column in self._texts:
            _as_text(column, records, first_record)
        return told

    def _is_text(self, value: Any) -> bool:
        return type(value) is str and (bool(value) or not self._empty_is_null)

    def _as_list(self, column: TypedColumn, records: list[Any]) -> None:
        """Put a list in the place of its one item, or of nothing."""
        for _, place, key in list(_places(records, column.name)):
            cell = place[key]
            if type(cell) is not list:
                is_none = cell is None or (cell == "" and self._empty_is_null)
                place[key] = [] if is_none else [cell]

    def _infer(self, columns: Sequence[TypedColumn], records: list[Any]) -> None:
        maps = [record for record in records if type(record) is dict]
        spellings = {column.name: column.spelling for column in columns}
        for name, cells in each_column(maps):
            if name not in spellings:
                continue
            some, texts = maps, cells
            if not {str}.issuperset(map(type, cells)) or (self._empty_is_null and "" in cells):
                if self._empty_is_null and "" in cells:
                    for record in compress(maps, [cell == "" for cell in cells]):
                        record[name] = None
                are_text = list(map(self._is_text, cells))
                some, texts = list(compress(maps, are_text)), list(compress(cells, are_text))
            values = values_of(texts, spellings[name])
            if values is None:
                changed = "it has other records than when it was looked at"
                raise InputError(changed, hint="run it again")
            for record, value in zip(some, values, strict=True):
                record[name] = value

    def _by_hand(
        self,
        column: TypedColumn,
        records: list[Any],
        first_record: int,
        allowed: Collection[str],
        told: list[Loss],
    ) -> None:
        places = list(_cells(records, column.name))
        cells = [place[key] for _, place, key in places]
        texts = [cell for cell in cells if self._is_text(cell)]
        quick = values_of(texts, column.spelling)
        values = None if quick is None else iter(quick)
        kind = column.spelling.type
        for (number, place, key), cell in zip(places, cells, strict=True):
            if not self._is_text(cell):
                if cell == "":
                    place[key] = None
                elif kind == MOMENT and type(cell) is datetime and cell.tzinfo not in (None, UTC):
                    place[key] = moment = cell.astimezone(UTC)
                    where = first_record + number, _path(column.name)
                    told.append(Loss(SPELLINGS, 1, *where, shown(cell), shown(moment)))
                elif cell is not None and type(cell) not in python_types(kind):
                    place[key] = self._other_value(number, column, cell, first_record)
                continue
            if values is not None:
                place[key] = next(values)
                continue
            where = first_record + number, _path(column.name)
            try:
                value = read(cell, kind)
            except Inexact as lost:
                if lost.nearest is None or DIGITS not in allowed:
                    raise _digits(column, cell, *where) from None
                is_time = isinstance(lost.nearest, (datetime, time))
                value = lost.nearest if is_time else float(lost.nearest)
                told.append(Loss(DIGITS, 1, *where, cell, str(value)))
            except (ValueError, OverflowError):
                raise _other(number, column, cell, first_record) from None
            again = _again(value, column.spelling)
            if again != cell and self.seen is None:  # else the column's spelling is not known yet
                told.append(Loss(SPELLINGS, 1, *where, shown(cell), again))
            place[key] = value

    def _other_value(self, number: int, column: TypedColumn, cell: Any, first: int) -> Any:
        """The value of a type that stands for ``cell``, which is neither text nor of the type."""
        try:
            if column.spelling.type == DECIMAL:
                return decimal_of(cell)
        except ValueError:
            pass
        raise _other(number, column, cell, first)


def decimal_columns(columns: Sequence[TypedColumn]) -> list[str]:
    """The names of those whose numbers become decimals, which hold what doubles do not."""
    return [column.name for column in columns if column.spelling.type == DECIMAL]


def keep_digits(records: list[Any], names: Sequence[str]) -> None:
    """Put decimals in the place of those numbers in columns of these names that keep their text."""
    for name in names:
        for _, place, key in list(_cells(records, name)):
            if type(place[key]) is Literal:
                place[key] = decimal_of(place[key])


def _as_text(column: TypedColumn, records: list[Any], first_record: int) -> None:
    """Put text in the place of bytes that are UTF-8, as columns of text were written before there
    was a type for it."""
    for number, place, key in _cells(records, column.name):
        cell = place[key]
        if type(cell) is not bytes:
            continue
        try:
            place[key] = cell.decode()
        except UnicodeDecodeError:
            raise ValueRefusedError(
                f"{shown(cell)} is no text in UTF-8",
                record=first_record + number,
                value_path=_path(column.name),
                kind="value",
                hint=_ways("without its --types it stays bytes"),
            ) from None


def _again(value: Any, spelling: Spelling) -> str:
    try:
        return spelled([value], spelling)[0]
    except FAILURES:
        return str(value)


def _path(name: str) -> str:
    return "$" + value_step(name)


def _other(number: int, column: TypedColumn, cell: Any, first_record: int) -> ValueRefusedError:
    way = f"{types_option(column.name, TEXT)} leaves it"
    kind, is_text = column.spelling.type, type(cell) is str
    why = _WHY.get(kind, "") if is_text else ""
    if is_text and kind in ("number", "decimal") and COMMA_THOUSANDS.fullmatch(cell):
        why = ": its comma may stand between thousands, or be a decimal one"
        way = f"{types_option(column.name, 'integer')} takes it for the former"
        way += f", {types_option(column.name, COMMA)} for the latter"
    elif is_text and kind == "date" and SLASHED.fullmatch(cell):
        way = f"{types_option(column.name, MONTH_FIRST)} takes the month first"
        way += f", {types_option(column.name, DAY_FIRST)} the day"
    elif is_text and kind in ("number", "decimal") and _DECIMAL_COMMA(cell):
        why = ": its comma is no decimal point"
        way = f"{types_option(column.name, COMMA)} takes it for one"
    elif is_text and cell.upper() in _NOTHING:
        way += f", --null {cell} takes it for null"
    kind = _IN_WORDS.get(kind, kind)
    return ValueRefusedError(
        f"{shown(cell)} is no {kind}{why}",
        record=first_record + number,
        value_path=_path(column.name),
        kind="value",
        hint=_ways(way),
    )


def _ways(way: str) -> Ways:
    """What to do about a cell that is not of the type: ``way``, or to leave its record out."""
    return Ways(keeps=(way,), others=("--skip-bad leaves the record out",), skip_bad=True)


def _digits(column: TypedColumn, cell: str, record: int, path: str) -> ValueRefusedError:
    why = f"no double holds {shown(cell)}"
    keeps = f"{types_option(column.name, DECIMAL)} holds it"
    if column.spelling.type in ("time", "timestamp", MOMENT):
        why = f"{shown(cell)} is finer than microseconds"
        keeps = f"{types_option(column.name, TEXT)} leaves it"
    return ValueRefusedError(
        why,
        record=record,
        value_path=path,
        kind="digits",
        hint=Ways((DIGITS,), keeps=(keeps,)),
    )


def _cells(records: list[Any], name: str) -> Iterator[tuple[int, Any, Any]]:
    """As ``_places``, but in the place of a list what is in it, with its number for a key."""
    for number, place, key in _places(records, name):
        stack: list[tuple[Any, Any]] = [(place, key)]
        while stack:
            within, at = stack.pop()
            value = within[at]
            if type(value) is list:
                stack += [(value, n) for n in reversed(range(len(value)))]
            else:
                yield number, within, at


def _places(records: list[Any], name: str) -> Iterator[tuple[int, dict[Any, Any], str]]:
    """The number of each record that has a column, with the map in which it stands, and its key."""
    keys = name.split(".")
    for number, record in enumerate(records):
        if type(record) is not dict:
            continue
        if name in record:
            yield number, record, name
        elif len(keys) > 1:
            for place in _inside(record, keys[:-1]):
                if keys[-1] in place:
                    yield number, place, keys[-1]


def _inside(value: Any, keys: list[str]) -> Iterator[dict[Any, Any]]:
    if type(value) is list:
        for item in value:
            yield from _inside(item, keys)
    elif type(value) is dict:
        if not keys:
            yield value
        elif keys[0] in value:
            yield from _inside(value[keys[0]], keys[1:])
