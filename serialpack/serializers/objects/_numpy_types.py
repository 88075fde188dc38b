"""Spells types of NumPy that an .npy file cannot describe: fields that are aligned, or in another
order than they lie, are spelled as the map that NumPy makes of them and takes; a type with words of
its own (``dtype.metadata``, in which h5py tells an encoding or an enumeration) as a map of both."""

from __future__ import annotations

from typing import Any

from serialpack.formats.arrays.types import dtype_of

#: The longest spelling by maps, in characters: no type has so many fields, and each costs time.
_LONGEST = 1 << 16

_KEYS = ("names", "formats", "offsets", "itemsize")
_MORE = frozenset({*_KEYS, "titles", "aligned"})

#: Values that words of a type's own may be, beside floats, lists, tuples and maps; so deep at most.
_LITERALS, _DEEPEST = frozenset({str, bytes, bool, int, type(None)}), 8

#: The map of a type with words of its own: the type without them, and these.
_NOTED = frozenset({"type", "metadata"})


def spelled_type(dtype: Any) -> Any:
    """A type as an .npy file spells it, or where that says too little, as a map; Python literals.

    TypeError where it has more than a map says: words of its own that are no literals, another
    class of items, titles that are no text; and where its fields take more bytes than an item, so
    that they share some.
    """
    import numpy as np

    if not _says_more(dtype):
        return np.lib.format.dtype_to_descr(dtype)
    said = _spelled(dtype)
    if len(repr(said)) > _LONGEST:
        raise TypeError("an array whose type takes too many words")
    return said


def type_spelled(said: Any, length: int) -> Any:
    """The type that ``said`` spells, the literal of a text of ``length`` characters; ValueError, or
    OverflowError, where it is none."""
    if not isinstance(said, dict):
        return dtype_of(said)
    if length > _LONGEST:
        raise ValueError("no type of an array: it takes too many words")
    try:
        found = _type(said)
        if _spelled(found) == said:
            return found
    except (TypeError, KeyError, IndexError) as error:
        raise ValueError(f"no type of an array ({error})") from None
    raise ValueError("no type of an array: NumPy says it otherwise")


def _says_more(dtype: Any) -> bool:
    """Whether a type has more to it, as a whole or in its fields, than an .npy file says."""
    if dtype.metadata is not None or dtype.isalignedstruct:
        return True
    if dtype.names is None:
        return dtype.subdtype is not None and _says_more(dtype.base)
    if dtype.type.__name__ != "void":
        return True
    places = [dtype.fields[name][1] for name in dtype.names]
    ends = [place + dtype[name].itemsize for place, name in zip(places, dtype.names, strict=True)]
    in_order = all(end <= place for end, place in zip(ends, places[1:], strict=False))
    return not in_order or any(_says_more(dtype[name]) for name in dtype.names)


def _spelled(dtype: Any) -> Any:
    if dtype.metadata is None:
        return _spelled_alone(dtype)
    words = dict(dtype.metadata)
    if not _is_literal(words, _DEEPEST):
        raise TypeError("an array whose type has metadata that are no literals")
    return {"type": _spelled_alone(dtype), "metadata": words}


def _is_literal(value: Any, depth: int) -> bool:
    """Whether Python reads ``value``, of ``depth`` levels at most, again out of its text."""
    kind = type(value)
    if kind is dict:
        value = [*value, *value.values()]
    elif kind not in (list, tuple):
        return kind in _LITERALS or (kind is float and value - value == 0)
    return depth > 0 and all(_is_literal(each, depth - 1) for each in value)


def _spelled_alone(dtype: Any) -> Any:
    """As ``_spelled``, without the words of its own."""
    import numpy as np

    if dtype.names is not None and dtype.type is not np.void:
        raise TypeError(f"an array whose items are {dtype.type.__name__}s with fields")
    if dtype.subdtype is not None:
        return _spelled(dtype.base), dtype.shape
    if dtype.names is None:
        return dtype.str
    if not _says_more(dtype):
        return np.lib.format.dtype_to_descr(dtype)
    fields = [dtype.fields[name] for name in dtype.names]
    titles = [field[2] if len(field) > 2 else None for field in fields]
    if sum(field[0].itemsize for field in fields) > dtype.itemsize:
        raise TypeError("an array whose fields share bytes")
    if any(title is not None and type(title) is not str for title in titles):
        raise TypeError("an array with a title that is no text")
    return {
        "names": list(dtype.names),
        "formats": [_spelled(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
        **({"titles": titles} if any(titles) else {}),
        **({"aligned": True} if dtype.isalignedstruct else {}),
    }


def _type(said: Any) -> Any:
    import numpy as np

    if isinstance(said, tuple) and len(said) == 2:
        return np.dtype((_type(said[0]), said[1]))
    if not isinstance(said, dict):
        return dtype_of(said)
    if said.keys() == _NOTED:
        if type(said["metadata"]) is not dict:
            raise ValueError("no type of an array: words that are no map")
        return np.dtype(_type(said["type"]), metadata=said["metadata"])
    if not said.keys() <= _MORE or any(type(said[key]) is not list for key in _KEYS[:3]):
        raise ValueError("no type of an array: another map")
    whole: Any = {**said, "formats": [*map(_type, said["formats"])]}
    return np.dtype(whole)
