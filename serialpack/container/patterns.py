"""Paths of entries as patterns and numbers: ``2025/img-0007.jpg`` is a pattern with two numbers.

Files of one folder are often called after one pattern, which is stored once; what differs are the
numbers, which take fewer bytes in a series (``series``) than as digits. Layout: man/spk.5, ROWS.
"""

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

#: Bytes with a meaning in a pattern. The first four stand for a number: decimal without leading
#: zeros; decimal with as many digits as the next byte says; hexadecimal with so many digits, in
#: small or in capital letters. The fifth says that the next byte is a byte of the path, though it
#: is one of these.
_PLAIN, _DIGITS, _SMALL, _CAPITAL, _ITSELF = range(1, 6)

#: The most digits that 64 bits hold.
_MOST_DIGITS, _MOST_HEX = 19, 16

#: A UUID, or hexadecimal digits with at least one letter and at least one of 0 to 9.
_HEX = re.compile(
    rb"(?<![0-9A-Za-z])(?:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    rb"|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{4,}"
    rb"|(?=[A-F]*[0-9])(?=[0-9]*[A-F])[0-9A-F]{4,})(?![0-9A-Za-z])"
)

_DIGITS_TEXT = re.compile(rb"[0-9]{1,%d}" % _MOST_DIGITS)

#: One of these bytes; and in a pattern one of them with the byte that belongs to it. The group of
#: the second holds those that stand for a number.
_MARKS = re.compile(rb"[\x01-\x05]")
_STANDS = re.compile(rb"\x05.|(\x01|[\x02-\x04].)", re.DOTALL)

#: Separates paths that are joined to one text; no path contains it.
_BETWEEN = b"\0"


class Patterns(NamedTuple):
    """Paths, taken apart. ``patterns``: each pattern once; ``of``: for each path the place of its
    pattern among these; ``fields``: first the first number of each path that has one, in the order
    of the paths, then the second number of each path that has two, and so on."""

    patterns: Sequence[bytes]
    of: Sequence[int]
    fields: Sequence[Sequence[int]]


def patterns_of(paths: Sequence[bytes]) -> Patterns:
    """``paths`` taken apart; patterns come in the order in which they are met."""
    if not paths:
        return Patterns([], [], [])
    # All paths are joined to one text: the same for each path by itself would take far longer.
    text = _MARKS.sub(b"\x05\\g<0>", _BETWEEN.join(paths))
    hexes: list[int] = []
    text = _HEX.sub(lambda found: _hex_marks(found, hexes), text)
    digits = _DIGITS_TEXT.findall(text)
    shapes = _DIGITS_TEXT.sub(bytes([_PLAIN]), text).split(_BETWEEN)
    kinds = {shape: _kinds(shape) for shape in {*shapes}}
    most = max(map(len, kinds.values()))
    if not hexes and min(map(len, kinds.values())) == most:
        plain = [*map(int, digits)]
        fields = [plain[place::most] for place in range(most)]
    else:
        fields = [[] for _ in range(most)]
        numbers = {True: map(int, digits), False: iter(hexes)}
        for shape in shapes:
            for field, is_plain in zip(fields, kinds[shape], strict=False):
                field.append(next(numbers[is_plain]))
    if any(map(_is_padded, digits)):
        shapes = _padded(shapes, {shape: sum(kinds[shape]) for shape in kinds}, digits)
    patterns = {pattern: number for number, pattern in enumerate(dict.fromkeys(shapes))}
    return Patterns([*patterns], [patterns[shape] for shape in shapes], fields)


def _hex_marks(found: re.Match[bytes], numbers: list[int]) -> bytes:
    """What stands in the pattern for the hexadecimal digits that were ``found`` (a UUID keeps its
    hyphens); their values are appended to ``numbers``."""
    text, marks = found[0], b""
    mark = _CAPITAL if text.isupper() else _SMALL
    for n, part in enumerate(text.split(b"-")):
        marks += b"-" * (n > 0)
        for at in range(0, len(part), _MOST_HEX):
            piece = part[at : at + _MOST_HEX]
            marks += bytes([mark, len(piece)])
            numbers.append(int(piece, 16))
    return marks


def _kinds(shape: bytes) -> list[bool]:
    """For each number in the pattern ``shape``, whether it is decimal."""
    marks = _STANDS.findall(shape) if _MARKS.search(shape) else []
    return [mark[0] == _PLAIN for mark in marks if mark]


def _is_padded(digits: bytes) -> bool:
    """Whether a decimal number has leading zeros."""
    return digits[:1] == b"0" and len(digits) > 1


def _padded(shapes: list[bytes], counts: dict[bytes, int], digits: list[bytes]) -> list[bytes]:
    """The patterns of paths of which some have numbers with leading zeros.

    ``shapes``: the patterns as if none had any; ``counts``: how many decimal numbers each shape
    has; ``digits``: these numbers of all paths, as they are spelled. Where the numbers at one place
    of a shape all have the same width, all get this width, and one pattern serves for all.
    """
    ends = accumulate((counts[shape] for shape in shapes), initial=0)
    rows: dict[bytes, list[list[bytes]]] = {}
    for shape, (begin, end) in zip(shapes, pairwise(ends), strict=True):
        rows.setdefault(shape, []).append(digits[begin:end])
    patterns = {shape: iter(_padded_alike(shape, each)) for shape, each in rows.items()}
    return [next(patterns[shape]) for shape in shapes]


def _padded_alike(shape: bytes, rows: list[list[bytes]]) -> list[bytes]:
    """``_padded`` for paths of one ``shape``; ``rows``: the decimal numbers of each path."""
    columns: list[list[bytes]] = []
    for column in zip(*rows, strict=True):
        marks = [bytes([_DIGITS, len(d)]) if _is_padded(d) else bytes([_PLAIN]) for d in column]
        if len({*marks}) > 1 and len({*map(len, column)}) == 1:
            marks = [max(marks)] * len(marks)
        columns.append(marks)
    known: dict[tuple[bytes, ...], bytes] = {}
    found: list[bytes] = []
    for each in zip(*columns, strict=True):
        if each not in known:
            left = iter(each)
            known[each] = _STANDS.sub(
                lambda stands, left=left: next(left) if stands[1] == b"\1" else stands[0],  # type: ignore[misc]
                shape,
            )
        found.append(known[each])
    return found or [shape] * len(rows)


class Parsed(NamedTuple):
    """A pattern that was read. ``template``: the pattern with a ``%`` conversion for each number;
    ``limits``: for each number the least one that is too large."""

    template: bytes
    limits: tuple[int, ...]

    def filled(self, numbers: Sequence[int]) -> bytes:
        """The path with these ``numbers``; ValueError where one has more digits than its place."""
        for number, limit in zip(numbers, self.limits, strict=True):
            if number >= limit:
                raise ValueError("a number of a path with too many digits")
        return self.template % tuple(numbers) if self.limits else self.template


def parsed(pattern: bytes) -> Parsed:
    """``pattern`` as a template with its limits; ValueError where it breaks a rule."""
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
