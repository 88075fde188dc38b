"""Which columns of text get values in a target, and what is known of these before one is made.

This is decided once all records were looked at, by what the user named (``--types``), by how the
cells of each column are spelled (``--infer``), and by what the target can hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from serialpack.conversion.losses.rules import DATABASES, ELEMENTS, TYPED_TABLES
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.shape import ZONED, ValueShape
from serialpack.conversion.targets.verdicts import verdict
from serialpack.conversion.types.seen import CellsSeen, TypesSeen
from serialpack.conversion.types.spelling import COMMA, TYPES, ZONES, Spelling, python_types, rank
from serialpack.conversion.types.typing import OF_ANY, TypedColumn, decimal_columns, named_types
from serialpack.errors import UsageError
from serialpack.formats import FORMATS

#: A refusal names at most so many of the columns that there are.
_FEW = 10


def column_types(
    seen: TypesSeen | None, shape: ValueShape, plan: ConversionPlan, to: str
) -> tuple[TypedColumn, ...]:
    """The columns of text that get values in the target ``to``, by ``--infer`` and ``--types``.

    ``seen``: what was found in the cells of the records; None where nobody looked. ``shape``: that
    of the records; it becomes the shape that they have with these values. UsageError for a type
    that there is not, and for a named column that no record has.
    """
    shaping = plan.shaping
    if seen is None or not shaping.gives_types:
        return ()
    is_text = plan.is_text_table or plan.source in ELEMENTS
    types = decided(seen, named_types(shaping.types), to, infer=shaping.infer, is_text=is_text)
    for column in types:
        if not column.by_hand:
            shape.keys[column.name] = shape_of(column, seen.columns[column.name])
    if to in TYPED_TABLES:
        _give_alike_places(shape, types)
    return types


def decided(
    seen: TypesSeen, named: Sequence[TypedColumn], target: str, *, infer: bool, is_text: bool
) -> tuple[TypedColumn, ...]:
    """The columns that get values in ``target``, and how they are spelled.

    ``is_text``: they come from where numbers are text too. UsageError for one that was named and
    that no record has.
    """
    lost = [column.name for column in named if column.name not in seen.named]
    if lost:
        there = ", ".join(list(seen.columns)[:_FEW])
        more = ", ..." if len(seen.columns) > _FEW else ""
        hint = f"there are {there}{more}" if there else None
        raise UsageError(f"--types: no record has a field {' or '.join(lost)}", hint=hint)
    found = []
    for column in named:
        kind = column.spelling.type
        like = "number" if kind == COMMA else kind  # as which it was looked at
        fit = [s for s in seen.by_hand[column.name].spellings or () if s.type == like]
        best = min(fit, key=rank, default=column.spelling)
        found.append(column._replace(spelling=best._replace(type=kind)))
    by_hand = {column.name for column in named}
    for name, cells in seen.columns.items() if infer else ():
        if name in by_hand:
            continue
        fit = sorted(cells.spellings or (), key=rank)
        kinds = [s for s in fit if is_text or s.type in OF_ANY]
        best_of = next((s for s in kinds if _holds(target, s, cells)), None)
        if best_of is not None:
            found.append(TypedColumn(name, best_of))
    return tuple(found)


def _holds(target: str, spelling: Spelling, cells: CellsSeen) -> bool:
    """Whether ``target`` has the type, at the width of what was seen."""
    kinds = TYPES[spelling.type]
    if cells.non_finite and (
        spelling.type != "number" or verdict("non-finite", target).word != "same"
    ):
        return False
    if spelling.type == "boolean" and target in DATABASES:
        return True  # as 0 and 1, declared so, and read as such
    if spelling.type == "timestamp" and spelling.style[2:] not in ZONES:
        return target in TYPED_TABLES  # one offset for all
    if spelling.type == "timestamp":
        kinds = kinds[bool(spelling.style[2:]) :][:1]
    for kind in kinds:
        found = verdict(kind, target)
        if found.word not in ("same", "lost") and not found.partly:
            return False
        if found.word == "lost" or (found.partly and spelling.type in OF_ANY):
            return False
    if spelling.type != "integer":
        return True
    low, high = cells.low, cells.high
    most = 1 << FORMATS.declaration(target).integer_bits
    if max(-low, high) > most:
        return False
    if low < -(1 << 63) or high >= 1 << 64 or (high >= 1 << 63 and low < 0):
        return False
    return high < 1 << 63 or verdict("uint64", target).word == "same"


def shape_of(column: TypedColumn, cells: CellsSeen) -> ValueShape:
    """What is known of the values of an inferred column before any of them is made."""
    shape = ValueShape()
    shape.types = set(python_types(column.spelling.type))
    shape.low, shape.high, shape.negative_zero = cells.low, cells.high, cells.negative_zero
    if cells.nothing:
        shape.types.add(type(None))
    if column.spelling.type == "timestamp":
        shape.facts = {_fact_of(column.spelling.style[2:])}
    return shape


def _fact_of(zone: str) -> tuple[str, ...]:
    """What is known of times that are spelled with a zone, or with none."""
    if zone not in ZONES:
        return ZONED, zone
    return ("utc",) if zone else ("local",)


def _give_alike_places(shape: ValueShape, types: Sequence[TypedColumn]) -> None:
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
