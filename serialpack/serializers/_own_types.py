"""Python's own types as extensions of MessagePack (``man/spk.5``, objects): made and undone.

Nothing here imports a module, or calls what a class of the user's defines: names lead only to
classes that are here already, a dataclass or a named tuple gets its fields, a member of an enum is
looked up.
"""

from __future__ import annotations

import dataclasses
import sys
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, EnumType, Flag
from fractions import Fraction
from functools import lru_cache
from inspect import getattr_static
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from types import EllipsisType, MemberDescriptorType, NotImplementedType, SimpleNamespace
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

from serialpack.errors import UnsupportedError
from serialpack.serializers._moments import moment_back, parts_of_moment, parts_of_zone, zone_of

#: What an extension holds, before it is MessagePack again: its code and its parts.
Parts = tuple[int, list[Any]]

(
    _INTEGER,
    TUPLE,
    SET,
    FROZENSET,
    _BYTEARRAY,
    _COMPLEX,
    _DECIMAL,
    _FRACTION,
    _UUID,
    _DATE,
    _TIME,
    _DATETIME,
    _DURATION,
    _PATH,
    ENUM,
    DATACLASS,
    _TYPED,
) = range(1, 18)
#: Arrays and scalars of NumPy, which ``arrays`` knows; to 22 tables, which ``frames`` does.
ARRAY, SCALAR = 18, 19
_RANGE, _SLICE = 23, 24
ORDERED, DEQUE, COUNTER, DEFAULT, NAMED_TUPLE = range(25, 30)
#: After those of libraries, to 37.
_ZONE, _NAMESPACE, _NAME, _ADDRESS = range(38, 42)
#: Objects of classes that are found by their names.
OWN_CLASSES = frozenset({ENUM, DATACLASS, NAMED_TUPLE})

_PATHS = {
    cls.__name__: cls for cls in (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath, PurePath)
}
#: What a defaultdict makes of nothing: types of plain values, and none of the user's.
_FACTORIES = {
    cls.__name__: cls for cls in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)
}
#: What there is but one of, by its name; classes of the values of ``builtins`` are such, too.
_ONE_OF_A_KIND: dict[str, Any] = {
    "Ellipsis": ...,
    "NotImplemented": NotImplemented,
    **{
        cls.__name__: cls
        for cls in (*_FACTORIES.values(), bytearray, complex, object, range, slice)
    },
}
_NAMES = {id(value): name for name, value in _ONE_OF_A_KIND.items()}
#: The classes of ``ipaddress``.
_ADDRESSES = {f"IPv{v}{what}" for v in (4, 6) for what in ("Address", "Network", "Interface")}
#: What members of a flag are beside its class.
_NO_MIXIN = object, int
#: The methods by which a class says itself what is written of it.
_OWN_WORDS = ("__reduce_ex__", "__reduce__")


def parts_of(value: Any) -> Parts | None:
    """What ``value`` becomes; None for a type that is not known here."""
    make = _MAKERS.get(type(value))
    if make is not None:
        return make(value)
    if isinstance(value, Enum):
        cls = type(value)
        combined = isinstance(value, Flag) and value._name_ not in cls._member_map_
        return ENUM, [*_named(value, cls), value._value_ if combined else value._name_]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return DATACLASS, [*_named(value, type(value)), _fields(value)]
    if isinstance(value, tuple) and _names_in(type(value)):
        return NAMED_TUPLE, [*_named(value, type(value)), *_items_of_tuple(value)]
    if type(value).__module__ == "ipaddress" and type(value).__name__ in _ADDRESSES:
        return _ADDRESS, [type(value).__name__, str(value)]
    return None


def value_of(code: int, parts: list[Any]) -> Any:
    """The value again; ValueError, TypeError or OverflowError where the parts are none."""
    if code not in _BACK:
        raise ValueError(f"there is no extension {code}")
    try:
        return _BACK[code](*parts)
    except (ArithmeticError, AssertionError, AttributeError, LookupError) as error:
        what = str(error) or type(error).__name__
        raise ValueError(f"an extension {code} with other parts ({what})") from None


def is_of_own_class(value: Any) -> bool:
    """Whether it is one of ``OWN_CLASSES``, of which nothing is asked."""
    cls = type(value)
    if issubclass(cls, tuple):
        return cls is not tuple
    return issubclass(cls, Enum) or dataclasses.is_dataclass(cls)


def _named(value: Any, cls: type) -> tuple[str, str]:
    """By which names the class is found again; TypeError where it is not."""
    if _class_at(cls.__module__, cls.__qualname__) is not cls:
        raise TypeError(f"the class of {type(value).__name__} is not found by its name")
    return cls.__module__, cls.__qualname__


