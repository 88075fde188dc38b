"""Floats of an array rounded to multiples of a step: the loss ``fixed:STEP`` of ``--lossy``.

It alone takes a value, and is never done unasked. ``parted`` reads the step from the words of
``--lossy``, and ``Rounding`` rounds an array that comes in pieces of bytes.

It is a conversion and no filter of a chain: so a container gives back the bytes that it was given,
and a reader need not know of it. What is rounded is then small by itself, as ``auto`` finds by
what the numbers were multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from serialpack.conversion.losses.rules import FIXED
from serialpack.errors import UsageError
from serialpack.values.kinds import Loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A step of which so nearly a whole number make one is that decimal: 0.01 is no double.
_NEARLY = 1e-9


def parted(lossy: Collection[str]) -> tuple[list[str], float]:
    """The names of the rules, and the step of ``fixed:STEP``, 0 where it is not among them.

    UsageError where that is no positive number.
    """
    names, found = [], 0.0
    for each in lossy:
        name, _, step = each.partition(":")
        names.append(name if name == FIXED else each)
        if name == FIXED:
            found = _number(step)
    return names, found


def _number(text: str) -> float:
    """The step that a text says; UsageError where it is no positive number."""
    try:
        step = float(text)
    except ValueError:
        step = 0.0
    if not 0 < step < math.inf:
        raise UsageError(
            f"--lossy {FIXED} needs a step above zero, not {text!r}",
            hint=f"{FIXED}:0.01 rounds to two decimals",
        )
    return step


class Rounding:
    """Rounds the items of one array, which come in pieces, and counts those that change."""

    def __init__(self, dtype: np.dtype[Any], step: float) -> None:
        """UsageError for items that are no floats."""
        if dtype.kind not in "fc":
            raise UsageError(
                f"--lossy {FIXED} rounds floats, and this is an array of {dtype.str}",
                hint=f"leave out --lossy {FIXED}",
            )
        #: A complex number is two floats.
        self._parts = 2 if dtype.kind == "c" else 1
        self._size = dtype.itemsize // self._parts
        self._number = f"{dtype.str[0]}f{self._size}"
        self._step = step
        self._left = b""
        self._done = self._count = 0
        self._first: tuple[int, str, str] | None = None

    def __call__(self, piece: bytes) -> bytes:
        """The next bytes, rounded; those of a number that is not whole come with the next."""
        import numpy as np

        data = self._left + piece
        whole = len(data) - len(data) % self._size
        self._left = data[whole:]
        numbers = np.frombuffer(data[:whole], self._number)
        rounded = nearest(numbers, self._step)
        changed = np.flatnonzero(rounded != numbers)
        changed = changed[~np.isnan(numbers[changed])]
        if len(changed) and self._first is None:
            at = int(changed[0])
            place = (self._done + at) // self._parts
            self._first = place, str(numbers[at]), str(rounded[at])
        self._count += len(changed)
        self._done += len(numbers)
        return rounded.tobytes()

    def losses(self, items_a_row: int) -> list[Loss]:
        """What was rounded; the place of the first is that in the file."""
        if self._first is None:
            return []
        place, was, became = self._first
        record, item = divmod(place, max(items_a_row, 1))
        path = f"$[{item}]" if items_a_row > 1 else "$"
        return [Loss(FIXED, self._count, record, path, was, became)]


def nearest(numbers: NDArray[Any], step: float) -> NDArray[Any]:
    """``numbers`` as the nearest multiples of ``step``, no farther off than half of it.

    What has none so near stays as it is, bit for bit: NaN, infinities, and numbers so large that
    their type has none.
    """
    import numpy as np

    wide = numbers.astype(np.float64)
    parts = round(1 / step) if step < 1 else 0
    decimal = parts and abs(parts * step - 1) < _NEARLY

    def multiple(number: NDArray[Any]) -> NDArray[Any]:
        return (number / parts if decimal else number * step).astype(numbers.dtype)

    def off(found: NDArray[Any]) -> NDArray[Any]:
        # Exact: one is at most twice the other, or zero (Sterbenz, 1974).
        difference: NDArray[Any] = wide - found.astype(np.float64)
        return difference

    with np.errstate(over="ignore", invalid="ignore"):
        number = np.rint(wide * parts if decimal else wide / step)
        found = multiple(number)
        # Of what is between two one may be farther off, by the last bit of a double.
        other = multiple(number + np.sign(off(found)))
        found = np.where(np.abs(off(found)) <= step / 2, found, other)
        near = np.abs(off(found)) <= step / 2
    rounded = numbers.copy()
    np.copyto(rounded, found, where=near)
    return rounded
