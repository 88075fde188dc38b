"""Finds the pieces of containers in a damaged file: frames are found by their tags, and proved by
their checksums.

The file is gone through once, in little memory. Where a whole piece ends, the next one is expected;
only where none stands there, the bytes are searched for tags. ``salvage`` makes members of the
pieces.
"""

import io
import os
import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from xxhash import xxh3_64

from serialpack.container.block import Block
from serialpack.container.ends import read_seek_table, read_trailer, seek_table_length
from serialpack.container.fields import bytes_of, count_of
from serialpack.container.frames import (
    BLOCK,
    END_OWN,
    FRAME_EXTRA,
    HEADER,
    INDEX,
    MARKS,
    MAX_BODY,
    PREFIX_LENGTH,
    SEEK_TABLE,
    SHORT,
    START_OWN,
    START_ZSTD,
    TRAILER_OWN,
    FrameSource,
    checksum,
    unpack_body,
)
from serialpack.container.index import Index, frames_left
from serialpack.container.short import ShortMember, payload_size, read_short
from serialpack.errors import DamagedError

_TABLE = struct.pack("<I", SEEK_TABLE)
_LONGEST_MARK = len(END_OWN)

#: How many bytes are read at a time.
_PIECE = 1 << 20

#: How many bytes may be hashed in vain (the checksum does not match): so many for each byte of the
#: file, and so many more. A file that was made to look like millions of frames must not take for
#: ever.
_VAIN, _VAIN_FREE = 8, 64 << 20


class FoundHeader(NamedTuple):
    """A whole header. ``id``: of its member, which is the checksum of the header. ``start``: the
    place of the bytes that begin the member, where they are there, else of the header's frame."""

    id: int
    body: bytes
    start: int
    end: int


class FoundBlock(NamedTuple):
    """A block whose header is whole. ``whole``: the checksums of its stored bytes match, too.

    ``id``: of its member; ``check``: the checksum at the end of its header's frame, which has
    ``frame`` bytes. ``loose``: the block is not whole, and nothing that is whole begins where it
    should end: its length may be wrong.
    """

    id: int
    block: Block
    check: int
    start: int
    frame: int
    whole: bool
    loose: bool = False

    @property
    def frame_end(self) -> int:
        """The place at which the frame of its header ends."""
        return self.start + self.frame

    @property
    def end(self) -> int:
        """The place at which the block ends, by the sizes in its header."""
        return self.frame_end + self.block.payload


class FoundIndex(NamedTuple):
    """The last frame of an index, which has the header and the totals.

    ``id``: of its member; ``header``: the body of the header; ``index``: the whole index; None
    where its other frames are not whole; ``size``, ``records``: the totals of the member.
    """

    id: int
    header: bytes
    index: Index | None  # type: ignore[assignment]  # hides tuple.index, which nobody wants here
    size: int
    records: int | None
    start: int
    end: int


class FoundShort(NamedTuple):
    """A short member. ``whole``: the member, where its checksum matches, else None.

    ``start``: the place of the bytes that begin it, where they are there, else of its frame;
    ``end``: the place at which it ends, by the size in it. ``loose``: see ``FoundBlock``.
    """

    whole: ShortMember | None
    start: int
    frame_start: int
    frame_end: int
    end: int
    loose: bool = False


class FoundEnd(NamedTuple):
    """The end of a member, a trailer or a seek table. ``member``: the place at which the member
    begins, as the end says.

    ``lengths``: of a seek table, for each frame of the member how many bytes it has, and how many
    zstd restores from it; ``blocks_end``: of a trailer, the place at which the last block ends.
    """

    member: int
    lengths: tuple[tuple[int, int], ...]
    blocks_end: int | None
    start: int
    end: int


Found = FoundHeader | FoundBlock | FoundIndex | FoundShort | FoundEnd


def scan(file: IO[bytes]) -> Iterator[Found]:
    """The pieces of containers in ``file``, which must be seekable, in the order of the file.

    Blocks are among them whose header is whole and whose payload is not. UnsupportedError for a
    block with flags that this version does not know.
    """
    return _Scan(file).found()


