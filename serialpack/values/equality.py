"""Whether two Python values are the same, strictly; and where they differ, and how.

Strictly: types, order of keys, every bit of a float, the sign of zero, lone surrogates, the
attributes of objects (of an array that is mapped its items: that is how it was loaded, and it may
be loaded so again); and, where a serializer promises that, which containers are one and the
same. This is the proof behind "same or refused" for values that have no text to compare.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from serialpack.depth.values import CONTAINERS
from serialpack.text import number_of
from serialpack.values.arrays import (
    array_facts,
    objects_of,
    same_array,
    same_numbers,
    unmapped,
)
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import Difference, in_order, instead_of, key_kind, shown, value_step
from serialpack.values.parts import (
    NOTHING,
    attributes,
    given_attribute,
    is_cached,
    is_leaf,
    plain,
    same_leaf,
    told_to_pickle,
    whole,
)
from serialpack.values.pickled_state import (
    both_told,
    instead_told,
    is_untold,
    leaves_out,
    named_to_pickle,
    tells_all,
)
from serialpack.values.quick_columns import lists_same, sets_same
from serialpack.values.quick_equality import quickly_same
from serialpack.values.quick_states import told_together


def difference(
    was: Any,
    became: Any,
    *,
    identity: bool = False,
    left_out: list[Difference] | None = None,
    record: int = 0,
) -> Difference | None:
    """The first place where ``became`` is not the same as ``was``; None where it is.

    ``identity``: two places that held one and the same object must do so again. ``left_out``: of an
    object whose class says itself what pickle writes, what that leaves out may differ, and is added
    to these, an attribute of a class once.
    """
    told = (was, became) if identity else (told_together(was), told_together(became))
    if quickly_same(*told, identity=identity):
        return None
    walk = _Walk(identity, by_word=left_out is not None)
    found = walk.first(was, became)
    if left_out is not None:
        left_out.extend(walk.left_out.values())
    return found and found._replace(record=record)


class _Whole(NamedTuple):
    """Stands for a step of a path into what makes up a value beside its contents: a difference
    there is told as one of the value itself, by ``lost``."""

    was: Any
    became: Any
    lost: Callable[[Any, Any], Difference]


class _LeftOut(NamedTuple):
    """An attribute that a class leaves out of what it tells pickle, on both sides."""

    name: str
    was: Any
    became: Any


#: A step of a path, with the values there on both sides.
Pair = tuple[str | _Whole, Any, Any]

#: A path: the one above it, and its last step. As text, paths would grow with the square of the
#: depth.
_Path = tuple[Any, str | _Whole]


#: Containers of fewer values are compared value by value.
_MANY = 256

#: An attribute that a class leaves out is compared in so many objects: each may hold all others.
_MOST_LOOKED = 100


class _Walk:
    """Compares two values place by place, without recursion."""

    def __init__(self, identity: bool, *, by_word: bool) -> None:
        self._identity = identity
        self._by_word = by_word
        #: By class and name, what classes leave out that differs.
        self.left_out: dict[tuple[int, str], Difference] = {}
        self._looked: Counter[tuple[int, str]] = Counter()
        #: By id, what each object was compared with; and the other way round.
        self._became: dict[int, Any] = {}
        self._was: dict[int, Any] = {}
        self._pairs: set[tuple[int, int]] = set()
        #: Keeps what is made on the way alive, so that an id stands for one object.
        self._kept: list[Any] = []

    def first(self, was: Any, became: Any) -> Difference | None:
        stack: list[tuple[_Path, Any, Any]] = [((None, "$"), was, became)]
        while stack:
            path, x, y = stack.pop()
            if type(x) is not type(y):
                x = unmapped(x)
                if type(x) is not type(y):
                    if not (self._by_word and (told := both_told(x, y))):
                        return _at(path, _lost(x, y))
                    self._kept.append(told)
                    stack.append(((path, _Whole(x, y, _lost)), *told))
                    continue
            if is_leaf(x):
                if x is not y and not same_leaf(x, y):
                    return _at(path, _lost(x, y))
                continue
            if self._identity and (odd := self._shared(x, y)) is not None:
                return _at(path, odd)
            if (id(x), id(y)) in self._pairs:
                continue
            self._pairs.add((id(x), id(y)))
            if x is y or same_array(x, y):
                continue
            if type(x) in (list, tuple) and self._many_alike(x, y, again=path[0] is None):
                continue
            inner = list(self._inside(x, y))
            self._kept.append(inner)
            pairs: list[Pair] = []
            for found in inner:
                if isinstance(found, Difference):
                    return _at(path, found)
                if isinstance(found, _LeftOut):
                    self._leave_out(path, x, found)
                else:
                    pairs.append(found)
            stack.extend(((path, step), *pair) for step, *pair in reversed(pairs))
        return None

    def _leave_out(self, path: _Path, value: Any, found: _LeftOut) -> None:
        key = id(type(value)), found.name
        self._looked[key] += 1
        if key in self.left_out or self._looked[key] > _MOST_LOOKED:
            return
        lost = difference(found.was, found.became)
        if lost is not None:
            told = _at((path, f".{found.name}"), lost)
            self.left_out[key] = told._replace(value_path=told.value_path + lost.value_path[1:])

    def _shared(self, x: Any, y: Any) -> Difference | None:
        """The difference where one of the two objects was met before, beside another one; else
        None."""
        if self._became.setdefault(id(x), y) is not y:
            return Difference(0, "", "a shared reference", "a copy", "cycle")
        # Objects that cannot change may become one.
        if self._was.setdefault(id(y), x) is not x and not isinstance(x, tuple | frozenset):
            return Difference(0, "", "a value of its own", "a shared reference", "cycle")
        return None

    def _many_alike(self, *both: Any, again: bool = False) -> bool:
        """Whether two lists, or maps, of many values certainly are the same.

        Comparing all at once has failed by then, perhaps for something odd outside of these;
        ``again``: of these very lists.
        """
        if self._identity or len(both[0]) < _MANY or len(both[0]) != len(both[1]):
            return False
        if isinstance(both[0], dict):
            both = tuple([*map_.items()] for map_ in both)
        return lists_same(*both, again=again)

    def _inside(self, x: Any, y: Any) -> Iterator[Pair | Difference | _LeftOut]:
        """The pairs of values inside ``x`` and ``y``, which are of one type; or a difference."""
        kind: Any = type(x)  # what stands for another object says that it is of its class
        if issubclass(kind, Mapping):
            for one, other in _as_maps(x, y):
                if not self._many_alike(one, other):
                    yield from _maps(one, other)
        elif issubclass(kind, list | tuple):
            ours, theirs = _elements(x), _elements(y)
            if len(ours) != len(theirs):
                words = number_of(len(ours), "element"), f"{len(theirs)}"
                yield Difference(0, "", *words, kind_of(x))
            for i, pair in enumerate(zip(ours, theirs, strict=False)):
                yield (f"[{i}]", *pair)
        elif issubclass(kind, set | frozenset):
            yield from _sets(x, y, self._many_alike)
        elif not same_leaf(plain(x), plain(y)):
            yield _lost(x, y)
        if type(x) in CONTAINERS:  # they have nothing but what is in them
            return
        facts = array_facts(x) if kind_of(x) == "number-array" else None
        if facts is not None:
            objects = objects_of(x)
            if facts != (array_facts(y) or ())[: len(facts)]:
                yield _lost(x, y)
            elif objects is not None:
                yield (_Whole(x, y, _lost), objects, objects_of(y))
            elif not same_numbers(x, y):
                yield _lost(x, y)
        yield from _attributes(x, y, by_word=self._by_word)
        if facts is not None:
            return
        try:
            pair = whole(x), whole(y)
        except Exception:  # its class does not tell pickle
            if not _equal(x, y):
                yield _lost(x, y)
        else:
            yield (_Whole(x, y, _lost), *pair)


def _attributes(x: Any, y: Any, *, by_word: bool) -> Iterator[Pair | Difference | _LeftOut]:
    sides = (x, attributes(x)), (y, attributes(y))
    speaks, left_out = not tells_all(type(x)), False
    # Of what an exception came, pickle never writes: no class of its own has decided that.
    by_word = by_word and speaks and not isinstance(x, BaseException)
    named = named_to_pickle(x) if by_word else None
    for name in sorted({*sides[0][1], *sides[1][1]}):
        if not is_cached(x, name, there=all(name in held for _, held in sides)):
            was, became = (
                held[name] if name in held else given_attribute(value, name)
                for value, held in sides
            )
            added = was is NOTHING and became is None
            untold = added or (type(was) is type(became) and is_untold(was))
            if speaks and untold:
                left_out = True  # its class answers for it
            elif speaks and leaves_out(named, name, was, became):
                left_out = True
                yield _LeftOut(name, was, became)
            elif (told := instead_told(named, name, was)) is not NOTHING and (
                difference(was, became) is not None
            ):
                left_out = True
                yield from (_LeftOut(name, was, became), (f".{name}", told, became))
            else:
                yield (f".{name}", was, became)
    if left_out:
        try:
            yield (_Whole(x, y, _lost), told_to_pickle(x), told_to_pickle(y))
        except Exception:  # whatever somebody's class raises
            yield _lost(x, y)


def _as_maps(x: Any, y: Any) -> Iterator[list[Any]]:
    """The items of two maps, whatever somebody's class says of them, if ``x`` has any; and then
    those that a class gives itself, as sparse ones of SciPy, which keep them elsewhere."""
    if type(x) in (dict, OrderedDict):
        yield [x, y]
    elif not issubclass(type(x), dict):
        yield [dict(x), dict(y)]
    else:
        keeps_order = issubclass(type(x), OrderedDict)
        base: Any = OrderedDict if keeps_order else dict
        kept = [dict(base.items(v)) for v in (x, y)]
        own = [dict(v.items()) for v in (x, y)] if type(x).items is not base.items else kept
        yield from [own] if own is kept or not kept[0] else [kept, own]


def _elements(value: Any) -> Any:
    """The elements of a list, tuple or set, whatever somebody's class says of them."""
    if type(value) in CONTAINERS:
        return value
    base: Any = next(kind for kind in _WITH_ELEMENTS if issubclass(type(value), kind))
    return [*base.__iter__(value)]


