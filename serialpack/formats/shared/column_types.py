"""What the values of a column have in common: types that Avro, Parquet and Arrow must be told.

Found from the values themselves, all of them, so that nothing has to be bent into a type: the
types of Python are told apart exactly (True is no integer, a subclass is no value of its base).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.values.kinds import shown

#: The keys of a map, in their order.
Keys = tuple[str, ...]


class Mixed(ValueError):
    """Values that each could be held, but not in one column."""


class Odd(TypeError):
    """A value, or a key, that no column holds, or none of the format that is written."""

    def __init__(self, value: Any, *, is_key: bool = False) -> None:
        super().__init__(f"a column cannot hold {shown(value)}")
        self.value = value
        self.is_key = is_key


class ColumnType(NamedTuple):
    """The kinds of values in a column, and what else must be known to give it a type.

    ``kinds``: names of ``NAMES``, in that order; those of a datetime are ``utc`` and ``local``.
    ``integers``: the lowest and the highest. ``decimals``: the most digits, and how many of them
    are behind the point. ``items``: what all the arrays hold. Maps have either ``shapes``, by their
    keys the columns of those with these, or ``values``, what all hold under whatever keys.
    ``cells``: the values, in a column of a shape.
    """

    kinds: tuple[str, ...]
    integers: tuple[int, int] = (0, 0)
    decimals: tuple[int, int] = (1, 0)
    items: "ColumnType | None" = None
    shapes: "dict[Keys, dict[str, ColumnType]] | None" = None
    values: "ColumnType | None" = None
    cells: Sequence[Any] = ()


NAMES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "float",
    str: "text",
    bytes: "bytes",
    datetime: "utc",
    date: "date",
    time: "time",
    timedelta: "timedelta",
    Decimal: "decimal",
    UUID: "uuid",
    list: "array",
    dict: "map",
}
_ORDER = [*NAMES.values(), "local"]


def in_order(kinds: Collection[str]) -> tuple[str, ...]:
    """The ``kinds`` of a ``ColumnType``, as it has them: each set of them in one order."""
    return tuple(kind for kind in _ORDER if kind in kinds)


def column_of(
    values: Sequence[Any],
    *,
    as_map: Callable[[Collection[Keys]], bool],
    odd: Collection[type] = (),
    most: int = MAX_DEPTH,
) -> ColumnType:
    """What ``values`` have in common.

    ``as_map``: whether maps with these keys are to be taken as one, whatever their keys. ``odd``:
    types that the format does not have. ``most``: how many levels of arrays there may be, where a
    map counts for three. Odd for a value of another kind than these, Mixed where decimals have
    different places, RecursionError beyond ``most`` levels.
    """
    if most < 0:
        raise TooDeep
    groups: dict[type, Sequence[Any]] = dict.fromkeys(map(type, values), values)
    if len(groups) > 1:
        groups = {kind: [v for v in values if type(v) is kind] for kind in groups}
    found: set[str] = set()
    more: dict[str, Any] = {}
    for kind, group in groups.items():
        name = NAMES.get(kind)
        if name is None or kind in odd:
            raise Odd(next(iter(group)))
        if kind is datetime:
            found |= {_zone(value) for value in group}
            continue
        found.add(name)
        if kind is int:
            more["integers"] = min(group), max(group)
        elif kind is Decimal:
            more["decimals"] = _decimals(group)
        elif kind is time:
            if zoned := [v for v in group if v.tzinfo is not None or v.fold]:
                raise Odd(zoned[0])
        elif kind is list:
            inner = list(chain.from_iterable(group))
            more["items"] = column_of(inner, as_map=as_map, odd=odd, most=most - 1)
        elif kind is dict:
            more |= _maps(group, as_map, odd, most - 3)
    return ColumnType(in_order(found), **more)


def _zone(value: datetime) -> str:
    if value.fold or not (value.tzinfo is None or value.tzinfo is UTC):
        raise Odd(value)
    return "local" if value.tzinfo is None else "utc"


def _decimals(values: Iterable[Decimal]) -> tuple[int, int]:
    digits, scales = 1, set()
    for value in values:
        sign, figures, exponent = value.as_tuple()
        if not isinstance(exponent, int) or exponent > 0 or (sign and not value):
            raise Odd(value)
        scales.add(-exponent)
        digits = max(digits, len(figures), -exponent)
    if len(scales) > 1:
        raise Mixed(f"decimals with {min(scales)} and with {max(scales)} places")
    return digits, scales.pop()


def _maps(
    maps: Sequence[dict[Any, Any]],
    as_map: Callable[[Collection[Keys]], bool],
    odd: Collection[type],
    most: int,
) -> dict[str, Any]:
    groups: dict[tuple[Any, ...], Sequence[dict[Any, Any]]]
    groups = dict.fromkeys(map(tuple, maps), maps)
    if len(groups) > 1:
        lists: dict[tuple[Any, ...], list[dict[Any, Any]]] = {keys: [] for keys in groups}
        for each in maps:
            lists[tuple(each)].append(each)
        groups.update(lists)
    for keys in groups:
        if others := [key for key in keys if type(key) is not str]:
            raise Odd(others[0], is_key=True)
    if as_map(groups):
        inner = list(chain.from_iterable(each.values() for each in maps))
        return {"values": column_of(inner, as_map=as_map, odd=odd, most=most)}
    return {
        "shapes": {
            keys: {
                key: column_of(cells, as_map=as_map, odd=odd, most=most)._replace(cells=cells)
                for key, cells in zip(keys, _columns_in(group, len(keys)), strict=True)
            }
            for keys, group in groups.items()
        }
    }


#: The most maps whose values are looked at together: these stay in the processor's cache.
_TOGETHER = 1000


def _columns_in(maps: Sequence[dict[Any, Any]], count: int) -> list[list[Any]]:
    """The values of maps with the same ``count`` keys in the same order, key by key."""
    columns: list[list[Any]] = [[] for _ in range(count)]
    for start in range(0, len(maps), _TOGETHER):
        some = zip(*map(dict.values, maps[start : start + _TOGETHER]), strict=True)
        for column, cells in zip(columns, some, strict=True):
            column += cells
    return columns
