"""The main line: the blocks of one source go through workers, and come back in order.

It times them and tells whoever looks on. What comes behind takes what the workers made of each
block: the container for ``pack`` (``pack.pack_stream``), a joiner for ``--to``
(``conversion.stream.convert_stream``).
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, count
from typing import Any, NamedTuple

from serialpack.formats.base import SourceBlock
from serialpack.pipeline.timing import add_seconds, timed, turns
from serialpack.pipeline.workers import INLINE, MakeWorker, in_order

#: The least bytes of a source for which worker processes pay: to start two takes 0.2-0.45 s.
PROCESSES_FROM = 64 << 20

#: The same for serializers that compress: those take longer.
PROCESSES_FROM_IF_SLOW = 12 << 20

#: In the limit on bytes that are on their way, a smaller block counts as if it had so many.
_LEAST_HELD = 4 << 20

#: The most bytes of a small file, for which there is a shorter way: mostly it is one of many.
SMALL = 64 << 10

Progress = Callable[[int, int], object]

#: Has workers elsewhere (on other machines) do the work: takes blocks, of a source or stored in a
#: container, and gives each with what a worker made of it, in order.
Elsewhere = Callable[[Iterator[Any], MakeWorker], Iterator[tuple[Any, Any]]]


class Crew(NamedTuple):
    """Who works on the blocks.

    ``threads``: how many workers. ``processes``: whether they may move into processes of their own,
    once the source turns out large; ``slow``: whether that pays early. ``inline``: the most bytes
    of a single block that is worked on in the caller's thread. ``elsewhere``: does all instead.
    """

    threads: int = 1
    processes: bool = False
    slow: bool = False
    inline: int = INLINE
    elsewhere: Elsewhere | None = None


class Line:
    """The blocks of a source; ``first`` is read at once, for whoever plans.

    ``block_size``: the bytes of a block; only one whose single record, or header, is longer has
    more, and then fewer blocks are on their way at a time. ``size``: the source's bytes, where they
    are known. ``progress(read, written)`` is called after each block, with totals in bytes;
    ``written`` is set by whoever writes.
    """

    def __init__(
        self,
        blocks: Iterator[SourceBlock],
        *,
        block_size: int,
        size: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.seconds: dict[str, float] = {}
        self.read = 0
        self.written = 0
        self._blocks = timed(blocks, self.seconds, "read")
        self._block_size = max(block_size, _LEAST_HELD)
        self._size = size
        self._progress = progress
        self.first = next(self._blocks)

    def through(self, make: MakeWorker, crew: Crew) -> Iterator[tuple[SourceBlock, Any]]:
        """Each block, and what a worker from ``make`` made of it: anything with ``seconds``.

        What the caller does before the next block is asked for counts as writing.
        """
        maker = WorkerMaker(make, size=self._size, processes=crew.processes, slow=crew.slow)
        blocks = chain((self.first,), self._blocks)
        worked_on = (
            self._here(blocks, maker, crew)
            if crew.elsewhere is None
            else crew.elsewhere(blocks, make)
        )
        for block, made in turns(worked_on, self.seconds):
            yield block, made
            self.read += len(block.data)
            maker.seen = max(maker.seen, self.read)
            add_seconds(self.seconds, made.seconds)
            if self._progress is not None:
                self._progress(self.read, self.written)

    def _here(
        self, blocks: Iterator[SourceBlock], maker: "WorkerMaker", crew: Crew
    ) -> Iterator[tuple[SourceBlock, Any]]:
        """As ``through``, by threads and processes of this machine."""
        return in_order(
            blocks,
            maker.make,
            crew.threads,
            inline=lambda b: len(b.data) <= crew.inline,
            size=lambda b: len(b.data),
            weight=lambda b: len(b.data) + len(b.context),
            most=(crew.threads + 2) * self._block_size,
        )


class WorkerMaker:
    """Makes the workers: threads, or processes once there is enough to pay for their start.

    ``size``: the source's bytes, where they are known. ``processes``: whether there may be any.
    ``slow``: whether they pay early; then one worker stays here, as this process has time.
    """

    def __init__(
        self, make: MakeWorker, *, size: int | None, processes: bool, slow: bool = False
    ) -> None:
        self._make = make
        self._may = processes
        self._one_stays = slow
        self._number = count()
        self.large = min(PROCESSES_FROM, PROCESSES_FROM_IF_SLOW) if slow else PROCESSES_FROM
        self.seen = size or 0

    def make(self) -> Callable[[SourceBlock], Any]:
        stays = next(self._number) == 0 and self._one_stays
        return _Worker(self, self._make) if self._may and not stays else self._make()


class _Worker:
    """A worker in this process that moves into its own when the source turns out large."""

    def __init__(self, maker: WorkerMaker, make: MakeWorker) -> None:
        self._maker = maker
        self._make = make
        self._worker: Callable[[SourceBlock], Any] | None = None
        self._moved = False

    def __call__(self, source: SourceBlock) -> Any:
        if not self._moved and self._maker.seen >= self._maker.large:
            from serialpack.pipeline.processes import ProcessWorker, WorkerNotStartedError

            self._moved = True
            with suppress(WorkerNotStartedError):  # the worker stays here then, and is slower
                self._worker = ProcessWorker(self._make)
        self._worker = self._worker or self._make()
        return self._worker(source)

    def close(self) -> None:
        close = getattr(self._worker, "close", None)
        if close is not None:
            close()
