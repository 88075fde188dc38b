"""What stands before the numbers of a volume: NIfTI-1 in one file (nifti1.h, 2007) and MRC (Cheng
et al., MRC2014, 2015). Read without a library.

Only type, shape and place of the numbers are read, as they are stored: not where in the body they
were measured, nor by what they are to be multiplied.
"""

from __future__ import annotations

import struct

from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.shared.document import Malformed

#: The types of numbers by their codes in NIfTI and in MRC: letter and bytes of an item.
_NIFTI = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 32: "c8", 64: "f8", 256: "i1"}
_NIFTI |= {512: "u2", 768: "u4", 1024: "i8", 1280: "u8", 1792: "c16"}
_MRC = {0: "i1", 1: "i2", 2: "f4", 4: "c8", 6: "u2", 12: "f2"}

#: Bytes of the headers.
NIFTI_HEADER, MRC_HEADER = 348, 1024


def is_nifti(head: bytes) -> bool:
    """Whether a file that begins with ``head`` says that it is a NIfTI-1 image in one file."""
    return head[344:348] == b"n+1\0"


def is_mrc(head: bytes) -> bool:
    """Whether a file that begins with ``head`` says that it is an MRC map."""
    return head[208:212] == b"MAP "


def read_nifti(head: bytes) -> ArrayHeader:
    """The header of a NIfTI-1 image: the first dimension's numbers lie side by side. Malformed."""
    if not is_nifti(head):
        raise Malformed("it does not begin as a NIfTI-1 image in one file", 0)
    order = "<" if head[:4] == struct.pack("<i", NIFTI_HEADER) else ">"
    try:
        (size,) = struct.unpack_from(order + "i", head)
        count, *dims = struct.unpack_from(order + "8h", head, 40)
        (kind,) = struct.unpack_from(order + "h", head, 70)
        (start,) = struct.unpack_from(order + "f", head, 108)
    except struct.error:
        raise Malformed("it ends within its header", len(head)) from None
    if size != NIFTI_HEADER or not 0 < count < 8 or any(length < 0 for length in dims[:count]):
        raise Malformed("its header has dimensions that are none", 40)
    if not NIFTI_HEADER <= start < 1 << 31 or start != int(start):
        raise Malformed(f"its header says that its numbers begin at byte {start:g}", 108)
    descr = _descr(_NIFTI, kind, big=order == ">", at=70)
    return ArrayHeader(descr, True, tuple(dims[:count]), int(start))


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


def _descr(codes: dict[int, str], code: int, *, big: bool, at: int) -> str:
    if code not in codes:
        raise Malformed(f"its header has a type of numbers that is not read ({code})", at)
    spelled = codes[code]
    return ("|" if spelled[1:] == "1" else ">" if big else "<") + spelled
