"""Records as the columns of a layout, and the order of their keys."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain, compress
from operator import methodcaller
from typing import Any, NamedTuple

from serialpack.errors import InputError
from serialpack.values.kinds import ROOT, Loss, Path, in_order, path_text
from serialpack.values.missing import MISSING, Missing


class Absent(tuple[Missing, ...]):
    """The column of maps that all are without its key."""

    __slots__ = ()


class CellPlace(NamedTuple):
    """Where the values under one key go.

    ``column``: the number of theirs; -1 where they are maps, and none of them null. ``below``:
    the places of what is in these maps, by key; None where they are taken as they are.
    """

    column: int = -1
    below: "dict[str, CellPlace] | None" = None


class ColumnParts(NamedTuple):
    """The columns of some records, and what there is to tell of their keys."""

    columns: list[Sequence[Any]]
    told: list[Loss]


def gathered(maps: list[Any], place: CellPlace, count: int, first_record: int) -> ColumnParts:
    """The ``count`` columns of ``maps``; InputError for a key that has no place."""
    columns: list[Sequence[Any]] = [()] * count
    counts = Counter(map(tuple, maps))
    shapes: Collection[tuple[Any, ...]] | None = counts
    told = _orders(maps, counts, list(place.below or ()), first_record)
    stack: list[tuple[Sequence[Any], CellPlace, Path]] = [(maps, place, ROOT)]
    while stack:
        values, place, path = stack.pop()
        below = place.below or {}
        types = set(map(type, values))
        if place.column >= 0:
            columns[place.column] = _nulls(values)
        if path is not ROOT and dict in types:
            told.append(_told(values, path, first_record))
        parts = _parts(values, list(below), types, shapes)
        for (name, inner), part in zip(below.items(), parts, strict=True):
            if inner.below is None:
                columns[inner.column] = part
            else:
                stack.append((part, inner, (path, name)))
        shapes = None
    return ColumnParts(columns, told)


def _told(values: Sequence[Any], path: Path, first_record: int) -> Loss:
    """That maps in one place have become columns."""
    kinds = list(map(type, values))
    first = first_record + kinds.index(dict)
    where = path_text(path)
    return Loss("nested", kinds.count(dict), first, where, "a map", "columns of its keys")


def _nulls(values: Sequence[Any]) -> list[Any]:
    return [MISSING if type(value) is dict else value for value in values]


def _parts(
    values: Sequence[Any],
    names: list[str],
    types: set[type],
    shapes: Collection[tuple[Any, ...]] | None,
) -> list[Sequence[Any]]:
    """What is under each of ``names``. ``shapes``: the keys of maps, where they are known."""
    if types == {dict}:
        shapes = set(map(tuple, values)) if shapes is None else shapes
        if len(shapes) == 1 and tuple(names) in shapes:
            return list(zip(*map(dict.values, values), strict=True))
        return _gotten(values, names, shapes)
    if not types <= {dict, Missing, type(None)}:
        raise _changed()
    some = [value if type(value) is dict else _NO_KEYS for value in values]
    return _gotten(some, names, set(map(tuple, some)))


def _gotten(
    maps: Sequence[dict[Any, Any]], names: list[str], shapes: Collection[tuple[Any, ...]]
) -> list[Sequence[Any]]:
    """The columns of maps with keys of several ``shapes``; one and the same where there is nothing,
    as of many columns most may be.
    """
    there = frozenset(chain.from_iterable(shapes))
    if not there.issubset(names):
        raise _changed()
    nothing = Absent([MISSING] * len(maps))
    return [
        list(map(methodcaller("get", name, MISSING), maps)) if name in there else nothing
        for name in names
    ]


_NO_KEYS: dict[Any, Any] = {}


def _changed() -> InputError:
    return InputError("it has other records than when it was looked at", hint="run it again")


def _orders(
    maps: list[Any], counts: Counter[tuple[Any, ...]], names: list[str], first_record: int
) -> list[Loss]:
    """How many records have their keys in another order than the columns, and the first.

    ``counts``: how many have which keys, in which order.
    """
    if len(counts) == 1 and tuple(names) in counts:
        return []
    numbers = {name: number for number, name in enumerate(names)}
    odd = set()
    for keys in counts:
        order = [numbers.get(key, 0) for key in keys]
        if order != sorted(order):
            odd.add(keys)
    if not odd:
        return []
    first = next(compress(range(len(maps)), map(odd.__contains__, map(tuple, maps))))
    moved = list(maps[first])
    was, became = in_order(moved, sorted(moved, key=numbers.__getitem__))
    count = sum(counts[keys] for keys in odd)
    return [Loss("key-order", count, first_record + first, "$", was, became)]
