"""Python values: of which kind one is, and whether two are the same, strictly.

Strictly: types, order of keys, every bit of a float, the sign of zero, lone surrogates, the
attributes of objects; and, where a serializer promises that, which containers are one and the
same. This is the proof behind "same or refused" for values that have no text to compare.
"""

from __future__ import annotations

import io
import math
import pickle
import re
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any
from uuid import UUID

from serialpack.kinds import Difference, key_kind, shown, value_step


def kind_of(value: Any) -> str:
    """The kind of ``value`` itself, whatever is in it: one of ``KINDS``.

    For text of no special kind that is ``text``; for a map, whose kind says nothing, ``value``.
    """
    name = _BY_TYPE.get(type(value))
    if isinstance(name, str):
        return name
    if name is not None:
        return name(value)
    if isinstance(value, FunctionType | BuiltinFunctionType | ModuleType | type):
        return "function"
    module = type(value).__module__.partition(".")[0]
    if module in ("numpy", "array"):
        return "number-array"
    if module in ("msgpack", "umsgpack", "ormsgpack", "msgspec", "cbor2", "bson"):
        return "tag"
    return "object"


def _integer(value: int) -> str:
    if value.bit_length() > 14280:  # at most 4300 digits
        return "huge-integer"
    if -(1 << 63) <= value < 1 << 63:
        return "integer" if abs(value) <= 1 << 53 else "inexact-integer"
    return "uint64" if 0 < value < 1 << 64 else "bigint"


#: The bits of the NaNs that text has a word for.
_PLAIN_NAN = {struct.pack("<d", math.nan), struct.pack("<d", -math.nan)}


def _float(value: float) -> str:
    if math.isnan(value):
        return "non-finite" if struct.pack("<d", value) in _PLAIN_NAN else "nan-bits"
    if math.isinf(value):
        return "non-finite"
    return "integral-float" if value.is_integer() else "float"


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        return "surrogates"
    return "control" if _CONTROL.search(value) else "text"


def _datetime(value: datetime) -> str:
    zone = value.tzinfo
    if zone is None:
        return "local-datetime"
    if zone is UTC:
        return "utc-datetime"
    return "offset-datetime" if type(zone) is timezone else "zoned-datetime"


_BY_TYPE: dict[type, str | Callable[[Any], str]] = {
    type(None): "null",
    bool: "boolean",
    int: _integer,
    float: _float,
    str: _text,
    list: "array",
    dict: "value",
    bytes: "bytes",
    bytearray: "bytearray",
    datetime: _datetime,
    date: "date",
    time: "time",
    timedelta: "timedelta",
    Decimal: "decimal",
    Fraction: "fraction",
    UUID: "uuid",
    tuple: "tuple",
    set: "set",
    frozenset: "frozenset",
    complex: "complex",
    memoryview: "number-array",
}


class _Odd(Exception):
    """A value of a class that the quick comparison does not know."""


#: Types whose pickled form says all that there is of them.
_WHOLE = {datetime, date, time, timedelta, timezone, Decimal, Fraction, UUID, complex}


class _PlainPickler(pickle.Pickler):
    """Writes the tree of a value, twice what stands in it twice; _Odd for unknown classes."""

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) in _WHOLE or (isinstance(obj, type) and obj in _WHOLE):
            return NotImplemented
        raise _Odd


def _plain(value: Any) -> memoryview:
    file = io.BytesIO()
    pickler = _PlainPickler(file, 5)
    pickler.fast = True
    pickler.dump(value)
    return file.getbuffer()


def difference(
    was: Any, became: Any, *, identity: bool = False, record: int = 0
) -> Difference | None:
    """The first place where ``became`` is not the same as ``was``; None where it is.

    ``identity``: two places that held one and the same object must do so again.
    """
    if _quickly_same(was, became, identity=identity):
        return None
    found = _Walk(identity).first(was, became)
    return found and found._replace(record=record)


