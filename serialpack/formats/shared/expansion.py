"""The limit on values that refer to one another: how large they would be, written out in full.

YAML's aliases, CBOR's shared references and Java's handles let a few bytes stand for gigabytes
(the "billion laughs" attack), or for a value that holds itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from serialpack.depth import HeldOften, TooDeep
from serialpack.depth.places import check_places
from serialpack.errors import RefusedError

#: The values, and bytes of text, that a source may unfold to beside twice its own size.
_UNFOLDED = 1_000_000
#: The bytes of memory that trusted objects may unfold to.
_MOST_WRITTEN = 1 << 30


def check_unfolded(
    records: list[Any], size: int, inside: Callable[[Any], Iterable[Any]] | None = None
) -> None:
    """RefusedError where values that stand in many places of ``records`` would be, written out in
    each, far larger than their source of ``size`` bytes; or without end, as they hold themselves.

    ``inside``: gives the values in one whose type is not Python's own. Each container is gone over
    once, however many places it stands in.
    """
    most = most_unfolded(size)
    #: Id of a container -> the size that it unfolds to; _OPEN while it is gone over.
    sizes: dict[int, int] = {}
    open_ones = [_OpenPart(records, inside)]
    while open_ones:
        innermost = open_ones[-1]
        sizes.setdefault(id(innermost.value), _OPEN)
        for part in innermost.parts:
            if isinstance(part, str | bytes):
                innermost.size += len(part)
                continue
            known = sizes.get(id(part))
            if known is None:
                open_ones.append(_OpenPart(part, inside))
                break
            innermost.size += most + 1 if known is _OPEN else known
        else:
            open_ones.pop()
            sizes[id(innermost.value)] = innermost.size
            if open_ones:
                open_ones[-1].size += innermost.size
        if innermost.size > most:
            raise unfolds_too_far()


def check_far(records: list[Any]) -> list[Any]:
    """``records``, of a reader that makes one object of what stands in many places (pickle);
    RefusedError where they take more memory than may be written out with each of them there."""
    try:
        check_places(records)
    except HeldOften as often:
        if often.whole > _MOST_WRITTEN:
            raise unfolds_too_far() from None
    except TooDeep:
        pass  # whoever writes them says so
    return records


def most_unfolded(size: int) -> int:
    """The values and bytes of text that a source of ``size`` bytes may unfold to."""
    return 2 * size + _UNFOLDED


def unfolds_too_far() -> RefusedError:
    """The error for a source that unfolds to more."""
    return RefusedError(
        "values that it refers to hold themselves, or unfold to far more than the file",
        hint="pack -s raw keeps the bytes",
    )


#: Stands for the size of a container that is being gone over.
_OPEN = -1


class _OpenPart:
    """A value or container that is being gone over: its values that are left, and its size so
    far."""

    __slots__ = ("parts", "size", "value")

    def __init__(self, value: Any, inside: Callable[[Any], Iterable[Any]] | None) -> None:
        self.value = value
        self.size = 0
        self.parts: Iterator[Any] = iter(())
        if isinstance(value, list | tuple | set | frozenset):
            self.size = len(value)
            self.parts = iter(value)
        elif isinstance(value, dict):
            self.size = 2 * len(value)
            self.parts = chain.from_iterable(value.items())
        elif inside is not None:
            self.parts = iter(inside(value))
