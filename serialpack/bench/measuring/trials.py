"""Measures one chain on one material, in a process of its own (see lab.py).

The timed code is that of ``pack`` and ``unpack``: the halves of their block workers, run by
their threads or processes. Of several runs the fastest counts. The garbage collector is off
meanwhile. How and why: docs/measuring.md.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import fmean, median
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeVar

from serialpack._version import __version__
from serialpack.bench.measuring.memory import PeakMemory
from serialpack.container.block import StoredBlock
from serialpack.container.writer import MemberWriter
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.pipeline.blocks import BlockPacker, BlockUnpacker, PackedBlock, Plan, Serialized
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.line import WorkerMaker
from serialpack.pipeline.packing import Packing, prepare
from serialpack.pipeline.timing import Timer, add_seconds
from serialpack.pipeline.workers import MakeWorker, in_order
from serialpack.pipeline.writing import keeps
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, StageSpec
from serialpack.stages.stage import Buffer

#: The least seconds that work is repeated for, and the most runs.
REPEAT = 0.02
MOST_RUNS = 50
#: The runs of which the fastest counts, where they do not take long.
FEW = 3


class Care(NamedTuple):
    """How carefully work is measured: ``least`` runs, and more until they have taken ``seconds``.

    ``memory``: its peak is measured too, which takes some milliseconds. ``most``: runs. ``few``:
    there are up to ``FEW`` runs as long as they take no more seconds than that.
    """

    least: int
    seconds: float
    memory: bool
    most: int = MOST_RUNS
    few: float = 0.0

    def wants_more(self, walls: Sequence[float]) -> bool:
        """Whether to run it again, when the runs before took so many seconds."""
        runs, total = len(walls), sum(walls)
        if runs < self.least:
            return True
        return (total < self.seconds and runs < self.most) or (total < self.few and runs < FEW)


#: A first look, at little data: the first run also imports what is needed, and to start threads may
#: take longer than the work, so that few runs tell nothing. Then a single run, to see what is worth
#: more; the whole source; and a larger sample of several files.
LOOKING = Care(2, 0.01, False, few=0.05)
SAMPLING = Care(1, 0.0, False)
CAREFUL = Care(1, REPEAT, True, few=0.3)
AT_LENGTH = Care(1, 0.0, False, few=0.3)

#: The steps of packing and unpacking, as rows name them.
PACK_STEPS = ("serialize", "prove", "compress", "undo")
UNPACK_STEPS = ("decompress", "deserialize")
STEPS = (*PACK_STEPS, *UNPACK_STEPS)
OF_SERIALIZERS = ("serialize", "prove", "deserialize")
OF_CODECS = ("compress", "undo", "decompress")


class Timing(NamedTuple):
    """The runs of one piece of work: seconds of the fastest one, also by step; how many runs.

    ``mean``, ``means``: of all runs. ``spread``: by which share the median run took longer; None
    for one run. ``memory``: peak bytes.
    """

    wall: float
    mean: float
    steps: dict[str, float]
    means: dict[str, float]
    runs: int
    spread: float | None
    memory: int | None


class Figures(NamedTuple):
    """The figures of one trial on ``source`` bytes of the source."""

    source: int
    records: int | None
    size: int
    overhead: int
    pack: float
    unpack: float
    pack_mean: float
    unpack_mean: float
    steps: dict[str, float]
    runs: int
    spread: float | None
    memory: int | None
    kept: Literal["exact", "faithful"]
    means: dict[str, float] | None = None
    #: For a sample of several files the share that ``size`` may be off.
    error: float | None = None


#: What a worker does: one half of packing blocks, or of unpacking them.
Half = Literal["serialize", "finish", "decompress", "deserialize"]


def half_worker(plan: Plan, half: Half) -> Callable[[Any], tuple[Any, dict[str, float]]]:
    """A worker for one half, whose jobs are its arguments; it gives the result and the seconds."""
    maker = BlockPacker if half in ("serialize", "finish") else BlockUnpacker
    step = getattr(maker(plan), half)

    def work(job: tuple[Any, ...]) -> tuple[Any, dict[str, float]]:
        timer = Timer()
        return step(*job, timer), timer.seconds

    return work


class SerializedPart(NamedTuple):
    """A part of the material through one serializer: done once, for all codecs."""

    packing: Packing
    plan: Plan
    blocks: list[SourceBlock]
    serialized: list[Serialized]
    there: Timing
    back: Timing
    #: A digest of all serialized bytes: where it is the same, no codec is tried again.
    digest: bytes


class CompressedPart(NamedTuple):
    """A part of the material through filters and codec."""

    packed: list[PackedBlock]
    there: Timing
    back: Timing


def serialize(
    packing: Packing, blocks: list[SourceBlock], threads: int, care: Care = CAREFUL
) -> SerializedPart:
    """Serialize, prove and restore the blocks. RefusedError where a value cannot be held.

    ``packing``: the chain's filters and codec do not matter.
    """
    _, plan = prepare(packing, blocks[0])
    fmt, serializer = FORMATS.get(plan.format), SERIALIZERS.cls(plan.chain.serializer.name)
    size = sum(len(block.data) for block in blocks)
    apart = isinstance(fmt, ValueFormat) and serializer.holds_gil and threads > 1
    run = _Runner(threads, care, size if apart else None)
    jobs = [(block,) for block in blocks]
    serialized, there = run.timed(partial(half_worker, plan, "serialize"), jobs)
    kept = keeps(serializer, fmt)
    if kept:
        back = Timing(0.0, 0.0, {}, {}, 1, None, None)
    else:
        unpacked = [(_stored(plan, b, s), s.data) for b, s in zip(blocks, serialized, strict=True)]
        _, back = run.timed(partial(half_worker, plan, "deserialize"), unpacked)
    digest = WholeDigest()
    for each in serialized:
        digest.add(each.data, None, exact=True)
    return SerializedPart(packing, plan, blocks, serialized, there, back, digest.digest())


def compress(
    part: SerializedPart, chain: Chain, threads: int, care: Care = CAREFUL
) -> CompressedPart:
    """Filter, compress and undo what a serializer wrote."""
    plan = part.plan._replace(chain=chain)
    run = _Runner(threads, care)
    jobs = list(zip(part.blocks, part.serialized, strict=True))
    packed, there = run.timed(partial(half_worker, plan, "finish"), jobs)
    stored = [(StoredBlock(p.block, 0, 0, tuple(map(bytes, p.payload))),) for p in packed]
    _, back = run.timed(partial(half_worker, plan, "decompress"), stored, keep=False)
    return CompressedPart(packed, there, back)


def figures(part: SerializedPart, squeezed: CompressedPart, chain: Chain) -> Figures:
    """The figures of a chain, from its serializer's part and its codec's."""
    size, payload, records = _container(part, squeezed, chain)
    timings = (part.there, part.back, squeezed.there, squeezed.back)
    steps, means = added_steps(timings)
    memory = [t.memory for t in timings if t.memory is not None]
    return Figures(
        source=sum(len(block.data) for block in part.blocks),
        records=records,
        size=size,
        overhead=size - payload,
        pack=part.there.wall + squeezed.there.wall,
        unpack=part.back.wall + squeezed.back.wall,
        pack_mean=part.there.mean + squeezed.there.mean,
        unpack_mean=part.back.mean + squeezed.back.mean,
        steps=steps,
        runs=min(t.runs for t in timings if t.wall) if any(t.wall for t in timings) else 1,
        spread=spread_of(timings),
        memory=max(memory, default=None),
        kept="exact" if all(s.exact for s in part.serialized) else "faithful",
        means=means,
    )


def spread_of(timings: Iterable[Timing]) -> float | None:
    """The share by which the median runs of several pieces of work together took longer than the
    fastest; None where one of them was run once.
    """
    found = [timing for timing in timings if timing.wall]
    if not found or any(timing.spread is None for timing in found):
        return None
    more = sum(timing.wall * (timing.spread or 0.0) for timing in found)
    return more / sum(timing.wall for timing in found)


def added_steps(timings: Iterable[Timing]) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds by step of several pieces of work together: of the fastest runs, and the means."""
    steps, means = dict.fromkeys(STEPS, 0.0), dict.fromkeys(STEPS, 0.0)
    for timing in timings:
        add_seconds(steps, {step: timing.steps.get(step, 0.0) for step in STEPS})
        add_seconds(means, {step: timing.means.get(step, 0.0) for step in STEPS})
    return steps, means


