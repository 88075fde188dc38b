"""Finds a key that stands twice in a map whose members come in several blocks.

Each block is read alone, by whichever process. What it tells of its keys is eight bytes for each;
all of them together show which key came again. Two keys of a million are taken for the same with
a probability of 1 in 30 million, and then refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def key_digests(records: list[Any]) -> bytes:
    """Eight bytes for the key of each record, a map of one member: the same for equal keys."""
    import xxhash

    digest = xxhash.xxh3_64_digest
    return b"".join(digest(_spelled(key)) for record in records for key in record)


def repeated(digests: bytes | bytearray) -> tuple[int, int] | None:
    """The first record whose key an earlier one has: the number of that one, and its own."""
    import numpy as np

    keys = np.frombuffer(digests, "<u8")
    ordered = np.sort(keys)  # less memory than argsort takes
    if not np.any(ordered[1:] == ordered[:-1]):
        return None
    del ordered
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    first = again[np.argmin(order[again + 1])]
    return int(order[first]), int(order[first + 1])


def _spelled(key: Any) -> bytes:
    """Bytes that are the same for keys that Python takes for one, and no others."""
    if isinstance(key, str):
        return b"s" + key.encode("utf-8", "surrogatepass")
    if isinstance(key, bytes):
        return b"b" + key
    if isinstance(key, tuple):
        return b"t" + _joined(map(_spelled, key))
    if isinstance(key, frozenset):
        return b"f" + _joined(sorted(map(_spelled, key)))
    if isinstance(key, Mapping):
        return b"m" + _joined(sorted(map(_spelled, key.items())))
    if isinstance(key, datetime) and key.utcoffset() is not None:
        key = key - _EPOCH
    elif isinstance(key, complex) and not key.imag:
        key = key.real
    try:
        number, divisor = key.as_integer_ratio()
    except (AttributeError, ValueError, OverflowError):  # not a number, or not a finite one
        return f"o{type(key).__name__} {key!r}".encode("utf-8", "surrogatepass")
    return f"n{number:x}/{divisor:x}".encode()


def _joined(parts: Iterable[bytes]) -> bytes:
    return b"".join(struct.pack("<Q", len(part)) + part for part in parts)