def _maps(x: dict[Any, Any], y: dict[Any, Any]) -> Iterator[Pair | Difference]:
    """The pairs of values of two maps, key by key in their order; or a difference."""
    for before, after in zip(x, y, strict=False):
        if type(before) is not type(after) or (is_leaf(before) and not same_leaf(before, after)):
            if x.keys() == y.keys() and type(before) is str and before != after:
                yield Difference(0, "", *in_order(x, y), "order")
                return
            lost = _lost_key(before, after)
            yield lost._replace(kind="value") if type(before) is str and before in y else lost
            return
    if len(x) != len(y):
        odd = [*(x.keys() - y.keys()), *list(x)[:1]]
        kind = (key_kind(odd[0]) if odd else None) or "value"
        yield Difference(0, "", number_of(len(x), "key"), number_of(len(y), "key"), kind)
        return
    for (before, value), (after, became) in zip(x.items(), y.items(), strict=True):
        if not is_leaf(before):
            yield (_Whole(before, after, _lost_key), before, after)
        yield (value_step(before), value, became)


_WITH_ELEMENTS = list, tuple, set, frozenset

#: The most elements of a set, equal to none of the other, that are looked for among all of that.
_MOST_UNEQUAL = 300


def _sets(
    x: Any, y: Any, many_alike: Callable[[list[Any], list[Any]], bool]
) -> Iterator[Pair | Difference]:
    if sets_same([x], [y]):
        return
    there = {element: element for element in _elements(y)}
    pairs, rest, count = [], [], len(there)
    for element in _elements(x):
        if element in there:
            pairs.append((element, there.pop(element)))
        else:
            rest.append(element)
    # The rest are NaNs, and objects that are equal only to themselves.
    if len(pairs) + len(rest) != count or len(rest) > _MOST_UNEQUAL:
        yield _lost(x, y)
        return
    if not many_alike(*([pair[side] for pair in pairs] for side in (0, 1))):
        for element, like in pairs:
            yield (f"{{{shown(element)}}}", element, like)
    others = list(there.values())
    try:
        while rest:
            element = rest.pop()
            # The last one is taken without a look: it may hold the set itself, without end.
            like = next(o for o in others if not rest or difference(element, o) is None)
            others = [o for o in others if o is not like]
            yield (_Whole(x, y, _lost), element, like)
    except (StopIteration, RecursionError):
        yield _lost(x, y)


