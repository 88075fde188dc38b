"""What inspection tells of one member of a container, whole or damaged."""

import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, pairwise
from typing import IO, TYPE_CHECKING, Any, cast

from serialpack.compressed.pieces import Pieces
from serialpack.compressed.source import (
    compression_named,
    compression_of,
    decompressed,
    front_of,
    packed_inside,
)
from serialpack.container.block import CONTINUED, EXACT, STORED
from serialpack.container.header import Header
from serialpack.container.index import Index, IndexRow
from serialpack.container.seek import (
    StoredMember,
    find_listed,
    find_members,
    first_byte,
    read_block,
)
from serialpack.detection.detect import told
from serialpack.errors import DamagedError, SerialpackError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.inspection.archived import EntryLists, entries_in
from serialpack.inspection.datasets import is_library_read, library_listing
from serialpack.inspection.info import ColumnsInfo, MemberInfo
from serialpack.inspection.look import (
    LARGE_SAMPLE,
    SAMPLE,
    array_in,
    damaged_array,
)
from serialpack.pipeline.blocks import BlockUnpacker
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.unpack import member_plan
from serialpack.reports import BlockInfo, DictionaryInfo
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.container.remains import FoundMember


def small_info(source: Source) -> MemberInfo:
    """The member of a container in the small form. It is written anew as a full container, which is
    described as any other; sizes and places are then set to those of the small form."""
    from serialpack.container.small import CHECK_SIZE, MAX_SMALL, Small
    from serialpack.pipeline.small import expand

    data = source.read(MAX_SMALL + 1)
    payload = len(Small.decode(data).payload)
    file = io.BytesIO(expand(data))
    (member,) = find_members(file)
    info = with_outline(
        file, _with_array(file, member, member_info(member, EntryLists()), whole=True)
    )
    start = len(data) - payload - CHECK_SIZE
    block = info.blocks[0]._replace(start=start, end=start + payload)
    return info._replace(packed=len(data), container=len(data) - payload, blocks=(block,))


def with_forms(
    source: Source, member: StoredMember, lists: EntryLists, *, columns: bool
) -> MemberInfo:
    """The info of ``member`` with the array in it and, of the serializer columns, the forms of its
    blocks. ``columns``: describe the columns of each block, too, for which all blocks are read."""
    info = _with_array(source.file, member, member_info(member, lists), whole=not source.is_far)
    if info.chain.serializer.name != "columns" or not info.blocks:
        return info
    if source.is_far and not columns:  # each block would take a request, to read one byte
        return info
    from serialpack.columns.stored.block import Form
    from serialpack.columns.stored.survey import Survey
    from serialpack.columns.texts import Broken, Unknown
    from serialpack.pipeline.fields import opened_block

    plan, survey, text = member_plan(member.header), Survey(), 0
    counts: Counter[Form] = Counter()
    for number, place in enumerate(info.blocks):
        if columns:
            block, _ = opened_block(source.file, member, plan, number, place.start)
            counts[block.form] += 1
            if block.form is Form.COLUMNS:
                with block.checked():
                    survey.add(block.columns())
            else:
                text += block.block.payload
        elif info.chain.plain:
            start = first_byte(source.file, member, number, place.start)
            with suppress(Broken, Unknown):  # the byte that is read here is not verified
                counts[Form.of(start)] += 1
    told = counts.total() == len(info.blocks)
    forms = {form.name.lower(): counts[form] for form in Form if counts[form]} if told else None
    found = ColumnsInfo(tuple(survey.columns()), survey.structure, text) if columns else None
    return info._replace(forms=forms, columns=found)


def _with_array(
    file: IO[bytes], member: StoredMember, info: MemberInfo, *, whole: bool
) -> MemberInfo:
    """``info`` with the array that the source of the member is, or that is in it where the source
    is compressed; as it is where there is none. ``whole``: read all blocks, not only the first: a
    far file would take a request for each."""
    compressed = info.format == "bytes" and compression_named(info.name or "") is not None
    is_array = FORMATS.declaration(info.format).is_array
    if not ((is_array or compressed) and info.blocks and info.exact):
        return info
    if info.dictionary is not None and not info.dictionary.found:
        return info
    blocks = info.blocks if whole else info.blocks[:1]
    pieces = _restored(file, member, blocks)
    if compressed:
        return _with_inside(pieces, info)
    try:
        array, wrong = array_in(pieces, sum(each.size for each in blocks), info.size)
    except DamagedError:
        if len(blocks) == 1:
            raise
        return _with_array(file, member, info, whole=False)
    return info._replace(array=array, damage=damaged_array(info.format, wrong))


def _restored(
    file: IO[bytes], member: StoredMember, blocks: tuple[BlockInfo, ...]
) -> Iterator[Buffer]:
    """The source's bytes of these ``blocks`` of ``member``, in pieces."""
    unpacker = BlockUnpacker(member_plan(member.header))
    stored = (read_block(file, member, n, each.start, each.end) for n, each in enumerate(blocks))
    return chain.from_iterable(map(unpacker.pieces, stored))


