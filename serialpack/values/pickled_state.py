"""Whether a class tells pickle all that its objects keep, or anything."""

import copyreg
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from contextlib import suppress
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from serialpack.values.instance_dict import hides_attributes
from serialpack.values.parts import (
    NOTHING,
    WITH_CONTENTS,
    is_hidden,
    is_leaf,
    told_to_pickle,
    whole,
)

#: Methods by which a class says what pickle writes of it.
_OWN_WORDS = ("__reduce_ex__", "__reduce__", "__getstate__")
_MORE_WORDS = ("__getnewargs_ex__", "__getnewargs__")


def has_only_attributes(cls: type) -> bool:
    """Whether instances have nothing but attributes, and reading one gives just what is kept."""
    return (
        getattr(cls, "__getattribute__") is object.__getattribute__  # noqa: B009  (mypy)
        and not hasattr(cls, "__getattr__")
        and not hides_attributes(cls)
        and not issubclass(cls, WITH_CONTENTS)
        and not is_hidden(cls)
    )


def tells_all(cls: type) -> bool:
    """Whether pickle writes all the attributes of instances of ``cls``."""
    return (
        all(getattr(cls, name) is getattr(object, name) for name in _OWN_WORDS)
        and not any(hasattr(cls, name) for name in _MORE_WORDS)
        and cls not in copyreg.dispatch_table
    )


def kept_in_attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an object that has nothing else, and of which pickle writes these; None of
    any other value."""
    cls: Any = type(value)
    if not (has_only_attributes(cls) and tells_all(cls)) or issubclass(cls, type):
        return None
    state: Any = object.__getstate__(value)
    inside, slots = state if type(state) is tuple else (state, None)
    return {**(inside or {}), **(slots or {})}


_untold: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_untold(value: Any) -> bool:
    """Whether C code keeps what is in ``value``, and tells nobody: a lock, a handle, a connection.
    Found once for all objects of its class."""
    cls = type(value)
    if cls not in _untold:
        numbers = cls.__module__ == "numpy" or cls is memoryview
        _untold[cls] = is_hidden(cls) and not is_leaf(value) and not numbers
        if _untold[cls]:
            with suppress(Exception):
                whole(value)
                _untold[cls] = False
    return _untold[cls]


def both_told(x: Any, y: Any) -> tuple[Any, Any] | None:
    """What two objects of classes of one name in one package, but not of one class, tell pickle;
    None for others, and where a class does not say that itself. (Some libraries, as pint, make
    classes as they go.)"""
    kinds = type(x), type(y)
    names = [(str(cls.__module__).partition(".")[0], cls.__qualname__) for cls in kinds]
    if names[0] != names[1] or tells_all(type(x)):
        return None
    with suppress(Exception):  # whatever somebody's class raises
        return told_to_pickle(x), told_to_pickle(y)
    return None


class Named(NamedTuple):
    """The ``attributes`` that the class of an object gives pickle by their names. ``chosen``: it
    chooses them itself (``__getstate__``), so that others are left out: one that only says how it
    is made anew (``__reduce__``) knows nothing of what somebody has added since."""

    attributes: dict[Any, Any]
    chosen: bool


def named_to_pickle(value: Any) -> Named | None:
    """What the class of ``value`` gives pickle by name; None where it fails to."""
    chosen = getattr(type(value), "__getstate__", None) is not object.__getstate__
    try:
        told = told_to_pickle(value)
    except Exception:  # whatever somebody's class raises
        return None
    state = told[2] if type(told) is tuple and len(told) > 2 else None
    named: dict[Any, Any] = {}
    for part in state if type(state) is tuple else (state,):
        if type(part) is dict:
            named.update(part)
    return Named(named, chosen)


def _counts(value: Any) -> bool:
    """Whether what a class says of ``value``, a number or a text, is not enough: it is no cache and
    no connection."""
    return is_leaf(value) and value is not None and value is not NOTHING


def leaves_out(named: Named | None, name: str, was: Any, became: Any) -> bool:
    """Whether a class that gives pickle ``named`` leaves the attribute ``name`` out of that, or, by
    giving None for it, makes another one of its type anew, or none: a cache, a connection. One that
    only says how it is made anew leaves out what is empty then: a cache."""
    if named is None or _counts(was):
        return False
    if name not in named.attributes:
        return named.chosen or (type(was) is type(became) and _is_emptied(became))
    if named.attributes[name] is not None or was is None:
        return False
    return became is None or type(was) is type(became)


#: Types of what is left of a cache, without an item.
_EMPTIED = frozenset(
    {dict, list, tuple, set, frozenset, OrderedDict, defaultdict, Counter, deque, bytearray}
)


def _is_emptied(value: Any) -> bool:
    return type(value) in _EMPTIED and not value


def instead_told(named: Named | None, name: str, was: Any) -> Any:
    """What a class gives pickle in the place of all that ``was``, its attribute ``name``, holds: a
    word, or an empty cache. NOTHING where it gives that itself, or only some of it: what it makes
    of numbers in a list is no more left out than what it makes of a number."""
    if named is None or _counts(was):
        return NOTHING
    told = named.attributes.get(name, was)
    if told is was or not (is_leaf(told) or _is_emptied(told)):
        return NOTHING
    return told


#: Methods that named tuples have as tuples have them.
_NAMED_PLAIN = (*_OWN_WORDS, "__getattribute__")

#: The code of the method by which every named tuple tells its items.
_NAMED_WORDS = vars(namedtuple("_Named", ""))["__getnewargs__"].__code__


def is_named_tuple(cls: type) -> bool:
    """Whether instances of ``cls`` tell pickle their items, as named tuples do, and their
    attributes."""
    told = getattr(cls, "__getnewargs__", None)
    return (
        issubclass(cls, tuple)
        and getattr(told, "__code__", None) is _NAMED_WORDS
        and all(getattr(cls, name) is getattr(tuple, name) for name in _NAMED_PLAIN)
        and cls not in copyreg.dispatch_table
        and not hasattr(cls, "__getnewargs_ex__")
        and not hasattr(cls, "__getattr__")
        and not is_hidden(cls)
    )
