"""The one type that holds records of a shape, for a format whose types are unions: Avro.

Maps in one place are one record, whose fields are null where a map has them not. Integers beside
floats, and nothing else, are doubles where each is exact, decimals of differing places their
digits. All else is held as it is: what is of several types is a union of them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from serialpack.conversion.tables.shape import MOST_LISTS, ValueShape
from serialpack.formats.avro.types import is_name
from serialpack.formats.shared.column_types import NAMES, ColumnType, in_order
from serialpack.values.missing import Missing

#: What makes of values of some types what stands for them under a type.
Fits = dict[type, Callable[[Any], Any]]

_KNOWN: frozenset[type] = frozenset(
    {*(type(None), Missing, bool, int, float, str, bytes, list, dict), *(date, UUID, Decimal)}
)
_TIMES: frozenset[type] = frozenset({datetime, time})


class _Unknown(Exception):
    """A shape of which too little is known, or that has no type."""


def union_type(shape: ValueShape) -> ColumnType | None:
    """The type of records, all maps, of this shape; None where it must be made of the records."""
    if not shape.keys or not all(map(is_name, shape.keys)) or shape.types != {dict}:
        return None
    try:
        return _type(shape, top=True)
    except _Unknown:
        return None


def _type(shape: ValueShape, *, top: bool = False) -> ColumnType:
    types = shape.types
    if shape.crowded or not types <= _KNOWN | _TIMES:
        raise _Unknown
    found = {"null"} if shape.missing else set()
    found |= {NAMES[kind] for kind in types - _TIMES - {Missing}}
    more: dict[str, Any] = {}
    if int in types:
        if shape.low < -1 << 63 or shape.high >= 1 << 63:
            raise _Unknown
        more["integers"] = shape.low, shape.high
        # Beside yet another type it is a union in any case.
        if types <= {int, float, type(None), Missing} and float in types and not shape.inexact:
            found.discard("integer")
    facts = shape.facts
    if Decimal in types:
        scaled = {fact for fact in facts if type(fact) is tuple and type(fact[0]) is int}
        facts = facts - scaled
        if None in facts or len({places for _, places in scaled}) > 1:
            found = found - {"decimal"} | {"text"}
        else:
            more["decimals"] = max(digits for digits, _ in scaled), next(iter(scaled))[1]
    if types & _TIMES:
        if None in facts:
            raise _Unknown
        found |= {kind for kinds in facts for kind in kinds}
    if list in types:
        more["items"] = _type(shape.items or ValueShape())
    if dict in types:
        more |= _maps(shape, top=top)
    found = _apart(found)
    return ColumnType(in_order(found), **more)


#: Kinds of which a union holds one: they are written as one type, the first as nothing but that.
_ALIKE = (("integer", "time", "utc", "local"), ("bytes", "decimal"), ("text", "uuid"))


def _apart(found: set[str]) -> set[str]:
    """The kinds of a union, with text for those that are written as others are. Text comes last."""
    for plain, *others in _ALIKE:
        some = found & {plain, *others}
        if len(some) > 1:
            found = found - {*others} | {"text"}
    return found


def _maps(shape: ValueShape, *, top: bool) -> dict[str, Any]:
    """A record, or a map whose keys are data and not names."""
    many = shape.empty or len(shape.lists) > MOST_LISTS
    if not top and (many or not all(map(is_name, shape.keys))):
        under = shape.under_keys()
        if under is None:
            raise _Unknown
        return {"values": _type(under)}
    if any(type(key) is not str for key in shape.keys):
        raise _Unknown
    return {"shapes": {tuple(shape.keys): {k: _type(part) for k, part in shape.keys.items()}}}


#: The text of values whose kinds, named here, a union has not.
_AS_TEXT: dict[type, tuple[frozenset[str], Callable[[Any], str]]] = {
    Decimal: (frozenset({"decimal"}), str),
    UUID: (frozenset({"uuid"}), str),
    datetime: (frozenset({"utc", "local"}), datetime.isoformat),
    time: (frozenset({"time"}), time.isoformat),
}


def fits_of(column: ColumnType) -> Fits:
    """What changes values on their way into a column; empty where all stay what they are."""
    fits: Fits = {}
    if "float" in column.kinds and "integer" not in column.kinds:
        fits[int] = float
    for kind, (names, written) in _AS_TEXT.items():
        if names.isdisjoint(column.kinds) and "text" in column.kinds:
            fits[kind] = written
    if column.items is not None and (inner := fits_of(column.items)):
        fits[list] = lambda items: [_fitted(item, inner) for item in items]
    if column.values is not None and (within := fits_of(column.values)):
        fits[dict] = lambda maps: {key: _fitted(value, within) for key, value in maps.items()}
    if column.shapes is not None:
        ((keys, columns),) = column.shapes.items()
        fits[dict] = _filler(keys, {key: fits_of(each) for key, each in columns.items()})
    return fits


def _filler(keys: tuple[str, ...], fits: dict[str, Fits]) -> Callable[[Any], Any]:
    parts = {key: fit for key, fit in fits.items() if fit}

    def filled(value: Any) -> Any:
        if tuple(value) != keys:
            value = {key: value.get(key) for key in keys}
        if parts:
            return value | {key: _fitted(value[key], fit) for key, fit in parts.items()}
        return value

    return filled


def _fitted(value: Any, fits: Fits) -> Any:
    fit = fits.get(type(value))
    return value if fit is None else fit(value)
