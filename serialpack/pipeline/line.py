"""The main line: the blocks of one source go through workers, and come back in order.

What the workers make of a block is taken by the caller: ``pack.pack_blocks`` writes it to a
container, ``conversion.routes.stream.convert_stream`` joins it to a file in another format.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, count
from typing import Any, NamedTuple

from serialpack.formats.base import SourceBlock
from serialpack.pipeline.timing import add_seconds, timed, turns
from serialpack.pipeline.workers import INLINE, MakeWorker, few, in_order

#: The least bytes of a source for which worker processes pay: to start two takes 0.2-0.45 s.
PROCESSES_FROM = 64 << 20

#: The same for serializers that compress, which take longer.
PROCESSES_FROM_IF_SLOW = 12 << 20

#: The limit on bytes that are held at a time is reckoned with blocks of at least so many bytes.
_LEAST_HELD = 4 << 20

#: The most bytes of a small file, for which there is a shorter way (``short``).
SMALL = 64 << 10

Progress = Callable[[int, int], object]

#: Has the work done on other machines: takes blocks (of a source, or as stored in a container) and
#: what makes a worker; yields each block with what a worker made of it, in order.
Elsewhere = Callable[[Iterator[Any], MakeWorker], Iterator[tuple[Any, Any]]]


class Crew(NamedTuple):
    """Who works on the blocks.

    ``threads``: how many workers there are. ``processes``: whether they may go on in processes of
    their own once the source turns out to be large; ``slow``: whether that pays for smaller
    sources, too. ``inline``: bytes of a single block that is worked on in the caller's thread, as
    are a few that are ``few``. ``elsewhere``: does all the work in place of these.
    """

    threads: int = 1
    processes: bool = False
    slow: bool = False
    inline: int = INLINE
    elsewhere: Elsewhere | None = None


class Line:
    """The blocks of one source. The ``first`` is read at once, for the caller to plan by.

    ``block_size``: bytes of a block. A block may have more, where a single record or header does;
    then fewer blocks are held at a time. ``size``: bytes of the source, None where they are not
    known. ``progress(read, written)`` is called after each block, with totals in bytes.
    ``seconds``: the time of each stage, added up; ``written`` is to be set by the caller.
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
        """Yield each block with what a worker made of it, in order. ``make``: makes a worker, whose
        results have ``seconds``, the time of each stage.

        The time that the caller takes before it asks for the next block counts as writing.
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
            inline=lambda held: few([len(b.data) for b in held], crew.inline),
            size=lambda b: len(b.data),
            weight=lambda b: len(b.data) + len(b.context),
            most=(crew.threads + 2) * self._block_size,
        )


class WorkerMaker:
    """Makes workers, which go on in processes of their own once there is enough work to pay for the
    start of these.

    ``size``: bytes of the source, where they are known; ``processes``, ``slow``: as in ``Crew``.
    With ``slow``, one worker stays in this process, which has little else to do.
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
    """A worker that begins in this process, and goes on in one of its own when the source turns out
    to be large."""

    def __init__(self, maker: WorkerMaker, make: MakeWorker) -> None:
        self._maker = maker
        self._make = make
        self._worker: Callable[[SourceBlock], Any] | None = None
        self._moved = False

    def __call__(self, source: SourceBlock) -> Any:
        if not self._moved and self._maker.seen >= self._maker.large:
            from serialpack.pipeline.processes import ProcessWorker
            from serialpack.unstarted import WorkerNotStartedError

            self._moved = True
            with suppress(WorkerNotStartedError):  # the worker stays here then, and is slower
                self._worker = ProcessWorker(self._make)
        self._worker = self._worker or self._make()
        return self._worker(source)

    def close(self) -> None:
        close = getattr(self._worker, "close", None)
        if close is not None:
            close()
