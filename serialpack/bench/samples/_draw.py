"""Random choices that are the same on every machine, with every Python: the data of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import log2
from random import Random
from typing import Any, TypeVar

Item = TypeVar("Item")

#: All samples are drawn from it, each on its own.
_SEED = 1

#: Bits of a version 4 UUID that are random (RFC 9562, section 5.4).
UUID_BITS = 122

#: So many records tell how much one holds.
_COUNTED = 2000

#: In the variant digit the upper two bits are fixed.
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


class Draw:
    """A source of choices that counts their entropy.

    Only ``random``, ``getrandbits`` and ``randbytes`` of Python's generator are used, which give
    what the Mersenne Twister gives; how ``choice``, ``shuffle`` and the like use it may change.
    """

    def __init__(self) -> None:
        generator = Random(_SEED)
        self._random = generator.random
        self._getrandbits = generator.getrandbits
        self._randbytes = generator.randbytes
        #: Bits drawn so far: the sum of log2 of the number of choices.
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
        return items[self.below(len(items))]

    def some_of(self, items: Sequence[Item], count: int) -> list[Item]:
        """``count`` items, each drawn from all: one may come again."""
        size, random = len(items), self._random
        self.entropy += count * log2(size)
        return [items[int(random() * size)] for _ in range(count)]

    def fraction(self, steps: int = 1 << 53) -> float:
        """From 0 to below 1; ``steps``: so many values are told apart by what it is used for."""
        self.entropy += log2(steps)
        return self._random()

    def bits(self, count: int) -> int:
        self.entropy += count
        return self._getrandbits(count)

    def bytes(self, count: int) -> Iterator[bytes]:
        """``count`` random bytes, in pieces of up to 1 MiB."""
        self.entropy += 8 * count
        for start in range(0, count, 1 << 20):
            yield self._randbytes(min(1 << 20, count - start))

    def uuid4(self) -> str:
        self.entropy += UUID_BITS
        return uuid_text(f"{self._getrandbits(128):032x}")


def uuid_text(digits: str) -> str:
    """The version 4 UUID that 32 random hexadecimal digits make."""
    return (
        f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-"
        f"{_VARIANT[digits[16]]}{digits[17:20]}-{digits[20:]}"
    )


def entropy(records: Callable[[Draw], Iterator[Any]], count: int) -> float:
    """Bytes of what was drawn for the first ``count`` of ``records``.

    Beyond some, records are not made for it but counted as the average one.
    """
    draw = Draw()
    made = records(draw)
    next(made)
    # What is drawn before the first record is drawn once.
    first = draw.entropy
    more = sum(1 for _ in islice(made, min(count, _COUNTED) - 1))
    each = (draw.entropy - first) / more if more else 0.0
    return (draw.entropy + (count - 1 - more) * each) / 8
