"""The wire format of Protocol Buffers, and google.protobuf.Value in it, by hand.

By hand because the library reads the entries of a map in an order of its own: the keys of a
record would come back shuffled. On the wire they are a sequence, which is written and read here
in its order; every library reads the same messages.

Sources: https://protobuf.dev/programming-guides/encoding and google/protobuf/struct.proto.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from struct import Struct
from typing import Any

from serialpack import leb128
from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.formats.base import Difference, Unheld, depth_loss
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.split import Scan
from serialpack.leb128 import varint as varint
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import shown

#: How the payload behind a tag is laid out.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

#: Every integer up to here is a double of its own.
EXACT = 1 << 53

#: The bytes of the longest varint.
_LONGEST = 10

_DOUBLE = Struct("<d")

# The tags of google.protobuf: number of the field, and how it is laid out.
_NULL, _NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 0x08, 0x11, 0x1A, 0x20, 0x2A, 0x32
#: The tags of ListValue.values and Struct.fields (one number); of the key and of the value of an
#: entry of Struct.fields.
_ITEM, _KEY, _VALUE = 0x0A, 0x0A, 0x12


def read_varint(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """As ``leb128.read_varint``, with Malformed for what is none."""
    try:
        return leb128.read_varint(data, at, end)
    except ValueError as error:
        raise Malformed(str(error), at) from None


def read_length(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where the bytes at ``at``, whose length stands before them, begin and end."""
    if at < end and data[at] < 128:
        size, start = data[at], at + 1
    else:
        size, start = read_varint(data, at, end)
    if size > end - start:
        raise Malformed(f"{size} bytes are announced, {end - start} are there", at)
    return start, start + size


def delimited(messages: Iterable[bytes]) -> bytes:
    """Messages one after another, each behind its length."""
    out: list[bytes] = []
    for message in messages:
        out += varint(len(message)), message
    return b"".join(out)


