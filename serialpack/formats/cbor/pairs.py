"""CBOR whose maps are arrays of their keys and values, so that no key of them is dropped.

Each head of a map becomes a tag of ours and the head of an array; nothing else changes, because
what a head says of the items behind it holds for both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from serialpack.formats.shared.expansion import most_unfolded, unfolds_too_far
from serialpack.stages.stage import import_library

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks

#: The tag, which is assigned to nothing (IANA's registry of CBOR tags).
PAIRS = 0xF1E2D3C4B5A69788

_BYTES, _TEXT, _MAP = 2, 3, 5
_ENDLESS = 31


class Paired:
    """The rewritten ``data``, up to where it is broken and all behind that as it was."""

    def __init__(self, data: bytes) -> None:
        #: Where the rewritten heads end in the new bytes, and by how much they have grown by then.
        self._ends: list[int] = []
        self._grown: list[int] = []
        written = bytearray()
        done = at = 0
        while at < len(data):
            major, info = data[at] >> 5, data[at] & 31
            size = 1 + (1 << info - 24 if 24 <= info < 28 else 0)
            if 28 <= info < _ENDLESS or at + size > len(data):
                break
            number = info if info < 24 else int.from_bytes(data[at + 1 : at + size])
            if major == _MAP:
                written += data[done:at] + b"\xdb" + PAIRS.to_bytes(8)
                if info == _ENDLESS:
                    written += b"\x9f"
                else:
                    # More than this is in no file.
                    written += b"\x9b" + min(2 * number, (1 << 64) - 1).to_bytes(8)
                done = at + size
                self._ends.append(len(written))
                self._grown.append(len(written) - done)
            elif major in (_BYTES, _TEXT) and info != _ENDLESS:
                size += number
            at += size
        self.data = bytes(written + data[done:])

    def before(self, at: int) -> int:
        """Where in the bytes that were given the new byte ``at`` comes from."""
        met = bisect_right(self._ends, at)
        return at - (self._grown[met - 1] if met else 0)


def last_wins(marks: Marks, size: int) -> Callable[[Any, bool], Any]:
    """What makes a map of what stands behind the tag, with the last value of each key.

    ValueError or TypeError for keys that no dict takes, or takes for one though they are two
    (``1`` and ``true``), and for a key that stands twice within a set or a key: nobody can say
    where that is. RefusedError where all keys, in which each reference becomes a copy of what it
    refers to, are far larger than the source of ``size`` bytes.
    """
    cbor2 = import_library("cbor2", "cbor")
    left = most_unfolded(size)

    def read(content: Any, fixed: bool) -> Any:
        found: dict[Any, Any] = {}
        for key, value in zip(map(frozen, content[::2]), content[1::2], strict=True):
            if key in found and (fixed or not marks.again(found, key)):
                raise _twice(key)
            found[key] = value
        return cbor2.frozendict(found) if fixed else found

    def frozen(key: Any) -> Any:
        """A key as the library makes it, which nothing can change: it was read as a value."""
        nonlocal left
        kind = type(key)
        left -= 1
        if left < 0:
            raise unfolds_too_far()
        if kind is list:
            return tuple(map(frozen, key))
        if kind is set:
            return frozenset(key)
        if kind is cbor2.CBORTag:
            return cbor2.CBORTag(key.tag, frozen(key.value))
        if kind is not dict:
            return key
        if id(key) in marks.twice:
            raise _twice(marks.twice[id(key)][1][0][0])
        return cbor2.frozendict({each: frozen(value) for each, value in key.items()})

    return read


def _twice(key: Any) -> ValueError:
    """The error for a key that stands twice, in the words of the library."""
    return ValueError(f"Duplicate map key: {key!a}")
