"""How deep values in memory are nested.

The work is done by C code: ``gc.get_referents``, a function of Python's garbage collector, gives
the values that are in a container, and all containers of one level are given to it together.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from gc import get_referents
from itertools import chain, compress, islice
from typing import Any
from uuid import UUID

from serialpack.depth._limit import MAX_DEPTH, TooDeep
from serialpack.literal import Literal

#: Containers whose elements the collector gives, all of them. Of a map it gives the values and,
#: unless they are all text, the keys.
CONTAINERS = frozenset({list, dict, tuple, set, frozenset})

#: Types whose values hold no others, and are met often.
_LEAVES = frozenset(
    {type(None), bool, int, float, complex, str, bytes, bytearray, Literal}
    | {datetime, date, time, timedelta, timezone, Decimal, Fraction, UUID}
)
#: Types whose values a library writes as a name (pickle), or refuses: what these refer to does not
#: belong to the record. A member of an enum is one for all that have it.
_NAMED = (
    Enum,
    *(type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType),
    *(types.CodeType, types.FrameType, types.GeneratorType),
)
_PLAIN = _LEAVES | CONTAINERS
#: Marks the end of an iterator over values.
_END = object()
_NOTHING: list[Any] = []
#: The flag of types whose instances refer to others (Py_TPFLAGS_HAVE_GC).
_HAS_CONTENTS = 1 << 14

#: How many containers are given to the collector in one call: few enough that what they hold stays
#: in the processor's cache.
_TOGETHER = 500

#: Nearly all records have fewer levels than this: the quick checks give up here.
_SHALLOW, _LOOKED = 16, range(16)

#: Of up to so many values, repeated ones are looked into once; to find them among more takes long.
_SEVERAL = 16
#: The quick check looks at so many values, each in every place where it stands, and at so many more
#: for each value in few containers: most records have fewer.
_MANY, _OF_EACH = 4096, 16
#: Up to so many values are a small message; and of up to so many all types are looked at.
_FEW = 64
#: When a level has grown to so many times what it was after repeated values were last taken out,
#: they are taken out again: a value that stands in two places doubles the number on each level.
_GROWN = 8
#: After so many levels it is checked whether a value holds itself.
_TREES = 16


def contents(containers: list[Any]) -> Iterator[list[Any]]:
    """The values that are directly in ``containers``, in lists: one for each ``_TOGETHER`` of
    these.

    The keys of a map are among them only where not all of them are text.
    """
    for start in range(0, len(containers), _TOGETHER):
        yield get_referents(*containers[start : start + _TOGETHER])


def by_level(records: list[Any]) -> Iterator[tuple[list[Any], list[Any], set[type]]]:
    """All containers in ``records``, level by level: some at a time, with the values that are
    directly in them (as ``contents`` gives them) and the types of these values.

    The first level is ``records`` itself. On each level a container comes once, in however many
    places it stands. Levels beyond those that are allowed are not looked at.
    """
    level: list[Any] = [records]
    for _ in range(MAX_DEPTH + 2):
        below: list[Any] = []
        for start in range(0, len(level), _TOGETHER):
            some = level[start : start + _TOGETHER]
            values = get_referents(*some)
            kinds = set(map(type, values))
            yield some, values, kinds
            if kinds <= CONTAINERS:
                below += values
            elif not kinds.isdisjoint(CONTAINERS):
                below += [value for value in values if type(value) in CONTAINERS]
        if not below:
            return
        level = _once(below)


def check_values(records: list[Any]) -> None:
    """TooDeep where a record is too deep; a record that holds itself always is.

    A value that stands in several places counts in each: most formats have no references, and write
    it as often. For those that have, see ``check_graph``.
    """
    few = more_than_few(records)
    if not few:
        return
    # By a class the collector reaches thousands of values.
    classes = any(issubclass(kind, type) for kind in set(map(type, few[:_FEW])))
    if (not classes and _is_shallow(few, _SHALLOW)) or _is_shallow(records, _SHALLOW, named=False):
        return
    depth, level, before, searched = 0, list[Any](), set[int](), False
    for depth, level in enumerate(islice(_levels(records), MAX_DEPTH + 1)):
        # Objects that refer to each other stay on all levels: one search finds what holds itself.
        # Of few on each level it is more work than the levels, below which it goes on.
        wide = depth >= _TREES and len(level) > _SEVERAL
        if not searched and (wide or _come_again(level, before)):
            searched = True
            if holds_itself(level):
                raise TooDeep
    if depth == MAX_DEPTH and any(map(_is_level, level)):
        raise TooDeep


def check_graph(records: list[Any]) -> None:
    """As ``check_values``, for formats with references, which write a value once in however many
    places it stands (pickle): it counts only where the writer meets it first. A value that holds
    itself is allowed.
    """
    if not more_than_few(records) or _is_little(records):
        return
    before = set[int]()
    found = enumerate(_levels(records), 1)
    if any(depth == _TREES or _come_again(level, before) for depth, level in found):
        _check_in_order(records)


def _levels(records: list[Any]) -> Iterator[list[Any]]:
    """The levels of containers and objects in ``records``, down to the last that has any; repeated
    ones stay in a level until it has grown by ``_GROWN``."""
    level, distinct = [records], 1
    while level := below_all(level):
        if len(level) > _GROWN * distinct:
            level = _once(level)
            distinct = len(level)
        yield level


def _come_again(level: list[Any], before: set[int]) -> bool:
    """Whether some of a ``level`` of many values stand ``before``, to which some are added."""
    if len(level) < _MANY:
        return False
    again = not before.isdisjoint(map(id, level[:: len(level) // _FEW]))
    before.update(map(id, level[:: len(level) // _MANY]))
    return again


def more_than_few(records: list[Any]) -> list[Any]:
    """The first level of what is in ``records``, as the collector sees it, that has more than
    ``_FEW`` values (where these are of classes, that with the classes), or the last one looked at;
    nothing where the levels end before. Of a small record, this is all that is done."""
    few = records
    for _ in _LOOKED:
        above, few = few, get_referents(*few)
        if not few:
            break
        if len(few) > _FEW:
            return above if type in map(type, above) else few
    return few


def depth_of(value: Any, most: int) -> int:
    """How many levels ``value`` has, ``most`` at the most: deeper ones are not looked for."""
    level = [[value]]
    for depth in range(most):
        level = below_all(level)
        if not level:
            return depth
    return most


def holds_itself(value: Any) -> bool:
    """Whether ``value``, or a container or object in it, is contained in itself."""
    done: dict[int, Any] = {}
    # No iterators: the collector goes through all that are kept, again and again of a deep value.
    around, outers, inners = {id(value)}, [value], [_below_one(value)]
    while outers:
        if inner := inners[-1]:
            part = inner.pop()
            if not inner:
                inners[-1] = _NOTHING
            if id(part) in around:
                return True
            if id(part) not in done:
                around.add(id(part))
                outers.append(part)
                inners.append(_below_one(part))
        else:
            outer, _ = outers.pop(), inners.pop()
            around.discard(id(outer))
            done[id(outer)] = outer
    return False


def levels(
    records: list[Any],
    plain: frozenset[type],
    inside: Callable[[Any], list[Any]],
    containers: frozenset[type] = CONTAINERS,
) -> int:
    """How many levels there are in ``records``, whose values must all be of known types; TooDeep.

    ``plain``: types that hold no other values; ``containers``: types whose contents the collector
    gives. A value of any other type is given to ``inside``, which returns the values in it, or
    raises TypeError for a value that is not to be taken. A subclass counts as another type.
    """
    level: list[Any] = [records]
    depth = -1
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise TooDeep
        above, level = level, []
        for values in contents(above):
            if not plain.issuperset(map(type, values)):
                level += [value for value in values if type(value) not in plain]
        odd = set(map(type, level)) - containers
        while odd:
            level = [
                part
                for value in level
                for part in (inside(value) if type(value) in odd else (value,))
                if type(part) not in plain
            ]
            odd = {type(value) for value in level} - containers
    return depth


def _is_shallow(values: list[Any] | tuple[Any, ...], levels: int, *, named: bool = True) -> bool:
    """Whether all that is in ``values`` ends within ``levels`` levels, as the collector sees them.

    This quick check looks at no types and takes a third of the time of ``below_all``. It may say
    False of shallow values: the collector counts the class of an object as a part of it, and by a
    class nearly everything can be reached, so that the levels do not end. With ``named`` False it
    leaves out classes and the other values that are written by their names.
    """
    for level in range(levels, 0, -1):
        if len(values) > 2 * _TOGETHER:
            pieces = (values[at : at + _TOGETHER] for at in range(0, len(values), _TOGETHER))
            return all(_is_shallow(piece, level, named=named) for piece in pieces)
        if len(values) == 1 and type(values[0]) in (list, tuple):
            values = values[0]  # no copy is needed
        else:
            values = get_referents(*values)
        if not named:
            values = without_named(values)
        if not values:
            return True
    return False


def without_named(values: list[Any] | tuple[Any, ...]) -> list[Any] | tuple[Any, ...]:
    """``values`` without those that are written by their names (``_NAMED``)."""
    named = {kind for kind in set(map(type, values)) if issubclass(kind, _NAMED)}
    return [value for value in values if type(value) not in named] if named else values


def _is_little(values: list[Any]) -> bool:
    """Whether all that is in ``values`` ends within ``_SHALLOW`` levels and is not many times more
    than stands on the first of these (a quick check that may say False of such values, too).

    A value counts in every place where it stands. To find that out, no more places are looked at
    than may be counted.
    """
    left = _MANY
    for _ in range(_SHALLOW):
        if few := len(values) <= _SEVERAL:
            values = get_referents(*(values if len(values) < 2 else _once(values)))
        else:
            above, values = values, []
            at, step = 0, 1  # one large list may stand in many places, also behind small ones
            while at < len(above) and len(values) <= left:
                some = above[at : at + step]
                for each in some[::49]:
                    if type(each) in CONTAINERS and len(each) > _MANY:
                        return False
                values += get_referents(*some)
                at, step = at + step, _SEVERAL if step == 1 else _TOGETHER
        values = _inner(values)
        if not values:
            return True
        left += (_OF_EACH if few else -1) * len(values)
        if left < 0:
            return False
    return False


def _inner(found: list[Any]) -> list[Any]:
    """``found`` without most of those that are written by their names (``_NAMED``).

    By the class of an object, the collector would reach nearly everything. Of many values one of
    seven, or of more 49, is looked at to see whether there are any: to miss one costs time, nothing
    else.
    """
    looked = found if len(found) < _FEW else found[:: 7 if len(found) < 7 * _FEW else 49]
    return found if _PLAIN.issuperset(map(type, looked)) else [*without_named(found)]


def below_all(level: list[Any]) -> list[Any]:
    """The next level: of the values directly in those of ``level`` all that may hold values
    themselves, which are containers and objects."""
    found: list[Any] = []
    for values in _inside(level):
        if _LEAVES.issuperset(map(type, values)):
            continue
        kinds = set(map(type, values))
        holding = {kind for kind in kinds if kind in CONTAINERS or may_hold(kind)}
        if len(holding) == len(kinds):
            found += values
        elif holding:
            found += compress(values, map(holding.__contains__, map(type, values)))
    return found


def _below_one(value: Any) -> list[Any]:
    """``below_all`` for one container or object, in a quarter of the time."""
    parts = get_referents(value) if type(value) in CONTAINERS else parts_of(value)
    return [part for part in parts if type(part) in CONTAINERS or may_hold(type(part))]


def _once(level: list[Any]) -> list[Any]:
    """``level`` without repeated values (the same object, not an equal one)."""
    return list(dict(zip(map(id, level), level, strict=True)).values())


def _inside(level: list[Any]) -> Iterator[list[Any]]:
    """The values directly in the containers and objects of ``level``, in lists."""
    if CONTAINERS.issuperset(map(type, level)):
        return contents(level)
    return chain(
        contents([value for value in level if type(value) in CONTAINERS]),
        map(parts_of, [value for value in level if type(value) not in CONTAINERS]),
    )


def parts_of(value: Any) -> list[Any]:
    """The values in an object: of its attributes, without the map (``__dict__``) that they are
    in."""
    if not type(value).__dictoffset__:
        return get_referents(value)
    own = object.__getattribute__(value, "__dict__")
    if not own:
        return [part for part in get_referents(value) if part is not own]
    # From Python 3.13 on, the collector knows the attributes also without their map.
    values = [*own.values()]
    known = {id(own), *map(id, values)}
    return [*values, *(part for part in get_referents(value) if id(part) not in known)]


def may_hold(kind: type) -> bool:
    """Whether values of type ``kind``, which is none of ``CONTAINERS``, may hold others."""
    return (
        bool(kind.__flags__ & _HAS_CONTENTS)
        and kind not in _LEAVES
        and not issubclass(kind, _NAMED)
    )


def _is_level(value: Any) -> bool:
    """Whether ``value`` counts as a level: a container, or an object that holds one."""
    return isinstance(value, tuple(CONTAINERS)) or bool(_below_one(value))


def _check_in_order(records: list[Any]) -> None:
    """``check_graph`` without quick checks: goes through containers and objects one by one, in the
    order in which pickle meets them."""
    met: dict[int, Any] = {}
    stack: list[Iterator[Any]] = [iter([records])]
    while stack:
        value = next(stack[-1], _END)
        if value is _END:
            stack.pop()
        elif id(value) not in met:
            met[id(value)] = value
            if len(stack) > MAX_DEPTH + 1 and _is_level(value):  # the list of records is one more
                raise TooDeep
            if below := _below_one(value):
                stack.append(iter(_ordered(value, below)))


def _ordered(value: Any, below: list[Any]) -> list[Any]:
    """``below``, the values in ``value``, in the order in which they stand in it: of a list, the
    collector gives the last one first."""
    if not isinstance(value, list | tuple):
        return below
    found = {id(part): part for part in below}
    first = [found.pop(id(part)) for part in value if id(part) in found]
    return [*first, *found.values()]
