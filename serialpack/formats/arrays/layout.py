"""Where the numbers of a file with one array are, of which type, and what lies beside what.

Read from the first bytes without a library: NumPy's .npy (numpy.lib.format), NIfTI-1 in one file
(nifti1.h, 2007) and MRC (Cheng et al., MRC2014, 2015).
"""

from __future__ import annotations

import re
import struct
from itertools import accumulate
from operator import mul
from typing import NamedTuple

from serialpack.formats.arrays.header import MAGIC, read_header
from serialpack.formats.shared.document import Malformed

#: The types of numbers by their codes in NIfTI and in MRC: letter and bytes of an item.
_NIFTI = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 32: "c8", 64: "f8", 256: "i1"}
_NIFTI |= {512: "u2", 768: "u4", 1024: "i8", 1280: "u8", 1792: "c16"}
_MRC = {0: "i1", 1: "i2", 2: "f4", 4: "c8", 6: "u2", 12: "f2"}

#: A type as NumPy spells it (numpy.dtype.str): order, letter, bytes.
_DESCR = re.compile(r"([<>|=])([biufcmM])(\d+)(?:\[[0-9a-zA-Z/]+\])?")

#: The longest header of these: that of an .npy file of a structured type is not looked at beyond.
MOST_HEAD = 4096

#: Fewer numbers than this side by side are channels of one place, not a row.
_CHANNELS = 4


class NumbersLayout(NamedTuple):
    """``start``: bytes before the numbers. ``kind``: ``i``, ``u`` or ``f``. ``size``: bytes of a
    number, of which a complex one has two. ``big``: whether its first byte is the highest.

    ``lags``: how many numbers on its neighbours are, in up to three dimensions.
    """

    start: int
    kind: str
    size: int
    big: bool
    lags: tuple[int, ...]


def numbers_in(head: bytes) -> NumbersLayout | None:
    """The array in a file that begins with ``head``; None where there is none that is known."""
    try:
        if head.startswith(MAGIC):
            return _npy(head)
        if head[344:348] == b"n+1\0":
            return _nifti(head)
        if head[208:212] == b"MAP ":
            return _mrc(head)
    except (struct.error, OverflowError, ValueError):  # a header that lies is one of bytes
        return None
    return None


def _npy(head: bytes) -> NumbersLayout | None:
    try:
        header = read_header(head)
    except Malformed:
        return None
    match = _DESCR.fullmatch(header.descr) if isinstance(header.descr, str) else None
    if match is None:
        return None
    shape = header.shape if header.fortran else header.shape[::-1]
    return _layout(header.size, match[2] + match[3], match[1] == ">", shape)


def _nifti(head: bytes) -> NumbersLayout | None:
    order = "<" if struct.unpack_from("<i", head)[0] == 348 else ">"
    dims = struct.unpack_from(order + "8h", head, 40)
    (kind,) = struct.unpack_from(order + "h", head, 70)
    (start,) = struct.unpack_from(order + "f", head, 108)
    return _layout(int(start), _NIFTI.get(kind, ""), order == ">", dims[1 : 1 + max(dims[0], 0)])


def _mrc(head: bytes) -> NumbersLayout | None:
    order = ">" if head[212] == 0x11 else "<"
    *shape, mode = struct.unpack_from(order + "4i", head)
    (extra,) = struct.unpack_from(order + "i", head, 92)
    return _layout(1024 + extra, _MRC.get(mode, ""), order == ">", tuple(shape))


def _layout(start: int, kind: str, big: bool, shape: tuple[int, ...]) -> NumbersLayout | None:
    """``shape``: the dimension whose items are neighbours in the file first."""
    if not kind or not 0 <= start < 1 << 31 or any(length < 0 for length in shape):
        return None
    letter, size = kind[0], int(kind[1:])
    long = [length for length in shape if length > 1]
    if letter == "c":
        letter, size, long = "f", size // 2, [2, *long]
    if size not in (1, 2, 4, 8) or start % size:
        return None
    steps = list(accumulate(long, mul, initial=1))
    if len(long) > 1 and long[0] <= _CHANNELS:
        del steps[0]
    # Behind the last dimension there is no neighbour.
    lags = tuple(step for step in steps[:-1] if step < 1 << 31) or (1,)
    return NumbersLayout(
        start, {"b": "u", "m": "i", "M": "i"}.get(letter, letter), size, big and size > 1, lags[:3]
    )
