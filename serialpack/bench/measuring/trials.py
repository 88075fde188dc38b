"""Measures one chain on the blocks of one material; called in the process of ``lab``.

The timed code is that of ``pack`` and ``unpack`` themselves: the halves of their block workers, run
by their threads or processes. ``serialize`` measures a serializer once, for all codecs behind it;
``compress`` measures filters and codec behind it; ``figures`` adds the two. Of several runs the
fastest counts, and the garbage collector is off meanwhile. How and why: docs/measuring.md.
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
from serialpack.pipeline.blocks import BlockPacker, BlockUnpacker, PackedBlock, Serialized
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.line import WorkerMaker
from serialpack.pipeline.packing import Packing, prepare
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.timing import Timer, add_seconds
from serialpack.pipeline.workers import MakeWorker, in_order
from serialpack.pipeline.writing import keeps
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, StageSpec
from serialpack.stages.stage import Buffer

#: Work is repeated until it took so many seconds together, or so many runs.
REPEAT = 0.02
MOST_RUNS = 50
#: So many runs there are at least, where they do not take long (``Care.few``).
FEW = 3


class Care(NamedTuple):
    """How carefully work is measured: ``least`` runs, then more until all have taken ``seconds``,
    but at most ``most`` runs.

    ``memory``: whether its peak is measured too, which takes some milliseconds. ``few``: up to
    ``FEW`` runs there are also as long as all have taken fewer seconds than this.
    """

    least: int
    seconds: float
    memory: bool
    most: int = MOST_RUNS
    few: float = 0.0

    def wants_more(self, walls: Sequence[float]) -> bool:
        """Whether to run it once more, where the runs so far took these seconds each."""
        runs, total = len(walls), sum(walls)
        if runs < self.least:
            return True
        return (total < self.seconds and runs < self.most) or (total < self.few and runs < FEW)


#: For a first look, at little data: there the first run also imports what is needed, and starting
#: threads may take longer than the work, so that one run tells nothing. Then for a sample, a single
#: run; for the whole source; and for a larger sample of several files.
LOOKING = Care(2, 0.01, False, few=0.05)
SAMPLING = Care(1, 0.0, False)
CAREFUL = Care(1, REPEAT, True, few=0.3)
AT_LENGTH = Care(1, 0.0, False, few=0.3)

#: The steps of packing and unpacking, by their names in rows; those that a serializer takes, and
#: those that filters and codec take.
PACK_STEPS = ("serialize", "prove", "compress", "undo")
UNPACK_STEPS = ("decompress", "deserialize")
STEPS = (*PACK_STEPS, *UNPACK_STEPS)
OF_SERIALIZERS = ("serialize", "prove", "deserialize")
OF_CODECS = ("compress", "undo", "decompress")


class Timing(NamedTuple):
    """How long one piece of work took: the seconds of the fastest run (``wall``), also by step
    (``steps``), and the means of all ``runs`` (``mean``, ``means``).

    ``spread``: by what share the median run took longer than the fastest; None for a single run.
    ``memory``: peak bytes; None where that was not measured.
    """

    wall: float
    mean: float
    steps: dict[str, float]
    means: dict[str, float]
    runs: int
    spread: float | None
    memory: int | None


class Figures(NamedTuple):
    """What one trial found, on ``source`` bytes of the source. Seconds are of the fastest run
    unless they are called mean; fields are as in ``results.Row``."""

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
    #: Where some of several files were measured: by what share ``size`` may be off.
    error: float | None = None


#: What a worker does: one half of packing a block, or of unpacking one. Methods of ``BlockPacker``
#: and of ``BlockUnpacker``.
Half = Literal["serialize", "finish", "decompress", "deserialize"]


def half_worker(plan: Plan, half: Half) -> Callable[[Any], tuple[Any, dict[str, float]]]:
    """A worker for one half. Its jobs are the arguments of that;
    it gives the result, and the seconds by step."""
    maker = BlockPacker if half in ("serialize", "finish") else BlockUnpacker
    step = getattr(maker(plan), half)

    def work(job: tuple[Any, ...]) -> tuple[Any, dict[str, float]]:
        timer = Timer()
        return step(*job, timer), timer.seconds

    return work


class SerializedPart(NamedTuple):
    """A part of the material through one serializer, and the times of both ways."""

    packing: Packing
    plan: Plan
    blocks: list[SourceBlock]
    serialized: list[Serialized]
    there: Timing
    back: Timing
    #: A digest of all serialized bytes: where two serializers write the same, codecs are tried
    #: once.
    digest: bytes


class CompressedPart(NamedTuple):
    """A serialized part through filters and codec, and the times of both ways."""

    packed: list[PackedBlock]
    there: Timing
    back: Timing


def serialize(
    packing: Packing, blocks: list[SourceBlock], threads: int, care: Care = CAREFUL
) -> SerializedPart:
    """Measure a serializer: serialize the blocks, with the proof, and deserialize them.

    ``packing``: of its chain only the serializer matters. RefusedError where a value cannot be
    held.
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
    """Measure the filters and the codec of ``chain`` on what a serializer wrote:
    with the proof, and back."""
    plan = part.plan._replace(chain=chain)
    run = _Runner(threads, care)
    jobs = list(zip(part.blocks, part.serialized, strict=True))
    packed, there = run.timed(partial(half_worker, plan, "finish"), jobs)
    stored = [(StoredBlock(p.block, 0, 0, tuple(map(bytes, p.payload))),) for p in packed]
    _, back = run.timed(partial(half_worker, plan, "decompress"), stored, keep=False)
    return CompressedPart(packed, there, back)


