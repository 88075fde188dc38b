"""Copies many short pieces of an array of bytes into one array, one after another.

Nearly all that is written or restored goes through ``put_together``: it takes no loop over pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

#: Places in an array: of 64 bits, or of 32 bits to save memory where there are many.
Positions = NDArray[np.signedinteger[Any]]

#: How many pieces are copied at a time, so that they stay in the processor's cache.
_STEP = 4096

#: Pieces of up to this length, or up to twice the mean length, are copied as one; longer ones are
#: first cut into several.
_WHOLE = 64

#: Where pieces are longer than this on average, slicing a ``bytes`` object is faster.
_LONG = 512

#: The most pieces near the end of the source that are copied one by one (see ``_copied``).
_ONE_BY_ONE = 64


def put_together(
    source: Bytes, starts: Positions, lengths: Positions, ends: NDArray[np.int64] | None = None
) -> Bytes:
    """The pieces of ``source`` that begin at ``starts`` and have these ``lengths`` in bytes, one
    after another.

    ``ends``: where each ends in the result (the running sum of ``lengths``), if the caller has it.
    """
    if ends is None:
        ends = np.cumsum(lengths, dtype=np.int64)
    if not len(ends) or not ends[-1]:
        return np.zeros(0, np.uint8)
    size, width = int(ends[-1]), int(lengths.max())
    if width * len(starts) == size:
        return _windows(source, width)[starts.astype(np.int64, copy=False)].view(np.uint8)
    if size > _LONG * len(starts):
        data = source.tobytes()
        spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        return np.frombuffer(b"".join([data[start:end] for start, end in spans]), np.uint8)
    most = max(_WHOLE, 2 * size // len(starts))
    if width > most:
        width = most
        starts, lengths = _cut(starts, lengths, width)
        ends = np.cumsum(lengths, dtype=np.int64)
    return _copied(source, starts, ends, lengths, width)


def _windows(array: Bytes, width: int) -> NDArray[Any]:
    """A view of ``array`` that at i has the ``width`` bytes from i on as one element, which NumPy
    can copy at once. Elements overlap."""
    return np.ndarray((len(array) - width + 1,), f"V{width}", array.data, strides=(1,))


def _cut(starts: Positions, lengths: Positions, width: int) -> tuple[Positions, Positions]:
    """The starts and lengths of the pieces, those longer than ``width`` cut into several."""
    counts = -(-lengths // width)
    owners = np.repeat(np.arange(len(starts)), counts)
    within = (np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)) * width
    return starts[owners] + within, np.minimum(lengths[owners] - within, width)


def _copied(
    source: Bytes, starts: Positions, ends: Positions, lengths: Positions, width: int
) -> Bytes:
    """``put_together``, where no piece is longer than ``width`` bytes.

    ``width`` bytes are copied for each piece, however short it is: what is too much is overwritten
    by the pieces behind it. So pieces that begin less than ``width`` bytes before the end of the
    source (``late``) are copied one by one; where they are many, zeros are put behind the source.
    """
    size = int(ends[-1])
    last = len(source) - width
    late = np.flatnonzero(starts > last) if int(starts.max()) > last else starts[:0]
    if len(late) > _ONE_BY_ONE or last < 0:
        source = np.concatenate([source, np.zeros(width, np.uint8)])
        late = late[:0]
    out = np.empty(size + width, np.uint8)
    sink, pieces = _windows(out, width), _windows(source, width)
    for first in range(0, len(starts), _STEP):
        part = slice(first, first + _STEP)
        here = starts[part].astype(np.int64, copy=False)
        sink[ends[part] - lengths[part]] = pieces[np.minimum(here, last) if len(late) else here]
    for at in late.tolist():
        end, length = int(ends[at]), int(lengths[at])
        out[end - length : end] = source[starts[at] : starts[at] + length]
    return out[:size]
