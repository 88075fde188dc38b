"""The structure of a text: everything but the values of its columns. As an object, and as bytes.

The layout of the bytes is in man/spk-columns.5, STRUCTURE. What is called a mark there is one of
``tuples`` here: in JSON it says that a list is a tuple; in MessagePack that, or how many containers
have ended.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.numbering import count_each
from serialpack.columns.parse import csv as csv_shape
from serialpack.columns.parse import json_paths, msgpack_paths
from serialpack.columns.parse.nodes import (
    FIXED,
    KEY,
    PACKED,
    QUOTED,
    RAW,
    SCALAR,
    STRING,
    Mark,
    Node,
    Origins,
    Outline,
    Path,
)
from serialpack.columns.stored import walk as _walk
from serialpack.columns.stored.streams import effort, unzstd, zstd
from serialpack.columns.stored.wire import WireReader, counted, varints
from serialpack.columns.texts import Broken, Unknown

_VERSION = 1

#: The kinds of text, each with its delimiter where it is a table, else none. Their places here are
#: stored, and so the same for ever. A format says its kind in ``Declaration.columns``.
KINDS_OF_TEXT = {
    "json": b"",
    "csv": b",",
    "tsv": b"\t",
    "msgpack": b"",
    "csv:semicolon": b";",
    "csv:pipe": b"|",
}
_KINDS_OF_TEXT = tuple(KINDS_OF_TEXT)

#: A table of nodes of up to so many bytes is compressed at level 19. And what limits on the sizes
#: of stored bytes allow for texts however small.
_SMALL = 1 << 16

#: Columns of fewer than ``_TINY_COLUMN`` values become one column of each kind. Where
#: ``_MANY_COLUMNS`` have fewer than ``_SMALL_COLUMN``, all of these do: mostly they hold what
#: others hold too.
_SMALL_COLUMN = 64
_TINY_COLUMN = 16
_MANY_COLUMNS = 32

#: How many values of the walk are looked at at a time.
_STEP = 1 << 20

#: The text of a node, and the kind behind it, which ends it.
_ENDED = re.compile(rb"([^\x00-\x08]*+)([\x00-\x08])")


class Column(NamedTuple):
    """The path and the kind of a column's values."""

    path: Path
    kind: int


class TextShape:
    """The structure of a text. What follows from its parts is worked out at the first use.

    ``text_kind``: one of ``KINDS_OF_TEXT``. ``walk``: for each value of the text the number of its
    node, in order. ``trailer``: the text behind the last value and its quote. ``tuples``: see
    ``outline`` in ``json_paths`` and in ``msgpack_paths``.
    """

    def __init__(
        self,
        text_kind: str,
        nodes: list[Node],
        walk: NDArray[np.integer[Any]],
        trailer: bytes,
        tuples: list[tuple[int, int]],
    ) -> None:
        self.text_kind = text_kind
        self.nodes = nodes
        self.walk = walk
        self.trailer = trailer
        self.tuples = tuples
        #: For each node the number of its column; -1 where its kind says all of the value.
        self.column_of = np.array([node.column for node in nodes], np.int32)

    @cached_property
    def visits(self) -> NDArray[np.int64]:
        """How often the walk comes to each node."""
        return count_each(self.walk, len(self.nodes))

    @cached_property
    def numbers(self) -> list[int]:
        """How many values each column has."""
        some = self.column_of >= 0
        found = np.bincount(self.column_of[some], self.visits[some])
        return [int(number) for number in found]

    @property
    def size(self) -> int:
        """How many bytes the text has without the values of its columns."""
        sizes = np.array(
            [len(node.text) + self._size_around(node.kind) for node in self.nodes], np.int64
        )
        return int((self.visits * sizes).sum()) + len(self.trailer)

    def _size_around(self, kind: int) -> int:
        """The bytes that a value of this kind takes beside what its column holds: the least that
        its length takes in MessagePack; quotes; or all of it."""
        if self.text_kind == "msgpack":
            return int(kind in PACKED or kind == STRING)
        return len(FIXED[kind]) if kind in FIXED else 2 * (kind in QUOTED)

    @cached_property
    def outline(self) -> Outline:
        """The paths of values, and where records begin. Broken where the walk can have none."""
        return outline(self.text_kind, self.nodes, _origins(self.walk), self.trailer, self.tuples)

    @property
    def columns(self) -> list[Column]:
        """The columns, by their numbers; the path of one whose values
        have several paths is ``MIXED``."""
        found: dict[int, Column] = {}
        belong = _belong(self.text_kind, self.nodes, self.outline.paths)
        for node, column in zip(self.nodes, belong, strict=True):
            if found.setdefault(node.column, column) != column:
                found[node.column] = column._replace(path=(Mark.MIXED,))
        return [found[number] for number in range(len(self.numbers))]

    def record_start(self, record: int) -> int:
        """The index of the first value of a record; for the one behind the last the number of
        values."""
        begins = self._begins
        for first in range(0, len(self.walk), _STEP):
            found = begins.take(self.walk[first : first + _STEP])
            count = int(np.count_nonzero(found))
            if record < count:
                return first + int(np.flatnonzero(found)[record])
            record -= count
        return len(self.walk)

    @property
    def _begins(self) -> NDArray[np.bool_]:
        """For each node whether a record begins in its text."""
        return np.array(self.outline.behind, np.int64) >= 0

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.visits[self._begins].sum())