def figures(part: SerializedPart, squeezed: CompressedPart, chain: Chain) -> Figures:
    """The figures of ``chain``: those of its serializer and of its filters and codec together."""
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
    """By what share the median runs of several pieces of work together took longer than their
    fastest runs; None where one of them was run only once.
    """
    found = [timing for timing in timings if timing.wall]
    if not found or any(timing.spread is None for timing in found):
        return None
    more = sum(timing.wall * (timing.spread or 0.0) for timing in found)
    return more / sum(timing.wall for timing in found)


def added_steps(timings: Iterable[Timing]) -> tuple[dict[str, float], dict[str, float]]:
    """The seconds by step of several pieces of work together:
    in their fastest runs, and on average."""
    steps, means = dict.fromkeys(STEPS, 0.0), dict.fromkeys(STEPS, 0.0)
    for timing in timings:
        add_seconds(steps, {step: timing.steps.get(step, 0.0) for step in STEPS})
        add_seconds(means, {step: timing.means.get(step, 0.0) for step in STEPS})
    return steps, means


def _container(
    part: SerializedPart, squeezed: CompressedPart, chain: Chain
) -> tuple[int, int, int | None]:
    """The bytes, the bytes of payload and the records of the container that ``pack`` would
    write."""
    header, plan = prepare(part.packing._replace(chain=chain), part.blocks[0])
    kept = keeps(SERIALIZERS.cls(chain.serializer.name), FORMATS.get(plan.format))
    writer, digest = MemberWriter(len, header), WholeDigest()
    rows = zip(part.blocks, part.serialized, squeezed.packed, strict=True)
    for source, serialized, packed in rows:
        # ``squeezed`` may be of another serializer that wrote the same bytes: so what the header of
        # a block says of the serializer is taken from ``serialized``.
        block = packed.block._replace(
            records=serialized.records,
            extras={"s": serialized.extras} if serialized.extras else {},
        )
        digest.add(serialized.data, None if kept else source.data, exact=serialized.exact)
        writer.block(block, packed.payload)
    index = writer.finish(digest.digest())
    return writer.length, writer.payload, index.records


def _stored(plan: Plan, block: SourceBlock, serialized: Serialized) -> StoredBlock:
    """A serialized block, as unpacking has it when filters and codec are undone."""
    none = plan.chain._replace(filters=(), codec=StageSpec("none"))
    packed = BlockPacker(plan._replace(chain=none, verify=False)).finish(block, serialized, Timer())
    return StoredBlock(packed.block, 0, 0, ())


class _Runner:
    """Runs jobs by the threads or processes of ``pack``. ``size``: bytes of the source, where
    processes may be used; None: only threads."""

    def __init__(self, threads: int, care: Care, size: int | None = None) -> None:
        self._threads = threads
        self._care = care
        self._size = size

    def timed(
        self, make: MakeWorker, jobs: Sequence[Any], *, keep: bool = True
    ) -> tuple[list[Any], Timing]:
        """The results of all jobs (none without ``keep``),
        in order, and how long all together took."""

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
    """Run ``work`` as often as ``care`` says: the result of the first run, and the times of all.

    ``work(first)`` gives a result and its seconds by step. Those of several threads add up to more
    than the clock tells, and are scaled down to it. ``held(result)``: the bytes that the result
    takes, which do not count as memory of the work. ``before`` is called before each run, and not
    timed.
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
    """The bytes that the result of a half takes."""
    data: Buffer | None = getattr(result, "data", None)
    payload: tuple[Buffer, ...] = getattr(result, "payload", ())
    return (0 if data is None else len(data)) + sum(map(len, payload))


@contextmanager
def collector_off() -> Iterator[None]:
    """Within it, no garbage is collected; it is collected before.

    What is left then is frozen: else the next collection would look at all of it again, which took
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
    """How ``serialpack pack`` would pack a file of this ``format``, ``name`` and ``mtime``."""
    return Packing(
        chain=chain,
        format=format,
        block_size=block_size,
        name=name,
        mtime=mtime,
        writer=__version__,
        settings=SERIALIZERS.cls(chain.serializer.name).settings({}),
    )
