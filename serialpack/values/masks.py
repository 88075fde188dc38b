"""Arrays of NumPy with a mask, and what of them counts beside their items."""

from __future__ import annotations

from typing import Any

from serialpack.imported import imported

#: What they keep in attributes and is told otherwise: whether others share the mask is no value,
#: and what stands for masked items is there once it was asked for.
_TOLD = frozenset({"_mask", "_sharedmask", "_fill_value"})


def is_masked(value: Any) -> bool:
    """Whether ``value`` is such an array."""
    numpy = imported("numpy")
    return numpy is not None and isinstance(value, numpy.ma.MaskedArray)


def with_mask(attributes: dict[str, Any], value: Any) -> dict[str, Any]:
    """The ``attributes`` of such an array: with its mask, which is all False where it has none, and
    the item that stands for what is masked. One over an array that is mapped is one over its items.
    """
    import numpy as np

    fill = attributes.get("_fill_value")
    fill = np.ma.default_fill_value(value.dtype) if fill is None else fill
    found = {name: each for name, each in attributes.items() if name not in _TOLD}
    if value._baseclass is np.memmap:
        found = {name: each for name, each in found.items() if name not in value._optinfo}
        found |= {"_baseclass": np.ndarray, "_optinfo": {}, "_basedict": {}}
    mask = np.array(np.ma.getmaskarray(value), order="C")
    return {**found, "mask": mask, "fill_value": np.array(fill).astype(value.dtype)}
