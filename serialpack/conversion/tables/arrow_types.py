"""Which type of Arrow's holds the values of a shape."""

from __future__ import annotations

from collections.abc import Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from serialpack.conversion.tables.shape import FAR, FINE, WITH_FACTS, ZONED, ValueShape
from serialpack.formats.tables.records import arrow
from serialpack.values.missing import Missing
from serialpack.values.nanoseconds import DURATION, LOCAL_TIME, UTC_TIME, fine_kind

#: Types of one Arrow type each, by its function.
_PLAIN: dict[type, str] = {
    bool: "bool_",
    float: "float64",
    str: "string",
    bytes: "binary",
    date: "date32",
    UUID: "uuid",
}


def json_type() -> Any:
    """Text that is marked as JSON."""
    pa = arrow()
    return pa.json_(pa.string())


def arrow_type(shape: ValueShape, *, within: bool = False) -> Any:
    """The type; None where the values are of several, or of none that Arrow has.

    ``within`` others, what is nothing but null has the type of text: of null in structs in lists
    pyarrow 26 reads broken arrays.
    """
    pa = arrow()
    types = shape.types - {type(None), Missing}
    if not types:
        return pa.string() if within else pa.null()
    if zones := [fact[1] for fact in shape.facts if fact is not None and ZONED in fact]:
        if types == {datetime} and len(shape.facts) == 1:
            return pa.timestamp("us", zones[0])
        types = _without_zones(types, shape.facts)
    if types <= {int, float}:
        return _number(shape, types)
    if any(FINE in fact for fact in shape.facts if fact is not None):
        return _with_nanoseconds(types, shape.facts)
    if len(types) > 1:
        return None
    (kind,) = types
    if kind is dict:
        return _map(shape) if shape.sparse else _struct(shape)
    if shape.crowded:
        return None
    if kind in _PLAIN:
        return getattr(pa, _PLAIN[kind])()
    if kind is list:
        inner = None if shape.items is None else arrow_type(shape.items, within=True)
        return None if inner is None else pa.list_(inner)
    return _with_facts(kind, shape.facts) if kind in WITH_FACTS else None


def _without_zones(types: Set[type], facts: Set[Any]) -> Set[type]:
    """The types that there are once times in zones, of which there are several, are text."""
    others = {name for fact in facts if fact is not None for name in fact} & {UTC_TIME, LOCAL_TIME}
    return (types | {str}) - (set() if others or None in facts else {datetime})


def _number(shape: ValueShape, types: Set[type]) -> Any:
    pa = arrow()
    if float in types:
        return None if int in types and shape.inexact else pa.float64()
    return pa.uint64() if shape.low >= 0 and shape.high >= 1 << 63 else pa.int64()


def _map(shape: ValueShape) -> Any:
    pa = arrow()
    under = shape.under_keys()
    kind = None if under is None else arrow_type(under, within=True)
    return None if kind is None else pa.map_(pa.string(), kind)


def _struct(shape: ValueShape) -> Any:
    pa = arrow()
    if not shape.keys or any(type(key) is not str for key in shape.keys):
        return None
    parts = {key: arrow_type(part, within=True) for key, part in shape.keys.items()}
    if any(part is None for part in parts.values()):
        return None
    return pa.struct([pa.field(key, part) for key, part in parts.items()])


def _with_facts(kind: type, facts: Set[Any]) -> Any:
    """The type of times and decimals; None where they are of several."""
    pa = arrow()
    if None in facts:
        return None
    if kind is Decimal:
        if len({places for _, places in facts}) > 1:
            return None
        digits = max(digits for digits, _ in facts)
        places = next(iter(facts))[1]
        if digits > 76:
            return None
        return (pa.decimal128 if digits <= 38 else pa.decimal256)(digits, places)
    if kind is time:
        return pa.time64("us")
    return _moments("us", facts)


def _with_nanoseconds(types: Set[type], facts: Set[Any]) -> Any:
    """The type of times some of which have nanoseconds; None where not all are such, and near."""
    is_time = all(kind in (datetime, timedelta) or fine_kind(kind) for kind in types)
    if not is_time or None in facts or any(FAR in fact for fact in facts):
        return None
    return _moments("ns", facts)


def _moments(unit: str, facts: Set[Any]) -> Any:
    """The type of instants, of times without a zone, or of durations; None where they are mixed."""
    pa = arrow()
    kinds = {name for fact in facts for name in fact} - {FINE, FAR}
    if kinds == {UTC_TIME}:
        return pa.timestamp(unit, "UTC")
    if kinds == {LOCAL_TIME}:
        return pa.timestamp(unit)
    return pa.duration(unit) if kinds == {DURATION} else None
