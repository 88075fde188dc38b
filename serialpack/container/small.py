"""The small form: one object with few bytes around it, for messages (man/spk.5, SMALL FORM).

It is a file of its own kind, without header, index and end, and is written and read in one piece.
It does not say where it ends; where several follow each other in a file, the checksum tells.
"""

import re
import struct
from itertools import islice
from typing import Any, NamedTuple

import msgpack
from xxhash import xxh3_64

from serialpack.container.fields import count_of, decode_chain
from serialpack.container.frames import START_OWN, START_ZSTD, checksum, pack_body
from serialpack.errors import DamagedError, TruncatedError
from serialpack.stages.stage import Buffer, ChainNumbers

#: The bytes with which it begins.
START_SMALL = b"\x89SPk"

#: The most serialized bytes of an object that are written in the small form; the most that are
#: read.
MOST_WRITTEN = 64 << 10
MOST_READ = 1 << 20

#: The most bytes of a small form.
MAX_SMALL = 2 << 20

#: Flags, as of a block and of a short member.
STORED = 1
UNPROVED = 2

#: The checksum behind the payload, as its bytes.
_check = struct.Struct("<Q").pack
CHECK_SIZE = 8

_LEAST = len(START_SMALL) + CHECK_SIZE

#: How many places are tried at which the small form behind a damaged one may begin: each may take
#: one pass over all bytes.
_MOST_TRIED = 16

_START = re.compile(b"|".join(map(re.escape, (START_SMALL, START_OWN, START_ZSTD))))


def small_form(head: bytes, size: int, settings: bytes, payload: Buffer) -> bytes:
    """A small form, whole. ``head``: from ``small_head``; ``size``: bytes of the object after its
    serializer; ``settings``: from ``packed_settings``; ``payload``: these bytes after filters and
    codec.
    """
    number = _SHORTEST[size] if size < 0x80 else _number(size)
    data = b"".join((head, number, settings, payload))
    return data + _check(checksum(data))


def packed_settings(settings: dict[str, Any]) -> bytes:
    """The settings of a serializer as they stand in a small form: no bytes where there are none."""
    return pack_body(settings) if settings else b""


class Small(NamedTuple):
    """A small form, decoded. ``size``: bytes of the object after its serializer; ``settings``:
    those of its serializer."""

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
        """The small form ``data``; errors as of ``read_small``."""
        said, size, payload = read_small(data)
        return cls(said.chain, said.flags, size, said.settings, payload)


class SmallHead:
    """What a small form says beside size and payload; small forms of one writer have it in common.

    Heads that were read are remembered. ``made``: here the caller of ``read_small`` may keep what
    it made of the head, for the next small form with the same one.
    """

    __slots__ = ("chain", "flags", "made", "packed", "settings")

    def __init__(self, chain: ChainNumbers, flags: int, settings: dict[str, Any]) -> None:
        self.chain = chain
        self.flags = flags
        self.settings = settings
        self.packed = packed_settings(settings)
        self.made: Any = None


def read_small(data: Buffer) -> tuple[SmallHead, int, bytes]:
    """The head of the small form ``data``, the size of its object after the serializer, and its
    payload.

    TruncatedError where ``data`` is too short, DamagedError where it is not one whole small form.
    """
    whole = data if isinstance(data, bytes) else bytes(data)
    size = len(whole)
    if size < _LEAST:
        raise TruncatedError(f"truncated: ends at byte {size}", hint="get the file again")
    body = whole[:-CHECK_SIZE]
    if size > MAX_SMALL or whole[-CHECK_SIZE:] != _check(checksum(body)):
        if (several := several_small(whole)) is not None:
            raise several
        if size > MAX_SMALL:
            raise DamagedError(f"a small form is longer than {MAX_SMALL} bytes", start=MAX_SMALL)
        raise DamagedError("the checksum does not match", start=0, end=size)
    for length, heads in _known.items():
        said = heads.get(body[:length])
        if said is not None and length < len(body):
            restored, at = body[length], length + 1
            if restored >= 0x80:
                restored, at = _number_at(body, length)
            if at and not said.packed:
                return said, restored, body[at:]
            if at and body.startswith(said.packed, at):
                return said, restored, body[at + len(said.packed) :]
    return _read_unknown(whole)


