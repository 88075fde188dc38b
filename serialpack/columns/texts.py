"""A column in memory: the texts of its values in one array, and where each of them ends.

Parsing makes ``Texts`` and encodings take them; decoding gives them back. Also the two exceptions
that everything that reads stored columns raises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Broken(ValueError):
    """Stored bytes are malformed: no writer of ours has written them."""


class Unknown(Broken):
    """Stored bytes have a version, or a number of an encoding or a kind, that is not known here: a
    later version of serialpack may have written them."""


class Texts:
    """A column: the texts of its values, one after another. It is never changed.

    ``data``: all their bytes, as an array of uint8. ``ends``: an array of int64. Value i ends at
    ``ends[i]`` and starts at ``ends[i - 1]``, the first one at 0. The last end is the size of
    ``data``. Where all values have one length, ``ends`` is made only when it is asked for.
    """

    __slots__ = ("_ends", "_width", "data", "number")

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.data = data
        #: How many values there are.
        self.number = len(ends)
        self._ends: NDArray[np.int64] | None = ends
        self._width = 0

    @classmethod
    def of_width(cls, data: NDArray[np.uint8], width: int, number: int) -> Texts:
        """The column of ``number`` values of ``width`` bytes each, which together are ``data``.

        An array of ends is not made: it could be eight times as large as ``data``, or more.
        """
        texts = cls.__new__(cls)
        texts.data, texts.number, texts._ends, texts._width = data, number, None, width
        return texts

    @property
    def ends(self) -> NDArray[np.int64]:
        """Where each value ends in ``data``."""
        return self.ends_of(0, self.number)

    def ends_of(self, first: int, stop: int) -> NDArray[np.int64]:
        """``ends[first:stop]``, without making the others; may be a view."""
        if self._ends is not None:
            return self._ends[first:stop]
        stop = min(stop, self.number)
        return np.arange(first + 1, stop + 1, dtype=np.int64) * self._width

    @classmethod
    def from_list(cls, values: list[bytes]) -> Texts:
        """The column of ``values``."""
        return cls.from_lengths(
            np.frombuffer(b"".join(values), np.uint8),
            np.fromiter(map(len, values), np.int64, len(values)),
        )

    @classmethod
    def from_lengths(cls, data: NDArray[np.uint8], lengths: NDArray[np.integer]) -> Texts:
        """The column of values of these lengths, which together are ``data``."""
        return cls(data, np.cumsum(lengths, dtype=np.int64))

    def to_list(self) -> list[bytes]:
        """The values."""
        data = self.data.tobytes()
        ends = self.ends.tolist()
        return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each value starts in ``data``."""
        ends = self.ends
        starts = np.empty_like(ends)
        starts[:1] = 0
        starts[1:] = ends[:-1]
        return starts

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The length of each value in bytes."""
        if self._ends is None:
            return np.full(self.number, self._width, np.int64)
        lengths = self._ends.copy()
        lengths[1:] -= self._ends[:-1]
        return lengths
