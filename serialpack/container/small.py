"""The small form: one object with few bytes around it, for messages (``man/spk.5``, SMALL FORM).

It has no header, index or end: it is written and read as one piece, and a whole file by itself.
Where several follow each other in a file, the check of each tells where it ends.
"""

import re
import struct
from itertools import islice
from typing import Any, NamedTuple

import msgpack
from xxhash import xxh3_64

from serialpack.container.frames import START_OWN, START_ZSTD, checksum, pack_body
from serialpack.container.names import count_of
from serialpack.container.records import decode_chain
from serialpack.errors import DamagedError, TruncatedError
from serialpack.stages.stage import Buffer, ChainNumbers

#: The bytes that it begins with; no other envelope does.
START_SMALL = b"\x89SPk"

#: The most bytes that a writer serializes into the small form; and that a reader takes.
MOST_WRITTEN = 64 << 10
MOST_READ = 1 << 20

#: The most bytes of a whole file in the small form.
MAX_SMALL = 2 << 20

#: Flags.
STORED = 1
UNPROVED = 2

#: The checksum behind the payload, as its bytes.
_check = struct.Struct("<Q").pack
CHECK_SIZE = 8

_LEAST = len(START_SMALL) + CHECK_SIZE

#: How many places behind a damaged small form are tried: each may cost one pass over all bytes.
_MOST_TRIED = 16

_START = re.compile(b"|".join(map(re.escape, (START_SMALL, START_OWN, START_ZSTD))))


def small_form(head: bytes, size: int, settings: bytes, payload: Buffer) -> bytes:
    """A whole file in the small form.

    ``head``: from ``small_head``; ``size``: bytes of the object after its serializer; ``settings``:
    from ``packed_settings``.
    """
    number = _SHORTEST[size] if size < 0x80 else _number(size)
    data = b"".join((head, number, settings, payload))
    return data + _check(checksum(data))


def packed_settings(settings: dict[str, Any]) -> bytes:
    """The settings of a serializer as they stand in a small form: no bytes where there are none."""
    return pack_body(settings) if settings else b""


class Small(NamedTuple):
    """What a small form holds. ``size``: bytes of the object after its serializer."""

    chain: ChainNumbers
    flags: int
    size: int
    settings: dict[str, Any]
    payload: Buffer

    def encode(self) -> bytes:
        """The whole file."""
        head = small_head(self.chain, self.flags, settings=bool(self.settings))
        return small_form(head, self.size, packed_settings(self.settings), self.payload)

    @classmethod
    def decode(cls, data: Buffer) -> "Small":
        """The small form that ``data``, a whole file, is; DamagedError where it is not whole."""
        said, size, payload = read_small(data)
        return cls(said.chain, said.flags, size, said.settings, payload)


class Said:
    """What a small form says beside its size and payload: the same in many of them.

    ``made``: whoever reads them keeps here what he made of it, for the next one.
    """

    __slots__ = ("chain", "flags", "made", "packed", "settings")

    def __init__(self, chain: ChainNumbers, flags: int, settings: dict[str, Any]) -> None:
        self.chain = chain
        self.flags = flags
        self.settings = settings
        self.packed = packed_settings(settings)
        self.made: Any = None


def read_small(data: Buffer) -> tuple[Said, int, bytes]:
    """What the small form ``data``, a whole file, says, the size of its object after its
    serializer, and its payload; DamagedError where it is not whole."""
    whole = data if isinstance(data, bytes) else bytes(data)
    size = len(whole)
    if size < _LEAST:
        raise TruncatedError(f"truncated: ends at byte {size}", hint="get the file again")
    if size > MAX_SMALL or not _is_whole(whole):
        if (several := several_small(whole)) is not None:
            raise several
        if size > MAX_SMALL:
            raise DamagedError(f"a small form is longer than {MAX_SMALL} bytes", start=MAX_SMALL)
        raise DamagedError("the checksum does not match", start=0, end=size)
    for length, heads in _known.items():
        said = heads.get(whole[:length])
        if said is not None and length < size - CHECK_SIZE:
            restored, at = whole[length], length + 1
            if restored >= 0x80:
                restored, at = _number_at(whole, length)
            if at and not said.packed:
                return said, restored, whole[at:-CHECK_SIZE]
            if at and whole.startswith(said.packed, at):
                return said, restored, whole[at + len(said.packed) : -CHECK_SIZE]
    body = memoryview(whole)[len(START_SMALL) : -CHECK_SIZE]
    size = len(body)
    unpacker = msgpack.Unpacker(
        raw=False,
        strict_map_key=True,
        max_buffer_size=max(size, 1),
        max_ext_len=0,
        max_array_len=size,
        max_map_len=size,
    )
    try:
        unpacker.feed(body)
        flags, chain, restored, *rest = unpacker.unpack()
        settings = rest[0] if rest else {}
        if not isinstance(settings, dict) or count_of(flags) > STORED | UNPROVED:
            raise ValueError("its flags or settings")
        if count_of(restored) > MOST_READ:
            raise ValueError(f"it says it restores to {restored} bytes")
    except (ValueError, TypeError, msgpack.exceptions.UnpackException) as error:
        raise DamagedError(f"the small form is malformed ({error})", start=0) from None
    said = Said(decode_chain(chain, 0), flags, settings)
    head = small_head(said.chain, flags, settings=bool(settings))
    if whole.startswith(head + _number(restored) + said.packed):
        _remember(head, said)
    return said, restored, whole[len(START_SMALL) + unpacker.tell() : -CHECK_SIZE]