def _read_unknown(whole: bytes) -> tuple[SmallHead, int, bytes]:
    """As ``read_small``, of a sound form whose head may be one that was not met before."""
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
    said = SmallHead(decode_chain(chain, 0), flags, settings)
    head = small_head(said.chain, flags, settings=bool(settings))
    if whole.startswith(head + _number(restored) + said.packed):
        _remember(head, said)
    return said, restored, whole[len(START_SMALL) + unpacker.tell() : -CHECK_SIZE]


def _is_whole(data: bytes) -> bool:
    """Whether the last bytes of ``data`` are the checksum of those before."""
    return data[-CHECK_SIZE:] == _check(checksum(data[:-CHECK_SIZE]))


def first_small(data: bytes) -> int:
    """The place at which the first small form in ``data`` ends, where another container follows it;
    0 where none follows, or the first is damaged.

    Nothing in it tells its length: so the bytes are searched for the start of another container,
    before which the right checksum stands.
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
    """The place at which the damaged small form at the front of ``data`` ends, which is where the
    next whole one begins; 0 where it is not damaged, or no whole one is found behind it (only the
    first ``_MOST_TRIED`` places are tried)."""
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
    """The error for ``data`` that is several small forms, where one is expected; None where it is
    not several."""
    if first_small(data):
        several = "holds several that dumps made, one after another, not one object"
        return DamagedError(several, hint="load(file) of the open file reads each")
    if end := end_of_damaged(data):
        behind = "load(file) of the open file, called again, reads those behind it"
        return DamagedError("the checksum does not match", start=0, end=end, hint=behind)
    return None


#: The heads that were read: by length and by the bytes before the size. To decode a head takes as
#: long as everything else.
_known: dict[int, dict[bytes, SmallHead]] = {}
_MOST_KNOWN = 64


def _remember(head: bytes, said: SmallHead) -> None:
    # The map is replaced, not changed: another thread may be going through it.
    global _known
    known = _known if sum(map(len, _known.values())) < _MOST_KNOWN else {}
    _known = {**known, len(head): {**known.get(len(head), {}), head: said}}


def _spelled(chain: ChainNumbers) -> list[Any]:
    """``chain`` as it is stored; ``fields.decode_chain`` is the inverse."""
    return [s[0] if len(s) == 1 else list(s) for s in chain]


def small_head(chain: ChainNumbers, flags: int, *, settings: bool) -> bytes:
    """The bytes of a small form before its size; ``settings``: whether it has settings, which stand
    behind the size."""
    fields = [flags, _spelled(chain), 0, *([0] * settings)]
    return START_SMALL + pack_body(fields)[: 2 - len(fields)]


def _number(value: int) -> bytes:
    """``value`` as MessagePack, in its shortest form."""
    if value < len(_SHORTEST):
        return _SHORTEST[value]
    for code, size in _WIDTHS.items():
        if 0 <= value < 1 << 8 * size:
            return bytes([code]) + value.to_bytes(size, "big")
    return pack_body(value)


def _number_at(data: bytes, at: int) -> tuple[int, int]:
    """The size at byte ``at``, which takes more than one byte, and the place at which it ends; a
    place of 0 where no size stands there that is allowed."""
    width = _WIDTHS.get(data[at], 0)
    end = at + 1 + width
    value = int.from_bytes(data[at + 1 : end], "big")
    return value, end if width and value <= MOST_READ and end <= len(data) else 0


#: The sizes that take one byte in MessagePack.
_SHORTEST = [bytes([value]) for value in range(0x80)]

#: The codes of MessagePack for larger sizes, and how many bytes of the size follow each.
_WIDTHS = {0xCC: 1, 0xCD: 2, 0xCE: 4}
