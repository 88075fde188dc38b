"""Sparse matrices and arrays of SciPy as extensions of MessagePack, and back.

``man/spk.5``, Objects of Python. Each is the arrays, or the lists, that its format keeps. SciPy
reads and writes memory where these point, unchecked: so they are checked here first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from serialpack.errors import UnsupportedError
from serialpack.imported import imported
from serialpack.serializers.objects.arrays import is_array

OF_SCIPY = 44

#: The attributes that all of them have, and those of each format.
_OF_ALL = ("_shape", "maxprint")
_COMPRESSED = ("data", "indices", "indptr", "_has_sorted_indices", "_has_canonical_format")
_ATTRIBUTES = {
    **dict.fromkeys(("csr", "csc", "bsr"), _COMPRESSED),
    "coo": ("data", "coords", "has_canonical_format"),
    "dia": ("data", "offsets"),
    "dok": ("dtype", "_dict"),
    "lil": ("dtype", "rows", "data"),
}
_NAMES = {f"{kind}_{what}": kind for kind in _ATTRIBUTES for what in ("matrix", "array")}
#: Kinds of types of numbers, as NumPy calls them.
_NUMBERS = "biufc"
_PLAIN = (bool, int, float, complex)


def parts_of_scipy(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of a sparse matrix or array; None for others, TypeError for one with attributes
    that were set on it, or with other items than numbers."""
    sparse, name = imported("scipy.sparse"), type(value).__name__
    if sparse is None or name not in _NAMES or type(value) is not getattr(sparse, name, None):
        return None
    kind = _NAMES[name]
    try:
        if vars(value).keys() - {*_OF_ALL, *_ATTRIBUTES[kind]}:
            raise TypeError(f"a {name} with attributes")
        if value.dtype.kind not in _NUMBERS:
            raise TypeError(f"a {name} of {value.dtype}")
        return OF_SCIPY, [name, list(value.shape), value.maxprint, *_MAKERS[kind](value)]
    except (AttributeError, ValueError) as error:  # what a version has not, or somebody took away
        raise TypeError(f"{name} of SciPy ({error})") from None


def _of_compressed(value: Any) -> list[Any]:
    told = [vars(value).get(name) for name in _COMPRESSED[3:]]
    return [value.data, value.indices, value.indptr, *told]


def _of_keys(value: Any) -> list[Any]:
    keys = list(value.keys())
    columns = [keys] if len(value.shape) == 1 else zip(*keys, strict=True)
    each = list(map(_listed, columns)) if keys else [[]] * len(value.shape)
    return [value.dtype, _listed(list(value.values())), *each]


def _listed(values: Sequence[Any]) -> Any:
    """``values`` as an array where all are NumPy scalars of one type; else as a list."""
    import numpy as np

    kinds = set(map(type, values))
    kind = kinds.pop() if len(kinds) == 1 else object
    if issubclass(kind, np.number | np.bool):
        return np.array(values, kind)
    return list(values)


_MAKERS: dict[str, Callable[[Any], list[Any]]] = {
    **dict.fromkeys(("csr", "csc", "bsr"), _of_compressed),
    "coo": lambda v: [v.data, bool(v.has_canonical_format), *v.coords],
    "dia": lambda v: [v.data, v.offsets],
    "dok": _of_keys,
    "lil": lambda v: [v.dtype, v.rows, v.data],
}


def scipy_of(name: str, shape: list[int], most: int, *parts: Any) -> Any:
    """The matrix or array that the parts are of; ValueError, or SciPy's own, for wrong parts."""
    try:
        from scipy import sparse
    except ImportError:
        raise UnsupportedError("needs SciPy", hint="pip install scipy") from None
    if name not in _NAMES:
        raise ValueError(f"SciPy has no sparse {name}")
    if any(type(n) is not int or n < 0 for n in (*shape, most)):
        raise ValueError("no shape of a sparse array")
    cls = getattr(sparse, name, None)
    if cls is None:
        raise UnsupportedError(f"this SciPy has no {name}")
    made = _BACK[_NAMES[name]](cls, tuple(shape), *parts)
    made.maxprint = most
    return made


def _compressed(
    cls: Any, shape: tuple[int, ...], data: Any, indices: Any, indptr: Any, *told: bool | None
) -> Any:
    data, (indices, indptr) = _numbers(data), _places(indices, indptr)
    outer, inner = shape if len(shape) == 2 else (1, *shape)
    if cls.__name__.startswith("csc"):
        outer, inner = inner, outer
    if data.ndim == 3:  # of blocks
        if outer % data.shape[1] or inner % data.shape[2]:
            raise ValueError("blocks that do not fill the shape")
        outer, inner = outer // data.shape[1], inner // data.shape[2]
    if len(indptr) != outer + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("no starts of rows")
    _check_below(indices, inner)
    made = cls((data, indices, indptr), shape=shape)
    for name, said in zip(("canonical_format", "sorted_indices"), told[::-1], strict=True):
        if type(said) is not bool and said is not None:
            raise ValueError("neither sorted nor not")
        # SciPy believes such flags (sorted, without duplicates), so check that they are true.
        if said and not getattr(made, f"has_{name}"):
            raise ValueError("indices that are not sorted, or twice")
        if said is False:
            setattr(made, f"has_{name}", False)
    # The very ones: it makes indices that need no 64 bits narrower, and cuts what is unused.
    made.data, made.indices, made.indptr = data, indices, indptr
    return made


