"""What is drawn: points, logarithmic axes, labels that are kept apart.

Two modules render it: ``plot`` by matplotlib, which can make a PNG, and ``_pictures`` on the page,
which needs nothing installed, has letters that keep their size, and points that can be asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from serialpack.bench.reports.row_columns import (
    Measure,
    anchor_row,
    by_size,
    nearest_unit,
    significant,
)
from serialpack.bench.reports.sweeps import Curves, Unit
from serialpack.bench.results import Results, Row
from serialpack.units import format_size

#: Where marks may stand within a decade, or within a doubling: few of them, more, many.
_TENS: tuple[tuple[float, ...], ...] = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7))
_TWOS: tuple[tuple[float, ...], ...] = ((1,), (1, 1.5), (1, 1.25, 1.5, 1.75))

#: So many marks on an axis are enough; and at most so many are drawn.
ENOUGH = 4
MOST = 11


class Box(NamedTuple):
    """Where a label stands: its upper left corner, its width and its height."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: Box) -> bool:
        """Whether the two have anything in common."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


class Axis:
    """A logarithmic axis over ``values``, all above 0, with some room at both ends."""

    def __init__(self, values: Sequence[float], unit: Unit | str) -> None:
        self._unit = unit
        low, high = min(values), max(values)
        # A single value, or nearly that, stands in the middle.
        room = max(math.log(high / low) * 0.06, 0.05)
        self._low = math.log(low) - room
        self._high = math.log(high) + room

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value of the axis."""
        return math.exp(self._low), math.exp(self._high)

    def at(self, value: float) -> float:
        """The place of ``value`` on the axis: 0 at its start, 1 at its end."""
        return (math.log(value) - self._low) / (self._high - self._low)

    def ticks(self) -> list[tuple[float, str]]:
        """Round values along the axis, and how they are spelled."""
        base, choices = (2.0, _TWOS) if self._unit == "bytes" else (10.0, _TENS)
        found: list[float] = []
        for steps in choices:
            found = self._round(base, steps)
            if len(found) >= ENOUGH:
                break
        step = -(-len(found) // MOST)
        return [(value, spelled(value, self._unit)) for value in found[:: step or 1]]

    def _round(self, base: float, steps: Sequence[float]) -> list[float]:
        first = math.floor(self._low / math.log(base))
        last = math.ceil(self._high / math.log(base))
        values = [base**power * step for power in range(first, last + 1) for step in steps]
        return [v for v in values if self._low <= math.log(v) <= self._high]


class Dot(NamedTuple):
    """A point: a row, or an anchor as a row.
    ``x``: MB/s, ``y``: bytes; or the place of both in a picture."""

    row: Row
    name: str
    x: float
    y: float


class Scatter(NamedTuple):
    """Size against speed: the points of rows,
    the smallest first, those of anchors, and both axes."""

    dots: list[Dot]
    anchors: list[Dot]
    across: Axis
    up: Axis


def scatter(results: Results, speed: Measure) -> Scatter | None:
    """Size against ``speed``, in MB/s; None where nothing was measured."""
    named = [(row.chain, row) for row in by_size(results.rows)]
    dots = _dots(named, speed)
    if not dots:
        return None
    anchors = _dots([(anchor.name, anchor_row(anchor)) for anchor in results.anchors], speed)
    everything = [*dots, *anchors]
    across, up = (
        Axis([dot.x for dot in everything], "MB/s"),
        Axis([d.y for d in everything], "bytes"),
    )
    return Scatter(dots, anchors, across, up)


def _dots(named: Sequence[tuple[str, Row]], speed: Measure) -> list[Dot]:
    return [Dot(row, name, x, row.size) for name, row in named if row.size and (x := speed(row))]


def axes_of(found: Curves) -> tuple[Axis, Axis]:
    """The axes of one measure of a sweep: that of n, across, and that of the measure, up."""
    points = [point for line in found.lines.values() for point in line]
    return Axis([n for n, _ in points], "n"), Axis([value for _, value in points], found.unit)


def spelled(value: float, unit: Unit | str) -> str:
    """How a round value is written on an axis of ``unit``."""
    if unit == "bytes":
        return format_size(round(value)).replace(".0 ", " ")
    if unit == "seconds":
        name, scale = nearest_unit(value)
        return f"{_short(significant(value / scale))} {name}"
    return _short(significant(value)) if value < 1000 else f"{value:,.0f}"


def _short(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def placed(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    bounds: tuple[float, float],
    obstacles: Sequence[tuple[float, float]],
    gap: float,
) -> list[Box | None]:
    """Where the label of each of ``points`` stands beside it, given its width and height in
    ``sizes``; None where there is no room for it. Earlier points have the first choice.

    All is in one unit of length, from the upper left corner of a picture as large as ``bounds``.
    ``obstacles``: points that no label may cover; ``gap``: between a point and its label.
    """
    taken = [Box(x - gap / 2, y - gap / 2, gap, gap) for x, y in obstacles]
    found: list[Box | None] = []
    for (x, y), (width, height) in zip(points, sizes, strict=True):
        right, left, middle = x + gap, x - gap - width, y - height / 2
        above, below = y - gap - height, y + gap
        corners = (
            (right, middle), (left, middle), (right, above), (left, above), (right, below),
            (left, below), (x - width / 2, above), (x - width / 2, below),
        )  # fmt: skip
        boxes = (Box(*corner, width, height) for corner in corners)
        box = next((box for box in boxes if _fits(box, bounds, taken)), None)
        found.append(box)
        if box is not None:
            taken.append(box)
    return found


def _fits(box: Box, bounds: tuple[float, float], taken: Sequence[Box]) -> bool:
    within = min(box.x, box.y) >= 0
    within &= box.x + box.width <= bounds[0] and box.y + box.height <= bounds[1]
    return within and not any(map(box.meets, taken))
