"""Writes values as typed XML. The table of its elements stands in ``xml.typed``."""

from __future__ import annotations

import math
import re
import struct
from base64 import b64encode
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn
from uuid import UUID
from zoneinfo import ZoneInfo

from serialpack.depth.values import levels
from serialpack.values.sets import in_order

CONTAINERS: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}

#: The characters that XML 1.0 has no way to write (https://www.w3.org/TR/xml/#charsets).
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TO_ESCAPE = re.compile(UNWRITABLE.pattern[:-1] + "\\\\]")
_MARKUP = re.compile('[&<>"\t\r\n]')
_REFERENCES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\t": "&#9;",
    "\r": "&#13;",
    "\n": "&#10;",
}
#: In text, quotes and tabs need no reference.
_IN_TEXT = {ord(c): r for c, r in _REFERENCES.items() if c not in '"\t'}
_IN_ATTRIBUTE = {ord(c): r for c, r in _REFERENCES.items()}

_PLAIN_NAN = struct.pack(">d", math.nan)


def write_elements(records: list[Any]) -> bytes:
    """Each record on a line.

    TypeError for a value of a type that is not there, RecursionError for values nested too
    deeply.
    """
    levels(records, _PLAIN, _refuse)
    return "".join([_line(record) for record in records]).encode()


def _line(record: Any) -> str:
    written: list[str] = []
    #: What is still to be written, the next at the end: text, or attributes and a value.
    stack: list[str | tuple[str, Any]] = ["\n", ("", record)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        attributes, value = item
        kind = type(value)
        if kind in _LEAVES:
            written.append(_LEAVES[kind](value, attributes))
        elif kind is dict:
            written.append(f"<map{attributes}>")
            stack.append("</map>")
            for key, part in reversed(value.items()):
                if type(key) is str and not UNWRITABLE.search(key):
                    stack.append((f' key="{key.translate(_IN_ATTRIBUTE)}"', part))
                else:
                    stack += ("</entry>", ("", part), ("", key), "<entry>")
        else:
            name = CONTAINERS[kind]
            written.append(f"<{name}{attributes}>")
            stack.append(f"</{name}>")
            elements = in_order(value) if isinstance(value, set | frozenset) else value
            stack += [("", part) for part in reversed(elements)]
    return "".join(written)


def _refuse(value: Any) -> NoReturn:
    raise TypeError(f"typed XML has no element for {type(value).__name__}")


def _leaf(name: str, text: Callable[[Any], str]) -> Callable[[Any, str], str]:
    return lambda value, attributes: f"<{name}{attributes}>{text(value)}</{name}>"


def _empty(name: str) -> Callable[[Any, str], str]:
    return lambda _value, attributes: f"<{name}{attributes}/>"


def _string(value: str, attributes: str) -> str:
    if UNWRITABLE.search(value):
        attributes += ' escape="\\"'
        value = _TO_ESCAPE.sub(lambda found: _escape(found[0]), value)
    if _MARKUP.search(value):
        value = value.translate(_IN_TEXT)
    return f"<string{attributes}>{value}</string>"


def _escape(character: str) -> str:
    return "\\\\" if character == "\\" else f"\\u{ord(character):04x}"


def integer_text(value: int) -> str:
    """The decimal digits of ``value``, or hexadecimal ones where it has more than Python writes."""
    return str(value) if value.bit_length() <= 14280 else hex(value)


def float_text(value: float) -> str:
    bits = struct.pack(">d", value)
    if value != value and bits != _PLAIN_NAN:
        return "nan:" + bits.hex()
    return repr(value)


def timedelta_text(value: timedelta) -> str:
    return f"{value.days} {value.seconds} {value.microseconds}"


def fraction_text(value: Fraction) -> str:
    return f"{integer_text(value.numerator)}/{integer_text(value.denominator)}"


def _timed(name: str) -> Callable[[Any, str], str]:
    """What writes a datetime or a time, with its zone as an attribute where the text does not tell
    all."""

    def write(value: Any, attributes: str) -> str:
        zone = value.tzinfo
        if type(zone) is ZoneInfo and zone.key is not None:
            attributes += f' zone="{zone.key.translate(_IN_ATTRIBUTE)}"'
            value = value.replace(tzinfo=None)
        elif type(zone) is timezone:
            given = zone.__getinitargs__()[1:]  # type: ignore[attr-defined]
            if given:
                if UNWRITABLE.search(given[0]):
                    raise ValueError("XML cannot write the name of the time zone")
                attributes += f' name="{given[0].translate(_IN_ATTRIBUTE)}"'
        elif zone is not None:
            raise TypeError(f"typed XML has no time zones of the class {type(zone).__name__}")
        if value.fold:
            attributes += ' fold="1"'
        return f"<{name}{attributes}>{value.isoformat()}</{name}>"

    return write


_LEAVES: dict[type, Callable[[Any, str], str]] = {
    type(None): _empty("null"),
    bool: lambda value, attributes: f"<{'true' if value else 'false'}{attributes}/>",
    int: _leaf("int", integer_text),
    float: _leaf("float", float_text),
    complex: _leaf("complex", lambda v: f"{float_text(v.real)} {float_text(v.imag)}"),
    str: _string,
    bytes: _leaf("bytes", lambda value: b64encode(value).decode()),
    bytearray: _leaf("bytearray", lambda value: b64encode(value).decode()),
    datetime: _timed("datetime"),
    date: _leaf("date", date.isoformat),
    time: _timed("time"),
    timedelta: _leaf("timedelta", timedelta_text),
    Decimal: _leaf("decimal", str),
    Fraction: _leaf("fraction", fraction_text),
    UUID: _leaf("uuid", str),
}
_PLAIN = frozenset(_LEAVES)
