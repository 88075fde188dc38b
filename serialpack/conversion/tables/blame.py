"""Finds the value to name in an error message, where a column with a type does not take all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from serialpack.conversion.tables.layout import TableColumn
from serialpack.conversion.tables.table import lost_in
from serialpack.formats.tables import records as tables
from serialpack.serializers.base import FAILURES
from serialpack.serializers.refused import first_refused
from serialpack.values.kinds import Difference, unplaced, value_step


def blame(
    columns: Sequence[TableColumn],
    fields: Sequence[Any],
    held: Sequence[Sequence[Any]],
    error: Exception,
) -> Difference:
    """The first value that its column does not take, where it stands; ``fields``: the columns'
    types, as Arrow has them; ``held``: their values; ``error``: what came of all of them."""
    for column, values, field in zip(columns, held, fields, strict=True):
        number = _first_odd(values, field.type)
        if number >= 0:
            path, value = _deepest(column.value_path, values[number], field.type)
            return lost_in(number, path, value)
    return unplaced(error)


def _takes(values: Sequence[Any], kind: Any) -> bool:
    try:
        tables.array_of(values, kind)
    except FAILURES:
        return False
    return True


def _first_odd(values: Sequence[Any], kind: Any) -> int:
    """The number of the first value that a column of this type does not take alone; -1: it takes
    them all."""
    return first_refused(values, lambda some: not _takes(some, kind))


def _deepest(path: str, value: Any, kind: Any) -> tuple[str, Any]:
    """The path and the value of what is not taken in ``value``: a part all of whose parts are."""
    while (odd := _odd_part(value, kind)) is not None:
        step, value, kind = odd
        path += step
    return path, value


def _odd_part(value: Any, kind: Any) -> tuple[str, Any, Any] | None:
    """The first part of a map or a list that is not taken alone: its step, itself, its type."""
    is_a = tables.arrow().types
    if type(value) is dict and is_a.is_struct(kind):
        for field in kind:
            part = value.get(field.name)
            if not _takes([part], field.type):
                return value_step(field.name), part, field.type
    elif type(value) is dict and is_a.is_map(kind):
        keys, parts = [*value], [*value.values()]
        number = _first_odd(parts, kind.item_type)
        if number >= 0:
            return value_step(keys[number]), parts[number], kind.item_type
    elif type(value) is list and is_a.is_list(kind):
        number = _first_odd(value, kind.value_type)
        if number >= 0:
            return f"[{number}]", value[number], kind.value_type
    return None
