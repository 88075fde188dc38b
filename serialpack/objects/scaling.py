"""The numbers of volumes whose headers say what they are to become: as stored, or scaled."""

from __future__ import annotations

from typing import Any

from serialpack.errors import ScaleWarning, UsageError
from serialpack.formats.arrays.header import scale_words
from serialpack.warned import warn_caller

#: Slope and intercept, as of ``ArrayHeader``.
Scale = tuple[float, float]


def scaled_as_wanted(array: Any, scale: Scale | None, *, scaled: bool | None) -> Any:
    """``array``, whose file declares ``scale``, as it is; where ``scaled`` is true, what it is to
    become, in doubles, by the very steps of nibabel. A ScaleWarning where nobody said which."""
    if scale is None:
        return array
    if scaled is None:
        said = (
            f"its numbers x are as they are stored, not {scale_words(scale)}, as its header says:"
            " scaled=True loads these, scaled=False the stored ones, without this warning"
        )
        warn_caller(said, ScaleWarning)
    if not scaled:
        return array
    import numpy as np

    slope, intercept = scale
    # Arrays, not scalars: by these NumPy 1 would leave float32 as it is.
    found = array if slope == 1 else array * np.array([slope])
    return found if intercept == 0 else found + np.array([intercept])


def check_unscaled(*, scaled: bool | None) -> None:
    """UsageError where numbers are mapped that are wanted scaled."""
    if scaled:
        said = "mmap_mode gives numbers as they are stored, which scaled=True does not"
        raise UsageError(said, hint="leave one of them out")
