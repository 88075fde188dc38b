"""The frames that a container is made of: skippable frames of zstd with a tag and a checksum.

Layouts, rules and a worked example: man/spk.5. All integers are little-endian.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import accumulate
from typing import Any, Protocol

import msgpack
from xxhash import xxh3_64, xxh3_64_intdigest

from serialpack.errors import DamagedError, RefusedError, TruncatedError, UsageError
from serialpack.stages.stage import Buffer

#: Magic of our skippable frames (RFC 8878, 3.1.2: one of 0x184D2A50 to 0x184D2A5F).
SKIPPABLE = 0x184D2A53
#: The four bytes that each of our frames begins with.
START_FRAME = SKIPPABLE.to_bytes(4, "little")
#: Magic and closing magic of the seek table of zstd's seekable format, version 0.1.0.
SEEK_TABLE = 0x184D2A5E
SEEKABLE = 0x8F92EAB1

#: The zstd envelope begins with an empty zstd frame, because some programs tell a zstd file only by
#: the magic number of zstd's own frames.
START_ZSTD = bytes.fromhex("28b52ffd2000010000")
#: Our own envelope begins in the manner of PNG: an 8-bit byte, the name, CR LF, end of file, LF.
START_OWN = b"\x89SPK\r\n\x1a\n"
END_OWN = b"\x89SPKEND\n"
TRAILER_OWN = struct.Struct("<QQQ8s")

HEADER = b"SPKH"
BLOCK = b"SPKB"
INDEX = b"SPKX"
#: A short member: header, block header and index in one. Its checksum covers the payload, too.
SHORT = b"SPKS"

_ENDS = END_OWN, struct.pack("<I", SEEKABLE)
#: The bytes by which a search finds pieces of a container: the tags of frames, and the last bytes
#: of a member's end.
MARKS = re.compile(b"|".join((b"SPK[HBXS]", *map(re.escape, _ENDS))))
#: What all of these contain but the end of a seek table: to search for it takes a tenth of the
#: time.
_TAGS = b"SPK"

#: How many bytes a frame has beside its body: magic, length, tag, checksum.
FRAME_EXTRA = 4 + 4 + 4 + 8
#: The most bytes that the body of a frame may have, by its tag. A longer index takes several
#: frames.
MAX_BODY = {HEADER: 32 << 10, BLOCK: 1 << 20, INDEX: 1 << 20, SHORT: 32 << 10}

#: How many bytes of a frame a reader reads first: magic, length, tag.
PREFIX_LENGTH = 12

_PREFIX = struct.Struct("<II")
_CHECK = struct.Struct("<Q")


def has_mark(data: Buffer) -> bool:
    """Whether ``data`` contains one of ``MARKS``."""
    content = bytes(data)
    # To search from the end takes Python half the time.
    likely = content.rfind(_TAGS) >= 0 or content.rfind(_ENDS[1]) >= 0
    return likely and MARKS.search(content) is not None


#: The checksum of bytes: XXH3-64, unseeded.
checksum = xxh3_64_intdigest


def write_frame(tag: bytes, body: bytes, payload: Buffer = b"") -> bytes:
    """A whole frame: magic, length, tag, body, checksum.

    ``payload``: of a short member, the bytes that will follow the frame, which its checksum covers.
    """
    content = tag + body
    check = _CHECK.pack(frame_checksum(tag, body, payload))
    return b"".join((_PREFIX.pack(SKIPPABLE, len(content) + 8), content, check))


def frame_checksum(tag: bytes, body: bytes, payload: Buffer) -> int:
    """The checksum at the end of a frame; ``payload``: see ``write_frame``."""
    if len(payload) <= _LITTLE:
        return checksum(b"".join((tag, body, payload)))
    state = xxh3_64(tag + body)
    state.update(payload)
    return state.intdigest()


def frame_check(frame: bytes) -> int:
    """The checksum that stands at the end of ``frame``."""
    return int.from_bytes(frame[-8:], "little")


def frame_rest(prefix: bytes, start: int) -> int:
    """How many bytes of the frame follow ``prefix``, its first 12 bytes.

    DamagedError where these begin no frame of ours, or its body would be longer than is allowed.
    ``start``: the place of the frame in the file, for errors.
    """
    magic: int
    length: int
    magic, length = _PREFIX.unpack_from(prefix)
    if magic != SKIPPABLE:
        raise DamagedError("no frame begins here", start=start, end=start + 8)
    tag = prefix[8:]
    if tag not in MAX_BODY:
        raise DamagedError(f"a frame has the unknown tag {tag!r}", start=start, end=start + 12)
    if not 12 <= length <= MAX_BODY[tag] + 12:
        raise DamagedError(
            f"a {_NAMES[tag]} says it is {length} bytes long", start=start, end=start + 8
        )
    return length - 4


def open_frame(prefix: bytes, rest: bytes, start: int) -> tuple[bytes, bytes, int]:
    """The tag, the body and the checksum of the frame that ``prefix`` and ``rest`` are together.

    DamagedError where the checksum does not match. That of a short member is not verified here,
    because it covers the payload behind the frame, too.
    """
    tag, body = prefix[8:], rest[:-8]
    (check,) = _CHECK.unpack_from(rest, len(body))
    if tag != SHORT and checksum(tag + body) != check:
        raise DamagedError(
            f"the checksum of the {_NAMES[tag]} does not match",
            start=start,
            end=start + len(prefix) + len(rest),
        )
    return tag, body, check


_NAMES = {HEADER: "header", BLOCK: "block header", INDEX: "index", SHORT: "short member"}


#: How many bytes are skipped at a time.
_PIECE = 1 << 20

#: How many bytes are read and hashed at a time: they are hashed while they are in the processor's
#: cache.
_HOT = 256 << 10

#: Up to so many bytes of payload are joined to those of the frame and hashed in one call, which is
#: faster than hashing in steps.
_LITTLE = 64 << 10

#: The least bytes that several threads read in less time than one: two parts of a block in place.
_FOR_THREADS = 32 << 20


class MemoryFiller(Protocol):
    """A stream that can read into memory which the caller has. ``files.source.Source`` is one,
    whose methods of these names say what each does."""

    def room(self, size: int, /) -> memoryview | None: ...

    def read_into(self, view: memoryview, /) -> int: ...

    def read_at(self) -> Callable[[memoryview, int], int] | None: ...

    def pass_over(self, size: int, /) -> None: ...


class FrameSource:
    """A stream of frames and payloads that knows its place (``offset``, in bytes). It gives as many
    bytes as are asked for, or raises TruncatedError with the place at which the stream ends.

    ``read(n)`` gives up to n bytes, none only at the end. ``into``: the same stream as a
    ``MemoryFiller``, where it is one; ``threads``: how many threads may read from it at a time.
    """

    def __init__(
        self,
        read: Callable[[int], bytes],
        offset: int = 0,
        into: MemoryFiller | None = None,
        threads: int = 1,
    ) -> None:
        self._read = read
        self._into = into
        self._threads = threads
        self.offset = offset

    def some(self, size: int) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""
        data = self._read(size)
        if len(data) < size and data:
            pieces = [data]
            missing = size - len(data)
            while missing and (data := self._read(missing)):
                pieces.append(data)
                missing -= len(data)
            data = b"".join(pieces)
        self.offset += len(data)
        return data

    def exactly(self, size: int, what: str) -> bytes:
        """The next ``size`` bytes; TruncatedError where there are fewer. ``what``: what is being
        read, in words, for that error."""
        data = self.some(size)
        self._check(data, size, what)
        return data

    def _check(self, data: Buffer, size: int, what: str) -> None:
        if len(data) < size:
            raise TruncatedError(
                f"truncated: ends at byte {self.offset} in {what}", hint="get the file again"
            )

    def room(self, size: int) -> memoryview | None:
        """New memory for the next ``size`` bytes, to be filled by ``fill``; None where it is not
        known that so many bytes are there: no memory is taken on the word of a size in the file.
        """
        return None if self._into is None else self._into.room(size)

    def fill(self, rooms: Sequence[memoryview], what: str) -> Generator[int, None, None]:
        """Fill the pieces of memory ``rooms`` with the next bytes, one after another, and yield the
        checksum of each. TruncatedError as of ``exactly``.

        The generator must be closed. If that is done early, the stream stands behind the last room
        whose checksum was yielded.
        """
        assert self._into is not None
        into, start = self._into, self.offset
        many = self._threads > 1 and sum(map(len, rooms)) >= _FOR_THREADS
        read_at = into.read_at() if many else None
        places = accumulate(map(len, rooms), initial=0)
        jobs = list(zip(rooms, places, strict=False))
        if read_at is None:
            fill = partial(_fill, lambda piece, _: into.read_into(piece))
            yield from self._filled(rooms, map(fill, jobs), what)
            return
        from serialpack.threads import side_by_side

        try:
            with closing(side_by_side(partial(_fill, read_at), jobs, self._threads)) as filled:
                yield from self._filled(rooms, filled, what)
        finally:
            into.pass_over(self.offset - start)

    def _filled(
        self, rooms: Sequence[memoryview], filled: Iterator[tuple[int, int]], what: str
    ) -> Iterator[int]:
        """The checksums in ``filled``, which has for each of ``rooms`` how many bytes were read,
        and their checksum."""
        for room, (size, check) in zip(rooms, filled, strict=False):
            self.offset += size
            self._check(room[:size], len(room), what)
            yield check

    def skip(self, size: int, what: str) -> None:
        """Read ``size`` bytes and drop them; TruncatedError as of ``exactly``."""
        while size > 0:
            piece = min(size, _PIECE)
            self.exactly(piece, what)
            size -= piece

    def frame(self, what: str) -> tuple[bytes, bytes, int, int]:
        """The tag, body, checksum and place of the frame that begins here; DamagedError where none
        does, TruncatedError as of ``exactly``."""
        at = self.offset
        prefix = self.exactly(PREFIX_LENGTH, what)
        return *open_frame(prefix, self.exactly(frame_rest(prefix, at), what), at), at


def _fill(
    read_at: Callable[[memoryview, int], int], job: tuple[memoryview, int]
) -> tuple[int, int]:
    """Fill the room of ``job`` with the bytes at its place. Returns how many bytes were read, and
    their checksum, which counts only where the room is full."""
    room, place = job
    state, done = xxh3_64(), 0
    while done < len(room):
        piece = room[done : done + _HOT]
        size = read_at(piece, place + done)
        done += size
        if size < len(piece):
            break
        state.update(piece)
    return done, state.intdigest()


def pack_body(*objects: Any) -> bytes:
    """``objects`` as MessagePack, one after another, each in its shortest form."""
    # One packer for all of them: making one takes as long as packing a small object.
    packer = msgpack.Packer(use_bin_type=True, autoreset=False)
    for each in objects:
        packer.pack(each)
    body: bytes = packer.bytes()
    return body


def pack_values(*values: Any) -> bytes:
    """As ``pack_body``, with errors for users: UsageError for a value that MessagePack cannot hold,
    RefusedError for a number beyond 64 bits, which can only be the time of a file."""
    try:
        return pack_body(*values)
    except OverflowError:
        raise RefusedError(
            "its time is before 1677 or after 2554, and cannot be kept",
            hint="touch gives it another",
        ) from None
    except (UnicodeEncodeError, TypeError, ValueError) as error:
        raise UsageError(f"the header cannot hold a value ({error})") from None


def read_back(body: bytes) -> Any:
    """The one object in ``body``, which ``pack_values`` has just made: unlike ``unpack_body`` it
    sets no limits."""
    return msgpack.unpackb(body, raw=False, strict_map_key=True)


def unpack_body(body: bytes, start: int, what: str) -> list[Any]:
    """The MessagePack objects in the ``body`` of a frame; DamagedError for anything malformed.

    ``start``: the place of the frame in the file; ``what``: what it is, in words; both for errors.
    """
    # Nothing in a body can be larger than the body.
    size = len(body)
    unpacker = msgpack.Unpacker(
        raw=False,
        strict_map_key=True,
        max_buffer_size=max(size, 1),
        max_str_len=size,
        max_bin_len=size,
        max_array_len=size,
        max_map_len=size,
        ext_hook=_no_extension,
    )
    try:
        unpacker.feed(body)
        objects = list(unpacker)
        if unpacker.tell() != size:
            raise ValueError("cut short")
    except (ValueError, TypeError, msgpack.exceptions.UnpackException) as error:
        raise DamagedError(f"the {what} is malformed ({error})", start=start) from None
    return objects


def _no_extension(code: int, data: bytes) -> None:  # noqa: ARG001
    raise ValueError("an extension type")
