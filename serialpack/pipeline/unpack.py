"""Unpacks a container: its members become the bytes of their sources again."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from threading import local
from time import perf_counter
from typing import NamedTuple

from serialpack.container.block import Block, StoredBlock
from serialpack.container.frames import MemoryFiller
from serialpack.container.header import Header
from serialpack.container.reader import Member, read_members
from serialpack.container.short import ShortReader
from serialpack.errors import DamagedError, RefusedError
from serialpack.formats.base import Format, ValueFormat
from serialpack.pipeline.blocks import BlockUnpacker, Restored
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.line import SMALL, Elsewhere, Progress
from serialpack.pipeline.plan import Plan, plan_of
from serialpack.pipeline.timing import add_seconds, record, timed, turns
from serialpack.pipeline.workers import few_stored, in_order
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain
from serialpack.stages.stage import Buffer, Write
from serialpack.units import format_size
from serialpack.watch import watching

Room = Callable[[int], memoryview | None]


class Unpacked(NamedTuple):
    """What was unpacked. ``read``, ``written``: bytes; ``blocks``: how many there are, of which
    ``blocks_read`` were read; ``records``: None where their number is not known; ``exact``: what
    was written is the source, byte for byte; ``seconds``: the time of each stage."""

    headers: tuple[Header, ...]
    format: str
    read: int
    written: int
    blocks: int
    blocks_read: int
    records: int | None
    exact: bool
    seconds: dict[str, float]
    #: How many entries of an archive were in it; None where it is no archive.
    entries: int | None = None


class LimitedWrite:
    """Writes by ``write``, counts the bytes (``written``) and keeps the first 16 (``front``);
    RefusedError where there would be more than ``most``, the user's limit."""

    def __init__(self, write: Write, most: int | None) -> None:
        self.write = write
        self._most = most
        self.written = 0
        self.front = b""

    def __call__(self, data: Buffer) -> None:
        self.check(len(data))
        if self.written < 16:
            self.front += bytes(data[: 16 - self.written])
        self.write(data)
        self.written += len(data)

    def check(self, more: int) -> None:
        """RefusedError where ``more`` bytes would be too many."""
        if self._most is not None and self.written + more > self._most:
            raise RefusedError(
                f"would write more than --max-size {format_size(self._most)}",
                hint="raise --max-size if you trust the file",
            )


def member_plan(header: Header, *, trust: bool = True) -> Plan:
    """The plan for unpacking a member; errors as of ``plan.plan_of``, and RefusedError as of
    ``check_trust``."""
    plan = plan_of(header)
    check_trust(plan.chain, trust=trust)
    return plan


def check_trust(chain: Chain, *, trust: bool) -> None:
    """RefusedError where unpacking by ``chain`` can run code that is in the file (a pickle), unless
    the user says ``trust``."""
    if not (trust or _is_safe(chain.serializer.name)):
        # The same words serve inspect --head, which has no --trust.
        raise untrusted(
            chain.serializer.name, "unpack --trust gives it back, if you know who that was"
        )


def check_shown(fmt: Format) -> None:
    """RefusedError where reading values of the format ``fmt`` can run code that is in the file."""
    if isinstance(fmt, ValueFormat) and not fmt.safe:
        raise RefusedError(
            f"showing {fmt.name} can run any code that the file's writer put into it",
            hint="unpack --to ndjson --trust reads it, if you know who wrote it",
        )


@lru_cache
def _is_safe(serializer: str) -> bool:
    return SERIALIZERS.cls(serializer).safe


def untrusted(what: str, hint: str) -> RefusedError:
    """The refusal of ``what`` ("reading pickle"), which can run code that is in the file."""
    return RefusedError(
        f"{what} can run any code that the file's writer put into it",
        hint=hint,
    )