def _class_at(module: str, name: str) -> Any:
    """The class of that name, where its module is here; None where it is not there."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found if isinstance(found, type) else None


def _class(module: str, name: str) -> type:
    found: type | None = _class_at(module, name)
    if found is None:
        there = module in sys.modules
        hint = "has it been renamed?" if there else f"import {module} first"
        raise UnsupportedError(f"needs the class {module}.{name}, which is not here", hint=hint)
    return found


def _check_plain(cls: type) -> None:
    """TypeError where the class writes more or less than what its objects hold."""
    if any(getattr(cls, word) is not getattr(object, word) for word in _OWN_WORDS):
        raise TypeError(f"{cls.__name__} says itself what is written of it")


def _fields(value: Any) -> dict[str, Any]:
    """What is in the fields of a dataclass; TypeError where the reader would not take them, or
    where it has more: attributes of its own, items of a list."""
    cls: Any = type(value)
    _check_plain(cls)
    object.__new__(cls)  # as the reader makes one: none that is a list, a map or a number too
    held = _attributes(value)
    names = [field.name for field in dataclasses.fields(cls)]
    if held.keys() - set(names) or _settable(cls) != set(names):
        raise TypeError(f"{cls.__name__} holds more than its fields")
    try:
        return {name: held[name] if name in held else getattr(cls, name) for name in names}
    except AttributeError as error:
        raise TypeError(f"a field was never set ({error})") from None


def _attributes(value: Any) -> dict[str, Any]:
    """All that there are, also those in slots."""
    state = object.__getstate__(value)
    inside, slots = state if type(state) is tuple else (state, {})
    return {**(inside or {}), **slots}


@lru_cache(256)
def _settable(cls: Any) -> frozenset[str]:
    """The fields of a dataclass that are set without running what the class defines."""

    def plain(name: str) -> bool:
        there = getattr_static(cls, name, None)
        return not hasattr(type(there), "__set__") or isinstance(there, MemberDescriptorType)

    return frozenset(field.name for field in dataclasses.fields(cls) if plain(field.name))


def _names_in(cls: type) -> tuple[str, ...]:
    """The names of the items of a named tuple's class; none where it is another class."""
    names = getattr_static(cls, "_fields", ())
    return names if issubclass(cls, tuple) and type(names) is tuple else ()


def _items_of_tuple(value: Any) -> tuple[Any, ...]:
    _check_plain(type(value))
    if getattr(value, "__dict__", None):
        raise TypeError(f"{type(value).__name__} with attributes")
    return tuple(value)


def _named_tuple(module: str, name: str, *items: Any) -> Any:
    cls: Any = _class(module, name)
    if not issubclass(cls, tuple) or len(_names_in(cls)) != len(items):
        raise ValueError(f"{name} has no {len(items)} names")
    return tuple.__new__(cls, items)


def _enum(module: str, name: str, member: str | int) -> Any:
    cls = _class(module, name)
    if type(member) is int:
        return _flag(cls, member)
    if not issubclass(cls, Enum) or member not in cls._member_map_:
        raise ValueError(f"{name} has no member {member}")
    return cls._member_map_[member]


def _flag(cls: type, bits: int) -> Any:
    """Members of a flag together, as Python itself makes them."""
    found: Any = None
    if issubclass(cls, Flag) and type(cls) is EnumType and vars(cls)["_member_type_"] in _NO_MIXIN:
        made: Any = cls._missing_
        if made.__func__ is Flag.__dict__["_missing_"].__func__:
            with suppress(ValueError):  # of several lines
                found = cls(bits)
    if type(found) is not cls:  # of some flags other bits become an int
        raise ValueError(f"{cls.__name__} has no {bits}")
    return found


def _dataclass(module: str, name: str, fields: dict[str, Any]) -> Any:
    cls = _class(module, name)
    if not dataclasses.is_dataclass(cls):
        raise ValueError(f"{name} is no dataclass")
    settable = _settable(cls)
    made = object.__new__(cls)
    for field, value in fields.items():
        if field not in settable:
            raise ValueError(f"{name} has no field {field}")
        object.__setattr__(made, field, value)
    return made


def _path(name: str, text: str) -> PurePath:
    try:
        return _PATHS[name](text)
    except KeyError:
        raise ValueError(f"there is no {name}") from None
    except NotImplementedError:
        raise UnsupportedError(f"a {name} cannot be made on this system") from None


def _typed(code: str, data: bytes) -> Any:
    found = array(code)
    found.frombytes(data)
    return found


def _items(value: OrderedDict[Any, Any] | Counter[Any]) -> dict[Any, Any]:
    """TypeError where it has attributes too."""
    if vars(value):
        raise TypeError(f"{type(value).__name__} with attributes")
    return dict(value)


def _default(value: defaultdict[Any, Any]) -> Parts:
    factory = value.default_factory
    if factory is None:
        return DEFAULT, [None, dict(value)]
    for name, cls in _FACTORIES.items():
        if factory is cls:
            return DEFAULT, [name, dict(value)]
    raise TypeError(f"a defaultdict of {factory!r}")


