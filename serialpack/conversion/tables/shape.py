"""What the values in one place of all records have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from copy import deepcopy
from datetime import datetime, time, timedelta
from decimal import Decimal
from functools import partial
from itertools import chain, compress, islice
from operator import is_
from typing import Any

from serialpack.conversion.tables.zones import zone_of
from serialpack.errors import RefusedError
from serialpack.formats.shared.column_types import Mixed, Odd, column_of
from serialpack.values.nanoseconds import fine_kind, has_nanoseconds, nanoseconds_of

#: With more keys than these below one key of the records, they are data and no columns.
MOST_KEYS = 5000

#: More than so many keys, of which each map has less than one in so many, are data as well: a cell
#: for each key of each map would take time and room that grow faster than the source.
_FEW_KEYS, _SPARSE = 256, 64

#: With more columns than these, a table is of no use, and each takes 1 to 15 kB of memory.
MOST_COLUMNS = 100_000

#: A table of so many cells for what stands in one block of the source is mostly empty, as each
#: value takes a byte there: then it is written so many cells at a time.
MOST_CELLS, _AT_A_TIME = 1 << 22, 1 << 19

#: Levels of maps that are looked at: what is below is JSON text.
_DEEPEST = 32

#: So many lists of keys are told apart.
MOST_LISTS = 16

#: The integers that a double holds, each and every one.
_EXACT = 1 << 53

#: What a shape has seen at first: of very many columns, each is a shape for each block.
_NOTHING: frozenset[Any] = frozenset()


class ValueShape:
    """The types of the values in one place, and what is to be known of them.

    ``missing``: whether there is none in some map. ``empty``: whether there is a map without keys,
    ``hollow``: or one in which is nothing but null. ``keys``: of the maps, in order of first
    appearance; ``lists``: of each map, in its order, up to some more than ``MOST_LISTS`` of them;
    ``crowded``: they are too many, or too deep, and not kept; ``members``: how many the maps have
    in all. ``items``: of all that stands in lists. ``low`` and ``high``: of integers;
    ``inexact``: whether one of them is no double. ``negative_zero``: whether a float is -0.0.
    """

    __slots__ = (
        *("types", "missing", "empty", "hollow", "keys", "crowded", "items", "low", "high"),
        *("inexact", "maps", "members", "facts", "lists", "negative_zero", "_under"),
    )

    def __init__(self) -> None:
        self.types: Set[type] = _NOTHING
        self.missing = self.empty = self.hollow = self.crowded = self.inexact = False
        self.negative_zero = False
        self.keys: dict[Any, ValueShape] = {}
        self.items: ValueShape | None = None
        self.low = self.high = 0
        self.maps = self.members = 0
        #: Of times, whether they are in UTC, ``FINE`` or ``FAR``; of decimals, digits and places.
        #: Of times in one zone, ``ZONED`` and that.
        self.facts: Set[Any] = _NOTHING
        self.lists: Set[tuple[Any, ...]] = _NOTHING
        #: Of crowded maps, what stands under all keys; None where these are no text, or too deep.
        self._under: ValueShape | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            setattr(self, name, value)

    @property
    def sparse(self) -> bool:
        """Whether the keys of the maps are data, and no names of columns."""
        cells = len(self.keys) * self.maps
        return self.crowded or cells > max(_FEW_KEYS * self.maps, _SPARSE * self.members)

    def under_keys(self) -> ValueShape | None:
        """What stands under all keys of the maps; None where these are no text, or too deep."""
        if self.crowded:
            return self._under
        under = _together(deepcopy(self.keys))
        if under is not None:
            under.missing = False
        return under

    def look(
        self, values: Sequence[Any], *, within: bool, depth: int = 0, top: bool = True
    ) -> None:
        """Take ``values`` in; ``within``: also what stands in lists."""
        types = set(map(type, values))
        self.types = self.types | types if self.types else types
        if int in types:
            self._integers(_of(values, int, types))
        if float in types and not self.negative_zero:
            self.negative_zero = _any_negative_zero(_of(values, float, types))
        for kind in types if within else ():
            if kind in WITH_FACTS or fine_kind(kind) is not None:
                self.facts = self.facts | _facts(_of(values, kind, types))
        if dict in types:
            self._maps(_of(values, dict, types), within=within, depth=depth, top=top)
        if within and list in types:
            self.items = self.items or ValueShape()
            inner = list(chain.from_iterable(_of(values, list, types)))
            if depth < _DEEPEST:
                self.items.look(inner, within=True, depth=depth + 1, top=False)
            else:
                self.crowded = True

    def _integers(self, values: Sequence[int]) -> None:
        low, high = min(values), max(values)
        self.low, self.high = min(self.low, low), max(self.high, high)
        if low < -_EXACT or high > _EXACT:
            self.inexact = self.inexact or any(_no_double(v) for v in values)

    def _maps(self, maps: Sequence[dict[Any, Any]], *, within: bool, depth: int, top: bool) -> None:
        self.maps += len(maps)
        self.members += sum(map(len, maps))
        if depth >= _DEEPEST:
            self.crowded, self._under = True, None
        if self.crowded:
            self._look_under(maps, within=within, depth=depth)
            return
        groups = grouped(maps)
        self._count(groups)
        for keys, group in groups.items():
            if not keys:
                self.empty = True
                continue
            columns = list(zip(*map(dict.values, group), strict=True))
            for key, column in zip(keys, columns, strict=True):
                shape = self.keys.get(key)
                if shape is None:
                    if len(self.keys) >= MOST_KEYS and not top:
                        self._crowd()
                        self._look_under(maps, within=within, depth=depth)
                        return
                    shape = self.keys[key] = ValueShape()
                    shape.missing = self.maps > len(maps)
                shape.look(column, within=within, depth=depth + 1, top=False)
            self.hollow = self.hollow or _any_hollow(columns)
        if len(groups) > 1 or len(next(iter(groups))) < len(self.keys):
            sets = list(map(frozenset, groups))
            for key, shape in self.keys.items():
                shape.missing = shape.missing or any(key not in keys for keys in sets)

    def _look_under(self, maps: Sequence[dict[Any, Any]], *, within: bool, depth: int) -> None:
        if self._under is None or not set(map(type, chain.from_iterable(maps))) <= {str}:
            self._under = None
            return
        values = list(chain.from_iterable(map(dict.values, maps)))
        self._under.look(values, within=within, depth=depth + 1, top=False)

    def _crowd(self) -> None:
        """Keep no more which value stands under which key."""
        if not self.crowded:
            self.crowded, self._under = True, _together(self.keys)
            self.keys = {}

    def _count(self, lists: Iterable[tuple[Any, ...]]) -> None:
        if len(self.lists) <= MOST_LISTS:
            self.lists = self.lists | set(islice(lists, MOST_LISTS + 1))

    def merge(self, other: ValueShape, *, top: bool = True) -> None:
        """Take in what another shape has seen, which comes behind."""
        if not other.types <= self.types:
            self.types = self.types | other.types
        self.missing = self.missing or other.missing
        self.inexact = self.inexact or other.inexact
        self.negative_zero = self.negative_zero or other.negative_zero
        if other.low < self.low:
            self.low = other.low
        if other.high > self.high:
            self.high = other.high
        if other.facts:
            self.facts = self.facts | other.facts
        if other.items is not None:
            if self.items is None:
                self.items = other.items
            else:
                self.items.merge(other.items, top=False)
        if dict in self.types or other.crowded:
            self._merge_maps(other, top=top)

    def _merge_maps(self, other: ValueShape, *, top: bool) -> None:
        before, after = self.maps, other.maps
        self._count(other.lists)
        self.empty = self.empty or other.empty
        self.hollow = self.hollow or other.hollow
        self.maps += after
        self.members += other.members
        if self.crowded or other.crowded:
            self._crowd()
            other._crowd()
            if self._under is None or other._under is None:
                self._under = None
            else:
                self._under.merge(other._under, top=False)
        else:
            for key, shape in self.keys.items():
                if after and key not in other.keys:
                    shape.missing = True
            for key, shape in other.keys.items():
                known = self.keys.get(key)
                if known is None:
                    shape.missing = shape.missing or before > 0
                    self.keys[key] = shape
                else:
                    known.merge(shape, top=False)
            if len(self.keys) > MOST_KEYS and not top:
                self._crowd()


def check_columns(count: int) -> None:
    """RefusedError for more columns than a table may have."""
    if count > MOST_COLUMNS:
        raise RefusedError(
            f"a table of {count:,} columns or more; at most {MOST_COLUMNS:,} are written",
            hint="--fields NAME,... takes some, --at PATH the records of a list;"
            " --to json or ndjson holds all",
        )


def rows_at_a_time(rows: int, columns: int) -> int:
    """How many of the ``rows`` of a block are written at a time; 0: all of them."""
    return max(1, _AT_A_TIME // columns) if rows * columns > MOST_CELLS else 0


def grouped(maps: Sequence[dict[Any, Any]]) -> dict[tuple[Any, ...], Sequence[dict[Any, Any]]]:
    """Maps by their keys in their order."""
    groups: dict[tuple[Any, ...], Any] = dict.fromkeys(map(tuple, maps), maps)
    if len(groups) > 1:
        groups = {keys: [] for keys in groups}
        for each in maps:
            groups[tuple(each)].append(each)
    return groups


def _together(shapes: dict[Any, ValueShape]) -> ValueShape | None:
    """One shape of all, which are used up; None where a key is no text."""
    if any(type(key) is not str for key in shapes):
        return None
    whole = ValueShape()
    for shape in shapes.values():
        whole.merge(shape, top=False)
    return whole


def _of(values: Sequence[Any], kind: type, types: set[type]) -> Sequence[Any]:
    if len(types) == 1:
        return values
    return list(compress(values, map(partial(is_, kind), map(type, values))))


#: Types of which a typed target must know more.
WITH_FACTS: frozenset[type] = frozenset({datetime, time, timedelta, Decimal})

#: The facts that times have nanoseconds, and that some are beyond the years of those.
FINE, FAR = "fine", "far"
#: The fact that times are in the zone that stands beside it.
ZONED = "zoned"


def _facts(values: Sequence[Any]) -> set[Any]:
    """As ``_fact``; of decimals one for each number of places."""
    fact = _fact(values)
    if fact is not None or type(values[0]) is not Decimal:
        return {fact}
    by_places: dict[Any, list[Decimal]] = {}
    for value in values:
        by_places.setdefault(value.as_tuple().exponent, []).append(value)
    return set(map(_fact, by_places.values()))


def _fact(values: Sequence[Any]) -> Any:
    """What a typed target must know of values of one type; None for what it has no type for."""
    if (fine := fine_kind(type(values[0]))) is not None:
        return (fine, FINE) if all(map(has_nanoseconds, values)) else None
    if type(values[0]) is datetime and (zone := zone_of(values)) is not None:
        return ZONED, zone
    try:
        found = column_of(values, as_map=lambda _: False)
    except (Odd, Mixed):
        return None
    if found.kinds == ("decimal",):
        return found.decimals
    return found.kinds if _is_near(found.kinds, values) else (*found.kinds, FAR)


def _is_near(kinds: tuple[str, ...], values: Sequence[Any]) -> bool:
    """Whether nanoseconds can count all times."""
    if kinds == ("time",):
        return True
    try:
        for value in (min(values), max(values)) if len(kinds) == 1 else values:
            nanoseconds_of(value)
    except OverflowError:
        return False
    return True


def _any_negative_zero(values: Sequence[float]) -> bool:
    return 0.0 in values and any(v == 0 and math.copysign(1, v) < 0 for v in values)


def _no_double(value: int) -> bool:
    try:
        return int(float(value)) != value
    except OverflowError:
        return True


def _any_hollow(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether there is a row of nothing but null, and of maps that may be hollow."""
    if not all(_may_be_hollow(column) for column in columns):
        return False
    return any(all(map(_nothing, row)) for row in zip(*columns, strict=True))


def _may_be_hollow(column: Sequence[Any]) -> bool:
    return not {type(None), dict}.isdisjoint(map(type, column))


def _nothing(value: Any) -> bool:
    if type(value) is dict:
        return all(map(_nothing, value.values()))
    return value is None
