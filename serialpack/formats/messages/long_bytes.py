"""Finds long values of bytes (images, arrays, files) within messages, by the heads of values alone.

They are packed apart from the messages around them, by filters and a codec of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from serialpack.stages.stage import Buffer

#: The longest head of a value: its first byte, and a length.
_MOST_HEAD = 9

#: A value of bytes is long from so many bytes on.
LEAST = 1_000_000

#: The values that a piece of messages is looked through for: one for so many of its bytes, and so
#: many more. With more of them it would take too long, and hardly any would be long.
_BYTES_A_VALUE, _FEW = 256, 4096


class Heads(NamedTuple):
    """What the first byte of a value says of it.

    ``sizes``: by first byte, the bytes of a value without the values in it, and without those that
    a length counts. ``lengths``: first byte -> how many bytes of that length follow it. ``binary``:
    the first bytes of values of bytes; ``text``: that of an empty text, to which the length of a
    short one is added.
    """

    sizes: Sequence[int]
    lengths: Mapping[int, int]
    binary: frozenset[int]
    text: int


class LongBytes:
    """Finds values of ``LEAST`` bytes or more in messages that come piece by piece, as far as soon
    told."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        #: How many bytes of the last value are still to come, and whether it is a long one.
        self._left, self._is_long = 0, False
        #: Bytes of the head of the last long value.
        self.head = 0
        #: The beginning of a head that is not whole.
        self._begun = b""

    def within(self, piece: Buffer) -> list[tuple[int, int]]:
        """Where the parts of long values begin and end in the next piece."""
        view, at, found = memoryview(piece), 0, list[tuple[int, int]]()
        values = _FEW + len(view) // _BYTES_A_VALUE
        while at < len(view):
            if self._left:
                stop = min(at + self._left, len(view))
                if self._is_long:
                    found.append((at, stop))
                self._left -= stop - at
                at = stop
                continue
            if not values:  # what comes is not looked through either
                self._left, self._is_long = sys.maxsize, False
                continue
            values -= 1
            head = self._begun + view[at : at + _MOST_HEAD - len(self._begun)]
            first = head[0]
            field = self._heads.lengths.get(first, 0)
            if len(head) < 1 + field:
                self._begun = head
                break
            at += 1 + field - len(self._begun)
            self._begun = b""
            length = int.from_bytes(head[1 : 1 + field])
            self._left = self._heads.sizes[first] - 1 - field + length
            self._is_long = length >= LEAST and first in self._heads.binary
            if self._is_long:
                self.head = 1 + field
        return found

    def passed(self) -> int:
        """How many bytes of a long value are still to come, which the caller then passes over."""
        left = self._left if self._is_long else 0
        self._left -= left
        return left


def without_long(read: Callable[[int], Buffer], size: int, heads: Heads, most: int) -> bytes:
    """Messages of ``size`` bytes in which words (``<2000000 bytes>``) stand for long values of
    bytes, which are not read; ValueError where that takes more than ``most`` bytes.

    ``read`` gives the bytes from a place on, up to where a block ends.
    """
    finder, at, out = LongBytes(heads), 0, bytearray()
    while at < size:
        piece = memoryview(read(at))
        done = 0
        for start, stop in finder.within(piece):
            out += piece[done:start]
            _put_words(out, heads, finder.head)
            done = stop
        out += piece[done:]
        at += len(piece)
        left = finder.passed()
        if left and done < len(piece):
            _put_words(out, heads, finder.head)
        at += left
        if len(out) > most:
            raise ValueError("too many bytes")
    return bytes(out)


def _put_words(out: bytearray, heads: Heads, head: int) -> None:
    """Replace the head, of ``head`` bytes, that ``out`` ends with by words for the length that it
    says."""
    words = b"<%d bytes>" % int.from_bytes(out[1 - head :])
    out[-head:] = bytes([heads.text + len(words)]) + words
