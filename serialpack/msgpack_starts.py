"""Where the tokens of MessagePack data begin, found by NumPy in many places at once.

A token is a value without the values in it: of a list or map its first byte and its count.
Specification:
https://github.com/msgpack/msgpack/blob/master/spec.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.msgpack_bytes import LENGTHS, SIZES

Bytes = NDArray[np.uint8]

#: With more tokens a byte than this, to find them gains little and takes much memory.
DENSE = 0.55

#: Zeros behind the data, so that a number can be read where it is cut off.
PADDING = 8

#: Tokens are counted in so many bytes at a time.
_PIECE = 1 << 20

#: Data is gone through in segments of so many bytes, all at once, and in so many rounds at most;
#: what is wrong then is gone through segment by segment.
_SEGMENT = 1 << 10
_ROUNDS = 6


_HAS_LENGTH = bytes(first in LENGTHS for first in range(256))


def unsigned(padded: Bytes, places: NDArray[Any], width: int) -> NDArray[np.uint64]:
    """The numbers of ``width`` bytes, the highest first, at ``places``."""
    number = np.zeros(len(places), np.uint64)
    for byte in range(width):
        number = number << np.uint64(8) | padded[places + byte]
    return number


class _Sizes(NamedTuple):
    """The bytes of a token that begins at each place of some data.

    Where these are more than 255, ``sizes`` has 0: such tokens begin at ``long`` and end at
    ``ends``.
    """

    sizes: Bytes
    long: NDArray[np.int64]
    ends: NDArray[np.int64]

    def behind(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the tokens that begin at ``places`` end."""
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


def starts(data: bytes, padded: Bytes) -> NDArray[np.int32] | None:
    """Where the tokens of ``data`` begin. None where the last one is cut off, or they are
    ``DENSE``.

    ``padded``: the data and ``PADDING`` zeros.
    """
    begins, end = _begins(data, padded)
    if end != len(data) or _too_many(int(np.count_nonzero(begins)), data):
        return None
    return np.flatnonzero(begins).astype(np.int32)


def are_dense(data: bytes) -> bool:
    """Whether ``data`` has too many tokens for ``starts``, which takes next to no memory to
    tell."""
    found = (begins for _, begins, _ in _in_pieces(memoryview(data)))
    return _too_many(sum(map(int, map(np.count_nonzero, found))), data)


def _too_many(tokens: int, data: bytes) -> bool:
    return tokens > int(len(data) * DENSE) + PADDING


def most_bytes(view: memoryview, most: int) -> int | None:
    """How many bytes at the front of ``view`` its first ``most`` tokens take.

    None where there are no more than these, and where tokens are ``DENSE``.
    """
    number = 0
    found = None
    for at, begins, end in _in_pieces(view):
        count = int(np.count_nonzero(begins))
        if found is None and number + count > most:
            found = at + int(np.flatnonzero(begins)[most - number])
        number += count
        if found is not None and number <= end * DENSE:
            return found
    return None


def _in_pieces(view: memoryview) -> Iterator[tuple[int, NDArray[np.bool_], int]]:
    """For each piece of ``view`` where it begins, at which of its bytes tokens begin (as of
    ``_begins``), and where the last of these tokens ends, which the next piece begins with."""
    at = 0
    while at < len(view):
        piece = bytes(view[at : at + _PIECE])
        begins, size = _begins(piece, np.frombuffer(piece + bytes(PADDING), np.uint8))
        yield at, begins, at + size
        at += size


def _begins(data: bytes, padded: Bytes) -> tuple[NDArray[np.bool_], int]:
    """A mask of the bytes at which tokens begin, the first of them at byte 0, and where the last
    one ends.

    All segments are gone through at once, as if a token began with each. Where none does, the
    places that are found soon are the right ones all the same, as tokens begin where others end.
    Then where a segment is left tells where the next one is to be entered.
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
    met = np.zeros(size, np.bool_)
    _through(sizes, enters, bounds[1:], met)
    return met, int(leaves[-1]) if size else 0


def _through(
    sizes: _Sizes,
    enters: NDArray[np.int64],
    stops: NDArray[np.int64],
    met: NDArray[np.bool_] | None = None,
) -> NDArray[np.int64]:
    """For each segment the first begin of a token at or behind its stop, gone to from where it is
    entered; what begins before that is marked in ``met``."""
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
    """Put ``enters`` and ``leaves`` right for the segments ``todo``, and for those behind them that
    turn out to be entered elsewhere."""
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
