"""What is left of a member in a damaged file, as ``salvage`` puts it together."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from serialpack.container.frames import FRAME_EXTRA, START_ZSTD
from serialpack.container.scan import FoundBlock, FoundEnd, FoundHeader, FoundIndex, FoundShort


class Slot(NamedTuple):
    """One block that a member has or had. Fields are None where nothing is known.

    ``seq``: its number in the member; ``found``: the block, where at least its header is whole;
    ``start``, ``end``: its place in the file. The rest as in ``container.block.Block``.
    """

    seq: int
    size: int | None
    records: int | None
    flags: int | None
    found: FoundBlock | None
    start: int | None
    end: int | None

    @property
    def whole(self) -> bool:
        """Whether the block is there, with all stored bytes as they were written."""
        return self.found is not None and self.found.whole


@dataclass
class FoundMember:
    """What is left of a member.

    ``first``, ``stop``: the places in the file at which what was found of it begins and ends; where
    the member itself begins and ends, ``start``, ``begin`` and ``reach`` tell. ``header``,
    ``index``, ``end``: None where they are damaged; ``blocks``: those found, by their numbers.
    """

    id: int
    first: int
    stop: int
    header: FoundHeader | None = None
    index: FoundIndex | None = None
    end: FoundEnd | None = None
    blocks: dict[int, FoundBlock] = field(default_factory=dict)
    #: The body of the header, from its frame or from the copy in the index; None where both are
    #: lost.
    body: bytes | None = None
    #: A short member, all of which is in one piece; None for any other.
    short: FoundShort | None = None

    @classmethod
    def of_short(cls, found: FoundShort) -> FoundMember:
        """The short member ``found``, as if its header, block, index and end had been found one by
        one."""
        at, frame_end = found.frame_start, found.frame_end
        if found.whole is None:
            stop = frame_end if found.loose else found.end
            return cls(-1, found.start, stop, short=found)
        _, index, stored, _ = found.whole
        body, number, end = index.header, found.whole.id, found.end
        block = FoundBlock(number, stored.block, index.rows[0].check, at, frame_end - at, True)
        return cls(
            number,
            found.start,
            end,
            FoundHeader(number, body, found.start, at),
            FoundIndex(number, body, index, index.size, index.records, end, end),
            FoundEnd(found.start, (), None, end, end),
            {0: block},
            body,
            found,
        )

    @property
    def start(self) -> int | None:
        """The place in the file at which it begins, by its header or its end; None without both."""
        if self.header is not None:
            return self.header.start
        return self.end.member if self.end is not None else None

    @property
    def begin(self) -> int:
        """The place in the file at which it begins, also reckoned back from its index; where
        nothing tells, the place of the first thing that was found of it."""
        if self.header is None and self.index is not None and self.index.index is not None:
            rows = sum(row.length for row in self.index.index.rows)
            around = len(START_ZSTD) + FRAME_EXTRA + len(self.index.header)
            return min(self.first, self.index.start - rows - around)
        return self.first if self.start is None else self.start

    @property
    def reach(self) -> int:
        """The place in the file at which it ends; where that is not known, the furthest place at
        which it may end."""
        if self.index is not None or self.end is not None:
            return self.stop
        return max([self.stop, *(each.end for each in self.blocks.values() if each.loose)])

    @property
    def listed(self) -> bool:
        """Whether its index is whole, so that it is known which blocks are lost."""
        return self.index is not None and self.index.index is not None

    @property
    def last_known(self) -> bool:
        """Whether it is known that the member has no blocks behind the last one in ``slots``."""
        if self.listed:
            return True
        if self.end is None or not self.blocks:
            return False
        blocks_end = self.blocks[max(self.blocks)].end
        if self.end.blocks_end is not None:
            return self.end.blocks_end == blocks_end
        places = accumulate((stored for stored, _ in self.end.lengths), initial=self.end.member)
        restored = [restored for _, restored in self.end.lengths]
        number = next((n for n, place in enumerate(places) if place == blocks_end), None)
        return number is not None and not any(restored[number:])

    @property
    def size(self) -> int | None:
        """How many bytes it restores to, as its index says; None without an index."""
        return None if self.index is None else self.index.size

    def slots(self) -> list[Slot]:
        """A slot for each block of the member, in order, also for lost ones. Without an index,
        blocks that are lost behind the last one found have none, as nothing tells of them."""
        if self.index is None or self.index.index is None:
            return [self._unlisted(seq) for seq in range(max(self.blocks, default=-1) + 1)]
        rows = self.index.index.rows
        places = self.index.index.offsets(self.index.start - sum(row.length for row in rows))
        slots = []
        for seq, (row, start) in enumerate(zip(rows, places, strict=False)):
            found = self.blocks.get(seq)
            if found is not None:
                start = found.start
            place = max(start, 0), max(start + row.length, 0)
            slots.append(Slot(seq, row.size, row.records, row.flags, found, *place))
        return slots

    def _unlisted(self, seq: int) -> Slot:
        found = self.blocks.get(seq)
        if found is None:
            return Slot(seq, None, None, None, None, None, None)
        block = found.block
        return Slot(seq, block.size, block.records, block.flags, found, found.start, found.end)
