"""What an encoding is given, and what it makes of a column: a description, and streams."""

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

    The description begins with the number of the encoding, and has those of the parts in it. The
    streams are in the order in which reading the description comes to them.
    """

    description: bytes
    streams: tuple[Stream, ...] = ()

    @property
    def size(self) -> int:
        """About how many bytes it will take; fewer where streams come to share a frame."""
        return len(self.description) + sum(stream.size for stream in self.streams)

    def last_size(self, use: ColumnEffort) -> int:
        """As ``size``, but with each stream compressed as it will
        be in the end, which takes longer."""
        if not use.lzma:
            return self.size
        sizes = [len(recoded(each.coder, each.raw, each.stored, use)[1]) for each in self.streams]
        return self.size + sum(sizes) - sum(len(each.stored) for each in self.streams)


def joined(description: bytes, parts: Iterable[Coded]) -> Coded:
    """``description`` with those of ``parts`` behind it, and the streams of all parts."""
    streams: list[Stream] = []
    texts = [description]
    for part in parts:
        texts.append(part.description)
        streams += part.streams
    return Coded(b"".join(texts), tuple(streams))


class Fit(NamedTuple):
    """What an encoding makes of a column."""

    coded: Coded
    """The values that fit, in this encoding."""
    misfits: NDArray[np.bool_] | None = None
    """Which values do not fit; None: all do. The caller stores them beside it (``exceptions``)."""


class Context(NamedTuple):
    """Under what conditions a column, or a part of one, is encoded."""

    use: ColumnEffort
    chooser: Callable[[Texts, Context], Coded]
    """What chooses the encoding of a part: ``choose.encode_column``, which imports all encodings
    and so cannot be imported here."""
    depth: int = 0
    """In how many encodings the part stands; 0 for a whole column."""
    entries: bool = False
    """Whether the values are entries of a dictionary: each is there once, and they are sorted."""
    run: bool = False
    """Whether the values are runs, which are not cut any further."""

    def column(self, texts: Texts, *, entries: bool = False, run: bool = False) -> Coded:
        """A part of a column, in the encoding that suits it."""
        inner = self._replace(depth=self.depth + 1, entries=entries, run=run)
        return self.chooser(texts, inner)


def head(encoding: int, *numbers: int) -> bytes:
    """The start of a description: the number of the encoding,
    and the first numbers of its layout."""
    return bytes([encoding]) + varints(numbers)
