"""Tags of CBOR: those whose content is a value of Python's, to the last digit, become that value.

All others stay whole, as cbor2's CBORTag.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any
from uuid import UUID

from serialpack.stages.stage import import_library

#: RFC 3339 as Python's datetime holds it. An offset of -00:00 means that the place is unknown.
_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|(?!-00:00)[+-]\d\d:\d\d)", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

#: The ordinal of 1970-01-01, as Python counts days.
_EPOCH = date(1970, 1, 1).toordinal()

#: What Python's types raise for a content that they cannot hold.
_NOT_HELD = (ValueError, TypeError, ArithmeticError, AttributeError, OSError)

#: Tags that the library reads as it should: bignums, references to strings and values, addresses.
_BUILT_IN = frozenset({2, 3, 25, 28, 29, 52, 54, 256, 260, 261})

#: Makes a value of the content of a tag. It is told whether that stands in a key or a set, where
#: nothing may change.
_Decoder = Callable[[Any, bool], Any]


class Twice(ValueError):
    """A set with two elements that Python takes for one."""


class Refers(Exception):
    """Values refer to one another, and it is not known yet how far they unfold."""


class Tags(dict[int, Any]):
    """How the tags are read of which the library would round, refuse or drop something.

    Unknown tags are among them: the library reads arrays and maps in these as if in a key.
    """

    #: Whether a tag was met that refers to a text or a value elsewhere; whether one to a value.
    referred = shared = False

    def __init__(self, tags: dict[int, Any], *, references: bool) -> None:
        """``references``: whether the library may follow those to values; Refers, where not."""
        super().__init__(tags)
        self._references = references

    def __missing__(self, number: int) -> _Decoder:
        if number in _BUILT_IN:
            self.referred = self.referred or number in (25, 29)
            self.shared = self.shared or number == 29
            if self.shared and not self._references:
                raise Refers
            raise KeyError(number)
        return _whole(number, None)


def _whole(number: int, make: Callable[[Any], Any] | None) -> _Decoder:
    """What reads a tag as ``make`` does, and as the tag itself where that fails, or there is
    none."""
    cbor2 = import_library("cbor2", "cbor")

    def read(content: Any, _immutable: bool) -> Any:
        if make is not None:
            try:
                return make(content)
            except _NOT_HELD:
                pass
        return cbor2.CBORTag(number, content)

    return read


@cache
def decoders() -> dict[int, Any]:
    cbor2 = import_library("cbor2", "cbor")

    @cbor2.shareable_decoder(name="set", immutable=True)  # type: ignore[untyped-decorator]
    def start_set(immutable: bool) -> tuple[None, Callable[[Any], Any]]:
        return None, lambda content: _set(content, frozenset if immutable else set)

    makers: dict[int, Callable[[Any], Any]] = {
        0: _time,
        1: _epoch,
        4: _decimal,
        30: _fraction,
        37: lambda content: UUID(bytes=content),
        100: _day,
        1004: _date,
        43000: _complex,
        55799: lambda content: content,
    }
    return {258: start_set, **{number: _whole(number, make) for number, make in makers.items()}}


def _time(content: Any) -> datetime:
    if not _TIME.fullmatch(content):
        raise ValueError
    return datetime.fromisoformat(content)


def _epoch(content: Any) -> datetime:
    if type(content) not in (int, float):
        raise TypeError
    found = datetime.fromtimestamp(content, UTC)
    if found.timestamp() != content:
        raise ValueError
    return found


def _decimal(content: Any) -> Decimal:
    exponent, mantissa = content
    if not type(exponent) is type(mantissa) is int:
        raise TypeError
    sign, digits, _ = Decimal(mantissa).as_tuple()
    return Decimal((sign, digits, exponent))


def _fraction(content: Any) -> Fraction:
    numerator, denominator = content
    if not type(numerator) is type(denominator) is int:
        raise TypeError
    found = Fraction(numerator, denominator)
    if (found.numerator, found.denominator) != (numerator, denominator):
        raise ValueError
    return found


def _day(content: Any) -> date:
    """The date that is ``content`` days after 1970-01-01 (RFC 8943)."""
    if type(content) is not int:
        raise TypeError
    return date.fromordinal(content + _EPOCH)


def _date(content: Any) -> date:
    if not _DATE.fullmatch(content):
        raise ValueError
    return date.fromisoformat(content)


def _complex(content: Any) -> complex:
    real, imag = content
    if not type(real) is type(imag) is float:
        raise TypeError
    return complex(real, imag)


def _set(content: Any, made: type[set[Any]] | type[frozenset[Any]]) -> Any:
    if type(content) is not tuple:
        raise ValueError("a set must be an array")
    elements = made(content)
    if len(elements) != len(content):
        met: set[Any] = set()
        for element in content:
            if element in met:
                raise Twice(element)
            met.add(element)
    return elements
