"""Arrays of NumPy as what describes them and their bytes, and arrays again over such bytes."""

from __future__ import annotations

import ast
import math
import re
import sys
from typing import Any

from serialpack.stages.stage import Buffer

#: The type of an item that is no structure: byte order, kind, size, and the unit of times.
_SCALAR = re.compile(r"[<>|][biufcmMSUV]\d+(\[\w+\])?")


def is_array(value: Any) -> bool:
    """Whether ``value`` is an array, or a scalar, of NumPy itself."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return False
    return type(value) is numpy.ndarray or isinstance(value, numpy.generic)


def described(value: Any) -> tuple[list[Any], memoryview]:
    """The type (as in an .npy file), shape, order and whether it may be written; the bytes.

    TypeError for an array of objects.
    """
    import numpy as np

    if value.dtype.hasobject:
        raise TypeError("an array of objects")
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    flat: Any = np.ascontiguousarray(value.T if fortran else value).reshape(-1)
    descr = repr(np.lib.format.dtype_to_descr(value.dtype))
    return [descr, list(value.shape), fortran, value.flags.writeable], memoryview(
        flat.view("u1") if flat.nbytes else b""
    )


def _bytes_of(flat: Any) -> Any:
    return flat.view("u1") if flat.nbytes else b""  # items without a byte have no other view


def array_over(data: Buffer, descr: str, shape: list[int], fortran: bool, writeable: bool) -> Any:
    """The array over ``data``, which stays where it is; ValueError where that is none."""
    import numpy as np

    kind = _dtype(descr)
    if any(type(n) is not int or n < 0 for n in shape) or kind.hasobject:
        raise ValueError("no shape or type of an array of numbers")
    if math.prod(shape) * kind.itemsize != len(memoryview(data)):
        raise ValueError(f"an array of {kind.str} {shape} in {len(memoryview(data))} bytes")
    buffer = data if len(memoryview(data)) else None
    found: Any = np.ndarray(tuple(shape), kind, buffer, order="F" if fortran else "C")
    if not writeable:
        found.flags.writeable = False
    return found


def scalar_over(data: bytes, descr: str) -> Any:
    """The scalar of NumPy that ``data`` is."""
    return array_over(data, descr, [], False, True)[()]


def _dtype(descr: str) -> Any:
    import numpy as np

    try:
        found = ast.literal_eval(descr)
        if _is_sound(found):
            return np.lib.format.descr_to_dtype(found)
        raise ValueError("no type of an array of numbers or text")
    except (SyntaxError, MemoryError, RecursionError, KeyError, IndexError) as error:
        raise ValueError(f"no type of an array ({type(error).__name__})") from None


def _is_sound(descr: Any) -> bool:
    """Whether NumPy spells a type so: it would take, and warn about, many other things."""
    if isinstance(descr, str):
        return _SCALAR.fullmatch(descr) is not None
    if isinstance(descr, tuple):  # an array in each item
        return len(descr) == 2 and _is_sound(descr[0])
    return isinstance(descr, list) and all(
        isinstance(field, tuple) and len(field) in (2, 3) and _is_sound(field[1]) for field in descr
    )
