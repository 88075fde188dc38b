"""Constant: all values are one value.

v, bytes: its length and itself
"""

from __future__ import annotations

import numpy as np

from serialpack.columns.bulk.groups import group
from serialpack.columns.bulk.pieces import common_length
from serialpack.columns.stored.coding import Coded, Context, Fit, head
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.stored.wire import counted
from serialpack.columns.texts import Broken, Texts

NUMBER = 1


def is_constant(texts: Texts) -> bool:
    """Whether all values are equal."""
    width = common_length(texts)
    if width is None:
        return False
    rows = texts.data.reshape(texts.number, width)
    if (rows[-1] != rows[0]).any():
        return False
    return bool((rows == rows[0]).all())


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes the commonest value; the others are misfits."""
    del to
    if not texts.number:
        return None
    if is_constant(texts):
        return Fit(Coded(head(NUMBER) + counted(texts.data[: texts.ends[0]].tobytes())))
    groups = group(texts)
    counts = np.bincount(groups.codes)
    # Of equally common values the first one is taken: the numbers of groups are in no order.
    common = int(groups.codes[np.flatnonzero(counts[groups.codes] == counts.max())[0]])
    example = int(groups.examples[common])
    value = texts.data[texts.starts[example] : texts.ends[example]].tobytes()
    return Fit(Coded(head(NUMBER) + counted(value)), groups.codes != common)


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The value, ``number`` times."""
    value = source.counted()
    if len(value) * number > limit:
        raise Broken("a column holds more than was promised")
    data = np.frombuffer(value * number, np.uint8)
    return Texts.of_width(data, len(value), number)
