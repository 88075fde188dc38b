"""What the walks through all formats are made of: nodes, kinds of values, paths, outlines."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The kinds of values; stored, and so the same for ever. A ``STRING`` is without its quotes; a
#: ``SCALAR`` is a number, or whatever else stands without quotes. From ``NULL`` to ``EMPTY_MAP``
#: the kind says all of the value, which stands in no column. ``KEY`` is a key that is data; ``RAW``
#: is a value of MessagePack, as its bytes.
STRING, SCALAR, NULL, TRUE, FALSE, EMPTY_LIST, EMPTY_MAP, KEY, RAW = range(9)

#: The text, in JSON, of each value of which the kind says all.
FIXED = {NULL: b"null", TRUE: b"true", FALSE: b"false", EMPTY_LIST: b"[]", EMPTY_MAP: b"{}"}
#: The same in MessagePack.
PACKED = {NULL: b"\xc0", TRUE: b"\xc3", FALSE: b"\xc2", EMPTY_LIST: b"\x90", EMPTY_MAP: b"\x80"}

#: The kinds of values that have quotes around them in JSON and CSV.
QUOTED = (STRING, KEY)


class Mark(Enum):
    """The steps of a path that are neither a key nor an index."""

    ITEM = "[]"
    """Any element of a list."""
    KEY = "{key}"
    """The keys of a map, where these are data."""
    VALUE = "{}"
    """The values of such a map."""
    MIXED = "*"
    """The whole path of a column whose values belong to several paths."""


#: So many elements of a tuple have places of their own; all behind them share one.
PLACES = 64

#: A key (as it is spelled, without its quotes), an index, or a mark.
Step = bytes | int | Mark
Path = tuple[Step, ...]


class Node(NamedTuple):
    """A gap, and the place of the value behind it: a state of the walk through a text.

    ``text``: the gap, from behind the value before it (and behind its quote) up to the value (and
    its quote). ``kind``: that of the value. ``column``: the number of the column that the value
    stands in; -1 where the kind says all.
    """

    text: bytes
    kind: int
    column: int = -1


class Outline(NamedTuple):
    """Where the values of a walk belong, and where records begin. Not needed to restore the text.

    ``paths``: for each node the path of its value within the record. ``before``, ``behind``: for
    each node where in its text a record ends, and where the next one begins; -1 where none does.
    The last record ends at ``stop`` in the trailer.
    """

    paths: list[Path]
    before: list[int]
    behind: list[int]
    stop: int


class Walked(NamedTuple):
    """A text as a walk through nodes, which have numbers in the order in which they are met.

    ``walk``: for each value the number of its node; ``starts``, ``ends``: where it stands in the
    text (a piece of no bytes for those of which the kind says all). ``trailer``: the text behind
    the last value and its quote. ``tuples``: what else the outline is made of, pairs of numbers;
    see ``outline`` in ``json_paths`` and in ``msgpack_paths``. ``source``: the bytes that values
    stand in, where these are not the text.
    """

    nodes: list[Node]
    walk: NDArray[np.int32]
    starts: NDArray[np.signedinteger[Any]]
    ends: NDArray[np.signedinteger[Any]]
    trailer: bytes
    tuples: list[tuple[int, int]]
    source: NDArray[np.uint8] | None = None


class Origins(NamedTuple):
    """How a walk comes to its nodes, which is all that an outline needs to know of it.

    ``before``: for each node the one before it, when it is first met; -1 for node 0. ``last``: the
    last node of the walk. ``first_once``: whether node 0 is met only once, and is not the only one.
    """

    before: list[int]
    last: int
    first_once: bool


#: A walk may pay with at most ``_FREE_NODES`` nodes, and ``_MOST_NODES`` more for each value.
_MOST_NODES = 0.34
_FREE_NODES = 256


def worth_while(nodes: int, values: int) -> bool:
    """Whether columns may pay for a text with so many ``nodes`` for so many ``values``."""
    return nodes <= _FREE_NODES + values * _MOST_NODES