def with_listing(source: Source, info: MemberInfo) -> MemberInfo:
    """``info``, of the only member of the container ``source``, with the listing of the datasets or
    tables in the file that it holds; as it is where that has none."""
    declared = FORMATS.declaration(info.format)
    if not (is_library_read(declared) and info.exact):
        return info
    if info.dictionary is not None and not info.dictionary.found:
        return info
    (member,) = find_listed(source.file)
    pieces = Pieces(_restored(source.file, member, info.blocks))
    restored = Source(cast("IO[bytes]", pieces), source.path)
    return info._replace(listing=library_listing(restored, declared))


def _with_inside(pieces: Iterator[Buffer], info: MemberInfo) -> MemberInfo:
    """``info`` with what is in the compressed file whose bytes are ``pieces``; as it is where that
    file is not compressed after all, or is damaged."""
    inner = packed_inside(Source(io.BytesIO()), Pieces(pieces), info.name)
    if inner is None:
        return info
    compression = compression_of(inner)
    with suppress(SerialpackError):
        opened = decompressed(inner)
        block, _ = front_of(opened, LARGE_SAMPLE)
        found = told(None, opened.name, block[:SAMPLE])
        array = listing = damage = None
        declared = FORMATS.declaration(found)
        if declared.is_array:
            all_of = len(block) if len(block) < LARGE_SAMPLE else None
            array, wrong = array_in([block], len(block), all_of)
            damage = damaged_array(found, wrong)
        if is_library_read(declared):
            listing = library_listing(opened, declared)
        holds = f"{found} in {compression}"
        return info._replace(holds=holds, array=array, listing=listing, damage=damage)
    return info


def with_outline(file: IO[bytes], info: MemberInfo) -> MemberInfo:
    """``info``, of the only member of the container ``file``, with an outline of what it holds."""
    if FORMATS.declaration(info.format).is_text or info.entries is not None or info.holds:
        return info
    from serialpack.pipeline.outline import holds

    return info._replace(holds=holds(file))


def member_info(member: StoredMember, lists: EntryLists) -> MemberInfo:
    """What header and index say of ``member``; no block is read. ``lists``: of its container."""
    header: Header = member.header
    index: Index = member.index
    plan = member_plan(header)
    placed = zip(index.rows, pairwise(member.offsets), strict=True)
    blocks = tuple(
        BlockInfo(
            start,
            end,
            row.size,
            row.size if row.serialized is None else row.serialized,
            row.records,
            bool(row.flags & STORED),
            bool(row.flags & EXACT),
            bool(row.flags & CONTINUED),
            number,
        )
        for number, (row, (start, end)) in enumerate(placed)
    )
    return _member_info_of(
        header,
        plan,
        size=index.size,
        serialized=index.serialized,
        packed=member.length,
        container=member.length - sum(r.payload for r in index.rows),
        records=index.records,
        exact=index.exact,
        digest=index.digest.hex(),
        blocks=blocks,
        entries=entries_in(header, plan.format, index.rows, index.size, member.length, lists),
    )


def _member_info_of(header: Header, plan: Plan, **found: Any) -> MemberInfo:
    """The info of a member: what ``header`` and ``plan`` say, and the fields in ``found``."""
    named = header.dictionary
    here = plan.dictionary is not None and plan.dictionary.data is not None
    return MemberInfo(
        chain=plan.chain,
        why=header.why,
        format=plan.format,
        name=header.name,
        entry=header.entry,
        mtime=header.mtime,
        meta=header.meta,
        writer=header.writer,
        zstd_envelope=header.zstd_envelope,
        block_size=header.block_size,
        proved=not header.unproved,
        dictionary=named and DictionaryInfo(named.name, f"{named.check:016x}", here),
        **found,
    )


def remains_info(member: "FoundMember", header: Header, lists: EntryLists) -> MemberInfo:
    """What is left of a member of a damaged container, by its ``header``; blocks that are damaged
    are marked so. ``lists``: of the container."""
    plan = member_plan(header)
    blocks, payload = [], 0
    rows = [] if member.index is None or member.index.index is None else member.index.index.rows
    if not rows:
        found = (slot.found for slot in member.slots() if slot.found is not None)
        rows = [IndexRow.of(each.block, each.frame, 0) for each in found]
    for slot in member.slots():
        size, start, end, flags = slot.size, slot.start, slot.end, slot.flags
        if size is None or start is None or end is None or flags is None:
            continue
        serialized = size
        if slot.found is not None:
            serialized = slot.found.block.serialized
            payload += slot.found.block.payload
        blocks.append(
            BlockInfo(
                start,
                end,
                size,
                serialized,
                slot.records,
                bool(flags & STORED),
                bool(flags & EXACT),
                bool(flags & CONTINUED),
                slot.seq,
                damaged=not slot.whole,
            )
        )
    counts = [block.records for block in blocks]
    packed = member.stop - (member.first if member.start is None else member.start)
    index = member.index.index if member.index is not None else None
    return _member_info_of(
        header,
        plan,
        size=sum(block.size for block in blocks),
        serialized=sum(block.serialized for block in blocks),
        packed=packed,
        container=max(packed - payload, 0),
        records=None if None in counts else sum(count or 0 for count in counts),
        exact=all(block.exact for block in blocks),
        digest=None if index is None else index.digest.hex(),
        blocks=tuple(blocks),
        entries=entries_in(header, plan.format, rows, sum(b.size for b in blocks), packed, lists),
    )
