"""The index of a member: a row for each block, and totals."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from serialpack.container.block import EXACT, IN_PLACE, STORED, Block
from serialpack.container.entries import Covered, is_second_form, share_of
from serialpack.container.fields import bytes_of, count_of
from serialpack.container.frames import HEADER, INDEX, MAX_BODY, pack_body, unpack_body, write_frame
from serialpack.container.limits import too_much
from serialpack.errors import DamagedError

#: The most bytes that a row takes as MessagePack, without its entries; and the most that
#: MessagePack adds to the rows of entries.
_ROW = 55
_ROWS_HEAD = 5

#: The most bytes that ``covered`` takes without its two paths, of which each character takes up to
#: 4.
_COVERED = 16


class IndexRow(NamedTuple):
    """What the index says of one block.

    ``frame``: bytes of the frame of its block header; ``payload``: bytes of its parts. ``flags``,
    ``records``, ``size``: as in ``Block``; ``serialized``: as there, None where it equals ``size``.
    ``check``: the checksum at the end of the block header's frame; so the row vouches for all that
    the block header says.

    ``entries``: of a block that entries of an archive share, their encoded rows, which the index
    repeats if they are of the first form. If they are of the second form, the index has
    ``covered``.
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
        """The row of ``block``, the frame of whose header has ``frame`` bytes and the checksum
        ``check``; without ``covered``."""
        serialized = None if block.serialized == block.size else block.serialized
        sizes = block.size, serialized, check
        return cls(frame, block.payload, block.flags, block.records, *sizes, block.entries)

    @property
    def stored(self) -> bool:
        return bool(self.flags & STORED)

    def share(self, begin: int, end: int) -> int:
        """About how many bytes of the payload are due to the bytes ``begin`` to ``end`` of the
        restored block."""
        return share_of(self.payload, begin, end, self.size)

    @property
    def indexed(self) -> "IndexRow":
        """This row as the index stores it: without ``entries`` if they are of the second form."""
        repeated = self.entries is None or not is_second_form(self.entries)
        return self if repeated else self._replace(entries=None)

    def values(self) -> list[Any]:
        """The row as a list of values, for the body of an index frame."""
        more = [] if self.covered is None else [self.covered.values()]
        return [*self[:7], *(more if self.entries is None else [self.entries])]

    @property
    def length(self) -> int:
        """Bytes of the block in the file."""
        return self.frame + self.payload


class Index(NamedTuple):
    """The index of a member.

    ``header``: the body of the header once more; ``rows``: one for each block; ``records``: how
    many there are, None where that is not known; ``size``: bytes that the member restores to;
    ``serialized``: bytes of its serialized blocks; ``digest``: XXH3-128 of what the member restores
    to. A short member stores no index and no digest; for it, XXH3-64 of its one block stands here.
    """

    header: bytes
    rows: tuple[IndexRow, ...]
    records: int | None
    size: int
    serialized: int
    digest: bytes

    @classmethod
    def of(cls, header: bytes, rows: Sequence[IndexRow], digest: bytes) -> "Index":
        """The index with this body of the header, these rows and their totals."""
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
        """Whether ``digest`` (XXH3-128) is the one in the index. Always True for a short member:
        it stores none, and the checksum of its one block was verified instead.
        """
        return len(self.digest) < len(digest) or digest == self.digest

    @property
    def exact(self) -> bool:
        """Whether all blocks give back the bytes of their source."""
        return all(r.flags & EXACT for r in self.rows)

    def encode(self) -> list[bytes]:
        """The frames of the index, in order. All of them have rows; the last one has header, totals
        and digest, too."""
        # The same room for rows in each frame: so the header always fits into the last one.
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
        """The index, from the bodies of all its frames in order; DamagedError where they are
        malformed. ``start``: the place of the first frame in the file."""
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
        """The places in the file at which the blocks begin, the first one at ``first``; then the
        place at which the last one ends and the index begins."""
        return list(accumulate((row.length for row in self.rows), initial=first))


def frames_left(body: bytes, start: int) -> int:
    """How many frames of the index follow the one with this ``body``."""
    return _index_field(body, 0, start)


def index_frames(body: bytes, start: int) -> int:
    """How many frames the index has; ``body``: that of the last one."""
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
