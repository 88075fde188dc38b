"""Restores a walk from what follows each node; ``walk.read`` calls it.

A *branch* is a node that several nodes may follow. Behind it the walk goes along a *path* of nodes
up to the next branch, where the next decision says along which path it goes on. To take these steps
one by one would be slow, so branches are joined before, as long as that leaves fewer steps: a path
that leads from a branch back to it, taken several times, becomes one longer path (``_repeated``),
and a branch that only one other leads to becomes part of that one (``_merged``). Where a single
branch is left, as for records that are mostly alike, all its paths are copied one after another.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import put_together
from serialpack.columns.bulk.numbering import count_each
from serialpack.columns.texts import Broken

#: Stands in place of a branch where a path ends the walk; and, among what leads to a branch, for
#: the start of the walk.
_END = -1

#: Branches that the walk comes by fewer times are not joined.
_LEAST = 64

#: How many paths are copied at a time.
_STEP = 1 << 16

#: A joined branch has at least so many decisions for each of its paths, since these are made one by
#: one.
_AGAIN = 4


class Decisions(NamedTuple):
    """The decisions at a node: the nodes that may follow it (``choices``), and for each time that
    the walk comes by the place among them of the one that does (``ranks``)."""

    choices: list[int]
    ranks: NDArray[Any]


class _Branch(NamedTuple):
    """A branch. ``paths``: those that begin behind it, each as the bytes of an array of nodes, up
    to and with the next branch; ``then``: for each path that next branch, or ``_END``; ``ranks``:
    which path the walk takes, each time that it comes by."""

    paths: list[bytes]
    then: list[int]
    ranks: NDArray[Any]


def follow(follows: list[int], decisions: dict[int, Decisions], limit: int) -> NDArray[Any]:
    """The walk from node 0 on, which may have at most ``limit`` nodes.

    ``follows``: for each node the one that always follows it, where it has no ``decisions``. A node
    that is not there ends the walk. Broken where the walk is longer, has no end, or ends too early.
    """
    # In as few bytes as possible: a walk may have as many nodes as the text has bytes.
    kind = np.dtype(np.uint8 if len(follows) <= 1 << 8 else np.int32)
    start, first, branches = _branches(follows, decisions, limit, kind)
    most = kind.itemsize * limit
    _join(first, branches, most)
    if len(branches) == 1 and first in branches:
        walk = _along(start, first, branches[first], most)
    else:
        walk = _step_by_step(start, first, branches, most)
    if len(walk) > most:
        raise Broken("the walk is longer than the text")
    return np.frombuffer(walk, kind)


def _branches(
    follows: list[int], decisions: dict[int, Decisions], limit: int, kind: np.dtype[Any]
) -> tuple[bytes, int, dict[int, _Branch]]:
    """The path from node 0 to the first branch, the node of that (``_END`` without one), and the
    branches by their nodes. ``kind``: the type of a node in a path. Broken."""
    known: dict[int, tuple[bytes, int]] = {}
    left = limit

    def path(node: int) -> tuple[bytes, int]:
        """The nodes from ``node`` up to the next branch, and that branch."""
        nonlocal left
        if node not in known:
            nodes: list[int] = []
            at, then = node, _END
            while at < len(follows):
                nodes.append(at)
                if at in decisions:
                    then = at
                    break
                if len(nodes) > left:
                    raise Broken("the walk has no end")
                at = follows[at]
            # Each path is part of the walk, so that all together cannot be longer than it.
            left -= len(nodes)
            known[node] = np.array(nodes, kind).tobytes(), then
        return known[node]

    start, first = path(0)
    branches = {}
    for node, (choices, ranks) in decisions.items():
        there = count_each(ranks, len(choices)).tolist()
        found = [
            path(choice) if count else (b"", _END)
            for choice, count in zip(choices, there, strict=True)
        ]
        branches[node] = _Branch([nodes for nodes, _ in found], [then for _, then in found], ranks)
    return start, first, branches


def _join(first: int, branches: dict[int, _Branch], limit: int) -> None:
    """Join ``branches``, in place, as long as that leaves fewer steps. ``first``: the first one of
    the walk; ``limit``: the most bytes of a branch's paths, as often as they are taken."""
    before = _before(first, branches)
    todo = list(branches)
    while todo:
        node = todo.pop()
        if node not in branches or len(branches[node].ranks) < _LEAST:
            continue
        joined = _repeated(node, branches[node], limit)
        owner = node
        if joined is not None and node not in joined.then:
            before[node].discard(node)
        if joined is None and len(before[node]) == 1 and not before[node] & {node, _END}:
            (owner,) = before[node]
            joined = _merged(node, branches[owner], branches[node], limit)
            if joined is not None:
                for then in set(branches.pop(node).then):
                    before[then] = before[then] - {node} | {owner}
        if joined is not None:
            branches[owner] = joined
            todo += {owner, *joined.then} & branches.keys()


def _before(first: int, branches: dict[int, _Branch]) -> dict[int, set[int]]:
    """For each branch the branches from which a path leads to it; ``_END`` stands for the start."""
    found: dict[int, set[int]] = {node: set() for node in (*branches, _END)}
    found[first].add(_END)
    for node, branch in branches.items():
        for then in branch.then:
            found[then].add(node)
    return found


