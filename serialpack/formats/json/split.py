"""Splitting JSON arrays, and objects larger than a block, at their elements.

Two ways. Fast: guess a boundary near the block's end from how elements begin, and prove the
guess by parsing what stands before it as an array of raw elements, which counts them too (if
that parses, the boundary is truly between two elements). Exact: the NumPy scan, for maps and
wherever guessing fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from serialpack.formats.base import Span
from serialpack.formats.json.parse import before_white, behind_white
from serialpack.formats.shared.split import Boundary, Finder, Untold

if TYPE_CHECKING:
    from serialpack.formats.json.scan import JsonScan

_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+")
#: How an element begins, as far as it is likely to be the same for all.
_BEGIN = re.compile(rb'\{[ \t\r\n]*+"[^"\\]{0,64}+"|["{\[]')
_STRUCTURE = (b'"', b"[", b"{", b"]", b"}")
_ANCHOR = 48
_GUESSES = 3


#: How many values a member counts for of an object that comes in several blocks: it is read as a
#: map of its own, which takes as much memory.
_MEMBER = 3


def _new_scan() -> JsonScan:
    try:
        from serialpack.formats.json.scan import JsonScan
    except ImportError as error:
        raise Untold from error
    return JsonScan()


def _opening_of(view: memoryview) -> bytes:
    match = _HEAD.match(view)
    assert match
    return bytes(view[match.end() : match.end() + 1])


class JsonFinder(Finder):
    """Finds the elements of one JSON document.

    ``for_values``: all will be parsed, so that an object that is the whole document, and ends
    like one, need not be parsed here to be counted. It is not, where it is larger than a block
    of ``block_size`` bytes: then its members are records.
    """

    spare = b"["
    takes_bytes = True
    marks = b",:[{"

    def __init__(self, block_size: int, *, for_values: bool = False) -> None:
        self._block_size = block_size
        self._for_values = for_values
        self._kind = b""  # the opening bracket; b"" before it has been seen, b"-" if none
        self._closed = False
        self._misses = 0
        self._scan: JsonScan | None = None
        self._begin = b""
        self._anchor = b""
        self._anchor_comma = 0

    def most_bytes(self, view: memoryview, most: int) -> int | None:
        opening = self._kind or _opening_of(view)
        if self._for_values and opening != b"[":
            # An object that is parsed is one value, unless it is larger than a block.
            if opening != b"{" or not (self._kind or len(view) > self._block_size):
                return None
            most //= _MEMBER
        return super().most_bytes(view, most)

    def _enter(self, buf: bytearray, start: int, limit: int) -> tuple[int, int]:
        """Where an opening bracket stands (-1: nowhere), and where the first element begins."""
        if self._kind:
            return (0 if start == 1 else -1), start
        match = _HEAD.match(buf, start, limit)
        assert match
        opening = match.end()
        if opening == limit:
            return -1, limit
        self._kind = bytes(buf[opening : opening + 1])
        if self._kind not in (b"[", b"{"):
            self._kind = b"-"
            return -1, opening
        return opening, behind_white(buf, opening + 1, limit)

    def last(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        first_block = not self._kind
        opening, element = self._enter(buf, start, limit)
        boundary = self._last(buf, opening, element, limit)
        if boundary is None and first_block:
            self._kind = b""  # asked again, in a larger window
        return boundary

    def _last(self, buf: bytearray, opening: int, element: int, limit: int) -> Boundary | None:
        if self._closed:
            return self._after_close(buf, element, limit, 0)
        if self._kind in (b"", b"-") or element >= limit:
            return None
        if self._kind == b"[" and self._misses < 2:
            boundary = self._flat(buf, element, limit) or self._guess(buf, opening, element, limit)
            if boundary is not None:
                self._misses = 0
                return boundary
            self._misses += 1
        return self._exact(buf, element, limit, first=False)

    def first(self, buf: bytearray, start: int, limit: int) -> Boundary | None:
        first_block = not self._kind
        _, element = self._enter(buf, start, limit)
        boundary = None
        if self._kind not in (b"", b"-") and element < limit:
            boundary = self._exact(buf, element, limit, first=True)
        if boundary is None and first_block:
            self._kind = b""
        return boundary

    def _flat(self, buf: bytearray, element: int, limit: int) -> Boundary | None:
        """The last boundary among numbers and literals alone, where every comma is one; else
        None."""
        if any(buf.find(mark, element, limit) >= 0 for mark in _STRUCTURE):
            return None
        comma = limit
        while (comma := buf.rfind(b",", element, comma)) >= 0:
            end = behind_white(buf, comma + 1, limit + 1)
            if end <= limit:
                return Boundary(end, buf.count(b",", element, comma + 1))
        return None

    def _guess(self, buf: bytearray, opening: int, element: int, limit: int) -> Boundary | None:
        for comma, end in self._candidates(buf, element, limit):
            count = self._prove(buf, opening, element, comma)
            if count:
                if not self._anchor:
                    self._learn(buf, comma, end)
                return Boundary(end, count)
        return None

    def _candidates(self, buf: bytearray, element: int, limit: int) -> Iterator[tuple[int, int]]:
        """Guesses at a comma between elements and the element behind it, from the end."""
        tried = set()
        at = limit + len(self._begin)
        if self._anchor:
            for _ in range(_GUESSES):
                at = buf.rfind(self._anchor, element, at)
                if at < 0:
                    break
                comma = at + self._anchor_comma
                end = behind_white(buf, comma + 1, limit + 1) if comma < limit else limit + 1
                if end <= limit:
                    tried.add(comma)
                    yield comma, end
                at += len(self._anchor) - 1
        match = _BEGIN.match(buf, element, limit)
        if match is None:
            return
        self._begin = match[0]
        at = limit + len(self._begin)
        for _ in range(2 * _GUESSES):
            at = buf.rfind(self._begin, element + 1, at)
            if at < 0:
                return
            comma = before_white(buf, at) - 1
            if buf[comma] == 0x2C and comma > element and comma not in tried:
                yield comma, at
            at += len(self._begin) - 1

    def _learn(self, buf: bytearray, comma: int, end: int) -> None:
        """Remember the bytes around a boundary: they tell it from the commas further in."""
        before = before_white(buf, comma) - 1
        closing = before
        while closing > 0 and before - closing < _ANCHOR and buf[closing] in b"]} \t\r\n":
            closing -= 1
        self._anchor = bytes(buf[closing + 1 : end]) + self._begin
        self._anchor_comma = comma - closing - 1

    def _prove(self, buf: bytearray, opening: int, element: int, comma: int) -> int | None:
        """How many elements stand between ``element`` and ``comma``; None: it is no boundary."""
        if opening < 0:
            return _count(b"".join((b"[", memoryview(buf)[element:comma], b"]")))
        # A closing bracket takes the comma's place meanwhile: nobody has this block yet.
        buf[comma] = 0x5D
        try:
            return _count(memoryview(buf)[opening : comma + 1])
        finally:
            buf[comma] = 0x2C

    def _exact(self, buf: bytearray, element: int, limit: int, *, first: bool) -> Boundary | None:
        found, count, close = None, 0, -1
        for commas, below in _new_scan().pieces(buf, element, limit):
            close = below
            for i in range(len(commas)) if first else range(len(commas) - 1, -1, -1):
                end = behind_white(buf, int(commas[i]) + 1, limit + 1)
                if end <= limit and end < len(buf):
                    found = Boundary(end, count + i + 1)
                    break
            if first and found is not None:
                return found
            count += len(commas)
        if found is None and close >= 0:
            whole = self._kind == b"{" and limit == len(buf) and count == 0
            return self._after_close(buf, close + 1, limit, count + (whole or close > element))
        return found

    def _after_close(self, buf: bytearray, at: int, limit: int, records: int) -> Boundary:
        """The boundary behind a closing bracket, from which on only white space may be left."""
        if behind_white(buf, at, limit) != limit:
            raise Untold
        self._closed = True
        return Boundary(limit, records)

    def rest(self, buf: bytearray, start: int) -> int | None:
        end = max(before_white(buf, len(buf)), start)
        if self._closed:
            return 0 if end == start else None
        whole = not self._kind
        opening, element = self._enter(buf, start, end)
        if self._kind != b"[" and (whole or self._kind == b"-"):
            start = element if opening < 0 else opening
            return _one(buf, start, end, prove=not self._for_values)
        if self._kind == b"[" and buf[end - 1] == 0x5D:
            if opening < 0:
                count = _count(b"".join((b"[", memoryview(buf)[start:end])))
            else:
                count = _count(memoryview(buf)[opening:end])
            if count is not None:
                return count
        return self._count_to(buf, element, end)

    def _count_to(self, buf: bytearray, element: int, end: int) -> int | None:
        """The elements up to the closing bracket, which must be the last byte before ``end``."""
        if not buf.endswith(b"]" if self._kind == b"[" else b"}", element, end):
            return None
        count, close = 0, -1
        behind = element
        for commas, below in _new_scan().pieces(buf, element, end):
            close = below
            count += len(commas)
            if len(commas):
                behind = int(commas[-1]) + 1
        if close != end - 1:
            return None
        if behind_white(buf, behind, end) == close:
            return None if count else 0
        return count + 1

    def ends(self, buf: bytearray, start: int, limit: int, *, begin: bool) -> int | None:
        if begin:
            self._scan = _new_scan()
            _, start = self._enter(buf, start, limit)
        if self._scan is None or self._kind == b"-":
            return None
        for commas, close in self._scan.pieces(buf, start, limit):
            if len(commas):
                return behind_white(buf, int(commas[0]) + 1, limit)
            if close >= 0:
                self._closed = True
                self._scan = None
        return None


def _one(buf: bytearray, start: int, end: int, *, prove: bool) -> int | None:
    """1 where the text is one document, as far as can be told without reading it strictly."""
    if start >= end or (buf[start] == 0x7B and buf[end - 1] != 0x7D):
        return None
    if not prove:
        return 1
    # As an array of one, which ``_count`` parses; NumPy is imported only where that fails.
    if buf[start] != 0x7B or _count(b"".join((b"[", memoryview(buf)[start:end], b"]"))) == 1:
        return 1
    scan = _new_scan()
    for _, close in scan.pieces(buf, start + 1, end):
        if close >= 0:
            return 1 if close == end - 1 and buf[close] == 0x7D else None
    return None


#: Bytes that the object for an element takes, with its place in a list; about.
_OBJECT = 80

#: Bytes that the objects for elements may take, beside twice their text.
_ROOM = 32 << 20

#: Commas are counted in so many bytes at a time.
_COUNTED = 1 << 20

#: Smaller texts the standard library parses sooner than msgspec is imported; but of many texts no
#: more bytes in all, as msgspec parses ten times as fast.
_SMALL = 32 << 10
_SMALL_IN_ALL = 1 << 20


class _Parsed:
    """``so_far``: the bytes that this process has parsed by the standard library."""

    so_far = 0


def _count(text: bytes | memoryview) -> int | None:
    """The elements of a JSON array; None where it is none, or one that msgspec does not take."""
    try:
        if len(text) < _SMALL and _Parsed.so_far < _SMALL_IN_ALL:
            _Parsed.so_far += len(text)
            return len(json.loads(str(text, "latin-1")))
        # An element has a byte at least: so short texts have not too many, and need no counting.
        if _too_many(len(text), len(text)) and _too_many(_commas(text), len(text)):
            from serialpack.formats.json.scan import count_elements

            return count_elements(text)
        return len(_raw_list().decode(text))
    except (ValueError, RecursionError):
        return None


def _too_many(elements: int, size: int) -> bool:
    """Whether ``elements`` in ``size`` bytes would take too much memory as an object each."""
    return _OBJECT * elements > 2 * size + _ROOM


def _commas(text: bytes | memoryview) -> int:
    """The commas in a text, which has at most one element more, about."""
    pieces = range(0, len(text), _COUNTED)
    return sum(bytes(text[at : at + _COUNTED]).count(b",") for at in pieces)


_GAP = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*")


def element_range(text: bytes, at: int, end: int, span: Span, count: int) -> Span | None:
    """Where the elements ``span`` of the ``count`` in ``text[at:end]`` stand, without brackets.

    None where there are not as many, too many, or msgspec does not take them.
    """
    if _too_many(count, end - at):
        return None
    try:
        elements = _raw_list().decode(b"[%b]" % text[at:end])
    except (ValueError, RecursionError):
        return None
    if len(elements) != count:
        return None
    begin = at
    for number, element in enumerate(elements[: span[1]]):
        at = _GAP.match(text, at).end() if number else at  # type: ignore[union-attr]
        if number == span[0]:
            begin = at
        at += len(memoryview(element))
    return begin, at


@cache
def _raw_list() -> Any:
    import msgspec

    return msgspec.json.Decoder(list[msgspec.Raw])
