"""Where the numbers of a file with one array are, of which type, and what lies beside what."""

from __future__ import annotations

import re
from itertools import accumulate
from operator import mul
from typing import Any

from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.arrays.kinds import header_in
from serialpack.formats.arrays.types import dtype_of
from serialpack.formats.shared.large import MOST_COLUMNS, NumbersLayout
from serialpack.stages.stage import Buffer

#: A type as NumPy spells it (numpy.dtype.str): order, letter, bytes.
_DESCR = re.compile(r"([<>|=])([biufcmM])(\d+)(?:\[[0-9a-zA-Z/]+\])?")

#: The longest header of these: that of an .npy file of a structured type is not looked at beyond.
MOST_HEAD = 4096

#: Fewer numbers than this side by side are channels of one place, not a row.
_CHANNELS = 4

#: A column that is packed by itself has more numbers than this.
_ROWS = 64


def numbers_in(head: Buffer) -> NumbersLayout | None:
    """The array in a file that begins with ``head``, of which no more than ``MOST_HEAD`` bytes are
    looked at; None where there is none that is known."""
    header = header_in(bytes(head[:MOST_HEAD]))
    return None if header is None else layout_of(header)


def layout_of(header: ArrayHeader) -> NumbersLayout | None:
    """How the numbers lie of an array with this ``header``; None where its items are neither
    numbers nor records."""
    if header.size >= 1 << 31:
        return None
    # The lengths, first that of the dimension along which neighbours in the file lie.
    shape = list(header.shape if header.fortran else header.shape[::-1])
    match = _DESCR.fullmatch(header.descr) if isinstance(header.descr, str) else None
    if match is None:
        record, kinds = _fields_of(header.descr)
        match = _DESCR.fullmatch(kinds.pop()) if len(kinds) == 1 else None
        if match is None:
            layout = NumbersLayout(header.size, "u", 1, False, (1,), record)
            return layout.in_a_row() if record else None
        shape = [record // int(match[3]), *shape]
    letter, size = match[2], int(match[3])
    if letter == "c":
        letter, size, shape = "f", size // 2, [2, *shape]
    if (letter, size) == ("f", 16):  # fractions, and signs, exponents and padding
        letter, size, shape = "u", 8, [2, *shape]
    if size not in (1, 2, 4, 8) or header.size % size:
        return None
    long = [length for length in shape if length > 1]
    steps = list(accumulate(long, mul, initial=1))
    if len(long) > 1 and long[0] <= _CHANNELS:
        del steps[0]
    # A step over all of the last dimension would lead out of the array.
    lags = tuple(step for step in steps[:-1] if step < 1 << 31) or (1,)
    stacked = len(long) == 2 and long[1] < long[0] > _ROWS and size > 1
    stacked = stacked and long[1] <= MOST_COLUMNS
    return NumbersLayout(
        header.size,
        {"b": "u", "m": "i", "M": "i"}.get(letter, letter),
        size,
        match[1] == ">" and size > 1,
        lags[:4],
        stacked=long[1] if stacked else 0,
    )


def _fields_of(descr: object) -> tuple[int, set[str]]:
    """The bytes of a record, and the types of its fields and gaps; 0 and none where there are no
    records, nor text."""
    try:
        kind = dtype_of(descr)
    except ValueError:
        return 0, set()
    if kind.kind not in "VSU" or not 1 < kind.itemsize < 1 << 31:
        return 0, set()
    return kind.itemsize, _kinds_in(kind)


def _kinds_in(kind: Any) -> set[str]:
    if not kind.itemsize:
        return set()
    if kind.subdtype is not None:
        return _kinds_in(kind.subdtype[0])
    if kind.kind == "U":  # a number for each character
        return {f"{kind.str[0]}u4"}
    if kind.names is None:
        return {kind.str}
    found, at = set(), 0
    # A field that has a title is in ``fields`` under both.
    for field, offset, *_ in (kind.fields[name] for name in kind.names):
        found |= _kinds_in(field) | ({"gap"} if offset > at else set())
        at = offset + field.itemsize
    return found | ({"gap"} if kind.itemsize > at else set())
