"""Puts texts of the structure, which stand again and again, together with values of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import Bytes, put_together
from serialpack.columns.stored.structure import TextShape
from serialpack.columns.texts import Broken, Texts

#: What may stand before a text: a comma, what closes the value before it, both.
_BEFORE = (b"", b",", b'"', b'",')


def column_of(shape: TextShape, number: int, texts: Callable[[int], Texts]) -> Texts:
    """A column of ``shape``; Broken where it is not as long as that says."""
    column = texts(number)
    if column.number != shape.numbers[number]:
        raise Broken("a column is not of the length that the structure says")
    return column


class Gathered:
    """Texts, one after another, some with a value behind them.

    ``texts``: the different ones; ``numbers``: which of these stand one after another. ``columns``:
    for each of ``texts`` the column of the value behind it, -1 for none; ``quotes``: whether a
    quote closes that value. ``commas``: for each of ``numbers`` whether a comma stands before it.
    """

    def __init__(
        self,
        texts: list[bytes],
        columns: list[int],
        quotes: list[bool],
        numbers: NDArray[np.integer[Any]],
        commas: NDArray[np.bool_] | None = None,
    ) -> None:
        table = Texts.from_list([before + text for text in texts for before in _BEFORE])
        self._numbers = numbers.astype(np.int64)
        closes = np.array(quotes, np.int64).take(self._numbers)
        which = self._numbers * len(_BEFORE)
        if commas is not None:
            which += commas
        closes *= 2
        which[1:] += closes[:-1]
        self._closes = bool(len(closes) and closes[-1])
        self._columns = columns
        self._pool: list[Bytes] = [table.data]
        self._size = len(table.data)
        # Where each text and the value behind it stand in the pool; none is longer than a block.
        self._starts = np.zeros((len(which), 2), np.int64)
        self._lengths = np.zeros((len(which), 2), np.int32)
        self._starts[:, 0] = table.starts.take(which)
        self._lengths[:, 0] = table.lengths.astype(np.int32).take(which)

    def put(
        self, shape: TextShape, places: NDArray[np.int64], texts: Callable[[int], Texts]
    ) -> None:
        """Put a value behind each text that has one: the one at its place in the walk of ``shape``.

        ``texts`` gives a column; Broken: see ``column_of``.
        """
        of_values = np.array(self._columns, np.int32).take(self._numbers)
        for number in sorted(set(self._columns) - {-1}):
            some = np.flatnonzero(of_values == number)
            column = column_of(shape, number, texts)
            starts, lengths = column.starts, column.lengths
            if len(some) < column.number:
                whole = np.flatnonzero(shape.column_of.take(shape.walk) == number)
                these = np.searchsorted(whole, places[some])
                starts, lengths = starts[these], lengths[these]
            starts += self._size
            self._starts[some, 1] = starts
            self._lengths[some, 1] = lengths
            self._pool.append(column.data)
            self._size += len(column.data)

    def put_again(self, some: NDArray[np.int64], text: bytes) -> None:
        """Put the same ``text`` behind each of ``some``."""
        self._starts[some, 1] = self._size
        self._lengths[some, 1] = len(text)
        self._pool.append(np.frombuffer(text, np.uint8))
        self._size += len(text)

    def bare(self) -> NDArray[np.bool_]:
        """Which texts have no value behind them, or an empty one."""
        bare: NDArray[np.bool_] = self._lengths[:, 1] == 0
        return bare

    def text(self) -> bytes:
        """All texts and values, with the quote that closes the last value."""
        source = np.concatenate(self._pool)
        text = put_together(source, self._starts.reshape(-1), self._lengths.reshape(-1))
        return text.tobytes() + b'"' * self._closes
