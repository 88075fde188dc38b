"""JSON text as a walk: where each value belongs, and what stands before it.

A machine (a finite automaton) goes from value to value. Its states are nodes: the text of a gap
(punctuation, white space, keys) together with the place of the value behind it. A gap leads from
one state to the next. It is read by ``json_paths`` the first time it is met in a state; from then
on the next state is looked up.
"""

from __future__ import annotations

from itertools import accumulate
from operator import attrgetter, getitem

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.parse import json_tokens
from serialpack.columns.parse.json_paths import Move, Place, parts_of, read_gap
from serialpack.columns.parse.json_tokens import Leaves
from serialpack.columns.parse.nodes import KEY, PLACES, Mark, Node, Walked, worth_while

#: The greatest depth of a text for which columns are of use.
_DEEPEST = 500

#: In a block with more than ``_FEW_GAPS`` different gaps, a key that occurs fewer than ``_RARE``
#: times is data; in a small block that number is smaller.
_RARE = 16
_FEW_GAPS = 48

#: In a tangled block (``_is_tangled``) more keys are data: those that occur fewer than ``_OFTEN``
#: times; and where it still is tangled, those fewer than once in ``_MOSTLY`` values.
_OFTEN, _MOSTLY = 256, 16

#: How many values are looked at to find tuples: lists whose elements have places of their own.
_SAMPLE = 1 << 14

#: With at most so many different gaps a table of all pairs of them is small.
_FEW_ENOUGH = 512

#: The first ``_GLIMPSE`` values tell whether the text has any order: they may have ``_FREE_NODES``
#: nodes and three more for each different gap.
_GLIMPSE = 2048
_FREE_NODES = 256

#: Lists count as of one length where at least this share of them have the same.
_ALIKE = 0.95


class _State(dict[int, "_State"]):
    """A node while the machine runs: a map from the number of each gap to the next state.

    A gap that is not in the map is read when it is asked for. ``gap``: the number of the gap that
    leads here; ``move``: what that gap does; ``number``: that of the node.
    """

    __slots__ = ("gap", "machine", "move", "number")

    def __init__(self, machine: _Machine, gap: int, move: Move) -> None:
        self.machine = machine
        self.gap = gap
        self.move = move
        self.number = len(machine.states)

    def __missing__(self, gap: int) -> _State:
        state = self[gap] = self.machine.next(self, gap)
        return state


class _TooDeepError(Exception):
    """The text nests deeper than ``_DEEPEST``."""