def _quickly_same(was: Any, became: Any, *, identity: bool) -> bool:
    """Whether two values certainly are the same, found at the speed of pickle's C code.

    pickle without its memo writes types, order and bits of all plain values, and nothing else
    (tried: two of them cost less than half of what the json module takes to write them once).
    """
    try:
        if _plain(was) != _plain(became):
            return False
        return not identity or pickle.dumps(was, 5) == pickle.dumps(became, 5)
    except (_Odd, ValueError, RecursionError, pickle.PicklingError, TypeError):
        return False


Pair = tuple[str, Any, Any]


class _Walk:
    """Compares two values place by place, without recursion."""

    def __init__(self, identity: bool) -> None:
        self._identity = identity
        self._met: dict[int, Any] = {}
        self._pairs: set[tuple[int, int]] = set()
        #: Keeps what is made on the way alive, so that an id stands for one object.
        self._kept: list[Any] = []

    def first(self, was: Any, became: Any) -> Difference | None:
        stack: list[Pair] = [("$", was, became)]
        while stack:
            path, x, y = stack.pop()
            if type(x) is not type(y):
                return _lost(path, x, y)
            if _is_leaf(x):
                if not _same_leaf(x, y):
                    return _lost(path, x, y)
                continue
            if self._identity and id(x) in self._met and self._met[id(x)] is not y:
                return Difference(0, path, "a shared reference", "a copy", "cycle")
            if (id(x), id(y)) in self._pairs:
                continue
            self._pairs.add((id(x), id(y)))
            self._met[id(x)] = y
            inner = list(self._inside(path, x, y))
            self._kept.append(inner)
            for step in inner:
                if isinstance(step, Difference):
                    return step
            stack.extend(reversed(inner))  # type: ignore[arg-type]
        return None

    def _inside(self, path: str, x: Any, y: Any) -> Iterator[Pair | Difference]:
        """The pairs of values inside ``x`` and ``y``, which are of one type; or a difference."""
        known = False
        if isinstance(x, dict):
            known = True
            yield from _maps(path, x, y)
        elif isinstance(x, list | tuple):
            known = True
            if len(x) != len(y):
                yield Difference(0, path, f"{len(x)} elements", f"{len(y)}", kind_of(x))
            for i, pair in enumerate(zip(x, y, strict=False)):
                yield (f"{path}[{i}]", *pair)
        elif isinstance(x, set | frozenset):
            known = True
            yield from _sets(path, x, y)
        else:
            for base in (int, float, str, bytes, bytearray):
                if isinstance(x, base):
                    known = True
                    same = _same_leaf(_as(base, x), _as(base, y))
                    if not same:
                        yield _lost(path, x, y)
        if kind_of(x) == "number-array":
            yield from _arrays(path, x, y)
            return
        state = _state(x), _state(y)
        if state[0] or state[1]:
            for name in sorted({*state[0], *state[1]}):
                yield (f"{path}.{name}", *(s.get(name, _NOTHING) for s in state))
        elif not known and x is not y and not _equal(x, y):
            try:
                yield (path, x.__reduce_ex__(4), y.__reduce_ex__(4))
            except Exception:
                yield _lost(path, x, y)


class _Nothing:
    """Stands for an attribute that is not there."""

    def __repr__(self) -> str:
        return "nothing"


_NOTHING = _Nothing()

_LEAVES = (
    *(type(None), bool, int, float, str, bytes, bytearray, complex, date, timedelta),
    *(Decimal, Fraction, UUID, timezone, _Nothing),
)


def _is_leaf(value: Any) -> bool:
    kind = type(value)
    return (
        kind in _LEAVES
        or kind in (datetime, time)
        or isinstance(value, Enum | type | FunctionType | BuiltinFunctionType | ModuleType)
    )


