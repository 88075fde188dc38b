"""Random choices that are the same on every machine and with every Python:
samples are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import log2
from random import Random
from typing import Any, TypeVar

Item = TypeVar("Item")

#: The seed of every sample.
_SEED = 1

#: Bits of a version 4 UUID that are random (RFC 9562, section 5.4).
UUID_BITS = 122

#: The entropy of a record is told from so many of them.
_COUNTED = 2000

#: The digit of the variant: its upper two bits are fixed.
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


class Draw:
    """A source of random choices, which counts their entropy.

    It uses only ``random``, ``getrandbits`` and ``randbytes`` of Python's generator, which give
    what the Mersenne Twister gives; how ``choice``, ``shuffle`` and the like use that may change
    with Python.
    """

    def __init__(self) -> None:
        generator = Random(_SEED)
        self._random = generator.random
        self._getrandbits = generator.getrandbits
        self._randbytes = generator.randbytes
        #: The bits drawn so far: for each choice log2 of what there was to choose from.
        self.entropy = 0.0

    def below(self, count: int) -> int:
        """One of 0 to ``count`` - 1."""
        self.entropy += log2(count)
        size = count.bit_length()
        number = self._getrandbits(size)
        while number >= count:
            number = self._getrandbits(size)
        return number

    def between(self, low: int, high: int) -> int:
        """One of ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of ``items``."""
        return items[self.below(len(items))]

    def some_of(self, items: Sequence[Item], count: int) -> list[Item]:
        """``count`` items, each drawn from all: one may come again."""
        size, random = len(items), self._random
        self.entropy += count * log2(size)
        return [items[int(random() * size)] for _ in range(count)]

    def fraction(self, steps: int = 1 << 53) -> float:
        """A number from 0 to below 1. ``steps``:
        how many different values its use can tell apart."""
        self.entropy += log2(steps)
        return self._random()

    def bits(self, count: int) -> int:
        """A number of ``count`` random bits."""
        self.entropy += count
        return self._getrandbits(count)

    def bytes(self, count: int) -> Iterator[bytes]:
        """``count`` random bytes, in pieces of up to 1 MiB."""
        self.entropy += 8 * count
        for start in range(0, count, 1 << 20):
            yield self._randbytes(min(1 << 20, count - start))

    def uuid4(self) -> str:
        """A UUID of version 4, as text."""
        self.entropy += UUID_BITS
        return uuid_text(f"{self._getrandbits(128):032x}")


def uuid_text(digits: str) -> str:
    """The version 4 UUID that 32 random hexadecimal digits make."""
    return (
        f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-"
        f"{_VARIANT[digits[16]]}{digits[17:20]}-{digits[20:]}"
    )


def entropy(records: Callable[[Draw], Iterator[Any]], count: int) -> float:
    """The bytes of entropy that are drawn for the first ``count`` of ``records``.

    Only some are made for it; all others are counted as the average of these.
    """
    draw = Draw()
    made = records(draw)
    next(made)
    # What is drawn for the first record may be more: tables that all others choose from.
    first = draw.entropy
    more = sum(1 for _ in islice(made, min(count, _COUNTED) - 1))
    each = (draw.entropy - first) / more if more else 0.0
    return (draw.entropy + (count - 1 - more) * each) / 8
