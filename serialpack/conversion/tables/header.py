"""Records out of lists, the first of which has the names of their columns: ``[["a"], [1], [2]]``.

Spreadsheets and statistics offices answer so.
"""

from __future__ import annotations

from typing import Any

from serialpack.errors import UsageError
from serialpack.values.kinds import shown


def records_below_header(value: Any, place: str) -> list[dict[str, Any]]:
    """The records of the lists in ``value``, which stands at ``place``. One that is shorter than
    the first has not the last of the keys.

    UsageError where they are none, one is longer, or the first has other than names, each another.
    """
    if type(value) is not list:
        raise _none(f"{place} is {shown(value)}, no list of lists")
    if not value:
        return []
    names, *rows = value
    if not _are_names(names):
        raise _none(f"{place}[0] is no list of names, each another: {shown(names)}")
    for number, row in enumerate(rows, 1):
        if type(row) is not list or len(row) > len(names):
            raise _none(f"{place}[{number}] is no list of {len(names)} at most: {shown(row)}")
    return [dict(zip(names, row, strict=False)) for row in rows]


def has_header(records: list[Any]) -> bool:
    """Whether the first of ``records``, which are lists, looks like the names of the others' items:
    those are not all text."""
    if len(records) < 2 or not _are_names(records[0]):
        return False
    return any(type(item) is not str for row in records[1:] for item in row)


def _are_names(value: Any) -> bool:
    is_text = type(value) is list and value and all(type(name) is str for name in value)
    return bool(is_text) and len(set(value)) == len(value)


def _none(why: str) -> UsageError:
    return UsageError(f"--header: {why}", hint="it is for lists; --at PATH names the list of them")
