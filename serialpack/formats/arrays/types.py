"""The type of an array's items, by what .npy files say of it; and the items as bytes."""

from __future__ import annotations

import re
from typing import Any

from serialpack.values.kinds import shown

#: The type of an item that is no structure: byte order (none: of the machine), kind, size, and the
#: unit of times, which NumPy fails at where it is counted by 0.
_SCALAR = re.compile(r"[<>|=]?[biufcmMSUV]\d+(\[(?!0)\w+\])?")


def dtype_of(descr: Any) -> Any:
    """The numpy.dtype that ``descr`` is, a literal of Python; ValueError where it is none.

    Types of Python objects are none here, nor is an array in each item that is no field. Nothing
    but what NumPy writes itself is given to it, with or without an order of bytes: it would take,
    and warn about, many other things.
    """
    import numpy as np

    try:
        if _is_sound(descr) and not isinstance(descr, tuple):
            return np.lib.format.descr_to_dtype(descr)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError):
        pass
    raise ValueError(f"its items are of no type of numbers or text: {shown(descr)}")


def spelled(descr: Any) -> Any:
    """``descr`` as JSON can say it: of what is no type of numbers or text, the text."""
    return descr if _is_sound(descr) else str(descr)


def items_of(array: Any) -> tuple[bool, memoryview]:
    """Whether the items of an array, or of a scalar, of NumPy lie in Fortran order; and their bytes
    in that order, or else in C order. No copy is made unless there are gaps between them."""
    import numpy as np

    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    lying = array.T if fortran else array
    if not lying.flags.c_contiguous and array.dtype.kind == "V":
        # NumPy copies fields, and leaves between them whatever was in that memory.
        copied = np.zeros(lying.shape, lying.dtype)
        copied[...] = lying
        lying = copied
    flat: Any = np.ascontiguousarray(lying).reshape(-1)
    # Items without a byte have no other view.
    return fortran, memoryview(flat.view("u1") if flat.nbytes else b"")


def _is_sound(descr: Any) -> bool:
    if isinstance(descr, str):
        return _SCALAR.fullmatch(descr) is not None
    if isinstance(descr, tuple):  # an array in each item
        return len(descr) == 2 and _is_sound(descr[0])
    return isinstance(descr, list) and all(
        isinstance(field, tuple) and len(field) in (2, 3) and _is_sound(field[1]) for field in descr
    )
