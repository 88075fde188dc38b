"""Large values in a source, packed apart: arrays of an object or an archive, long bytes.

What stands side by side in a source may be as unlike as a picture and the words about it. So each
large value begins a block, and gets filters and codec by samples of its own; what is left, which is
small, can be read without it. Enter at ``apart``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from serialpack.array_chains import window_of
from serialpack.auto import Choice, for_numbers
from serialpack.formats.arrays.layout import NumbersLayout
from serialpack.formats.base import SourceBlock
from serialpack.raw_numbers import guessed_layouts
from serialpack.stages.chain import Chain, Extent
from serialpack.stages.stage import Buffer

#: ``read(start, stop)`` gives the bytes of the source there.
ReadAt = Callable[[int, int], Buffer]

#: So few bytes of large values are not worth the time that it takes to try filters.
_LEAST_TRIED = 1 << 20

#: Arrays of one type are tried together where they are smaller than this, whatever their shape.
_ALONE = 1 << 20

#: Samples are taken at these shares of alike values; of fewer bytes than so many times a sample
#: the middle one will do.
_PLACES, _TIMES = (0.15, 0.5, 0.85), 12

#: What may stand between two values that share a block: it is what aligns the second.
_BETWEEN = 64

#: Of so many bytes of a value it is guessed what they are.
_GUESSED = 4 << 20


class LargeValue(NamedTuple):
    """Where a large value is in its source, and what its numbers are; None: that is not known."""

    start: int
    stop: int
    layout: NumbersLayout | None = None

    @property
    def size(self) -> int:
        return self.stop - self.start


class Apart(NamedTuple):
    """How a source with large values is packed. ``chain``: of its header, and of what else has
    none of its own in ``chains``, which are those of ``values``. ``rest``: what is no large value.
    """

    chain: Chain
    values: Sequence[LargeValue]
    chains: Sequence[Chain]
    rest: Chain

    def blocks(
        self, read: ReadAt, total: int, block_size: int, *, records: int | None = None
    ) -> Iterator[SourceBlock]:
        """The blocks of the source of ``total`` bytes; ``records``: 1 where it is one record."""
        cuts = [*_blocks(self._extents(total), block_size)]
        for index, (start, stop, chain, _) in enumerate(cuts):
            later = records is not None and index > 0
            yield SourceBlock(
                read(start, stop),
                index=index,
                offset=start,
                records=0 if later else records,
                first_record=int(later),
                last=index + 1 == len(cuts),
                partial=records is not None and len(cuts) > 1,
                continued=later,
                extents=(Extent(stop - start, None if chain == self.chain else chain),),
            )

    def _extents(self, total: int) -> Iterator[_Extent]:
        at = 0
        ends = [*(value.start for value in self.values[1:]), total]
        for value, chain, end in zip(self.values, self.chains, ends, strict=True):
            if value.start > at:
                yield _Extent(at, value.start, self.rest, False)
            at = end if end - value.stop < _BETWEEN else value.stop
            yield _Extent(value.start, at, chain, True)
        if at < total or not total:
            yield _Extent(at, total, self.rest, False)


class _Extent(NamedTuple):
    start: int
    stop: int
    chain: Chain
    is_value: bool


def _blocks(extents: Iterator[_Extent], size: int) -> Iterator[_Extent]:
    """Those of one chain together where they are small, a large one in pieces of ``size``."""
    held = next(extents)
    for extent in extents:
        alike = held.is_value and extent[2:] == held[2:]
        if alike and extent.stop - held.start <= size:
            held = held._replace(stop=extent.stop)
            continue
        yield from _pieces(held, size)
        held = extent
    yield from _pieces(held, size)


def _pieces(extent: _Extent, size: int) -> Iterator[_Extent]:
    start, stop = extent[:2]
    for at in range(start, max(stop, start + 1), size):
        yield extent._replace(start=at, stop=min(at + size, stop))


def apart(choice: Choice, values: Sequence[LargeValue], read: ReadAt, *, tried: bool) -> Apart:
    """How ``values``, in their order, are packed, and the rest as ``choice`` has it.

    ``tried``: whether filters and codecs are tried for them, which ``choice`` has too else.
    """
    chains = dict.fromkeys(values, choice.chain)
    if tried and sum(value.size for value in values) >= _LEAST_TRIED:
        for layouts, alike in _groups(values, read).items():
            found = for_numbers(choice, list(layouts), _samples(alike, layouts[0], read)).chain
            chains.update(dict.fromkeys(alike, found))
    sizes: defaultdict[Chain, int] = defaultdict(int)
    for value, chain in chains.items():
        sizes[chain] += value.size
    # In the envelope of zstd no part has a chain of its own.
    others = [chain for chain in sizes if not chain.zstd_envelope]
    header = max(others, key=lambda chain: sizes[chain], default=choice.chain)
    return Apart(header, values, [chains[value] for value in values], choice.chain)


def _groups(
    values: Sequence[LargeValue], read: ReadAt
) -> dict[tuple[NumbersLayout, ...], list[LargeValue]]:
    """Values that are tried together, by what their numbers are, or may be."""
    found: defaultdict[tuple[NumbersLayout, ...], list[LargeValue]] = defaultdict(list)
    for value in values:
        layouts = [value.layout] if value.layout is not None else []
        if value.layout is None:
            head = read(value.start, min(value.stop, value.start + _GUESSED))
            layouts = guessed_layouts(head)
        if value.size < _ALONE:
            layouts = [layout._replace(lags=(1,)) for layout in layouts]
        if layouts:
            found[tuple(layout._replace(start=0) for layout in layouts)].append(value)
    return found


def _samples(values: list[LargeValue], layout: NumbersLayout, read: ReadAt) -> list[Buffer]:
    """Samples of alike values, each from a whole number on."""
    starts = [*accumulate((value.size for value in values), initial=0)]
    size = window_of(layout, starts[-1])
    found = []
    for share in _PLACES if starts[-1] >= _TIMES * size else _PLACES[1:2]:
        at = int(starts[-1] * share)
        value = values[min(bisect_right(starts, at), len(values)) - 1]
        at = min(at - starts[values.index(value)], max(value.size - size, 0))
        start = value.start + at // layout.size * layout.size
        found.append(read(start, min(start + size, value.stop)))
    return found
