"""Arrays of NumPy as a description and their bytes, and back, without a copy of these; also arrays
with a mask, which are two arrays, and those of other classes of NumPy."""

from __future__ import annotations

import ast
import math
from functools import lru_cache
from typing import Any

from serialpack.formats.arrays.types import items_of
from serialpack.imported import imported
from serialpack.serializers.objects._numpy_types import spelled_type, type_spelled
from serialpack.stages.stage import Buffer
from serialpack.text import with_article

#: The extensions of arrays and of scalars.
ARRAY, SCALAR = 18, 19
#: The extensions of arrays with a mask, and of a matrix, a recarray or a chararray.
MASKED, SHOWN = 33, 34
#: The extensions of an array, and of another library's object, that the message had before.
SAME, SAME_OBJECT = 35, 36
#: The extension of an array of Python objects.
OBJECTS = 37
_SHOWN = ("matrix", "recarray", "chararray")


def is_array(value: Any) -> bool:
    """Whether ``value`` is an array, also one in a file, or a scalar, of NumPy itself."""
    numpy, lazy = imported("numpy"), imported("serialpack.objects.lazy")
    if numpy is None:
        return False
    if lazy is not None and type(value) is lazy.LazyArray:
        return True
    return type(value) in (numpy.ndarray, numpy.memmap) or isinstance(value, numpy.generic)


def described(value: Any) -> tuple[list[Any], memoryview]:
    """The type (``spelled_type``), shape and order of an array, whether it may be written, and its
    bytes.

    TypeError for an array of objects, and for a type that is not spelled.
    """
    kind = value.dtype
    if kind.hasobject:
        raise TypeError("an array of objects")
    fortran, items = items_of(value)
    descr = repr(kind.str if is_of_numbers(kind) else spelled_type(kind))
    return [descr, list(value.shape), fortran, value.flags.writeable], items


def is_of_numbers(kind: Any) -> bool:
    """Whether a type is one of numbers, or times, that its text alone determines."""
    return kind.char in _OF_NUMBERS and kind.metadata is None and kind.names is None


def parts_of_few(value: Any, most: float) -> list[Any] | None:
    """The parts of the extension of an array of NumPy's own class, with its items, of numbers in C
    order and of fewer than ``most`` bytes; None for another. In a third of the time of
    ``described``."""
    kind, flags = value.dtype, value.flags
    if value.nbytes >= most or not flags.c_contiguous or not is_of_numbers(kind):
        return None
    return [value.tobytes(), repr(kind.str), list(value.shape), False, flags.writeable]


def array_over(data: Buffer, descr: str, shape: list[int], fortran: bool, writeable: bool) -> Any:
    """The array over ``data``, without a copy; ValueError where the description does not fit."""
    import numpy as np

    kind = type_of(descr, shape, len(memoryview(data)))
    buffer = data if len(memoryview(data)) else None
    found: Any = np.ndarray(tuple(shape), kind, buffer, order="F" if fortran else "C")
    if not writeable:
        found.flags.writeable = False
    return found


def type_of(descr: str, shape: list[int], size: int) -> Any:
    """The type of an array of this shape and ``size`` bytes; ValueError where they do not agree."""
    kind = _dtype(descr)
    count = whole = 1
    for n in shape:
        if type(n) is not int or n < 0:
            raise ValueError("no shape of an array of numbers")
        count, whole = count * n, whole * (n or 1)
    if kind.hasobject:
        raise ValueError("no type of an array of numbers")
    if count * kind.itemsize != size or whole >= 1 << 63:
        raise ValueError(f"an array of {kind.str} {shape} in {size} bytes")
    return kind


def bytes_in(part: Any) -> bytes:
    """``part``; ValueError where it is no bytes: of a number Python would make as many zeros."""
    if type(part) is not bytes:
        raise ValueError(f"{with_article(type(part).__name__)} where bytes are due")
    return part


def scalar_over(data: bytes, descr: str) -> Any:
    """The scalar of NumPy that ``data`` is."""
    # A record is not a copy, but a view, and its fields may be set: so its memory must be its own.
    array = array_over(bytearray(bytes_in(data)), descr, [], False, True)
    found = array[()]
    # In an array, bytes and texts lose zeros at their end; NumPy makes a single zero of an empty
    # one.
    size = array.dtype.itemsize
    if array.dtype.kind == "S" and len(found) < size > 1:
        return type(found)(data)
    if array.dtype.kind == "U" and 4 * len(found) < size > 4:
        order = "be" if array.dtype.str[0] == ">" else "le"
        return type(found)(data.decode(f"utf-32-{order}", "surrogatepass"))
    return found


#: The most characters of the types that most arrays have (``'<M8[ns]'``), and which are no records.
_SHORT = 10


def descr_of(text: str) -> Any:
    """The type of ``described`` out of its text; raises what ``ast.literal_eval`` raises."""
    return _short_descr(text) if len(text) <= _SHORT else ast.literal_eval(text)


@lru_cache(64)
def _short_descr(text: str) -> Any:
    return ast.literal_eval(text)


