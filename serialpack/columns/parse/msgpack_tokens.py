"""The tokens of MessagePack data: where each begins, what it is, and what it stands in.

Specification: https://github.com/msgpack/msgpack/blob/master/spec.md
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.spans import PADDING, Bytes
from serialpack.first_bytes import COUNTS, FIX_MAP, LENGTHS, MAP_16, NEVER_USED, SIZES

#: With more tokens than this share of the bytes there is little to gain, and much to keep.
_DENSE = 0.55

#: Data is gone through in segments of so many bytes, and so often before that is done one by one.
_SEGMENT = 1 << 10
_ROUNDS = 6

#: Deeper ones are left alone.
_DEEPEST = 64


_HAS_LENGTH = bytes(first in LENGTHS for first in range(256))


class MsgPackTokens(NamedTuple):
    """``padded``: the data and some zeros. Of each token: where it begins and ends, its first
    byte, the number of values (keys too) in it, whether it is a map.

    ``depth``: how many containers it stands in; ``parent``: the innermost of these, -1 at the top;
    ``place``: which value of it, from 0 (keys too); ``is_key``; ``closed``: how many containers
    end right before it, one more than there are tokens.
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


def unsigned(padded: Bytes, places: NDArray[Any], width: int) -> NDArray[np.uint64]:
    """The numbers of ``width`` bytes, the highest first, at ``places``."""
    number = np.zeros(len(places), np.uint64)
    for byte in range(width):
        number = number << np.uint64(8) | padded[places + byte]
    return number


def tokens(data: bytes) -> MsgPackTokens | None:
    """The tokens of ``data``; None where it is not some whole values."""
    padded = np.zeros(len(data) + PADDING, np.uint8)
    padded[: len(data)] = np.frombuffer(data, np.uint8)
    starts = _starts(data, padded)
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


class _Sizes(NamedTuple):
    """How many bytes a token has that begins at each place; 0 where they are many: the ends of
    those, which begin at ``long``, are apart.
    """

    sizes: Bytes
    long: NDArray[np.int64]
    ends: NDArray[np.int64]

    def behind(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the next tokens begin."""
        sizes = self.sizes[places]
        behind = places + sizes
        if len(self.long) and not sizes.all():
            some = np.flatnonzero(sizes == 0)
            behind[some] = self.ends[np.searchsorted(self.long, places[some])]
        return behind


def _sizes_in(data: bytes, padded: Bytes) -> _Sizes:
    sizes = np.frombuffer(data.translate(SIZES), np.uint8).copy()
    places = np.flatnonzero(np.frombuffer(data.translate(_HAS_LENGTH), np.bool_))
    firsts = padded[places]
    found = sizes[places].astype(np.int64)
    for first, width in LENGTHS.items():
        some = np.flatnonzero(firsts == first)
        lengths = unsigned(padded, places[some] + 1, width)
        found[some] += np.minimum(lengths, np.uint64(len(data))).astype(np.int64)
    is_long = found > 0xFF
    sizes[places] = np.where(is_long, 0, found)
    long = places[is_long]
    return _Sizes(sizes, long, long + found[is_long])


def _starts(data: bytes, padded: Bytes) -> NDArray[np.int32] | None:
    """Where tokens begin, each behind the one before.

    All segments of the data are gone through at once, each from a guess. Where it was wrong the
    places soon are the right ones all the same, as tokens begin where others end: then where a
    segment is left tells where the next one is entered.
    """
    size = len(data)
    sizes = _sizes_in(data, padded)
    bounds = np.append(np.arange(0, size, _SEGMENT), size)
    enters = bounds[:-1].copy()
    leaves = np.full(len(enters), -1)
    todo = np.arange(len(enters))
    for _ in range(_ROUNDS):
        leaves[todo] = _through(sizes, enters[todo], bounds[todo + 1])
        todo = np.flatnonzero(enters[1:] != leaves[:-1]) + 1
        enters[todo] = leaves[todo - 1]
        if not len(todo):
            break
    else:
        _one_by_one(sizes, bounds, enters, leaves, todo.tolist())
    if not size or leaves[-1] != size:
        return None
    met = np.zeros(size, np.bool_)
    _through(sizes, enters, bounds[1:], met)
    if np.count_nonzero(met) > int(size * _DENSE) + PADDING:
        return None
    return np.flatnonzero(met).astype(np.int32)


def _through(
    sizes: _Sizes,
    enters: NDArray[np.int64],
    stops: NDArray[np.int64],
    met: NDArray[np.bool_] | None = None,
) -> NDArray[np.int64]:
    """The first place at or behind each stop; all before are ``met``."""
    leaves = enters.copy()
    here = np.flatnonzero(enters < stops)
    places, stops = enters[here], stops[here]
    while len(here):
        if met is not None:
            met[places] = True
        places = sizes.behind(places)
        inside = places < stops
        if not inside.all():
            leaves[here[~inside]] = places[~inside]
            here, places, stops = here[inside], places[inside], stops[inside]
    return leaves


def _one_by_one(
    sizes: _Sizes,
    bounds: NDArray[np.int64],
    enters: NDArray[np.int64],
    leaves: NDArray[np.int64],
    todo: list[int],
) -> None:
    """The same for segments ``todo``, and those behind that turn out to begin elsewhere."""
    long = dict(zip(sizes.long.tolist(), sizes.ends.tolist(), strict=True))
    view = memoryview(sizes.sizes.data)
    at = 0
    for segment in todo:
        at = max(at, segment)
        while at < len(enters) and (at == segment or enters[at] != leaves[at - 1]):
            enters[at] = leaves[at - 1]
            place, stop = int(enters[at]), int(bounds[at + 1])
            while place < stop:
                place = place + view[place] if view[place] else long[place]
            leaves[at] = place
            at += 1


def _children(
    padded: Bytes, starts: NDArray[np.int32], firsts: Bytes
) -> tuple[NDArray[np.int32], NDArray[np.bool_]] | None:
    """How many values each token has in it, and whether it is a map."""
    fixed = (firsts & 0xE0) == FIX_MAP
    children = np.where(fixed, firsts & 15, 0).astype(np.int64)
    for first, width in COUNTS.items():
        places = np.flatnonzero(firsts == first)
        children[places] = unsigned(padded, starts[places] + 1, width).astype(np.int64)
    is_map = ((firsts & 0xF0) == FIX_MAP) | (firsts == MAP_16) | (firsts == MAP_16 + 1)
    children[is_map] *= 2
    # Each token but those at the top is a value in another.
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
    """The last token of each of the containers ``openers``; None where the last value has no end.

    It is the first one behind which one value less is awaited than before the container: numbers
    of awaited values fall by one at most.
    """
    number = len(children)
    # How many values are awaited behind each token; at the end of each one at the top it is one
    # less than ever before. Within each of those it goes from 1 to 0.
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
