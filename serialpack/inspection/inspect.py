"""Looks at a file: a container's members from its index, or any other file's rough shape."""

import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, cast

from serialpack.auto.choice import choose
from serialpack.compressed.pieces import Pieces
from serialpack.compressed.source import (
    compression_named,
    compression_of,
    decompressed,
    front_of,
    packed_inside,
)
from serialpack.container.index import Index, IndexRow
from serialpack.container.reader import SNIFF, is_container, is_small, read_members
from serialpack.container.records import CONTINUED, EXACT, STORED, Header
from serialpack.container.seek import (
    StoredMember,
    find_listed,
    find_members,
    first_byte,
    read_block,
)
from serialpack.detection.detect import AsFound, told
from serialpack.detection.encoded import other_encoding
from serialpack.errors import DamagedError, SerialpackError, UsageError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.inspection.archived import entries_in
from serialpack.inspection.datasets import is_library_read, library_listing
from serialpack.inspection.info import ColumnsInfo, Inspection, MemberInfo, Shape
from serialpack.inspection.look import (
    LARGER,
    SAMPLE,
    array_in,
    entropy,
    look_at,
    look_inside,
)
from serialpack.pipeline.blocks import BlockUnpacker, Plan
from serialpack.pipeline.settle import settle
from serialpack.pipeline.unpack import member_plan
from serialpack.reports import BlockInfo, DictionaryInfo
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.container.remains import FoundMember


def inspect_source(
    source: Source,
    format: str | None = None,
    table: AsFound = AsFound(),  # noqa: B008  (never changed)
    *,
    columns: bool = False,
    salvage: bool = False,
) -> Inspection:
    """Look at ``source`` without unpacking it; a pipe is read to its end and checked.

    ``format``, ``table``: how a file that is no container, or what is compressed in it, is written.
    ``columns``: look also at the columns of each block, of a file that can be sought. ``salvage``:
    look at what is left of a damaged container.
    """
    head = source.peek(SNIFF)
    if salvage:
        from serialpack.pipeline.sought import sought, whole_small

        if whole_small(source):
            return inspect_source(source, format, columns=columns)
        with sought(source) as left:
            return _left(left)
    if is_small(head):
        return Inspection(source.path, source.size, (_small_info(source),), None)
    if is_container(head):
        if source.seekable():
            found = [_with_forms(source, m, columns=columns) for m in find_listed(source.file)]
            if len(found) == 1 and not source.is_far:
                found = [_with_listing(source, _holding(source.file, found[0]))]
        else:
            if columns:
                raise UsageError("columns are looked at in a file, not in a pipe")
            found = [_member_info(m) for m in _read_through(source)]
        return Inspection(source.path, source.size, tuple(found), None)
    return Inspection(source.path, source.size, (), _shape(source, format, table))


def _small_info(source: Source) -> MemberInfo:
    """The facts of a small container, from the full one that says the same, but with its own
    sizes."""
    from serialpack.container.small import CHECK_SIZE, MAX_SMALL, Small
    from serialpack.pipeline.small import expand

    data = source.read(MAX_SMALL + 1)
    payload = len(Small.decode(data).payload)
    file = io.BytesIO(expand(data))
    (member,) = find_members(file)
    info = _holding(file, _with_array(file, member, _member_info(member), whole=True))
    start = len(data) - payload - CHECK_SIZE
    block = info.blocks[0]._replace(start=start, end=start + payload)
    return info._replace(packed=len(data), container=len(data) - payload, blocks=(block,))


def _with_forms(source: Source, member: StoredMember, *, columns: bool) -> MemberInfo:
    info = _with_array(source.file, member, _member_info(member), whole=not source.is_far)
    if info.chain.serializer.name != "columns" or not info.blocks:
        return info
    if source.is_far and not columns:  # each block would take a request, for one byte
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
            with suppress(Broken, Unknown):  # what is read here is not verified
                counts[Form.of(start)] += 1
    told = counts.total() == len(info.blocks)
    forms = {form.name.lower(): counts[form] for form in Form if counts[form]} if told else None
    found = ColumnsInfo(tuple(survey.columns()), survey.structure, text) if columns else None
    return info._replace(forms=forms, columns=found)


def _with_array(
    file: IO[bytes], member: StoredMember, info: MemberInfo, *, whole: bool
) -> MemberInfo:
    """``info``, with the array that the member is, or that is compressed in it. ``whole``: all of
    its blocks can be read."""
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
    return info._replace(array=array, damage=_wrong_array(info.format, wrong))


