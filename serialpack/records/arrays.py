"""Fields of a container's records as NumPy arrays; of a block of columns only theirs are read.

``arrays`` gives for each name one array of all records, ``values`` for each block lists of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from serialpack.collector import gc_paused
from serialpack.columns.fields import csv as rows
from serialpack.columns.fields import json as project
from serialpack.columns.fields.wanted import UntoldError
from serialpack.columns.stored.block import ColumnBlock, Form
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.sources.fields import Fields
from serialpack.conversion.sources.reading import SourceReader
from serialpack.errors import RefusedError, SyntaxInputError, UsageError
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.style import CsvStyle, write_rows
from serialpack.records.loaded import Loaded
from serialpack.records.units import MemberRecords, Unit, counted, read_values, refused
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


def arrays(units: Sequence[Unit], names: Sequence[str]) -> dict[str, Array]:
    """For each of ``names`` the values that the records have there: see ``Records.fields``."""
    found: dict[str, list[Array]] = {name: [] for name in Fields(names).names}
    missing = {*found}
    for lists, there in values(units, names):
        missing -= there
        for name, pieces in found.items():
            pieces.append(typed(lists[name]))
    if missing and any(unit.records for unit in units):
        told = " or ".join(name for name in found if name in missing)
        raise UsageError(f"no record has a field {told}")
    return {name: put_together(pieces) for name, pieces in found.items()}


def values(
    units: Sequence[Unit], names: Sequence[str]
) -> Iterator[tuple[dict[str, list[Any]], set[str]]]:
    """For each unit the same as lists, and the names that any of its records has."""
    fields = Fields(names)
    taken = _Taken(fields)
    for unit in units:
        with gc_paused():
            records = taken.records(unit)
            lists = {name: _values(records, name) for name in fields.names}
            there = {name for name in fields.names if _is_there(records, name)}
        yield lists, there


class _Taken:
    """Records with some of their fields at least."""

    def __init__(self, fields: Fields) -> None:
        self._paths = fields.paths
        self._lines = SourceReader(ConversionPlan("ndjson"), refused)
        self._names: dict[MemberRecords, list[str]] = {}

    def records(self, unit: Unit) -> list[Any]:
        """The records of a unit; InputError, RefusedError."""
        if not unit.records:
            return []
        with counted(unit):
            records = self._from_columns(unit)
        if records is None:
            records = [*Loaded(unit).values()]
            for number, record in enumerate(records, unit.first_record):
                if not isinstance(record, dict):
                    raise RefusedError(f"record {number} is no map: it has no fields")
        return records

    def _from_columns(self, unit: Unit) -> list[Any] | None:
        """The same from the columns of these fields alone; None where that cannot be."""
        declared = unit.member.format.declared
        table = bool(declared.delimiter)
        if declared.variants:
            return None
        if not (unit.stored and (declared.has_lines or unit.member.structure == Structure.ARRAY)):
            return None
        opened = unit.member.opened(unit.block.index)
        if opened is None or opened.form is not Form.COLUMNS:
            return None
        take = self._of_table if table else self._of_maps
        try:
            with opened.checked():
                block, reader = take(unit, opened.columns())
            records = read_values(reader, block)
        except (UntoldError, SyntaxInputError):  # it may be nothing that is asked for
            return None
        return records if len(records) == unit.records else None

    def _of_maps(self, unit: Unit, columns: ColumnBlock) -> tuple[SourceBlock, SourceReader]:
        """A block of maps with these fields alone, as NDJSON, and what reads it."""
        projection = project.Projection(
            columns.shape,
            self._paths,
            inside=Structure(unit.member.structure or Structure.SEQUENCE),
            first=unit.block.index == 0,
            last=unit.block.last,
            records=unit.records,
        )
        lines = projection.lines(columns.texts)
        return unit.block._replace(data=lines, index=1, last=False), self._lines

    def _of_table(self, unit: Unit, columns: ColumnBlock) -> tuple[SourceBlock, SourceReader]:
        """A block of a table of text with these columns alone, and what reads it."""
        member = unit.member
        if member not in self._names:
            self._names[member] = rows.names(bytes(member.head()), member.format.declared.delimiter)
        names = self._names[member]
        places = [place for place, name in enumerate(names) if (name,) in self._paths]
        table = rows.Rows(columns.shape, places, len(names))
        if table.widths() != {len(names)}:
            raise UntoldError(None, "a row has more or fewer fields")
        block = unit.block._replace(data=table.text(columns.texts))
        if block.index:
            style, mark = CsvStyle(), member.format.declared.delimiter.decode()
            head = write_rows([[names[place] for place in places]], mark, style) + style.newline
            block = member.format.in_source(block, {}, head.encode)
        return block, member.reader(block)


def _values(records: list[Any], name: str) -> list[Any]:
    """The records' values of a field, a key or the way to one; None where there is none."""
    if "." not in name:
        return [record.get(name) for record in records]
    path = name.split(".")
    return [record[name] if name in record else _value_at(record, path) for record in records]


def _value_at(value: Any, path: list[str]) -> Any:
    """What is at the end of ``path``: of a list on the way, of each element."""
    for number, key in enumerate(path):
        if isinstance(value, list):
            return [_value_at(each, path[number:]) for each in value]
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _is_there(records: list[Any], name: str) -> bool:
    """Whether any record has a field."""
    if any(name in record for record in records):
        return True
    path = name.split(".")
    return len(path) > 1 and any(_leads_on(record, path) for record in records)


def _leads_on(value: Any, path: list[str]) -> bool:
    """Whether there is anything at the end of ``path``."""
    for number, key in enumerate(path):
        if isinstance(value, list):
            return any(_leads_on(each, path[number:]) for each in value)
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def typed(values: list[Any]) -> Array:
    """``values`` as an array of the type that holds all of them as they are; else of objects."""
    import numpy as np

    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, np.bool_)
    if kinds == {float}:
        return np.array(values, np.float64)
    if kinds == {int}:
        low, high = min(values), max(values)
        if low >= -(1 << 63) and high < 1 << 63:
            return np.array(values, np.int64)
        if low >= 0 and high < 1 << 64:
            return np.array(values, np.uint64)
    if kinds == {int, float} and all(map(_is_double, values)):
        return np.array(values, np.float64)
    return np.fromiter(values, object, len(values))


def _is_double(value: float) -> bool:
    """Whether a number is the same as a float."""
    try:
        return type(value) is float or int(float(value)) == value
    except OverflowError:
        return False


def put_together(pieces: list[Array]) -> Array:
    """Arrays of ``typed``, one after another, as it would make them of all values."""
    import numpy as np

    pieces = [piece for piece in pieces if len(piece)]
    if len({piece.dtype for piece in pieces}) > 1:
        return typed([value for piece in pieces for value in piece.tolist()])
    return np.concatenate(pieces) if pieces else np.empty(0, object)
