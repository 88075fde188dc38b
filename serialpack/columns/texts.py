"""A column of value texts, as arrays: what the structure gives and the encodings take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Broken(ValueError):
    """Stored bytes that no writer of ours has written."""


class Unknown(Broken):
    """Stored bytes of a version, or with a number, that is not known here: a later one's."""


class Texts(NamedTuple):
    """A column: value texts one after another.

    ``data``: uint8 array. ``ends``: int64 array, ``ends[i]`` is the end of value i in ``data``;
    it starts at ``ends[i - 1]``, the first one at 0. The last end is the size of ``data``.
    """

    data: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def from_list(cls, values: list[bytes]) -> Texts:
        """The column of ``values``."""
        return cls.from_lengths(
            np.frombuffer(b"".join(values), np.uint8),
            np.fromiter(map(len, values), np.int64, len(values)),
        )

    @classmethod
    def from_lengths(cls, data: NDArray[np.uint8], lengths: NDArray[np.integer]) -> Texts:
        """The column of values of these lengths, which together are the size of ``data``."""
        return cls(data, np.cumsum(lengths, dtype=np.int64))

    def to_list(self) -> list[bytes]:
        """The values."""
        data = self.data.tobytes()
        ends = self.ends.tolist()
        return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    @property
    def number(self) -> int:
        """How many values there are. (``len`` of a named tuple is that of its fields.)"""
        return len(self.ends)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each value starts in ``data``."""
        starts = np.empty_like(self.ends)
        starts[:1] = 0
        starts[1:] = self.ends[:-1]
        return starts

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The length of each value in bytes."""
        lengths = self.ends.copy()
        lengths[1:] -= self.ends[:-1]
        return lengths
