"""The small form: one object with few bytes around it, for messages. ``man/spk.5``, SMALL FORM.

It has no header, index or end, so it is written and read at once, and is always a whole file.
"""

import struct
from functools import lru_cache
from typing import Any, NamedTuple

import msgpack

from serialpack.container.frames import checksum, pack_body
from serialpack.container.names import count_of
from serialpack.container.records import decode_chain
from serialpack.errors import DamagedError, TruncatedError
from serialpack.stages.stage import Buffer, ChainNumbers

#: What it begins with; no start of another envelope does.
START_SMALL = b"\x89SPk"

#: The most bytes that a writer serializes into the small form; and that a reader takes.
MOST_WRITTEN = 64 << 10
MOST_READ = 1 << 20

#: The most bytes of a whole file in the small form.
MAX_SMALL = 2 << 20

#: Flags.
STORED = 1
UNPROVED = 2

_CHECK = struct.Struct("<Q")
#: Bytes behind the payload.
CHECK_SIZE = _CHECK.size


class Small(NamedTuple):
    """What a small form holds. ``size``: bytes of the object after its serializer."""

    chain: ChainNumbers
    flags: int
    size: int
    settings: dict[str, Any]
    payload: Buffer

    def encode(self) -> bytes:
        """The whole file."""
        if self.settings:
            fields = pack_body([self.flags, _spelled(self.chain), self.size, self.settings])
            data = b"".join((START_SMALL, fields, self.payload))
        else:
            data = b"".join((_head(self.chain, self.flags), _number(self.size), self.payload))
        return data + _CHECK.pack(checksum(data))

    @classmethod
    def decode(cls, data: Buffer) -> "Small":
        """The small form in ``data``, a whole file; DamagedError where it is not whole."""
        view = memoryview(data)
        if len(view) > MAX_SMALL:
            raise DamagedError(f"a small form is longer than {MAX_SMALL} bytes", start=MAX_SMALL)
        if len(view) < len(START_SMALL) + _CHECK.size:
            raise TruncatedError(f"truncated: ends at byte {len(view)}", hint="get the file again")
        (check,) = _CHECK.unpack_from(view, len(view) - _CHECK.size)
        if checksum(view[: -_CHECK.size]) != check:
            raise DamagedError("the checksum does not match", start=0, end=len(view))
        for head, known in _known.items():
            if view[: len(head)] == head and (found := _number_at(view, len(head))) is not None:
                return cls(*known, found[0], {}, view[found[1] : -_CHECK.size])
        body = view[len(START_SMALL) : -_CHECK.size]
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
        small = cls(decode_chain(chain, 0), flags, restored, settings, body[unpacker.tell() :])
        head = b"" if settings else _head(small.chain, flags)
        if head and view[: len(head)] == head:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[head] = small.chain, flags
        return small


#: What small forms begin with up to their size, of those that were read; and what that says.
#: To read it again takes as long as all else.
_known: dict[bytes, tuple[ChainNumbers, int]] = {}
_MOST_KNOWN = 8


def _spelled(chain: ChainNumbers) -> list[Any]:
    return [s[0] if len(s) == 1 else list(s) for s in chain]


@lru_cache(64)
def _head(chain: ChainNumbers, flags: int) -> bytes:
    """All before the size of a small form without settings."""
    return START_SMALL + pack_body([flags, _spelled(chain), 0])[:-1]


def _number(value: int) -> bytes:
    """A count in MessagePack's shortest form."""
    if 0 <= value < 0x80:
        return bytes([value])
    for code, size in _WIDTHS.items():
        if 0 <= value < 1 << 8 * size:
            return bytes([code]) + value.to_bytes(size, "big")
    return pack_body(value)


def _number_at(data: memoryview, at: int) -> tuple[int, int] | None:
    """The size at that place, and where it ends; None where it is no short form of a count."""
    if at >= len(data) - _CHECK.size:
        return None
    if data[at] < 0x80:
        return data[at], at + 1
    end = at + 1 + _WIDTHS.get(data[at], 0)
    if end == at + 1:
        return None
    value = int.from_bytes(data[at + 1 : end], "big")
    return (value, end) if value <= MOST_READ and end <= len(data) - _CHECK.size else None


#: Bytes of a count behind each of these codes.
_WIDTHS = {0xCC: 1, 0xCD: 2, 0xCE: 4}
