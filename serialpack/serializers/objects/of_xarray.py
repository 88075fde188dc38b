"""Variables, labelled arrays and data sets of xarray as extensions of MessagePack, and back.

``man/spk.5``, Objects of Python. A variable is its array, or the index of pandas that it shows,
with names of its dimensions; the others are variables with names, and the indexes made of these.
Their arrays are written as any other, and may lie beside the message. What is computed later
(dask, files that are open) is not held, and neither are indexes of several levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from serialpack.errors import UnsupportedError
from serialpack.imported import imported
from serialpack.serializers.objects.arrays import is_array

OF_XARRAY = 50

#: Types of names, of which nothing is asked.
_NAMES = frozenset({str, int, float, bool, bytes, type(None)})

#: The attributes of an index over an index of pandas.
_OF_INDEX = {"index", "dim", "coord_dtype"}


def parts_of_xarray(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of an object of xarray; None for others, TypeError where it is not held."""
    xarray, name = imported("xarray"), type(value).__name__
    if xarray is None or name not in _MAKERS or type(value) is not getattr(xarray, name, None):
        return None
    try:
        return OF_XARRAY, [name, *_MAKERS[name](value)]
    except (AttributeError, ValueError) as error:  # what a version has not
        raise TypeError(f"{name} of xarray ({error})") from None


def _parts_of_variable(value: Any) -> list[Any]:
    import numpy as np

    held, dims = value._data, _names(value._dims)
    if len(set(dims)) < len(dims):
        raise TypeError("a dimension twice")
    beside = [_map(value._attrs), _map(value._encoding)]
    if type(held) in (np.ndarray, np.memmap):
        return [dims, held, *beside]
    index = _one_index(held.array) if type(held) is _class_of_shown() else None
    if index is None or vars(held):
        raise TypeError(f"a variable whose data are {type(held).__name__}")
    return [dims, [index, held._dtype], *beside]


def _parts_of_array(value: Any) -> list[Any]:
    _check_alone(value)
    (name,) = _names([value._name])
    coords = value._coords
    return [
        name,
        value._variable,
        *(_names(coords), list(coords.values()), _indexes(value._indexes)),
    ]


def _parts_of_set(value: Any) -> list[Any]:
    _check_alone(value)
    held = value._variables
    return [
        *(_names(held), list(held.values())),
        [name for name in held if name in value._coord_names],
        *(_names(value._dims), _indexes(value._indexes)),
        *(_map(value._attrs), _map(value._encoding)),
    ]


_MAKERS: dict[str, Callable[[Any], list[Any]]] = {
    "Variable": _parts_of_variable,
    "IndexVariable": _parts_of_variable,
    "DataArray": _parts_of_array,
    "Dataset": _parts_of_set,
}


def _check_alone(value: Any) -> None:
    """TypeError where it is of an open file, or something was put into it by an extension."""
    kind = type(value).__name__
    if value._close is not None:
        raise TypeError(f"a {kind} of an open file: its load() and close() let it go")
    if getattr(value, "_cache", None):
        raise TypeError(f"a {kind} that holds more than variables")


def _names(names: Iterable[Any]) -> list[Any]:
    found = list(names)
    if not _NAMES.issuperset(map(type, found)):
        raise TypeError("names of other types")
    return found


def _map(held: Any) -> Any:
    """The map, or None for an empty one, which xarray makes where somebody asks for it."""
    if held is not None and type(held) is not dict:
        raise TypeError(f"attributes in a {type(held).__name__}")
    return held or None


def _indexes(held: dict[Any, Any]) -> list[Any]:
    import xarray

    for index in held.values():
        if type(index) is not xarray.indexes.PandasIndex or vars(index).keys() - _OF_INDEX:
            raise TypeError(f"an index that is a {type(index).__name__}")
    return [
        [name, _one_index(index.index), *_names([index.dim]), index.coord_dtype]
        for name, index in zip(_names(held), held.values(), strict=True)
    ]


def _one_index(index: Any) -> Any:
    """The index of pandas; TypeError where it has several levels."""
    import pandas

    if not isinstance(index, pandas.Index) or isinstance(index, pandas.MultiIndex):
        raise TypeError(f"labels that are a {type(index).__name__}")
    return index


def _class_of_shown() -> Any:
    """The class of what shows an index of pandas as an array, which has no public name."""
    xarray: Any = imported("xarray")
    return type(xarray.IndexVariable("x", [0])._data)


def shown_xarray(word: str, *parts: Any) -> Any:
    """The outline of an object of outlines of its parts, for people."""
    if word == "Dataset":
        names, variables, *_, attrs, _ = parts
        shown = dict(zip(names, variables, strict=True))
        return {word: [shown, attrs] if attrs else shown}
    if word == "DataArray":
        name, variable, names, labels, _ = parts
        return {word: {name: variable, **dict(zip(names, labels, strict=True))}}
    dims, held, attrs, _ = parts
    data = held[0] if type(held) is list else held
    return {" x ".join(map(str, dims)): [data, attrs] if attrs else data}


