"""How deep JSON text is nested, told from its brackets and quotes alone.

All other bytes are taken out first, by C code; what is left is mostly little.
"""

from __future__ import annotations

import re

from serialpack.depth._limit import MAX_DEPTH, TooDeep

#: All bytes but brackets and quotes.
_NO_MARKS = bytes({*range(256)} - {*b'[]{}"'})
#: An escaped backslash or quote. Where there are few of them, this regular expression takes them
#: out faster than two calls of ``bytes.replace``, each of which goes over all the text.
_ESCAPE = re.compile(rb'\\[\\"]')
#: How many bytes at the front tell whether there are few.
_HEAD = 1 << 16
#: A string, of whose content only the brackets are left. One without an end reaches to the end of
#: the text.
_STRING = re.compile(rb'"[^"]*+"?')
#: Turns brackets into steps, as signed bytes: 1 for an opening bracket, -1 for a closing one.
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
#: How many brackets are added up at a time.
_PIECE = 1 << 16


def check_json(data: bytes) -> None:
    """TooDeep where one of the JSON texts in ``data``, which follow each other, is too deep."""
    if json_depth(data)[0] > MAX_DEPTH:
        raise TooDeep


def json_depth(data: bytes) -> tuple[int, int]:
    """The depth of the JSON texts in ``data``, and how many brackets are still open at its end.

    Both are exact where the depth is over ``MAX_DEPTH``. Otherwise the first number is only an
    upper bound that is not over ``MAX_DEPTH``, and the second is 0. Of text that is not valid JSON,
    the depth is right up to the place at which a reader stops.
    """
    if len(data) <= MAX_DEPTH:
        return len(data), 0
    marks = _unescaped(data).translate(None, _NO_MARKS)
    brackets = marks.translate(None, b'"')
    if len(brackets) <= MAX_DEPTH:
        return len(brackets), 0
    if len(brackets) < len(marks):
        brackets = _outside(marks)
    # Pairs of brackets with nothing between them are taken out, again and again: a few rounds leave
    # nothing of usual text. One round may take out two levels (a list that stands alone in a map).
    rest, rounds, before = brackets, 0, 2 * len(brackets)
    while rest and before - len(rest) > before >> 4:
        before = len(rest)
        rest = rest.replace(b"[]", b"").replace(b"{}", b"")
        rounds += 1
    if 2 * rounds + len(rest) <= MAX_DEPTH:
        return 2 * rounds + len(rest), 0
    return _deepest(brackets.translate(_STEPS))


def _deepest(steps: bytes) -> tuple[int, int]:
    """The greatest sum of the first so many of ``steps`` (signed bytes), and the sum of them
    all."""
    import numpy as np

    depth = deepest = 0
    for start in range(0, len(steps), _PIECE):
        piece = np.frombuffer(steps, np.int8, min(_PIECE, len(steps) - start), start)
        depths = np.cumsum(piece, dtype=np.int32)
        deepest = max(deepest, depth + int(depths.max()))
        depth += int(depths[-1])
    return deepest, depth


def _unescaped(data: bytes) -> bytes:
    """``data`` without its escaped quotes, so that each quote begins or ends a string."""
    # To search for one byte is far faster than to search for two.
    if b"\\" not in data:
        return data
    if data.count(b"\\", 0, _HEAD) < min(len(data), _HEAD) >> 5:
        return _ESCAPE.sub(b"", data)
    return data.replace(b"\\\\", b"").replace(b'\\"', b"")


def _outside(marks: bytes) -> bytes:
    """The brackets that stand outside of strings; ``marks``: all brackets and quotes of a text."""
    # Two quotes beside each other can go: whether the rest is inside of a string stays as it was.
    marks = marks.replace(b'""', b"")
    return _STRING.sub(b"", marks) if b'"' in marks else marks
