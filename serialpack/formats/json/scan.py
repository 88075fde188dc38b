"""The exact structural scan of JSON text, with NumPy: commas and brackets at a known depth.

It tells strings from structure and counts depth; it does not check the rest of the syntax.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from serialpack.formats.base import Span
from serialpack.stages.stage import Buffer

#: Bytes looked at in one go: small enough for the processor's cache.
_STEP = 256 << 10

Positions = NDArray[np.int64]


class JsonScan:
    """The state of a scan that goes through a text piece by piece."""

    def __init__(self) -> None:
        self.depth = 0
        self.in_string = False
        self._escaped = False

    def pieces(self, buf: Buffer, start: int, end: int) -> Iterator[tuple[Positions, int]]:
        """For each piece: the commas at depth 0, and where depth first falls below 0 (or -1).

        Ends after the piece in which depth falls below 0.
        """
        for at in range(start, end, _STEP):
            commas, close = self._piece(buf, at, min(at + _STEP, end))
            yield commas, close
            if close >= 0:
                return

    def deepest(self, buf: Buffer) -> int:
        """The greatest depth in a whole text. Afterwards ``depth`` is that at its end."""
        deepest = 0
        for at in range(0, len(buf), _STEP):
            x = np.frombuffer(buf, np.uint8, min(_STEP, len(buf) - at), at)
            quotes = self._quotes(x)
            _, depths = self._brackets(x, quotes)
            deepest = max(deepest, int(depths.max()))
            self._pass(quotes, depths)
        return deepest

    def _brackets(self, x: NDArray[np.uint8], quotes: Positions) -> tuple[Positions, Positions]:
        """The brackets outside strings; the depth before the first and behind each of them."""
        folded = x | 32  # "[" becomes "{", "]" becomes "}"
        brackets = np.flatnonzero((folded == 0x7B) | (folded == 0x7D))
        brackets = self._outside(brackets, quotes)
        steps = np.where(folded[brackets] == 0x7B, 1, -1)
        return brackets, np.concatenate(([self.depth], self.depth + np.cumsum(steps)))

    def _pass(self, quotes: Positions, depths: Positions) -> None:
        """Remember the state at the end of a piece, for the next one."""
        self.depth = int(depths[-1])
        self.in_string ^= bool(len(quotes) & 1)

    def _piece(self, buf: Buffer, start: int, end: int) -> tuple[Positions, int]:
        x = np.frombuffer(buf, np.uint8, end - start, start)
        quotes = self._quotes(x)
        brackets, depths = self._brackets(x, quotes)
        commas = np.flatnonzero(x == 0x2C)
        commas = commas[depths[np.searchsorted(brackets, commas)] == 0]
        commas = self._outside(commas, quotes)
        below = np.flatnonzero(depths < 0)
        close = -1
        if len(below):
            close = int(brackets[below[0] - 1])
            commas = commas[commas < close]
        self._pass(quotes, depths)
        return commas + start, close + start if close >= 0 else -1

    def _outside(self, positions: Positions, quotes: Positions) -> Positions:
        if not len(quotes):
            return positions[:0] if self.in_string else positions
        inside = (np.searchsorted(quotes, positions) + self.in_string) & 1
        outside: Positions = positions[inside == 0]
        return outside

    def _quotes(self, x: NDArray[np.uint8]) -> Positions:
        """The quotes that open or close strings: those not behind an odd run of backslashes."""
        quotes = np.flatnonzero(x == 0x22)
        slashes = np.flatnonzero(x == 0x5C)
        if len(slashes) == 0 and not self._escaped:
            return quotes
        # -1 stands for a backslash before the piece that escapes its first byte.
        runs = np.concatenate(([-1] if self._escaped else [-9], slashes))
        begins = np.ones(len(runs), bool)
        begins[1:] = np.diff(runs) > 1
        begin_of = np.maximum.accumulate(np.where(begins, np.arange(len(runs)), 0))
        before = np.searchsorted(runs, quotes) - 1
        touching = runs[before] == quotes - 1
        length = before - begin_of[before] + 1
        last = len(runs) - 1
        self._escaped = bool(runs[-1] == len(x) - 1 and (last - begin_of[-1] + 1) & 1)
        real: Positions = quotes[~(touching & ((length & 1) == 1))]
        return real


def element_spans(data: bytes, start: int) -> Iterator[Span]:
    """Start and end of each element of ``data``, the first of which begins at ``start``."""
    for begin, end in _between_commas(data, start):
        text = data[begin:end]
        bare = text.lstrip(b" \t\r\n")
        if bare:
            first = begin + len(text) - len(bare)
            yield first, first + len(bare.rstrip(b" \t\r\n"))


def _between_commas(data: bytes, begin: int) -> Iterator[Span]:
    close = -1
    for commas, end in JsonScan().pieces(data, begin, len(data)):
        close = end
        for comma in commas.tolist():
            yield begin, comma
            begin = comma + 1
    yield begin, close if close >= 0 else len(data)


def count_elements(text: Buffer) -> int | None:
    """How many elements the array ``text`` has; None where its bracket does not close at the
    end."""
    count, close = 0, -1
    for commas, close in JsonScan().pieces(text, 1, len(text)):  # noqa: B007
        count += len(commas)
    if close != len(text) - 1 or text[close] != 0x5D:
        return None
    return count + 1 if count or bytes(text[1:close]).strip(b" \t\r\n") else 0
