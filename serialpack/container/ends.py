"""The end of a member: the seek table of the zstd envelope, the trailer of our own.

The frames before it determine every byte of both. So a reader that comes from the front compares
the end with what it must be; one that begins at the end finds index and start of the member by it,
in two reads.
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
    """Length of the seek table that ends with ``tail`` (at least 9 bytes); None for none."""
    count, descriptor, magic = _FOOTER.unpack(tail[-_FOOTER.size :])
    if magic != SEEKABLE or descriptor != 0:
        return None
    return SEEK_TABLE_EXTRA + int(count) * _ENTRY.size


def read_seek_table(table: bytes) -> list[tuple[int, int]] | None:
    """The frames of a whole seek table; None where its parts disagree."""
    magic, length = struct.unpack_from("<II", table)
    if magic != SEEK_TABLE or length != len(table) - 8:
        return None
    return list(_ENTRY.iter_unpack(table[8 : -_FOOTER.size]))


def trailer(index_length: int, member_length: int) -> bytes:
    """The last 32 bytes of a member in the own envelope, which counts them in."""
    lengths = struct.pack("<QQ", index_length, member_length)
    return lengths + struct.pack("<Q8s", checksum(lengths), END_OWN)


def read_trailer(tail: bytes) -> tuple[int, int] | None:
    """Index and member length from a member's last 32 bytes; None where they are no trailer."""
    index_length, member_length, check, end = TRAILER_OWN.unpack(tail[-TRAILER_OWN.size :])
    if end != END_OWN or checksum(tail[-TRAILER_OWN.size :][:16]) != check:
        return None
    return index_length, member_length
