"""Finds out what a file is, and has its members or its shape described."""

from serialpack.auto.choice import choose
from serialpack.compressed.source import (
    compression_of,
)
from serialpack.container.reader import SNIFF, is_container, is_small, read_members
from serialpack.container.seek import (
    StoredMember,
    find_listed,
)
from serialpack.detection.detect import AsFound, told
from serialpack.detection.encoded import other_encoding
from serialpack.errors import UsageError
from serialpack.files.source import Source
from serialpack.inspection.archived import EntryLists
from serialpack.inspection.info import Inspection, Shape
from serialpack.inspection.look import (
    LARGE_SAMPLE,
    SAMPLE,
    entropy,
    look_at,
    look_inside,
)
from serialpack.inspection.members import (
    member_info,
    remains_info,
    small_info,
    with_forms,
    with_listing,
    with_outline,
)
from serialpack.pipeline.settle import settle


def inspect_source(
    source: Source,
    format: str | None = None,
    table: AsFound = AsFound(),  # noqa: B008  (never changed)
    *,
    columns: bool = False,
    salvage: bool = False,
) -> Inspection:
    """What ``source`` is. A container in a file is read from its index; one from a pipe is read to
    its end, and its stored checksums are verified.

    ``format``, ``table``: what the user says of a file that is no container, or of the file that is
    compressed in it: its format, and how its table is written. ``columns``: describe also the
    columns of each block; UsageError for a pipe. ``salvage``: look for what is left of a damaged
    container, all of which is read. DamagedError where a container is damaged.
    """
    head = source.peek(SNIFF)
    if salvage:
        from serialpack.pipeline.seekable import sought, whole_small

        if whole_small(source):
            return inspect_source(source, format, columns=columns)
        with sought(source) as left:
            return _inspect_remains(left)
    if is_small(head):
        return Inspection(source.path, source.size, (small_info(source),), None)
    if is_container(head):
        lists = EntryLists()
        if source.seekable():
            found = [
                with_forms(source, m, lists, columns=columns) for m in find_listed(source.file)
            ]
            if len(found) == 1 and not source.is_far:
                found = [with_listing(source, with_outline(source.file, found[0]))]
        else:
            if columns:
                raise UsageError("columns are looked at in a file, not in a pipe")
            found = [member_info(m, lists) for m in _read_through(source)]
        return Inspection(source.path, source.size, tuple(found), None)
    return Inspection(source.path, source.size, (), _shape(source, format, table))


def _read_through(source: Source) -> list[StoredMember]:
    """The members of a container that is read to its end; their checksums are verified."""
    members = []
    for member in read_members(source.read):
        for _ in member.blocks():
            pass
        members.append(StoredMember.of(member))
    return members


def _inspect_remains(source: Source) -> Inspection:
    """What is left of a damaged container, and where it is damaged; ``source`` can be sought.
    DamagedError where nothing is left."""
    from serialpack.container.salvage import find_remains
    from serialpack.pipeline.salvage import header_of, nothing_left

    remains = find_remains(source.file)
    if not remains.members:
        raise nothing_left()
    headed = [(member, header_of(member)) for member in remains.members]
    lists = EntryLists()
    members = tuple(remains_info(m, header, lists) for m, header in headed if header is not None)
    return Inspection(source.path, source.size, members, None, tuple(remains.damage))


def _shape(source: Source, format: str | None, table: AsFound) -> Shape:
    """The shape of a file that is no container. ``format``, ``table``: see ``inspect_source``."""
    choice = choose()
    head = source.peek(max(choice.block_size + 1, LARGE_SAMPLE))
    compressed = compression_of(source) is not None
    said, how = (None, AsFound()) if compressed else (format, table)
    path = source.path if source.stat is not None else None
    is_other = other_encoding(head[:SAMPLE], said, path, how) is not None
    # Text in another encoding than UTF-8 is packed as bytes: the format is found as pack finds it.
    found = told(said, path, head[:SAMPLE], AsFound() if is_other else how)
    choice = settle(choice, found, source.peek, source)
    inside = listing = None
    if compressed or format is None:
        inside, listing = look_inside(source, format, table)
    read_on = inside is None and listing is None
    look = look_at(source, head, *((said, how) if is_other else (found,)), read_on=read_on)
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
