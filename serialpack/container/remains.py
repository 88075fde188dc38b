"""What is left of a member in a damaged file, as ``salvage.py`` puts it together."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from serialpack.container.frames import FRAME_EXTRA, START_ZSTD
from serialpack.container.scan import FoundBlock, FoundEnd, FoundHeader, FoundIndex, FoundShort


class Slot(NamedTuple):
    """The place of one block in its member. What is not known of it is None.

    ``found``: the block, if its header is whole; ``start``, ``end``: where it is in the file.
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
        """Whether its stored bytes are there as they were written."""
        return self.found is not None and self.found.whole


@dataclass
class FoundMember:
    """What is left of a member, from byte ``first`` of the file to byte ``stop``."""

    id: int
    first: int
    stop: int
    header: FoundHeader | None = None
    index: FoundIndex | None = None
    end: FoundEnd | None = None
    blocks: dict[int, FoundBlock] = field(default_factory=dict)
    #: The body of the header: from its frame or from the index.
    body: bytes | None = None
    #: All of the member, where it is a short one.
    short: FoundShort | None = None

    @classmethod
    def of_short(cls, found: FoundShort) -> FoundMember:
        """The short member ``found``, as if its header, block and index had been found."""
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
        """Where it begins in the file, if that is known."""
        if self.header is not None:
            return self.header.start
        return self.end.member if self.end is not None else None

    @property
    def begin(self) -> int:
        """Where it begins, as its header, its end or its index tells; else where it was found."""
        if self.header is None and self.index is not None and self.index.index is not None:
            rows = sum(row.length for row in self.index.index.rows)
            around = len(START_ZSTD) + FRAME_EXTRA + len(self.index.header)
            return min(self.first, self.index.start - rows - around)
        return self.first if self.start is None else self.start

    @property
    def reach(self) -> int:
        """Where it ends; where that is not known, the furthest byte that may be of it."""
        if self.index is not None or self.end is not None:
            return self.stop
        return max([self.stop, *(each.end for each in self.blocks.values() if each.loose)])

    @property
    def listed(self) -> bool:
        """Whether its index is whole, so that all that is lost is known."""
        return self.index is not None and self.index.index is not None

    @property
    def last_known(self) -> bool:
        """Whether it is known that no block comes behind the last one here."""
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
        """Bytes that it restores to, as its index says; None without one."""
        return None if self.index is None else self.index.size

    def slots(self) -> list[Slot]:
        """A slot for each block of the member, in order, and for each lost one that is known of."""
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
