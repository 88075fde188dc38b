"""Paths as patterns and numbers: ``2025/img-0007.jpg`` is a pattern with two numbers in it.

Layout: ``man/spk.5``, ROWS. Files of one folder are mostly called after one pattern, which is
stored once; what differs are numbers, which take fewer bytes in a series than their digits do.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

#: A number: without zeros before it; of so many digits; of so many of base 16, small or capital
#: letters. Then what says that the next byte is one of a path.
_PLAIN, _DIGITS, _SMALL, _CAPITAL, _ITSELF = range(1, 6)

#: The most digits that 64 bits hold.
_MOST_DIGITS, _MOST_HEX = 19, 16

#: What numbers there are in a path: an UUID; digits of base 16 with at least one letter and one
#: of 0 to 9; digits of base 10; and what has to be told from a number.
_NUMBERS = re.compile(
    rb"(?P<uuid>(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f]))"
    rb"|(?<![0-9A-Za-z])(?:"
    rb"(?P<small>(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{4,})"
    rb"|(?P<capital>(?=[A-F]*[0-9])(?=[0-9]*[A-F])[0-9A-F]{4,}))(?![0-9A-Za-z])"
    rb"|(?P<digits>[0-9]+)"
    rb"|(?P<itself>[\x01-\x05])"
)

_MARKS = re.compile(rb"[\x01-\x05]")

#: What stands for digits before it is known how many there are elsewhere: no path has it.
_DIGITS_HERE = b"\0"

#: Mark, base and most digits of numbers that may be cut into several.
_LONG = {
    "digits": (_DIGITS, 10, _MOST_DIGITS),
    "small": (_SMALL, 16, _MOST_HEX),
    "capital": (_CAPITAL, 16, _MOST_HEX),
}


class Patterns(NamedTuple):
    """The paths of entries. ``patterns``: those that differ; ``of``: which one each path has;
    ``fields``: the first numbers of all paths that have one, then their second ones, ..."""

    patterns: Sequence[bytes]
    of: Sequence[int]
    fields: Sequence[Sequence[int]]


class _Digits(NamedTuple):
    """The digits that stand at one place in the paths that are alike but for their numbers.

    ``size``: how many, 0 where not everywhere as many; ``padded``: a zero stands before some.
    """

    size: int
    padded: bool


def patterns_of(paths: Sequence[bytes]) -> Patterns:
    """The patterns of ``paths``, in the order in which they come."""
    taken = [_taken_apart(path) for path in paths]
    alike: dict[bytes, list[_Digits]] = {}
    for shape, texts, _ in taken:
        here = [_Digits(len(text), text[:1] == b"0" and text != b"0") for text in texts]
        if (known := alike.setdefault(shape, here)) is not here:
            alike[shape] = [
                _Digits(a.size if a.size == b.size else 0, a.padded or b.padded)
                for a, b in zip(known, here, strict=True)
            ]
    patterns: dict[bytes, int] = {}
    of: list[int] = []
    fields: list[list[int]] = []
    for shape, texts, numbers in taken:
        pattern = shape
        if texts:
            first, *rest = shape.split(_DIGITS_HERE)
            marks = map(_mark, texts, alike[shape])
            pattern = b"".join((first, *(m + r for m, r in zip(marks, rest, strict=True))))
        of.append(patterns.setdefault(pattern, len(patterns)))
        while len(fields) < len(numbers):
            fields.append([])
        for field, number in zip(fields, numbers, strict=False):
            field.append(number)
    return Patterns([*patterns], of, fields)


def _mark(text: bytes, digits: _Digits) -> bytes:
    """What stands for the digits ``text`` in a pattern."""
    padded = digits.padded and (digits.size > 0 or (text[:1] == b"0" and text != b"0"))
    return bytes([_DIGITS, len(text)]) if padded else bytes([_PLAIN])


def _taken_apart(path: bytes) -> tuple[bytes, list[bytes], list[int]]:
    """The shape of ``path``: its pattern, with ``_DIGITS_HERE`` for digits of base 10; these; and
    all numbers in it."""
    pieces: list[bytes] = []
    texts: list[bytes] = []
    numbers: list[int] = []
    at = 0
    for found in _NUMBERS.finditer(path):
        begin, end = found.span()
        text = path[begin:end]
        pieces.append(path[at:begin])
        at = end
        kind = found.lastgroup
        if kind == "digits" and len(text) <= _MOST_DIGITS:
            pieces.append(_DIGITS_HERE)
            texts.append(text)
            numbers.append(int(text))
        elif kind == "uuid":
            for n, part in enumerate(text.split(b"-")):
                pieces.append(b"-" * (n > 0) + bytes([_SMALL, len(part)]))
                numbers.append(int(part, 16))
        elif kind == "itself":
            pieces.append(bytes([_ITSELF]) + text)
        else:
            mark, base, most = _LONG[kind or ""]
            for place in range(0, len(text), most):
                part = text[place : place + most]
                pieces.append(bytes([mark, len(part)]))
                numbers.append(int(part, base))
    pieces.append(path[at:])
    return b"".join(pieces), texts, numbers


class Parsed(NamedTuple):
    """A pattern to be filled: ``template`` with a ``%`` for each number, which is below its
    ``limits``."""

    template: bytes
    limits: tuple[int, ...]

    def filled(self, numbers: Sequence[int]) -> bytes:
        """The path; ValueError where a number has more digits than there is room for."""
        for number, limit in zip(numbers, self.limits, strict=True):
            if number >= limit:
                raise ValueError("a number of a path with too many digits")
        return self.template % tuple(numbers) if self.limits else self.template


def parsed(pattern: bytes) -> Parsed:
    """What ``pattern`` says; ValueError where it breaks a rule."""
    if _MARKS.search(pattern) is None:
        return Parsed(pattern, ())
    pieces: list[bytes] = []
    limits: list[int] = []
    at = 0
    while (found := _MARKS.search(pattern, at)) is not None:
        pieces.append(pattern[at : found.start()].replace(b"%", b"%%"))
        mark, at = found[0][0], found.end()
        if mark == _PLAIN:
            pieces.append(b"%d")
            limits.append(1 << 64)
            continue
        if at == len(pattern):
            raise ValueError("a pattern that breaks off")
        size, at = pattern[at], at + 1
        if mark == _ITSELF:
            pieces.append(bytes([size]).replace(b"%", b"%%"))
            continue
        base, most = (10, _MOST_DIGITS) if mark == _DIGITS else (16, _MOST_HEX)
        if not 1 <= size <= most:
            raise ValueError(f"a pattern with a number of {size} digits")
        letter = {_DIGITS: b"d", _SMALL: b"x", _CAPITAL: b"X"}[mark]
        pieces.append(b"%%0%d%s" % (size, letter))
        limits.append(base**size)
    pieces.append(pattern[at:].replace(b"%", b"%%"))
    # Without a number nothing is filled in, and a % stands for itself.
    template = b"".join(pieces)
    return Parsed(template if limits else template.replace(b"%%", b"%"), tuple(limits))
