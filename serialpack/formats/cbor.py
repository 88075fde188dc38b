"""CBOR (RFC 8949) as a source: a sequence of items (RFC 8742), each of them a record.

Tags whose content a Python value holds to the last digit become that value: dates and times,
bignums, decimals, fractions, UUIDs, IP addresses, sets, complex numbers. All other tags stay
whole, as cbor2's CBORTag: unknown ones, and those with a content that Python's type would round
or does not have (a time with nanoseconds, the year 10000, a regular expression of another
language, a bigfloat).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any
from uuid import UUID

from serialpack.formats._document import DocumentFormat, Malformed
from serialpack.formats._nesting import levels
from serialpack.formats._unread import check_unfolded
from serialpack.formats.base import MAX_DEPTH, Difference, Unheld
from serialpack.kinds import shown
from serialpack.stage import Buffer, import_library

#: More containers within each other than these, and the library's encoder, which recurses
#: without a limit, is not trusted with the stack of a thread (it takes about 1 KiB for each).
_SHALLOW = 100

#: What the library may keep open: all items, containers within each other, and a tag.
_FRAMES = MAX_DEPTH + 2


class _Twice(ValueError):
    """A set with two elements that Python takes for one."""


class Cbor(DocumentFormat):
    """A sequence of CBOR items."""

    name = "cbor"
    number = 9
    about = "CBOR items, one after another"
    title = "CBOR"

    def read(self, data: bytes) -> list[Any]:
        return read_items(data)

    def write(self, records: list[Any]) -> bytes:
        return write_items(records)


def read_items(data: Buffer) -> list[Any]:
    """The items of a sequence.

    Malformed, Unheld for what Python does not hold, RefusedError for references without end.
    """
    cbor2 = import_library("cbor2", "cbor")
    # Within one array without a length they are read in one call.
    file = io.BytesIO(b"".join((b"\x9f", data, b"\xff")))
    tags = _Tags(_decoders())
    decoder = cbor2.CBORDecoder(
        file,
        read_size=len(data) + 2,
        max_depth=_FRAMES,
        allow_duplicate_keys=False,
        semantic_decoders=tags,
    )
    try:
        records: list[Any] = decoder.decode()
    except cbor2.CBORDecodeError as error:
        raise _placed(cbor2, bytes(data), error) from None
    if file.tell() != len(data) + 2:
        raise Malformed("a break code outside of any container", file.tell() - 2)
    if tags.referred:
        check_unfolded(records, len(data), _inside_or_none)
    return records


def _placed(cbor2: Any, data: bytes, error: Exception) -> Exception:
    """What is wrong and where, found by reading the items one by one, byte by byte."""
    file = io.BytesIO(data)
    decoder = cbor2.CBORDecoder(
        file,
        read_size=1,
        max_depth=_FRAMES - 1,
        allow_duplicate_keys=False,
        semantic_decoders=_Tags(_decoders()),
    )
    record = 0
    try:
        while file.tell() < len(data):
            decoder.decode()
            record += 1
    except cbor2.CBORDecodeEOF:
        return Malformed("it ends too early", len(data))
    except cbor2.CBORDecodeError as found:
        error = found
    message = str(error)
    if isinstance(error.__cause__, _Twice):
        was = f"the element {shown(error.__cause__.args[0])} of a set"
        return Unheld(Difference(record, "$", was, "", "duplicate-keys"))
    if (twice := re.search("Duplicate map key: (.*)", message, re.DOTALL)) is not None:
        return Unheld(Difference(record, "$", f"the key {twice[1][:40]}", "", "duplicate-keys"))
    if error.__cause__ is not None:
        message += f" ({error.__cause__})"
    if "maximum container nesting depth" in message:
        return Unheld(Difference(record, "$", f"more than {MAX_DEPTH} levels", "", "depth"))
    return Malformed(" ".join(message.split()), file.tell())


def write_items(records: list[Any], *, canonical: bool = False) -> bytes:
    """The items of ``records``, one after another.

    TypeError for a type that would not come back, RecursionError for values nested too deeply.
    """
    cbor2 = import_library("cbor2", "cbor")
    if levels(records, _plain_types(), _inside) > _SHALLOW:
        return _write_deep(records, canonical)
    try:
        data: bytes = cbor2.dumps(records, canonical=canonical)
    except cbor2.CBOREncodeError as error:
        raise ValueError(str(error)) from None
    return data[len(_head(4, len(records))) :]


def _write_deep(records: list[Any], canonical: bool) -> bytes:
    """The same without recursion: the library writes what holds no other values."""
    cbor2 = import_library("cbor2", "cbor")
    written = bytearray()
    stack = records[::-1]
    while stack:
        value = stack.pop()
        if isinstance(value, list | tuple):
            written += _head(4, len(value))
            stack.extend(reversed(value))
        elif isinstance(value, set | frozenset):
            parts = sorted(_write_deep([part], canonical) for part in value)
            parts.sort(key=len)
            written += _head(6, 258) + _head(4, len(parts)) + b"".join(parts)
        elif isinstance(value, cbor2.CBORTag):
            written += _head(6, value.tag)
            stack.append(value.value)
        elif hasattr(value, "items"):
            items = list(value.items())
            if canonical:
                keys = [_write_deep([key], canonical) for key in value]
                order = sorted(range(len(keys)), key=lambda i: (len(keys[i]), keys[i]))
                items = [items[i] for i in order]
            written += _head(5, len(items))
            stack.extend(part for item in reversed(items) for part in reversed(item))
        else:
            try:
                written += cbor2.dumps(value, canonical=canonical)
            except cbor2.CBOREncodeError as error:
                raise ValueError(str(error)) from None
    return bytes(written)


def _head(major: int, number: int) -> bytes:
    """The head of an item: its major type, and a number in the fewest bytes."""
    if number < 24:
        return bytes([major << 5 | number])
    size = next(i for i in range(4) if number < 1 << (8 << i))
    return bytes([major << 5 | 24 + size]) + number.to_bytes(1 << size, "big")


@cache
def _plain_types() -> frozenset[type]:
    """The types that hold no others, and come back as what they were."""
    import ipaddress

    cbor2 = import_library("cbor2", "cbor")
    addresses = [
        getattr(ipaddress, f"IPv{version}{what}")
        for version in (4, 6)
        for what in ("Address", "Network", "Interface")
    ]
    return frozenset(
        {
            *(type(None), bool, int, float, str, bytes, complex),
            *(datetime, date, Decimal, Fraction, UUID, *addresses),
            *(type(cbor2.undefined), cbor2.CBORSimpleValue),
        }
    )


def _inside(value: Any) -> list[Any]:
    """The values in one of the library's own containers; TypeError for other types."""
    kind = type(value)
    if kind.__module__ == "cbor2" or kind.__name__ == "frozendict":
        if kind.__name__ == "CBORTag":
            return [value.value]
        return [dict(value)]
    raise TypeError(f"cannot write {kind.__name__}")