class _Machine:
    """Goes through the values (``leaves``) of the text ``data``,
    and makes a state for each node."""

    def __init__(self, data: bytes, leaves: Leaves) -> None:
        self._data = data
        self._leaves = leaves
        self._parts: dict[int, list[tuple[bytes, int]]] = {}
        self._root = Place(None, None)
        self.restart()

    def restart(self) -> None:
        """Forget the states, but not the places.

        Without this a run goes on with the states of the run before. Where that one was over the
        beginning of the same text, states still are numbered in the order in which they are met.
        """
        self.states: list[_State] = []
        self._known: dict[tuple[int, Place], _State] = {}
        self._moves: dict[tuple[int, Place, bool], Move] = {}
        self._start = _State(self, -1, Move(self._root, 0, 0, (), ()))

    def forget(self) -> None:
        """Free the memory at once: states refer to each other and to the machine, so that only a
        garbage collection would."""
        for state in self.states:
            state.clear()
        del self.states, self._known, self._start, self._leaves, self._data

    def glance(self, gaps: NDArray[np.int32]) -> NDArray[np.int32] | None:
        """As ``run``, but faster: looks at each pair of gaps once, and not at each value. None
        unless each gap always leads to the same state."""
        number = len(self._leaves.firsts)
        if number > _FEW_ENOUGH or len({state.gap for state in self.states}) < len(self.states):
            return None
        pairs = np.bincount(gaps[:-1] * number + gaps[1:], minlength=1)
        follows: dict[int, list[int]] = {}
        for pair in np.flatnonzero(pairs).tolist():
            follows.setdefault(pair // number, []).append(pair % number)
        known = {0: self._start[0]}
        todo = [0]
        while todo:
            gap = todo.pop()
            for following in follows.get(gap, ()):
                state = known[gap][following]
                if following not in known:
                    known[following] = state
                    todo.append(following)
                elif known[following] is not state:
                    self.restart()
                    return None
        # Gaps are numbered in the order in which they are met, and so are nodes: the numbers of the
        # gaps are the numbers of the nodes.
        self.states = [known[gap] for gap in range(number)]
        return gaps

    def run(self, gaps: NDArray[np.int32]) -> NDArray[np.int32]:
        """For each of ``gaps`` the number of the state that it leads to."""
        walk = accumulate(gaps.tolist(), getitem, initial=self._start)
        next(walk)
        return np.fromiter(map(attrgetter("number"), walk), np.int32, len(gaps))

    def text(self, gap: int) -> bytes:
        """The text of the gap of this number."""
        first = self._leaves.firsts[gap]
        return self._data[self._leaves.gap_starts[first] : self._leaves.gap_ends[first]]

    def kind(self, gap: int) -> int:
        """The kind of the value behind the gap of this number."""
        return int(self._leaves.kinds[self._leaves.firsts[gap]])

    def next(self, state: _State, gap: int) -> _State:
        """The state that ``gap`` leads to from ``state``, by reading the gap."""
        parts = self._parts.get(gap)
        if parts is None:
            parts = self._parts[gap] = parts_of(self.text(gap))
        # Of a place in a map its key does not matter for what follows: it is left out, so that
        # fewer moves are made.
        place = state.move.place
        in_map = isinstance(place.step, bytes) or place.step is Mark.VALUE
        alike = gap, place.up if in_map else place, in_map
        move = self._moves.get(alike)
        if move is None:
            move = self._moves[alike] = read_gap(place, parts, is_key=self.kind(gap) == KEY)
        found = self._known.get((gap, move.place))
        if found is None:
            if move.place.depth > _DEEPEST:
                raise _TooDeepError
            found = self._known[gap, move.place] = _State(self, gap, move)
            self.states.append(found)
        return found


def split(data: bytes) -> Walked | None:
    """The walk through ``data``; None where it has no values, too many different nodes, or nests
    too deep, so that nothing is to be gained."""
    leaves = _leaves(data)
    number = len(leaves.starts)
    if not number or not worth_while(len(leaves.firsts), number):
        return None
    machine = _Machine(data, leaves)
    try:
        glimpse = leaves.gap[:_GLIMPSE]
        machine.run(glimpse)
        if len(machine.states) > _FREE_NODES + 3 * np.count_nonzero(np.bincount(glimpse)):
            return None
        _find_tuples(machine, leaves.gap[:_SAMPLE])
        walk = machine.glance(leaves.gap)
        if walk is None:
            walk = machine.run(leaves.gap)
    except _TooDeepError:
        return None
    if not worth_while(len(machine.states), number):
        return None
    nodes = [Node(machine.text(s.gap), machine.kind(s.gap)) for s in machine.states]
    tuples = _tuples(machine)
    machine.forget()
    return Walked(nodes, walk, leaves.starts, leaves.ends, data[leaves.stop :], tuples)


def _leaves(data: bytes) -> Leaves:
    """The values of ``data``, with the keys that are data (see ``_RARE``) among them."""
    marked = json_tokens.marked(data)
    plain = leaves = json_tokens.values(marked)
    number = len(leaves.starts)
    if len(leaves.firsts) <= _FEW_GAPS + number // 512:
        return leaves
    found = json_tokens.tokens(marked)
    least = min(_RARE, max(2, number // 256))
    most = number // _MOSTLY
    for often in sorted({least, max(least, min(_OFTEN, most)), max(least, most)}):
        data_keys = json_tokens.keys_as_data(found, plain, often)
        if data_keys is not None:
            leaves = json_tokens.values_and_keys(found, data_keys)
        if not _is_tangled(leaves):
            break
    return leaves


def _is_tangled(leaves: Leaves) -> bool:
    """Whether there is hardly any order:
    more than one in eight pairs of neighbouring gaps differ."""
    number = len(leaves.firsts)
    if number <= _FEW_ENOUGH:
        return False
    pairs = leaves.gap[:-1].astype(np.int64) * number + leaves.gap[1:]
    return len(np.unique(pairs)) > len(pairs) // 8


def _find_tuples(machine: _Machine, gaps: NDArray[np.int32]) -> None:
    """Mark the places of tuples: of lists that nearly all have one length, which is not long.

    Lists within a tuple are told apart only once that is marked: so it is done again until no more
    are found. ``gaps``: of the values that are looked at.
    """
    while True:
        walk = machine.run(gaps)
        counts = np.bincount(walk, minlength=len(machine.states)).tolist()
        opens: dict[Place, list[int]] = {}
        steps: dict[Place, list[int]] = {}
        for state in machine.states:
            for place in state.move.opened:
                opens.setdefault(place, []).append(state.number)
            for place in state.move.stepped:
                steps.setdefault(place, []).append(state.number)
        found = False
        for place, stepping in steps.items():
            opening = opens.get(place)
            if opening is None or place.tuple:
                continue
            lists = sum(counts[number] for number in opening)
            mean = 1 + sum(counts[number] for number in stepping) / lists
            if mean <= PLACES and lists >= max(8, 2 * mean):
                place.tuple = _same_length(walk, len(counts), opening, stepping)
                found |= place.tuple
        if not found:
            return
        machine.restart()


def _same_length(
    walk: NDArray[np.int32], states: int, opening: list[int], stepping: list[int]
) -> bool:
    """Whether nearly all lists of a place have one length.

    ``states``: how many there are; ``opening``: those in whose gap such a list begins;
    ``stepping``: those in whose gap it comes to its next element.
    """
    steps = np.zeros(states, np.int64)
    steps[stepping] = 1
    opens = np.zeros(states, bool)
    opens[opening] = True
    begins = np.flatnonzero(opens[walk])
    lengths = np.add.reduceat(steps[walk], begins)[:-1]
    return len(lengths) > 0 and bool(np.bincount(lengths).max() >= _ALIKE * len(lengths))


def _tuples(machine: _Machine) -> list[tuple[int, int]]:
    """The tuples, as they are stored: for each its node, in whose gap it begins when it is first
    met, and its number among the lists that begin in that gap."""
    seen: set[Place] = set()
    found = []
    for number, state in enumerate(machine.states):
        for bracket, place in enumerate(state.move.opened):
            if place.tuple and place not in seen:
                seen.add(place)
                found.append((number, bracket))
    return found