def _container(
    part: SerializedPart, squeezed: CompressedPart, chain: Chain
) -> tuple[int, int, int | None]:
    """Bytes of the container that ``pack`` would write, of its payload, and its records."""
    header, plan = prepare(part.packing._replace(chain=chain), part.blocks[0])
    kept = keeps(SERIALIZERS.cls(chain.serializer.name), FORMATS.get(plan.format))
    writer, digest = MemberWriter(len, header), WholeDigest()
    rows = zip(part.blocks, part.serialized, squeezed.packed, strict=True)
    for source, serialized, packed in rows:
        # The codec's part may be of another serializer, which wrote the same bytes.
        block = packed.block._replace(
            records=serialized.records,
            extras={"s": serialized.extras} if serialized.extras else {},
        )
        digest.add(serialized.data, None if kept else source.data, exact=serialized.exact)
        writer.block(block, packed.payload)
    index = writer.finish(digest.digest())
    return writer.length, writer.payload, index.records


def _stored(plan: Plan, block: SourceBlock, serialized: Serialized) -> StoredBlock:
    """The block as unpacking gets it when the codec is undone."""
    none = plan.chain._replace(filters=(), codec=StageSpec("none"))
    packed = BlockPacker(plan._replace(chain=none, verify=False)).finish(block, serialized, Timer())
    return StoredBlock(packed.block, 0, 0, ())