def xarray_of(word: str, *parts: Any) -> Any:
    """The object that the parts are of; ValueError, or xarray's own, where they are of none,
    UnsupportedError without xarray."""
    try:
        import xarray
    except ImportError:
        raise UnsupportedError("needs xarray", hint="pip install xarray") from None
    if word in ("Variable", "IndexVariable"):
        return _variable_back(getattr(xarray, word), *parts)
    if word == "DataArray":
        return _array_back(xarray, *parts)
    if word == "Dataset":
        return _set_back(xarray, *parts)
    raise ValueError(f"nothing of xarray is a {word}")


def _variable_back(cls: Any, dims: Any, held: Any, attrs: Any, encoding: Any) -> Any:
    dims = _names_back(dims)
    data = _shown_back(*held) if type(held) is list else _data_back(held)
    if len(set(dims)) < len(dims) or len(dims) != data.ndim:
        raise ValueError("not one name for each dimension")
    made = cls(dims, data, _map_back(attrs), _map_back(encoding), fastpath=True)
    made._data = data  # the very one, as an index may be of another type
    return made


def _data_back(held: Any) -> Any:
    import numpy as np

    if not is_array(held) or isinstance(held, np.generic):
        raise ValueError("a variable without its array")
    if isinstance(held, np.ndarray):
        return np.asarray(held)
    from xarray.core import indexing

    return indexing.LazilyIndexedArray(_class_of_stored()(held))


@cache
def _class_of_stored() -> Any:
    """The class of an array in a file, of which xarray asks what it needs just then."""
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Stored(BackendArray):  # type: ignore[misc,unused-ignore]
        def __init__(self, lazy: Any) -> None:
            self.lazy, self.shape, self.dtype = lazy, lazy.shape, lazy.dtype

        def __getitem__(self, key: Any) -> Any:
            how = indexing.IndexingSupport.BASIC
            return indexing.explicit_indexing_adapter(key, self.shape, how, self.lazy.__getitem__)

    return Stored


def _shown_back(index: Any, kind: Any) -> Any:
    return _class_of_shown()(_one_index(index), _kind_back(kind))


def _kind_back(kind: Any) -> Any:
    import numpy as np
    import pandas

    if not isinstance(kind, np.dtype | pandas.api.extensions.ExtensionDtype):
        raise ValueError("an index without its type")
    return kind


def _array_back(
    xarray: Any, name: Any, variable: Any, names: Any, coords: list[Any], indexes: Any
) -> Any:
    _names_back([name])
    if type(variable) not in (xarray.Variable, xarray.IndexVariable):
        raise ValueError("a labelled array without its variable")
    held = _variables_back(xarray, names, coords)
    sizes = _sizes_of([variable])
    if _sizes_of([variable, *coords]) != sizes:
        raise ValueError("labels of other dimensions")
    found = _indexes_back(xarray, indexes, held, sizes)
    return xarray.DataArray(variable, held, name=name, indexes=found, fastpath=True)


def _set_back(
    xarray: Any,
    names: Any,
    variables: list[Any],
    labels: Any,
    dims: Any,
    indexes: Any,
    attrs: Any,
    encoding: Any,
) -> Any:
    held, sizes = _variables_back(xarray, names, variables), _sizes_of(variables)
    of_labels, order = set(_names_back(labels)), _names_back(dims)
    if not of_labels <= held.keys() or set(order) != sizes.keys() or len(order) != len(sizes):
        raise ValueError("labels or dimensions of no variable")
    found = _indexes_back(xarray, indexes, {name: held[name] for name in of_labels}, sizes)
    return xarray.Dataset._construct_direct(
        held,
        of_labels,
        {name: sizes[name] for name in order},
        _map_back(attrs),
        found,
        _map_back(encoding),
    )


def _names_back(names: Any) -> list[Any]:
    if type(names) is not list or not _NAMES.issuperset(map(type, names)):
        raise ValueError("no names")
    return names


def _map_back(held: Any) -> Any:
    if held is not None and type(held) is not dict:
        raise ValueError("attributes that are no map")
    return held


def _variables_back(xarray: Any, names: Any, variables: Any) -> dict[Any, Any]:
    if type(variables) is not list or not {xarray.Variable, xarray.IndexVariable}.issuperset(
        map(type, variables)
    ):
        raise ValueError("no variables")
    held = dict(zip(_names_back(names), variables, strict=True))
    if len(held) < len(names):
        raise ValueError("a name twice")
    return held


def _sizes_of(variables: list[Any]) -> dict[Any, int]:
    sizes: dict[Any, int] = {}
    for variable in variables:
        for name, size in zip(variable._dims, variable._data.shape, strict=True):
            if sizes.setdefault(name, size) != size:
                raise ValueError(f"a dimension {name} of two sizes")
    return sizes


def _indexes_back(
    xarray: Any, indexes: Any, labels: dict[Any, Any], sizes: dict[Any, int]
) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for name, index, dim, kind in indexes:
        _names_back([name, dim])
        if name in found or name not in labels or labels[name]._dims != (dim,):
            raise ValueError("an index of no label")
        if len(_one_index(index)) != sizes[dim]:
            raise ValueError("an index of another size")
        found[name] = made = xarray.indexes.PandasIndex(index, dim, _kind_back(kind))
        made.index = index  # the very one, also without a name
    return found
