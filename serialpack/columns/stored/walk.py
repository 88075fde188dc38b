"""Writes and reads the walk: the order in which nodes follow each other. Layout: man/spk-columns.5.

Most nodes are always followed by the same node, which is stored once. At any other node there is a
*decision* each time that the walk comes by: which of the nodes that ever follow it (its *choices*)
does now. It is stored as a *rank*, the place of that node among the choices, of which the most
frequent one comes first. Decisions are stored node by node. Where most of them are rank 0, the
lengths of its runs are stored: for a list of like elements, its length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.numbering import count_each
from serialpack.columns.stored.follow import Decisions, follow
from serialpack.columns.stored.source import ColumnSource, Stored
from serialpack.columns.stored.streams import (
    LZMA,
    PCO,
    STORE,
    U8,
    U16,
    U32,
    ZSTD,
    array_stream,
    narrow,
    raw_size,
)
from serialpack.columns.stored.wire import WireReader, counted, varint, zigzag
from serialpack.columns.texts import Broken
from serialpack.stages.effort import ColumnEffort

#: The ways to store the decisions of a node; stored, and so the same for ever: as ranks together
#: with those of other nodes; as ranks by themselves; as the lengths of runs of rank 0, with the
#: ranks between these less 1.
_TOGETHER, _APART, _RUNS = range(3)

#: The coders that arrays of decisions may have: they share no frame.
_CODERS = (STORE, ZSTD, PCO, LZMA)

#: The decisions of a node are stored by themselves if there are at least so many.
_LEAST_APART = 192

#: Where fewer than one in so many ranks is not 0, runs are taken without trying anything else.
_CLEARLY_FEW = 16


def _array(values: NDArray[Any], use: ColumnEffort) -> bytes:
    """``values``, none of them negative,
    as bytes that say how to read them, but not how many they are."""
    top = int(values.max(initial=0))
    layout, stream = array_stream(narrow(values, top), use, top)
    return bytes([stream.kind << 3 | layout, stream.coder]) + counted(stream.stored)


def _read_array(reader: WireReader, number: int) -> NDArray[Any]:
    """The ``number`` unsigned integers that ``_array`` wrote. Broken."""
    form, coder = reader.take(2)
    kind, layout = form >> 3, form & 7
    if kind not in (U8, U16, U32) or coder not in _CODERS:
        raise Broken("decisions of an unknown kind or coder")
    stored = Stored(coder, kind, raw_size(layout, kind, number), memoryview(reader.counted()))
    # What is restored at most: unpacked bits take a byte each, and planes are copied once more.
    source = ColumnSource(b"", [stored], 8 * number + 64, {}, lambda _: None)
    return source.array(layout, kind, number)


class _Decisions(NamedTuple):
    """A walk, seen from its nodes.

    ``next``: for each node the one that always follows it; -1 for those with decisions, which are
    ``nodes``. The choices of ``nodes[i]`` are ``choices[i]``; its ranks, which are places in these,
    are ``ranks[first[i]:first[i + 1]]``, in the order of the walk.
    """

    next: list[int]
    nodes: list[int]
    first: list[int]
    ranks: NDArray[np.signedinteger[Any]]
    choices: list[list[int]]


def _decisions(walk: NDArray[np.integer[Any]], number: int) -> _Decisions:
    """The decisions of ``walk`` through ``number`` nodes.
    As a following node ``number`` stands for the end of the walk."""
    # NumPy indexes the fastest with integers of its own default type.
    at = walk.astype(np.int64)
    following = np.append(walk[1:], np.int32(number))
    after = np.empty(number, np.int32)
    after[at] = following
    branches = np.zeros(number, np.bool_)
    branches[at[after.take(at) != following]] = True
    nodes = np.flatnonzero(branches)
    if not len(nodes):
        return _Decisions(after.tolist(), [], [0], np.zeros(0, np.int64), [])
    here = np.flatnonzero(branches.take(at))
    # There may be a decision at each step: so arrays as long as the walk are freed at once.
    del at
    some = walk[here]
    following = following[here]
    del here
    counts = np.bincount(some, minlength=number)[nodes]
    order = np.argsort(some.astype(np.uint16) if number <= 1 << 16 else some, kind="stable")
    following = following[order]
    del some, order
    space = len(nodes) * (number + 1)
    bases = np.arange(0, space, number + 1).astype(np.int32 if space < 1 << 31 else np.int64)
    pairs: NDArray[Any] = np.repeat(bases, counts) + following
    if space <= 4 * len(pairs) + 65536:
        often = np.bincount(pairs, minlength=space)
        distinct = np.flatnonzero(often)
        often = often[distinct]
        places = np.zeros(space, np.int32)
        places[distinct] = np.arange(len(distinct))
        place: NDArray[Any] = places[pairs]
    else:
        distinct, place, often = np.unique(pairs, return_inverse=True, return_counts=True)
    owners = distinct // (number + 1)
    by_rank = np.lexsort((distinct, -often, owners))
    sizes = np.bincount(owners)
    firsts = np.cumsum(sizes) - sizes
    rank = np.empty(len(distinct), np.int32)
    rank[by_rank] = np.arange(len(distinct)) - np.repeat(firsts, sizes)
    targets = (distinct % (number + 1))[by_rank].tolist()
    choices = [
        targets[first : first + size]
        for first, size in zip(firsts.tolist(), sizes.tolist(), strict=True)
    ]
    first = [0, *np.cumsum(counts).tolist()]
    after[nodes] = -1
    return _Decisions(after.tolist(), nodes.tolist(), first, rank[place], choices)


def _by_itself(
    ranks: NDArray[np.signedinteger[Any]], choices: int, use: ColumnEffort
) -> tuple[int, bytes]:
    """The way, other than ``_TOGETHER``, in which the ``ranks`` of one node take fewer bytes, and
    these bytes. ``choices``: how many it has."""
    places = np.flatnonzero(ranks)
    runs = np.diff(places, prepend=-1) - 1
    in_runs = varint(len(runs)) + _array(runs, use)
    if choices > 2:
        in_runs += _array(ranks[places] - 1, use)
    if len(places) * _CLEARLY_FEW < len(ranks):
        return _RUNS, in_runs
    as_they_are = _array(ranks, use)
    if len(as_they_are) <= len(in_runs):
        return _APART, as_they_are
    return _RUNS, in_runs


def write(walk: NDArray[np.integer[Any]], number: int, use: ColumnEffort) -> tuple[bytes, bytes]:
    """``walk`` as two byte strings, for ``read``: the table of what follows each of ``number``
    nodes, and the decisions.

    The walk begins at node 0, comes to all nodes, and these have numbers in the order in which they
    are met.
    """
    found = _decisions(walk, number)
    table = bytearray()
    together: list[NDArray[np.signedinteger[Any]]] = []
    apart: list[bytes] = []
    branching = 0
    for node, following in enumerate(found.next):
        if following >= 0:
            table += varint(1) + zigzag(following - node - 1)
            continue
        choices = found.choices[branching]
        ranks = found.ranks[found.first[branching] : found.first[branching + 1]]
        branching += 1
        way = _TOGETHER
        if len(ranks) < _LEAST_APART:
            together.append(ranks)
        else:
            way, stored = _by_itself(ranks, len(choices), use)
            apart.append(stored)
        table += varint(len(choices)) + varint(len(ranks) * 3 + way)
        for choice in choices:
            table += zigzag(choice - node - 1)
    if together:
        apart.append(_array(np.concatenate(together), use))
    return bytes(table), b"".join(apart)


def read(table: WireReader, decisions: WireReader, number: int, limit: int) -> NDArray[Any]:
    """The walk that ``write`` wrote, through ``number`` nodes and
    of at most ``limit`` values. Broken."""
    follows: list[int] = []
    branches: list[tuple[int, list[int], int, int]] = []
    left = limit
    for node in range(number):
        count = table.varint(number + 1)
        if count == 1:
            follows.append(_target(table, node, number))
            continue
        follows.append(-1)
        visits, way = divmod(table.varint(3 * limit + 2), 3)
        left -= visits
        if left < 0 or not count:
            raise Broken("more decisions than values")
        branches.append((node, [_target(table, node, number) for _ in range(count)], visits, way))
    pooled = sum(visits for _, _, visits, way in branches if way == _TOGETHER)
    read_apart = [
        None if way == _TOGETHER else _read_ranks(decisions, way, visits, len(choices))
        for _, choices, visits, way in branches
    ]
    pool = _read_array(decisions, pooled) if pooled else np.zeros(0, np.uint8)
    met: dict[int, Decisions] = {}
    at = 0
    for (node, choices, visits, _), ranks in zip(branches, read_apart, strict=True):
        if ranks is None:
            ranks = pool[at : at + visits]
            at += visits
        if visits and int(ranks.max()) >= len(choices):
            raise Broken("a decision for what is not there")
        met[node] = Decisions(choices, ranks)
    found = follow(follows, met, limit)
    counts = count_each(found, number)
    if any(int(counts[node]) != visits for node, _, visits, _ in branches):
        raise Broken("decisions that nobody comes by for")
    return found


def _target(table: WireReader, node: int, number: int) -> int:
    """A node that may follow ``node``; ``number``: the end of the walk. Broken."""
    target = node + 1 + table.zigzag()
    if not 0 <= target <= number:
        raise Broken("a node is followed by one that is not there")
    return target


def _read_ranks(reader: WireReader, way: int, visits: int, choices: int) -> NDArray[Any]:
    """The ranks of a node with so many decisions (``visits``) among so many ``choices``, which are
    stored by themselves. Broken."""
    if way == _APART:
        return _read_array(reader, visits)
    number = reader.varint(visits)
    runs = _read_array(reader, number).astype(np.int64)
    ranks = np.zeros(visits, np.uint8 if choices <= 256 else np.int64)
    places = np.cumsum(runs + 1) - 1
    if number and (int(runs.max()) > visits or int(places[-1]) >= visits):
        raise Broken("runs are longer than the walk")
    others = _read_array(reader, number) if choices > 2 else np.zeros(number, np.uint8)
    if number and int(others.max()) >= choices - 1:
        raise Broken("a decision for what is not there")
    ranks[places] = others + others.dtype.type(1)
    return ranks
