"""Writes a range of records or bytes of a container, and reads only the blocks that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

from serialpack.compressed.pieces import Pieces
from serialpack.container.block import EXACT, StoredBlock
from serialpack.container.header import DEFAULT_BLOCK_SIZE, Header
from serialpack.container.reader import read_members
from serialpack.container.seek import StoredMember, find_members, read_block
from serialpack.detection.detect import HEAD
from serialpack.errors import DamagedError, InputError, UsageError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Format, Read, Style
from serialpack.formats.csv.above import in_lines
from serialpack.formats.json.loose import LooseJson, loose_in
from serialpack.pipeline.blocks import MALFORMED, BlockUnpacker
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.timing import add_seconds, timed
from serialpack.pipeline.unpack import LimitedWrite, Unpacked, member_plan
from serialpack.stages.stage import Buffer, Write


class Span(NamedTuple):
    """A half-open range: from ``start`` up to but not including ``stop`` (None: to the end)."""

    start: int
    stop: int | None

    def overlaps(self, start: int, size: int) -> bool:
        """Whether any of ``size`` places from ``start`` on is in the range."""
        return start + size > self.start and (self.stop is None or start < self.stop)

    def passed(self, position: int) -> bool:
        """Whether the range ends at ``position`` or before."""
        return self.stop is not None and position >= self.stop


@runtime_checkable
class _FromFront(Protocol):
    """A format that finds records in a block without what is behind them: see NdJson."""

    def range_in_pieces(
        self, pieces: Iterator[Buffer], span: tuple[int, int], *, first: bool
    ) -> tuple[Buffer, int, int] | None: ...


class _Place(NamedTuple):
    """A block of a container: where it is, and how much it holds.

    ``block``: its stored bytes, where they were read from a pipe already.
    """

    member: int
    seq: int
    exact: bool
    records: int | None
    size: int
    block: StoredBlock | None


class _Blocks:
    """The blocks of a container: any of a seekable file, or one after another from a pipe."""

    def __init__(self, source: Source, *, trust: bool, alone: StoredMember | None) -> None:
        self._trust = trust
        self._alone = alone
        self.read = 0
        self.count = 0
        self.bytes_read = 0
        self.seconds: dict[str, float] = {}
        self._source = source
        self._found: list[StoredMember] | None = None
        if alone is not None:
            self._found = [alone]
        elif source.seekable():
            self._found = find_members(source.file)
        self.headers: list[Header] = []
        self.plans: list[Plan] = []
        self._unpackers: list[BlockUnpacker] = []
        self._last: tuple[_Place, StoredBlock] | None = None

    def __iter__(self) -> Iterator[_Place]:
        if self._found is not None:
            self.count = sum(len(found.index.rows) for found in self._found)
            self._offsets = [found.offsets for found in self._found]
            for number, found in enumerate(self._found):
                self._begin(found.header)
                for seq, row in enumerate(found.index.rows):
                    exact = bool(row.flags & EXACT)
                    yield _Place(number, seq, exact, row.records, row.size, None)
            return
        for member in read_members(self._source.read):
            self._begin(member.header)
            for stored in member.blocks():
                self.count += 1
                b = stored.block
                yield _Place(member.number, b.seq, b.exact, b.records, b.size, stored)

    def _begin(self, header: Header) -> None:
        """Note the member that comes next. UsageError for an archive, of which no entry is
        named."""
        if header.in_archive and self._alone is None:
            raise UsageError(
                "is an archive, whose files have records and bytes each",
                hint="unpack -o FOLDER gives its files",
            )
        plan = member_plan(header, trust=self._trust)
        self.headers.append(header)
        self.plans.append(plan)
        self._unpackers.append(BlockUnpacker(plan))

    def restore(self, place: _Place) -> Buffer:
        """The source's bytes of a block."""
        restored = self._unpackers[place.member](self._stored(place))
        add_seconds(self.seconds, restored.seconds)
        return restored.source_data

    def pieces(self, place: _Place) -> Iterator[Buffer]:
        """The source's bytes of a block from the front, as far as they are asked for."""
        pieces = self._unpackers[place.member].pieces(self._stored(place))
        return timed(pieces, self.seconds, "decompress")

    def _stored(self, place: _Place) -> StoredBlock:
        """The stored bytes of a block; the block that was read last is kept."""
        if self._last is not None and self._last[0] is place:
            return self._last[1]
        stored = place.block
        if stored is None:
            assert self._found is not None
            member, number = self._found[place.member], place.seq
            start, end = self._offsets[place.member][number : number + 2]
            stored = read_block(self._source.file, member, number, start, end)
        self.read += 1
        self.bytes_read += stored.end - stored.start
        self._last = place, stored
        return stored


