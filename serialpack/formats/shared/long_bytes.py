"""Where long values of bytes stand among messages, told from the heads of what is before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from serialpack.stages.stage import Buffer

#: From how many bytes on a value of bytes is long.
LEAST = 1_000_000

#: A message is looked through as long as it has no more values than one for so many of its bytes,
#: and a few: of others it would take too long, and nothing in them is likely to be long.
_BYTES_A_VALUE, _FEW = 256, 4096


class Heads(NamedTuple):
    """What first bytes say. ``sizes``: of a value without what it has in it, and without what a
    length says. ``lengths``: in how many bytes behind the first one that length stands.
    ``binary``: those that begin bytes."""

    sizes: Sequence[int]
    lengths: Mapping[int, int]
    binary: frozenset[int]


def long_bytes(data: Buffer, heads: Heads) -> list[tuple[int, int]]:
    """Start and end of bytes of ``LEAST`` or more in ``data``, messages one after another: of
    those that can be told soon."""
    view, end, at, found = memoryview(data), len(data), 0, list[tuple[int, int]]()
    for _ in range(_FEW + end // _BYTES_A_VALUE if end >= LEAST else 0):
        if at >= end:
            break
        first = view[at]
        start = at + heads.sizes[first]
        field = heads.lengths.get(first)
        if field is None:
            at = start
            continue
        length = int.from_bytes(view[at + 1 : at + 1 + field])
        at = start + length
        if length >= LEAST and first in heads.binary and at <= end:
            found.append((start, at))
    return found
