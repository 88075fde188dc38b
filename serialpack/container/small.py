"""The small form: one object with few bytes around it, for messages. ``man/spk.5``, SMALL FORM.

It has no header, index or end, so it is written and read at once, and is always a whole file.
"""

import struct
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
        chain = [s[0] if len(s) == 1 else list(s) for s in self.chain]
        fields = [self.flags, chain, self.size, *([self.settings] if self.settings else [])]
        data = b"".join((START_SMALL, pack_body(fields), self.payload))
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
        return cls(decode_chain(chain, 0), flags, restored, settings, body[unpacker.tell() :])
