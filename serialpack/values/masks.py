"""Arrays of NumPy with a mask, and what is part of their value beside the items."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from serialpack.imported import imported

#: Attributes of theirs that are told otherwise, or are no value: whether others share the mask, and
#: what stands for masked items, which is there only once it was asked for.
_TOLD = frozenset({"_mask", "_sharedmask", "_fill_value"})


def is_masked(value: Any) -> bool:
    """Whether ``value`` is an array with a mask."""
    numpy = imported("numpy")
    return numpy is not None and isinstance(value, numpy.ma.MaskedArray)


def with_mask(attributes: dict[str, Any], value: Any) -> dict[str, Any]:
    """The ``attributes`` of such an array ``value``, with its mask (all False where it has none)
    and the item that stands for masked ones. An array over one that is mapped from a file is as one
    over its items in memory."""
    import numpy as np

    fill = attributes.get("_fill_value")
    fill = np.ma.default_fill_value(value.dtype) if fill is None else fill
    found = {name: each for name, each in attributes.items() if name not in _TOLD}
    if value._baseclass is np.memmap:
        found = {name: each for name, each in found.items() if name not in value._optinfo}
        found |= {"_baseclass": np.ndarray, "_optinfo": {}, "_basedict": {}}
    mask = np.array(np.ma.getmaskarray(value), order="C")
    fill = np.array(fill)
    with suppress(ValueError):  # NumPy has none for times in units of several, as weeks of days
        fill = fill.astype(value.dtype)
    return {**found, "mask": mask, "fill_value": fill}