def _default_back(factory: str | None, items: Any) -> defaultdict[Any, Any]:
    if factory is not None and factory not in _FACTORIES:
        raise ValueError(f"a defaultdict of {factory}")
    return defaultdict(_FACTORIES.get(factory or ""), _map(items))


def _name(value: Any) -> Parts | None:
    name = _NAMES.get(id(value))
    return None if name is None else (_NAME, [name])


def _address(name: str, text: str) -> Any:
    import ipaddress

    if name not in _ADDRESSES or type(text) is not str:
        raise ValueError(f"there is no {name}")
    return getattr(ipaddress, name)(text)


def _of_uuid(value: UUID) -> list[Any]:
    safe = value.is_safe.value  # what the system that made it said of it, if anything
    return [value.bytes] if safe is None else [value.bytes, safe]


def _uuid(data: bytes, safe: int | None = None) -> UUID:
    return UUID(bytes=data, is_safe=SafeUUID(safe))


def _attributes_of(value: SimpleNamespace) -> Parts:
    if any(type(name) is not str for name in vars(value)):
        raise TypeError("an attribute whose name is no text")
    return _NAMESPACE, [dict(vars(value))]


def _namespace(attributes: Any) -> SimpleNamespace:
    if any(type(name) is not str for name in _map(attributes)):
        raise ValueError("an attribute whose name is no text")
    return SimpleNamespace(**attributes)


def _map(items: Any) -> dict[Any, Any]:
    if type(items) is not dict:
        raise ValueError("no map, where one is due")
    return items


_MAKERS: dict[type, Callable[[Any], Parts | None]] = {
    int: lambda v: (_INTEGER, [v.to_bytes(v.bit_length() // 8 + 1, "little", signed=True)]),
    tuple: lambda v: (TUPLE, list(v)),
    set: lambda v: (SET, list(v)),
    frozenset: lambda v: (FROZENSET, list(v)),
    bytearray: lambda v: (_BYTEARRAY, [bytes(v)]),
    complex: lambda v: (_COMPLEX, [v.real, v.imag]),
    Decimal: lambda v: (_DECIMAL, [str(v)]),
    Fraction: lambda v: (_FRACTION, [v.numerator, v.denominator]),
    UUID: lambda v: (_UUID, _of_uuid(v)),
    date: lambda v: (_DATE, [v.isoformat()]),
    time: lambda v: (_TIME, parts_of_moment(v)),
    datetime: lambda v: (_DATETIME, parts_of_moment(v)),
    timedelta: lambda v: (_DURATION, [v.days, v.seconds, v.microseconds]),
    range: lambda v: (_RANGE, [v.start, v.stop, v.step]),
    slice: lambda v: (_SLICE, [v.start, v.stop, v.step]),
    OrderedDict: lambda v: (ORDERED, [_items(v)]),
    deque: lambda v: (DEQUE, [v.maxlen, *v]),
    Counter: lambda v: (COUNTER, [_items(v)]),
    defaultdict: _default,
    array: lambda v: (_TYPED, [v.typecode, v.tobytes()]),
    **dict.fromkeys((ZoneInfo, timezone), lambda v: (_ZONE, parts_of_zone(v))),
    SimpleNamespace: _attributes_of,
    **dict.fromkeys((type, EllipsisType, NotImplementedType), _name),
    **{cls: lambda v: (_PATH, [type(v).__name__, str(v)]) for cls in _PATHS.values()},
}
_BACK: dict[int, Callable[..., Any]] = {
    _INTEGER: lambda data: int.from_bytes(data, "little", signed=True),
    TUPLE: lambda *parts: parts,
    SET: lambda *parts: set(parts),
    FROZENSET: lambda *parts: frozenset(parts),
    _BYTEARRAY: bytearray,
    _COMPLEX: lambda real, imag: complex(real, imag),
    _DECIMAL: Decimal,
    _FRACTION: Fraction,
    _UUID: _uuid,
    _DATE: date.fromisoformat,
    _TIME: moment_back(time),
    _DATETIME: moment_back(datetime),
    _DURATION: lambda days, seconds, micro: timedelta(days, seconds, micro),
    _PATH: _path,
    ENUM: _enum,
    DATACLASS: _dataclass,
    _TYPED: _typed,
    _RANGE: lambda start, stop, step: range(start, stop, step),
    _SLICE: lambda start, stop, step: slice(start, stop, step),
    ORDERED: lambda items: OrderedDict(_map(items)),
    DEQUE: lambda most, *items: deque(items, most),
    COUNTER: lambda items: Counter(_map(items)),
    DEFAULT: _default_back,
    NAMED_TUPLE: _named_tuple,
    _ZONE: zone_of,
    _NAMESPACE: _namespace,
    _NAME: lambda name: _ONE_OF_A_KIND[name],
    _ADDRESS: _address,
}
