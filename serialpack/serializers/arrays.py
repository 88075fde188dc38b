"""Arrays of NumPy as what describes them and their bytes, and arrays again over such bytes."""

from __future__ import annotations

import ast
import math
import sys
from functools import lru_cache
from typing import Any

from serialpack.formats.arrays.types import dtype_of, items_of
from serialpack.stages.stage import Buffer


def is_array(value: Any) -> bool:
    """Whether ``value`` is an array, also one in a file, or a scalar, of NumPy itself."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return False
    return type(value) in (numpy.ndarray, numpy.memmap) or isinstance(value, numpy.generic)


def described(value: Any) -> tuple[list[Any], memoryview]:
    """The type (as in an .npy file), shape, order and whether it may be written; the bytes.

    TypeError for an array of objects, and for a type with words of its own (``dtype.metadata``),
    which is equal to the one without.
    """
    import numpy as np

    if value.dtype.hasobject:
        raise TypeError("an array of objects")
    if _has_metadata(value.dtype):
        raise TypeError("an array whose type has metadata")
    fortran, items = items_of(value)
    descr = repr(np.lib.format.dtype_to_descr(value.dtype))
    return [descr, list(value.shape), fortran, value.flags.writeable], items


def _has_metadata(dtype: Any) -> bool:
    if dtype.metadata is not None:
        return True
    if dtype.names is not None:
        return any(_has_metadata(dtype[name]) for name in dtype.names)
    return dtype.subdtype is not None and _has_metadata(dtype.base)


def array_over(data: Buffer, descr: str, shape: list[int], fortran: bool, writeable: bool) -> Any:
    """The array over ``data``, which stays where it is; ValueError where that is none."""
    import numpy as np

    kind = type_of(descr, shape, len(memoryview(data)))
    buffer = data if len(memoryview(data)) else None
    found: Any = np.ndarray(tuple(shape), kind, buffer, order="F" if fortran else "C")
    if not writeable:
        found.flags.writeable = False
    return found


def type_of(descr: str, shape: list[int], size: int) -> Any:
    """The type of an array of ``size`` bytes; ValueError where they are none with this shape."""
    kind = _dtype(descr)
    if any(type(n) is not int or n < 0 for n in shape) or kind.hasobject:
        raise ValueError("no shape or type of an array of numbers")
    if math.prod(shape) * kind.itemsize != size:
        raise ValueError(f"an array of {kind.str} {shape} in {size} bytes")
    return kind


def scalar_over(data: bytes, descr: str) -> Any:
    """The scalar of NumPy that ``data`` is."""
    return array_over(data, descr, [], False, True)[()]


#: So many characters have the types of which many arrays are, and which are no records.
_SHORT = 8


def descr_of(text: str) -> Any:
    """What ``described`` says of a type, out of its text; what ``ast.literal_eval`` raises."""
    return _short_descr(text) if len(text) <= _SHORT else ast.literal_eval(text)


@lru_cache(64)
def _short_descr(text: str) -> Any:
    return ast.literal_eval(text)


def _dtype(descr: str) -> Any:
    try:
        return dtype_of(descr_of(descr))
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"no type of an array ({type(error).__name__})") from None
