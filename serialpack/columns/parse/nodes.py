"""Nodes: the text before a value, the kind of the value, and where it belongs."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Kinds of values, numbers for ever. A string's quotes are no part of its text; from ``NULL`` to
#: ``EMPTY_MAP`` the kind says all; ``KEY`` is a string that is a key; ``RAW`` any value of
#: MessagePack, as its bytes.
STRING, SCALAR, NULL, TRUE, FALSE, EMPTY_LIST, EMPTY_MAP, KEY, RAW = range(9)
FIXED = {NULL: b"null", TRUE: b"true", FALSE: b"false", EMPTY_LIST: b"[]", EMPTY_MAP: b"{}"}
#: The bytes in MessagePack of values of which the kind says all.
PACKED = {NULL: b"\xc0", TRUE: b"\xc3", FALSE: b"\xc2", EMPTY_LIST: b"\x90", EMPTY_MAP: b"\x80"}
QUOTED = (STRING, KEY)


class Mark(Enum):
    """Steps of a path that are neither a key nor an index."""

    ITEM = "[]"
    """Any element of a list."""
    KEY = "{key}"
    """The keys of a map whose keys are data."""
    VALUE = "{}"
    """Their values."""
    MIXED = "*"
    """Whatever: the path of a column whose values belong to several paths."""


#: A key (as it is spelled, without its quotes), an index, or a mark.
Step = bytes | int | Mark
Path = tuple[Step, ...]


class Node(NamedTuple):
    """A state of the walk through the values of a text.

    ``text``: what stands before the value, from the value before it (closing quote excluded) on.
    ``column``: the number of the column of values it belongs to; -1 where the kind says all.
    """

    text: bytes
    kind: int
    column: int = -1


class Outline(NamedTuple):
    """What a walk means, which is not needed to make the text again.

    ``paths``: where the value of each node belongs, from the record on. ``before`` and
    ``behind``: where in each node's text one record ends and the next one begins, -1 where none
    does. The last record ends at ``stop`` in the trailer.
    """

    paths: list[Path]
    before: list[int]
    behind: list[int]
    stop: int


class Walked(NamedTuple):
    """A text as a walk through nodes, which are numbered as they are first met.

    ``starts``, ``ends``: where in the text each value stands (nothing for those whose kind says
    all). ``trailer``: the text behind the last value and its quote. ``tuples``: see ``outline``
    of JSON and of MessagePack. ``source``: the bytes that values stand in, if not the text.
    """

    nodes: list[Node]
    walk: NDArray[np.int32]
    starts: NDArray[np.signedinteger[Any]]
    ends: NDArray[np.signedinteger[Any]]
    trailer: bytes
    tuples: list[tuple[int, int]]
    source: NDArray[np.uint8] | None = None


class Origins(NamedTuple):
    """How a walk meets its nodes: for each the node before it when it is met first, -1 for the
    first one; the last node; and whether the first node is met only once, and there are others.
    """

    before: list[int]
    last: int
    first_once: bool


#: The most nodes of a walk that may pay: so many for each value, and so many more.
_MOST_NODES = 0.34
_FREE_NODES = 256


def worth_while(nodes: int, values: int) -> bool:
    """Whether a text of so many ``values`` may have so many nodes and still be worth a try."""
    return nodes <= _FREE_NODES + values * _MOST_NODES
