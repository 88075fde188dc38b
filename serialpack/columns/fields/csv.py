"""The lines of a block of CSV or TSV with only some of their fields, from the columns of these.

Fields are copied with their quotes, and so are line ends with the blank lines behind them. The
header, the first line of the first block, is a line as any other. A line that is shorter than
others lacks the fields at its end. A line without wanted fields, or with a single empty one, is
written as ``""``, for a blank line would be no record. A byte-order mark is part of the first
field.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import put_together
from serialpack.columns.fields.gathered import Gathered
from serialpack.columns.fields.projecting import pairs_of
from serialpack.columns.fields.wanted import UntoldError as UntoldError
from serialpack.columns.parse.csv import CsvFields, fields_of, quoting_of
from serialpack.columns.parse.nodes import SCALAR, STRING
from serialpack.columns.stored.structure import KINDS_OF_TEXT, TextShape
from serialpack.columns.texts import Texts
from serialpack.csv_front import separator_line

_LINE_ENDS = b"\r\n"
_EMPTY = b'""'
#: More fields than any line has.
_MANY = 1 << 30
_ODD = "the quotes of the table do not tell its fields"


class Rows:
    """Some fields of the lines of a block.

    ``shape``: the structure of CSV or TSV. ``wanted``: the places of the fields in a line, from 0;
    ``width``: how many fields the header has.

    Where any field has quotes around it, quotes are as in RFC 4180, and tell which commas divide
    fields. Where none has, there may be other quotes within fields, which hide commas: then each
    line must have ``width`` fields, and no wanted field may have a quote. UntoldError, from the
    constructor or from ``text``, where that is not so. ValueError where it is no table.
    """

    def __init__(self, shape: TextShape, wanted: Collection[int], width: int) -> None:
        if not KINDS_OF_TEXT[shape.text_kind]:
            raise ValueError("not the structure of a table")
        self._shape = shape
        self._wanted = set(wanted)
        self._delimiter = KINDS_OF_TEXT[shape.text_kind]
        self._begins = [b"\n" in node.text for node in shape.nodes]
        self._begins[:1] = [True] * len(shape.nodes[:1])
        pairs = pairs_of(shape.walk, len(shape.nodes)).tolist()
        #: All pairs of a node and one that it comes after in the walk, sorted.
        self._pairs = sorted(divmod(pair, len(shape.nodes))[::-1] for pair in pairs)
        self._index = self._told()
        self._doubtful = all(node.kind != STRING for node in shape.nodes)
        if self._doubtful and self.widths() != {width}:
            raise UntoldError(None, _ODD)
        self._chosen = [index in self._wanted for index in self._index]
        #: The numbers of the columns that ``text`` needs.
        self.columns = {
            node.column for node, chosen in zip(shape.nodes, self._chosen, strict=True) if chosen
        }

    @property
    def count(self) -> int:
        """How many lines there are, the header included, blank ones not."""
        counts = np.bincount(self._shape.walk, minlength=len(self._begins))
        return int(counts[self._begins].sum()) + self._has_head

    def text(self, texts: Callable[[int], Texts]) -> bytes:
        """The lines. ``texts(number)`` gives the values of a needed column. Broken where these are
        not as many as the structure says; UntoldError."""
        shape = self._shape
        begins, chosen = np.array(self._begins, bool), np.array(self._chosen, bool)
        places = np.flatnonzero((begins | chosen).take(shape.walk))
        nodes = shape.walk.take(places)
        columns = [
            node.column if chosen else -1
            for node, chosen in zip(shape.nodes, self._chosen, strict=True)
        ]
        quotes = [
            chosen and node.kind == STRING
            for node, chosen in zip(shape.nodes, self._chosen, strict=True)
        ]
        gathered = Gathered(self._before(), columns, quotes, nodes)
        gathered.put(shape, places, self._without_quotes(texts))
        empty = gathered.bare() & (chosen & ~np.array(quotes, bool)).take(nodes)
        short = min(self.widths(), default=0) <= min(self._wanted, default=_MANY)
        if short or empty.any():
            blank = _blank(begins.take(nodes), chosen.take(nodes), empty)
            gathered.put_again(blank, _EMPTY)
        return gathered.text() + shape.trailer

    def _without_quotes(self, texts: Callable[[int], Texts]) -> Callable[[int], Texts]:
        """``texts``, but with UntoldError for a column with quotes
        in it where these may hide commas."""

        def checked(number: int) -> Texts:
            column = texts(number)
            if self._doubtful and (column.data == b'"'[0]).any():
                raise UntoldError(None, _ODD)
            return column

        return checked

    @property
    def _has_head(self) -> bool:
        """Whether a header stands before the first value, in the text of the first node."""
        nodes = self._shape.nodes
        return bool(nodes) and bool(nodes[0].text.strip(_LINE_ENDS))

    def _told(self) -> list[int]:
        """For each node the place of its field in the line.
        UntoldError where a node has several."""
        nodes = self._shape.nodes
        for number, (node, begins) in enumerate(zip(nodes, self._begins, strict=True)):
            ends = begins and (number == 0 or not node.text.strip(_LINE_ENDS))
            if node.kind not in (STRING, SCALAR) or not (ends or node.text == self._delimiter):
                raise UntoldError(None, "it is no table")
        index = [0] * len(nodes)
        # In the order of nodes: each is first met behind one with a lower number.
        for node, before in self._pairs:
            index[node] = index[node] or (0 if self._begins[node] else index[before] + 1)
        for node, before in self._pairs:
            if index[node] != (0 if self._begins[node] else index[before] + 1):
                raise UntoldError(None, "it is no table")
        return index

    def widths(self) -> set[int]:
        """The numbers of fields that lines have, the header included."""
        ends = {before for node, before in self._pairs if self._begins[node]}
        ends |= set(self._shape.walk[-1:].tolist())
        widths = {self._index[node] + 1 for node in ends}
        if self._has_head:
            _, index = _places(self._shape.nodes[0].text, self._delimiter)
            widths.add(int(index[-1]) + 1)
        return widths

    def _before(self) -> list[bytes]:
        """For each node what is written before its value."""
        found = []
        for number, node in enumerate(self._shape.nodes):
            text = node.text
            if number == 0 and self._has_head:
                text = select(text, self._wanted, self._delimiter)
            elif not self._begins[number] and self._index[number] == min(self._wanted, default=0):
                text = b""
            quote = self._chosen[number] and node.kind == STRING
            found.append(text + b'"' * quote)
        return found


def select(data: bytes, wanted: Collection[int], delimiter: bytes) -> bytes:
    """The lines of a text with only the ``wanted`` fields, as ``Rows`` gives them: for a text that
    was not taken apart. UntoldError where its quotes are not as in RFC 4180.
    """
    if front := separator_line(data):
        return select(data[front:], wanted, delimiter)
    x = np.frombuffer(data, np.uint8)
    if b'"' in data and quoting_of(x, delimiter[0]) is None:
        raise UntoldError(None, _ODD)
    fields, index = _places(data, delimiter)
    if not len(index):
        return data
    chosen = np.isin(index, list(wanted))
    places = np.flatnonzero(chosen | fields.begins)
    chosen = chosen[places]
    # What stands before the first field of a line is the end of the line before.
    before = np.append(0, fields.ends[:-1])[places]
    starts = np.stack((before, fields.starts[places]), axis=1)
    lengths = np.stack((fields.starts[places], fields.ends[places]), axis=1) - starts
    begins = fields.begins[places]
    lengths[~begins & (index[places] == min(wanted, default=0)), 0] = 0
    lengths[~chosen, 1] = 0
    blank = _blank(begins, chosen, lengths[:, 1] == 0)
    starts[blank, 1] = len(data)
    lengths[blank, 1] = len(_EMPTY)
    source = np.append(x, np.frombuffer(_EMPTY, np.uint8))
    text = put_together(source, starts.reshape(-1), lengths.reshape(-1)).tobytes()
    return text + data[int(fields.ends[-1]) :]


def names(data: bytes, delimiter: bytes) -> list[str]:
    """The fields of the first line of a text, as text and without quotes."""
    data = data[separator_line(data) :]
    found = fields_of(np.frombuffer(data, np.uint8), delimiter[0]).first_line(data)
    if found and found[0].startswith(BOM_UTF8):
        # The byte-order mark is part of the field, so quotes behind it are around the name only.
        name = found[0].removeprefix(BOM_UTF8)
        found[0] = name[1:-1] if len(name) > 1 and name[:1] == name[-1:] == b'"' else name
    return [name.replace(b'""', b'"').decode("utf-8", "surrogateescape") for name in found]


def _places(data: bytes, delimiter: bytes) -> tuple[CsvFields, NDArray[np.int64]]:
    """The fields of a text, and for each its place in the line, from 0."""
    fields = fields_of(np.frombuffer(data, np.uint8), delimiter[0])
    places = np.arange(len(fields.begins))
    return fields, places - np.maximum.accumulate(np.where(fields.begins, places, 0))


def _blank(
    begins: NDArray[np.bool_], chosen: NDArray[np.bool_], empty: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The last fields of the lines that would be written as blank ones: with no chosen field, or
    with a single one that is empty. For each field: whether it begins a line, is chosen, is
    empty."""
    line = np.cumsum(begins) - 1
    fields = np.bincount(line, chosen)
    filled = np.bincount(line, chosen & ~empty)
    ends = np.append(np.flatnonzero(begins)[1:], len(begins)) - 1
    found: NDArray[np.int64] = ends[(fields <= 1) & (filled == 0)]
    return found
