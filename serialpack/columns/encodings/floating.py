"""Floats: numbers that are a double written in full, as that double.

v: the format (below); floats
"""

from __future__ import annotations

from operator import eq

import msgspec
import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.pieces import chunks, separated, split, together
from serialpack.columns.encodings.numbers import read_floats, write_floats
from serialpack.columns.stored.coding import Context, Fit, head, joined
from serialpack.columns.stored.source import ColumnSource
from serialpack.columns.texts import Broken, Texts

NUMBER = 7

#: How doubles are written, numbers for ever: the shortest text that reads back, as Python does it
#: since 3.1; then significant digits as C does it.
_FORMATS = ("", "%.17g", "%.16g", "%.15g", "%.16e", "%.17e", "%.18e")

#: How many values the format is chosen by.
_LOOK = 64

#: How many values are read and written at a time.
_PART = 1 << 14

#: Between these Python writes no exponent, and so writes doubles as JSON does.
_LEAST, _MOST = 1e-4, 1e16

_COMMA = ord(",")

_from_json = msgspec.json.Decoder(list[float]).decode
_to_json = msgspec.json.Encoder().encode


def _write(numbers: NDArray[np.float64], style: int) -> bytes:
    """The texts of ``numbers``, with a comma between each two."""
    values = numbers.tolist()
    if style:
        return (",".join([_FORMATS[style]] * len(values)) % tuple(values)).encode()
    sizes = np.abs(numbers)
    if (((sizes >= _LEAST) & (sizes < _MOST)) | (numbers == 0)).all():
        return _to_json(values)[1:-1]
    return repr(values)[1:-1].replace(", ", ",").encode()


def _parse(joined: bytes) -> list[float]:
    """The numbers of ``joined``, texts with commas between them; NaN for a text that is none."""
    try:
        return _from_json(b"[%b]" % joined)
    except ValueError:
        return [_number(value) for value in joined.split(b",")]


def _number(value: bytes) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan")


def encode(texts: Texts, to: Context) -> Fit | None:
    """Takes finite doubles in the format that most of the first values have."""
    if not texts.number:
        return None
    style = _style(next(chunks(texts, _LOOK)))
    parts = [_fit(part, style) for part in chunks(texts, _PART)]
    numbers = np.concatenate([part[0] for part in parts])
    good = np.concatenate([part[1] for part in parts])
    if not good.any():
        return None
    whole = bool(good.all())
    coded = write_floats(numbers if whole else numbers[good], to.use)
    return Fit(joined(head(NUMBER, style), (coded,)), None if whole else ~good)


def _style(texts: Texts) -> int:
    values = texts.to_list()
    numbers = np.array([_number(value) for value in values])
    hits = [
        sum(map(eq, _write(numbers, style).split(b","), values)) for style in range(len(_FORMATS))
    ]
    return hits.index(max(hits))


def _fit(texts: Texts, style: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The texts as doubles, and which of them this style would write as they are."""
    joined = separated(texts, _COMMA).tobytes()[:-1]
    numbers = _read(texts, joined)
    written = _write(numbers, style)
    if written == joined:
        return numbers, np.isfinite(numbers)
    same = map(eq, written.split(b","), texts.to_list())
    return numbers, np.fromiter(same, np.bool_, texts.number) & np.isfinite(numbers)


def _read(texts: Texts, joined: bytes) -> NDArray[np.float64]:
    """As ``read``; ``joined``: ``texts`` with commas between them."""
    numbers = _parse(joined)
    if len(numbers) != texts.number:
        # Some texts have commas in them.
        numbers = [_number(value) for value in texts.to_list()]
    return np.array(numbers, np.float64)


def read(texts: Texts) -> NDArray[np.float64]:
    """The doubles nearest to ``texts``; NaN for a text that is no number."""
    parts = [_read(part, separated(part, _COMMA).tobytes()[:-1]) for part in chunks(texts, _PART)]
    return np.concatenate([np.zeros(0), *parts])


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The texts of the doubles."""
    style = source.varint(len(_FORMATS) - 1)
    numbers = read_floats(source, number)
    if not np.isfinite(numbers).all():
        raise Broken("a float that is no number")
    source.spend(64 * number)
    del limit
    return write(numbers, style)


def write(numbers: NDArray[np.float64], style: int = 0) -> Texts:
    """The texts of finite doubles, by default the shortest that read back."""
    parts = [numbers[first : first + _PART] for first in range(0, len(numbers), _PART)]
    written = [np.frombuffer(_write(part, style) + b",", np.uint8) for part in parts]
    return together(
        [split(text, _COMMA, len(part)) for text, part in zip(written, parts, strict=True)]
    )
