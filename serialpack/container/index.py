"""The index: what a member's end says of the whole."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from serialpack.container.entries import Covered, share_of, stand_once
from serialpack.container.frames import HEADER, INDEX, MAX_BODY, pack_body, unpack_body, write_frame
from serialpack.container.limits import too_much
from serialpack.container.names import count_of
from serialpack.container.records import EXACT, IN_PLACE, STORED, Block, bytes_of
from serialpack.errors import DamagedError

#: The most bytes of a row without its entries, and of the head of the rows of these.
_ROW = 55
_ROWS_HEAD = 5

#: The most bytes of ``covered`` without its two paths, whose characters have up to four each.
_COVERED = 16


class IndexRow(NamedTuple):
    """One block in the index. ``frame`` and ``payload``: bytes of its header's frame and parts.

    ``check`` is the checksum that closes the block header's frame, and so stands for all that
    the block header says. ``serialized`` is None where it equals ``size``. ``entries``: the rows of
    the entries in the block, where it has some. The index repeats them only in the first form; of
    rows of the second form it says which entries are ``covered``.
    """

    frame: int
    payload: int
    flags: int
    records: int | None
    size: int
    serialized: int | None
    check: int
    entries: bytes | None = None
    covered: Covered | None = None

    @classmethod
    def of(cls, block: Block, frame: int, check: int) -> "IndexRow":
        """The row of ``block``, whose header's frame has ``frame`` bytes and ends in ``check``."""
        serialized = None if block.serialized == block.size else block.serialized
        sizes = block.size, serialized, check
        return cls(frame, block.payload, block.flags, block.records, *sizes, block.entries)

    @property
    def stored(self) -> bool:
        return bool(self.flags & STORED)

    def share(self, begin: int, end: int) -> int:
        """About how many bytes of the payload are due to bytes ``begin`` to ``end`` of the source
        in the block."""
        return share_of(self.payload, begin, end, self.size)

    @property
    def indexed(self) -> "IndexRow":
        """The row as an index has it: without rows of the second form."""
        repeated = self.entries is None or not stand_once(self.entries)
        return self if repeated else self._replace(entries=None)

    def values(self) -> list[Any]:
        """The row as a list, for the body of an index frame."""
        more = [] if self.covered is None else [self.covered.values()]
        return [*self[:7], *(more if self.entries is None else [self.entries])]

    @property
    def length(self) -> int:
        """Bytes of the block in the file."""
        return self.frame + self.payload


class Index(NamedTuple):
    """What a member's end says of the whole: the header again, the rows, totals, digest.

    ``digest``: XXH3-128 of all that the member restores to. A short member, which stores none, has
    the XXH3-64 of its block here.
    """

    header: bytes
    rows: tuple[IndexRow, ...]
    records: int | None
    size: int
    serialized: int
    digest: bytes

    @classmethod
    def of(cls, header: bytes, rows: Sequence[IndexRow], digest: bytes) -> "Index":
        """The index of a member with this header's body and these rows, whose totals it sums."""
        counts = [r.records for r in rows if r.records is not None]
        return cls(
            header=header,
            rows=tuple(rows),
            records=sum(counts) if len(counts) == len(rows) else None,
            size=sum(r.size for r in rows),
            serialized=sum(r.size if r.serialized is None else r.serialized for r in rows),
            digest=digest,
        )

    def is_of(self, digest: bytes) -> bool:
        """Whether ``digest`` (XXH3-128) is that of what the member restores to.

        True of a short member, which stores none: the checksum of its one block says it.
        """
        return len(self.digest) < len(digest) or digest == self.digest

    @property
    def exact(self) -> bool:
        """Whether all blocks give back the bytes of their source."""
        return all(r.flags & EXACT for r in self.rows)

    def encode(self) -> list[bytes]:
        """The frames of the index, in order: rows first, the last with the totals too."""
        # Room is left in every frame for the header, which the last one holds.
        most = MAX_BODY[INDEX] - MAX_BODY[HEADER] - 256
        pieces: list[list[list[Any]]] = [[]]
        room = most
        for row in self.rows:
            takes = _ROW + (0 if row.entries is None else _ROWS_HEAD + len(row.entries))
            takes += 0 if row.covered is None else _COVERED + 4 * sum(map(len, row.covered[1:]))
            if takes > room:
                pieces.append([])
                room = most
            pieces[-1].append(row.values())
            room -= takes
        tail = [len(pieces), self.header, self.records, self.size, self.serialized, self.digest]
        return [
            write_frame(INDEX, pack_body([left, piece, *(tail if left == 0 else [])]))
            for left, piece in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True)
        ]

    @classmethod
    def decode(cls, bodies: Sequence[bytes], start: int) -> "Index":
        """The index in the bodies of its frames, in order; DamagedError where malformed."""
        rows: list[IndexRow] = []
        try:
            fields: list[Any] = []
            for body in bodies:
                (fields,) = unpack_body(body, start, "index")
                rows.extend(_row(r) for r in fields[1])
            left, _, frames, header, records, size, serialized, digest = fields[:8]
            if left != 0 or count_of(frames) != len(bodies) or len(bytes_of(digest)) != 16:
                raise ValueError("its frames or its digest")
            if len(rows) > 1 and any(row.flags & IN_PLACE for row in rows):
                raise ValueError("a block in place is not the only one")
            index = cls(
                header=bytes_of(header),
                rows=tuple(rows),
                records=None if records is None else count_of(records),
                size=count_of(size),
                serialized=count_of(serialized),
                digest=bytes_of(digest),
            )
        except (TypeError, ValueError, IndexError) as error:
            raise DamagedError(f"the index is malformed ({error})", start=start) from None
        if index != cls.of(index.header, rows, index.digest):
            raise DamagedError("the index contradicts itself: its totals are wrong", start=start)
        return index

    def offsets(self, first: int) -> list[int]:
        """Where each block begins, of which the first does at ``first``; then where the index
        begins."""
        return list(accumulate((row.length for row in self.rows), initial=first))


def frames_left(body: bytes, start: int) -> int:
    """How many index frames follow the one with this body."""
    return _index_field(body, 0, start)


def index_frames(body: bytes, start: int) -> int:
    """How many index frames there are, as the last of them says."""
    return _index_field(body, 2, start)


def _index_field(body: bytes, number: int, start: int) -> int:
    try:
        return count_of(unpack_body(body, start, "index")[0][number])
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise DamagedError(f"the index is malformed ({error})", start=start) from None


def _row(fields: Any) -> IndexRow:
    frame, payload, flags, records, size, serialized, check = fields[:7]
    listed = fields[7] if len(fields) > 7 else None
    once = isinstance(listed, list)
    row = IndexRow(
        frame=count_of(frame),
        payload=count_of(payload),
        flags=count_of(flags),
        records=None if records is None else count_of(records),
        size=count_of(size),
        serialized=None if serialized is None else count_of(serialized),
        check=count_of(check),
        entries=None if once or listed is None else bytes_of(listed),
        covered=Covered.read(listed) if once else None,
    )
    in_place = bool(row.flags & IN_PLACE)
    if fault := too_much(row.size, row.serialized or 0, row.records, in_place=in_place):
        raise ValueError(f"a block of it {fault}")
    return row