def _is_whole(data: bytes) -> bool:
    return data[-CHECK_SIZE:] == _check(checksum(data[:-CHECK_SIZE]))


def first_small(data: bytes) -> int:
    """Where the small form that ``data`` begins with ends, if another container follows it; 0 where
    it is all of ``data``, or damaged.

    Its size does not tell: a start is searched for, before which stands the right check.
    """
    if len(data) <= MAX_SMALL and _is_whole(data):
        return 0
    hashed, at = xxh3_64(), 0
    for start in _START.finditer(data, _LEAST, MAX_SMALL + len(START_ZSTD)):
        check = start.start() - CHECK_SIZE
        hashed.update(data[at:check])
        at = check
        if data.startswith(_check(hashed.intdigest()), check):
            return start.start()
    return 0


def end_of_damaged(data: bytes) -> int:
    """Where a damaged small form, which ``data`` begins with, ends: there the first whole one
    begins. 0 where none is among the first few places that may begin one, or nothing is damaged."""
    if first_small(data) or (len(data) <= MAX_SMALL and _is_whole(data)):
        return 0
    found = _START.finditer(data, len(START_SMALL), MAX_SMALL)
    for start in islice(found, _MOST_TRIED):
        rest = data[start.start() :]
        is_last = _LEAST <= len(rest) <= MAX_SMALL and _is_whole(rest)
        if rest.startswith(START_SMALL) and (is_last or first_small(rest)):
            return start.start()
    return 0


def several_small(data: bytes) -> DamagedError | None:
    """The error for a whole file that is more than one small form; None where it is not."""
    if first_small(data):
        several = "holds several that dumps made, one after another, not one object"
        return DamagedError(several, hint="load(file) of the open file reads each")
    if end := end_of_damaged(data):
        behind = "load(file) of the open file, called again, reads those behind it"
        return DamagedError("the checksum does not match", start=0, end=end, hint=behind)
    return None


#: By its length, the head of each small form that was read (all before its size), and what it says.
#: To decode a head anew would take as long as all else.
_known: dict[int, dict[bytes, Said]] = {}
_MOST_KNOWN = 64


def _remember(head: bytes, said: Said) -> None:
    # Replaced, never changed: another thread may be looking through it.
    global _known
    known = _known if sum(map(len, _known.values())) < _MOST_KNOWN else {}
    _known = {**known, len(head): {**known.get(len(head), {}), head: said}}


def _spelled(chain: ChainNumbers) -> list[Any]:
    return [s[0] if len(s) == 1 else list(s) for s in chain]


def small_head(chain: ChainNumbers, flags: int, *, settings: bool) -> bytes:
    """All before the size of a small form; ``settings``: whether they stand behind the size."""
    fields = [flags, _spelled(chain), 0, *([0] * settings)]
    return START_SMALL + pack_body(fields)[: 2 - len(fields)]


def _number(value: int) -> bytes:
    """A count in MessagePack's shortest form."""
    if value < len(_SHORTEST):
        return _SHORTEST[value]
    for code, size in _WIDTHS.items():
        if 0 <= value < 1 << 8 * size:
            return bytes([code]) + value.to_bytes(size, "big")
    return pack_body(value)


def _number_at(data: bytes, at: int) -> tuple[int, int]:
    """The size at byte ``at``, where it takes more than one byte, and where it ends; an end of 0
    where no size that is allowed stands there."""
    width = _WIDTHS.get(data[at], 0)
    end = at + 1 + width
    value = int.from_bytes(data[at + 1 : end], "big")
    return value, end if width and value <= MOST_READ and end <= len(data) - CHECK_SIZE else 0


#: The counts that take one byte.
_SHORTEST = [bytes([value]) for value in range(0x80)]

#: Codes of MessagePack for longer counts, and the bytes of the count behind each.
_WIDTHS = {0xCC: 1, 0xCD: 2, 0xCE: 4}
