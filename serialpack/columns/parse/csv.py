"""CSV and TSV text as a walk from field to field: each field is a value.

Quotes are those of RFC 4180: around a whole field, doubled inside. Where not all quotes of a text
are like that, all are taken as ordinary characters. ``formats.csv`` says why this is not
``formats.csv.tokens``, and what test holds the two to the same fields.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import Bytes, Positions
from serialpack.columns.bulk.numbering import PADDING, numbered, tell_apart
from serialpack.columns.parse.nodes import (
    SCALAR,
    STRING,
    Node,
    Origins,
    Outline,
    Path,
    Walked,
    worth_while,
)
from serialpack.csv_front import separator_line

_QUOTE, _NEWLINE, _RETURN = b'"\n\r'

#: A text with more fields in a line is taken for no table.
_MOST_FIELDS = 1 << 14

#: Numbers of the gap before a field. From ``_OTHER`` on they stand for other texts: with blank
#: lines, or with the header.
_NOTHING, _DELIMITER, _LINE_FEED, _LINE_END, _OTHER = range(5)

#: What begins like a number.
_NUMBER = re.compile(rb"[-+.]?[0-9]")


class CsvFields(NamedTuple):
    """The fields of a text, in order; blank lines have none.

    ``starts``, ``ends``: where each stands, with its quotes; ``quoted``: whether it has quotes
    around it; ``begins``: whether it is the first of its line.
    """

    starts: Positions
    ends: Positions
    quoted: NDArray[np.bool_]
    begins: NDArray[np.bool_]

    def part(self, which: slice | NDArray[np.bool_]) -> CsvFields:
        """Some of the fields."""
        return CsvFields(
            self.starts[which], self.ends[which], self.quoted[which], self.begins[which]
        )

    def first_line(self, data: bytes) -> list[bytes]:
        """The fields of the first line, without their quotes."""
        places = np.flatnonzero(self.begins[: _MOST_FIELDS + 1])
        some = self.part(slice(int(places[1]) if len(places) > 1 else _MOST_FIELDS))
        starts, ends = some.starts + some.quoted, some.ends - some.quoted
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [data[start:end] for start, end in spans]


def quoting_of(x: Bytes, delimiter: int) -> tuple[Positions, Positions] | None:
    """Where the quotes that open quoted fields stand in the text ``x``, and where those that close
    them do; None where there are no quotes, or not all are as in RFC 4180."""
    quotes = np.flatnonzero(x == _QUOTE).astype(np.int32)
    if not len(quotes) or len(quotes) & 1:
        return None
    opens, closes = quotes[0::2], quotes[1::2]
    # A quote that closes and one that opens again right behind it are a doubled one.
    apart = opens[1:] != closes[:-1] + 1
    opens, closes = opens[np.append(True, apart)], closes[np.append(apart, True)]
    may_stand_beside = np.zeros(256, bool)
    may_stand_beside[[delimiter, _NEWLINE, _RETURN]] = True
    begin = len(BOM_UTF8) if x[: len(BOM_UTF8)].tobytes() == BOM_UTF8 else 0
    before = x[opens[opens > begin] - 1]
    behind = x[closes[closes < len(x) - 1] + 1]
    if may_stand_beside[before].all() and may_stand_beside[behind].all():
        return opens, closes
    return None


def fields_of(x: Bytes, delimiter: int) -> CsvFields:
    """The fields of the text ``x``, with the byte ``delimiter`` between them."""
    marks = x == delimiter
    marks |= x == _NEWLINE
    quoting = quoting_of(x, delimiter)
    if quoting is not None:
        edges = np.stack(quoting, axis=1).reshape(-1)
        outside = np.ones(len(edges) + 1, bool)
        outside[1::2] = False
        ends = np.append(edges, np.int32(len(x)))
        marks &= np.repeat(outside, np.diff(ends, prepend=np.int32(0)))
        del edges, outside
    ends = np.flatnonzero(marks).astype(np.int32)
    if len(x) and not (marks[-1] and x[-1] == _NEWLINE):
        ends = np.append(ends, np.int32(len(x)))
    del marks
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    begins = np.ones(len(ends), bool)
    begins[1:] = x[ends[:-1]] == _NEWLINE
    last = np.append(begins[1:], True)[: len(ends)]
    returns = np.flatnonzero(last & (ends > starts))
    returns = returns[x[ends[returns] - 1] == _RETURN]
    ends[returns] -= 1
    quoted = np.zeros(len(ends), bool)
    if quoting is not None:
        quoted[np.searchsorted(ends, quoting[0])] = True
        # Behind a quote that closes may stand a lone carriage return and more.
        places = np.flatnonzero(quoted)
        quoted[places] = (x[starts[places]] == _QUOTE) & (x[ends[places] - 1] == _QUOTE)
        quoted &= ends - starts >= 2
    found = CsvFields(starts, ends, quoted, begins)
    blank = begins & last & (ends == starts)
    return found.part(~blank) if blank.any() else found


def _are_names(fields: list[bytes]) -> bool:
    """Whether ``fields`` may name columns: none is empty, a number, or there twice."""
    return len(set(fields)) == len(fields) and not any(
        not field or _NUMBER.match(field) for field in fields
    )


def split(data: bytes, delimiter: bytes = b",") -> Walked | None:
    """The walk through ``data``; None where it is no table, or has too many different nodes.

    A first line that may be names of columns has no values: it is the gap before the first field.
    """
    x = np.frombuffer(data, np.uint8)
    fields = fields_of(x, delimiter[0])
    if front := separator_line(data):
        fields = fields.part(fields.starts >= front)
    if len(fields.starts):
        names = fields.first_line(data)
        if len(names) < len(fields.begins) and not fields.begins[len(names)]:
            return None  # the first line goes on behind these names
        if _are_names(names):
            fields = fields.part(slice(len(names), None))
    if not len(fields.starts):
        return None
    starts, ends, quoted, begins = fields
    lines = np.flatnonzero(begins).astype(np.int32)
    index = np.arange(len(starts), dtype=np.int32)
    index -= np.repeat(lines, np.diff(lines, append=np.int32(len(starts))))
    del lines
    if int(index.max()) >= _MOST_FIELDS:
        return None
    before, texts = _gaps(x, fields, delimiter)
    codes = index.astype(np.int64) if _MOST_FIELDS * 2 * len(texts) >> 31 else index
    codes *= 2
    codes += quoted
    codes *= len(texts)
    codes += before
    walk, firsts = numbered(codes)
    del index, codes
    if not worth_while(len(firsts), len(walk)):
        return None
    nodes = [
        Node(texts[before[first]], STRING if quoted[first] else SCALAR) for first in firsts.tolist()
    ]
    return Walked(nodes, walk, starts + quoted, ends - quoted, data[int(ends[-1]) :], [])


def _gaps(x: Bytes, fields: CsvFields, delimiter: bytes) -> tuple[NDArray[np.int32], list[bytes]]:
    """The number of the gap before each field, and the texts of gaps by their numbers."""
    starts, ends, _, begins = fields
    sizes = starts[1:] - ends[:-1]
    numbers = np.full(len(starts), _OTHER, np.int32)
    numbers[1:][begins[1:] & (sizes == 1)] = _LINE_FEED
    numbers[1:][begins[1:] & (sizes == 2)] = _LINE_END
    numbers[~begins] = _DELIMITER
    numbers[0] = _OTHER if starts[0] else _NOTHING
    pairs = np.flatnonzero(numbers == _LINE_END)
    # Two blank lines are of two characters as well.
    numbers[pairs[x[ends[pairs - 1]] != _RETURN]] = _OTHER
    texts = [b"", delimiter, b"\n", b"\r\n"]
    others = np.flatnonzero(numbers == _OTHER)
    if len(others):
        behind = np.where(others, ends[others - 1], 0)
        padded = np.append(x, np.zeros(PADDING, np.uint8))
        kinds = np.zeros(len(others), np.uint8)
        number, firsts = tell_apart(padded, behind, starts[others] - behind, kinds)
        numbers[others] += number
        texts += [x[behind[first] : starts[others[first]]].tobytes() for first in firsts.tolist()]
    return numbers, texts


def outline(nodes: Sequence[Node], origins: Origins, delimiter: bytes = b",") -> Outline:
    """The outline of a table: a path is the name of a column, or where it has none its place from
    0.

    ``nodes``, ``origins``: of the walk.
    """
    names: list[bytes] = []
    if nodes and nodes[0].text.strip(b"\r\n"):
        text = nodes[0].text[separator_line(nodes[0].text) :]
        names = fields_of(np.frombuffer(text, np.uint8), delimiter[0]).first_line(text)
        if len(set(names)) != len(names):
            names = []
    index: list[int] = []
    behind: list[int] = []
    for node, origin in zip(nodes, origins.before, strict=True):
        begins = origin < 0 or b"\n" in node.text
        index.append(0 if begins else index[origin] + 1)
        behind.append(len(node.text) if begins else -1)
    before = [min(at, 0) for at in behind]
    before[:1] = behind[:1]
    paths: list[Path] = [(names[at] if at < len(names) else at,) for at in index]
    return Outline(paths, before, behind, 0)
