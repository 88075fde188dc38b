"""The tags of values of Python's own types that hold no others: numbers, times, bytes, addresses.

``WRITERS`` has a function for each type, which makes the tag of a value; ``READERS`` one for each
tag, which makes the value of what stands in it. Both raise one of ``ODD``: a writer for a value
that has no tag, a reader for what no writer writes.
"""

from __future__ import annotations

import math
import re
import struct
from array import array
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

from serialpack.formats.losses.exact import Inexact, exact_float
from serialpack.values.parts import same_leaf

#: What types raise for a text or a number that is none of theirs.
ODD = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, OSError)

#: Integers below this have at most 4300 digits, Python's limit for decimal text.
LARGE = 1 << 14280

_FLAGS = re.ASCII | re.DOTALL
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NON_FINITE = {
    struct.pack(">d", value): word
    for value, word in ((math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"))
}
_WORDS = {word: bits for bits, word in _NON_FINITE.items()}


def is_map(content: Any, *names: str) -> bool:
    """Whether ``content`` is a map with just these keys."""
    return type(content) is dict and content.keys() == {*names}


def text_of(content: Any, pattern: str = ".*") -> str:
    """``content``, where it is text of this form."""
    if type(content) is not str:
        raise ValueError("must be text")
    if not re.fullmatch(pattern, content, _FLAGS):
        raise ValueError("is not written as it must be")
    return content


def integer_of(content: Any, bits: int, *, signed: bool = False) -> int:
    """``content``, where it is an integer of so many bits."""
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    if type(content) is not int or not low <= content < high:
        raise ValueError(f"must be an integer of {bits} bits")
    return content


def base64_text(value: Any) -> str:
    return b64encode(value).decode()


def base64_bytes(content: Any) -> bytes:
    return b64decode(text_of(content), validate=True)


def digits_of(content: Any, bits: int) -> int:
    """The integer of so many bits that decimal digits say."""
    # The longest of 64 bits has 19 digits. More zeros in front say nothing that counts.
    return integer_of(int(text_of(content, "-?[0-9]{1,19}")), bits, signed=True)


# Numbers.


def write_int(value: int) -> Any:
    return value if -LARGE < value < LARGE else {"$integer": hex(value)}


def write_float(value: float) -> Any:
    if value - value == 0:
        return value
    bits = struct.pack(">d", value)
    return {"$numberDouble": _NON_FINITE[bits]} if bits in _NON_FINITE else {"$nan": bits.hex()}


def _read_double(content: Any) -> float:
    if type(content) is str and content in _WORDS:
        return _double(_WORDS[content])
    try:
        return exact_float(text_of(content, r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?"))
    except Inexact as lost:
        raise ValueError(f"no double is {lost.text[:40]}") from None


def _double(bits: bytes) -> float:
    value: float = struct.unpack(">d", bits)[0]
    return value


def _read_nan(content: Any) -> float:
    bits = bytes.fromhex(text_of(content, "[0-9a-f]{16}"))
    if not math.isnan(_double(bits)):
        raise ValueError("must be the bits of a NaN")
    return _double(bits)


def _write_decimal(value: Decimal) -> Any:
    text = str(value)
    # Decimals whose exponent is at the very end of its range are written in more digits than are
    # read.
    if not same_leaf(Decimal(text), value):
        raise ValueError("its text says another number")
    return {"$numberDecimal": text}


def decimal_text(content: Any) -> str:
    """``content``, where it is the text of a decimal (General Decimal Arithmetic, numbers)."""
    return text_of(
        content,
        r"(?i:[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?|s?nan[0-9]*))",
    )


def _read_decimal(content: Any) -> Decimal:
    return Decimal(decimal_text(content))


def _number(content: Any) -> Any:
    """An integer or a float inside a tag, where it may be a tag itself."""
    if type(content) is dict and len(content) == 1:
        name, inner = next(iter(content.items()))
        if name in ("$integer", "$numberDouble", "$nan"):
            return READERS[name](inner)
    return content


def _two(content: Any, kind: type) -> list[Any]:
    """Two numbers of one type."""
    numbers = [_number(part) for part in content] if type(content) is list else []
    if [type(number) for number in numbers] != [kind, kind]:
        raise ValueError(f"must be an array of two of {kind.__name__}")
    return numbers


def _read_fraction(content: Any) -> Fraction:
    numerator, denominator = _two(content, int)
    value = Fraction(numerator, denominator)
    if (value.numerator, value.denominator) != (numerator, denominator):
        raise ValueError("must be in lowest terms")
    return value


# Dates and times.


def _write_datetime(value: datetime) -> Any:
    if value.tzinfo is UTC and not value.microsecond % 1000 and not value.fold:
        return {"$date": {"$numberLong": str((value - _EPOCH) // timedelta(milliseconds=1))}}
    return {"$datetime": _write_timed(value)}


def _read_date(content: Any) -> datetime:
    """Of whole milliseconds, or ISO 8601 text; OverflowError for a year that Python has not."""
    if type(content) is str:
        return datetime.fromisoformat(text_of(content, _ISO)).astimezone(UTC)
    return _EPOCH + timedelta(milliseconds=milliseconds_of(content))


_ISO = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
)


def milliseconds_of(content: Any) -> int:
    """What ``$date`` says in canonical form: milliseconds since 1970 in UTC."""
    if not is_map(content, "$numberLong"):
        raise ValueError("must be ISO 8601 text or a $numberLong")
    return digits_of(content["$numberLong"], 64)


def _write_timed(value: Any) -> Any:
    """A datetime or a time: text as RFC 9557 has it, with what Python has beyond that."""
    zone, text = value.tzinfo, value.isoformat()
    more: dict[str, Any] = {"fold": 1} if value.fold else {}
    if type(zone) is timezone:
        name = zone.__getinitargs__()[1:]  # type: ignore[attr-defined]
        if name:
            more["name"] = name[0]
        elif zone is UTC:
            text = text.removesuffix("+00:00") + "Z"
    elif type(zone) is ZoneInfo and zone.key:
        text += f"[{zone.key}]"
    elif zone is not None:
        raise TypeError("its time zone has no name")
    written = {"text": text, **more} if more else text
    if type(zone) is ZoneInfo and not same_leaf(_read_timed(type(value))(written), value):
        raise ValueError("its time zone is another one here")
    return written


_ZONED = re.compile(r"([^\[\]]+)(?:\[([^\[\]]+)\])?")


def _read_timed(kind: type[datetime] | type[time]) -> Callable[[Any], Any]:
    def read(content: Any) -> Any:
        more: dict[str, Any] = {}
        if type(content) is dict:
            more = {**content}
            content = more.pop("text", None)
            if not {*more} <= {"fold", "name"} or more.get("fold", 1) != 1:
                raise ValueError('must have "text", "fold": 1 and "name"')
        text, zone = _ZONED.fullmatch(text_of(content, _ZONED.pattern)).groups()  # type: ignore[union-attr]
        value = kind.fromisoformat(text)
        if value.isoformat() != re.sub("Z$", "+00:00", text):
            raise ValueError("must be written in full, as in RFC 3339")
        value = value.replace(fold=len({*more} & {"fold"}))
        if "name" in more:
            offset = value.utcoffset()
            if zone or offset is None:
                raise ValueError("a name must be that of an offset")
            value = value.replace(tzinfo=timezone(offset, text_of(more["name"])))
        return _zoned(value, zone) if zone else value

    return read


def _zoned(value: Any, zone: str) -> Any:
    """The same time in a zone, which must have that offset then."""
    there = value.replace(tzinfo=ZoneInfo(zone))
    if there.utcoffset() != value.utcoffset():
        raise ValueError("its time zone has another offset then")
    return there


def _read_day(content: Any) -> date:
    return date.fromisoformat(text_of(content, "[0-9]{4}-[0-9]{2}-[0-9]{2}"))


_DURATION = ("days", "seconds", "microseconds")


def _read_timedelta(content: Any) -> timedelta:
    if not is_map(content, *_DURATION):
        raise ValueError(f"must have {', '.join(_DURATION)}")
    parts = {name: integer_of(content[name], 64, signed=True) for name in _DURATION}
    value = timedelta(**parts)
    if {name: getattr(value, name) for name in _DURATION} != parts:
        raise ValueError("must have less than 86400 seconds and 1000000 microseconds")
    return value


# Bytes, identifiers, addresses, arrays of machine numbers.


def _read_binary(content: Any) -> bytes | UUID:
    """The subtypes that Python has a type for; LookupError for all others."""
    data, subtype = binary_of(content)
    if subtype == 4 and len(data) == 16:
        return UUID(bytes=data)
    if subtype:
        raise LookupError("a subtype of BSON")
    return data


def binary_of(content: Any) -> tuple[bytes, int]:
    """The bytes and the subtype that ``$binary`` says."""
    if not is_map(content, "base64", "subType"):
        raise ValueError('must have "base64" and "subType"')
    return base64_bytes(content["base64"]), int(text_of(content["subType"], "[0-9a-fA-F]{1,2}"), 16)


def _write_uuid(value: UUID) -> Any:
    if value.is_safe is not SafeUUID.unknown:
        return {"$uuid": {"text": str(value), "isSafe": value.is_safe.name}}
    return {"$uuid": str(value)}


def _read_uuid(content: Any) -> UUID:
    is_safe = SafeUUID.unknown
    if is_map(content, "text", "isSafe"):
        is_safe = SafeUUID[text_of(content["isSafe"], "safe|unsafe")]
        content = content["text"]
    text = text_of(content, "(?i:[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12})")
    return UUID(text, is_safe=is_safe)


def _write_array(value: array[Any]) -> Any:
    items = [write_float(v) if type(v) is float else v for v in value]
    content = {"typecode": value.typecode, "items": items}
    if _read_array(content).tobytes() != value.tobytes():
        raise ValueError("the bits of its NaNs have no words")
    return {"$array": content}


def _read_array(content: Any) -> array[Any]:
    if not is_map(content, "typecode", "items") or type(content["items"]) is not list:
        raise ValueError('must have "typecode" and "items"')
    # All but the code "u", which is of text.
    code = text_of(content["typecode"], "[bBhHiIlLqQfd]")
    items = [_number(item) for item in content["items"]]
    value = array(code, items)
    if any(
        type(item) is not type(held) or (item != held and item == item)
        for item, held in zip(items, value, strict=True)
    ):
        raise ValueError(f"has other numbers than an array of {code!r}")
    return value


def _write_view(value: memoryview) -> Any:
    if (value.format, value.strides) != ("B", (1,)):
        raise ValueError("only a view of plain bytes has words")
    return {"$memoryview": {"readonly": value.readonly, "base64": base64_text(value)}}


def _read_view(content: Any) -> memoryview:
    if not is_map(content, "readonly", "base64") or type(content["readonly"]) is not bool:
        raise ValueError('must have "readonly" and "base64"')
    data = base64_bytes(content["base64"])
    return memoryview(data if content["readonly"] else bytearray(data))


def _address(name: str) -> Callable[[Any], Any]:
    return lambda value: {name: str(value)}


def _read_address(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    def read(content: Any) -> Any:
        value = parse(text_of(content))
        if str(value) != content:
            raise ValueError("must be written in the usual form")
        return value

    return read


#: By type; what is not here has no tag, or holds other values, or is of a library.
WRITERS: dict[type, Callable[[Any], Any]] = {
    int: write_int,
    float: write_float,
    bytes: lambda v: {"$binary": {"base64": base64_text(v), "subType": "00"}},
    bytearray: lambda v: {"$bytearray": base64_text(v)},
    memoryview: _write_view,
    array: _write_array,
    datetime: _write_datetime,
    date: lambda v: {"$dateOnly": v.isoformat()},
    time: lambda v: {"$time": _write_timed(v)},
    timedelta: lambda v: {"$timedelta": {name: getattr(v, name) for name in _DURATION}},
    Decimal: _write_decimal,
    Fraction: lambda v: {"$fraction": [write_int(v.numerator), write_int(v.denominator)]},
    complex: lambda v: {"$complex": [write_float(v.real), write_float(v.imag)]},
    UUID: _write_uuid,
    **dict.fromkeys((IPv4Address, IPv6Address), _address("$ipAddress")),
    **dict.fromkeys((IPv4Network, IPv6Network), _address("$ipNetwork")),
    **dict.fromkeys((IPv4Interface, IPv6Interface), _address("$ipInterface")),
}

READERS: dict[str, Callable[[Any], Any]] = {
    "$binary": _read_binary,
    "$date": _read_date,
    "$numberInt": lambda content: digits_of(content, 32),
    "$numberLong": lambda content: digits_of(content, 64),
    "$numberDouble": _read_double,
    "$numberDecimal": _read_decimal,
    "$decimal": _read_decimal,
    "$uuid": _read_uuid,
    "$integer": lambda content: int(text_of(content, "-?0x[0-9a-f]+"), 16),
    "$nan": _read_nan,
    "$complex": lambda content: complex(*_two(content, float)),
    "$fraction": _read_fraction,
    "$datetime": _read_timed(datetime),
    "$dateOnly": _read_day,
    "$time": _read_timed(time),
    "$timedelta": _read_timedelta,
    "$bytearray": lambda content: bytearray(base64_bytes(content)),
    "$memoryview": _read_view,
    "$array": _read_array,
    "$ipAddress": _read_address(ip_address),
    "$ipNetwork": _read_address(ip_network),
    "$ipInterface": _read_address(ip_interface),
}
