"""What stands before the numbers of a volume: NIfTI-1 and NIfTI-2 in one file (nifti1.h, 2007;
nifti2.h, 2011) and MRC (Cheng et al., MRC2014, 2015). Read without a library.

Numbers are read as they are stored. By what they are to be multiplied is told; where in the body
they were measured is not read.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.shared.document import Malformed

#: The types of numbers by their codes in NIfTI and in MRC: letter and bytes of an item.
_NIFTI: dict[int, object] = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 32: "c8", 64: "f8", 256: "i1"}
_NIFTI |= {512: "u2", 768: "u4", 1024: "i8", 1280: "u8", 1792: "c16"}
#: Colours, a byte each.
_NIFTI |= {128: [(name, "|u1") for name in "RGB"], 2304: [(name, "|u1") for name in "RGBA"]}
_MRC = {0: "i1", 1: "i2", 2: "f4", 4: "c8", 6: "u2", 12: "f2"}

#: Bytes of the headers. All that is read of NIfTI-2 is in as many as NIfTI-1 has.
NIFTI_HEADER, NIFTI2_HEADER, MRC_HEADER = 348, 540, 1024

#: Bytes in which all is that is read of the header of a pair.
MOST_PAIR = NIFTI2_HEADER


def is_nifti(head: bytes) -> bool:
    """Whether a file that begins with ``head`` says that it is a NIfTI image in one file."""
    return head[344:348] == b"n+1\0" or _is_nifti2(head)


def _is_nifti2(head: bytes) -> bool:
    return head[4:12] == b"n+2\0\r\n\x1a\n"


def is_mrc(head: bytes) -> bool:
    """Whether a file that begins with ``head`` says that it is an MRC map."""
    return head[208:212] in (b"MAP ", b"MAP\0")


def joined_header(head: bytes) -> tuple[bytes, int] | None:
    """What stands before the numbers of a file by itself, for the header of a pair (of NIfTI, or of
    Analyze 7.5, which has the same fields at the same places); and where the numbers begin in the
    other file of the pair. None for no such header, and one in which that cannot be."""
    size, magic, at_magic, start_as, at_start = NIFTI_HEADER, b"n+1\0", 344, "f", 108
    if head[4:12] == b"ni2\0\r\n\x1a\n":
        size, magic, at_magic, start_as, at_start = NIFTI2_HEADER, b"n+2\0", 4, "q", 168
    elif head[344:348] != b"ni1\0" and head[38:39] != b"r":
        return None
    order = "<" if head[:4] == struct.pack("<i", size) else ">"
    if head[:4] != struct.pack(order + "i", size) or len(head) < size:
        return None
    (start,) = struct.unpack_from(order + start_as, head, at_start)
    if not 0 <= start < 1 << 31 or start != int(start):
        return None
    made = bytearray(head[:size] + bytes(4))  # in which there is no extension
    made[at_magic : at_magic + 4] = magic
    struct.pack_into(order + start_as, made, at_start, len(made))
    return bytes(made), int(start)


def read_nifti(head: bytes) -> ArrayHeader:
    """The header of a NIfTI image: the first dimension's numbers lie side by side. Malformed."""
    if not is_nifti(head):
        raise Malformed("it does not begin as a NIfTI image in one file", 0)
    least, at_kind, at_dims, at_start = NIFTI_HEADER, 70, 40, 108
    dims_as, start_as, scale_as = "8h", "f", "2f"
    if _is_nifti2(head):
        least, at_kind, at_dims, at_start = NIFTI2_HEADER, 12, 16, 168
        dims_as, start_as, scale_as = "8q", "q", "2d"
    order = "<" if head[:4] == struct.pack("<i", least) else ">"
    try:
        (size,) = struct.unpack_from(order + "i", head)
        count, *dims = struct.unpack_from(order + dims_as, head, at_dims)
        (kind,) = struct.unpack_from(order + "h", head, at_kind)
        (start,) = struct.unpack_from(order + start_as, head, at_start)
        at_scale = at_start + struct.calcsize(start_as)
        slope, intercept = struct.unpack_from(order + scale_as, head, at_scale)
    except struct.error:
        raise Malformed("it ends within its header", len(head)) from None
    if size != least or not 0 < count < 8 or any(length < 0 for length in dims[:count]):
        raise Malformed("its header has dimensions that are none", at_dims)
    if not least <= start < 1 << 31 or start != int(start):
        raise Malformed(f"its header says that its numbers begin at byte {start:g}", at_start)
    descr = _descr(_NIFTI, kind, big=order == ">", at=at_kind)
    # By the standard a slope of 0 is none; readers take one that is no number so, too.
    # Of colours it says nothing.
    scaled = slope and math.isfinite(slope) and math.isfinite(intercept)
    scaled = scaled and isinstance(descr, str)
    scale = (slope, intercept) if scaled and (slope, intercept) != (1, 0) else None
    return ArrayHeader(descr, True, tuple(dims[:count]), int(start), scale)


def read_mrc(head: bytes) -> ArrayHeader:
    """The header of an MRC map: the last dimension's numbers lie side by side. Malformed."""
    if not is_mrc(head):
        raise Malformed("it does not begin as an MRC map", 0)
    order = ">" if head[212:213] == b"\x11" else "<"
    try:
        *lengths, mode = struct.unpack_from(order + "4i", head)
        (extra,) = struct.unpack_from(order + "i", head, 92)
    except struct.error:
        raise Malformed("it ends within its header", len(head)) from None
    if any(length < 0 for length in lengths):
        raise Malformed("its header has dimensions that are none", 0)
    if extra < 0:
        raise Malformed(f"its header has {extra} bytes more", 92)
    descr = _descr(_MRC, mode, big=order == ">", at=12)
    return ArrayHeader(descr, False, tuple(lengths[::-1]), MRC_HEADER + extra)


def _descr(codes: Mapping[int, object], code: int, *, big: bool, at: int) -> object:
    if code not in codes:
        raise Malformed(f"its header has a type of numbers that is not read ({code})", at)
    spelled = codes[code]
    if not isinstance(spelled, str):
        return spelled
    return ("|" if spelled[1:] == "1" else ">" if big else "<") + spelled