def _coordinates(cls: Any, shape: tuple[int, ...], data: Any, canonical: bool, *places: Any) -> Any:
    data, coords = _numbers(data), tuple(_places(*places))
    if len(coords) != len(shape) or any(len(each) != len(data) for each in coords):
        raise ValueError("as many coordinates as dimensions are due")
    for each, size in zip(coords, shape, strict=True):
        _check_below(each, size)
    made = cls((data, coords), shape=shape)
    made.data, made.coords, made.has_canonical_format = data, coords, bool(canonical)
    return made


def _diagonals(cls: Any, shape: tuple[int, ...], data: Any, offsets: Any) -> Any:
    import numpy as np

    data, (offsets,) = _numbers(data), _places(offsets)
    # It adds an offset to each of these, in the type of the offsets.
    most = max(*shape, *data.shape)
    if 2 * most > np.iinfo(offsets.dtype).max:
        raise ValueError("a shape for wider offsets")
    if len(offsets) and not -most <= offsets.min() <= offsets.max() <= most:
        raise ValueError("a diagonal outside the shape")
    made = cls((data, offsets), shape=shape)
    made.data, made.offsets = data, offsets
    return made


def _keys(cls: Any, shape: tuple[int, ...], kind: Any, values: Any, *columns: Any) -> Any:
    if len(columns) != len(shape):
        raise ValueError("as many keys as dimensions are due")
    each = [_items(column, (int,), "iu") for column in columns]
    for column, size in zip(each, shape, strict=True):
        if column and not 0 <= min(column) <= max(column) < size:
            raise ValueError("a key outside the shape")
    keys: list[Any] = each[0] if len(each) == 1 else list(zip(*each, strict=True))
    made = cls(shape, dtype=_type(kind))
    made._dict = dict(zip(keys, _items(values, _PLAIN, _NUMBERS), strict=True))
    if len(made._dict) != len(keys):
        raise ValueError("a key twice")
    return made


def _lists(cls: Any, shape: tuple[int, ...], kind: Any, rows: Any, data: Any) -> Any:
    import numpy as np

    for each in (rows, data):
        if type(each) is not np.ndarray or each.dtype != object or each.shape != shape[:1]:
            raise ValueError("no lists of rows")
    for places, items in zip(rows, data, strict=True):
        if type(places) is not list or type(items) is not list or len(places) != len(items):
            raise ValueError("as many columns as items are due")
        places = _items(places, (int,), "iu")
        if places and not 0 <= places[0] <= places[-1] < shape[1]:
            raise ValueError("a column outside the shape")
        if any(one >= other for one, other in pairwise(places)):
            raise ValueError("columns that are not sorted")
        _items(items, _PLAIN, _NUMBERS)
    made = cls(shape, dtype=_type(kind))
    made.rows, made.data = rows, data
    return made


_BACK: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("csr", "csc", "bsr"), _compressed),
    "coo": _coordinates,
    "dia": _diagonals,
    "dok": _keys,
    "lil": _lists,
}


def _numbers(value: Any) -> Any:
    """``value`` as an array in memory; ValueError where it is not an array of numbers."""
    import numpy as np

    if not is_array(value) or value.dtype.kind not in _NUMBERS:
        raise ValueError("no array of numbers")
    return np.asarray(value)


def _places(*values: Any) -> list[Any]:
    """As ``_numbers``, for indices in the types that SciPy's own code takes."""
    import numpy as np

    found = list(map(_numbers, values))
    kinds = {each.dtype for each in found}
    if len(kinds) > 1 or kinds - {np.dtype("i4"), np.dtype("i8")}:
        raise ValueError("indices of another type")
    if any(each.ndim != 1 for each in found):
        raise ValueError("indices of several dimensions")
    return found


def _check_below(indices: Any, size: int) -> None:
    if len(indices) and not 0 <= indices.min() <= indices.max() < size:
        raise ValueError("an index outside the shape")


def _items(values: Any, plain: tuple[type, ...], kinds: str) -> list[Any]:
    """The items of a list, or of an array; ValueError where one has another type or kind."""
    import numpy as np

    found = values if type(values) is list else list(_numbers(values))
    for kind in set(map(type, found)) - set(plain):
        if not issubclass(kind, np.generic) or np.dtype(kind).kind not in kinds:
            raise ValueError(f"a {kind.__name__}, where a number is due")
    return found


def _type(kind: Any) -> Any:
    import numpy as np

    if not isinstance(kind, np.dtype) or kind.kind not in _NUMBERS:
        raise ValueError("no type of numbers")
    return kind
