"""Where long values of bytes stand among messages, told from the heads of what is before them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from serialpack.stages.stage import Buffer

#: The longest head of a value: its first byte, and a length.
_MOST_HEAD = 9

#: From how many bytes on a value of bytes is long.
LEAST = 1_000_000

#: A message is looked through as long as it has no more values than one for so many of its bytes,
#: and a few: of others it would take too long, and nothing in them is likely to be long.
_BYTES_A_VALUE, _FEW = 256, 4096


class Heads(NamedTuple):
    """What first bytes say. ``sizes``: of a value without what it has in it, and without what a
    length says. ``lengths``: in how many bytes behind the first one that length stands.
    ``binary``: those that begin bytes; ``text``: the one that begins an empty text, whose length is
    added to it."""

    sizes: Sequence[int]
    lengths: Mapping[int, int]
    binary: frozenset[int]
    text: int


class LongBytes:
    """Finds bytes of ``LEAST`` or more in messages that come piece by piece; those soon told."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        #: Of a value whose end has not come: the bytes left, and whether it is long bytes.
        self._left, self._is_long = 0, False
        #: The bytes of the head of the last one that is.
        self.head = 0
        #: The beginning of a head that is not whole.
        self._begun = b""

    def within(self, piece: Buffer) -> list[tuple[int, int]]:
        """Start and end of the parts of such bytes in the next piece."""
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
        """The bytes of a long value that are still to come: they are passed over, then."""
        left = self._left if self._is_long else 0
        self._left -= left
        return left


def without_long(read: Callable[[int], Buffer], size: int, heads: Heads, most: int) -> bytes:
    """Messages of ``size`` bytes with words (``<2000000 bytes>``) for long bytes, which are not
    looked at; ValueError where ``most`` bytes are not enough.

    ``read`` gives what stands at a place, up to where a block ends.
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
