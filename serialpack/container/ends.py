"""The end of a member: a seek table in the zstd envelope, a trailer in our own.

Both say nothing that the frames before them do not say. A reader that comes from the front makes
the end anew and compares it; a reader that begins at the end of the file finds by it where the
index and the member begin.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from serialpack.container.frames import (
    END_OWN,
    SEEK_TABLE,
    SEEKABLE,
    TRAILER_OWN,
    checksum,
)

_ENTRY = struct.Struct("<II")
_FOOTER = struct.Struct("<IBI")
SEEK_TABLE_EXTRA = 8 + _FOOTER.size


def seek_table(frames: Sequence[tuple[int, int]]) -> bytes:
    """The seek table of ``frames`` (stored and restored size of each), without checksums.

    Zstandard seekable format 0.1.0, contrib/seekable_format/zstd_seekable_compression_format.md.
    """
    entries = b"".join(_ENTRY.pack(*f) for f in frames)
    return b"".join(
        (
            struct.pack("<II", SEEK_TABLE, len(entries) + _FOOTER.size),
            entries,
            _FOOTER.pack(len(frames), 0, SEEKABLE),
        )
    )


def seek_table_length(tail: bytes) -> int | None:
    """The length in bytes of the seek table that ends with ``tail`` (9 bytes or more); None where
    ``tail`` ends no seek table."""
    count, descriptor, magic = _FOOTER.unpack(tail[-_FOOTER.size :])
    if magic != SEEKABLE or descriptor != 0:
        return None
    return SEEK_TABLE_EXTRA + int(count) * _ENTRY.size


def read_seek_table(table: bytes) -> list[tuple[int, int]] | None:
    """The stored and restored size of each frame, as a whole seek table lists them; None where its
    magic number or its length is wrong."""
    magic, length = struct.unpack_from("<II", table)
    if magic != SEEK_TABLE or length != len(table) - 8:
        return None
    return list(_ENTRY.iter_unpack(table[8 : -_FOOTER.size]))


def trailer(index_length: int, member_length: int) -> bytes:
    """The last 32 bytes of a member in our own envelope. ``index_length``: bytes of all frames of
    the index; ``member_length``: bytes of the member, these 32 included."""
    lengths = struct.pack("<QQ", index_length, member_length)
    return lengths + struct.pack("<Q8s", checksum(lengths), END_OWN)


def read_trailer(tail: bytes) -> tuple[int, int] | None:
    """The lengths that ``trailer`` was given, from the last 32 bytes of a member; None where these
    are no trailer."""
    index_length, member_length, check, end = TRAILER_OWN.unpack(tail[-TRAILER_OWN.size :])
    if end != END_OWN or checksum(tail[-TRAILER_OWN.size :][:16]) != check:
        return None
    return index_length, member_length
