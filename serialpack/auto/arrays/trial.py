"""Chains tried on samples of an array of numbers: what is left of their bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.filters import FILTERS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes compressed of the samples: so large a part of the file, at most so many. But no fewer than
#: so many, or twice that where time matters less: pcodec finds by what numbers are multiplied
#: only where it has many of them.
_SHARE, _MOST, _LEAST, _THOROUGH = 48, 3 << 20, 192 << 10, 2

#: Where the samples end, as shares of the numbers; one in the middle will do for a file that is not
#: so many times as long as all of them.
_PLACES, _TIMES = (0.15, 0.5, 0.85), 4

#: No neighbour is looked for farther off than so many bytes: in a block there are too few then.
_FARTHEST = 1 << 20

#: How many numbers on the neighbours are whose differences are taken, one after another.
Lags = tuple[int, ...]


class Way(NamedTuple):
    """Differences to the neighbours at ``lags``, and the filters ``after`` them."""

    lags: Lags
    after: tuple[str, ...]


PLAIN = Way((), ())


class ArrayChain(NamedTuple):
    """Filters and codec, and the share of the samples' bytes that they leave."""

    filters: tuple[StageSpec, ...]
    codec: StageSpec
    share: float


def near_lags(layout: NumbersLayout) -> Lags:
    """Those neighbours that blocks and samples have."""
    return tuple(lag for lag in layout.lags if lag * layout.size <= _FARTHEST) or (1,)


def sample_places(layout: NumbersLayout, length: int, effort: int) -> list[tuple[int, int]]:
    """Where the samples of a file of ``length`` bytes begin and end: at whole numbers, with those
    before them that are their neighbours."""
    size = layout.size
    numbers = (length - layout.start) // size
    measured = min(measured_of(layout, length, effort), numbers)
    shares = _PLACES if numbers >= _TIMES * measured else _PLACES[1:2]
    found = []
    for share in shares if numbers > 0 else ():
        count = measured // len(shares)
        stop = int((numbers - count) * share) + count
        start = max(stop - count - sum(near_lags(layout)), 0)
        found.append((layout.start + start * size, layout.start + stop * size))
    return found


def measured_of(layout: NumbersLayout, length: int, effort: int) -> int:
    """How many numbers of the samples are compressed: the last ones of each, as many of each."""
    least = _LEAST * (_THOROUGH if EFFORTS[effort].columns.thorough else 1)
    return min(max(length // _SHARE, least), _MOST) // layout.size


class SampleTrial:
    """Chains tried on the last numbers of each sample, ``measured`` together.

    What is made of them is kept. Threads may try chains side by side.
    """

    def __init__(self, layout: NumbersLayout, samples: list[Buffer], measured: int) -> None:
        size = layout.size
        self.layout = layout
        self._samples = samples
        #: How many numbers of each.
        self._each = min([measured // len(samples), *(len(each) // size for each in samples)])
        # Before differences are taken: little-endian integers in the order of the numbers.
        self._first = [f"byteswap:{size}"] if layout.big else []
        self._first += [f"ordered:{size}"] if layout.kind == "f" else []
        self._made: dict[tuple[int, Lags], NDArray[Any]] = {}
        self._filtered: dict[Way, Buffer] = {}
        self._codecs: dict[tuple[int, StageSpec], Codec] = {}

    def of(self, way: Way, codec: StageSpec) -> ArrayChain:
        """The chain of both, and what it leaves."""
        data = self._bytes(way)
        key = get_ident(), codec
        if key not in self._codecs:
            self._codecs[key] = CODECS.create(*codec)
        share = len(self._codecs[key].compress(data)) / max(len(data), 1)
        return ArrayChain(self._filters(way), codec, share)

    def bits(self, lags: Lags) -> float:
        """About how many bits a difference has, of bytes their entropy: what is soon told, and
        ranks ``lags`` nearly as compressing does."""
        import numpy as np

        differences = self._less(0, lags)
        size, count = self.layout.size, max(len(differences), 1)
        if size == 1:
            often: NDArray[Any] = np.bincount(differences, minlength=256) / count
            return -float((often * np.log2(often.clip(1 / count))).sum())
        # The exponent of a float counts the bits of an integer, of which 0 has none.
        floats = differences.view(f"<i{size}").astype(np.float64).view("<u8")
        exponents = np.maximum(floats >> 52 & 0x7FF, 1022)
        return int(exponents.sum()) / count - 1022

    def _filters(self, way: Way) -> tuple[StageSpec, ...]:
        size = self.layout.size
        deltas = [f"delta:{size}@{lag}" if lag > 1 else f"delta:{size}" for lag in way.lags]
        names = (*(self._first if way.lags else ()), *deltas, *way.after)
        return tuple(map(_stage, names))

    def _bytes(self, way: Way) -> Buffer:
        """What a codec gets."""
        found = self._filtered.get(way)
        if found is None:
            numbers = self._less(0, way.lags) if way.lags else self._numbers(0)
            found = numbers.data.cast("B")
            for name in way.after:
                found = _forward(name)(found)
            self._filtered[way] = found
        return found

    def _less(self, ago: int, lags: Lags) -> NDArray[Any]:
        """The numbers that stand so many ``ago``, less those at ``lags`` before each; nothing else
        of the samples, which a far neighbour makes long."""
        key = ago, lags
        found = self._made.get(key)
        if found is None:
            if lags:
                found = self._less(ago, lags[:-1]) - self._less(ago + lags[-1], lags[:-1])
            else:
                found = self._ordered(ago)
            self._made[key] = found
        return found

    def _ordered(self, ago: int) -> NDArray[Any]:
        """Of what stands before all numbers there is nothing to take."""
        import numpy as np

        numbers = self._numbers(ago)
        data: Buffer = numbers.data.cast("B")
        for name in self._first:
            data = _forward(name)(data)
        found = np.frombuffer(data, numbers.dtype)
        if not any(absent := [self._absent(sample, ago) for sample in self._samples]):
            return found
        found = found.copy()
        for place, count in enumerate(absent):
            found[place * self._each :][:count] = 0
        return found

    def _numbers(self, ago: int) -> NDArray[Any]:
        """The last numbers of all samples but so many, zeros where there are none."""
        import numpy as np

        size = self.layout.size
        parts = []
        for sample in self._samples:
            absent = self._absent(sample, ago)
            start = (len(sample) // size - ago - self._each + absent) * size
            parts.append(np.zeros(absent, f"<u{size}"))
            parts.append(np.frombuffer(sample, f"<u{size}", self._each - absent, max(start, 0)))
        return np.concatenate(parts)

    def _absent(self, sample: Buffer, ago: int) -> int:
        """How many numbers so many ``ago`` would stand before the sample."""
        return min(max(self._each + ago - len(sample) // self.layout.size, 0), self._each)


@cache
def _forward(name: str) -> Callable[[Buffer], Buffer]:
    """What a filter makes of bytes; these keep nothing between calls."""
    return FILTERS.create(*_stage(name)).forward


@cache
def _stage(name: str) -> StageSpec:
    return parse_stage(FILTERS, name)
