"""A range of records or bytes out of a container, reading only the blocks that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from serialpack.container.reader import StoredBlock, find_members, read_block, read_members
from serialpack.container.records import EXACT, Header
from serialpack.errors import DamagedError, UsageError
from serialpack.files import Source
from serialpack.formats import FORMATS
from serialpack.pipeline.blocks import BlockUnpacker, Plan
from serialpack.pipeline.unpack import Limit, Unpacked, Write, member_plan
from serialpack.stage import Buffer


class Span(NamedTuple):
    """Half-open: from ``start`` up to but not including ``stop`` (None: to the end)."""

    start: int
    stop: int | None

    def overlaps(self, start: int, size: int) -> bool:
        return start + size > self.start and (self.stop is None or start < self.stop)

    def passed(self, position: int) -> bool:
        """Whether nothing at or after ``position`` is in it."""
        return self.stop is not None and position >= self.stop


class _Place(NamedTuple):
    """A block's place in the whole: how much it holds, and how to get it."""

    member: int
    seq: int
    exact: bool
    records: int | None
    size: int
    block: StoredBlock | None


class _Blocks:
    """The blocks of a container, sought in a file or read in turn from a pipe."""

    def __init__(self, source: Source) -> None:
        self.read = 0
        self._source = source
        self._found = find_members(source.file) if source.seekable() else None
        self.headers: list[Header] = []
        self.plans: list[Plan] = []
        self._unpackers: list[BlockUnpacker] = []

    def __iter__(self) -> Iterator[_Place]:
        if self._found is not None:
            for number, found in enumerate(self._found):
                self._begin(found.header)
                for seq, row in enumerate(found.index.rows):
                    exact = bool(row.flags & EXACT)
                    yield _Place(number, seq, exact, row.records, row.size, None)
            return
        for member in read_members(self._source.read):
            self._begin(member.header)
            for stored in member.blocks():
                b = stored.block
                yield _Place(member.number, b.seq, b.exact, b.records, b.size, stored)

    def _begin(self, header: Header) -> None:
        plan = member_plan(header)
        self.headers.append(header)
        self.plans.append(plan)
        self._unpackers.append(BlockUnpacker(plan))

    def restore(self, place: _Place) -> Buffer:
        """The source's bytes of a block."""
        stored = place.block
        if stored is None:
            assert self._found is not None
            stored = read_block(self._source.file, self._found[place.member], place.seq)
        self.read += 1
        source = self._unpackers[place.member](stored).source
        assert source is not None
        return source


def unpack_bytes(source: Source, write: Write, span: Span, max_size: int | None) -> Unpacked:
    """Write only the bytes of ``span``. UsageError where a block does not give back its bytes."""
    out = Limit(write, max_size)
    blocks = _Blocks(source)
    position = count = 0
    for place in blocks:
        count += 1
        if not place.exact:
            raise UsageError(
                "--bytes: this container gives back values, not the source's bytes",
                hint="use --records, or pack with -s raw",
            )
        if span.overlaps(position, place.size):
            data = memoryview(blocks.restore(place))
            stop = None if span.stop is None else span.stop - position
            out(data[max(span.start - position, 0) : stop])
        position += place.size
        if span.passed(position):
            break
    return _report(blocks, out, count, None)


def unpack_records(source: Source, write: Write, span: Span, max_size: int | None) -> Unpacked:
    """Write only the records of ``span``, as the format spells a sequence of them."""
    out = Limit(write, max_size)
    blocks = _Blocks(source)
    first_record = count = written = 0
    joint: Buffer | None = None
    ends: tuple[bytes, bytes] | None = None
    for place in blocks:
        count += 1
        plan = blocks.plans[place.member]
        fmt = FORMATS.get(plan.format)
        if place.records is None:
            raise UsageError(
                f"--records: the records of this {plan.format} cannot be told apart",
                hint="--bytes A:B reads a range of bytes",
            )
        if plan.format != blocks.plans[0].format:
            raise UsageError("--records: the files joined here are of different formats")
        wanted = span.overlaps(first_record, place.records) and place.records > 0
        is_first = place.member == 0 and place.seq == 0
        text: Buffer | None = None
        if is_first and (wanted or fmt.slice_needs_head):
            text = blocks.restore(place)
        if is_first or ends is None:
            ends = fmt.slice_ends(text or b"", plan.spelling)
            out(ends[0])
        if wanted:
            text = memoryview(blocks.restore(place) if text is None else text)
            spans = fmt.record_spans(text, plan.spelling, first=place.seq == 0)
            if len(spans) != place.records:
                raise DamagedError(
                    f"holds {len(spans)} records, its header says {place.records}", block=place.seq
                )
            low = max(span.start - first_record, 0)
            high = len(spans) if span.stop is None else min(span.stop - first_record, len(spans))
            if joint is not None:
                out(joint)
            out(text[spans[low][0] : spans[high - 1][1]])
            written += high - low
            joint = bytes(text[spans[high - 1][1] :])
        first_record += place.records
        if span.passed(first_record):
            break
    if ends is not None:
        out(ends[1])
    return _report(blocks, out, count, written)


def _report(blocks: _Blocks, out: Limit, count: int, records: int | None) -> Unpacked:
    return Unpacked(
        headers=tuple(blocks.headers),
        format=blocks.plans[0].format,
        read=0,
        written=out.written,
        blocks=count,
        blocks_read=blocks.read,
        records=records,
        exact=False,
        seconds={},
    )
