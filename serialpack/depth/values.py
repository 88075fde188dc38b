"""How deep values are nested, looked at by C code: all values of one level together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from gc import get_referents
from itertools import chain, compress
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any
from uuid import UUID

from serialpack.depth._limit import MAX_DEPTH, TooDeep
from serialpack.literal import Literal

#: Containers whose elements the collector knows: all of them, and (of maps whose keys are all
#: text) no keys.
CONTAINERS = frozenset({list, dict, tuple, set, frozenset})

_LEAVES = frozenset(
    {type(None), bool, int, float, complex, str, bytes, bytearray, Literal}
    | {datetime, date, time, timedelta, timezone, Decimal, Fraction, UUID}
)
#: Types of values that libraries write by their names, or not at all: what they refer to is no part
#: of a record.
_NAMED = (
    *(type, ModuleType, FunctionType, BuiltinFunctionType, MethodType),
    *(CodeType, FrameType, GeneratorType),
)
_PLAIN = _LEAVES | CONTAINERS
#: Stands for the end of the values in a container.
_END = object()
#: The flag of types whose instances refer to others (Py_TPFLAGS_HAVE_GC).
_HAS_CONTENTS = 1 << 14

#: Containers whose contents are looked at together: few enough that these stay in the
#: processor's cache.
_TOGETHER = 500

#: So many levels hold nearly all values; more are looked at only where there is no object in them.
_SHALLOW = 16

#: Of so few containers it is looked up which are one in several places.
_SEVERAL = 16
#: So many values are looked at, each in every place where it stands, and so many more for each
#: value in few containers: most records have fewer.
_MANY, _OF_EACH = 4096, 16
#: So few values are a small message; and the types of so few are all looked at.
_FEW = 64
#: A level with so many times more values than when double ones were last left out is looked through
#: for these again: their number may double with each level.
_GROWN = 8
#: Below so many levels it is checked whether a value holds itself.
_TREES = 16


def contents(containers: list[Any]) -> Iterator[list[Any]]:
    """The values in ``containers``, some at a time.

    The keys of a map are not among them where all are text.
    """
    for start in range(0, len(containers), _TOGETHER):
        yield get_referents(*containers[start : start + _TOGETHER])


def by_level(records: list[Any]) -> Iterator[tuple[list[Any], list[Any], set[type]]]:
    """Containers, some at a time, with the values in them (as of ``contents``) and the types of
    these.

    They come level by level from ``records`` itself down, each once on its level, to where nothing
    is read any more.
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
    """TooDeep where a record is nested too deeply, which every one that holds itself is.

    What stands in several places is looked at in each, as those write it who have no references.
    """
    if _is_shallow(records, _SHALLOW) or _is_shallow(records, _SHALLOW, named=False):
        return
    level, distinct = [records], 1
    for depth in range(MAX_DEPTH + 1):
        level = _below(level)
        if not level:
            return
        if len(level) > _GROWN * distinct:
            level = _once(level)
            distinct = len(level)
        # Objects that know each other come back on all levels, where one look finds it.
        if depth == _TREES and holds_itself(level):
            raise TooDeep
    if any(map(_is_level, level)):
        raise TooDeep


def check_graph(records: list[Any]) -> None:
    """As ``check_values``, for writers with references, which write once what stands in several
    places.

    What stands within itself counts as deep as where it is met first.
    """
    few = records
    for _ in range(_SHALLOW):  # of a small message that is all
        few = get_referents(*few)
        if not few:
            return
        if len(few) > _FEW:
            break
    if _is_little(records):
        return
    level, distinct = [records], 1
    for _ in range(_TREES):
        level = _below(level)
        if not level:
            return
        if len(level) > _GROWN * distinct:
            level = _once(level)
            distinct = len(level)
    _check_in_order(records)


def depth_of(value: Any, most: int) -> int:
    """How many levels ``value`` has; ``most`` where it has more."""
    level: list[Any] = [[value]]
    for depth in range(most):
        level = _below(level)
        if not level:
            return depth
    return most


def holds_itself(value: Any) -> bool:
    """Whether a container, or an object, in ``value`` stands within itself."""
    done: dict[int, Any] = {}
    around = {id(value)}
    stack: list[tuple[Any, Iterator[Any]]] = [(value, iter(_below_one(value)))]
    while stack:
        outer, inner = stack[-1]
        part = next(inner, _END)
        if part is _END:
            stack.pop()
            around.discard(id(outer))
            done[id(outer)] = outer
        elif id(part) in around:
            return True
        elif id(part) not in done:
            around.add(id(part))
            stack.append((part, iter(_below_one(part))))
    return False


