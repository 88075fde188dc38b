"""Floats: numbers that are a double written in full, as that double.

v: the format (below); floats
"""

from __future__ import annotations

from operator import eq

import numpy as np

from serialpack.columns.coding import Context, Fit, head, joined
from serialpack.columns.numbers import read_floats, write_floats
from serialpack.columns.source import Source
from serialpack.columns.texts import Broken, Texts

NUMBER = 7

#: How doubles are written, numbers for ever: the shortest text that reads back, as Python does it
#: since 3.1; then significant digits as C does it.
_FORMATS = ("", "%.17g", "%.16g", "%.15g", "%.16e", "%.17e", "%.18e")

#: The format is chosen by this many values.
_LOOK = 64


def _write(values: list[float], style: int) -> list[bytes]:
    if not values:
        return []
    if style == 0:
        return repr(values)[1:-1].encode().split(b", ")
    return (",".join([_FORMATS[style]] * len(values)) % tuple(values)).encode().split(b",")


def _parse(values: list[bytes]) -> list[float]:
    """What the values are as numbers; not a number where they are none."""
    try:
        return list(map(float, values))
    except ValueError:
        return [_number(value) for value in values]


def _number(value: bytes) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan")


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes finite doubles in the format that most of the first values have."""
    values = texts.to_list()
    numbers = _parse(values)
    first, spelled = numbers[:_LOOK], values[:_LOOK]
    hits = [sum(map(eq, _write(first, style), spelled)) for style in range(len(_FORMATS))]
    style = hits.index(max(hits))
    array = np.array(numbers, np.float64)
    written = _write(numbers, style)
    good = np.fromiter(map(eq, written, values), np.bool_, len(values)) & np.isfinite(array)
    if not good.any():
        return None
    whole = bool(good.all())
    coded = write_floats(array if whole else array[good], to.use)
    return Fit(joined(head(NUMBER, style), (coded,)), None if whole else ~good)


def decode(source: Source, number: int, limit: int) -> Texts:
    """Their text."""
    style = source.varint(len(_FORMATS) - 1)
    numbers = read_floats(source, number)
    if not np.isfinite(numbers).all():
        raise Broken("a float that is no number")
    source.spend(64 * number)
    del limit
    return Texts.from_list(_write(numbers.tolist(), style))