def _same_leaf(x: Any, y: Any) -> bool:
    if isinstance(x, float):
        return struct.pack("<d", x) == struct.pack("<d", y)
    if isinstance(x, complex):
        return _same_leaf(x.real, y.real) and _same_leaf(x.imag, y.imag)
    if isinstance(x, Decimal):
        return bool(x.as_tuple() == y.as_tuple())
    if isinstance(x, datetime | time):
        zones = x.tzinfo, y.tzinfo
        return (
            x.replace(tzinfo=None) == y.replace(tzinfo=None)
            and x.fold == y.fold
            and type(zones[0]) is type(zones[1])
            and repr(zones[0]) == repr(zones[1])
        )
    if isinstance(x, Enum | type | FunctionType | BuiltinFunctionType | ModuleType):
        return bool(x is y)
    return bool(x == y)


def _maps(path: str, x: dict[Any, Any], y: dict[Any, Any]) -> Iterator[Pair | Difference]:
    keys = list(x), list(y)
    for before, after in zip(*keys, strict=False):
        lost = None if before is after else difference(before, after)
        if lost is not None:
            kind = key_kind(before)
            if kind is None:
                kind = "value" if before in y else kind_of(before)
            yield Difference(0, path, f"the key {shown(before)}", f"the key {shown(after)}", kind)
    if len(x) != len(y):
        odd = [*({*keys[0]} - {*keys[1]}), *keys[0][:1]]
        kind = (key_kind(odd[0]) if odd else None) or "value"
        yield Difference(0, path, f"{len(x)} keys", f"{len(y)} keys", kind)
    for key, value in x.items():
        if key in y:
            yield (path + value_step(key), value, y[key])


def _sets(path: str, x: Any, y: Any) -> Iterator[Pair | Difference]:
    there = {element: element for element in y}
    if len(x) != len(y) or any(element not in there for element in x):
        yield _lost(path, x, y)
        return
    for element in x:
        yield (f"{path}{{{shown(element)}}}", element, there[element])


def _arrays(path: str, x: Any, y: Any) -> Iterator[Pair | Difference]:
    if isinstance(x, memoryview):
        pair: list[Any] = [(v.format, v.shape, v.strides, v.readonly, v.tobytes()) for v in (x, y)]
    elif hasattr(x, "typecode"):
        pair = [(v.typecode, v.tobytes()) for v in (x, y)]
    elif hasattr(x, "dtype"):
        flags = [getattr(v, "flags", None) for v in (x, y)]
        orders = [(f.c_contiguous, f.f_contiguous) if f is not None else () for f in flags]
        if x.dtype.hasobject:
            heads = [(str(v.dtype), v.shape, o) for v, o in zip((x, y), orders, strict=True)]
            if heads[0] == heads[1]:
                yield (path, x.tolist(), y.tolist())
                return
        pair = [
            (v.dtype.descr, v.dtype.str, v.shape, o, v.tobytes())
            for v, o in zip((x, y), orders, strict=True)
        ]
    else:
        pair = [x.__reduce_ex__(4), y.__reduce_ex__(4)]
    if pair[0] != pair[1]:
        yield _lost(path, x, y)


def _state(value: Any) -> dict[str, Any]:
    """All attributes of an object, those in slots too."""
    state = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            mangled = (
                f"_{cls.__name__.lstrip('_')}{name}"
                if name.startswith("__") and not name.endswith("__")
                else name
            )
            if mangled not in ("__dict__", "__weakref__") and hasattr(value, mangled):
                state[mangled] = getattr(value, mangled)
    return state


def _as(base: Any, value: Any) -> Any:
    """The plain value inside an instance of a subclass."""
    if base is int:
        return int.__index__(value)
    if base is float:
        return float.__float__(value)
    return str.__str__(value) if base is str else base(value)


def _equal(x: Any, y: Any) -> bool:
    try:
        return bool(x == y)
    except Exception:  # a comparison of somebody's class
        return False


def _lost(path: str, was: Any, became: Any) -> Difference:
    texts = shown(was), shown(became)
    if texts[0] == texts[1]:
        texts = f"{type(was).__name__} {texts[0]}", f"{type(became).__name__} {texts[1]}"
    return Difference(0, path, *texts, "object" if was is _NOTHING else kind_of(was))
