"""How deep JSON text is nested: told from its brackets and quotes."""

from __future__ import annotations

import re

from serialpack.depth._limit import MAX_DEPTH, TooDeep

_NO_MARKS = bytes({*range(256)} - {*b'[]{}"'})
#: An escaped backslash or quote. Where there are few, a regular expression takes them out faster
#: than going over all the text twice.
_ESCAPE = re.compile(rb'\\[\\"]')
#: Bytes at the front in which they are counted.
_HEAD = 1 << 16
#: A string of which only the brackets are left. One without an end goes on to that of the text.
_STRING = re.compile(rb'"[^"]*+"?')
#: A step down or up for each bracket, as a signed byte.
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
#: Brackets that are counted together: the depths among so few are small numbers.
_PIECE = 1 << 16


def check_json(data: bytes) -> None:
    """TooDeep for JSON texts, one after another, of which one is nested too deeply."""
    if json_depth(data)[0] > MAX_DEPTH:
        raise TooDeep


def json_depth(data: bytes) -> tuple[int, int]:
    """How deep containers nest in JSON texts, and how many are still open at the end.

    Exact where the first is over ``MAX_DEPTH``; otherwise the first is a bound, and the second 0.
    Of text that breaks the syntax, right as far as a reader comes.
    """
    if len(data) <= MAX_DEPTH:
        return len(data), 0
    marks = _unescaped(data).translate(None, _NO_MARKS)
    brackets = marks.translate(None, b'"')
    if len(brackets) <= MAX_DEPTH:
        return len(brackets), 0
    if len(brackets) < len(marks):
        brackets = _outside(marks)
    # Brackets that close at once are taken out, so that a few rounds leave nothing of usual text.
    # A round takes two levels out where a list stands in a map.
    rest, rounds, before = brackets, 0, 2 * len(brackets)
    while rest and before - len(rest) > before >> 4:
        before = len(rest)
        rest = rest.replace(b"[]", b"").replace(b"{}", b"")
        rounds += 1
    if 2 * rounds + len(rest) <= MAX_DEPTH:
        return 2 * rounds + len(rest), 0
    return _deepest(brackets.translate(_STEPS))


def _deepest(steps: bytes) -> tuple[int, int]:
    """How deep ``steps`` lead at most, and how deep at their end."""
    import numpy as np

    depth = deepest = 0
    for start in range(0, len(steps), _PIECE):
        piece = np.frombuffer(steps, np.int8, min(_PIECE, len(steps) - start), start)
        depths = np.cumsum(piece, dtype=np.int32)
        deepest = max(deepest, depth + int(depths.max()))
        depth += int(depths[-1])
    return deepest, depth


def _unescaped(data: bytes) -> bytes:
    """JSON text in which a quote always begins or ends a string: escaped ones are taken out."""
    # To look for one byte is far faster than to look for two.
    if b"\\" not in data:
        return data
    if data.count(b"\\", 0, _HEAD) < min(len(data), _HEAD) >> 5:
        return _ESCAPE.sub(b"", data)
    return data.replace(b"\\\\", b"").replace(b'\\"', b"")


def _outside(marks: bytes) -> bytes:
    """The brackets outside of strings, of ``marks``, which are only the brackets and quotes of a
    text."""
    # Two quotes beside each other change nothing: what stands behind them is as inside as before.
    marks = marks.replace(b'""', b"")
    return _STRING.sub(b"", marks) if b'"' in marks else marks