def _inside_or_none(value: Any) -> list[Any]:
    return [] if type(value) in _plain_types() else _inside(value)


#: RFC 3339 as Python's datetime holds it. An offset of -00:00 means that the place is unknown.
_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|(?!-00:00)[+-]\d\d:\d\d)", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

#: What Python's types raise for a content that they cannot hold.
_NOT_HELD = (ValueError, TypeError, ArithmeticError, AttributeError, OSError)


#: Tags that the library reads as it should: bignums, references to strings and values, addresses.
_BUILT_IN = frozenset({2, 3, 25, 28, 29, 52, 54, 256, 260, 261})

#: Says how to read the content of a tag, which stands where nothing may change (in a key), or not.
_Decoder = Callable[[Any, bool], Any]


class _Tags(dict[int, Any]):
    """How tags are read that the library would round, refuse or drop something of; and unknown
    ones, the arrays and maps in which it would read as a key's.
    """

    #: Whether one refers to something that stands elsewhere.
    referred = False

    def __missing__(self, number: int) -> _Decoder:
        if number in _BUILT_IN:
            self.referred = self.referred or number in (25, 29)
            raise KeyError(number)
        return _whole(number, None)


def _whole(number: int, make: Callable[[Any], Any] | None) -> _Decoder:
    """What ``make`` makes of the content, and the tag itself where that cannot be."""
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
def _decoders() -> dict[int, Any]:
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
        100: lambda content: date.fromordinal(content + 719163),
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
    found = Fraction(*content)
    if [found.numerator, found.denominator] != [*content]:
        raise ValueError
    return found


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
                raise _Twice(element)
            met.add(element)
    return elements