def split_delimited(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each message of a delimited stream begins and ends."""
    at = 0
    while at < len(data):
        start, at = read_length(data, at, len(data))
        yield start, at


def scan(view: Buffer, most: int, ends: array[int] | None = None) -> Scan:
    """As ``SequenceFormat.scan``, of a delimited stream."""
    at = messages = 0
    while messages != most and at < len(view):
        try:
            size, start = read_varint(view, at, len(view))
        except Malformed:  # it goes on behind the end, or for too long
            return Scan(messages, at, lost=len(view) - at >= _LONGEST)
        if size > len(view) - start:
            break
        at = start + size
        messages += 1
        if ends is not None:
            ends.append(at)
    return Scan(messages, at)


def write_value(value: Any, depth: int = 0) -> bytes:
    """A google.protobuf.Value. TypeError, ValueError or RecursionError for what it cannot say.

    It has one kind of number, the double: one without a fraction is taken for an integer if it
    is one that a double counts (``EXACT``), so floats like that are refused.
    """
    kind = type(value)
    if kind is str:
        text: bytes = value.encode()
        return b"\x1a" + varint(len(text)) + text
    if kind is float:
        if value.is_integer() and _is_count(value):
            raise ValueError(f"{value} would be read as an integer")
        return b"\x11" + _DOUBLE.pack(value)
    if kind is int:
        if not -EXACT <= value <= EXACT:
            raise ValueError(f"no double holds {shown(value)} for certain")
        return b"\x11" + _DOUBLE.pack(value)
    if value is None:
        return b"\x08\x00"
    if kind is bool:
        return b"\x20\x01" if value else b"\x20\x00"
    if kind is not dict and kind is not list:
        raise TypeError(f"a Value cannot be {kind.__name__}")
    if depth >= MAX_DEPTH:
        raise TooDeep
    out: list[bytes] = []
    if kind is list:
        for item in value:
            inner = write_value(item, depth + 1)
            out += b"\x0a", varint(len(inner)), inner
    else:
        for key, item in value.items():
            if type(key) is not str:
                raise TypeError(f"a key cannot be {type(key).__name__}")
            name, inner = _named(key), write_value(item, depth + 1)
            size = varint(len(inner))
            out += b"\x0a", varint(len(name) + len(size) + len(inner)), name, size, inner
    body = b"".join(out)
    return (b"\x32" if kind is list else b"\x2a") + varint(len(body)) + body


@lru_cache(maxsize=1024)
def _named(key: str) -> bytes:
    """The bytes of a map's entry up to where the length of its value stands."""
    name = key.encode()
    return b"\x0a%b%b\x12" % (varint(len(name)), name)


def read_value(data: bytes, at: int, end: int, depth: int = 0) -> Any:
    """The google.protobuf.Value from ``at`` up to ``end``.

    Malformed where it is none; Unheld for a map with a key twice, and beyond ``MAX_DEPTH``.
    """
    start = at
    if at == end:
        raise Malformed("a Value of no kind", at)
    tag = data[at]
    at += 1
    value: Any
    if tag == _STRING:
        at, stop = read_length(data, at, end)
        value, at = read_text(data, at, stop), stop
    elif tag == _NUMBER:
        value, at = _read_number(data, at, end), at + 8
    elif tag in (_NULL, _BOOL):
        number, at = read_varint(data, at, end)
        if number > (tag == _BOOL):
            raise Malformed(f"{number} is no {'bool' if tag == _BOOL else 'null'}", start)
        value = bool(number) if tag == _BOOL else None
    elif tag in (_STRUCT, _LIST):
        if depth >= MAX_DEPTH:
            raise Unheld(depth_loss())
        at, stop = read_length(data, at, end)
        # Here and not in functions of their own: each level of nesting may take one frame only.
        if tag == _LIST:
            value = []
            for begin, close in _items(data, at, stop):
                value.append(read_value(data, begin, close, depth + 1))
        else:
            value = {}
            for key, begin, close in _fields(data, at, stop):
                if key in value:
                    raise Unheld(Difference(0, "$", f"{shown(key)} twice", "", "duplicate-keys"))
                value[key] = read_value(data, begin, close, depth + 1)
        at = stop
    else:
        raise Malformed(f"{data[start]:#04x} begins no field of a Value", start)
    if at != end:
        raise Malformed("a Value of more than one kind", at)
    return value


def _read_number(data: bytes, at: int, end: int) -> int | float:
    """The double at ``at``; an integer where it is one that a double counts."""
    if end - at < _DOUBLE.size:
        raise Malformed("it ends within a number", at - 1)
    value: float = _DOUBLE.unpack_from(data, at)[0]
    return int(value) if value.is_integer() and _is_count(value) else value


def _items(data: bytes, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Where each value of the ListValue from ``at`` up to ``end`` begins and ends."""
    while at < end:
        _expect(data, at, _ITEM, "ListValue")
        begin, at = read_length(data, at + 1, end)
        yield begin, at


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The keys of the Struct from ``at`` up to ``end``, and where the value of each begins and
    ends."""
    while at < end:
        _expect(data, at, _ITEM, "Struct")
        begin, at = read_length(data, at + 1, end)
        yield _entry(data, begin, at)


def _entry(data: bytes, at: int, end: int) -> tuple[str, int, int]:
    """The key of a map's entry, and where its value begins and ends."""
    start = at
    key = span = None
    while at < end:
        tag = data[at]
        at, stop = read_length(data, at + 1, end)
        if tag == _KEY and key is None:
            key = read_text(data, at, stop)
        elif tag == _VALUE and span is None:
            span = at, stop
        else:
            raise Malformed(f"{tag:#04x} begins no field of an entry", at)
        at = stop
    if span is None:
        raise Malformed("a key without a value", start)
    return key or "", *span


def read_text(data: bytes, at: int, end: int) -> str:
    try:
        return str(data[at:end], "utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"text that is not UTF-8 ({error.reason})", at + error.start) from None


def _expect(data: bytes, at: int, tag: int, where: str) -> None:
    if data[at] != tag:
        raise Malformed(f"{data[at]:#04x} begins no field of a {where}", at)


def _is_count(value: float) -> bool:
    """Whether ``value``, which has no fraction, is read as an integer."""
    return -EXACT <= value <= EXACT and (value != 0 or str(value) == "0.0")
