"""Records out of a document that has its table by columns, as pandas and many services write it.

Three forms are known, here by the names that pandas has for them (``orient``):

- ``list``: a list for each column, ``{"a": [1, 2], "b": ["x", "y"]}``;
- ``columns``: a map of labels for each, ``{"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}``;
- ``split``: the names, the rows, and their labels, ``{"columns": ["a", "b"], "index": [0, 1],
  "data": [[1, "x"], [2, "y"]]}``, the labels or not.

Labels of rows that only count them, from 0, are not kept: the place of each record says the same.
Others become the first column, ``index``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from serialpack.errors import UsageError
from serialpack.values.kinds import shown, value_step

#: The column that labels of rows become.
INDEX = "index"

#: The keys of the form ``split``.
_SPLIT = frozenset({"columns", "data"}), frozenset({"columns", INDEX, "data"})


def records_by_column(value: Any, place: str) -> list[dict[Any, Any]]:
    """The records of the table that ``value`` has by columns; it stands at ``place``.

    UsageError where it is none, columns are not equally long, or a name comes twice.
    """
    if type(value) is not dict:
        raise _none(f"{place} is {shown(value)}, no map")
    if _is_split(value):
        return _of_split(value, place)
    kinds = set(map(type, value.values()))
    if kinds <= {list}:
        return _records(value, [*value.values()], None, place)
    if kinds == {dict}:
        labels = list(next(iter(value.values())))
        for name, column in value.items():
            if list(column) != labels:
                raise _none(f"{place}{value_step(name)} has other labels than the first column")
        columns = [list(column.values()) for column in value.values()]
        return _records(value, columns, labels, place)
    first = type(next(iter(value.values())))
    wanted = first if first in (list, dict) else list
    odd = next(name for name, part in value.items() if type(part) is not wanted)
    raise _none(f"{place}{value_step(odd)} is {shown(value[odd])}")


def is_by_column(value: Any) -> bool:
    """Whether ``value`` looks like a table by columns of two records or more, whose values are no
    maps: so that a user may want its records."""
    if type(value) is not dict or len(value) < 2:
        return False
    columns = list(value.values())
    if _is_split(value):
        return len(value["data"]) > 1
    kinds = set(map(type, columns))
    if kinds == {list}:
        alike = len(set(map(len, columns))) == 1
    else:
        alike = kinds == {dict} and all(column.keys() == columns[0].keys() for column in columns)
    if not alike or len(columns[0]) < 2:
        return False
    return all(type(next(iter(_items(column)))) is not dict for column in columns)


def are_by_key(document: dict[Any, Any]) -> bool:
    """Whether the maps of a table by columns are as well records by key, since what they have
    labels for are no places of rows."""
    parts = list(document.values())
    return set(map(type, parts)) == {dict} and not _only_count(list(parts[0]))


def tables_by_column(document: dict[Any, Any]) -> tuple[str, ...]:
    """The paths of ``is_by_column`` in a document: of itself, which is empty, or below its keys."""
    if is_by_column(document):
        return ("",)
    return tuple(key for key, value in document.items() if type(key) is str and is_by_column(value))


def _is_split(value: dict[Any, Any]) -> bool:
    return (
        value.keys() in _SPLIT
        and all(type(part) is list for part in value.values())
        and all(type(row) is list for row in value["data"])
    )


def _items(column: list[Any] | dict[Any, Any]) -> Iterable[Any]:
    return column.values() if type(column) is dict else column


def _of_split(value: dict[str, Any], place: str) -> list[dict[Any, Any]]:
    names, rows = value["columns"], value["data"]
    if len(set(map(shown, names))) != len(names) or any(type(name) is not str for name in names):
        raise _none(f"{place}.columns are no names of columns, each another")
    for number, row in enumerate(rows):
        if len(row) != len(names):
            raise _none(f"{place}.data[{number}] is no list of {len(names)}: {shown(row)}")
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    return _records(names, columns, value.get(INDEX), place)


def _records(
    names: Iterable[Any], columns: list[list[Any]], labels: list[Any] | None, place: str
) -> list[dict[Any, Any]]:
    """A record for each place in the columns, which are as long as one another."""
    named = dict(zip(names, columns, strict=True))
    if labels is not None and not _only_count(labels):
        if INDEX in named:
            raise _none(f"{place} has a column {INDEX!r}, and labels, which would be another")
        named = {INDEX: labels, **named}
    rows = {len(column): name for name, column in reversed(named.items())}
    if len(rows) > 1:
        (most, longest), (least, shortest) = max(rows.items()), min(rows.items())
        raise _none(
            f"{place} has {most:,} values of {shown(longest)}, {least:,} of {shown(shortest)}"
        )
    return [dict(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True)]


def _only_count(labels: list[Any]) -> bool:
    """Whether labels say only at which place a row stands: numbers, or the text of them."""
    count: list[Any] = list(range(len(labels)))
    if all(type(label) is int for label in labels):  # and not False and True, or 0.0 and 1.0
        return labels == count
    return labels == list(map(str, count))


def _none(why: str) -> UsageError:
    return UsageError(
        f"--columnar: {why}", hint="it is for a map of lists of one length; --at PATH names it"
    )
