"""An Avro schema made for given records, and the records as fastavro writes them under it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from serialpack.formats.shared.column_types import NAMES, ColumnType, Keys, Mixed, Odd, column_of

#: What turns a value into what fastavro is given; None: the value itself.
Lower = Callable[[Any], Any] | None

#: What the specification takes for the name of a field.
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")

#: With more shapes of maps than these in one place, they are data and no types.
_MOST_SHAPES = 16

#: Why what is held of a map is of one type.
_WHY_A_MAP = "its keys are no names of fields in Avro, or differ, so all its values have one type"

#: The kinds of a column of which nothing more need be known.
_PLAIN: dict[str, Any] = {
    "null": "null",
    "boolean": "boolean",
    "integer": "long",
    "float": "double",
    "text": "string",
    "bytes": "bytes",
    "utc": {"type": "long", "logicalType": "timestamp-micros"},
    "local": {"type": "long", "logicalType": "local-timestamp-micros"},
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "time-micros"},
    "uuid": {"type": "string", "logicalType": "uuid"},
}
_TYPES: dict[str, type] = {name: kind for kind, name in NAMES.items()} | {"local": datetime}


class _Choice(NamedTuple):
    """One branch of a union: its schema, and what turns a value into what fastavro takes for it."""

    schema: Any
    lower: Lower

    @property
    def name(self) -> str:
        """What the union calls it. Branches without a name of their own are called after their
        type, of which a union may have one branch."""
        if isinstance(self.schema, str):
            return self.schema
        return str(self.schema["name" if self.schema["type"] == "record" else "type"])


def made_for(records: list[Any]) -> tuple[Any, Lower]:
    """A schema that holds the records; Odd, Mixed or RecursionError where there is none.

    A map whose keys are names is a record: one for each list of keys, so that a key that is
    absent stays absent. Others are Avro's maps. What is of several kinds is a union.
    """
    # Avro's duration has months and days, and fastavro does not read it.
    return schema_of(column_of(records, as_map=_is_map, odd=(timedelta,)))


def schema_of(column: ColumnType) -> tuple[Any, Lower]:
    """The schema of records of a type, as ``made_for``."""
    return _Maker().column(column, "Record")


def is_name(key: Any) -> bool:
    """Whether a key can be the name of a field."""
    return type(key) is str and _NAME.fullmatch(key) is not None


def _is_map(shapes: Collection[Keys]) -> bool:
    if len(shapes) > _MOST_SHAPES or any(not keys for keys in shapes):
        return True
    return not all(is_name(key) for keys in shapes for key in keys)


class _Maker:
    def __init__(self) -> None:
        self._names: set[str] = set()

    # One call for each level of arrays within arrays: there may be hundreds.
    def column(self, column: ColumnType, hint: str) -> tuple[Any, Lower]:
        """The schema of a column. ``hint``: what its records are named after."""
        choices: dict[Any, _Choice] = {}
        for kind in column.kinds:
            if kind == "array":
                assert column.items is not None
                inner, lower = self.column(column.items, hint)
                choices[list] = _Choice({"type": "array", "items": inner}, _each(lower))
            elif kind == "map" and column.shapes is None:
                assert column.values is not None
                try:
                    inner, lower = self.column(column.values, hint)
                except Mixed as mixed:
                    raise Mixed(f"{_WHY_A_MAP}; {mixed}") from None
                choices[dict] = _Choice({"type": "map", "values": inner}, _each_value(lower))
            elif kind == "map":
                assert column.shapes is not None
                for keys, columns in column.shapes.items():
                    choices[keys] = self._record(columns, hint)
            else:
                choices[kind] = _Choice(_scalar(kind, column), None)
        if len(choices) == 1 and column.kinds != ("null",):
            return next(iter(choices.values()))
        # A union of null alone takes a byte: no bytes at all could be any number of values.
        branches = [*choices.values()] or [_Choice("null", None)]
        if len({choice.name for choice in branches}) < len(branches):
            raise Mixed(f"a union of {', '.join(column.kinds)} has two of one type")
        # Among primitive types, fastavro itself sees which one a value is.
        plain = all(isinstance(choice.schema, str) for choice in branches)
        return [choice.schema for choice in branches], None if plain else _told(choices)

    def _record(self, columns: dict[str, ColumnType], hint: str) -> _Choice:
        name, number = hint, 1
        while name in self._names:
            number += 1
            name = f"{hint}{number}"
        self._names.add(name)
        fields, lowers = [], {}
        for key, column in columns.items():
            schema, lower = self.column(column, key.capitalize())
            fields.append({"name": key, "type": schema})
            if lower is not None:
                lowers[key] = lower
        record = {"type": "record", "name": name, "fields": fields}
        if not lowers:
            return _Choice(record, None)
        return _Choice(record, lambda v: v | {key: low(v[key]) for key, low in lowers.items()})


def _scalar(kind: str, column: ColumnType) -> Any:
    if kind == "integer":
        for value in column.integers:
            if not -1 << 63 <= value < 1 << 63:
                raise Odd(value)
    if kind == "decimal":
        digits, places = column.decimals
        return {"type": "bytes", "logicalType": kind, "precision": digits, "scale": places}
    return _PLAIN[kind]


def _each(lower: Lower) -> Lower:
    return lower and (lambda array: [lower(item) for item in array])


def _each_value(lower: Lower) -> Lower:
    return lower and (lambda maps: {key: lower(item) for key, item in maps.items()})


def _told(choices: dict[Any, _Choice]) -> Callable[[Any], Any]:
    """What tells fastavro which branch of a union a value is of."""
    # Of maps that are records, the keys say which one; each other type is a branch.
    by_type = {_TYPES.get(key, key): (choice.name, choice.lower) for key, choice in choices.items()}

    def lower(value: Any) -> Any:
        name, inner = by_type.get(type(value)) or by_type[tuple(value)]
        return (name, value if inner is None else inner(value))

    return lower