#: The letters of types that their text alone determines.
_OF_NUMBERS = frozenset("?bhilqBHILQefdFDmM")


@lru_cache(64)
def _short_type(descr: str) -> Any:
    return type_spelled(_short_descr(descr), len(descr))


def _dtype(descr: str) -> Any:
    try:
        if len(descr) <= _SHORT:
            return _short_type(descr)
        return type_spelled(descr_of(descr), len(descr))
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"no type of an array ({type(error).__name__})") from None


def parts_of_objects(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of an array, or a scalar, whose items are Python objects; else None."""
    if value.dtype != object:
        return None
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    items = value.reshape(-1, order="F" if fortran else "C").tolist()
    said = value.dtype.metadata  # as h5py has it of text
    return OBJECTS, [
        *(items, list(value.shape), fortran, value.flags.writeable),
        *([dict(said)] if said is not None else []),
    ]


def objects_of(
    items: list[Any], shape: list[int], fortran: bool, writeable: bool, said: Any = None
) -> Any:
    """The array of objects that the parts are of; ValueError where they are of none."""
    import numpy as np

    if type(items) is not list or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError("no items or shape of an array of objects")
    if math.prod(shape) != len(items) or math.prod(n or 1 for n in shape) >= 1 << 60:
        raise ValueError(f"an array of {len(items)} objects with another shape")
    # Lists in it stay items: all other ways of NumPy would take them for rows.
    found: Any = np.fromiter(items, object, len(items))
    if said is not None:
        if type(said) is not dict:
            raise ValueError("the metadata of a type that are no map")
        found = found.astype(np.dtype(object, metadata=said))
    found = found.reshape(tuple(shape), order="F" if fortran else "C")
    found.flags.writeable = writeable
    return found


def parts_of_masked(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of an array with a mask; None for all else.

    TypeError for an array with attributes that were set on it.
    """
    numpy = imported("numpy")
    if numpy is None or type(value) is not numpy.ma.MaskedArray:
        return None
    mapped = value._baseclass is numpy.memmap  # of which the items count, as ever
    if not mapped and (value._baseclass is not numpy.ndarray or value._optinfo or value._basedict):
        raise TypeError("an array with a mask and with attributes")
    mask = None if value.mask is numpy.ma.nomask else value.mask
    return MASKED, [value.view(numpy.ndarray), mask, value._fill_value, bool(value.hardmask)]


def masked_of(items: Any, mask: Any, fill: Any, hard: bool) -> Any:
    """The array with a mask that the parts are of; ValueError where they are of none."""
    import numpy as np

    # Any other value is not touched: its class might run code.
    others = [each for each in (mask, fill) if each is not None]
    if not all(map(is_array, (items, *others))) or type(hard) is not bool:
        raise ValueError("an array with a mask without its parts")
    kind = items.dtype
    if any(each.dtype.hasobject for each in others) and not kind.hasobject:
        raise ValueError("objects that stand for what is masked")
    if mask is not None and mask.shape != items.shape:
        raise ValueError("a mask of another shape")
    if mask is not None and mask.dtype != np.ma.make_mask_descr(kind):
        raise ValueError(f"a mask of {mask.dtype} for items of {kind}")
    items = items.view(np.ndarray) if isinstance(items, np.ndarray) else items
    try:
        found: Any = np.ma.MaskedArray(
            items, np.ma.nomask if mask is None else mask, fill_value=fill, hard_mask=hard
        )
    except TypeError as error:  # what cannot stand for an item
        raise ValueError(str(error)) from None
    found._sharedmask = False  # with nobody
    return found


def parts_of_shown(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of a matrix, a recarray or a chararray; None for all else.

    TypeError for an array with attributes that were set on it.
    """
    numpy, name = imported("numpy"), type(value).__name__
    if numpy is None or name not in _SHOWN or type(value) is not _shown(name):
        return None
    if vars(value).keys() - {"_getitem"}:  # which a matrix sets itself
        raise TypeError(f"a {name} with attributes")
    items = value.view(numpy.ndarray)
    if items.dtype.names is not None:  # which are records by its class alone
        items = items.view(numpy.dtype((numpy.void, items.dtype)))
    return SHOWN, [name, items]


def shown_of(name: str, items: Any) -> Any:
    """The matrix, recarray or chararray that the parts are of; ValueError for wrong parts."""
    import numpy as np

    if name not in _SHOWN or not is_array(items) or not np.ndim(items):
        raise ValueError(f"no array that a {name} shows")
    if name == "matrix" and np.ndim(items) != 2:
        raise ValueError("a matrix without two dimensions")
    if name == "chararray" and items.dtype.kind not in "SU":
        raise ValueError("a chararray of no characters")
    return np.asarray(items).view(_shown(name))


def _shown(name: str) -> Any:
    import numpy as np

    return getattr(np.char if name == "chararray" else np, name)


def one_of(before: list[Any], number: int) -> Any:
    """The value of this number among those that a message had before; ValueError."""
    if type(number) is not int or not 0 <= number < len(before):
        raise ValueError("the same as one before that is not there")
    return before[number]
