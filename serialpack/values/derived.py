"""Objects of classes derived from Python's own types: their contents and attributes, read and
restored without calling a method of the class."""

from __future__ import annotations

import copyreg
from abc import ABCMeta
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from inspect import getattr_static
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from serialpack.values.instance_dict import hides_attributes
from serialpack.values.parts import plain, solid_base


def _map_of(value: dict[Any, Any]) -> dict[Any, Any]:
    # ``dict.copy`` asks a class that says itself which items it gives, and in which order.
    own = type(value).__iter__ is not dict.__iter__
    return dict(dict.items(value)) if own else dict.copy(value)


#: What gives the contents of an object of a class derived from each of these: a plain value, the
#: elements of what has some as a list.
CONTENTS: dict[type, Callable[[Any], Any]] = {
    dict: _map_of,
    OrderedDict: lambda v: dict(OrderedDict.items(v)),
    **dict.fromkeys((int, float, complex, str, bytes), plain),
    list: lambda v: [*list.__iter__(v)],
    tuple: lambda v: [*tuple.__iter__(v)],
    set: lambda v: [*set.__iter__(v)],
    frozenset: lambda v: [*frozenset.__iter__(v)],
}
#: Any other may do what it likes where its class is asked for something.
METACLASSES = type, ABCMeta
_TEXT = frozenset({str})
#: The flag of classes that a ``class`` statement made (Py_TPFLAGS_HEAPTYPE). What Python's own
#: types have in such places is no slot.
_HEAP_TYPE = 1 << 9
#: Methods by which a class says what pickle writes of it, or what attributes it has.
_WORDS = (
    *("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs_ex__", "__getnewargs__"),
    "__getattribute__",
)


@lru_cache(256)
def base_of(cls: Any) -> Any:
    """The type in ``CONTENTS`` that ``cls`` is derived from; None where there is none, for that
    type itself, and where C code adds fields."""
    base = solid_base(cls)
    return base if base in CONTENTS and base is not cls else None


@lru_cache(256)
def check_derived(cls: Any) -> Any:
    """``base_of``; TypeError where objects of ``cls`` say themselves what is written of them, or
    would run code of it where they are made, kept or dropped."""
    base = base_of(cls)
    if base is None or type(cls) not in METACLASSES:
        raise TypeError(f"{cls.__name__} is derived from no type of Python")
    if hides_attributes(cls):
        raise TypeError(f"{cls.__name__} says itself which attributes it has")
    if cls in copyreg.dispatch_table or any(
        getattr(cls, word, None) is not getattr(base, word, None) for word in _WORDS
    ):
        raise TypeError(f"{cls.__name__} says itself what is written of it")
    # As keys of maps they would be asked.
    own = [word for word in ("__hash__", "__eq__") if getattr(cls, word) is not getattr(base, word)]
    if hasattr(cls, "__del__") or (own and cls.__hash__ is not None):
        raise TypeError(f"{cls.__name__} does something where it is kept")
    return base


def attributes_of(value: Any) -> dict[str, Any] | bool | None:
    """The attributes of an object, those in slots too, or None; True where its items are these
    (``self.__dict__ = self``). TypeError where they are no map of names."""
    cls: Any = type(value)
    slots = slots_of(cls)
    if slots:  # object.__getstate__ would ask the class for them, and so run its __getattr__
        place = _place_of_attributes(cls)
        state: Any = place.__get__(value) if place is not None else None
    else:
        state = object.__getstate__(value)
        if state is None:
            return None
    if state is value:
        return True
    held = {} if state is None else state
    if type(held) is not dict or not _TEXT.issuperset(map(type, held)):
        raise TypeError(f"{cls.__name__} keeps its attributes in no map")
    if not slots:
        return held
    if not slots.keys().isdisjoint(held):
        raise TypeError(f"{cls.__name__} has an attribute twice")
    return {**held, **_in_slots(value)} or None


def _in_slots(value: Any) -> dict[str, Any]:
    """What the slots of an object hold that are set; TypeError for one that its class hides, by a
    slot or another attribute of the same name."""
    cls: Any = type(value)
    held = {}
    slots = slots_of(cls)
    for name, place in _all_slots(cls):
        try:
            found = place.__get__(value)
        except AttributeError:  # it was never set
            continue
        if slots.get(name) is not place:
            raise TypeError(f"{cls.__name__} hides its slot {name}")
        held[name] = found
    return held


def columns_in_slots(cls: Any, values: list[Any]) -> dict[str, list[Any]] | None:
    """The attributes of objects of ``cls``, by columns, where all are in slots, which none hides,
    and are set; None for others."""
    slots, places = slots_of(cls), _all_slots(cls)
    if not slots or len(slots) < len(places) or _place_of_attributes(cls) is not None:
        return None
    try:
        return {name: list(map(place.__get__, values)) for name, place in slots.items()}
    except AttributeError:  # one was never set
        return None