def _equal(x: Any, y: Any) -> bool:
    try:
        return bool(x == y)
    except Exception:  # a comparison of somebody's class
        return False


def _lost(was: Any, became: Any) -> Difference:
    texts = shown(was), shown(became)
    names = type(was).__name__, type(became).__name__
    if texts[0] == texts[1] and names[0] != names[1]:
        texts = f"{names[0]} {texts[0]}", f"{names[1]} {texts[1]}"
    elif texts[0] == texts[1]:
        other = "kept otherwise" if type(was) is type(became) else "of another class of that name"
        texts = texts[0], f"one {other}"
    # Where an attribute is missing, the object is what is lost.
    kind = "object" if was is NOTHING or became is NOTHING else kind_of(was)
    return Difference(0, "", *texts, kind, instead=instead_of(was))


def _lost_key(was: Any, became: Any) -> Difference:
    kind = key_kind(was) or kind_of(was)
    return Difference(0, "", f"the key {shown(was)}", f"the key {shown(became)}", kind)


def _at(path: _Path, lost: Difference) -> Difference:
    """``lost``, with its place."""
    steps: list[str] = []
    here: Any = path
    while here is not None:
        here, step = here
        if isinstance(step, str):
            steps.append(step)
        else:
            lost, steps = step.lost(step.was, step.became), []
    return lost._replace(value_path="".join(reversed(steps)))
