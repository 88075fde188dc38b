"""Numbers in a file that says nothing of them: pixels, samples of sound, dumps of a simulation.

How many bytes a number has shows in what compresses better with its bytes side by side; how long a
row is, in numbers that resemble those so far before them. Both are guesses: what is made of them is
tried on samples like that of any other array.
"""

from __future__ import annotations

from collections.abc import Callable

from serialpack.codecs import CODECS
from serialpack.formats.shared.large import MOST_ITEM, NumbersLayout
from serialpack.stages.stage import Buffer

#: What is looked at: so many pieces, together so large a part, each of at most so many bytes. Four
#: times compressed by zstd's quickest level, they take about a fiftieth of the time to pack it all.
_PIECES, _SHARE, _PIECE = 5, 64, 10_000

#: Fewer bytes tell nothing.
_LEAST = 50_000

#: What the sizes of a number are told by must be smaller by this share. Text, programs and what is
#: compressed become larger, or keep their size.
_GAIN = 0.03

_SIZES = (2, 4, 8)

#: So many numbers are compared with those before them, up to so many before.
_COMPARED, _LONGEST = 1 << 16, 1 << 13

#: Rows resemble each other by at least so much (correlation), and by such a share of the most.
_ALIKE, _AS_ALIKE = 0.5, 0.95


def likely_layouts(known: NumbersLayout | None, head: Callable[[], Buffer]) -> list[NumbersLayout]:
    """What numbers are, or may be, by what is ``known`` of them; where that is nothing, or records
    longer than filters take, by what they begin with, too, which ``head`` gives."""
    if known is None:
        return guessed_layouts(head())
    return [known, *(guessed_layouts(head()) if known.record > MOST_ITEM else [])]


def guessed_layouts(head: Buffer) -> list[NumbersLayout]:
    """What numbers may be in a file that begins with ``head``; empty where none are likely."""
    if len(head) < _LEAST:
        return []
    sample = _sample(memoryview(head))
    size = _item_size(sample)
    if size is None:
        return []
    # The highest bytes of numbers are most alike.
    big = _compressed(sample[::size]) < _compressed(sample[size - 1 :: size])
    row = _row_of(head, size, big=big)
    lags = (1, row) if row else (1,)
    return [NumbersLayout(0, kind, size, big, lags) for kind in ("if" if size > 2 else "i")]


def _item_size(sample: bytes) -> int | None:
    """The bytes of a number that ``sample`` seems to be made of; None where it has none."""
    found = {
        size: _compressed(b"".join(sample[start::size] for start in range(size))) for size in _SIZES
    }
    best = min(found, key=lambda size: found[size])
    return best if found[best] < (1 - _GAIN) * _compressed(sample) else None


def _compressed(data: bytes) -> int:
    return len(CODECS.create("zstd", (1,)).compress(data))


def _sample(head: memoryview) -> bytes:
    """Pieces from all over ``head``, each of whole numbers."""
    whole = max(_SIZES)
    size = min(len(head) // (_SHARE * _PIECES), _PIECE) // whole * whole
    step = (len(head) - size) // (_PIECES - 1) // whole * whole
    return b"".join(head[i * step : i * step + size] for i in range(_PIECES))


def _row_of(head: Buffer, size: int, *, big: bool) -> int | None:
    """How many numbers on one resembles another most, where that is not its neighbour."""
    import numpy as np

    count = min(len(head) // size, _COMPARED)
    start = (len(head) // size - count) // 2 * size
    numbers = np.frombuffer(head, f"{'>' if big else '<'}i{size}", count, start).astype(np.float64)
    numbers -= numbers.mean()
    # Autocorrelation by the Wiener-Khinchin theorem; padded, so that nothing wraps round.
    spectrum = np.fft.rfft(numbers, 2 * count)
    alike = np.fft.irfft(spectrum.real**2 + spectrum.imag**2)[: min(_LONGEST, count // 2)]
    if not alike[0]:
        return None
    # Fewer pairs are far apart.
    alike *= count / (count - np.arange(len(alike))) / alike[0]
    peaks = (alike[1:-1] > alike[:-2]) & (alike[1:-1] > alike[2:]) & (alike[1:-1] > _ALIKE)
    places = np.flatnonzero(peaks) + 1
    # Two rows on they resemble each other nearly as much, or a little more.
    near = places[alike[places] > _AS_ALIKE * alike[places].max()] if len(places) else places
    return int(near[0]) if len(near) else None