def _wrong_array(format: str, wrong: str) -> DamagedError | None:
    return DamagedError(f"a damaged {format}: {wrong}") if wrong else None


def _restored(
    file: IO[bytes], member: StoredMember, blocks: tuple[BlockInfo, ...]
) -> Iterator[Buffer]:
    """The bytes that these ``blocks`` of ``member`` restore to."""
    unpacker = BlockUnpacker(member_plan(member.header))
    stored = (read_block(file, member, n, each.start, each.end) for n, each in enumerate(blocks))
    return chain.from_iterable(map(unpacker.pieces, stored))


def _with_listing(source: Source, info: MemberInfo) -> MemberInfo:
    """``info``, with what is in the file that the only member of ``source`` is, where only a
    library reads that."""
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
    """``info``, with what is in the file that ``pieces`` are, where that is compressed."""
    inner = packed_inside(Source(io.BytesIO()), Pieces(pieces), info.name)
    if inner is None:
        return info
    compression = compression_of(inner)
    with suppress(SerialpackError):  # where it is damaged, only that it is packed is told
        opened = decompressed(inner)
        block, _ = front_of(opened, LARGER)
        found = told(None, opened.name, block[:SAMPLE])
        array = listing = damage = None
        declared = FORMATS.declaration(found)
        if declared.is_array:
            all_of = len(block) if len(block) < LARGER else None
            array, wrong = array_in([block], len(block), all_of)
            damage = _wrong_array(found, wrong)
        if is_library_read(declared):
            listing = library_listing(opened, declared)
        holds = f"{found} in {compression}"
        return info._replace(holds=holds, array=array, listing=listing, damage=damage)
    return info


def _holding(file: IO[bytes], info: MemberInfo) -> MemberInfo:
    if FORMATS.declaration(info.format).is_text or info.entries is not None or info.holds:
        return info
    from serialpack.pipeline.outline import holds

    return info._replace(holds=holds(file))


def _read_through(source: Source) -> list[StoredMember]:
    members = []
    for member in read_members(source.read):
        for _ in member.blocks():
            pass
        members.append(StoredMember.of(member))
    return members


def _member_info(member: StoredMember) -> MemberInfo:
    header: Header = member.header
    index: Index = member.index
    plan = member_plan(header)
    placed = zip(index.rows, member.offsets, member.offsets[1:], strict=False)
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
        for number, (row, start, end) in enumerate(placed)
    )
    return _info(
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
        entries=entries_in(header, plan.format, index.rows, index.size, member.length),
    )


def _info(header: Header, plan: Plan, **found: Any) -> MemberInfo:
    """The facts that ``header`` and ``plan`` say, with those that were ``found``."""
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


def _left(source: Source) -> Inspection:
    """What is left of a damaged container, all of which is read."""
    from serialpack.container.salvage import find_remains
    from serialpack.pipeline.salvage import header_of, nothing_left

    remains = find_remains(source.file)
    if not remains.members:
        raise nothing_left()
    headed = [(member, header_of(member)) for member in remains.members]
    members = tuple(_left_info(member, header) for member, header in headed if header is not None)
    return Inspection(source.path, source.size, members, None, tuple(remains.damage))


def _left_info(member: "FoundMember", header: Header) -> MemberInfo:
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
    return _info(
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
        entries=entries_in(header, plan.format, rows, sum(b.size for b in blocks), packed),
    )


def _shape(source: Source, format: str | None, table: AsFound) -> Shape:
    choice = choose()
    head = source.peek(max(choice.block_size + 1, LARGER))
    compressed = compression_of(source) is not None
    said, how = (None, AsFound()) if compressed else (format, table)
    path = source.path if source.stat is not None else None
    is_other = other_encoding(head[:SAMPLE], said, path, how) is not None
    # As pack tells it, which keeps the bytes whatever they are.
    found = told(said, path, head[:SAMPLE], AsFound() if is_other else how)
    choice = settle(choice, found, source.peek, source)
    inside = listing = None
    if compressed or format is None:
        inside, listing = look_inside(source, format, table)
    far = inside is None and listing is None
    look = look_at(source, head, *((said, how) if is_other else (found,)), far=far)
    head = head[:SAMPLE]
    return Shape(
        format=look.format,
        looks_like=look.looks_like,
        fields=look.fields,
        records_seen=look.records_seen,
        sampled=len(head),
        entropy=entropy(head),
        chain=choice.chain,
        why=choice.why,
        looked_at=look.looked_at,
        whole=look.whole,
        record_types=look.record_types,
        inside=inside,
        listing=listing,
        array=look.array,
        wrong=look.damage,
    )