def outline(
    text_kind: str,
    nodes: list[Node],
    origins: Origins,
    trailer: bytes,
    tuples: list[tuple[int, int]],
) -> Outline:
    """The outline of a walk through ``nodes``, in any kind of text. Broken where paths are longer
    than the texts of nodes allow: stored bytes must not ask for more memory than that."""
    if text_kind in ("json", "msgpack"):
        most_steps = 64 * sum(len(node.text) for node in nodes) + _SMALL
        if text_kind == "msgpack":
            return msgpack_paths.outline(nodes, origins, tuples, most_steps)
        return json_paths.outline(nodes, origins, trailer, tuples, most_steps)
    return csv_shape.outline(nodes, origins, KINDS_OF_TEXT[text_kind])


def _firsts(walk: NDArray[np.integer[Any]], number: int) -> NDArray[np.int64]:
    """For each of ``number`` nodes where in the walk it is first met, given that nodes have numbers
    in the order in which they are met."""
    return np.searchsorted(np.maximum.accumulate(walk), np.arange(number, dtype=walk.dtype))


def _origins(walk: NDArray[np.integer[Any]]) -> Origins:
    """How ``walk`` comes to its nodes."""
    number = int(walk.max()) + 1 if len(walk) else 0
    firsts = _firsts(walk, number)
    before = [-1, *walk[firsts[1:] - 1].tolist()][:number]
    once = number > 1 and int(np.count_nonzero(walk == 0)) == 1
    return Origins(before, int(walk[-1]) if number else 0, once)


def _belong(text_kind: str, nodes: list[Node], paths: list[Path]) -> list[Column]:
    """For each node the path and the kind that its value's column would have."""
    if text_kind in ("json", "msgpack"):
        return [Column(path, node.kind) for node, path in zip(nodes, paths, strict=True)]
    # Whether a field of a table has quotes depends on what it holds: both stand in one column.
    return [Column(path, SCALAR) for path in paths]


def shape_of(
    text_kind: str,
    nodes: list[Node],
    walk: NDArray[np.integer[Any]],
    trailer: bytes,
    tuples: list[tuple[int, int]],
) -> TextShape:
    """The structure of a walk, whose ``nodes`` are given their columns: values of one path and one
    kind are a column, but columns of few values are put together. Broken where it has no outline.
    """
    found = outline(text_kind, nodes, _origins(walk), trailer, tuples)
    belong = _belong(text_kind, nodes, found.paths)
    visits = count_each(walk, len(nodes))
    counts = visits.tolist()
    sizes: dict[Column, int] = {}
    for column, count in zip(belong, counts, strict=True):
        if column.kind not in FIXED:
            sizes[column] = sizes.get(column, 0) + count
    small = sum(size < _SMALL_COLUMN for size in sizes.values())
    least = _SMALL_COLUMN if small >= _MANY_COLUMNS else _TINY_COLUMN
    numbers: dict[Column, int] = {}
    placed = []
    for node, column in zip(nodes, belong, strict=True):
        number = -1
        if column in sizes:
            shared = column if sizes[column] >= least else Column((Mark.MIXED,), column.kind)
            number = numbers.setdefault(shared, len(numbers))
        placed.append(node._replace(column=number))
    shape = TextShape(text_kind, placed, walk, trailer, tuples)
    shape.outline = found
    shape.visits = visits
    return shape


def write(shape: TextShape, level: int) -> bytes:
    """``shape`` as bytes, for ``read``. ``level``: the effort to make them few, from 1 to 9."""
    use = effort(level)
    follows, decisions = _walk.write(shape.walk, len(shape.nodes), use)
    table = _table(shape, follows)
    packed = zstd(table, 19 if len(table) <= _SMALL else max(use.text, 6))
    if len(packed) >= len(table):
        packed = table
    sizes = (len(shape.walk), len(shape.nodes), len(shape.trailer), len(table))
    head = bytes([_VERSION, _KINDS_OF_TEXT.index(shape.text_kind)]) + varints(sizes)
    return head + counted(packed) + decisions


