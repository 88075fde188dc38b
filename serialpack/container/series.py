"""A series of numbers, stored in whichever of four ways takes the fewest bits.

Numbers are stored as planes of bytes (``_planes``), and not as packed bits: all rows of a block are
compressed by zstd later, which finds in planes what repeats. Layout: man/spk.5, ROWS.
"""

import struct
from collections.abc import Sequence
from itertools import accumulate, chain
from operator import sub

from serialpack.leb128 import unzigzag

#: The four ways: the numbers; the step from each number to the next; first a list of the different
#: numbers, in rising order, then the place of each number in it; the same with the steps from each
#: place to the next.
_PLAIN, _STEPS, _PLACES, _PLACE_STEPS = range(4)

_ALL = (1 << 64) - 1
_COUNT = struct.Struct("<I")

#: About how many bits the list of different numbers takes beside its numbers.
_HEAD_BITS = 48


class Reader:
    """Reads bytes, counts, texts and series from ``data``, one after another. ValueError where
    ``data`` ends too early, or what is read is malformed."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        data, self.at = self._data[self.at : self.at + size], self.at + size
        if len(data) < size:
            raise ValueError("they break off")
        return data

    def count(self) -> int:
        """The next u32."""
        return int(_COUNT.unpack(self.take(4))[0])

    def texts(self, count: int) -> list[bytes]:
        """The next ``count`` texts, each of which ends with 00."""
        *texts, rest = self._data[self.at :].split(b"\0", count)
        if len(texts) < count:
            raise ValueError("they break off")
        self.at = len(self._data) - len(rest)
        return texts

    def series(self, count: int) -> Sequence[int]:
        """The next series, of ``count`` numbers below 2**64."""
        way = self.take(1)[0]
        if way == _PLAIN:
            return self._planes(count)
        if way == _STEPS:
            return self._steps(count)
        if way not in (_PLACES, _PLACE_STEPS):
            raise ValueError(f"a series of way {way}")
        different = self.count()
        if different > count:
            raise ValueError("a series of more different numbers than numbers")
        values = self._steps(different)
        places = self._planes(count) if way == _PLACES else self._steps(count)
        if places and max(places) >= different:
            raise ValueError("a place behind the last number")
        return [values[place] for place in places]

    def end(self) -> None:
        """ValueError where not all of the data was read."""
        if self.at != len(self._data):
            raise ValueError("they do not end with the last of them")

    def _planes(self, count: int) -> Sequence[int]:
        width = self.take(1)[0]
        if width > 8:
            raise ValueError(f"numbers of {width} bytes")
        planes = self.take(width * count)
        flat = bytearray(8 * count)
        for i in range(width):
            flat[i::8] = planes[i * count : (i + 1) * count]
        return struct.unpack(f"<{count}Q", flat)

    def _steps(self, count: int) -> list[int]:
        return [n & _ALL for n in accumulate(map(unzigzag, self._planes(count)))]


def series(numbers: Sequence[int]) -> bytes:
    """``numbers``, each from 0 to 2**64 - 1, as ``Reader.series`` reads them."""
    steps = _steps(numbers)
    if len(different := sorted(set(numbers))) == 1:  # as the modes of files mostly are
        return bytes([_STEPS]) + _planes(steps)
    plain, stepped = _bits(numbers), _bits(steps)
    rising = _steps(different)
    placed = _bits(rising) + _HEAD_BITS
    if placed < min(plain, stepped):
        of = {number: place for place, number in enumerate(different)}
        places = [of[number] for number in numbers]
        apart = _steps(places)
        way, stored = _PLACES, places
        if _bits(apart) < _bits(places):
            way, stored = _PLACE_STEPS, apart
        if placed + _bits(stored) < min(plain, stepped):
            head = bytes([way]) + _COUNT.pack(len(different))
            return head + _planes(rising) + _planes(stored)
    if stepped < plain:
        return bytes([_STEPS]) + _planes(steps)
    return bytes([_PLAIN]) + _planes(numbers)


def _planes(numbers: Sequence[int]) -> bytes:
    """``numbers`` as planes: one byte that says how many bytes the largest number needs; then the
    lowest byte of each number, then the next byte of each, and so on."""
    width = (max(numbers, default=0).bit_length() + 7) // 8
    flat = struct.pack(f"<{len(numbers)}Q", *numbers)
    return bytes([width]) + b"".join(flat[i::8] for i in range(width))


def _steps(numbers: Sequence[int]) -> list[int]:
    """The step to each number from the one before it, to the first from 0; modulo 2**64, and as
    zigzag numbers, which are small for small steps up and down (0, -1, 1, -2 become 0, 1, 2, 3)."""
    steps = [*map(sub, numbers, chain((0,), numbers))]
    if max(numbers, default=0) >> 63:
        steps = [signed(step) for step in steps]
    return [(step << 1) ^ (step >> 63) for step in steps]


def _bits(numbers: Sequence[int]) -> int:
    return sum(map(int.bit_length, numbers))


def signed(number: int) -> int:
    """The number from -2**63 to 2**63 - 1 that equals ``number`` modulo 2**64."""
    return (number + (1 << 63) & _ALL) - (1 << 63)
