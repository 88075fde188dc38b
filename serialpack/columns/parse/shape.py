"""Takes a text apart into its structure and columns, and puts it together, in any format.

Any text has a walk through some nodes, and is nothing but the texts of these with the values
between them. So it comes back however it is spelled: nothing of its style has to be known.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import put_together
from serialpack.columns.bulk.numbering import count_each
from serialpack.columns.parse import csv as csv_shape
from serialpack.columns.parse import json as json_shape
from serialpack.columns.parse import msgpack as msgpack_shape
from serialpack.columns.parse import msgpack_numbers
from serialpack.columns.parse.nodes import FIXED, PACKED, QUOTED
from serialpack.columns.stored.structure import KINDS_OF_TEXT, TextShape, shape_of
from serialpack.columns.texts import Broken, Texts

#: Longer texts are not taken apart.
_LARGEST = 1 << 30

#: How many values are put together at a time: few enough for the processor's cache, but for each
#: column at least so many.
_STEP = 1 << 14
_STEP_FOR_COLUMN = 256


class Split(NamedTuple):
    """A text, split into its structure and the values of its columns."""

    shape: TextShape
    columns: list[Texts]


def split(data: bytes, kind: str) -> Split | None:
    """``data`` as structure and columns; None where it has no structure, or none that would pay.

    ``kind``: of text, one of ``KINDS_OF_TEXT``. It may begin and end anywhere between two records,
    and also within one.
    """
    if len(data) > _LARGEST:
        return None
    if kind == "json":
        walked = json_shape.split(data)
    elif kind == "msgpack":
        walked = msgpack_shape.split(data)
    else:
        walked = csv_shape.split(data, KINDS_OF_TEXT[kind])
    if walked is None:
        return None
    try:
        shape = shape_of(kind, walked.nodes, walked.walk, walked.trailer, walked.tuples)
    except Broken:
        return None
    order, counts = _by_column(shape, shape.walk)
    source = np.frombuffer(data, np.uint8) if walked.source is None else walked.source
    columns = []
    for values in np.split(order, np.cumsum(counts)[:-1]):
        starts = walked.starts[values]
        lengths = walked.ends[values] - starts
        ends = np.cumsum(lengths, dtype=np.int64)
        columns.append(Texts(put_together(source, starts, lengths, ends), ends))
    return Split(shape, columns if len(counts) else [])


def _by_column(
    shape: TextShape, walk: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices of the values of ``walk``, column by column; and how many each column has."""
    number = len(shape.numbers)
    # NumPy sorts 16-bit integers faster, by radix.
    kind = np.uint8 if number < 255 else np.uint16 if number < 65535 else np.uint32
    keys = (shape.column_of + 1).astype(kind).take(walk)
    counts = np.bincount(keys, minlength=number + 1)
    return np.argsort(keys, kind="stable")[counts[0] :], counts[1:]


def join(
    shape: TextShape, columns: list[Texts], start: int | None = None, stop: int | None = None
) -> bytes:
    """The text that was split; or with ``start`` and ``stop`` that of records ``start`` to
    ``stop`` - 1, with nothing before the first and behind the last of them.

    Broken where the columns are not those of ``shape``, IndexError where there are no such records.
    """
    if [column.number for column in columns] != shape.numbers:
        raise Broken("columns are not of the length that the structure says")
    if start is None and stop is None:
        first, last = 0, len(shape.walk)
    else:
        start = 0 if start is None else start
        stop = shape.records if stop is None else stop
        if not 0 <= start < stop <= shape.records:
            raise IndexError("no such records")
        first = shape.record_start(start)
        last = shape.record_start(stop)
    if start is None or stop is None:
        return _join(shape, columns, first, last, shape.trailer)
    text = _join(shape, columns, first, last)
    outline = shape.outline
    if last < len(shape.walk):
        node = int(shape.walk[last])
        end = shape.nodes[node].text[: outline.before[node]]
    else:
        end = shape.trailer[: outline.stop]
    return text[outline.behind[shape.walk[first]] :] + end


