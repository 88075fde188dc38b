"""Python's own types as extensions of MessagePack (``man/spk.5``, objects): made and undone.

Nothing here imports a module of the user's, or calls what a class of the user's defines
(``_own_classes``).
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from types import EllipsisType, NotImplementedType, SimpleNamespace
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

from serialpack.errors import UnsupportedError
from serialpack.serializers.objects._generics import GENERICS, generic_of, parts_of_generic
from serialpack.serializers.objects._own_classes import (
    Maker,
    back_to_derived,
    back_to_error,
    back_to_fields,
    back_to_member,
    back_to_model,
    back_to_object,
    back_to_tuple,
    maker_of_bases,
    maker_of_errors,
    maker_of_fields,
    maker_of_members,
    maker_of_models,
    maker_of_objects,
    maker_of_tuples,
    names_in,
    names_of_fields,
)
from serialpack.serializers.objects._regex_fraction import (
    fraction_back,
    parts_of_fraction,
    parts_of_pattern,
    pattern_back,
)
from serialpack.serializers.objects._time_zones import (
    moment_back,
    parts_of_moment,
    parts_of_zone,
    zone_of,
)
from serialpack.serializers.objects.arrays import bytes_in
from serialpack.serializers.objects.columns import BACK_TOGETHER
from serialpack.text import in_message
from serialpack.values.aliasing import is_fixed
from serialpack.values.alone import of_ipaddress
from serialpack.values.attributed import base_of_exception, has_attributes_alone, keeps_more
from serialpack.values.derived import base_of
from serialpack.values.models import is_model

#: What an extension holds, before it is MessagePack again: its code and its parts.
Parts = tuple[int, list[Any]]
#: What makes these of the values of a class, by class.
Makers = dict[type, Callable[[Any], Parts | None]]

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
#: After those of arrays and tables.
_RANGE, _SLICE = 23, 24
ORDERED, DEQUE, COUNTER, DEFAULT, NAMED_TUPLE = range(25, 30)
#: After those of libraries, to 37.
_ZONE, _NAMESPACE, _NAME, ADDRESS = range(38, 42)
_PATTERN, _CHAIN_MAP, MODEL = range(45, 48)
DERIVED = 49
#: After that of xarray.
ATTRIBUTED, ERROR = 51, 52
#: After that of pydantic's URLs.
GENERIC = 54
#: Of these many values of one class stand together, by their parts, which none of them changes.
BY_PARTS = frozenset({_COMPLEX, _DECIMAL, _FRACTION, _UUID, _TIME, _DATETIME, _PATH, ADDRESS})
#: Objects of classes that are found by their names.
OWN_CLASSES = frozenset({ENUM, DATACLASS, NAMED_TUPLE, MODEL, DERIVED, ATTRIBUTED, ERROR})
#: Of these one that stands in two places is one object again.
REFERRED = frozenset({ATTRIBUTED, ERROR})

_PATHS = {
    cls.__name__: cls for cls in (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath, PurePath)
}
_HOLDING = frozenset(
    {list, dict, tuple, set, frozenset, bytearray, array, SimpleNamespace}
    | {OrderedDict, defaultdict, deque, Counter, ChainMap}
)
_BUILT_IN = bool, bytes, dict, float, frozenset, int, list, set, str, tuple
#: What a defaultdict makes of nothing: types of plain values, and none of the user's.
_FACTORIES: dict[str, type] = {
    cls.__name__: cls for cls in (*_BUILT_IN, Counter, OrderedDict, defaultdict, deque)
}
#: What there is but one of, by its name; classes of the values of ``builtins`` are such, too.
_ONE_OF_A_KIND: dict[str, Any] = {
    "Ellipsis": ...,
    "NotImplemented": NotImplemented,
    **{cls.__name__: cls for cls in (*_BUILT_IN, bytearray, complex, object, range, slice)},
}
_NAMES = {id(value): name for name, value in _ONE_OF_A_KIND.items()}
#: The class of which many stand together by their numbers, which are made again in a fifth of the
#: time; and all classes of ``ipaddress``.
IPV4 = "IPv4Address"
_ADDRESSES = {f"IPv{v}{what}" for v in (4, 6) for what in ("Address", "Network", "Interface")}


def maker_of(cls: Any) -> Callable[[Any], Parts | None] | None:
    """Gives the function that makes an extension of a value of ``cls``: its code and its parts.
    None for a type that is not known here, TypeError for one whose values cannot be held."""
    if cls in OWN_TYPES:
        return OWN_TYPES[cls]
    if issubclass(cls, Enum):
        return _with_code(ENUM, maker_of_members(cls))
    if not issubclass(cls, type) and names_of_fields(cls) is not None:
        return _maker_of_fields_or_more(cls)
    if is_model(cls):
        return _with_code(MODEL, maker_of_models(cls))
    if issubclass(cls, tuple) and names_in(cls):
        return _with_code(NAMED_TUPLE, maker_of_tuples(cls))
    if is_address(cls):
        return lambda value: (ADDRESS, [cls.__name__, str(value)])
    if cls is _of_arguments():
        return lambda value: _attributes_of(value, "argparse")
    return None


def is_address(cls: Any) -> bool:
    """Whether ``cls`` is one of the classes of ``ipaddress``."""
    return of_ipaddress(cls) and cls.__name__ in _ADDRESSES


def _is_held(cls: Any) -> bool:
    """Whether objects of ``cls`` are values that are known here; not whether each of them is."""
    if cls in OWN_TYPES or issubclass(cls, Enum) or names_of_fields(cls) is not None:
        return True
    others = base_of(cls), has_attributes_alone(cls), is_model(cls), names_in(cls)
    return any(others) or base_of_exception(cls) is not None


def maker_of_others(cls: Any) -> Callable[[Any], Parts | None] | None:
    """As ``maker_of``, for classes to be asked about last: no extension of a library has them."""
    if base_of(cls) is not None:
        return _with_code(DERIVED, maker_of_bases(cls))
    if has_attributes_alone(cls):
        return _with_code(ATTRIBUTED, maker_of_objects(cls))
    if base_of_exception(cls) is not None:
        return _with_code(ERROR, maker_of_errors(cls))
    return None


def why_not_held(cls: Any) -> str:
    """Why objects of ``cls``, which neither knows, are not held."""
    why = "" if issubclass(cls, BaseException) else keeps_more(cls)
    name = in_message(cls.__qualname__)
    return f"the class {name} {why}" if why else f"cannot hold {name}"


def _maker_of_fields_or_more(cls: Any) -> Callable[[Any], Parts | None]:
    """As ``maker_of``, for a class with fields: an object that keeps more than these, as one that
    sets itself attributes, is one of a class that has attributes alone, or is derived from another
    that is held."""
    others = maker_of_others(cls)
    try:
        make = _with_code(DATACLASS, maker_of_fields(cls))
    except TypeError:
        if others is None:
            raise
        return others
    if others is None:
        return make

    def either(value: Any) -> Parts | None:
        try:
            return make(value)
        except TypeError:
            return others(value)

    return either


def holding(classes: Iterable[type]) -> frozenset[type]:
    """The types whose objects may change or hold others, those of ``classes`` among them."""
    return _HOLDING.union(cls for cls in classes if not is_fixed(cls))


def _with_code(code: int, make: Maker) -> Callable[[Any], Parts]:
    return lambda value: (code, make(value))


def value_of(code: int, parts: list[Any]) -> Any:
    """The value that an extension stands for, if it is of none of ``OWN_CLASSES``; ValueError,
    TypeError or OverflowError for parts of no value."""
    if code not in BACK:
        raise ValueError(f"there is no extension {code}")
    try:
        return BACK[code](*parts)
    except (ArithmeticError, AssertionError, AttributeError, LookupError) as error:
        what = str(error) or type(error).__name__
        raise ValueError(f"an extension {code} with other parts ({what})") from None


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
    """The items of ``value``; TypeError where it has attributes beside them."""
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


def _address(name: str, text: str | int) -> Any:
    import ipaddress

    if type(text) is int and name == IPV4:
        return ipaddress.IPv4Address(text)
    if name not in _ADDRESSES or type(text) is not str:
        raise ValueError(f"there is no {name}")
    return getattr(ipaddress, name)(text)


def _of_uuid(value: UUID) -> list[Any]:
    if value.is_safe is SafeUUID.unknown:  # what the system that made it said of it
        return [value.bytes]
    return [value.bytes, value.is_safe.value]


def _uuid(data: bytes, safe: int | None = None) -> UUID:
    return UUID(bytes=data) if safe is None else UUID(bytes=data, is_safe=SafeUUID(safe))


def _of_arguments() -> Any:
    """``argparse.Namespace``, where that module is imported."""
    return getattr(sys.modules.get("argparse"), "Namespace", None)


def _attributes_of(value: Any, *module: str) -> Parts:
    if any(type(name) is not str for name in vars(value)):
        raise TypeError("an attribute whose name is no text")
    return _NAMESPACE, [dict(vars(value)), *module]


def _namespace(attributes: Any, module: str | None = None) -> Any:
    if module not in (None, "argparse") or any(type(name) is not str for name in _map(attributes)):
        raise ValueError("an attribute whose name is no text")
    made: Any = SimpleNamespace()
    if module is not None:
        import argparse

        made = argparse.Namespace()
    vars(made).update(attributes)  # which may be called self
    return made


def _chain_map(value: ChainMap[Any, Any]) -> Parts:
    if vars(value).keys() != {"maps"}:
        raise TypeError("a ChainMap with attributes")
    return _CHAIN_MAP, list(value.maps)


def _map(items: Any) -> dict[Any, Any]:
    if type(items) is not dict:
        raise ValueError("no map, where one is due")
    return items


#: What makes the parts of values of Python's own types.
OWN_TYPES: dict[type, Callable[[Any], Parts | None]] = {
    int: lambda v: (_INTEGER, [v.to_bytes(v.bit_length() // 8 + 1, "little", signed=True)]),
    tuple: lambda v: (TUPLE, list(v)),
    set: lambda v: (SET, list(v)),
    frozenset: lambda v: (FROZENSET, list(v)),
    bytearray: lambda v: (_BYTEARRAY, [bytes(v)]),
    complex: lambda v: (_COMPLEX, [v.real, v.imag]),
    Decimal: lambda v: (_DECIMAL, [str(v)]),
    Fraction: lambda v: (_FRACTION, parts_of_fraction(v)),
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
    re.Pattern: lambda v: (_PATTERN, parts_of_pattern(v)),
    ChainMap: _chain_map,
    **dict.fromkeys((type, EllipsisType, NotImplementedType), _name),
    **dict.fromkeys(GENERICS, lambda v: (GENERIC, parts_of_generic(v, _is_held))),
    **{cls: lambda v: (_PATH, [type(v).__name__, str(v)]) for cls in _PATHS.values()},
}
#: What makes a value again of the parts of an extension.
BACK: dict[int, Callable[..., Any]] = {
    _INTEGER: lambda data: int.from_bytes(data, "little", signed=True),
    TUPLE: lambda *parts: parts,
    SET: lambda *parts: set(parts),
    FROZENSET: lambda *parts: frozenset(parts),
    _BYTEARRAY: lambda data: bytearray(bytes_in(data)),
    _COMPLEX: lambda real, imag: complex(real, imag),
    _DECIMAL: Decimal,
    _FRACTION: fraction_back,
    _UUID: _uuid,
    _DATE: date.fromisoformat,
    _TIME: moment_back(time),
    _DATETIME: moment_back(datetime),
    _DURATION: lambda days, seconds, micro: timedelta(days, seconds, micro),
    _PATH: _path,
    _TYPED: _typed,
    _RANGE: lambda start, stop, step: range(start, stop, step),
    _SLICE: lambda start, stop, step: slice(start, stop, step),
    ORDERED: lambda items: OrderedDict(_map(items)),
    DEQUE: lambda most, *items: deque(items, most),
    COUNTER: lambda items: Counter(_map(items)),
    DEFAULT: _default_back,
    _ZONE: zone_of,
    _NAMESPACE: _namespace,
    _NAME: lambda name: _ONE_OF_A_KIND[name],
    ADDRESS: _address,
    _PATTERN: pattern_back,
    _CHAIN_MAP: ChainMap,
    **BACK_TOGETHER,
    GENERIC: lambda *parts: generic_of([*parts], _is_held),
}
#: Of these a part may be of any class.
TAKE_ANY = frozenset({TUPLE, SET, FROZENSET, DEQUE, _SLICE, _CHAIN_MAP, *BACK_TOGETHER})
#: Of the two names of an own class, what makes an object of it again of the other parts.
BACK_TO_CLASS: dict[int, Callable[..., Callable[..., Any]]] = {
    ENUM: back_to_member,
    DATACLASS: back_to_fields,
    NAMED_TUPLE: back_to_tuple,
    MODEL: back_to_model,
    DERIVED: back_to_derived,
    ATTRIBUTED: back_to_object,
    ERROR: back_to_error,
}
