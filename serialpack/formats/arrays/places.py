"""Which items of an array an index picks, without the array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: An index of one axis: one place, or several.
Places = int | range


def places_of(key: tuple[Any, ...], shape: tuple[int, ...]) -> list[Places] | None:
    """The places of each axis; None for an index that is more than slices and integers.

    IndexError where there are none, as NumPy has it.
    """
    if any(item is not Ellipsis and not _is_plain(item) for item in key):
        return None
    dots = [number for number, item in enumerate(key) if item is Ellipsis]
    missing = len(shape) - len(key) + len(dots)
    if len(dots) > 1 or missing < 0:
        raise IndexError(f"too many indices for an array of {len(shape)} dimensions")
    at = dots[0] if dots else len(key)
    whole = [slice(None)] * missing
    items = [*key[:at], *whole, *key[at + 1 :]]
    return [
        _place(item, axis, length)
        for axis, (item, length) in enumerate(zip(items, shape, strict=True))
    ]


def rows_in(key: Any, shape: tuple[int, ...]) -> NDArray[np.intp] | None:
    """The numbers of the rows that a list or an array picks, where nothing but slices is behind it;
    None for all other indexes. IndexError for a row that is not there."""
    import numpy as np

    first, *more = key if isinstance(key, tuple) else (key,)
    if not shape or len(more) >= len(shape) or not all(isinstance(each, slice) for each in more):
        return None
    if not isinstance(first, list | np.ndarray):
        return None
    rows = np.asarray(first)
    if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "biu":
        return None
    if rows.dtype.kind == "b":
        return np.flatnonzero(rows) if len(rows) == shape[0] else None
    outside = (rows < -shape[0]) | (rows >= shape[0])
    if outside.any():
        place = rows[outside][0]
        raise IndexError(f"index {place} is out of bounds for axis 0 with size {shape[0]}")
    rows = rows.astype(np.intp)
    return np.where(rows < 0, rows + shape[0], rows)


def _is_plain(item: Any) -> bool:
    return isinstance(item, slice) or (hasattr(item, "__index__") and not _is_mask(item))


def _is_mask(item: Any) -> bool:
    """Whether ``item`` is a boolean, or an array with dimensions: NumPy takes neither for a single
    place."""
    kind = getattr(getattr(item, "dtype", None), "kind", "")
    return isinstance(item, bool) or kind == "b" or getattr(item, "shape", ()) != ()


def _place(item: Any, axis: int, length: int) -> Places:
    if isinstance(item, slice):
        return range(*item.indices(length))
    place: int = item.__index__()
    if not -length <= place < length:
        raise IndexError(f"index {place} is out of bounds for axis {axis} with size {length}")
    return place % length


def index_of(places: Places) -> Any:
    """What picks ``places`` of an axis of an array in memory."""
    if isinstance(places, int):
        return places
    stop: int | None = places.start + len(places) * places.step
    return slice(places.start, stop if stop is not None and stop >= 0 else None, places.step)
