"""Puts together what is written: a few texts that occur again and again, and values of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import Bytes, put_together
from serialpack.columns.stored.structure import TextShape
from serialpack.columns.texts import Broken, Texts

#: What may stand before a text: nothing, a comma, the quote that closes the value before it, both.
_BEFORE = (b"", b",", b'"', b'",')


def column_of(shape: TextShape, number: int, texts: Callable[[int], Texts]) -> Texts:
    """The values of column ``number``, from ``texts``.
    Broken where they are not as many as ``shape`` says."""
    column = texts(number)
    if column.number != shape.numbers[number]:
        raise Broken("a column is not of the length that the structure says")
    return column


class Gathered:
    """Texts one after another, some with a value behind them. Make it, ``put`` values, ask for
    ``text``.

    ``texts``: the different ones; ``numbers``: which of them are written, in order. For each of
    ``texts``, ``columns`` has the column of the value behind it (-1: it has none), and ``quotes``
    whether a quote closes that value. For each of ``numbers``, ``commas`` says whether a comma
    stands before it; None: nowhere.
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
        """Put a value behind each text that has one. ``places``: for each of ``numbers`` the index
        in the walk of ``shape`` of the value that it may have.

        ``texts(number)`` gives the values of a column. Broken: see ``column_of``.
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
        """Put the same ``text`` behind some of those that are written, in place of a value."""
        self._starts[some, 1] = self._size
        self._lengths[some, 1] = len(text)
        self._pool.append(np.frombuffer(text, np.uint8))
        self._size += len(text)

    def bare(self) -> NDArray[np.bool_]:
        """Which of those that are written have no value behind them, or an empty one."""
        bare: NDArray[np.bool_] = self._lengths[:, 1] == 0
        return bare

    def text(self) -> bytes:
        """All that is written, with the quote that closes the last value."""
        source = np.concatenate(self._pool)
        text = put_together(source, self._starts.reshape(-1), self._lengths.reshape(-1))
        return text.tobytes() + b'"' * self._closes