def unpack_stream(
    read: Callable[[int], bytes],
    write: Write,
    *,
    trust: bool = False,
    threads: int = 1,
    max_size: int | None = None,
    progress: Progress | None = None,
    into: MemoryFiller | None = None,
    elsewhere: Elsewhere | None = None,
    room: Room | None = None,
    first: bool = False,
) -> Unpacked:
    """Unpack all members of a container, in order; every checksum is verified.

    - ``read(n)`` gives up to n bytes, none only at the end; ``into``: see ``FrameSource``
    - ``write``: takes what is unpacked. What was written before damage is found stays written: a
      caller that wants all or nothing gives a temporary file
    - ``trust``: see ``check_trust``; ``max_size``: RefusedError where more bytes would be written
    - ``progress(read, written)`` is called after each block, with totals in bytes
    - ``elsewhere``: see ``line.Crew``
    - ``room(size)``: gives memory to restore the next block into, which ``write`` then gets; or
      None
    - ``first``: only the first member; nothing behind it is read
    """
    out = LimitedWrite(write, max_size)
    done = [
        unpack_member(
            member,
            out,
            trust=trust,
            threads=threads,
            progress=progress,
            elsewhere=elsewhere,
            room=room,
        )
        for member in islice(read_members(read, into=into, threads=threads), 1 if first else None)
    ]
    return of_members(done, out.written)


def of_members(done: Sequence[Unpacked], written: int) -> Unpacked:
    """What was unpacked of all members, of which there is one at least; ``written``: in all."""
    records = [each.records for each in done if each.records is not None]
    seconds: dict[str, float] = {}
    for each in done:
        add_seconds(seconds, each.seconds)
    return Unpacked(
        headers=tuple(header for each in done for header in each.headers),
        format=done[-1].format,
        read=sum(each.read for each in done),
        written=written,
        blocks=sum(each.blocks for each in done),
        blocks_read=sum(each.blocks_read for each in done),
        records=sum(records) if len(records) == len(done) else None,
        exact=all(each.exact for each in done),
        seconds=seconds,
        entries=None if done[0].entries is None else sum(each.entries or 0 for each in done),
    )


def unpack_member(
    member: Member,
    out: LimitedWrite,
    *,
    trust: bool,
    threads: int,
    progress: Progress | None = None,
    elsewhere: Elsewhere | None = None,
    room: Room | None = None,
) -> Unpacked:
    """Unpack one member to ``out``; everything else as in ``unpack_stream``.

    ``progress`` gets the totals of the file and of ``out``, not those of the member.
    """
    seconds: dict[str, float] = {}
    count, written = 0, out.written
    entries = None if not member.header.in_archive else int(member.header.entry is not None)
    plan = member_plan(member.header, trust=trust)
    short = member.short
    if short is not None and short.block.block.serialized <= SMALL and watching() is None:
        blocks = _restored_short(member, plan, seconds, before=out.check)
    else:
        # A single entry of an archive is too little to send elsewhere.
        others = None if member.header.in_archive else elsewhere
        blocks = _restored(
            member,
            plan,
            seconds,
            threads,
            before=out.check,
            watched=True,
            elsewhere=others,
            room=room,
        )
    for stored, restored in turns(blocks, seconds):
        out(restored.source_data)
        if member.header.shared:
            entries = (entries or 0) + _checked_entries(stored, restored.source_data)
        add_seconds(seconds, restored.seconds)
        count += 1
        if progress is not None:
            progress(stored.end, out.written)
    assert member.index is not None
    return Unpacked(
        headers=(member.header,),
        format=plan.format,
        read=member.length,
        written=out.written - written,
        blocks=count,
        blocks_read=count,
        records=member.index.records,
        exact=member.index.exact,
        seconds=seconds,
        entries=entries,
    )


def _checked_entries(stored: StoredBlock, data: Buffer) -> int:
    """How many entries a shared block has, each of which is sound."""
    from serialpack.pipeline.shared import check_entries, check_faults, entries_of

    rows = entries_of(stored)
    check_faults(stored, rows)
    check_entries(stored, rows, data)
    return len(rows)


class _LastUnpacker(local):
    """The unpacker that a thread keeps for the next small file, which mostly is packed in the same
    way."""

    unpacker: BlockUnpacker | None = None


_last = _LastUnpacker()


def _restored_short(
    member: Member, plan: Plan, seconds: dict[str, float], before: Callable[[int], None]
) -> Iterator[tuple[StoredBlock, Restored]]:
    """``_restored`` for a short member, which has only one block, and no digest beside its
    checksum."""
    (stored,) = timed(_announced(member, before), seconds, "read")
    unpacker = _last.unpacker
    if unpacker is None or unpacker.plan != plan:
        unpacker = BlockUnpacker(plan)
        if unpacker.keeps:  # other serializers may remember values that they have read
            _last.unpacker = unpacker
    since = perf_counter()
    restored = unpacker(stored)
    record(since, perf_counter(), restored.seconds)
    yield stored, restored


