"""Rows of entries in the first form, which archives had: ``man/spk.5``, ENTRIES."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise

import zstandard

from serialpack.container.entries import EntryRow, path_bytes


def encode_first(entries: Sequence[EntryRow]) -> bytes:
    """``entries``, as they were written; each has a check."""
    owned = bool(entries) and all(entry.owner is not None for entry in entries)
    paths = [path_bytes(entry.path) for entry in entries]
    shared = [_alike(a, b) for a, b in pairwise([b"", *paths])]
    steps = [b - a for a, b in pairwise([0, *(entry.mtime for entry in entries)])]
    columns = [
        struct.pack("<IB", len(entries), owned),
        _planes([entry.mode for entry in entries], 4),
        _planes([step << 1 ^ step >> 63 for step in steps], 8),
        _planes([entry.size for entry in entries], 8),
        _planes([entry.check or 0 for entry in entries], 8),
    ]
    if owned:
        owners = [entry.owner or (0, 0) for entry in entries]
        columns += (_planes([owner[i] for owner in owners], 4) for i in (0, 1))
    columns.append(_planes(shared, 2))
    for entry, path, same in zip(entries, paths, shared, strict=True):
        columns.append(path[same:] + b"\0")
        if entry.is_link:
            columns.append(path_bytes(entry.target or "") + b"\0")
    return zstandard.ZstdCompressor(level=9).compress(b"".join(columns))


def _alike(a: bytes, b: bytes) -> int:
    most = min(len(a), len(b), 0xFFFF)
    return next((n for n in range(most) if a[n] != b[n]), most)


def _planes(numbers: Sequence[int], width: int) -> bytes:
    flat = b"".join(number.to_bytes(width, "little") for number in numbers)
    return b"".join(flat[i::width] for i in range(width))
