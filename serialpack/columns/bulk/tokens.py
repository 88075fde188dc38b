"""Divides values into tokens: a run of digits, a run of letters, or a single other byte.

``encodings.patterns`` makes columns of the runs, ``encodings.prose`` takes words for runs of both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.texts import Texts

_OTHER, _DIGIT, _LETTER = range(3)

#: Bytes of UTF-8 beyond ASCII count as letters.
_KIND = np.zeros(256, np.uint8)
_KIND[list(b"0123456789")] = _DIGIT
_KIND[[*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1), *range(128, 256)]] = _LETTER

#: In a shape these bytes stand for a run of digits, and for a run of letters; any other byte stands
#: for itself.
DIGITS, LETTERS = b"0a"

#: Tables for ``bytes.translate``, which is faster than looking up indices.
_SHAPE = (
    np.where(_KIND == _DIGIT, DIGITS, np.where(_KIND == _LETTER, LETTERS, np.arange(256)))
    .astype(np.uint8)
    .tobytes()
)
_KINDS = _KIND.tobytes()
_WORDS = (_KIND != _OTHER).tobytes()


class TextTokens(NamedTuple):
    """The tokens of all values of a column, one after another:
    where each starts, and how long it is."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    firsts: NDArray[np.int64]
    """For each value the index of its first token; an empty value has that of the next value."""
    shapes: Texts
    """For each value its shape: a byte for each of its tokens (``DIGITS``,
    ``LETTERS``, or itself)."""


def tokens(texts: Texts) -> TextTokens:
    """The tokens of all values of a column."""
    data = texts.data
    kinds = np.frombuffer(data.tobytes().translate(_KINDS), np.uint8)
    inner = np.ones(len(kinds), np.bool_)
    inner[1:] = (kinds[1:] != kinds[:-1]) | (kinds[1:] == _OTHER)
    begins = np.zeros(len(data) + 1, np.bool_)
    begins[texts.starts] = True
    begins = begins[:-1]
    starts = np.flatnonzero(inner | begins)
    lengths = np.diff(starts, append=len(data))
    counts = np.zeros(texts.number, np.int64)
    filled = texts.lengths > 0
    firsts = np.flatnonzero(begins[starts])
    counts[filled] = np.diff(firsts, append=len(starts))
    ends = np.cumsum(counts)
    shapes = np.frombuffer(data.take(starts).tobytes().translate(_SHAPE), np.uint8)
    return TextTokens(starts, lengths, ends - counts, Texts(shapes, ends))


def is_word(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes of ``data`` are digits or letters."""
    return np.frombuffer(data.tobytes().translate(_WORDS), np.bool_)
