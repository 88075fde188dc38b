"""Arrays and scalars of machine numbers: what describes them, whether they hold the same bits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from serialpack.imported import imported

#: The letters of the types of plain numbers: no long double, which has a gap, and no time.
OF_NUMBERS = frozenset("?bhilqBHILQefdFD")


def array_facts(value: Any) -> tuple[Any, ...] | None:
    """What describes an array of machine numbers (type, shape, order in memory); None for any other
    value.

    Order in memory, and whether it can be written to, count only for an array that lies in one
    piece: of a slice nobody need keep them. Whether it can be written to counts where that can be
    told: ``_tells_lock``.
    """
    if is_plain_array(value):
        return plain_facts(value)
    if isinstance(value, memoryview):
        return value.format, value.shape, value.strides, value.readonly
    if hasattr(value, "typecode"):
        return (value.typecode,)
    if not hasattr(value, "dtype") or not hasattr(value, "tobytes"):
        return None
    flags = getattr(value, "flags", None)
    if flags is None or _is_scalar(value):
        return value.dtype.str, _type_facts(value.dtype), value.shape
    return plain_facts(value)


def plain_facts(array: Any) -> tuple[Any, ...]:
    """As ``array_facts``, of an array of NumPy."""
    kind, flags = array.dtype, array.flags
    facts = kind.str, _type_facts(kind), array.shape
    in_c, in_fortran = flags.c_contiguous, flags.f_contiguous
    if not (in_c or in_fortran):
        return facts
    return *facts, in_c, in_fortran, flags.writeable or not _tells_lock(array)


def _is_scalar(value: Any) -> bool:
    """Whether ``value`` is a scalar of NumPy, whose place in memory nobody sees."""
    numpy = imported("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def _tells_lock(array: Any) -> bool:
    """Whether pickle keeps that an array of NumPy is read-only.

    It does not for subclasses, objects, times, and whatever has no buffer. (And all arrays that
    pandas 3 gives out are read-only.)
    """
    if not is_plain_array(array) or not array.dtype.itemsize:
        return False
    try:
        memoryview(array)
    except ValueError:
        return False
    return True


def _type_facts(dtype: Any) -> tuple[Any, ...]:
    """What describes the type of an item; for one with fields, also where these lie in it."""
    if dtype.subdtype is not None:
        return (*_type_facts(dtype.base), dtype.shape)
    if dtype.names is None:
        return (dtype.str,) if dtype.metadata is None else (dtype.str, dict(dtype.metadata))
    fields = ((name, *dtype.fields[name][1:], _type_facts(dtype[name])) for name in dtype.names)
    said = dtype.metadata and dict(dtype.metadata)
    return (dtype.type.__name__, dtype.itemsize, dtype.isalignedstruct, said, *fields)


def unmapped(value: Any) -> Any:
    """``value``; in memory, where it is an array that is mapped from a file, or lazy; an integer of
    a class that is another one's second name, such as longlong, as of that."""
    numpy, lazy = imported("numpy"), imported("serialpack.objects.lazy")
    if numpy is None:
        return value
    if isinstance(value, numpy.integer) and value.dtype.kind in "iu":
        return numpy.dtype(value.dtype.str).type(value)
    mapped = type(value) is numpy.memmap or (lazy and type(value) is lazy.LazyArray)
    return numpy.asarray(value) if mapped else value


def objects_of(array: Any) -> list[Any] | None:
    """The elements of an array of objects; None for any other array."""
    if not getattr(getattr(array, "dtype", None), "hasobject", False):
        return None
    found: list[Any] = _bare(array).tolist()
    return found


def _bare(array: Any) -> Any:
    """``array``, of a subclass of NumPy's, as NumPy's own, whatever its class makes of items; any
    other value as it is."""
    numpy = imported("numpy")
    return array.view(numpy.ndarray) if numpy and isinstance(array, numpy.ndarray) else array


#: Bytes of large arrays that are compared at a time: the processor's cache holds them.
_PIECE = 1 << 20


def same_numbers(x: Any, y: Any) -> bool:
    """Whether two arrays of equal facts hold the same bits, whatever lies between their numbers."""
    x, y = _bare(x), _bare(y)
    kind = getattr(x, "dtype", None)
    return _same_bytes(x, y) or (_has_gaps(kind) and _same_parts(x, y))


def _has_gaps(kind: Any) -> bool:
    """Whether items of a type have bytes that are not part of a number: between the fields of a
    structure, and behind floats of 80 bits. NumPy copies these bytes, or does not."""
    if kind is None:
        return False
    if kind.names is not None:
        sizes = sum(kind[name].itemsize for name in kind.names)
        return sizes < kind.itemsize or any(_has_gaps(kind[name]) for name in kind.names)
    return _has_gaps(kind.base) if kind.subdtype is not None else kind.char in "gG"


def _same_parts(x: Any, y: Any) -> bool:
    """As ``same_numbers``, field by field."""
    if x.dtype.names is not None:
        return all(same_numbers(x[name], y[name]) for name in x.dtype.names)
    return _bytes_of_long(x) == _bytes_of_long(y)


def _bytes_of_long(array: Any) -> bytes:
    """The bytes of long doubles, without those that are no part of the number."""
    import numpy as np

    data = np.frombuffer(array.tobytes(), "u1")
    long = np.finfo(np.longdouble)
    # PCs compute with 80 bits; all other processors use every byte.
    used = 10 if long.nmant == 63 else long.dtype.itemsize
    return data.reshape(-1, long.dtype.itemsize)[:, :used].tobytes()


def _same_bytes(x: Any, y: Any) -> bool:
    is_numpy = type(x).__name__ == "ndarray"
    if is_numpy and _place(x) == _place(y):
        return True
    if not is_numpy or x.nbytes <= _PIECE:
        return bool(x.tobytes() == y.tobytes())
    if not x.flags.forc or x.strides != y.strides:
        rows = max(len(x) * _PIECE // x.nbytes, 1)
        pairs = ((x[i : i + rows], y[i : i + rows]) for i in range(0, len(x), rows))
        if rows == 1:
            pairs = ((one[0], other[0]) for one, other in pairs)
        return all(same_numbers(one, other) for one, other in pairs)
    one, other = (array.ravel(order="A").view("u1") for array in (x, y))
    starts = range(0, x.nbytes, _PIECE)
    return all(bool((one[i : i + _PIECE] == other[i : i + _PIECE]).all()) for i in starts)


def is_plain_array(value: Any) -> bool:
    """Whether ``value`` is an array of numbers of NumPy's own class, which has no attributes."""
    numpy = imported("numpy")
    return numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject


def is_plain_scalar(value: Any) -> bool:
    """Whether ``value`` is a number of NumPy's own that is fully told by type and bytes: no long
    double, which has a gap, and no time, which has a unit."""
    numpy = imported("numpy")
    return numpy is not None and type(value) in _plain_scalars()


@lru_cache(1)
def _plain_scalars() -> frozenset[type]:
    import numpy as np

    return frozenset(np.dtype(char).type for char in OF_NUMBERS)


def same_array(x: Any, y: Any) -> bool:
    """Whether two values of one type certainly are the same array of numbers."""
    return is_plain_array(x) and array_facts(x) == array_facts(y) and same_numbers(x, y)


def _place(array: Any) -> tuple[Any, ...]:
    """Where the numbers of an array lie."""
    return array.__array_interface__["data"], array.strides


def array_of_series(series: Any) -> Any:
    """The array of a series of pandas, which may lie in a block, which may be read-only."""
    numbers = not getattr(series.dtype, "hasobject", True)
    return series.to_numpy() if numbers else series.array
