"""What floats are multiples of: 0.01 for prices, 1/255 for the shades of a picture, a power of two
for what was rounded while it was larger.

pcodec stores such as integers. It looks for the unit in numbers that it draws by how many there
are, and misses it in one array of ten, or takes another one; here all are looked at evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: So many numbers tell, which stand at multiples of the golden ratio: no row or column has more of
#: them than others. So large a part of them must be multiples, but for two roundings each.
_TELLING, _GOLDEN, _MOST = 1024, 0.6180339887498949, 0.97

#: The unit is so many roundings of the largest number at least, or nothing is gained by it; and no
#: unit, nor a power of two, is smaller than this: how many of it one has must be a float, too.
_ROUNDINGS, _SMALLEST = 16, 1e-30

#: The least difference between two numbers is one unit, or so many.
_UNITS = (1, 2, 3)

#: Of multiples of a power of two at most so large a part are of less, and so large a part at least
#: are of no more than so many times as much: floats of all sizes are multiples of the smallest's.
_LESS, _EVEN, _TIMES = 0.02, 0.75, 4

#: Before a unit is written as people write it, numbers are this near to multiples of it.
_ROUGHLY = 0.1


def some_of(numbers: NDArray[Any]) -> NDArray[Any]:
    """As many of ``numbers``, from all over them, as tell what all are multiples of."""
    import numpy as np

    if len(numbers) <= _TELLING:
        return numbers
    places = np.arange(_TELLING) * _GOLDEN % 1 * len(numbers)
    return numbers[places.astype(np.intp)]


def unit_of(numbers: NDArray[Any]) -> float | None:
    """What nearly all of ``numbers``, floats, are multiples of; None where that is nothing."""
    import numpy as np

    some = some_of(numbers)
    some = np.unique(np.abs(some[np.isfinite(some)]))
    if len(some) < 2:
        return None
    with np.errstate(all="ignore"):
        return _unit_of(some)


def binary_unit_of(numbers: NDArray[Any]) -> float | None:
    """The power of two that nearly all of ``numbers``, floats, are multiples of, exactly, and most
    not of much more; None where there is none."""
    import numpy as np

    some = some_of(numbers)
    some = some[np.isfinite(some) & (some != 0)]
    if not len(some):
        return None
    fractions, exponents = np.frexp(some.astype(np.float64))
    digits = np.abs(np.ldexp(fractions, np.finfo(np.float64).nmant + 1)).astype(np.int64)
    # The last bit that is set in each, as a float, has its place as the exponent.
    lasts = exponents + np.frexp((digits & -digits).astype(np.float64))[1]
    lasts -= np.finfo(np.float64).nmant + 2
    last = np.partition(lasts, least := int(len(lasts) * _LESS))[least]
    unit, are_even = 2.0 ** int(last), np.mean(lasts < last + _TIMES.bit_length()) >= _EVEN
    return unit if are_even and unit >= _SMALLEST else None


def _unit_of(some: NDArray[Any]) -> float | None:
    """Of numbers that are sorted, each there once."""
    import numpy as np

    rounding = np.spacing(some).astype(np.float64)
    values = some.astype(np.float64)
    least = max(_ROUNDINGS * float(rounding[-1]), _SMALLEST)
    gaps = np.diff(values)
    gap = float(gaps.min(where=gaps > least, initial=np.inf))
    for units in _UNITS:
        if not least < gap / units < np.inf:
            return None
        # The nearer two numbers are, the less it matters how many units lie between them.
        unit = _refined(values, _refined(values - values[0], gap / units))
        count = values / unit
        if np.mean(np.abs(count - np.round(count)) < _ROUGHLY) < _MOST:
            continue
        off = {each: np.abs(values - np.round(values / each) * each) for each in _as_written(unit)}
        best = min(off, key=lambda each: float(off[each].sum()))
        if np.mean(off[best] <= 2 * rounding) >= _MOST:
            return best
    return None


def _refined(values: NDArray[Any], unit: float) -> float:
    """``unit`` as ever larger ones of ``values``, which are sorted, tell it more exactly."""
    last = len(values) - 1
    for at in (*(1 << n for n in range(last.bit_length())), last):
        if units := round(values[at] / unit):
            unit = float(values[at]) / units
    return unit


def _as_written(unit: float) -> list[float]:
    """``unit``, and what it may be exactly: a part of 1, or a decimal of few digits."""
    parts = [1 / round(1 / unit)] if unit < 1 else []
    return [*parts, *(float(f"{unit:.{digits}g}") for digits in range(1, 8)), unit]
