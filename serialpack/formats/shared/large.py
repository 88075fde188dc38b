"""Large values in a source, such as arrays, which are packed apart: where each one is, and how the
numbers in it lie, by which filters and codecs are chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from serialpack.stages.stage import Buffer

#: ``read(start, stop)`` gives the bytes of a source there, fewer at its end.
ReadAt = Callable[[int, int], Buffer]

#: The largest item, in bytes, that filters take which bring together bytes of equal weight.
MOST_ITEM = 255

#: The most columns of a table that may each be compressed by itself.
MOST_COLUMNS = 256

#: The most numbers that a point of an image has, as a rule: colours, and what shines through.
_CHANNELS = 4


#: Of so many bytes most types are multiples.
_ALIGNED = 4


class NumbersLayout(NamedTuple):
    """How the numbers of an array lie in their bytes.

    ``start``: bytes before the numbers. ``kind``: ``i``, ``u`` or ``f``. ``size``: bytes of a
    number; a complex one is two numbers. ``big``: whether the highest byte is the first. ``lags``:
    the steps to a number's neighbours, in numbers, in up to four dimensions. ``record``: where the
    numbers are the bytes of records of several fields, or of texts, how many bytes such a one has;
    else 0. ``stacked``: where a table has few columns, one after another, as in Fortran order, how
    many; else 0.
    """

    start: int
    kind: str
    size: int
    big: bool
    lags: tuple[int, ...]
    record: int = 0
    stacked: int = 0

    @property
    def item(self) -> int:
        """Bytes of an item, as filters take it: of a record, or of a number."""
        return self.record if 0 < self.record <= MOST_ITEM else self.size

    @property
    def columns(self) -> int:
        """How many numbers stand in a row of few, as in a table, or for a point, as of an image; 0
        where there are none such: bytes of images are no numbers that pcodec makes small, and
        places in rows of images no columns."""
        few = max((lag for lag in self.lags if 1 < lag <= MOST_COLUMNS), default=0)
        image = max(self.lags) > MOST_COLUMNS and (self.size == 1 or few > _CHANNELS)
        return 0 if self.record or self.stacked or image else few

    @property
    def row(self) -> int:
        """Bytes of a row of few numbers, or of an item."""
        return self.item * max(self.columns, 1)

    @property
    def aligned(self) -> int:
        """The bytes of a number; or how many of them tell one place in a record, or in a point of
        an image, from another, as far as it has a multiple of that."""
        several = self.record or (self.lags[0] if self.size == 1 else 0)
        return max(self.size, min(several & -several, _ALIGNED))

    @property
    def column(self) -> int:
        """Bytes of a column, where these are ``stacked``."""
        return self.lags[-1] * self.size

    def in_a_row(self) -> NumbersLayout:
        """The layout, as if the array had one dimension."""
        return self._replace(lags=(self.record or 1,), stacked=0)

    def of_length(self, length: int) -> NumbersLayout:
        """The layout of ``length`` bytes: columns are ``stacked`` in all of a table, not in a part
        of it."""
        whole = self.start + self.stacked * self.column == length
        return self if whole else self._replace(stacked=0)


class LargeValue(NamedTuple):
    """Where a large value is in its source, and what its numbers are; None: that is not known.

    ``name``, ``words``: what the source calls it, and what it is, for people; empty: nothing.
    ``listed``: whether it stands for a list of Python's numbers.
    """

    start: int
    stop: int
    layout: NumbersLayout | None = None
    name: str = ""
    words: str = ""
    listed: bool = False

    @property
    def size(self) -> int:
        return self.stop - self.start
