"""Finds where the value of each node belongs, in a walk through MessagePack data.

A node's text is what stands between two values: whole keys, and the first bytes and counts of
containers. The end of a container takes no bytes: how many end before the text is said by a mark.
Unlike in JSON, the nodes must be those of MessagePack: all else is Broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from serialpack.columns.parse.nodes import PLACES, Mark, Node, Origins, Outline, Path, Step
from serialpack.columns.texts import Broken
from serialpack.msgpack_bytes import FIX_STRING, LENGTHS, LISTS, MAPS, NIL, SIZES, STRINGS


class _Frame(NamedTuple):
    """A container that has not ended, or the top of the data: its path, and the step to its next
    value (None: a key comes next)."""

    path: Path
    step: Step | None

    def then(self) -> _Frame:
        """The frame once its next value has ended."""
        if isinstance(self.step, int):
            return self._replace(step=self.step + 1 if self.step + 1 < PLACES else Mark.ITEM)
        if self.step is Mark.ITEM:
            return self
        return self._replace(step=Mark.VALUE if self.step is Mark.KEY else None)


def _header(text: bytes, at: int) -> tuple[str, int]:
    """What begins at ``at`` in ``text``: "map", "list" or "value"; and where its head ends: for
    a map or list its first value begins there, another value ends there. Broken where it is cut
    off."""
    first = text[at]
    size = SIZES[first]
    if first in LENGTHS:
        size += int.from_bytes(text[at + 1 : at + 1 + LENGTHS[first]], "big")
    if at + size > len(text):
        raise Broken("a token in a node's text has no end")
    if first in MAPS:
        return "map", at + size
    if first in LISTS:
        return "list", at + size
    return "value", at + size


def _key(spelled: bytes) -> bytes:
    """A key as it stands in a path: the text of a string, the digits of an integer below 128, and
    of any other key its bytes."""
    first = spelled[0]
    if FIX_STRING <= first < NIL:
        return spelled[1:]
    if first in STRINGS:
        return spelled[1 + LENGTHS[first] :]
    return b"%d" % first if first < 0x80 else spelled


def outline(
    nodes: Sequence[Node],
    origins: Origins,
    marks: Sequence[tuple[int, int]],
    most_steps: int,
) -> Outline:
    """The outline of a walk through ``nodes``; Broken where no MessagePack data has such a walk.

    ``marks`` (``tuples`` elsewhere): pairs of the number of a node and a number m. Where m is even,
    m / 2 containers end before the text of that node. Where it is odd, list number (m - 1) / 2
    among those that begin in its text is a tuple, and so are all lists of the same path.
    ``most_steps``: of all paths together.
    """
    closed: dict[int, int] = {}
    begun: dict[int, set[int]] = {}
    for number, mark in marks:
        if mark % 2:
            begun.setdefault(number, set()).add(mark // 2)
        else:
            closed[number] = mark // 2
    tuples: set[Path] = set()
    top = _Frame((), Mark.ITEM)
    after: list[tuple[_Frame, ...]] = []
    paths: list[Path] = []
    depths: list[int] = []
    for number, (node, origin) in enumerate(zip(nodes, origins.before, strict=True)):
        frames = list(after[origin]) if origin >= 0 else [top]
        for _ in range(closed.get(number, 0)):
            if len(frames) < 2:
                raise Broken("more containers end than have begun")
            frames.pop()
            frames[-1] = frames[-1].then()
        depths.append(len(frames) - 1)
        _read(node.text, frames, begun.get(number, set()), tuples)
        if frames[-1].step is None:
            frames[-1] = frames[-1]._replace(step=Mark.KEY)
        path = _path(frames)
        most_steps -= len(path)
        if most_steps < 0:
            raise Broken("paths are longer than their text allows")
        paths.append(path)
        frames[-1] = frames[-1].then()
        after.append(tuple(frames))
    # Where node 0 is met again, or another node is at the top, the data is more than one value.
    lone = origins.first_once and depths.count(0) == 1
    return _outlined(nodes[0].text if lone else b"", paths, depths)


def _path(frames: list[_Frame]) -> Path:
    """The path of the next value, which stands in the last of ``frames``;
    the first one is the top."""
    path, step = frames[-1]
    return path if len(frames) == 1 or step is None else (*path, step)


def _read(text: bytes, frames: list[_Frame], begun: set[int], tuples: set[Path]) -> None:
    """Go through the ``text`` of a node, and put the containers that begin in it behind ``frames``,
    those that it begins in.

    ``begun``: the numbers of the lists in it that are tuples; ``tuples``: paths of tuples, to which
    theirs are added.
    """
    at = lists = 0
    while at < len(text):
        start = at
        kind, at = _header(text, at)
        frame = frames[-1]
        if frame.step is None:
            if kind != "value":
                raise Broken("a container where a key should be")
            frames[-1] = frame._replace(step=_key(text[start:at]))
            continue
        if kind == "value":
            raise Broken("a value in the text before a value")
        path = _path(frames)
        step: Step | None = None
        if kind == "list":
            if lists in begun:
                tuples.add(path)
            lists += 1
            step = 0 if path in tuples else Mark.ITEM
        frames.append(_Frame(path, step))


def _outlined(lone: bytes, paths: list[Path], depths: list[int]) -> Outline:
    """The outline: records are the values at the top, or where that is one list, its elements.

    ``lone``: the text before the first value, where there is only one value at the top, else empty.
    ``depths``: for each node how many containers its text begins in.
    """
    if not lone or _header(lone, 0)[0] != "list":
        before = [0 if depth == 0 else -1 for depth in depths]
        return Outline(paths, before, before, 0)
    before = [0 if depth == 1 else -1 for depth in depths]
    before[0] = _header(lone, 0)[1]
    # The list is no part of its elements' paths.
    if all(path[0] is Mark.ITEM for path in paths):
        paths = [path[1:] for path in paths]
    return Outline(paths, before, before, 0)
