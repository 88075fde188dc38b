"""What floats are multiples of: 0.01 for prices, 1/255 for the shades of a picture, a power of two
for what was rounded while it was larger.

pcodec stores such as integers. It looks for the unit in numbers that it draws by how many there
are, and misses it in one array of ten, or takes another one; here all are looked at evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The most numbers that are looked at: those at multiples of the golden ratio, so that they are
#: spread evenly over rows and columns. And the share of them that must be multiples, each but for
#: two roundings.
_TELLING, _GOLDEN, _MOST = 1024, 0.6180339887498949, 0.97

#: A unit is at least so many roundings of the largest number, or nothing is gained by it; and no
#: unit, nor a power of two, is smaller than the second, as 1 divided by it must be a float, too.
_ROUNDINGS, _SMALLEST = 4, 1e-30

#: How many units the least difference between two numbers may be.
_UNITS = (1, 2, 3)

#: Of a power of two: the most of the numbers that may be multiples of a smaller one only; and how
#: many at least must be multiples of no more than so many times as much. Otherwise floats of any
#: sizes would be multiples, of a power of two that suits only the smallest.
_LESS, _EVEN, _TIMES = 0.02, 0.75, 4

#: How near to multiples of a unit numbers are, in units, before it is rounded as people write it.
_ROUGHLY = 0.1


def some_of(numbers: NDArray[Any]) -> NDArray[Any]:
    """Some of ``numbers``, spread evenly over them, that tell what all are multiples of."""
    import numpy as np

    if len(numbers) <= _TELLING:
        return numbers
    places = np.arange(_TELLING) * _GOLDEN % 1 * len(numbers)
    return numbers[places.astype(np.intp)]


def unit_of(numbers: NDArray[Any]) -> float | None:
    """What nearly all of ``numbers``, floats, are multiples of; None where there is no such
    unit."""
    import numpy as np

    some = some_of(numbers)
    some = np.sort(np.abs(some[np.isfinite(some)]))
    some = some[np.diff(some, prepend=-1) > 0]  # np.unique would import numpy.ma, for 16 ms
    if len(some) < 2:
        return None
    with np.errstate(all="ignore"):
        return _unit_of(some)


def binary_unit_of(numbers: NDArray[Any]) -> float | None:
    """The power of two that nearly all of ``numbers``, floats, are exact multiples of, and of which
    most are multiples of not much more. None where there is none."""
    import numpy as np

    some = some_of(numbers)
    some = some[np.isfinite(some) & (some != 0)]
    if not len(some):
        return None
    fractions, exponents = np.frexp(some.astype(np.float64))
    digits = np.abs(np.ldexp(fractions, np.finfo(np.float64).nmant + 1)).astype(np.int64)
    # As a float, the last bit that is set in a number has its place as exponent.
    lasts = exponents + np.frexp((digits & -digits).astype(np.float64))[1]
    lasts -= np.finfo(np.float64).nmant + 2
    last = np.partition(lasts, least := int(len(lasts) * _LESS))[least]
    unit, are_even = 2.0 ** int(last), np.mean(lasts < last + _TIMES.bit_length()) >= _EVEN
    return unit if are_even and unit >= _SMALLEST else None


def _unit_of(some: NDArray[Any]) -> float | None:
    """As ``unit_of``, of ``some`` numbers, which are sorted, finite, not negative and all
    different."""
    import numpy as np

    rounding = np.spacing(some).astype(np.float64)
    values = some.astype(np.float64)
    least = max(_ROUNDINGS * float(rounding[-1]), _SMALLEST)
    gaps = np.diff(values)
    gap = float(gaps.min(where=gaps > least, initial=np.inf))
    for units in _UNITS:
        if not least < gap / units < np.inf:
            return None
        # First by differences, then by the numbers: the less far, the surer is the count of units.
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
    """``unit``, made more exact by ever larger ones of ``values``, which are sorted."""
    last = len(values) - 1
    for at in (*(1 << n for n in range(last.bit_length())), last):
        if units := round(values[at] / unit):
            unit = float(values[at]) / units
    return unit


def _as_written(unit: float) -> list[float]:
    """What ``unit`` may be exactly: 1 divided by an integer, a decimal of few digits, or itself."""
    parts = [1 / round(1 / unit)] if unit < 1 else []
    return [*parts, *(float(f"{unit:.{digits}g}") for digits in range(1, 8)), unit]
