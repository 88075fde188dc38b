"""What a Python value is made of, where that is not plain to see: attributes, machine numbers, the
parts of functions, what C code keeps. ``equality`` compares these, part by part."""

from __future__ import annotations

import copyreg
import struct
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any
from uuid import UUID
from weakref import ReferenceType, WeakKeyDictionary
from zoneinfo import ZoneInfo

from serialpack.literal import Literal
from serialpack.values.alone import of_ipaddress, same_complex
from serialpack.values.arrays import array_of_series, is_plain_scalar
from serialpack.values.instance_dict import held_in_dict
from serialpack.values.kept_in_c import kept_in_c
from serialpack.values.library_tables import arrow_told, polars_told
from serialpack.values.masks import is_masked, with_mask


class Nothing:
    """Stands for what is not there."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING = Nothing()

_LEAVES = {
    *(type(None), bool, int, float, str, bytes, complex, date, timedelta, timezone),
    *(Decimal, Fraction, UUID, Nothing, Literal),
}
_BY_IDENTITY = (Enum, type, ModuleType)

#: Types whose contents, and those of subclasses, are compared one by one.
WITH_CONTENTS = (int, float, complex, str, bytes, bytearray, dict, list, tuple, set, frozenset)

_CODE_PARTS = (
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_stacksize"),
    *("co_code", "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars"),
    *("co_name", "co_qualname", "co_filename", "co_firstlineno", "co_linetable"),
    "co_exceptiontable",
)
_FUNCTION_PARTS = (
    *("__code__", "__defaults__", "__kwdefaults__", "__closure__", "__dict__", "__name__"),
    *("__qualname__", "__module__", "__doc__", "__annotations__"),
)
_EXCEPTION_PARTS = ("__cause__", "__context__", "__suppress_context__", "__traceback__")


#: The attribute in which objects of attrs keep their hash, another one in each process.
ATTRS_HASH = "_attrs_cached_hash"

#: The attribute in which a Bunch of scikit-learn (its data sets) keeps what it warns of. It is
#: pickled, and not restored.
_WARNINGS = "_deprecated_key_to_warnings"

#: Libraries whose objects keep caches and references to each other in their attributes, and give
#: pickle all that counts.
_TOLD_TO_PICKLE = ("pandas", "polars")
#: Attributes of frames and series of pandas whose values ``whole`` has, or which are caches.
_OF_PANDAS = frozenset({"_mgr", "_attrs", "_flags", "_name", "_item_cache", "_cacher", "_is_copy"})
#: Attributes in which objects of xarray keep a map once somebody asks for it, which pickle does.
_MADE_WHEN_ASKED = ("_attrs", "_encoding")
#: What is no value in their pickles: caches, and how memory is shared.
_KEPT = ("_cache", "_readonly")


def is_leaf(value: Any) -> bool:
    """Whether a value is compared as a whole, by ``same_leaf``."""
    kind = type(value)
    if kind is datetime or kind is time:
        return value.tzinfo is None or type(value.tzinfo) in (timezone, ZoneInfo)
    if kind is BuiltinFunctionType:  # but a method of an object is not
        return isinstance(value.__self__, ModuleType)
    # A network of one address keeps a function that gives what it was made of.
    if kind in _LEAVES or of_ipaddress(kind) or is_plain_scalar(value):
        return True
    if isinstance(value, PurePath):  # one of somebody's class may have attributes
        return not getattr(value, "__dict__", None)
    return isinstance(value, _BY_IDENTITY)


def same_leaf(x: Any, y: Any) -> bool:
    """Whether two leaves of one type are the same in every bit."""
    if isinstance(x, float):
        return struct.pack("<d", x) == struct.pack("<d", y)
    if isinstance(x, complex):
        return same_complex(x, y)
    if is_plain_scalar(x):
        return bool(x.tobytes() == y.tobytes())
    if isinstance(x, Decimal):
        return bool(x.as_tuple() == y.as_tuple())
    if isinstance(x, datetime | time):
        if x.replace(tzinfo=None) != y.replace(tzinfo=None) or x.fold != y.fold:
            return False
        return type(x.tzinfo) is type(y.tzinfo) and repr(x.tzinfo) == repr(y.tzinfo)
    if isinstance(x, timezone):  # equal whatever their names
        return repr(x) == repr(y)
    if isinstance(x, UUID):
        return bool(x == y) and x.is_safe is y.is_safe
    if isinstance(x, PurePath):  # on Windows, equal whatever their case
        return str(x) == str(y) and not getattr(y, "__dict__", None)
    if isinstance(x, (*_BY_IDENTITY, BuiltinFunctionType)):
        return x is y
    return bool(x == y)


def plain(value: Any) -> Any:
    """The value of a scalar type in ``value``, of a subclass of that; NOTHING in any other
    value."""
    kind: Any = type(value)
    if issubclass(kind, int):
        return int.__index__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, complex):
        return complex.__complex__(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, bytes | bytearray):
        return bytes(memoryview(value))
    return NOTHING


def attributes(value: Any) -> dict[str, Any]:
    """All attributes of an object, those in slots too.

    For a function, and for a frame of pandas, ``whole`` has them.
    """
    if isinstance(value, FunctionType | MethodType):
        return {}
    found = held_in_dict(value)
    if _is_pandas(value, "DataFrame") or _is_pandas(value, "Series"):
        return {name: found[name] for name in found.keys() - _OF_PANDAS}
    if isinstance(value, PurePath):  # it puts its parts into slots once they are asked for
        return {**found, "path": str(value)}
    if is_masked(value):
        found = with_mask(found, value)
    if type(value).__name__ == "CBORTag":  # C code keeps its attributes
        found.update(tag=value.tag, value=value.value)
    for cls in type(value).__mro__:
        found.update((n, getattr(value, n)) for n in slots(cls) if hasattr(value, n))
    if any(cls.__module__.startswith("xarray.") for cls in type(value).__mro__):
        found.update((n, {}) for n in _MADE_WHEN_ASKED if n in found and found[n] is None)
    if isinstance(value, BaseException):
        found.update((n, getattr(value, n)) for n in _EXCEPTION_PARTS)
        kind: Any = type(value)
        names = _fields_in_c(kind)
        found.update((n, getattr(value, n)) for n in names if hasattr(value, n))
    return found


@lru_cache(256)
def _fields_in_c(cls: Any) -> tuple[str, ...]:
    """The names of what C code keeps of an exception beside its arguments."""
    kinds = GetSetDescriptorType, MemberDescriptorType
    return tuple(
        name
        for each in cls.__mro__
        if each.__module__ == "builtins" and each is not BaseException
        for name, there in vars(each).items()
        if isinstance(there, kinds) and not name.startswith("__")
    )


def given_attribute(value: Any, name: str) -> Any:
    """The attribute ``name`` that ``value`` gives but does not keep itself: its class has it, or a
    property, and may have told pickle so. NOTHING where there is none."""
    try:
        return getattr(value, name)
    except Exception:  # whatever somebody's class raises
        return NOTHING


def slots(cls: type) -> list[str]:
    """The names of the attributes that ``cls`` itself has slots for; private ones as Python spells
    them."""
    slots = cls.__dict__.get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    prefix = f"_{cls.__name__.lstrip('_')}"
    return [
        prefix + n if n.startswith("__") and not n.endswith("__") else n
        for n in names
        if n not in ("__dict__", "__weakref__")
    ]


def is_cached(value: Any, name: str, *, there: bool) -> bool:
    """Whether an attribute is computed from others when it is asked for, and so may be missing.
    ``there``: it is not missing, and the question is whether it may be another one."""
    if (_tells_itself(value) and name.startswith("_")) or name == ATTRS_HASH:
        return True
    made_again = isinstance(getattr(type(value), name, None), cached_property)
    return not there and (made_again or name == _WARNINGS)


def _tells_itself(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in _TOLD_TO_PICKLE


def whole(value: Any) -> Any:
    """What makes up a value beside contents and attributes; NOTHING where those are all of it.

    That is what C code keeps, as the value's own class tells pickle; whatever the class raises
    where it tells nothing.
    """
    if _is_pandas(value, "DataFrame"):  # by columns: these lie in one block or in several
        columns = [array_of_series(column) for _, column in value.items()]
        return [value.columns, value.index, columns, value.attrs, value.flags]
    if _is_pandas(value, "Series"):
        return [value.name, value.index, array_of_series(value), value.attrs, value.flags]
    if _is_pandas(value, "Categorical"):  # whose own codes are read-only in some indexes
        return [value.codes, value.dtype]
    if type(value).__module__ == "pyarrow.lib" and (told := arrow_told(value)) is not None:
        return told
    if type(value).__module__.startswith("polars.") and hasattr(value, "rechunk"):
        return polars_told(value)
    if isinstance(value, FunctionType):
        parts = {name: getattr(value, name) for name in _FUNCTION_PARTS}
        return {**parts, "__globals__": _globals_used(value)}
    if isinstance(value, CodeType):
        return {name: getattr(value, name) for name in _CODE_PARTS}
    if isinstance(value, CellType):
        return _cell(value)
    if isinstance(value, ReferenceType):
        return (value(),)
    if isinstance(value, MethodType):
        return (value.__self__, value.__func__)
    if isinstance(value, BuiltinFunctionType):
        return (value.__self__, value.__qualname__)
    if not is_hidden(type(value)) and not _tells_itself(value):
        return NOTHING
    told = told_to_pickle(value)
    if isinstance(told, tuple):
        told = tuple(map(_uncached if _tells_itself(value) else partial(_sorted, value), told))
    kept = kept_in_c(value)
    return (told, kept) if kept else told


def told_to_pickle(value: Any) -> Any:
    """What the class of ``value`` tells pickle of it; whatever the class raises."""
    reducer = copyreg.dispatch_table.get(type(value))
    told = reducer(value) if reducer is not None else value.__reduce_ex__(4)
    if isinstance(told, tuple):  # the items of lists and maps come last, as iterators
        told = (*told[:3], *(list(items) if items is not None else None for items in told[3:5]))
    return told


def _uncached(state: Any) -> Any:
    """``state``, what pickle gets of an object, without caches, and sorted: the order in which
    attributes were set is no value."""
    if type(state) is dict:
        return {name: state[name] for name in sorted(state) if name not in _KEPT} or None
    if not (isinstance(state, tuple) and state and type(state[-1]) is dict):
        return state
    kept = _uncached(state[-1])
    return (*state[:-1], kept) if kept else state[:-1]


def _sorted(value: Any, state: Any) -> Any:
    """``state``, what pickle gets of ``value``, or a part of it, with attributes sorted."""
    if type(state) is tuple:
        return tuple(_sorted(value, part) for part in state)
    if type(state) is not dict or not state or not hasattr(value, "__dict__"):
        return state
    held = held_in_dict(value)
    own = held.keys() == state.keys() and all(state[name] is held[name] for name in held)
    return {name: state[name] for name in sorted(state, key=str)} if own else state


def _is_pandas(value: Any, name: str) -> bool:
    """Whether ``value`` is of this class of pandas, or of one derived from it."""
    kinds = type(value).__mro__
    return any(kind.__name__ == name and kind.__module__.startswith("pandas") for kind in kinds)


def _cell(value: CellType) -> Any:
    try:
        return (value.cell_contents,)
    except ValueError:  # the cell is empty
        return ()


def _globals_used(function: FunctionType) -> dict[str, Any]:
    """The globals that a function's code names, and that of functions in it, by name."""
    names, todo = set[str](), [function.__code__]
    while todo:
        code = todo.pop()
        names.update(code.co_names)
        todo += (const for const in code.co_consts if isinstance(const, CodeType))
    there = function.__globals__
    return {name: there[name] for name in sorted(names) if name in there}


_hidden: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_hidden(cls: type) -> bool:
    """Whether instances of ``cls`` may keep something in C code that neither contents nor
    attributes tell."""
    if cls not in _hidden:
        solid = solid_base(cls)
        _hidden[cls] = solid is not object and solid not in WITH_CONTENTS
    return _hidden[cls]


def solid_base(cls: type) -> type:
    """The first of its bases, or itself, that no ``class`` statement made."""
    return next(base for base in cls.__mro__ if base is object or not _is_of_python(base))


def _is_of_python(cls: type) -> bool:
    """Whether a ``class`` statement made ``cls``, so that it has no fields but slots, a dict, a
    weak reference.

    Told by the sizes of instances, as ``object.__reduce_ex__`` does.
    """
    heap_type, immutable = 1 << 9, 1 << 8
    base = cls.__base__
    if base is None or cls.__flags__ & (heap_type | immutable) != heap_type:
        return False
    if cls.__itemsize__ != base.__itemsize__:
        return False
    word, more = struct.calcsize("P"), cls.__basicsize__ - base.__basicsize__
    return more <= (len(slots(cls)) + 2) * word