class _Scan:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._size = file.seek(0, os.SEEK_END)
        self._vain = _VAIN_FREE + _VAIN * self._size

    def found(self) -> Iterator[Found]:
        at = 0
        while at < self._size and self._vain > 0:
            found = self._here(at) or self._next(at)
            if found is None:
                return
            at = found.end
            if (
                isinstance(found, FoundBlock | FoundShort)
                and not found.whole
                and self._here(at) is None
            ):
                # Its length may be wrong, or what follows it is damaged, too.
                found = found._replace(loose=True)
                if isinstance(found, FoundShort):  # the length of its frame, too
                    found = found._replace(frame_end=found.frame_start + PREFIX_LENGTH)
                at = found.frame_end
            yield found

    def _at(self, start: int, size: int) -> bytes:
        """The ``size`` bytes from ``start`` on; fewer only at the end of the file."""
        if not 0 <= start < self._size:
            return b""
        self._file.seek(start)
        data = self._file.read(size)
        while data and len(data) < size and (more := self._file.read(size - len(data))):
            data += more
        return data

    def _here(self, at: int) -> Found | None:
        """The piece that begins at ``at``; None where none does."""
        head = self._at(at, TRAILER_OWN.size)
        for start in (START_OWN, START_ZSTD):
            if head.startswith(start):
                found = self._frame(at + len(start))
                if isinstance(found, FoundHeader | FoundShort):
                    return found._replace(start=at)
                return None
        if head.startswith(_TABLE):
            length = int.from_bytes(head[4:8], "little") + 8
            return self._end(at + length, at) if at + length <= self._size else None
        if head.endswith(END_OWN):
            return self._end(at + TRAILER_OWN.size, at)
        return self._frame(at)

    def _next(self, at: int) -> Found | None:
        """The first piece behind ``at``, which is searched for; None where there is none, or where
        too many bytes were hashed in vain."""
        for mark, place in self._marks(at):
            if self._vain <= 0:
                return None
            if not mark.startswith(b"SPK"):
                found: Found | None = self._end(place + len(mark), at)
            elif place - 8 < at:
                continue
            else:
                found = self._frame(place - 8)
                if isinstance(found, FoundHeader | FoundShort):
                    found = self._with_start(found, at)
            if found is not None:
                return found
        return None

    def _marks(self, at: int) -> Iterator[tuple[bytes, int]]:
        """Each of ``MARKS`` that stands at ``at`` or behind it, and its place."""
        while data := self._at(at, _PIECE + _LONGEST_MARK - 1):
            last = len(data) < _PIECE + _LONGEST_MARK - 1
            for match in MARKS.finditer(data):
                if match.start() < _PIECE or last:
                    yield match[0], at + match.start()
            at += _PIECE

    def _with_start(
        self, found: FoundHeader | FoundShort, at: int
    ) -> FoundHeader | FoundShort | None:
        """``found``, with its ``start`` set to that of the bytes that begin a member, where these
        stand before it, at ``at`` or behind.

        None for a damaged short member without them: it may be anything.
        """
        for start in (START_OWN, START_ZSTD):
            begin = found.start - len(start)
            if begin >= at and self._at(begin, len(start)) == start:
                return found._replace(start=begin)
        return None if isinstance(found, FoundShort) and found.whole is None else found

    def _raw(self, at: int) -> tuple[bytes, bytes, int, int] | None:
        """The tag, body, checksum and end of the frame at ``at``; None where it is not whole.

        Its magic may be damaged: a checksum that matches is proof enough.
        """
        prefix = self._at(at, PREFIX_LENGTH)
        tag = prefix[8:]
        if tag not in MAX_BODY:
            return None
        length = int.from_bytes(prefix[4:8], "little")
        end = at + 8 + length
        if not 12 <= length <= MAX_BODY[tag] + 12 or end > self._size:
            return None
        rest = self._at(at + PREFIX_LENGTH, length - 4)
        body, check = rest[:-8], int.from_bytes(rest[-8:], "little")
        if tag == SHORT or (len(rest) == length - 4 and checksum(tag + body) == check):
            return tag, body, check, end
        self._vain -= length
        return None

    def _frame(self, at: int) -> Found | None:
        """The piece whose frame is at ``at``; None where that is not whole."""
        raw = self._raw(at)
        if raw is None:
            return None
        tag, body, check, end = raw
        try:
            if tag == BLOCK:
                return self._block(at, body, check)
            if tag == INDEX:
                return self._index(at, body, end)
            if tag == SHORT:
                return self._short(at, body, check, end)
        except DamagedError:  # its checksum matches, but it says nonsense: somebody made it so
            self._vain -= end - at
            return None
        return FoundHeader(check, body, at, end)

    def _block(self, at: int, body: bytes, check: int) -> FoundBlock:
        owner = _owner(body, at)
        block = Block.decode(body, at, owner)
        frame = FRAME_EXTRA + len(body)
        whole = at + frame + block.payload <= self._size
        place = at + frame
        for part in block.parts:
            if not whole:
                break
            whole = self._hash(place, part.stored) == part.check
            if not whole:
                self._vain -= block.payload
            place += part.stored
        return FoundBlock(owner, block, check, at, frame, whole)

    def _short(self, at: int, body: bytes, check: int, frame_end: int) -> FoundShort:
        end = frame_end + payload_size(body, at)
        payload = self._at(frame_end, end - frame_end)
        short = None
        if len(payload) == end - frame_end:
            source = FrameSource(io.BytesIO(payload).read, frame_end)
            short = read_short(source, (body, check, at), zstd_envelope=True)
        if short is None or short.damage is not None:
            self._vain -= end - at
            short = None
        return FoundShort(short, at, at, frame_end, end)

    def _hash(self, at: int, size: int) -> int:
        state = xxh3_64()
        self._file.seek(at)
        while size and (data := self._file.read(min(size, _PIECE))):
            state.update(data)
            size -= len(data)
        return state.intdigest()

    def _index(self, at: int, body: bytes, end: int) -> FoundIndex | None:
        """The index that begins, or goes on, with the frame at ``at``; None where it breaks off."""
        bodies = [body]
        while (left := frames_left(bodies[-1], at)) > 0:
            raw = self._raw(end)
            if raw is None or raw[0] != INDEX or frames_left(raw[1], end) != left - 1:
                self._vain -= end - at
                return None
            bodies.append(raw[1])
            end = raw[3]
        try:
            fields: Any = unpack_body(bodies[-1], at, "index")[0]
            header = bytes_of(fields[3])
            records = None if fields[4] is None else count_of(fields[4])
            size = count_of(fields[5])
        except (TypeError, ValueError, IndexError, KeyError) as error:
            raise DamagedError(f"the index is malformed ({error})", start=at) from None
        try:
            index: Index | None = Index.decode(bodies, at)
        except DamagedError:
            index = None
        return FoundIndex(checksum(HEADER + header), header, index, size, records, at, end)

    def _end(self, end: int, after: int) -> FoundEnd | None:
        """The trailer or seek table that ends at ``end`` and begins at ``after`` or behind it; None
        where none does."""
        tail = self._at(max(end - TRAILER_OWN.size, 0), min(end, TRAILER_OWN.size))
        if len(tail) == TRAILER_OWN.size and (lengths := read_trailer(tail)) is not None:
            index, member = lengths
            start = end - TRAILER_OWN.size
            return FoundEnd(end - member, (), start - index, start, end) if start >= after else None
        length = seek_table_length(tail) if len(tail) > 8 else None
        if length is None or end - length < after:
            return None
        start = end - length
        if self._at(start, 8) != _TABLE + struct.pack("<I", length - 8):
            return None
        frames = read_seek_table(self._at(start, length)) or []
        member = start - sum(stored for stored, _ in frames)
        return FoundEnd(member, tuple(frames), None, start, end)


def _owner(body: bytes, at: int) -> int:
    """The id of the member to which the block header with this ``body`` belongs."""
    try:
        return count_of(unpack_body(body, at, "block header")[0][0])
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise DamagedError(f"a block header is malformed ({error})", start=at) from None