class ShortUnpacker:
    """Unpacks files that are one short member each, one after another, in one thread; in less time
    than ``unpack_stream`` does. ``trust``: see ``check_trust``.
    """

    def __init__(self, *, trust: bool = False) -> None:
        self._trust = trust
        self._forms = ShortReader(self._form)

    def _form(self, header: Header) -> "tuple[BlockUnpacker, bool] | None":
        """The unpacker for files with this ``header``, and whether they were proved when they were
        packed; None where ``unpack_stream`` is to unpack them."""
        unpacker = BlockUnpacker(member_plan(header, trust=self._trust))
        kept = unpacker.keeps and not header.in_archive
        return (unpacker, not header.unproved) if kept else None

    def __call__(self, data: bytes) -> "UnpackedShort | None":
        """The whole file ``data``, unpacked; None where ``unpack_stream`` is to do it.

        DamagedError, and whatever else ``unpack_stream`` raises.
        """
        since = perf_counter()
        found = self._forms.read(data)
        if found is None:
            return None
        form, stored = found
        if form is None or stored.block.serialized > SMALL:
            return None
        unpacker, proved = form
        begun = perf_counter()
        restored = unpacker(stored)
        wait = perf_counter() - since
        seconds = {"read": begun - since, **restored.seconds, "wait": wait, "write": 0.0}
        return UnpackedShort(unpacker.plan.format, stored.block, restored.data, proved, seconds)


class UnpackedShort(NamedTuple):
    """A small file that is unpacked: the ``block`` that it was, and its ``data``."""

    format: str
    block: Block
    data: Buffer
    proved: bool
    seconds: dict[str, float]


def several_files() -> RefusedError:
    """The error for a container of several members, where one file in a format is expected."""
    return RefusedError(
        "it holds several files one after another, which are no one file in any format",
        hint="unpack it without --to, or each on its own",
    )


def restored_pieces(
    read: Callable[[int], bytes],
    *,
    serialized: bool = False,
    trust: bool = False,
    threads: int = 1,
) -> Iterator[Buffer]:
    """Yield what ``unpack_stream`` would write, piece by piece.

    ``serialized``: yield the serialized bytes, not the source's. RefusedError for several members:
    their sources, joined, need not be a file in any format.
    """
    for number, member in enumerate(read_members(read)):
        if number:
            raise several_files()
        plan = member_plan(member.header, trust=trust)
        for _, restored in _restored(member, plan, {}, threads, serialized=serialized):
            yield restored.data if serialized else restored.source_data


def _restored(
    member: Member,
    plan: Plan,
    seconds: dict[str, float],
    threads: int,
    *,
    serialized: bool = False,
    before: Callable[[int], None] = lambda _: None,
    watched: bool = False,
    elsewhere: Elsewhere | None = None,
    room: Room | None = None,
) -> Iterator[tuple[StoredBlock, Restored]]:
    """Yield the blocks of ``member`` with what they restore to; DamagedError where that is not what
    was packed.

    ``before(size)`` is called before each block is restored. ``watched``: a progress bar counts
    these blocks, not something that the caller makes of them.
    """
    digest = WholeDigest()
    blocks = timed(_announced(member, before, room), seconds, "read")
    make = partial(BlockUnpacker, plan, serialized=serialized)
    worked_on: Iterator[tuple[StoredBlock, Restored]] = (
        elsewhere(blocks, make)
        if elsewhere is not None
        else in_order(
            blocks,
            make,
            threads,
            inline=few_stored,
            size=(lambda stored: stored.block.size) if watched else None,
        )
    )
    for stored, restored in worked_on:
        if not serialized:
            source = restored.source_data
            digest.add(
                stored.block.part_checks if stored.block.in_place else restored.data,
                None if source is restored.data else source,
                exact=stored.block.exact,
            )
        yield stored, restored
    assert member.index is not None
    if not serialized and not member.index.is_of(digest.digest()):
        raise DamagedError(f"member {member.number}: the digest of the whole does not match")


def _announced(
    member: Member, before: Callable[[int], None], room: Room | None = None
) -> Iterator[StoredBlock]:
    """Yield the blocks of ``member``, each with memory from ``room``; before that, call ``before``
    with its size."""
    for stored in member.blocks():
        before(stored.block.size)
        yield stored if room is None else stored._replace(room=room(stored.block.size))
