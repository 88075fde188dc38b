"""Finds the tokens of MessagePack data: where each begins, what it is, and what it stands in.

Here a token is a key, a value that holds no other, or the head (first byte and count) of a
container.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack import msgpack_starts
from serialpack.columns.bulk.copying import Bytes
from serialpack.msgpack_bytes import COUNTS, FIX_MAP, MAP_16, NEVER_USED
from serialpack.msgpack_starts import PADDING, unsigned

#: For data beyond this ``msgpack_starts.are_dense`` is asked before anything is allocated for it.
_LARGE = 16 << 20

#: Data whose containers nest deeper is not taken apart.
_DEEPEST = 64


class MsgPackTokens(NamedTuple):
    """The tokens of the data, which is ``padded`` without the zeros at its end; for each token:

    ``starts``, ``ends``: where it stands; ``firsts``: its first byte; ``children``: how many values
    are directly in it, keys too (0: it is no container, or an empty one); ``is_map``: whether it is
    a map. ``depth``: how many containers it stands in; ``parent``: the token of the innermost of
    these, -1 at the top; ``place``: its number in there from 0, keys counted too; ``is_key``:
    whether it is a key. ``closed``: how many containers end right before it; this has one element
    more, for those that end behind the last token.
    """

    padded: Bytes
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    firsts: Bytes
    children: NDArray[np.int32]
    is_map: NDArray[np.bool_]
    depth: NDArray[np.int32]
    parent: NDArray[np.int32]
    place: NDArray[np.int32]
    is_key: NDArray[np.bool_]
    closed: NDArray[np.int32]


def tokens(data: bytes) -> MsgPackTokens | None:
    """The tokens of ``data``; None where it is not one or more whole values, has containers as
    keys, or nests too deep."""
    if len(data) > _LARGE and msgpack_starts.are_dense(data):
        return None
    padded = np.zeros(len(data) + PADDING, np.uint8)
    padded[: len(data)] = np.frombuffer(data, np.uint8)
    starts = msgpack_starts.starts(data, padded)
    if starts is None:
        return None
    firsts = padded[starts]
    if not len(starts) or (firsts == NEVER_USED).any():
        return None
    ends = np.append(starts[1:], np.int32(len(data)))
    counted = _children(padded, starts, firsts)
    if counted is None:
        return None
    children, is_map = counted
    return _placed(padded, starts, ends, firsts, children, is_map)


def _children(
    padded: Bytes, starts: NDArray[np.int32], firsts: Bytes
) -> tuple[NDArray[np.int32], NDArray[np.bool_]] | None:
    """``children`` and ``is_map`` of each token;
    None where more values are announced than there are."""
    fixed = (firsts & 0xE0) == FIX_MAP
    children = np.where(fixed, firsts & 15, 0).astype(np.int64)
    for first, width in COUNTS.items():
        places = np.flatnonzero(firsts == first)
        children[places] = unsigned(padded, starts[places] + 1, width).astype(np.int64)
    is_map = ((firsts & 0xF0) == FIX_MAP) | (firsts == MAP_16) | (firsts == MAP_16 + 1)
    children[is_map] *= 2
    # Each token is a value in another one, but for those at the top.
    if int(children.max()) > len(starts) or int(children.sum()) >= len(starts):
        return None
    return children.astype(np.int32), is_map


def _placed(
    padded: Bytes,
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    firsts: Bytes,
    children: NDArray[np.int32],
    is_map: NDArray[np.bool_],
) -> MsgPackTokens | None:
    """The tokens with what they stand in: found level by level, from the top."""
    number = len(starts)
    openers = np.flatnonzero(children)
    last = _ends(children, openers)
    if last is None:
        return None
    closed = np.bincount(last + 1, minlength=number + 1).astype(np.int32)
    change = -closed[:number]
    change[openers[openers < number - 1] + 1] += 1
    depth = np.cumsum(change, dtype=np.int32)
    del change
    if int(depth.max()) > _DEEPEST:
        return None
    parent = np.full(number, -1, np.int32)
    place = np.zeros(number, np.int32)
    is_key = np.zeros(number, np.bool_)
    for level in range(1, int(depth.max()) + 1):
        here = depth == level
        these = np.flatnonzero(here)
        above = openers[depth[openers] == level - 1]
        begins = np.zeros(number, np.bool_)
        begins[above + 1] = True
        # The first value of a container stands right behind it.
        is_first = begins[these]
        which = np.cumsum(is_first) - 1
        owners, places = above[which], np.arange(len(these))
        places -= np.flatnonzero(is_first)[which]
        parent[these] = owners
        place[these] = places
        is_key[these] = is_map[owners] & (places & 1 == 0)
    if (children[is_key] > 0).any():
        return None
    return MsgPackTokens(
        padded, starts, ends, firsts, children, is_map, depth, parent, place, is_key, closed
    )


def _ends(children: NDArray[np.int32], openers: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """For each of the containers ``openers`` the last token in it; None where the data ends within
    one.

    At each token it is counted how many values are still to come. A container's last token is the
    first one behind it where there is one value less to come than before the container. It is found
    by sorting tokens by that number, for the number never falls by more than one from token to
    token.
    """
    number = len(children)
    # How many values are to come behind each token: at the end of each value at the top one less
    # than ever before. Counted within each value at the top, it begins with 1 and ends with 0.
    inside = np.cumsum(children - 1, dtype=np.int32)
    low = np.minimum(np.minimum.accumulate(inside), 0)
    inside[1:] -= low[:-1]
    inside += 1
    del low
    if inside[-1] != 0:
        return None
    if not len(openers):
        return np.zeros(0, np.int64)
    levels = inside.astype(np.uint16) if int(inside.max()) < 1 << 16 else inside
    order = np.argsort(levels, kind="stable")
    keys = levels[order].astype(np.int64)
    keys *= number
    keys += order
    before = inside[openers - 1].astype(np.int64)
    # Behind a value at the top it begins again with 1.
    before[(openers == 0) | (before == 0)] = 1
    found = np.searchsorted(keys, (before - 1) * number + openers)
    if int(found.max()) >= number:
        return None
    last = order[found]
    return None if (inside[last] != before - 1).any() else last
