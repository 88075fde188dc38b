"""Spells types of NumPy whose fields an .npy file cannot describe: aligned ones, and those in
another order than they lie. They are spelled as the map that NumPy makes of them and takes."""

from __future__ import annotations

from typing import Any

from serialpack.formats.arrays.types import dtype_of

#: The longest spelling by maps, in characters: no type has so many fields, and each costs time.
_LONGEST = 1 << 16

_KEYS = ("names", "formats", "offsets", "itemsize")
_MORE = frozenset({*_KEYS, "titles", "aligned"})


def spelled_type(dtype: Any) -> Any:
    """A type as an .npy file spells it, or where that says too little, as a map; Python literals.

    TypeError where it has more than a map says: words of its own (``dtype.metadata``), another
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
    import numpy as np

    if dtype.metadata is not None:
        raise TypeError("an array whose type has metadata")
    if dtype.names is not None and dtype.type is not np.void:
        raise TypeError(f"an array whose items are {dtype.type.__name__}s with fields")
    if dtype.subdtype is not None:
        return _spelled(dtype.base), dtype.shape
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
    if not said.keys() <= _MORE or any(type(said[key]) is not list for key in _KEYS[:3]):
        raise ValueError("no type of an array: another map")
    whole: Any = {**said, "formats": [*map(_type, said["formats"])]}
    return np.dtype(whole)
