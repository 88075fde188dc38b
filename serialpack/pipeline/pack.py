"""Packs a source into a member of a container, in one pass and bounded memory."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO

from serialpack.container.block import ENTRIES, Block
from serialpack.container.entries import Covered, EntryRow
from serialpack.container.writer import MemberWriter
from serialpack.detection.detect import looks_like, not_converted
from serialpack.errors import InputError, UsageError
from serialpack.files.source import Path
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.pipeline.blocks import BlockPacker
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.line import Crew, Line, Progress
from serialpack.pipeline.packing import PackedMember, Packing, blocks_of, prepare
from serialpack.pipeline.short import pack_short
from serialpack.pipeline.workers import INLINE, INLINE_PLAIN
from serialpack.pipeline.writing import needs_values
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain
from serialpack.stages.stage import Buffer, Write
from serialpack.values.kinds import Loss, totals


def pack_stream(
    read: Callable[[int], bytes],
    write: Write,
    packing: Packing,
    progress: Progress | None = None,
) -> PackedMember:
    """Pack what ``read`` gives into one member written by ``write``.

    ``read(n)`` gives n bytes, fewer only at the end. ``progress(read, written)`` is called after
    each block, with totals in bytes. Nothing is written before the first block was read.
    """
    return pack_blocks(blocks_of(read, packing), write, packing, progress)


def pack_blocks(
    blocks: Iterator[SourceBlock],
    write: Write,
    packing: Packing,
    progress: Progress | None = None,
    entries: Callable[[], Sequence[EntryRow]] | None = None,
) -> PackedMember:
    """Pack ``blocks`` into one member written by ``write``.

    ``entries``: where entries of an archive share the blocks, it gives those of the next block.
    """
    line = Line(blocks, block_size=packing.block_size, size=packing.size, progress=progress)
    if entries is None and (member := pack_short(line, write, packing)) is not None:
        if progress is not None:
            progress(member.size, member.length)
        return member
    header, plan = prepare(packing, line.first)
    writer = MemberWriter(write, header)
    digest = WholeDigest()
    stored = 0
    dropped: list[Loss] = []
    for source, packed in line.through(partial(BlockPacker, plan), _crew_for(packing)):
        block, covered = packed.block, None
        if entries is not None:
            block, covered = _with_rows(block, entries())
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


def _crew_for(packing: Packing) -> Crew:
    """Who packs the blocks: threads, or processes where Python's objects are made of them."""
    serializer = SERIALIZERS.cls(packing.chain.serializer.name)
    has_values = isinstance(FORMATS.get(packing.format), ValueFormat)
    # A source without values is not parsed: codecs and checksums let other threads run.
    parsed = (has_values or serializer.compresses) and serializer.holds_gil
    return Crew(
        packing.threads,
        processes=parsed and packing.threads > 1,
        slow=serializer.compresses,
        inline=INLINE_PLAIN if packing.chain.codec.name == "none" else INLINE,
        elsewhere=packing.elsewhere,
    )


def _with_rows(block: Block, rows: Sequence[EntryRow]) -> tuple[Block, Covered | None]:
    """A block with the ``rows`` of the entries that share it, and what these cover."""
    from serialpack.container.rows import encode_rows

    extras = {**block.extras, ENTRIES: encode_rows(rows)}
    return block._replace(extras=extras), Covered.of(rows)


def ways_of(packing: Packing, chain: Chain, shared_dict: Path | None, size: int) -> list[Packing]:
    """The ways that ``pack_smallest`` is to try for a source of ``size`` bytes: as ``packing``
    says, and if the source is small also through ``chain`` with the dictionary in the file
    ``shared_dict``. Errors as of ``dictionaries.for_source``.
    """
    if shared_dict is None:
        return [packing]
    from serialpack.dictionaries import for_source

    if (named := for_source(shared_dict, chain, size)) is None:
        return [packing]
    return [packing, packing._replace(chain=chain, dictionary=named, why="", split=None)]


def pack_smallest(
    read: Callable[[int], bytes],
    write: Write,
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


def source_format(chain: Chain, format: str, head: bytes, *, trust: bool) -> str:
    """``format``, if the serializer of ``chain`` can pack a source in it; else InputError,
    UsageError, or RefusedError for a format that is only read with ``trust``. ``head``: the first
    bytes of the source, for words about it."""
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
