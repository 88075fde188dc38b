"""A stream of source bytes becomes a member of a container, in one pass and bounded memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from threading import local
from time import perf_counter
from typing import NamedTuple

from serialpack.auto.choice import Split
from serialpack.container.entries import Covered, EntryRow, nearest_time
from serialpack.container.frames import frame_check
from serialpack.container.index import IndexRow
from serialpack.container.names import DictionaryName
from serialpack.container.records import ENTRIES, Block, Header
from serialpack.container.short import ShortForm
from serialpack.container.writer import MemberWriter, cannot_be_stored, refused_as_written
from serialpack.detection.detect import looks_like, not_converted
from serialpack.errors import InputError, UsageError
from serialpack.files.source import Path
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Style, ValueFormat
from serialpack.pipeline.blocks import SETTINGS, BlockPacker, Plan, of_records, plan_of
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.line import SMALL, Crew, Elsewhere, Line, Progress
from serialpack.pipeline.timing import Timer, add_seconds, is_recording, record
from serialpack.pipeline.workers import INLINE, INLINE_PLAIN
from serialpack.pipeline.writing import keeps, needs_values
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import Loss, totals
from serialpack.watch import watching


class Packing(NamedTuple):
    """How one member is packed, and of what. ``size``: the source's bytes, where known.

    ``min_saving``, ``why``: see ``auto.choice.Choice``.
    """

    chain: Chain
    format: str
    block_size: int
    name: str | None = None
    mtime: int | None = None
    entry: str | None = None
    #: Whether it is part of an archive that a closing member ends: see ``Header``.
    archive: bool = False
    before: int | None = None
    access: tuple[int, ...] = ()
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
    #: The dictionary that the codec works with.
    dictionary: DictionaryName | None = None
    #: Who works on the blocks in place of this machine: see ``Crew``.
    elsewhere: Elsewhere | None = None
    #: See ``auto.choice.Choice``.
    split: Split | None = None


class PackedMember(NamedTuple):
    """What was written: a row for each block, and the totals that an ``Index`` has.

    ``payload`` is the part of ``length`` that holds data. ``dropped``: what of the source, beside
    its values, does not come back (comments, say), by rule. ``saved``: see ``pack_smallest``.
    """

    rows: tuple[IndexRow, ...]
    records: int | None
    size: int
    exact: bool
    length: int
    payload: int
    stored_blocks: int
    seconds: dict[str, float]
    dropped: list[Loss] = []  # noqa: RUF012 (never written to)
    saved: int = 0


def check_meta(meta: Mapping[str, str] | None) -> None:
    """UsageError where a key or a value of ``--meta`` is no text."""
    if not all(isinstance(text, str) for pair in (meta or {}).items() for text in pair):
        raise UsageError("the keys and values of meta must be strings")


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
    return pack_blocks(blocks_of(read, packing), write, packing, progress)


def blocks_of(read: Callable[[int], bytes], packing: Packing) -> Iterator[SourceBlock]:
    """The blocks that ``packing`` cuts a source into; ``read``: see ``pack_stream``."""
    return splitter_of(packing)(read)


def splitter_of(packing: Packing) -> Callable[[Callable[[int], bytes]], Iterator[SourceBlock]]:
    """What cuts sources into the blocks that ``packing`` packs; for one source after another."""
    if (split := packing.split) is not None:
        return lambda read: split(read, packing.block_size)
    fmt = FORMATS.get(packing.format)
    serializer = SERIALIZERS.cls(packing.chain.serializer.name)
    return partial(
        fmt.split,
        block_size=packing.block_size,
        for_values=fmt.has_values and not serializer.exact,
        most_values=serializer.most_values(packing.block_size),
    )


def pack_blocks(
    blocks: Iterator[SourceBlock],
    write: Callable[[Buffer], object],
    packing: Packing,
    progress: Progress | None = None,
    entries: Callable[[], Sequence[EntryRow]] | None = None,
) -> PackedMember:
    """Pack ``blocks`` into one member written by ``write``.

    ``entries``: of blocks that entries of an archive share, those of the next block.
    """
    fmt = FORMATS.get(packing.format)
    serializer = SERIALIZERS.cls(packing.chain.serializer.name)
    line = Line(blocks, block_size=packing.block_size, size=packing.size, progress=progress)
    if entries is None and (member := _pack_short(line, write, packing)) is not None:
        if progress is not None:
            progress(member.size, member.length)
        return member
    header, plan = prepare(packing, line.first)
    # A source without values is not parsed: codecs and checksums let other threads run.
    parsed = (isinstance(fmt, ValueFormat) or serializer.compresses) and serializer.holds_gil
    crew = Crew(
        packing.threads,
        processes=parsed and packing.threads > 1,
        slow=serializer.compresses,
        inline=INLINE_PLAIN if packing.chain.codec.name == "none" else INLINE,
        elsewhere=packing.elsewhere,
    )
    writer = MemberWriter(write, header)
    digest = WholeDigest()
    stored = 0
    dropped: list[Loss] = []
    for source, packed in line.through(partial(BlockPacker, plan), crew):
        block = packed.block
        covered: Covered | None = None
        if entries is not None:
            from serialpack.container.rows import encode_rows

            here = entries()
            covered = Covered.of(here)
            block = block._replace(extras={**block.extras, ENTRIES: encode_rows(here)})
        if packed.data is None:
            digest.add(source.data, None, exact=block.exact)
        else:
            digest.add(packed.data, source.data, exact=block.exact)
        writer.block(block, packed.payload, covered)
        stored += block.stored
        if packed.dropped:
            dropped = totals([*dropped, *packed.dropped])
        line.written = writer.length
    index = writer.finish(digest.digest())
    return PackedMember(
        index.rows,
        index.records,
        index.size,
        index.exact,
        writer.length,
        writer.payload,
        stored,
        line.seconds,
        dropped,
    )


class ShortPacker(NamedTuple):
    """Packs small sources of which only name, time and bytes differ, in one thread.

    ``split``: see ``splitter_of``.
    """

    packing: Packing
    style: Style
    start: bytes
    split: Callable[[Callable[[int], bytes]], Iterator[SourceBlock]]
    packer: BlockPacker
    form: ShortForm

    def member(
        self, source: SourceBlock, name: str | None, mtime: int | None, seconds: dict[str, float]
    ) -> tuple[bytes, Block, bytes] | None:
        """The bytes of a short member of ``source``, which is all in one block; that block; and the
        frame that describes it. None where the member has to be a long one.

        ``seconds``: gets the time of each stage added.
        """
        since = perf_counter()
        if self.packer.passes and not source.extents:
            timer = Timer()
            block, payload = self.packer.alone(source, timer)
            spent = timer.seconds
        else:
            block, (payload, *_), _, spent, _ = self.packer(source)
        made = perf_counter()
        try:
            frame = self.form.frame(block, payload, name, mtime)
        except InputError as error:
            raise cannot_be_stored(error) from None
        if frame is None:
            return None
        data = b"".join((self.start, frame, payload))
        end = perf_counter()
        times = {"wait": made - since, "write": end - made}
        if is_recording():
            record(since, made, spent)
            record(since, end, times)
        add_seconds(seconds, {**spent, **times})
        return data, block, frame


class _LastAlike(local):
    """The packers that a thread keeps for its next small source, for they take long to make."""

    #: The last used one first; two, as a source may be tried in two ways (``ways_of``).
    alike: tuple[ShortPacker, ...] = ()


_last = _LastAlike()


def last_alike() -> ShortPacker | None:
    """The packer of the last small source of this thread; None where it has had none."""
    return _last.alike[0] if _last.alike else None


def forget_alike() -> None:
    """Drop the packers that this thread keeps."""
    _last.alike = ()


def _pack_short(
    line: Line, write: Callable[[Buffer], object], packing: Packing
) -> PackedMember | None:
    """Pack a source of one small block, which is kept as it is, into the same bytes in less time;
    None, and nothing is written, for any other source, and where somebody looks on."""
    first = line.first
    if not first.last or first.index or len(first.data) > SMALL or watching() is not None:
        return None
    serializer, fmt = SERIALIZERS.cls(packing.chain.serializer.name), FORMATS.get(packing.format)
    if packing.entry is not None or not keeps(serializer, fmt):
        return None
    asked = packing._replace(name=None, mtime=None, size=None, split=None)
    style = fmt.outline(first)
    known = (each for each in _last.alike if (each.packing, each.style) == (asked, style))
    if (alike := next(known, None)) is None:
        header, plan = prepare(asked, first)
        split = splitter_of(asked)
        alike = ShortPacker(asked, style, header.start, split, BlockPacker(plan), ShortForm(header))
    _last.alike = (alike, *(each for each in _last.alike if each is not alike))[:2]
    made = alike.member(first, packing.name, packing.mtime, line.seconds)
    if made is None:
        return None
    data, block, frame = made
    since = perf_counter()
    write(data)
    add_seconds(line.seconds, {"write": perf_counter() - since})
    return PackedMember(
        (IndexRow.of(block, len(frame), frame_check(frame)),),
        block.records,
        block.size,
        block.exact,
        len(data),
        block.payload,
        int(block.stored),
        line.seconds,
    )


def ways_of(packing: Packing, chain: Chain, shared_dict: Path | None, size: int) -> list[Packing]:
    """The ways to pack a source of ``size`` bytes: that of ``packing``, and where it is small also
    through ``chain`` with the dictionary in ``shared_dict``. Raises as ``dictionaries.for_source``.
    """
    if shared_dict is None:
        return [packing]
    from serialpack.dictionaries import for_source

    if (named := for_source(shared_dict, chain, size)) is None:
        return [packing]
    return [packing, packing._replace(chain=chain, dictionary=named, why="", split=None)]


def pack_smallest(
    read: Callable[[int], bytes],
    write: Callable[[Buffer], object],
    ways: Sequence[Packing],
    progress: Progress | None = None,
) -> tuple[Packing, PackedMember]:
    """Pack as ``pack_stream`` in each of ``ways`` (see ``ways_of``), and write the smallest member,
    the first of equal ones: which way that was, and the member.

    ``PackedMember.saved``: how many bytes smaller it is than by the first way.
    """
    if len(ways) == 1:
        return ways[0], pack_stream(read, write, ways[0], progress)
    from serialpack.dictionaries import MOST_SOURCE

    data = read(MOST_SOURCE)
    found: list[tuple[Packing, PackedMember, list[Buffer]]] = []
    for way in ways:
        pieces: list[Buffer] = []
        found.append((way, pack_stream(BytesIO(data).read, pieces.append, way), pieces))
    packing, member, pieces = min(found, key=lambda each: each[1].length)
    for piece in pieces:
        write(piece)
    if progress is not None:
        progress(member.size, member.length)
    return packing, member._replace(saved=found[0][1].length - member.length)


def prepare(packing: Packing, first: SourceBlock) -> tuple[Header, Plan]:
    """The header of the member, and the plan for its blocks; ``first``: the first of them."""
    fmt, serializer = FORMATS.get(packing.format), SERIALIZERS.cls(packing.chain.serializer.name)
    style: Style
    if packing.archive and packing.entry is None:
        style = {}  # its blocks are of many files
    elif isinstance(fmt, ValueFormat) and needs_values(serializer, fmt):
        style = fmt.detect_style(first)
    else:
        style = fmt.outline(first)
    style = {**style, **fmt.parameters}
    if packing.settings:
        style = {**style, SETTINGS: packing.settings}
    header = Header(
        chain=packing.chain.numbers,
        format=fmt.number,
        block_size=packing.block_size,
        name=packing.name,
        mtime=nearest_time(packing.mtime) if packing.mtime and packing.entry else packing.mtime,
        entry=packing.entry,
        archive=packing.archive,
        rows=packing.archive and packing.entry is None,
        before=packing.before,
        access=packing.access,
        style=style,
        writer=packing.writer,
        meta=packing.meta,
        why=packing.why,
        dictionary=packing.dictionary,
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


def source_format(chain: Chain, format: str, head: bytes, *, trust: bool) -> str:
    """``format``, if the chain's serializer packs it, else InputError or RefusedError."""
    serializer, fmt = SERIALIZERS.cls(chain.serializer.name), FORMATS.get(format)
    if not needs_values(serializer, fmt):
        return format
    if not isinstance(fmt, ValueFormat):
        says = "" if not_converted(head) else ", --from says what the input is"
        raise InputError(
            f"-s {chain.serializer.name} packs records, this is {looks_like(head) or format}",
            hint=f"-s raw packs anything{says}",
        )
    if fmt.unpacked:
        what, takes = fmt.unpacked
        raise UsageError(
            f"-s {chain.serializer.name} packs records, and {format} {what}",
            hint=f"{takes}, -s raw keeps the bytes",
        )
    if not fmt.safe and not trust:
        from serialpack.pipeline.unpack import untrusted

        raise untrusted(f"reading {format}", "--trust reads it, -s raw packs its bytes")
    return format