class _Runner:
    """Runs jobs as ``pack`` does. ``size``: bytes of the source, where processes may work on it."""

    def __init__(self, threads: int, care: Care, size: int | None = None) -> None:
        self._threads = threads
        self._care = care
        self._size = size

    def timed(
        self, make: MakeWorker, jobs: Sequence[Any], *, keep: bool = True
    ) -> tuple[list[Any], Timing]:
        """The results of the jobs, and how long all took."""

        def work(first: bool) -> tuple[list[Any], dict[str, float]]:
            maker = WorkerMaker(make, size=self._size, processes=self._size is not None)
            seconds: dict[str, float] = {}
            kept: list[Any] = []
            for _, (result, took) in in_order(iter(jobs), maker.make, self._threads):
                add_seconds(seconds, took)
                if keep and first:
                    kept.append(result)
                del result
            return kept, seconds

        return repeat(work, lambda kept: sum(map(_bytes_of, kept)), self._care)


Result = TypeVar("Result")


def repeat(
    work: Callable[[bool], tuple[Result, dict[str, float]]],
    held: Callable[[Result], int],
    care: Care = CAREFUL,
    *,
    before: Callable[[], object] = lambda: None,
) -> tuple[Result, Timing]:
    """The result of the first run of ``work``, and the times of all runs.

    ``work(first)`` gives a result, of which only the first is kept, and its seconds by step: over
    several threads these add up to more than the clock tells, and are scaled down to that.
    ``held``: bytes that a result takes, which do not count as memory of the work. ``before`` is
    called before each run, and not timed.
    """
    walls: list[float] = []
    steps: dict[str, float] = {}
    sums: dict[str, float] = {}
    memory: int | None = None
    kept: list[Result] = []
    with collector_off():
        while care.wants_more(walls):
            before()
            peak = PeakMemory() if care.memory and not walls else None
            since = perf_counter()
            result, seconds = work(not walls)
            wall = perf_counter() - since
            if peak is not None:
                found = peak.peak()
                memory = None if found is None else max(found - held(result), 0)
            if not walls:
                kept.append(result)
            del result
            share = wall / (sum(seconds.values()) or 1.0)
            scaled = {step: took * share for step, took in seconds.items()}
            add_seconds(sums, scaled)
            if not walls or wall < min(walls):
                steps = scaled
            walls.append(wall)
    fastest, runs = min(walls), len(walls)
    spread = median(walls) / fastest - 1 if fastest and runs > 1 else None
    means = {step: took / runs for step, took in sums.items()}
    return kept[0], Timing(fastest, fmean(walls), steps, means, runs, spread, memory)


def _bytes_of(result: Any) -> int:
    data: Buffer | None = getattr(result, "data", None)
    payload: tuple[Buffer, ...] = getattr(result, "payload", ())
    return (0 if data is None else len(data)) + sum(map(len, payload))


@contextmanager
def collector_off() -> Iterator[None]:
    """Collect garbage first, and none meanwhile.

    What is left is frozen: or else the next collection would look at all of it again, which took
    half of the time of small measurements.
    """
    was = gc.isenabled()
    if was:
        gc.collect()
        gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def packing_of(
    chain: Chain, format: str, block_size: int, name: str | None, mtime: int | None
) -> Packing:
    """The packing of the file that ``serialpack pack`` would do."""
    return Packing(
        chain=chain,
        format=format,
        block_size=block_size,
        name=name,
        mtime=mtime,
        writer=__version__,
        settings=SERIALIZERS.cls(chain.serializer.name).settings({}),
    )
