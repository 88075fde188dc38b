"""Integers in few bytes: LEB128, which others call varints, and ZigZag for signed ones."""

from __future__ import annotations

from typing import Protocol


class Indexed(Protocol):
    """What gives a byte by its place: bytes, or those of a file."""

    def __getitem__(self, at: int, /) -> int: ...


class EndsEarly(ValueError):
    """Bytes that end within a number, or within a compressed stream."""


_SHORT = [bytes([number]) for number in range(128)]


def varint(number: int) -> bytes:
    """``number`` (0 to 2^64 - 1) in LEB128 (DWARF 5, 7.6): seven bits a byte, the lowest first."""
    if number < 128:
        return _SHORT[number]
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: Indexed, at: int, end: int) -> tuple[int, int]:
    """The number at ``at``, which must end before ``end``, and where it ends.

    EndsEarly where it does not end, ValueError where it has more than 64 bits.
    """
    number = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            if number >> 64:
                break
            return number, at
        shift += 7
        if shift > 63:
            break
    if at < end or shift > 63:
        raise ValueError("a number of more than 64 bits")
    raise EndsEarly("it ends within a number")


def zigzag(number: int) -> int:
    """A signed number of 64 bits as one that is not: 0, -1, 1, -2 ... as 0, 1, 2, 3 ..."""
    return number << 1 if number >= 0 else (~number << 1) | 1


def unzigzag(number: int) -> int:
    """The signed number that ``zigzag`` made ``number`` of."""
    return number >> 1 ^ -(number & 1)