def unpack_bytes(
    source: Source,
    write: Write,
    span: Span,
    max_size: int | None,
    *,
    trust: bool = False,
    alone: StoredMember | None = None,
) -> Unpacked:
    """Write only the bytes of ``span``; ``alone``: of this member, an entry of an archive.

    UsageError where a block does not give back its bytes.
    """
    out = LimitedWrite(write, max_size)
    blocks = _Blocks(source, trust=trust, alone=alone)
    position = 0
    for place in blocks:
        if not place.exact:
            raise UsageError(
                "--bytes: this container gives back values, not the source's bytes",
                hint="use --records, or pack with -s raw",
            )
        if span.overlaps(position, place.size):
            stop = place.size if span.stop is None else min(span.stop - position, place.size)
            start = max(span.start - position, 0)
            if stop == place.size:
                out(memoryview(blocks.restore(place))[start:])
            else:
                out(_cut_out(blocks.pieces(place), start, stop))
        position += place.size
        if span.passed(position):
            break
    return _report(blocks, out, None)


def _cut_out(pieces: Iterator[Buffer], start: int, stop: int) -> bytes:
    """The bytes of ``pieces`` from ``start`` up to but not including ``stop``; no piece behind
    these is asked for."""
    found: list[Buffer] = []
    position = 0
    while position < stop:
        piece = next(pieces)
        if position + len(piece) > start:  # an empty view would keep the memory of the piece
            found.append(memoryview(piece)[max(start - position, 0) : stop - position])
        position += len(piece)
    return b"".join(found)


def unpack_records(
    source: Source,
    write: Write,
    span: Span,
    max_size: int | None,
    *,
    trust: bool = False,
    alone: StoredMember | None = None,
) -> Unpacked:
    """Write only the records of ``span``, as the format spells a sequence of them.

    ``alone``: as of ``unpack_bytes``.
    """
    out = LimitedWrite(write, max_size)
    blocks = _Blocks(source, trust=trust, alone=alone)
    piece: _Slice | None = None
    for place in blocks:
        plan = blocks.plans[place.member]
        if plan.format != blocks.plans[0].format:
            raise UsageError("--records: the files joined here are of different formats")
        piece = piece or _Slice(FORMATS.get(plan.format), plan.style, span, out)
        if place.seq == 0:
            piece.begin()
        restore, pieces = partial(blocks.restore, place), partial(blocks.pieces, place)
        try:
            piece.add(place.seq, place.records, restore, pieces)
        except UsageError:
            raise
        except MALFORMED as error:  # from a style that no writer has written
            raise DamagedError(
                f"its records cannot be cut out ({error})", block=place.seq
            ) from None
        if piece.complete:
            break
    written = piece.finish() if piece is not None else 0
    return _report(blocks, out, written)


def slice_source(
    read: Read,
    write: Write,
    format: str,
    span: Span,
    hint: str = "inspect without --head tells what it is",
) -> int:
    """Write the records of ``span`` of a file that is no container, and return how many there are.

    ``hint``: what to do where records cannot be told apart, for the UsageError.
    """
    fmt = FORMATS.get(format)
    piece: _Slice | None = None
    for block in fmt.split(read, DEFAULT_BLOCK_SIZE):
        if block.records is None:
            raise _no_records(fmt, hint)
        piece = piece or _Slice(fmt, fmt.outline(block), span, write)
        piece.add(block.index, block.records, lambda block=block: block.data)  # type: ignore[misc]
        if piece.complete:
            break
    return piece.finish() if piece is not None else 0


