"""JSON text to values: a fast way, and a strict way that knows every place.

The fast way is msgspec: strict in syntax, exact in integers of any size and in doubles. What it
does not take (lone surrogates, an error) goes the strict way, on the standard library's scanner,
which says where the error is and why a value cannot be held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

from serialpack.errors import SyntaxInputError
from serialpack.formats.base import MAX_DEPTH, Difference, SourceBlock

#: What the records of a block are: elements of an array, members of a map, one document.
Kind = Literal["a", "m", "d"]

OPENING = {"a": "[", "m": "{", "d": ""}
CLOSING = {"a": "]", "m": "}", "d": ""}

BOM = b"\xef\xbb\xbf"
_WHITE = re.compile(r"[ \t\n\r]*+")
_WHITE_BYTES = b" \t\n\r"
_MEMBER = re.compile(rb'[ \t\n\r]*+"(?:[^"\\]++|\\.)*+"[ \t\n\r]*+:', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_CONSTANT = re.compile(r'"(?:[^"\\]++|\\.)*+"|(NaN|-?Infinity)', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))

#: Turns text at a position into a value and the position behind it.
Scanner = Callable[[str, int], tuple[Any, int]]


class Frame(NamedTuple):
    """A block of a JSON document, taken apart: its records stand in ``data[start:end]``."""

    kind: Kind
    start: int
    end: int


def kind_of(data: bytes, *, first: bool, last: bool) -> Kind:
    """What the records of a block are; its text tells, with its place."""
    if not first:
        return "m" if _MEMBER.match(data) else "a"
    begin = data.removeprefix(BOM)[:4096].lstrip(_WHITE_BYTES) or data.lstrip(_WHITE_BYTES)
    if begin.startswith(b"["):
        return "a"
    return "m" if begin.startswith(b"{") and not last else "d"


def frame(data: bytes, *, first: bool, last: bool) -> Frame:
    """Where the records stand between what comes before and behind them."""
    kind = kind_of(data, first=first, last=last)
    start, end = 0, len(data.rstrip(_WHITE_BYTES))
    if first:
        start = len(BOM) if data.startswith(BOM) else 0
        start = _behind_white(data, start)
        if kind != "d":
            start = _behind_white(data, start + 1)
    if kind != "d" and end and data[end - 1] in b",]}":
        end -= 1
        while end > start and data[end - 1] in _WHITE_BYTES:
            end -= 1
    return Frame(kind, min(start, max(end, int(first and kind != "d"))), end)


def _behind_white(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in _WHITE_BYTES:
        at += 1
    return at
