"""MessagePack data as a walk from value to value.

Strings, integers and doubles that are stored in the fewest bytes become columns of their texts; a
value in a longer form than it needs, or of any other type, is kept as its bytes (kind ``RAW``).

The end of a container takes no bytes in MessagePack, so that a gap does not show it. Each node
therefore also says how many containers end before its text (one of the *marks* that ``outline``
takes), and a node stands for one path, one gap and one such number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import Bytes, Positions
from serialpack.columns.bulk.groups import group_numbers
from serialpack.columns.bulk.numbering import numbered, tell_apart
from serialpack.columns.parse import msgpack_numbers
from serialpack.columns.parse.msgpack_tokens import MsgPackTokens, tokens
from serialpack.columns.parse.nodes import (
    EMPTY_LIST,
    EMPTY_MAP,
    FALSE,
    NULL,
    PLACES,
    RAW,
    SCALAR,
    STRING,
    TRUE,
    Node,
    Walked,
    worth_while,
)
from serialpack.columns.texts import Texts
from serialpack.msgpack_bytes import (
    FALSE_BYTE,
    FIX_LIST,
    FIX_MAP,
    FIX_STRING,
    LENGTHS,
    NIL,
    STRING_8,
    TRUE_BYTE,
)

#: Larger data is not taken apart: its bytes, with the texts of its numbers, are counted in 31 bits.
_LARGEST = 1 << 28

#: The kind of a value by its first byte, as far as that says it: ``_values`` looks further at
#: longer strings, and at numbers.
_KINDS = np.full(256, RAW, np.uint8)
_KINDS[FIX_STRING:NIL] = STRING
_KINDS[[NIL, TRUE_BYTE, FALSE_BYTE]] = NULL, TRUE, FALSE
_KINDS[[FIX_LIST, FIX_MAP]] = EMPTY_LIST, EMPTY_MAP

#: For the first byte of each longer form of strings the least length: shorter ones need less.
_SHORTEST = {STRING_8: 32, STRING_8 + 1: 1 << 8, STRING_8 + 2: 1 << 16}

#: Keys are data where the maps of one path have more than ``_MANY_KEYS`` keys that occur fewer than
#: ``_RARE`` times; in a small block, fewer than once in ``_TOKENS`` tokens.
_RARE = 16
_MANY_KEYS = 48
_TOKENS = 256

#: A table of all possible pairs of numbers may have so many places more than there are pairs.
_SPACE = 1 << 16

#: In a list of up to so many values each has a node by how many values are left: so the walk tells
#: where the list ends without a decision.
_COUNTED = 16

#: The lists of a path are tuples if there are ``_FEW_LISTS``, and this share of them has one
#: length.
_ALIKE = 0.95
_FEW_LISTS = 8

#: The steps of paths as numbers: an element, a data key, the value of one; from ``_INDEX`` on the
#: indices of tuples; from ``_NAME`` on keys.
_ITEM, _KEY, _VALUE, _INDEX = range(4)
_NAME = _INDEX + PLACES


class _MsgPackValues(NamedTuple):
    """The kind of each value, and where its text stands in ``source``:
    the data, with the texts of numbers behind it."""

    kinds: NDArray[np.uint8]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    source: Bytes


class _Places(NamedTuple):
    """Where each token belongs.

    ``paths``: a number for its path; ``left``: how many values the list around it has from it on, 0
    where nodes do not tell that; ``is_leaf``: whether it is a value of the walk; ``is_tuple``:
    whether it is a tuple.
    """

    paths: NDArray[np.int32]
    left: NDArray[np.int32]
    is_leaf: NDArray[np.bool_]
    is_tuple: NDArray[np.bool_]


def split(data: bytes) -> Walked | None:
    """The walk through ``data``; None where it is not whole values of MessagePack, is too large, or
    has too many different nodes."""
    found = tokens(data) if len(data) <= _LARGEST else None
    if found is None:
        return None
    places = _places(found)
    # Let go of what is not needed any more: it would be most of the memory that the rest takes.
    nothing = np.zeros(0, np.int32)
    found = found._replace(depth=nothing, parent=nothing, place=nothing)
    leaves = np.flatnonzero(places.is_leaf)
    values = _values(found, leaves)
    before = np.zeros(len(leaves), np.int32)
    before[1:] = found.ends[leaves[:-1]]
    lengths = found.starts[leaves] - before
    codes: Positions = tell_apart(found.padded, before, lengths, values.kinds)[0]
    del before, lengths
    closed = np.zeros(len(leaves), np.int32)
    closed[1:] = found.closed[leaves[:-1] + 1]
    for part in (places.paths, closed, places.left):
        more = part if part is closed else part[leaves]
        codes, _ = _numbered(codes, more, int(more.max()) + 1)
    del more, part
    walk, firsts = numbered(codes)
    if not worth_while(len(firsts), len(leaves)):
        return None
    nodes = []
    marks: list[tuple[int, int]] = []
    known: set[int] = set()
    for number, leaf in enumerate(firsts.tolist()):
        before_it = int(found.ends[leaves[leaf - 1]]) if leaf else 0
        text = data[before_it : int(found.starts[leaves[leaf]])]
        nodes.append(Node(text, int(values.kinds[leaf])))
        if closed[leaf]:
            marks.append((number, 2 * int(closed[leaf])))
        first = int(leaves[leaf - 1]) + 1 if leaf else 0
        marks += _tuple_marks(found, places, range(first, int(leaves[leaf])), number, known)
    return Walked(nodes, walk, values.starts, values.ends, b"", marks, values.source)


def _tuple_marks(
    found: MsgPackTokens, places: _Places, between: range, number: int, known: set[int]
) -> list[tuple[int, int]]:
    """The marks of node ``number`` for the tuples that begin in its text: only of the first of each
    path, which is then added to ``known``. ``between``: the tokens in the text of the node."""
    marks = []
    lists = 0
    for token in between:
        if not found.children[token] or found.is_map[token]:
            continue
        path = int(places.paths[token])
        if places.is_tuple[token] and path not in known:
            known.add(path)
            marks.append((number, 2 * lists + 1))
        lists += 1
    return marks


def _values(found: MsgPackTokens, leaves: NDArray[np.int64]) -> _MsgPackValues:
    """The values of the tokens ``leaves``."""
    starts, ends, firsts = found.starts[leaves], found.ends[leaves], found.firsts[leaves]
    kinds = _KINDS[firsts]
    begins = starts.copy()
    begins[kinds == STRING] += 1
    single = (kinds >= NULL) & (kinds <= EMPTY_MAP)
    begins[single] = ends[single]
    for first, least in _SHORTEST.items():
        some = np.flatnonzero(firsts == first)
        texts = starts[some] + (1 + LENGTHS[first])
        smallest = ends[some] - texts >= least
        kinds[some[smallest]] = STRING
        begins[some[smallest]] = texts[smallest]
    parts = [found.padded]
    size = len(found.padded)
    written: tuple[tuple[NDArray[np.int64], Texts], ...] = (
        msgpack_numbers.whole_numbers(found.padded, starts, firsts),
        msgpack_numbers.doubles(found.padded, starts, firsts),
    )
    for some, numbers in written:
        kinds[some] = SCALAR
        begins[some] = numbers.starts + size
        ends[some] = numbers.ends + size
        parts.append(numbers.data)
        size += len(numbers.data)
    return _MsgPackValues(kinds, begins, ends, np.concatenate(parts))


def _places(found: MsgPackTokens) -> _Places:
    """The places of all tokens, level by level from the top: a path is that of the container around
    it and one more step, as a number for each such pair."""
    number = len(found.starts)
    keys = np.flatnonzero(found.is_key)
    sizes = found.ends[keys] - found.starts[keys]
    name, names = tell_apart(found.padded, found.starts[keys], sizes, np.zeros(len(keys), np.uint8))
    name_of = np.zeros(number, np.int32)
    name_of[keys] = name
    steps = _NAME + len(names)
    places = _Places(
        np.zeros(number, np.int32),
        np.zeros(number, np.int32),
        (found.children == 0) & ~found.is_key,
        np.zeros(number, np.bool_),
    )
    paths, left, is_leaf, is_tuple = places
    known = 1
    for level in range(1, int(found.depth.max()) + 1):
        lists = np.flatnonzero((found.depth == level - 1) & (found.children > 0) & ~found.is_map)
        is_tuple[lists] = _alike(paths[lists], found.children[lists])
        here = np.flatnonzero(found.depth == level)
        is_key = found.is_key[here]
        keys, others = here[is_key], here[~is_key]
        names_here = name_of[keys]
        is_data = _data_keys(paths[_at(found.parent, keys)], names_here, number)
        above = _at(found.parent, others)
        in_map = found.is_map[above]
        step = np.full(len(others), _ITEM, np.int32)
        # A key has no values in it: each is followed by its value.
        step[in_map] = np.where(is_data, _VALUE, _NAME + names_here)
        in_tuple = is_tuple[above]
        placed = np.flatnonzero(in_tuple)
        place = found.place[others[placed]]
        step[placed] = np.where(place < PLACES, _INDEX + place, _ITEM)
        left[others] = left[above]
        counted = np.flatnonzero(~in_map & ~in_tuple & (found.children[above] <= _COUNTED))
        left[others[counted]] = found.children[above[counted]] - found.place[others[counted]]
        data = keys[is_data]
        is_leaf[data] = True
        above_data = _at(found.parent, data)
        left[data] = left[above_data]
        these = np.concatenate([others, data])
        step = np.concatenate([step, np.full(len(data), _KEY, np.int32)])
        number_of, count = _numbered(paths[np.concatenate([above, above_data])], step, steps)
        paths[these] = known + number_of
        known += count
    return places


def _at(array: NDArray[np.int32], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """``array`` at ``places``, as integers of 64 bits, by which NumPy indexes the fastest."""
    return array[places].astype(np.int64)


def _numbered(first: Positions, second: NDArray[np.int32], most: int) -> tuple[Positions, int]:
    """Number the pairs of ``first`` and ``second`` from 0 on, equal ones alike: the number of each
    pair, and how many numbers there are. All of ``second`` are below ``most``.
    """
    space = (int(first.max(initial=0)) + 1) * most
    codes = first.astype(np.int64)
    codes *= most
    codes += second
    if space > len(first) + _SPACE:
        found = group_numbers(codes)
        return found.codes, len(found.examples)
    there = np.zeros(space, np.bool_)
    there[codes] = True
    number = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return number[codes], int(number[-1]) + 1


def _data_keys(
    paths: NDArray[np.int32], names: NDArray[np.int32], tokens: int
) -> NDArray[np.bool_]:
    """Which keys are data. ``paths``: those of the maps around them; ``names``: a number for the
    text of each; ``tokens``: how many the block has."""
    if not len(paths):
        return np.zeros(0, np.bool_)
    codes, count = _numbered(paths, names, int(names.max()) + 1)
    rare = np.bincount(codes) < min(_RARE, max(2, tokens // _TOKENS))
    path_of = np.zeros(count, np.int32)
    path_of[codes] = paths
    several = np.bincount(path_of[rare], minlength=int(paths.max()) + 1)
    return np.asarray(rare[codes] & (several > _MANY_KEYS)[paths])


def _alike(paths: NDArray[np.int32], counts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which lists are tuples, by their ``paths`` and their ``counts`` of elements: nearly all lists
    of the path have one length, which is not long."""
    alike = np.zeros(len(paths), np.bool_)
    codes = group_numbers(paths).codes
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=1)
    stops = np.cumsum(sizes)
    for code in np.flatnonzero(sizes >= _FEW_LISTS).tolist():
        some = order[stops[code] - sizes[code] : stops[code]]
        mean = float(counts[some].mean())
        if mean <= PLACES and len(some) >= 2 * mean:
            alike[some] = np.bincount(counts[some]).max() >= _ALIKE * len(some)
    return alike