def slice_front(read: Read, write: Write, fmt: Format, head: bytes, count: int) -> None:
    """As ``slice_source``, the first ``count`` records of a file that begins with ``head``: of
    text that others write, too. A table may have other lines, and what a conversion makes JSON is
    JSON."""
    name, declared = fmt.name, fmt.declared
    if declared.is_json and (
        loose := loose_in(head, lines=declared.has_lines, whole=len(head) < HEAD)
    ):
        name, read = "json", Pieces(LooseJson(several=loose.several).pieces(read)).read
    slice_source(in_lines(declared, read, head), write, name, Span(0, count))


def _no_records(fmt: Format, hint: str) -> UsageError:
    return UsageError(f"the records of this source ({fmt.name}) cannot be told apart", hint=hint)


class _Slice:
    """Takes the records of a range from blocks in order, and writes them as their format spells a
    sequence."""

    def __init__(self, fmt: Format, style: Style, span: Span, write: Write) -> None:
        self._format = fmt
        self._style = style
        self._span = span
        self._write = write
        self._position = 0
        self._written = 0
        self._ends: tuple[bytes, bytes] | None = None
        self._joint: bytes | None = None

    def begin(self) -> None:
        """Begin another source: between its records and those written stands what the format puts
        there, not what stood behind the last record."""
        if self._joint is not None and self._ends is not None:
            between = self._format.slice_between
            self._joint = self._ends[1] if between is None else between

    @property
    def complete(self) -> bool:
        """Whether no later block has a record of the range."""
        return self._span.passed(self._position)

    def add(
        self,
        seq: int,
        records: int | None,
        restore: Callable[[], Buffer],
        pieces: Callable[[], Iterator[Buffer]] | None = None,
    ) -> None:
        """Take the next block. ``restore`` gives its source's bytes, and is called only if needed.

        ``pieces`` gives them from the front: enough where the range ends within the block.
        """
        if records is None:
            raise _no_records(self._format, "a range of bytes can be had (unpack --bytes A:B)")
        span = (
            max(self._span.start - self._position, 0),
            records if self._span.stop is None else min(self._span.stop - self._position, records),
        )
        wanted = span[0] < span[1] and self._span.overlaps(self._position, records)
        found: tuple[Buffer, int, int] | None = None
        inner = wanted and span[1] < records
        if inner and pieces is not None and isinstance(self._format, _FromFront):
            found = self._format.range_in_pieces(pieces(), span, first=seq == 0)
        text: Buffer = b""
        if (wanted and found is None) or (self._ends is None and self._format.slice_needs_head):
            text = restore()
        if wanted and found is None:
            found = self._find(text, span, seq, records)
        if self._ends is None:
            self._ends = self._format.slice_ends(text, self._style)
            self._write(self._ends[0])
        if found is not None:
            text, start, end = found
            if self._joint is not None:
                self._write(self._joint)
            self._write(text[start:end])
            self._joint = bytes(text[end:]) if span[1] == records else b""
            self._written += span[1] - span[0]
        self._position += records

    def _find(
        self, text: Buffer, span: tuple[int, int], seq: int, records: int
    ) -> tuple[Buffer, int, int]:
        """The text of a block, and where the records of ``span`` begin and end in it. InputError
        where they cannot be told apart."""
        found = self._format.record_range(text, self._style, span, records, first=seq == 0)
        if found is None:
            # No damage: the checksum was right, so the source was like that.
            raise InputError(
                f"its {records} records cannot be told apart, "
                f"as in what is not valid {self._format.name}",
                block=seq,
            )
        return text, *found

    def finish(self) -> int:
        """Write what closes the sequence, and return how many records are in it."""
        if self._ends is not None:
            self._write(self._ends[1] if self._written or self._ends[0] else b"")
        return self._written


def _report(blocks: _Blocks, out: LimitedWrite, records: int | None) -> Unpacked:
    """What was unpacked. ``records``: how many; None where bytes were asked for."""
    return Unpacked(
        headers=tuple(blocks.headers),
        format=blocks.plans[0].format,
        read=blocks.bytes_read,
        written=out.written,
        blocks=blocks.count,
        blocks_read=blocks.read,
        records=records,
        exact=records is None,  # a slice of records has brackets or a header of its own
        seconds=blocks.seconds,
    )
