"""Plain: the values one after another, for a codec to find what repeats in them.

0, v: all values have this length; a stream of the values, if there are bytes
1: a stream of the values with a line feed behind each, if there are values
2, numbers: their lengths; a stream of the values, if there are bytes
"""

from __future__ import annotations

import numpy as np

from serialpack.columns.bulk.pieces import common_length, separated, split
from serialpack.columns.encodings.numbers import read_numbers, write_numbers
from serialpack.columns.stored.coding import Coded, Context, Fit, head
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.streams import bytes_stream
from serialpack.columns.texts import Broken, Texts

NUMBER = 0

#: What tells where values end (the first byte of the layout): their one length, a line feed behind
#: each, or their lengths.
_WIDTH, _LINES, _LENGTHS = range(3)

_LINE_FEED = 10

#: Values longer than this on average get lengths, which cost little then.
_SHORT = 256


def encode(texts: Texts, to: Context) -> Fit:
    """Takes anything."""
    data = texts.data.tobytes()
    width = common_length(texts)
    if width is not None:
        streams = (bytes_stream(data, to.use.text),) if data else ()
        return Fit(Coded(head(NUMBER, _WIDTH, width), streams))
    if len(data) <= _SHORT * texts.number and _LINE_FEED not in data:
        joined = separated(texts, _LINE_FEED).tobytes()
        streams = (bytes_stream(joined, to.use.text),) if joined else ()
        return Fit(Coded(head(NUMBER, _LINES), streams))
    lengths = write_numbers(texts.lengths, to.use)
    description = head(NUMBER, _LENGTHS) + lengths.description
    if not data:
        return Fit(Coded(description, lengths.streams))
    return Fit(Coded(description, (*lengths.streams, bytes_stream(data, to.use.text))))


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The values; see ``Decoder``."""
    mode = source.varint(_LENGTHS)
    if mode == _WIDTH:
        width = source.varint(limit)
        if width * number > limit:
            raise Broken("values longer than promised")
        data = source.raw(width * number) if width * number else b""
        if width * number != len(data):
            raise Broken("values are not as long as their lengths")
        return Texts.of_width(np.frombuffer(data, np.uint8), width, number)
    if mode == _LINES:
        joined = source.raw(limit + number) if number else b""
        return split(np.frombuffer(joined, np.uint8), _LINE_FEED, number)
    lengths = read_numbers(source, number)
    if number and (int(lengths.min()) < 0 or int(lengths.max()) > limit):
        raise Broken("a value of an impossible length")
    data = source.raw(limit) if lengths.any() else b""
    if int(lengths.sum()) != len(data):
        raise Broken("values are not as long as their lengths")
    return Texts.from_lengths(np.frombuffer(data, np.uint8), lengths)
