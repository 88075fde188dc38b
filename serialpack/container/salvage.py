"""Puts the members of a damaged file together from the pieces that ``scan`` finds.

Each block bears the id of its member. Header and index stand in for each other: the index has a
copy of the header. Pieces of other members that stand among the blocks of one are foreign: they
come from a container within the packed data, or were put there. The rules: man/spk.5, Damage.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import IO, NamedTuple

from serialpack.container.block import StoredBlock
from serialpack.container.frames import FRAME_EXTRA, START_FRAME, START_OWN, START_ZSTD, FrameSource
from serialpack.container.reader import read_members, read_parts
from serialpack.container.remains import FoundMember, Slot
from serialpack.container.scan import (
    Found,
    FoundBlock,
    FoundEnd,
    FoundHeader,
    FoundIndex,
    FoundShort,
    scan,
)
from serialpack.errors import Damage, DamagedError, NotContainerError


class Remains(NamedTuple):
    """What is left of a damaged file: its members, and each place that is damaged, in the order of
    the file."""

    members: list[FoundMember]
    damage: list[Damage]


def find_remains(file: IO[bytes]) -> Remains:
    """What is left of the container in ``file``, which must be seekable; all of it is read."""
    members, foreign = _members_of(scan(file))
    damage = list(_damage(members, file.seek(0, os.SEEK_END)))
    damage += (
        place for number, member in enumerate(members) for place in _bad_magic(file, number, member)
    )
    damage = damage or list(_first_met(file))
    damage += [
        Damage(None, None, each.first, each.stop, "a part of another container stands here")
        for each in foreign
    ]
    return Remains(members, sorted(damage, key=lambda each: (each.start, each.block or 0)))


def _bad_magic(file: IO[bytes], number: int, member: FoundMember) -> Iterator[Damage]:
    """The frames of ``member`` that are whole but for their magic, as damage; ``number``: that of
    the member in its file."""
    for block, start in _frames(member):
        file.seek(start)
        if file.read(4) != START_FRAME:
            yield Damage(
                number, block, start, start + 4, "the first bytes of its frame are damaged"
            )


def _frames(member: FoundMember) -> Iterator[tuple[int | None, int]]:
    """The place of each whole frame of ``member``, behind the number of the block that it is the
    header of, or None."""
    if member.short is not None:
        yield None, member.short.frame_start
        return
    if member.header is not None:
        yield None, member.header.end - FRAME_EXTRA - len(member.header.body)
    yield from ((seq, block.start) for seq, block in member.blocks.items() if block.whole)
    if member.index is not None:
        yield None, member.index.start


def _first_met(file: IO[bytes]) -> Iterator[Damage]:
    """The damage that a reader from the front meets first, where there is any."""
    file.seek(0)
    try:
        for member in read_members(file.read):
            for _ in member.blocks():
                pass
    except NotContainerError:
        return
    except DamagedError as error:
        start = error.start or 0
        yield Damage(None, error.block, start, max(error.end or 0, start), error.message)


def first_body(file: IO[bytes]) -> bytes | None:
    """The body of a header: of the first header, index or short member in ``file`` that is whole;
    None where none is."""
    for found in scan(file):
        if isinstance(found, FoundHeader):
            return found.body
        if isinstance(found, FoundIndex):
            return found.header
        if isinstance(found, FoundShort) and found.whole is not None:
            return found.whole.index.header
    return None


def has_blocks(file: IO[bytes]) -> bool:
    """Whether any block in ``file`` is whole; the file is read up to the first one."""
    return any(isinstance(found, FoundBlock | FoundShort) and found.whole for found in scan(file))


def read_found(file: IO[bytes], found: FoundBlock) -> StoredBlock:
    """The block ``found``, which is whole, read with its payload; the checksums are verified
    again."""
    start = found.start + found.frame
    file.seek(start)
    source = FrameSource(file.read, start)
    return StoredBlock(found.block, found.start, found.end, read_parts(source, found.block))


def _members_of(found: Iterable[Found]) -> tuple[list[FoundMember], list[FoundMember]]:
    """The pieces that were ``found`` as members: those of the file itself, and foreign ones."""
    members: list[FoundMember] = []
    opened: dict[int, FoundMember] = {}
    for each in found:
        if isinstance(each, FoundEnd):
            ended = _give_end(members, each)
            if ended is not None and opened.get(ended.id) is ended:
                del opened[ended.id]
            continue
        if isinstance(each, FoundShort):
            members.append(FoundMember.of_short(each))
            continue
        member = opened.get(each.id)
        if member is None or not _belongs(member, each):
            member = opened[each.id] = FoundMember(each.id, each.start, each.end)
            members.append(member)
        if isinstance(each, FoundHeader):
            member.header, member.body = member.header or each, each.body
        elif isinstance(each, FoundIndex):
            member.index, member.body = each, each.header
            del opened[each.id]
        elif (before := member.blocks.get(each.block.seq)) is not None and before.whole:
            continue  # the same block, there twice
        else:
            member.blocks[each.block.seq] = each
        member.stop = max(member.stop, each.end if not _is_cut(each) else each.start)
    return _without_foreign(members)


def _is_cut(found: Found) -> bool:
    """Whether it is a block of which only the header is whole."""
    return isinstance(found, FoundBlock) and not found.whole


def _belongs(member: FoundMember, found: FoundHeader | FoundBlock | FoundIndex) -> bool:
    """Whether ``found``, which bears the id of ``member``, belongs to it. It may also belong to a
    later member with the same header, and so with the same id."""
    if isinstance(found, FoundHeader):
        return not member.blocks
    if isinstance(found, FoundIndex):
        return True
    before = member.blocks.get(found.block.seq)
    return before is None or before.check == found.check


def _give_end(members: list[FoundMember], end: FoundEnd) -> FoundMember | None:
    """Find the member that ``end`` fits best, give it to that, and return the member; None where it
    fits none."""
    best: tuple[int, FoundMember] | None = None
    for member in reversed(members):
        if member.first < end.member:
            break
        if member.end is not None or member.stop > end.start:
            continue
        if member.header is not None:
            rank = 3 if member.header.start in _starts(end.member) else 0
        else:
            rank = 2 if member.index is not None and member.index.end == end.start else 1
        if rank and (best is None or rank >= best[0]):
            best = rank, member
    if best is None:
        return None
    best[1].end, best[1].stop = end, end.end
    return best[1]


def _starts(start: int) -> tuple[int, ...]:
    """The places at which the header of a member may stand that begins at ``start``: behind the
    start of either envelope, or just there where the start is lost."""
    return start, start + len(START_OWN), start + len(START_ZSTD)


def _without_foreign(
    members: list[FoundMember],
) -> tuple[list[FoundMember], list[FoundMember]]:
    """The members of the file itself, and the foreign ones, which stand within these."""
    bodies = {each.id: each.body for each in members if each.body is not None}
    begins = [*accumulate((each.begin for each in reversed(members)), min)][::-1]
    listed: dict[int, FoundMember] = {}
    own: list[FoundMember] = []
    foreign: list[FoundMember] = []
    at = reach = 0
    for member, behind in zip(members, [*begins[1:], None], strict=False):
        member.body = member.body or bodies.get(member.id)
        if member.listed:
            _keep_listed(member, foreign)
            listed[member.id] = member
        alone = not (member.header or member.index or member.end or member.short)
        follows = member.header is not None and member.header.start == at
        within = behind is not None and behind <= member.first and not follows
        if alone and member.id in listed:
            # Blocks of a member that stand apart from it: they were moved, or are there twice.
            _hand_over(member, listed[member.id])
            foreign += [member] if member.blocks else []
        elif member.stop <= reach or within:
            foreign.append(member)
        else:
            own.append(member)
            at, reach = member.stop, max(reach, member.reach)
    return own, foreign


def _keep_listed(member: FoundMember, foreign: list[FoundMember]) -> None:
    """Take from ``member`` the blocks that its index does not list, and append them to
    ``foreign``."""
    assert member.index is not None
    assert member.index.index is not None
    rows = member.index.index.rows
    for seq, block in list(member.blocks.items()):
        if seq >= len(rows) or rows[seq].check != block.check:
            foreign.append(FoundMember(member.id, block.start, block.end))
            del member.blocks[seq]


def _hand_over(member: FoundMember, other: FoundMember) -> None:
    """Move blocks from ``member`` to ``other``: those that the index of ``other`` lists and that it
    lacks."""
    assert other.index is not None
    assert other.index.index is not None
    rows = other.index.index.rows
    for seq, block in list(member.blocks.items()):
        before = other.blocks.get(seq)
        if seq < len(rows) and rows[seq].check == block.check and not (before and before.whole):
            other.blocks[seq] = member.blocks.pop(seq)


def _damage(members: list[FoundMember], size: int) -> Iterator[Damage]:
    """The damaged places in the ``members`` and between them; ``size``: of the file, in bytes."""
    at = 0
    for number, member in enumerate(members):
        yield from _damage_of(member, number, at, size)
        at = max(at, min(member.stop, size))
    if at < size and members and members[-1].end is not None:
        yield Damage(None, None, at, size, "bytes follow that are no container")


def _damage_of(member: FoundMember, number: int, at: int, size: int) -> Iterator[Damage]:
    """The damaged places in one member and before it. ``number``: of the member; ``at``: the place
    at which the member before it ends; ``size``: of the file, in bytes."""
    if member.short is not None and member.short.whole is None:
        why = "the short member is damaged or cut off"
        yield Damage(number, None, at, min(member.stop, size), why)
        return
    slots = member.slots()
    starts = [slot.start for slot in slots if slot.start is not None]
    rest = member.index.start if member.index is not None else member.stop
    if member.header is None:
        end = max(min([*starts, rest]), at)
        yield Damage(number, None, at, end, "the header is damaged or missing")
        at = end
    else:
        if member.header.start > at:
            yield Damage(number, None, at, member.header.start, "bytes that are no container")
        at = member.header.end
    run: list[int] = []
    for slot in slots:
        if slot.start is None:
            run.append(slot.seq)
            continue
        if run:
            yield _missing(number, run, at, max(at, slot.start))
            run = []
        assert slot.end is not None
        if not slot.whole:
            yield Damage(number, slot.seq, min(slot.start, size), min(slot.end, size), _why(slot))
        at = max(at, min(slot.end, size))
    if not member.listed:
        start = at if member.index is None else member.index.start
        end = max(size if member.end is None else member.end.start, start)
        cut = member.index is None and member.end is None
        what = "the file ends before the index" if cut else "the index is damaged or missing"
        yield Damage(number, None, start, end, what)
    elif member.end is None:
        assert member.index is not None
        end = member.index.end
        what = "the file ends before its end" if end >= size else "the end is not as it should be"
        yield Damage(number, None, end, size, what)


def _missing(number: int, run: list[int], start: int, end: int) -> Damage:
    """The damage of blocks of which nothing is left: those with the numbers ``run``."""
    if len(run) == 1:
        return Damage(number, run[0], start, end, "its header is damaged or missing")
    what = f"blocks {run[0]} to {run[-1]}: their headers are damaged or missing"
    return Damage(number, None, start, end, what)


def _why(slot: Slot) -> str:
    """What is wrong with a block that is not whole, in words."""
    if slot.found is None:
        return "its header is damaged or missing"
    return "its stored bytes are damaged or cut off"
