"""Types with others filled in, as ``list[int]``, ``Box[str]`` and ``int | None``, as parts of an
extension, and back. An object of ``Box[int](...)`` keeps such a one.

A class of the user's is found by its name among the modules that are imported, and only where its
objects are held, too; nothing of it is called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from types import GenericAlias, NoneType, UnionType
from typing import Any, Generic, TypeVar, Union

from serialpack.serializers.objects._class_names import class_named, names_of_class

_T = TypeVar("_T")


class _Box(Generic[_T]):
    pass


#: What Python makes of ``Box[int]``, of ``int | None`` and of ``Union[int, None]``.
_FILLED: Any = type(_Box[int])
_UNION: Any = type(Union[_Box[int], None])  # noqa: UP007  (the other spelling is another type)
_KINDS = {"generic", "|", "Union"}
#: The types of such types.
GENERICS = _FILLED, GenericAlias, UnionType, _UNION

#: Types of Python's own that others are filled into, and all of its own types.
_ORIGINS = dict, frozenset, list, set, tuple, type
_TYPES = *_ORIGINS, bool, bytes, bytearray, complex, float, int, object, str
#: What stands in them by a word.
_WORDS: dict[str, Any] = {cls.__name__: cls for cls in _TYPES}
_WORDS |= {"None": NoneType, "Any": Any, "...": ...}
_NAMES = {id(value): word for word, value in _WORDS.items()}

#: How many stand in one at most, and how deep: to compare many takes long, and what stands in
#: several places is there as often.
_MOST, _DEEPEST = 100, 20


def parts_of_generic(value: Any, holds: Callable[[type], bool]) -> list[Any]:
    """The parts of a type with others filled in; TypeError where one of them is not held.
    ``holds``: whether objects of a class are."""
    _check_size(value, _inside)
    parts: list[Any] = _told(value, holds)
    return parts


def generic_of(parts: list[Any], holds: Callable[[type], bool]) -> Any:
    """The type that the parts are of; ValueError or TypeError for others, UnsupportedError where a
    class is not here."""
    if not parts or parts[0] not in _KINDS:
        raise ValueError("no type with others filled in")
    _check_size(parts, _inside_told)
    return _made(parts, holds)


def _check_size(value: Any, inside: Callable[[Any], Sequence[Any]]) -> None:
    """ValueError where more stand in ``value``, or deeper, than may."""
    left = [(value, 0)]
    for count in range(_MOST + 2):
        if not left:
            return
        each, level = left.pop()
        if level > _DEEPEST or count > _MOST:
            break
        left.extend((part, level + 1) for part in inside(each)[: _MOST + 1])
    raise ValueError("a type with too many others filled in")


def _inside(value: Any) -> Sequence[Any]:
    kind = type(value)
    if kind not in GENERICS:
        return ()
    args: tuple[Any, ...] = value.__args__
    return args if kind in (UnionType, _UNION) else (value.__origin__, *args)


def _inside_told(told: Any) -> Sequence[Any]:
    return told[1:] if type(told) is list and told[:1] != ["class"] else ()


def shown_generic(told: Any) -> str:
    """The words of such a type, without looking for it."""
    if type(told) is not list:
        return f"{told}"
    kind, *parts = told
    if kind == "class":
        return f"{parts[1]}"
    words = [*map(shown_generic, parts)]
    return " | ".join(words) if kind != "generic" else f"{words[0]}[{', '.join(words[1:])}]"


def _told(value: Any, holds: Callable[[type], bool]) -> Any:
    if value is None:  # of ``list[None]``
        return None
    if (word := _NAMES.get(id(value))) is not None:
        return word
    kind = type(value)
    if kind not in GENERICS:
        if not isinstance(value, type) or not _is_held(value, holds):
            raise TypeError(f"a type filled in with {value!r}")
        return ["class", *names_of_class(value)]
    args = [_told(each, holds) for each in value.__args__]
    if kind in (UnionType, _UNION):
        return ["|" if kind is UnionType else "Union", *args]
    origin = value.__origin__
    known = _is_box(origin) if kind is _FILLED else origin in _ORIGINS
    if getattr(value, "__unpacked__", False) or not known:
        raise TypeError(f"the type {value!r}")
    return ["generic", _told(origin, holds), *args]


def _is_held(cls: Any, holds: Callable[[type], bool]) -> bool:
    """Whether ``cls`` is asked nothing where it is filled in, and objects of it are held."""
    kind: Any = type(cls)
    asked = "__hash__", "__eq__", "__or__", "__ror__"
    return all(getattr(kind, word) is getattr(type, word) for word in asked) and holds(cls)


def _is_box(cls: Any) -> bool:
    """Whether others are filled into ``cls`` by ``typing`` alone."""
    if not isinstance(cls, type) or Generic not in cls.__mro__:
        return False
    fill: Any = next(vars(each)["__class_getitem__"] for each in cls.__mro__ if _FILL in vars(each))
    return fill is vars(Generic)[_FILL]


_FILL = "__class_getitem__"


def _made(told: Any, holds: Callable[[type], bool]) -> Any:
    if told is None:
        return None
    if type(told) is str and told in _WORDS:
        return _WORDS[told]
    if type(told) is not list or len(told) < 2:
        raise ValueError("no type with others filled in")
    kind, *parts = told
    if kind == "class":
        return _class(*parts, holds=holds)
    made = [_made(each, holds) for each in parts]
    found: Any = None
    if kind == "|":
        found = reduce(operator.or_, made)
    elif kind == "Union":
        found = Union[tuple(made)]  # noqa: UP007
    elif kind == "generic" and _is_box(made[0]):
        found = made[0][made[1] if len(made) == 2 else tuple(made[1:])]  # as Python remembers it
    elif kind == "generic" and made[0] in _ORIGINS:
        found = GenericAlias(made[0], tuple(made[1:]))
    if type(found) not in GENERICS:
        raise ValueError("no type with others filled in")
    return found


def _class(module: Any, name: Any, *, holds: Callable[[type], bool]) -> Any:
    if type(module) is not str or type(name) is not str:
        raise ValueError("a class without its names")
    cls = class_named(module, name)
    if not _is_held(cls, holds):
        raise ValueError(f"a type filled in with {name}")
    return cls
