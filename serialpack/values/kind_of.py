"""Of which kind a Python value is, and that one is lost."""

import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any
from uuid import UUID

from serialpack.literal import Literal
from serialpack.values.kinds import Difference, instead_of, key_kind, shown
from serialpack.values.yaml_tags import YamlTag


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


def lost_value(path: str, value: Any, because: str = "", *, is_key: bool = False) -> Difference:
    """That ``value`` is not held, which stands at ``path`` of the first record."""
    kind = (key_kind(value) if is_key else None) or kind_of(value)
    return Difference(0, path, shown(value), "", kind, because, instead_of(value))


def _integer(value: int) -> str:
    if value.bit_length() > 14280:  # at most 4300 digits
        return "huge-integer"
    if -(1 << 63) <= value < 1 << 63:
        return "integer" if abs(value) <= 1 << 53 else "inexact-integer"
    return "uint64" if 0 < value < 1 << 64 else "bigint"


#: The bits of the NaN that is written as a word. The one that processors make of 0/0 has a sign,
#: and is another.
_PLAIN_NAN = struct.pack("<d", math.nan)


def _float(value: float) -> str:
    if math.isnan(value):
        return "non-finite" if struct.pack("<d", value) == _PLAIN_NAN else "nan-bits"
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
    Literal: "float",
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
    YamlTag: "tag",
}
