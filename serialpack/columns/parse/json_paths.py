"""Finds where the values of a JSON text belong, by reading the gaps between them.

A *place* is the root, an element of a list, a member of a map, or a map where a key is awaited. A
gap leads from the place of the value before it to the place of the value behind it. Any bytes
may be a gap: nothing here fails on malformed JSON, which is stored as well as it can be.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import NamedTuple

from serialpack.columns.parse.nodes import KEY, PLACES, Mark, Node, Origins, Outline, Path, Step
from serialpack.columns.texts import Broken

#: The parts of a gap that tell anything: keys, brackets, commas, colons; white space is skipped.
_PARTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)
#: What may stand between two records.
_BETWEEN = b" \t\r\n,"


class Place:
    """A place in a document: one object for each, so that places can be compared by identity.

    ``step``: the last step to it; None for the root, and for a map where a key is awaited
    (``awaits``). ``depth``: how many places are above it; ``tuple``: whether it is a tuple.
    """

    __slots__ = ("awaits", "children", "depth", "parent", "step", "tuple")

    def __init__(self, parent: Place | None, step: Step | None) -> None:
        self.parent = parent
        self.step = step
        self.awaits = parent is not None and step is None
        self.depth: int = parent.depth + 1 if parent else 0
        self.children: dict[Step | None, Place] = {}
        self.tuple = False

    def child(self, step: Step | None) -> Place:
        """The place that ``step`` leads to from here; None leads to where a key is awaited."""
        found = self.children.get(step)
        if found is None:
            found = self.children[step] = Place(self, step)
        return found

    @property
    def up(self) -> Place:
        """The place of the container around it. That of the root is the root: a block may begin
        within a record, and so close what it has not opened."""
        return self.parent or self

    @property
    def outermost(self) -> Place:
        """The place of records: the root, or the elements of the list that is the document."""
        place = self
        while place.parent and (place.parent.parent or place.step is not Mark.ITEM):
            place = place.parent
        return place

    def path(self) -> Path:
        """The steps from the root."""
        steps: list[Step] = []
        place = self
        while place.parent:
            if place.step is not None:
                steps.append(place.step)
            place = place.parent
        return tuple(reversed(steps))


class Move(NamedTuple):
    """What a gap does, from a certain place on.

    ``place``: where it leads; ``low``: the least depth on the way; ``before``: where in the text of
    the gap that depth is first reached. ``opened``: the places of the lists that begin in it;
    ``stepped``: the places of the lists that it takes to their next element.
    """

    place: Place
    low: int
    before: int
    opened: tuple[Place, ...]
    stepped: tuple[Place, ...]


def parts_of(text: bytes) -> list[tuple[bytes, int]]:
    """The parts of a gap: keys and punctuation, each with the place in ``text`` where it ends."""
    return [(match[0], match.end()) for match in _PARTS.finditer(text)]


def read_gap(
    place: Place,
    parts: list[tuple[bytes, int]],
    *,
    is_key: bool = False,
    floor: int = 0,
    tuples: Sequence[int] = (),
) -> Move:
    """The move of a gap: from ``place``, that of the value before it, through its ``parts``.

    ``is_key``: the value behind the gap is a data key. ``floor``: once the depth is no more than
    that, ``low`` and ``before`` are not changed further. ``tuples``: which of the lists that begin
    in the gap are tuples, by their numbers from 0.
    """
    # A value behind a key is within the key's member, one deeper.
    low = place.depth if place.step is not Mark.KEY else place.depth + 1
    before = 0
    key = b""
    opened: list[Place] = []
    stepped: list[Place] = []
    behind, ended = 0, True
    for part, end in parts:
        if (ended or place.awaits) and part in (b"{", b"["):
            # Behind a value without a comma, or in place of a key, no container can begin: so a
            # line was cut off, and this is the next record.
            place = place.outermost
            if place.depth < low and low > floor:
                low, before = place.depth, behind
        behind, ended = end, part in (b"}", b"]")
        if part == b"{":
            place = place.child(None)
        elif part == b"[":
            if len(opened) in tuples:
                place.tuple = True
            opened.append(place)
            place = place.child(0 if place.tuple else Mark.ITEM)
        elif part in (b"}", b"]"):
            place = place.up
            if place.depth < low and low > floor:
                low, before = place.depth, end
        elif part == b",":
            if isinstance(place.step, int) or place.step is Mark.ITEM:
                stepped.append(place.up)
            place = _behind_comma(place)
        elif part == b":":
            place = _behind_colon(place, key)
        else:
            key = part[1:-1] if part[:1] == b'"' else part
    if is_key:
        place = (place.up if place.awaits else place).child(Mark.KEY)
    return Move(place, low, before, tuple(opened), tuple(stepped))


def _behind_comma(place: Place) -> Place:
    """The place of the next element, or where the next key is awaited; ``place``: that of the value
    before the comma."""
    if isinstance(place.step, int):
        index = place.step + 1
        return place.up.child(index if index < PLACES else Mark.ITEM)
    return place if place.step is None or place.step is Mark.ITEM else place.up.child(None)


def _behind_colon(place: Place, key: bytes) -> Place:
    """The place of the value that ``key`` has; ``place``: where the key was awaited."""
    # A block may begin between the members of a map: these are members of the root.
    container = place if place.parent is None else place.up
    return container.child(Mark.VALUE if place.step is Mark.KEY else key)


def outline(
    nodes: Sequence[Node],
    origins: Origins,
    trailer: bytes,
    tuples: Sequence[tuple[int, int]],
    most_steps: int,
) -> Outline:
    """The outline of a walk through ``nodes``.

    ``origins``: of the walk. ``trailer``: the text behind the last value. ``tuples``: each the
    number of a node, and the number of a list among those that begin in its text: that list is a
    tuple. Broken where all paths together have more than ``most_steps`` steps.
    """
    marked: dict[int, list[int]] = {}
    for number, bracket in tuples:
        marked.setdefault(number, []).append(bracket)
    root = Place(None, None)
    moves: list[Move] = []
    for number, (node, origin) in enumerate(zip(nodes, origins.before, strict=True)):
        start = moves[origin].place if origin >= 0 else root
        parts = parts_of(node.text)
        is_key = node.kind == KEY
        moves.append(read_gap(start, parts, is_key=is_key, tuples=marked.get(number, ())))
    # The gap before the first value begins the document and mostly occurs nowhere else: what opens
    # in it (an array around all records, say) says nothing of where records end.
    lonely = origins.first_once
    level = min((move.low for move in moves[lonely:]), default=0)
    before = [move.before if move.low <= level else -1 for move in moves]
    if lonely and moves:
        before[0] = _opening(nodes[0].text, level)
    ending = read_gap(moves[origins.last].place if moves else root, parts_of(trailer), floor=level)
    return Outline(
        _paths(moves, level, most_steps),
        before,
        [_behind(node.text, at) for node, at in zip(nodes, before, strict=True)],
        ending.before if ending.low <= level else len(trailer),
    )


def _paths(moves: list[Move], level: int, most_steps: int) -> list[Path]:
    """The path of each move. ``level``: the depth at which records stand."""
    known: dict[Place, Path] = {}
    for move in moves:
        if move.place not in known:
            most_steps -= move.place.depth
            if most_steps < 0:
                raise Broken("paths are longer than their text allows")
            path = move.place.path()
            # The array that is the whole document is no part of its elements' paths.
            if level == 1 and path[:1] == (Mark.ITEM,):
                path = path[1:]
            known[move.place] = path
    return [known[move.place] for move in moves]


def _opening(text: bytes, level: int) -> int:
    """Where the first record begins in the first gap: behind ``level`` brackets that open."""
    at = len(BOM_UTF8) if text.startswith(BOM_UTF8) else 0
    for part, end in parts_of(text):
        if level and part in (b"[", b"{"):
            level -= 1
            at = end
    return at


def _behind(text: bytes, before: int) -> int:
    """Where the next record begins in ``text``: behind the comma and white space that stand at
    ``before``, where the last one ended; -1 where none ends in it."""
    if before < 0:
        return -1
    return len(text) - len(text[before:].lstrip(_BETWEEN))
