"""What an encoding makes of a column: a description, and streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.stored.streams import Stream, recoded
from serialpack.columns.stored.wire import varints
from serialpack.columns.texts import Texts
from serialpack.stages.effort import ColumnEffort


class Coded(NamedTuple):
    """A column, or a part of one, as it will be stored.

    The description starts with the encoding's number and contains those of the parts, in order;
    the streams follow in the order in which reading the description asks for them.
    """

    description: bytes
    streams: tuple[Stream, ...] = ()

    @property
    def size(self) -> int:
        """About how many bytes it will take: streams may still come to share a frame."""
        return len(self.description) + sum(stream.size for stream in self.streams)

    def last_size(self, use: ColumnEffort) -> int:
        """As ``size``, but with its streams compressed as well as they will be in the end."""
        if not use.lzma:
            return self.size
        sizes = [len(recoded(each.coder, each.raw, each.stored, use)[1]) for each in self.streams]
        return self.size + sum(sizes) - sum(len(each.stored) for each in self.streams)


def joined(description: bytes, parts: Iterable[Coded]) -> Coded:
    """``description`` before those of ``parts``."""
    streams: list[Stream] = []
    texts = [description]
    for part in parts:
        texts.append(part.description)
        streams += part.streams
    return Coded(b"".join(texts), tuple(streams))


class Fit(NamedTuple):
    """A column in an encoding, and which values did not fit."""

    coded: Coded
    """The values that it can hold."""
    misfits: NDArray[np.bool_] | None = None
    """Which values it cannot hold (None: it holds all). They are kept beside it."""


class Context(NamedTuple):
    """The conditions under which a column is encoded."""

    use: ColumnEffort
    chooser: Callable[[Texts, Context], Coded]
    """Encodes the parts of a column."""
    depth: int = 0
    entries: bool = False
    """Whether the values are entries of a dictionary: each there once, and sorted."""
    run: bool = False
    """Whether the values are runs of digits, or others that do not divide any further."""

    def column(self, texts: Texts, *, entries: bool = False, run: bool = False) -> Coded:
        """A part of the column, in the encoding that suits it."""
        inner = self._replace(depth=self.depth + 1, entries=entries, run=run)
        return self.chooser(texts, inner)


def head(encoding: int, *numbers: int) -> bytes:
    """The start of a description: the encoding's number, and whole numbers that it needs."""
    return bytes([encoding]) + varints(numbers)
