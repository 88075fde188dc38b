"""Numbers and byte strings in descriptions and headers: LEB128, as in DWARF and WebAssembly.

A number is stored in its shortest form, one byte below 128; a longer form is Broken.
"""

from __future__ import annotations

from collections.abc import Iterable

from serialpack import leb128
from serialpack.columns.texts import Broken
from serialpack.leb128 import varint as varint


def varints(numbers: Iterable[int]) -> bytes:
    """``numbers``, one after another."""
    return b"".join(map(varint, numbers))


def zigzag(number: int) -> bytes:
    """A signed ``number`` of 64 bits, as ``varint`` of 0, 1, 2, 3 ... for 0, -1, 1, -2 ..."""
    return varint(leb128.zigzag(number))


def counted(data: bytes) -> bytes:
    """``data`` behind its length."""
    return varint(len(data)) + data


class WireReader:
    """Reads what the functions above wrote, from ``position`` on. All methods: Broken where
    ``data`` ends early or is malformed."""

    def __init__(self, data: bytes | memoryview, position: int = 0) -> None:
        self.data = bytes(data)
        self.position = position

    def byte(self) -> int:
        """One byte."""
        if self.position >= len(self.data):
            raise Broken("a description ends early")
        self.position += 1
        return self.data[self.position - 1]

    def varint(self, most: int) -> int:
        """A number, which must be at most ``most``."""
        try:
            number, end = leb128.read_varint(self.data, self.position, len(self.data))
        except ValueError as error:
            raise Broken(f"a number in a description: {error}") from None
        if end - self.position > 1 and not self.data[end - 1]:
            raise Broken("a number in a description is longer than it need be")
        self.position = end
        if number > most:
            raise Broken(f"a description says {number} where at most {most} can be")
        return number

    def zigzag(self) -> int:
        """A signed number of 64 bits."""
        number = self.varint(2**64 - 1)
        return leb128.unzigzag(number)

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        if size > len(self.data) - self.position:
            raise Broken("a description ends early")
        self.position += size
        return self.data[self.position - size : self.position]

    def counted(self) -> bytes:
        """A byte string behind its length."""
        return self.take(self.varint(len(self.data)))

    def end(self) -> None:
        """Broken where anything is left."""
        if self.position != len(self.data):
            raise Broken("a description goes on after its end")