def _stored(shape: TextShape, columns: list[Texts]) -> list[Texts]:
    """The columns of MessagePack with each value as its bytes,
    lengths included, and not as text."""
    kinds = {node.column: node.kind for node in shape.nodes}
    return [msgpack_numbers.stored(kinds[number], texts) for number, texts in enumerate(columns)]


def _node_texts(shape: TextShape, quoted: NDArray[np.bool_], fixed: dict[int, bytes]) -> Texts:
    """For each node all that stands between two values of columns: the quote that closes the value
    before (the caller leaves it out where that has none), the text of the node, and the quote that
    opens its value, or that value itself where the kind says it all (``fixed``).
    """
    return Texts.from_list(
        [
            b'"%b%b' % (node.text, fixed.get(node.kind, b'"' if quote else b""))
            for node, quote in zip(shape.nodes, quoted.tolist(), strict=True)
        ]
    )


def _join(
    shape: TextShape, columns: list[Texts], first: int, last: int, trailer: bytes = b""
) -> bytes:
    """The text of the values ``first`` to ``last`` - 1 of the walk, the gap before each included,
    and ``trailer`` behind them.

    Node texts and columns are put into one array (``source``), out of which pieces are copied: for
    each value of the walk two, the text of its node and the value.
    """
    packed = shape.text_kind == "msgpack"
    if packed:
        columns = _stored(shape, columns)
    quoted = np.array([node.kind in QUOTED and not packed for node in shape.nodes], bool)
    texts = _node_texts(shape, quoted, PACKED if packed else FIXED)
    text_starts, text_lengths = texts.starts, texts.lengths
    pool = [texts, *columns]
    source = np.concatenate([part.data for part in pool])
    bases = np.cumsum([0, *(len(part.data) for part in pool)]).tolist()
    done = _values_before(shape, first, len(columns))
    out = BytesIO()
    closes = False
    step = max(_STEP, _STEP_FOR_COLUMN * len(columns))
    for begin in range(first, last, step):
        # NumPy indexes the fastest with integers of its own default type.
        walk = shape.walk[begin : min(begin + step, last)].astype(np.int64)
        starts = np.zeros((len(walk), 2), np.int64)
        lengths = np.zeros((len(walk), 2), np.int64)
        quotes = quoted[walk]
        no_quote = np.empty(len(walk), bool)
        no_quote[0] = not closes
        np.logical_not(quotes[:-1], out=no_quote[1:])
        np.add(text_starts[walk], no_quote, out=starts[:, 0])
        np.subtract(text_lengths[walk], no_quote, out=lengths[:, 0])
        closes = bool(quotes[-1])
        order, counts = _by_column(shape, walk)
        at = 0
        for number in np.flatnonzero(counts).tolist():
            some = order[at : at + int(counts[number])]
            at += len(some)
            sizes, begins = _spans(columns[number], int(done[number]), len(some))
            begins += bases[number + 1]
            lengths[some, 1] = sizes
            starts[some, 1] = begins
        done += counts
        out.write(put_together(source, starts.reshape(-1), lengths.reshape(-1)).data)
    out.write(b'"' if closes else b"")
    out.write(trailer)
    return out.getvalue()


def _values_before(shape: TextShape, first: int, columns: int) -> NDArray[np.int64]:
    """How many values of each of ``columns`` columns stand before the value ``first`` of the
    walk."""
    done = np.zeros(columns, np.int64)
    if first:
        visits = count_each(shape.walk[:first], len(shape.nodes))
        kept = shape.column_of >= 0
        done += np.bincount(shape.column_of[kept], visits[kept], columns).astype(np.int64)
    return done


def _spans(column: Texts, first: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How long ``count`` values of a column are from the value ``first`` on, and where in its data
    each of them begins."""
    ends = column.ends_of(first, first + count)
    sizes = ends.copy()
    sizes[1:] -= ends[:-1]
    if first:
        sizes[:1] -= column.ends_of(first - 1, first)
    return sizes, ends - sizes
