"""Columns as records, dotted ones as maps within maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import islice
from typing import Any

from serialpack.conversion.tables.shaping import NO_COLUMNS
from serialpack.errors import UsageError, ValueRefusedError
from serialpack.text import printable
from serialpack.values.kinds import Difference, Unheld, shown, value_step
from serialpack.values.missing import MISSING

_OWN = None

#: So many columns are named that there are.
_FEW = 12


def check_named(nest: Collection[str] | None, names: Collection[str]) -> None:
    """UsageError where one that is to be JSON text is none of a table's columns."""
    absent = set(nest or ()) - {*names, NO_COLUMNS}
    # Rows below may be longer than the line of names.
    if lost := sorted(name for name in absent if not re.fullmatch(r"column[0-9]+", name)):
        there = ", ".join(islice(names, _FEW)) + (", ..." if len(names) > _FEW else "")
        said = f"--nest: there is no column {' or '.join(lost)}"
        raise UsageError(said, hint=f"there are {there}" if there else None)


def no_json(row: int, name: str, text: str, *, nest: Collection[str] | None) -> Unheld:
    """The error for a cell of the column ``name`` that holds no JSON, which was said of the columns
    ``nest``, or by the table itself."""
    path = "$" + value_step(name)
    hint = f"leave {shown(name)} out of --nest: it stays text" if name in (nest or ()) else ""
    return Unheld(
        Difference(row, path, f"no JSON text ({printable(text[:20])})", "", "value"), hint
    )


def nested(
    names: list[str],
    columns: list[list[Any]],
    separator: str,
    first_record: int,
    *,
    null_is_missing: bool = False,
) -> list[Any]:
    """The records of columns whose names are paths of keys.

    What is below a key is a map where there is anything in it, else the map is missing; what is
    missing in a map beside others stays so. ``null_is_missing``: nothing but null is nothing in it,
    as in a table that has null for what is missing.

    ValueRefusedError where two names are one path, or a value stands beside a map of the same key.
    """
    tree: dict[Any, Any] = {}
    for number, name in enumerate(names):
        node = tree
        for key in name.split(separator):
            node = node.setdefault(key, {})
        if _OWN in node:
            raise ValueRefusedError(f"two columns are {shown(name)}", kind="duplicate-keys")
        node[_OWN] = number
    if not names:
        return []
    within = _filled if null_is_missing else _there
    parts = {key: _column(node, columns, first_record, key, within) for key, node in tree.items()}
    return _maps(list(parts), list(parts.values()))


def _there(value: dict[Any, Any]) -> bool:
    return bool(value)


def _filled(value: dict[Any, Any]) -> bool:
    return any(each is not None for each in value.values())


def _maps(keys: list[Any], columns: list[list[Any]]) -> list[dict[Any, Any]]:
    return [
        {key: value for key, value in zip(keys, row, strict=True) if value is not MISSING}
        for row in zip(*columns, strict=True)
    ]


def _column(
    node: dict[Any, Any],
    columns: list[list[Any]],
    first_record: int,
    path: str,
    within: Callable[[dict[Any, Any]], bool],
) -> list[Any]:
    """What stands below one key, row by row; ``within``: whether a map has anything in it."""
    number: int | None = node.get(_OWN)
    keys = [key for key in node if key is not _OWN]
    if not keys:
        assert number is not None
        return columns[number]
    maps = _maps(keys, [_column(node[key], columns, first_record, key, within) for key in keys])
    if number is None:
        return [each if within(each) else MISSING for each in maps]
    return [
        own
        if not within(each)
        else each
        if own is MISSING or own is None
        else _both(path, row, first_record)
        for row, (own, each) in enumerate(zip(columns[number], maps, strict=True))
    ]


def _both(path: str, row: int, first_record: int) -> Any:
    raise ValueRefusedError(
        f"{shown(path)} is a value and a map at once",
        record=first_record + row,
        kind="duplicate-keys",
        hint="--separator names what stands between keys",
    )


def records_of(names: list[str], columns: list[list[Any]]) -> list[Any]:
    """A map for each row, without what is missing."""
    if any(MISSING in column for column in columns):
        return [
            {name: value for name, value in zip(names, row, strict=True) if value is not MISSING}
            for row in zip(*columns, strict=True)
        ]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
