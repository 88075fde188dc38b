"""A stream of source bytes becomes a member of a container, in one pass and bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, count
from time import perf_counter
from typing import Any, NamedTuple

from serialpack.container.index import Index
from serialpack.container.records import Header
from serialpack.container.writer import MemberWriter, refused_as_written
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Style, ValueFormat
from serialpack.pipeline.blocks import SETTINGS, Plan, of_records, plan_of
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.timing import add_seconds, timed
from serialpack.pipeline.workers import INLINE, INLINE_PLAIN, WorkerPlan, in_order
from serialpack.pipeline.writing import needs_values
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain
from serialpack.stages.stage import Buffer

#: From how many bytes of source on worker processes pay for their start (two take 0.2-0.45 s).
PROCESSES_FROM = 64 << 20

#: The same for serializers that compress: those take longer.
PROCESSES_FROM_IF_SLOW = 12 << 20

Progress = Callable[[int, int], object]


class Packing(NamedTuple):
    """What there is to pack, and how: one member. ``size``: the source's, where it is known.

    ``min_saving``, ``why``: see ``auto.Choice``.
    """

    chain: Chain
    format: str
    block_size: int
    name: str | None = None
    mtime: int | None = None
    entry: str | None = None
    meta: dict[str, str] = {}  # noqa: RUF012 (never written to)
    writer: str = ""
    verify: bool = True
    demand_exact: bool = False
    threads: int = 1
    size: int | None = None
    min_saving: float = 0.0
    why: str = ""
    #: The serializer's settings (``Serializer.settings``).
    settings: Style = {}  # noqa: RUF012


class PackedMember(NamedTuple):
    """What was written. ``payload`` is the part of ``length`` that holds data."""

    index: Index  # type: ignore[assignment]  # hides tuple.index, which nobody wants here
    header: Header
    length: int
    payload: int
    blocks: int
    stored_blocks: int
    seconds: dict[str, float]


def pack_stream(
    read: Callable[[int], bytes],
    write: Callable[[Buffer], object],
    packing: Packing,
    progress: Progress | None = None,
) -> PackedMember:
    """Pack what ``read`` gives into one member written by ``write``.

    ``read(n)`` gives n bytes, fewer only at the end. ``progress(read, written)`` is called after
    each block, with totals in bytes. Nothing is written before the first block was read.
    """
    fmt = FORMATS.get(packing.format)
    seconds: dict[str, float] = {}
    serializer = SERIALIZERS.cls(packing.chain.serializer.name)
    if most_values := serializer.most_values(packing.block_size):
        cut = fmt.split_sparse(read, packing.block_size, most_values)
    else:
        for_values = fmt.has_values and not serializer.exact
        cut = fmt.split(read, packing.block_size, for_values=for_values)
    blocks = timed(cut, seconds, "read")
    first = next(blocks)
    header, plan = prepare(packing, first)
    # A source without values is not parsed: codecs and checksums let other threads run.
    parsed = (isinstance(fmt, ValueFormat) or serializer.compresses) and serializer.holds_gil
    maker = WorkerMaker(
        plan,
        size=packing.size,
        processes=parsed and packing.threads > 1,
        slow=serializer.compresses,
    )
    writer = MemberWriter(write, header)
    digest = WholeDigest()
    read_bytes = stored = 0
    since = perf_counter()
    most = INLINE_PLAIN if packing.chain.codec.name == "none" else INLINE
    for source, packed in in_order(
        chain((first,), blocks),
        maker.make,
        packing.threads,
        inline=lambda b: len(b.data) <= most,
        size=lambda b: len(b.data),
    ):
        waited = perf_counter()
        block = packed.block
        if packed.data is None:
            digest.add(source.data, None, exact=block.exact)
        else:
            digest.add(packed.data, source.data, exact=block.exact)
        writer.block(block, packed.payload)
        stored += block.stored
        read_bytes += len(source.data)
        maker.seen = max(maker.seen, read_bytes)
        add_seconds(seconds, packed.seconds)
        if progress is not None:
            progress(read_bytes, writer.length)
        since, before = perf_counter(), since
        add_seconds(seconds, {"wait": waited - before, "write": since - waited})
    index = writer.finish(digest.digest())
    return PackedMember(
        index, header, writer.length, writer.payload, len(index.rows), stored, seconds
    )


def prepare(packing: Packing, first: SourceBlock) -> tuple[Header, Plan]:
    """The header of the member, and how its blocks are packed; ``first``: the first of them."""
    fmt, serializer = FORMATS.get(packing.format), SERIALIZERS.cls(packing.chain.serializer.name)
    if isinstance(fmt, ValueFormat) and needs_values(serializer, fmt):
        style = fmt.detect_style(first)
    else:
        style = fmt.outline(first)
    if packing.settings:
        style = {**style, SETTINGS: packing.settings}
    header = Header(
        chain=packing.chain.numbers,
        format=fmt.number,
        block_size=packing.block_size,
        name=packing.name,
        mtime=packing.mtime,
        entry=packing.entry,
        style=style,
        writer=packing.writer,
        meta=packing.meta,
        why=packing.why,
        unproved=not packing.verify,
        zstd_envelope=packing.chain.zstd_envelope,
    )
    with refused_as_written():
        plan = plan_of(header)
    return header, plan._replace(
        verify=packing.verify,
        demand_exact=packing.demand_exact,
        min_saving=packing.min_saving,
        records=of_records(packing.chain, fmt.name, first),
    )


class WorkerMaker:
    """Makes the workers: threads, or processes once there is enough to pay for their start.

    ``size``: the source's, where it is known. ``processes``: whether they may be at all.
    ``slow``: whether processes pay early; then one worker stays here, as this process has time.
    """

    def __init__(
        self, plan: WorkerPlan, *, size: int | None, processes: bool, slow: bool = False
    ) -> None:
        self._plan = plan
        self._may = processes
        self._one_stays = slow
        self._number = count()
        self.large = min(PROCESSES_FROM, PROCESSES_FROM_IF_SLOW) if slow else PROCESSES_FROM
        self.seen = size or 0

    def make(self) -> Callable[[SourceBlock], Any]:
        stays = next(self._number) == 0 and self._one_stays
        return _Worker(self, self._plan) if self._may and not stays else self._plan.worker()


class _Worker:
    """A worker here, that moves into a process of its own when the source turns out large."""

    def __init__(self, maker: WorkerMaker, plan: WorkerPlan) -> None:
        self._maker = maker
        self._plan = plan
        self._worker: Callable[[SourceBlock], Any] | None = None
        self._moved = False

    def __call__(self, source: SourceBlock) -> Any:
        if not self._moved and self._maker.seen >= self._maker.large:
            from serialpack.pipeline.processes import ProcessWorker

            self._worker, self._moved = ProcessWorker(self._plan), True
        elif self._worker is None:
            self._worker = self._plan.worker()
        return self._worker(source)

    def close(self) -> None:
        close = getattr(self._worker, "close", None)
        if close is not None:
            close()