def _repeated(node: int, branch: _Branch, limit: int) -> _Branch | None:
    """``branch``, that of ``node``, with paths of this kind: so many times its commonest path that
    leads back to it, and then one other path. None where there is no such path, or that is no
    shorter."""
    counts = count_each(branch.ranks, len(branch.then)).tolist()
    back = [rank for rank, then in enumerate(branch.then) if then == node and counts[rank]]
    if not back or len(back) == len(branch.then):
        return None
    loop = max(back, key=counts.__getitem__)
    if counts[loop] < len(branch.ranks) // _AGAIN:
        return None
    others = np.flatnonzero(branch.ranks != loop)
    times = np.diff(others, prepend=-1) - 1
    size = len(branch.then)
    codes = _compact(times * size + branch.ranks[others])
    if codes is None:
        return None
    pairs = [divmod(code, size) for code in codes.different]
    lengths = [n * len(branch.paths[loop]) + len(branch.paths[rank]) for n, rank in pairs]
    if not _fit(lengths, codes.ranks, limit):
        return None
    paths = [branch.paths[loop] * n + branch.paths[rank] for n, rank in pairs]
    return _Branch(paths, [branch.then[rank] for _, rank in pairs], codes.ranks)


def _merged(node: int, owner: _Branch, branch: _Branch, limit: int) -> _Branch | None:
    """``owner`` with ``branch``, that of ``node``, in it: each path of ``owner`` that leads there
    goes on along one of ``branch``. Only paths of ``owner`` lead there. None where that is no
    shorter."""
    leads = np.array([then == node for then in owner.then])
    here = leads[owner.ranks]
    if int(np.count_nonzero(here)) != len(branch.ranks):
        raise Broken("decisions that nobody comes by for")
    size = len(branch.then) + 1
    all_codes = owner.ranks.astype(np.int64) * size
    all_codes[here] += branch.ranks.astype(np.int64) + 1
    codes = _compact(all_codes)
    if codes is None:
        return None
    pairs = [divmod(code, size) for code in codes.different]
    behind = [(b"", None), *zip(branch.paths, branch.then, strict=True)]
    parts = [(owner.paths[rank], *behind[next_rank], owner.then[rank]) for rank, next_rank in pairs]
    if not _fit([len(path) + len(rest) for path, rest, _, _ in parts], codes.ranks, limit):
        return None
    return _Branch(
        [path + rest for path, rest, _, _ in parts],
        [own if then is None else then for _, _, then, own in parts],
        codes.ranks,
    )


class _Codes(NamedTuple):
    """The ``different`` numbers in an array, and for each of its numbers the place among these."""

    different: list[int]
    ranks: NDArray[Any]


def _compact(codes: NDArray[np.int64]) -> _Codes | None:
    """``codes`` as ``_Codes``; None where too many of them are different."""
    top = int(codes.max(initial=-1)) + 1
    if top > 4 * len(codes) + (1 << 16):
        return None
    different = np.flatnonzero(np.bincount(codes, minlength=top))
    if len(different) * _AGAIN > len(codes):
        return None
    place = np.zeros(top, np.uint8 if len(different) <= 1 << 8 else np.int64)
    place[different] = np.arange(len(different))
    return _Codes(different.tolist(), place[codes])


def _fit(lengths: list[int], ranks: NDArray[Any], limit: int) -> bool:
    """Whether paths of these lengths, taken as ``ranks`` say, are ``limit`` long at most."""
    counts = count_each(ranks, len(lengths)).tolist()
    return bool(sum(map(mul, lengths, counts)) <= limit)


def _along(start: bytes, node: int, branch: _Branch, limit: int) -> bytes:
    """The walk where only one branch is left, that of ``node``:
    all its paths, as its ranks say, behind ``start``."""
    ends = (np.array(branch.then) != node)[branch.ranks]
    if not len(ends) or not ends[-1]:
        raise Broken("the walk ends before its end")
    if np.count_nonzero(ends) > 1:
        raise Broken("decisions that nobody comes by for")
    lengths = np.array(list(map(len, branch.paths)), np.int64)
    if not _fit(lengths.tolist(), branch.ranks, limit):
        raise Broken("the walk is longer than the text")
    starts = np.cumsum(lengths) - lengths
    source = np.frombuffer(b"".join(branch.paths), np.uint8)
    out = BytesIO()
    out.write(start)
    for begin in range(0, len(branch.ranks), _STEP):
        ranks = branch.ranks[begin : begin + _STEP]
        out.write(put_together(source, starts[ranks], lengths[ranks]).data)
    return out.getvalue()


class _OverError(Exception):
    """The walk has come to its end."""


def _end() -> _Step:
    """In place of what gives the next step, at the end of the walk."""
    raise _OverError


class _Step(NamedTuple):
    """A path, and the function that gives the step behind it: the next one of its branch."""

    path: bytes
    on: Callable[[], _Step]


def _step_by_step(start: bytes, first: int, branches: dict[int, _Branch], limit: int) -> bytes:
    """The walk, step by step from branch to branch."""
    steps: dict[int, list[_Step]] = {node: [] for node in branches}
    on = {
        node: map(steps[node].__getitem__, memoryview(branch.ranks.data)).__next__
        for node, branch in branches.items()
    }
    for node, branch in branches.items():
        pairs = zip(branch.paths, branch.then, strict=True)
        steps[node] += [_Step(path, on.get(then, _end)) for path, then in pairs]
    out = BytesIO()
    write = out.write
    write(start)
    following = on.get(first, _end)
    try:
        while out.tell() <= limit:
            path, following = following()
            write(path)
    except StopIteration:
        raise Broken("the walk ends before its end") from None
    except _OverError:
        pass
    return out.getvalue()