def _table(shape: TextShape, follows: bytes) -> bytes:
    """The part that is compressed as a whole: nodes, columns, tuples, what follows each node
    (``follows``), trailer."""
    nodes = shape.nodes
    back: list[int] = []
    columns = 0
    for node in nodes:
        if node.kind not in FIXED:
            back.append(columns - node.column)
            columns += node.column == columns
    tuples = [len(shape.tuples)]
    before = 0
    for number, bracket in shape.tuples:
        tuples += (number - before, bracket)
        before = number
    texts = [b"%b%c" % (node.text, node.kind) for node in nodes]
    if all(map(_ENDED.fullmatch, texts)):
        texts.insert(0, b"\0")
    else:
        texts = [b"%c%b" % (node.kind, counted(node.text)) for node in nodes]
        texts.insert(0, b"\1")
    return b"".join((*texts, varints(back), varints(tuples), follows, shape.trailer))


def read(data: bytes, limit: int) -> TextShape:
    """The structure of which ``write`` made ``data``.
    ``limit``: the most bytes that its text may have. Broken, Unknown."""
    reader = WireReader(data)
    if reader.byte() != _VERSION:
        raise Unknown("a structure of another version")
    text_kind = reader.byte()
    if text_kind >= len(_KINDS_OF_TEXT):
        raise Unknown("a structure of an unknown kind of text")
    values = reader.varint(limit + 1)
    number = reader.varint(values)
    trailer_size = reader.varint(limit)
    # Each value, each node and each different pair of nodes adds only a few bytes to the table.
    size = reader.varint(16 * limit + _SMALL)
    packed = reader.counted()
    table = WireReader(packed if len(packed) == size else unzstd(packed, size))
    nodes = _read_nodes(table, number)
    if not _may_stand(_KINDS_OF_TEXT[text_kind], nodes):
        raise Broken("a value of a kind that its text has not")
    marked = _KINDS_OF_TEXT[text_kind] == "msgpack"
    count = table.varint(number + limit if marked else number)
    tuples = []
    before = 0
    for _ in range(count):
        before += table.varint(max(number - 1 - before, 0))
        tuples.append((before, table.varint(2 * limit + 1 if marked else limit)))
    walk = _walk.read(table, reader, number, values) if values else np.zeros(0, np.int32)
    trailer = table.take(trailer_size)
    table.end()
    reader.end()
    if len(walk) != values:
        raise Broken("the walk has another length than promised")
    if not _is_ordered(walk, number):
        raise Broken("nodes are not in the order in which they are met")
    shape = TextShape(_KINDS_OF_TEXT[text_kind], nodes, walk, trailer, tuples)
    if shape.size > limit:
        raise Broken("the structure is larger than the text it is of")
    return shape


def _read_nodes(table: WireReader, number: int) -> list[Node]:
    """The ``number`` nodes at the start of the table, with their columns. Broken."""
    nodes = []
    ended = table.byte() == 0
    for _ in range(number):
        if ended:
            match = _ENDED.match(table.data, table.position)
            if match is None:
                raise Broken("the text of a node has no end")
            text, kind = match[1], match[2][0]
            table.position = match.end()
        else:
            kind, text = table.byte(), table.counted()
        nodes.append(Node(text, kind))
    columns = 0
    for place, node in enumerate(nodes):
        if node.kind > RAW:
            raise Broken("a value of an unknown kind")
        if node.kind not in FIXED:
            column = columns - table.varint(columns)
            nodes[place] = node._replace(column=column)
            columns += column == columns
    return nodes


def _may_stand(text_kind: str, nodes: list[Node]) -> bool:
    """Whether values of these kinds may occur in such a text; and in MessagePack, whether all
    values of a column have one kind, by which their bytes are made."""
    if text_kind != "msgpack":
        return all(node.kind != RAW for node in nodes)
    kinds: dict[int, int] = {}
    return all(
        node.kind != KEY
        and (node.kind in PACKED or kinds.setdefault(node.column, node.kind) == node.kind)
        for node in nodes
    )


def _is_ordered(walk: NDArray[np.integer[Any]], number: int) -> bool:
    """Whether the walk comes to all ``number`` nodes,
    and they have numbers in the order in which they are met."""
    if not len(walk) or int(walk.max()) != number - 1:
        return not number and not len(walk)
    return bool((walk[_firsts(walk, number)] == np.arange(number)).all())
