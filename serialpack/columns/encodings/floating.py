"""Floats: texts that are what a double is written as, as that double.

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

#: The formats in which doubles are written; their places here are stored, and so the same for ever.
#: First the shortest text that reads back (``repr``), then formats of C.
_FORMATS = ("", "%.17g", "%.16g", "%.15g", "%.16e", "%.17e", "%.18e")

#: By how many values the format is chosen.
_LOOK = 64

#: How many values are read and written at a time.
_PART = 1 << 14

#: For sizes from the first to below the second Python writes no exponent, so that an encoder of
#: JSON, which is faster, writes the same.
_LEAST, _MOST = 1e-4, 1e16

_COMMA = ord(",")

_from_json = msgspec.json.Decoder(list[float]).decode
_to_json = msgspec.json.Encoder().encode


def _write(numbers: NDArray[np.float64], style: int) -> bytes:
    """The texts of ``numbers`` in the format of number ``style``, with commas between them."""
    values = numbers.tolist()
    if style:
        return (",".join([_FORMATS[style]] * len(values)) % tuple(values)).encode()
    sizes = np.abs(numbers)
    if (((sizes >= _LEAST) & (sizes < _MOST)) | (numbers == 0)).all():
        return _to_json(values)[1:-1]
    return repr(values)[1:-1].replace(", ", ",").encode()


def _parse(joined: bytes) -> list[float]:
    """The numbers that ``joined`` spells, texts with commas between them;
    NaN for a text that is no number."""
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
    """Takes the texts that are finite doubles in one format:
    that which most of the first values have."""
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
    """The number of the format in which most of ``texts`` are written."""
    values = texts.to_list()
    numbers = np.array([_number(value) for value in values])
    hits = [
        sum(map(eq, _write(numbers, style).split(b","), values)) for style in range(len(_FORMATS))
    ]
    return hits.index(max(hits))


def _fit(texts: Texts, style: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The texts as doubles, and which texts these are written as
    in the format of number ``style``."""
    joined = separated(texts, _COMMA).tobytes()[:-1]
    numbers = _read(texts, joined)
    written = _write(numbers, style)
    if written == joined:
        return numbers, np.isfinite(numbers)
    same = map(eq, written.split(b","), texts.to_list())
    return numbers, np.fromiter(same, np.bool_, texts.number) & np.isfinite(numbers)


def _read(texts: Texts, joined: bytes) -> NDArray[np.float64]:
    """As ``read``; ``joined``: all ``texts`` with commas between them."""
    numbers = _parse(joined)
    if len(numbers) != texts.number:
        # There are commas within some texts.
        numbers = [_number(value) for value in texts.to_list()]
    return np.array(numbers, np.float64)


def read(texts: Texts) -> NDArray[np.float64]:
    """The doubles nearest to ``texts``; NaN for a text that is no number."""
    parts = [_read(part, separated(part, _COMMA).tobytes()[:-1]) for part in chunks(texts, _PART)]
    return np.concatenate([np.zeros(0), *parts])


def decode(source: ColumnSource, number: int, limit: int) -> Texts:
    """The texts of the doubles; see ``Decoder``."""
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
