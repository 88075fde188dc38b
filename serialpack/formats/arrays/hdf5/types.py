"""Which types of HDF5 an array of NumPy holds, and how text becomes items of one.

Text that takes so many bytes in HDF5 gets room for as many characters here, so that its width is
kept, unless a text fills it. Such text, and text of any length, gets the room of the longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from serialpack.formats.arrays.values import values_of

#: The names of the fields, from the outermost on, in which text is.
Path = tuple[str, ...]


class NoArray(Exception):
    """Why no array holds a dataset."""


def unread(error: Exception) -> str:
    """What h5py says of a type that NumPy has nothing for."""
    return f"a type that is not read ({' '.join(str(error).split())})"


def check_read(stored: Any, dtype: Any, memory: Any = None) -> None:
    """NoArray where HDF5 cannot give ``stored`` (an identifier with a type) as items of ``dtype``,
    as which h5py would read it: bytes that only another program knows (opaque).

    ``memory``: what HDF5 calls ``dtype``, where that is known.
    """
    import h5py

    if h5py.h5t.find(stored.get_type(), memory or h5py.h5t.py_create(dtype)) is None:
        raise NoArray(f"a type that is not read ({dtype.str})")


def is_text(dtype: Any) -> bool:
    import h5py

    return h5py.check_string_dtype(dtype) is not None


def unheld(dtype: Any) -> str:
    """Why no array holds items of type ``dtype``, in words; empty where one does."""
    import h5py

    base = dtype.base
    if base.names is not None:
        return next(filter(None, (unheld(base[name]) for name in base.names)), "")
    if base.kind != "O" or is_text(base):
        return ""
    if h5py.check_ref_dtype(base) is not None:
        return "references to others"
    return "lists of any length"


def has_plain_items(dtype: Any) -> bool:
    """Whether MessagePack holds all items of type ``dtype``, also where they are lists of any
    length."""
    import h5py

    base = dtype.base
    if base.names is not None:
        return all(has_plain_items(base[name]) for name in base.names)
    if is_text(base):
        return True
    inner = h5py.check_vlen_dtype(base)
    if inner is not None:
        return has_plain_items(inner)
    return base.kind in "biuf" and base.itemsize <= 8


def has_names(dtype: Any) -> bool:
    """Whether numbers in an item have names (an enumeration), which arrays cannot keep."""
    import h5py

    base = dtype.base
    if base.names is not None:
        return any(has_names(base[name]) for name in base.names)
    return h5py.check_enum_dtype(base) is not None


def text_paths(dtype: Any, above: Path = ()) -> Iterator[Path]:
    """The path of each text in an item of type ``dtype``."""
    base = dtype.base
    if base.names is not None:
        for name in base.names:
            yield from text_paths(base[name], (*above, name))
    elif is_text(base):
        yield above


def has_text(dtype: Any) -> bool:
    """Whether there is text in an item of type ``dtype``."""
    return next(text_paths(dtype), None) is not None


def lengths(dtype: Any, pieces: Iterable[Any]) -> dict[Path, int]:
    """Path of text -> how many characters of room it gets: as many as its type has bytes, or else
    those of the longest text in ``pieces``, arrays of ``dtype``. Where some is no UTF-8: minus how
    many bytes."""
    most, plain = dict.fromkeys(text_paths(dtype), 1), dict.fromkeys(text_paths(dtype), 1)
    bad = set()
    for piece in pieces:
        for path in most:
            for item in set(_within(piece, path).ravel().tolist()):
                plain[path] = max(plain[path], len(item))
                try:
                    most[path] = max(most[path], len(item.decode()))
                except UnicodeDecodeError:
                    bad.add(path)
    for path in most:
        width = _declared(dtype, path)
        if plain[path] < width:
            most[path] = plain[path] = width
    return {path: -plain[path] if path in bad else most[path] for path in most}


def _declared(dtype: Any, path: Path) -> int:
    """How many bytes the type says for each text at ``path``; 0 where each takes its own length."""
    import h5py

    for name in path:
        dtype = dtype.base[name]
    return h5py.check_string_dtype(dtype.base).length or 0


def _within(array: Any, path: Path) -> Any:
    for name in path:
        array = array[name]
    return array


def held(dtype: Any, texts: dict[Path, int], above: Path = ()) -> Any:
    """The type of an array that holds items of ``dtype``; ``texts``: the room for text, as of
    ``lengths``."""
    import numpy as np

    if dtype.subdtype is not None:
        return np.dtype((held(dtype.base, texts, above), dtype.shape))
    if dtype.names is not None:
        fields = [(name, held(dtype[name], texts, (*above, name))) for name in dtype.names]
        return np.dtype(fields)
    if above in texts:
        length = texts[above]
        return np.dtype(f"U{length}" if length > 0 else f"S{-length}")
    return np.dtype(dtype.str)  # without the metadata that h5py adds


def as_held(array: Any, dtype: Any) -> Any:
    """``array`` with items of ``dtype``, which ``held`` gave for its own type."""
    import numpy as np

    dtype = dtype.base
    if array.dtype == dtype:
        return array
    if dtype.names is None:
        if dtype.kind != "U":
            return array.astype(dtype)
        texts = [item.decode() for item in array.ravel().tolist()]
        return np.array(texts, dtype).reshape(array.shape)
    made = np.empty(array.shape, dtype)
    for name in dtype.names:
        made[name] = as_held(array[name], dtype[name])
    return made


def row_values(array: Any) -> Any:
    """The items of ``array`` in lists, as MessagePack holds them: text, and lists of any length,
    too. NoArray."""
    dtype = array.dtype
    if dtype.names is not None:
        columns = [row_values(array[name]) for name in dtype.names]
        if not array.ndim:
            return dict(zip(dtype.names, columns, strict=True))
        if array.ndim > 1:
            return [row_values(part) for part in array]
        return [dict(zip(dtype.names, row, strict=True)) for row in zip(*columns, strict=True)]
    if dtype.kind in "cmMV" or (dtype.kind == "f" and dtype.itemsize > 8):
        raise NoArray(f"lists of any length beside items of type {dtype.str}")
    if dtype.kind in "OS":
        return _each(array.tolist())
    return values_of(array)


def _each(value: Any) -> Any:
    """``value``, which h5py gives for text or for lists of any length, as text or lists; also in
    lists."""
    import numpy as np

    if isinstance(value, list):
        return [_each(part) for part in value]
    if isinstance(value, np.ndarray):
        return row_values(value)
    if not isinstance(value, bytes):
        raise NoArray("references to others")
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