@lru_cache(256)
def told_of_derived(cls: Any) -> Callable[[Any], Any] | None:
    """Gives the function that tells all that an object of ``cls`` keeps; None without one."""
    base = base_of(cls)
    if base is None or cls.__getattribute__ is not base.__getattribute__:
        return None
    if hides_attributes(cls):
        return None
    contents = CONTENTS[base]

    def told(value: Any) -> Any:
        held = contents(value)
        return cls, [*held.items()] if type(held) is dict else held, attributes_of(value)

    return told


@lru_cache(256)
def maker_of_derived(cls: Any) -> Callable[[Any, Any], Any]:
    """Gives the function that makes an object of ``cls`` of its contents and attributes, and raises
    ValueError where it cannot have these; TypeError as ``check_derived``."""
    base = check_derived(cls)
    keep = keeper_of_attributes(cls)
    kind = list if base in (list, tuple, set, frozenset) else dict if base is OrderedDict else base

    def make(contents: Any, attributes: Any) -> Any:
        if type(contents) is not kind:
            raise ValueError(f"no contents of a {cls.__name__}")
        fill = _FILL.get(base)
        if fill is None:
            made = base.__new__(cls, contents)
        else:
            made = base.__new__(cls)
            fill(made, contents)
        if attributes is not None:
            keep(made, attributes)
        return made

    return make


def keeper_of_attributes(cls: Any) -> Callable[[Any, Any], None]:
    """Gives the function that sets the attributes of an object of ``cls``, as ``attributes_of``
    gives them, of a map that becomes its own; it raises ValueError where the object cannot have
    them."""
    slots, place, set_all = slots_of(cls), _place_of_attributes(cls), setter_of_attributes(cls)

    def keep(made: Any, attributes: Any) -> None:
        held = made if attributes is True and isinstance(made, dict) else {}
        if held is not made:
            if type(attributes) is not dict:
                raise ValueError(f"no attributes of a {cls.__name__}")
            if not _TEXT.issuperset(map(type, attributes)):
                raise ValueError("an attribute whose name is no text")
            held = attributes
            for name in slots.keys() & attributes.keys():
                slots[name].__set__(made, held.pop(name))
            if not held:
                return
        if place is None:
            raise ValueError(f"{cls.__name__} has no such attributes")
        place.__set__(made, held)

    def keep_plain(made: Any, attributes: Any) -> None:
        """As ``keep``, in half the time for what nearly all objects have."""
        plain = type(attributes) is dict and _TEXT.issuperset(map(type, attributes))
        if not plain or not attributes:
            keep(made, attributes)
        elif set_all is not None:
            set_all(made, attributes)
        elif slots.keys() >= attributes.keys():
            for name, value in attributes.items():
                slots[name].__set__(made, value)
        else:
            keep(made, attributes)

    return keep_plain


@lru_cache(256)
def setter_of_attributes(cls: Any) -> Callable[[Any, dict[str, Any]], None] | None:
    """Gives the function that makes a map the ``__dict__`` of an object of ``cls``; None where it
    has none, or also slots."""
    place = _place_of_attributes(cls)
    return None if place is None or _all_slots(cls) else place.__set__


@lru_cache(256)
def _place_of_attributes(cls: Any) -> Any:
    """What gets and sets ``__dict__`` of an object of ``cls``; None where it has none, or where a
    class says itself what that is."""
    found = next((vars(each)["__dict__"] for each in cls.__mro__ if "__dict__" in vars(each)), None)
    return found if isinstance(found, GetSetDescriptorType) else None


@lru_cache(256)
def _all_slots(cls: Any) -> list[tuple[str, Any]]:
    """The slots of an object of ``cls``, those that other attributes hide among them."""
    return [
        (name, there)
        for each in cls.__mro__
        if each.__flags__ & _HEAP_TYPE
        for name, there in vars(each).items()
        if isinstance(there, MemberDescriptorType)
    ]


@lru_cache(256)
def slots_of(cls: Any) -> dict[str, Any]:
    """The slots of an object of ``cls`` that no other attribute hides, by name."""
    return {name: there for name, there in _all_slots(cls) if getattr_static(cls, name) is there}


def _fill_ordered(made: Any, contents: dict[Any, Any]) -> None:
    for key, value in contents.items():
        OrderedDict.__setitem__(made, key, value)


#: What puts contents into an object that may change.
_FILL: dict[type, Callable[[Any, Any], None]] = {
    dict: dict.update,
    OrderedDict: _fill_ordered,
    list: list.extend,
    set: set.update,
}
