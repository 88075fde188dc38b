"""Chains tried on samples of an array of numbers: what is left of their bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.auto.arrays.samples import Lags, near_lags
from serialpack.codecs import CODECS
from serialpack.codecs.base import DIFFERENCES, Codec
from serialpack.filters import FILTERS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec, parse_stage
from serialpack.stages.stage import Buffer
from serialpack.threads import side_by_side

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: So many pieces of so many differences tell how many bits these have.
_LOOKED = 8, 1024

#: So many numbers of a table at most, of so many rows at least, are told apart by so many ranks, or
#: their differences to the row above, where these have so many bits fewer than those to a far one.
_RANKED, _RANKS, _NEARER = (1024, 24), 8, 0.5

#: zstd says anew how bytes are spread after so many, about, where they become others: it cuts each
#: 128 kB once, at quarters, but the first and the last of a block.
_ANEW = 96 << 10

#: Little of differences comes again where a quick level leaves more than this share of them.
_REPEATED = 0.1

#: Payloads are kept that are at most so much larger than the smallest.
_KEPT = 1.05


class Way(NamedTuple):
    """Differences to the neighbours at ``lags``, and the filters ``after`` them."""

    lags: Lags
    after: tuple[str, ...]


PLAIN = Way((), ())


def shuffled(size: int) -> Way:
    """Bytes of equal weight together, of items of ``size`` bytes."""
    return Way((), (f"shuffle:{size}",))


def columns_apart(layout: NumbersLayout) -> Way | None:
    """The columns of a table one after another, as they may stand; None where there are none."""
    little = (f"byteswap:{layout.size}",) if layout.big else ()
    if layout.stacked:
        return Way((), little)
    apart = f"transpose:{layout.size}@{layout.columns}"
    return Way((), (*little, apart)) if layout.columns else None


class ArrayChain(NamedTuple):
    """Filters and codec, and the share of the samples' bytes that they leave.

    ``way``: that of its filters. ``payload``: what they make of all that there is, where that is
    known; ``learned``: what the codec has learned of samples."""

    filters: tuple[StageSpec, ...]
    codec: StageSpec
    share: float
    way: Way = PLAIN
    payload: Buffer | None = None
    learned: object = None


def _learned(way: Way, share: float) -> object:
    """What the share that is left behind the filters of ``way`` tells."""
    return DIFFERENCES if way.lags and share > _REPEATED else None


def smallest(chains: Sequence[ArrayChain]) -> ArrayChain:
    """That which leaves the smallest share."""
    return min(chains, key=lambda chain: chain.share)


def least_of(chains: Sequence[ArrayChain]) -> float:
    """The smallest share that any of them leaves; 1 where there are none."""
    return min((chain.share for chain in chains), default=1)


def asking(share: float, chain: ArrayChain) -> ArrayChain:
    """``chain``, which has to be smaller than another by this share."""
    return chain._replace(share=chain.share * (1 + share))


def at_least(codec: StageSpec, level: int) -> StageSpec:
    """This level of ``codec``, or its own higher one."""
    return codec._replace(values=(max(codec.values[0], level), *codec.values[1:]))


def at_most(codec: StageSpec, level: int) -> StageSpec:
    """This level of ``codec``, which tells as much of a sample, or its own lower one."""
    return codec._replace(values=(min(codec.values[0], level), *codec.values[1:]))


def together(threads: int, *jobs: Callable[[], Any]) -> list[Any]:
    """What each of the jobs gives, done by so many threads."""
    return list(side_by_side(lambda job: job(), jobs, threads))


def of_all(data: Buffer, chain: ArrayChain) -> ArrayChain:
    """``chain`` with what it makes of all of ``data``, and the share that this is."""
    filtered = data
    for stage in chain.filters:
        filtered = FILTERS.create(*stage).forward(filtered)
    codec = CODECS.create(*chain.codec)
    codec.begins(source=True, learned=chain.learned)
    payload = codec.compress(filtered)
    return chain._replace(share=len(payload) / len(data), payload=payload)


#: The codecs of trials that share them: to make one takes memory anew.
Coders = dict[tuple[int, StageSpec, Way], Codec]


class SampleTrial:
    """Chains tried on the last numbers of each sample, ``measured`` together.

    What is made of them is kept. Threads may try chains side by side. ``whole``: they are all that
    there is, with what stands before the numbers, which is taken for some. ``before``: the filters
    that the samples have gone through. ``length``: bytes of all that there is; ``most``: of a
    block of it.
    """

    def __init__(
        self,
        layout: NumbersLayout,
        samples: list[Buffer],
        measured: int,
        coders: Coders,
        *,
        whole: bool = False,
        before: tuple[StageSpec, ...] = (),
        length: int = 0,
        most: int = 0,
    ) -> None:
        size = layout.size
        #: In each block pcodec says anew how the numbers are spread; there are one or a few.
        self._block = length // 2
        #: So many columns the samples have; of these in each block that it is cut into, or once.
        self.columns = layout.columns
        self._of_columns = min(self._block, most)
        if layout.stacked:
            self.columns = layout.stacked if whole else len(samples)
            self._of_columns = length * self.columns // layout.stacked
        #: And zstd in each of so many pieces of a block.
        self._pieces = min(length, most) // _ANEW
        self.layout = layout
        self._before = before
        self._samples = samples
        self._whole = whole
        #: How many numbers of each.
        self._each = min([measured // len(samples), *(len(each) // size for each in samples)])
        self._each -= 0 if whole else self._each % (layout.row // size)
        # Before differences are taken: little-endian integers in the order of the numbers.
        self._first = [f"byteswap:{size}"] if layout.big else []
        self._first += [f"ordered:{size}"] if layout.kind == "f" else []
        self._near = [lag for lag in near_lags(layout) if lag < self._each]
        self._less_of: dict[tuple[int, Lags], list[NDArray[Any]]] = {}
        self._filtered: dict[Way, Buffer] = {}
        self._coders = coders
        self._fewest = sum(map(len, samples))
        self._found: dict[tuple[Way, StageSpec], ArrayChain] = {}

    def of(self, way: Way, codec: StageSpec) -> ArrayChain:
        """The chain of both, and what it leaves."""
        found = self._found.get((way, codec))
        if found is None:
            data, coder = self._bytes(way), self._coder(way, codec)
            payload = None if coder.estimates else coder.compress(data)
            if payload is None:
                apart = codec.name == "pcodec" and codec.values[-1]
                block = self._of_columns if apart else self._block
                # Where columns stand one after another each sample is one of them.
                samples = 1 if apart and self.layout.stacked else len(self._samples)
            size = coder.estimated(data, block, samples) if payload is None else len(payload)
            share = size / max(len(data), 1)
            learned = coder.learned() or _learned(way, share)
            found = ArrayChain(self._filters(way), codec, share, way, learned=learned)
            if self._whole and payload is not None and size < _KEPT * self._fewest:
                self._fewest = min(size, self._fewest)
                found = found._replace(payload=payload)
            self._found[way, codec] = found
        return found

    def _told_of(self, way: Way, codec: StageSpec, coder: Codec) -> object:
        """What a quick level of ``codec`` tells of ``way``, where ``coder`` heeds that."""
        if not way.lags or not coder.heeds_differences:
            return None
        return self.of(way, at_most(codec, 1)).learned

    def tried(self, way: Way, codec: StageSpec) -> ArrayChain | None:
        """What ``of`` found before; None where it was not asked."""
        return self._found.get((way, codec))

    def in_planes(self, chain: ArrayChain) -> ArrayChain:
        """With the share that is left where bytes, or bits, of equal weight are compressed each by
        themselves: of a block that is longer than the samples there are so many that zstd says of
        each anew how they are spread; or of some together, where they are many."""
        planes = self.layout.item * _planes_of(chain.way)
        pieces = min(planes, self._pieces)
        if self._whole or not 1 < pieces <= planes <= len(self._bytes(chain.way)):
            return chain
        share = self._cut(chain, pieces)
        if pieces < planes and share > chain.share:  # they cut off what comes again in a plane
            share = min(share, self._cut(chain, planes))
        return chain._replace(share=share)

    def _cut(self, chain: ArrayChain, pieces: int) -> float:
        """The share that is left of so many pieces, each by itself."""
        data = memoryview(self._bytes(chain.way))
        length = len(data) // pieces
        around = len((coder := self._coder(chain.way, chain.codec)).compress(b""))
        parts = (data[start : start + length] for start in range(0, pieces * length, length))
        return sum(len(coder.compress(part)) - around for part in parts) / len(data)

    def packed(self, chain: ArrayChain) -> ArrayChain:
        """With its payload, of the whole."""
        if chain.payload is not None:
            return chain
        data = self._bytes(chain.way)
        payload = self._coder(chain.way, chain.codec).compress(data)
        return chain._replace(share=len(payload) / max(len(data), 1), payload=payload)

    def _coder(self, way: Way, codec: StageSpec) -> Codec:
        """Of a thread's own; one that learns by what it estimates serves one way."""
        learns = CODECS.cls(codec.name).estimates
        key = (id(self), codec, way) if learns else (get_ident(), codec, PLAIN)
        if key not in self._coders:
            self._coders[key] = CODECS.create(*codec)
        coder = self._coders[key]
        coder.begins(source=True, learned=self._told_of(way, codec, coder))
        return coder

    def bits(self, lags: Lags) -> float:
        """About how many bits a difference has, of bytes their entropy: what is soon told, and
        ranks ``lags`` nearly as compressing does."""
        import numpy as np

        differences = self._differences(lags)
        size, pieces, length = self.layout.size, *_LOOKED
        if size > 1 and len(differences) > pieces * length:
            each = len(differences) // pieces
            differences = differences[: pieces * each].reshape(pieces, each)[:, :length].ravel()
        count = max(len(differences), 1)
        if size == 1:
            often: NDArray[Any] = np.bincount(differences, minlength=256) / count
            return -float((often * np.log2(often.clip(1 / count))).sum())
        # The exponent of a float counts the bits of an integer, of which 0 has none.
        floats = differences.view(f"<i{size}").astype("<f4").view("<i4")
        floats >>= 23
        floats &= 0xFF
        return int(np.maximum(floats, 126, out=floats).sum(dtype=np.int64)) / count - 126

    def told_by_columns(self) -> float:
        """How many bits of a number are known where its column is: what is lost where columns are
        mixed, about. Of its difference to the one above, where that is nearer than others."""
        import numpy as np

        columns, (most, least) = self.columns, _RANKED
        values = self._differences(())
        rows = len(values) // columns
        if rows < least:
            return 0
        table = values[len(values) - rows * columns :]
        apart = self.layout.stacked
        table = table.reshape(columns, rows).T if apart else table.reshape(rows, columns)
        some = np.arange(1, rows, max(rows * columns // most, 1))
        others = some - 1, (some + rows // 2) % rows
        near, far = (
            # Of the least number of its size the absolute one is only held without a sign.
            np.abs((table[some] - table[each]).view(f"i{table.itemsize}")).view(table.dtype)
            for each in others
        )
        bits = [float(np.log2(each.astype(np.float64) + 1).mean()) for each in (near, far)]
        return _told(near if bits[0] < bits[1] - _NEARER else table[some])

    def _filters(self, way: Way) -> tuple[StageSpec, ...]:
        size = self.layout.size
        deltas = [f"delta:{size}@{lag}" if lag > 1 else f"delta:{size}" for lag in way.lags]
        names = (*(self._first if way.lags else ()), *deltas, *way.after)
        return (*self._before, *map(_stage, names))

    def _bytes(self, way: Way) -> Buffer:
        """What a codec gets."""
        found = self._filtered.get(way)
        if found is None:
            numbers = self._differences(way.lags) if way.lags else self._last(self._numbers(0))
            found = numbers.data.cast("B")
            for name in way.after:
                found = _forward(name)(found)
            self._filtered[way] = found
        return found

    def _differences(self, lags: Lags) -> NDArray[Any]:
        """The last numbers of all samples, less those at ``lags`` before each."""
        return self._last(self._less(0, lags))

    def _last(self, samples: list[NDArray[Any]]) -> NDArray[Any]:
        import numpy as np

        last = [numbers[len(numbers) - self._each :] for numbers in samples]
        return last[0] if len(last) == 1 else np.concatenate(last)

    def _less(self, ago: int, lags: Lags) -> list[NDArray[Any]]:
        """Of each sample the numbers that stand so many ``ago``, and those before them that near
        lags need, less those at ``lags`` before each."""
        key = ago, lags
        found = self._less_of.get(key)
        if found is None:
            if lags:
                *others, lag = lags
                needed = self._each + sum(each for each in self._near if each > lag)
                before = self._less(ago, tuple(others))
                # What is farther off is no part of what is at hand: it would make that long.
                far = before if lag in self._near else self._less(ago + lag, tuple(others))
                shift = lag if lag in self._near else 0
                found = [
                    now[len(now) - needed :] - then[len(then) - needed - shift :][:needed]
                    for now, then in zip(before, far, strict=True)
                ]
            else:
                found = [self._ordered(numbers) for numbers in self._numbers(ago)]
            self._less_of[key] = found
        return found

    def _ordered(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Of what stands before all numbers there is nothing to take."""
        import numpy as np

        data: Buffer = numbers.data.cast("B")
        for name in self._first:
            data = _forward(name)(data)
        found = np.frombuffer(data, numbers.dtype)
        absent = self._each + sum(self._near) - len(found)
        return np.concatenate((np.zeros(absent, found.dtype), found)) if absent else found

    def _numbers(self, ago: int) -> list[NDArray[Any]]:
        """Of each sample those that stand so many ``ago``, and before them those that near lags
        need; as many as there are."""
        import numpy as np

        size, found = self.layout.size, []
        for sample in self._samples:
            stop = max(len(sample) // size - ago, 0)
            start = max(stop - self._each - sum(self._near), 0)
            found.append(np.frombuffer(sample, f"<u{size}", stop - start, start * size))
        return found


#: Those of a part of all that there is, or of the whole, which serve several efforts: by the
#: layout, the filters before, how many numbers they have, and whether these are the whole, or are
#: spread over it.
Trials = dict[tuple[NumbersLayout, tuple[StageSpec, ...], int, bool, bool], SampleTrial]


def _told(table: NDArray[Any]) -> float:
    """The mutual information of columns and ranks of numbers, in bits, less what chance makes of
    it (Miller, Madow)."""
    import numpy as np

    numbers, columns = table.ravel(), table.shape[1]
    edges = np.sort(numbers)[np.arange(1, _RANKS) * len(numbers) // _RANKS]
    # Many may be equal, and one of the edges: less, as much and more are three ranks.
    sides = [np.searchsorted(edges, numbers, side) for side in ("left", "right")]
    ranks = (sides[0] + sides[1]).reshape(table.shape)
    counts = [np.bincount(each.ravel()) for each in (ranks * columns + np.arange(columns), ranks)]
    shares = [count[count > 0] / len(numbers) for count in counts]
    together, alone = (float((share * np.log2(share)).sum()) for share in shares)
    chance = (len(shares[1]) - 1) * (columns - 1) / (2 * len(numbers) * np.log(2))
    return together - alone + float(np.log2(columns) - chance)


def _planes_of(way: Way) -> int:
    """How many planes the last filter makes of each byte of an item; 0 where it makes none."""
    last = way.after[-1] if way.after else ""
    return 8 if last.startswith("bitshuffle") else int(last.startswith("shuffle"))


@cache
def _forward(name: str) -> Callable[[Buffer], Buffer]:
    """What a filter makes of bytes; these keep nothing between calls."""
    return FILTERS.create(*_stage(name)).forward


@cache
def _stage(name: str) -> StageSpec:
    return parse_stage(FILTERS, name)
