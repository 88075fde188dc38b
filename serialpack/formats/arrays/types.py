"""The type of an array's items, by what .npy files say of it; and the items as bytes."""

from __future__ import annotations

import re
from typing import Any

from serialpack.values.kinds import shown

#: The type of an item that is no structure: byte order (none: of the machine), kind, size, and the
#: unit of times, which NumPy fails at where it is counted by 0.
_SCALAR = re.compile(r"[<>|=]?[biufcmMSUV]\d+(\[(?!0)\w+\])?")

#: The same as NumPy writes it.
_WRITTEN = re.compile(r"[<>|][biufcmMSUV]\d+(\[\w+\])?")
#: What else NumPy takes for a type: names of types, letters, several of them with commas. No header
#: that NumPy reads has more.
_NAMED = re.compile(r"[\w<>|=?,() \[\]]{1,10000}")
#: The letter of texts in NumPy 1, at which NumPy 2 warns.
_OF_NUMPY_1 = re.compile(r"([<>|=]?)a(\d*)")

#: What NumPy raises for what it does not take for a type.
_NOT_UNDERSTOOD = (
    ArithmeticError,
    LookupError,
    MemoryError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)


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
    except _NOT_UNDERSTOOD:
        pass
    raise ValueError(f"its items are of no type of numbers or text: {shown(descr)}")


def as_written(descr: Any) -> Any:
    """``descr`` as NumPy writes the type that it reads in it: ``<f4`` for ``float32`` and ``f``.

    As it is where NumPy reads none in it, or one that is no type of a whole array's items.
    """
    if _consists_of(_WRITTEN, descr) or not _consists_of(_NAMED, descr):
        return descr
    import numpy as np

    known: Any = descr
    if isinstance(descr, str) and (old := _OF_NUMPY_1.fullmatch(descr)):
        known = old.expand(r"\1S\2")
    try:
        kind = np.lib.format.descr_to_dtype(known)
    except (*_NOT_UNDERSTOOD, Warning):  # of what is to go, where warnings are errors
        return descr
    # Text of any length (T) is no type that a file may have.
    return descr if kind.kind == "T" or kind.subdtype else np.lib.format.dtype_to_descr(kind)


def _consists_of(types: re.Pattern[str], descr: Any) -> bool:
    """Whether ``descr`` has the form of a type, or of fields, and all types in it match."""
    if isinstance(descr, list):
        return all(isinstance(field, tuple) and _consists_of(types, field[1:2]) for field in descr)
    if isinstance(descr, tuple):  # an array in each item
        return len(descr) > 0 and _consists_of(types, descr[0])
    return isinstance(descr, str) and types.fullmatch(descr) is not None


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