def levels(
    records: list[Any],
    plain: frozenset[type],
    inside: Callable[[Any], list[Any]],
    containers: frozenset[type] = CONTAINERS,
) -> int:
    """How many levels there are in ``records``, all of types that are known; TooDeep.

    ``plain`` are the types that hold no other values. What is neither plain nor one of
    ``containers`` is given to ``inside``, which returns the values in it, or raises TypeError for
    what is not to be taken. Types are told exactly: a subclass is another type.
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
    """Whether the collector finds all that is in ``values`` in fewer than ``levels`` levels.

    That looks at no type, and takes a third of the time. But in an object the collector also finds
    its class, and in that nearly all there is: then the levels do not end. With ``named`` False it
    leaves out classes, and what else is written by its name.
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
            values = _without_named([*values])
        if not values:
            return True
    return False


def _without_named(values: list[Any]) -> list[Any]:
    named = {kind for kind in set(map(type, values)) if issubclass(kind, _NAMED)}
    return [value for value in values if type(value) not in named] if named else values


def _is_little(values: list[Any]) -> bool:
    """Whether the collector finds all that is in ``values`` in few levels, without classes and what
    else is written by its name, and not many times more than stand on the first levels.

    A value counts in every place where it stands, which is found out by looking at no more places
    than that.
    """
    left = _MANY
    for _ in range(_SHALLOW):
        if few := len(values) <= _SEVERAL:
            values = _inner(values if len(values) < 2 else _once(values))
        else:
            above, values = values, []
            at, step = 0, 1  # one large list may stand in many places
            while at < len(above) and len(values) <= left:
                values += _inner(above[at : at + step])
                at, step = at + step, _SEVERAL if step == 1 else _TOGETHER
        if not values:
            return True
        left += (_OF_EACH if few else -1) * len(values)
        if left < 0:
            return False
    return False


def _inner(values: list[Any]) -> list[Any]:
    """What the collector finds in ``values``, but classes and their like.

    An object tells of its class, in which is nearly all there is. Of many values one of seven is
    looked at to see whether there are any: to miss one only takes time.
    """
    found = get_referents(*values)
    looked = found if len(found) < _FEW else found[::7]
    return found if _PLAIN.issuperset(map(type, looked)) else _without_named(found)


def _below(level: list[Any]) -> list[Any]:
    """What may hold values itself of what is in one level: containers and objects."""
    found: list[Any] = []
    for values in _inside(level):
        if _LEAVES.issuperset(map(type, values)):
            continue
        kinds = set(map(type, values))
        holding = {kind for kind in kinds if kind in CONTAINERS or _may_hold(kind)}
        if len(holding) == len(kinds):
            found += values
        elif holding:
            found += compress(values, map(holding.__contains__, map(type, values)))
    return found


def _below_one(value: Any) -> list[Any]:
    """As ``_below``, of one container or object alone, in a quarter of the time."""
    parts = get_referents(value) if type(value) in CONTAINERS else _parts(value)
    return [part for part in parts if type(part) in CONTAINERS or _may_hold(type(part))]


def _once(level: list[Any]) -> list[Any]:
    """``level`` with each value once, in however many places it stands."""
    return list(dict(zip(map(id, level), level, strict=True)).values())


def _inside(level: list[Any]) -> Iterator[list[Any]]:
    """The values in containers and objects, of many at a time."""
    if CONTAINERS.issuperset(map(type, level)):
        return contents(level)
    return chain(
        contents([value for value in level if type(value) in CONTAINERS]),
        map(_parts, [value for value in level if type(value) not in CONTAINERS]),
    )


def _parts(value: Any) -> list[Any]:
    """The values in an object: those in the map of its attributes, and not that map."""
    if not type(value).__dictoffset__:
        return get_referents(value)
    own = object.__getattribute__(value, "__dict__")
    if not own:
        return [part for part in get_referents(value) if part is not own]
    # From Python 3.13 on, the collector knows the attributes also without their map.
    parts = {id(part): part for part in chain(own.values(), get_referents(value))}
    parts.pop(id(own), None)
    return [*parts.values()]


def _may_hold(kind: type) -> bool:
    """Whether values of type ``kind``, which is none of ``CONTAINERS``, may hold others."""
    return (
        bool(kind.__flags__ & _HAS_CONTENTS)
        and kind not in _LEAVES
        and not issubclass(kind, _NAMED)
    )


def _is_level(value: Any) -> bool:
    return isinstance(value, tuple(CONTAINERS)) or bool(_below_one(value))


def _check_in_order(records: list[Any]) -> None:
    """As ``check_graph``, of containers and objects one by one, in the order of pickle."""
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
    """``below`` in the order of ``value``: the collector begins at the end of a list."""
    if not isinstance(value, list | tuple):
        return below
    found = {id(part): part for part in below}
    first = [found.pop(id(part)) for part in value if id(part) in found]
    return [*first, *found.values()]
