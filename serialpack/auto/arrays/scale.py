"""The scale of floats that are multiples of a unit, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from serialpack.filters import FILTERS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.stage import Buffer
from serialpack.values.multiples import binary_unit_of, some_of, unit_of

#: So large a part of the numbers must become small integers: those that do not spoil the others.
_MOST = 0.98

#: Units are decimals of so many places at most, or parts of so much.
_PLACES, _PARTS = 9, 1 << 30

#: A unit is told to about so large a part of it.
_NEARLY = 1e-5


class ScaledNumbers(NamedTuple):
    """The filters that make integers of floats, and these integers: their layout, and samples."""

    before: tuple[StageSpec, ...]
    layout: NumbersLayout
    samples: list[Buffer]


def scaled_numbers(
    layout: NumbersLayout, samples: list[Buffer], *, whole: bool
) -> ScaledNumbers | None:
    """The floats in ``samples`` as integers; None where they are multiples of nothing. ``whole``:
    they begin with what stands before the numbers."""
    if layout.kind != "f" or layout.size not in (4, 8):
        return None
    start = layout.start if whole else 0
    found = _scale_of(layout, [memoryview(sample)[start:] for sample in samples])
    if found is None:
        return None
    swap = (parse_stage(FILTERS, f"byteswap:{layout.size}"),) if layout.big else ()
    filters = [FILTERS.create(*spec) for spec in (*swap, found)]
    changed = [reduce(lambda data, each: each.forward(data), filters, data) for data in samples]
    return ScaledNumbers((*swap, found), layout._replace(kind="i", big=False), changed)


def _scale_of(layout: NumbersLayout, samples: list[Buffer]) -> StageSpec | None:
    """The filter ``scaled`` that suits; None where none does."""
    import numpy as np

    size = layout.size
    kind = np.dtype(f"{'>' if layout.big else '<'}f{size}")
    parts = [np.frombuffer(each, kind, len(each) // size) for each in samples]
    some = some_of(parts[0] if len(parts) == 1 else np.concatenate(parts))
    some = some.astype(kind.newbyteorder("<"))
    if (unit := unit_of(some) or binary_unit_of(some)) is None:
        return None
    found = [StageSpec("scaled", (size, scale, by)) for scale in _scales(unit) for by in (0, 1)]
    shares = {spec: _share(spec, some.tobytes()) for spec in found}
    best = max(shares, key=shares.__getitem__, default=None)
    return best if best is not None and shares[best] >= _MOST else None


def _scales(unit: float) -> Iterator[int]:
    """How many units one may have: where it has a whole number of them, or of its decimals."""
    if unit >= 1:
        yield 0
        return
    parts = round(1 / unit)
    if parts < _PARTS and abs(parts * unit - 1) < _NEARLY:
        yield parts
    for places in range(1, _PLACES + 1):
        count = unit * 10**places
        if round(count) and abs(count - round(count)) < _NEARLY * count:
            yield 10**places
            return


def _share(spec: StageSpec, data: Buffer) -> float:
    """How large a part of the floats in ``data`` become other, smaller numbers, or are 0."""
    import numpy as np

    kind = f"<i{spec.values[0]}"
    changed = np.frombuffer(FILTERS.create(*spec).forward(data), kind)
    return float(np.mean((changed != np.frombuffer(data, kind)) | (changed == 0)))
