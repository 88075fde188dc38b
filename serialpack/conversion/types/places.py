"""Decimals of a column that the user names have as many places as that of them which has most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from serialpack.conversion.tables.shape import ValueShape
from serialpack.conversion.types.typing import TypedColumn, decimal_columns


def alike_in_places(shape: ValueShape, types: Sequence[TypedColumn]) -> None:
    """Say in ``shape``, of records, that the decimals of each named column have as many places."""
    for name in decimal_columns(types):
        keys = [name] if name in shape.keys else name.split(".")
        for place in _under(shape, keys):
            if place.types >= {Decimal} and None not in place.facts:
                others = {fact for fact in place.facts if type(fact[0]) is not int}
                scaled = place.facts - others
                places = max(places for _, places in scaled)
                digits = places + max(digits - places for digits, places in scaled)
                place.facts = others | {(digits, places)}


def _under(shape: ValueShape, keys: Sequence[str]) -> Iterator[ValueShape]:
    """The shapes to which ``keys`` lead, also of what is in lists there."""
    if shape.items is not None:
        yield from _under(shape.items, keys)
    if not keys:
        yield shape
    elif keys[0] in shape.keys:
        yield from _under(shape.keys[keys[0]], keys[1:])
