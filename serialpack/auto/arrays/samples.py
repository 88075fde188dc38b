"""Where the samples of an array are, and which neighbours stand in them."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer

#: Bytes compressed of the samples: so large a part of the file, at most so many. But no fewer than
#: so many, or twice that where time matters less: pcodec finds by what numbers are multiplied
#: only where it has many of them.
_SHARE, _MOST, _LEAST, _THOROUGH = 48, 3 << 20, 192 << 10, 2

#: Where the samples end, as shares of the numbers; one in the middle will do for a file that is not
#: so many times as long as all that is measured of most.
_PLACES, _TIMES = (0.15, 0.5, 0.85), 4

#: No neighbour is looked for farther off than so many bytes: in a block there are too few then.
_FARTHEST = 1 << 20

#: Of columns that stand one after another all are looked at, or so many, where more bytes than this
#: would be read for their neighbours.
_COLUMNS, _READ = 8, 8 << 20

#: How many numbers on the neighbours are whose differences are taken, one after another.
Lags = tuple[int, ...]


def near_lags(layout: NumbersLayout) -> Lags:
    """Those neighbours that blocks and samples have."""
    return tuple(lag for lag in layout.lags if lag * layout.size <= _FARTHEST) or (1,)


def sample_places(
    layout: NumbersLayout, length: int, effort: int, times: int
) -> list[tuple[int, int]]:
    """Where the samples of a file of ``length`` bytes begin and end: at whole numbers, with those
    before them that are their neighbours. All of it, where so much is measured; ``times`` as much
    as of most. Columns that stand one after another are looked at in their middle, each as much."""
    size, item = layout.size, layout.row
    items = (length - layout.start) // item
    measured = min(measured_of(layout, length, effort, times) * size // item, items)
    if 0 < items == measured and layout.start % size == length % size == 0:
        return [(0, length)]
    if layout.stacked:
        return [*_column_places(layout, measured)]
    shares = _PLACES if items >= _TIMES / times * measured else _PLACES[1:2]
    found = []
    for share in shares if items > 0 else ():
        count = measured // len(shares)
        stop = int((items - count) * share) + count
        start = max(stop - count - -(-sum(near_lags(layout)) * size // item), 0)
        found.append((layout.start + start * item, layout.start + stop * item))
    return found


def part_of(
    layout: NumbersLayout, samples: list[Buffer], measured: int, *, columns: bool, spread: bool
) -> list[Buffer]:
    """Samples of so many numbers together. ``columns``: they are all, and its columns stand one
    after another; ``spread``: of one sample from all over it, as its end may be unlike the rest."""
    whole, item = memoryview(samples[0]), layout.row
    if columns:
        return [whole[start:stop] for start, stop in _column_places(layout, measured)]
    start = len(whole) % item
    items = (len(whole) - start) // item
    count = min(measured * layout.size // item, items) // len(_PLACES)
    if len(samples) > 1 or not spread or not count:
        return samples
    stops = [int((items - count) * share) + count for share in _PLACES]
    return [whole[: start + stop * item] for stop in stops]


def _column_places(layout: NumbersLayout, measured: int) -> Iterator[tuple[int, int]]:
    """Where samples of so many numbers together are in columns all over a table."""
    size, rows, before = layout.size, layout.lags[-1], sum(near_lags(layout))
    count = min(layout.stacked, max(_COLUMNS, _READ // (before * size)))
    each = min(measured // count, rows)
    for number in range(count):
        start = number * layout.stacked // count * rows + (rows - each) // 2
        places = max(start - before, 0), start + each
        yield layout.start + places[0] * size, layout.start + places[1] * size


def measured_of(layout: NumbersLayout, length: int, effort: int, times: int) -> int:
    """How many numbers of the samples are compressed: the last ones of each, as many of each."""
    least = _LEAST * (_THOROUGH if EFFORTS[effort].columns.thorough else 1)
    return min(times * max(length // _SHARE, least), _MOST) // layout.size
