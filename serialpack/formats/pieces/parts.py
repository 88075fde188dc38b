"""Reads and writes a record that is too large to be in memory as values, part by part.

A part is a small record: a map of some members of the large one, or an array of some elements. What
is too large itself, within a map or an array, is null as the last one of a part; its own parts
follow, and None behind the last. What is written of each part is put together (``rewritten``) as
what would have been written of the whole, byte for byte; but where a library spells texts or
numbers by what else is in a record (escapes, an exponent), it does so by what else is in a part.

- cutter: what finds the parts, in the text of a block
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from serialpack.depth.values import check_values
from serialpack.formats.base import SourceBlock
from serialpack.formats.pieces.join import Join
from serialpack.formats.pieces.keys import key_digests, repeated
from serialpack.stages.stage import WIDE, Buffer
from serialpack.values.structure import Structure

#: The most members or elements of a part; and the most bytes, where it has several.
MEMBERS, BYTES = 1 << 14, 256 << 10

#: Values are cut down to so many levels: a byte is looked at once for each value around it.
LEVELS = 8


class RecordPart(NamedTuple):
    """A map or an array of ``count`` members, which is ``data`` in the cutter's ``part_format``.

    ``opens``: the last one is null instead of what follows. ``unique``: no other part of the same
    map has one of its keys.
    """

    data: bytes
    structure: Structure
    count: int  # type: ignore[assignment]  # tuple's method, which nobody needs here
    opens: bool = False
    unique: bool = False

    @property
    def block(self) -> SourceBlock:
        """The part as a block of its own: like an element of an array that is larger than a block,
        in which nothing may refer to what may stand in another."""
        return SourceBlock(self.data, index=1, offset=1, records=1, inside=Structure.ARRAY)


#: The parts of one record, in order. None ends the map or array that began last; the last one, all.
Parts = Iterator[RecordPart | None]


class Cutter(ABC):
    """Cuts large records of one source."""

    #: The format of the parts.
    part_format: str

    @abstractmethod
    def records(self, block: SourceBlock) -> Iterator[Parts] | None:
        """The records of a block, in parts; None where they are small, or not one map or array.

        ValueError, or one of the package's own errors, where something is wrong with the text, at
        once or later: who reads it as a whole says what. What is right outside of the parts has
        been looked at, what is in them has not.
        """


def is_large_record(block: SourceBlock) -> bool:
    """Whether a block is one record, whole and large, as formats have it that cut blocks at the
    ends of records."""
    return block.records == 1 and not block.partial and len(block.data) >= WIDE


class RecordText(ABC):
    """Writes a large record in the style of a source, of which parts are written before."""

    def __init__(self, join: Join) -> None:
        #: How parts are put together: those of ``write``.
        self.join = join

    @abstractmethod
    def write(self, value: Any) -> bytes:
        """A part, as a record."""

    @abstractmethod
    def text(self, record: Buffer, *, first: bool) -> Buffer:
        """The text of a block of one record, which was put together of its parts.

        ``first``: it is the first block. ValueError where the style is not written so.
        """


class _Opened:
    """A map or an array that is being written, from ``at`` on: its head comes last."""

    def __init__(self, structure: Structure, at: int) -> None:
        self.structure, self.at = structure, at
        self.count = 0
        self.keys = bytearray()


class Rewritten(NamedTuple):
    """A record as it is written, what it is, and what ``keys.key_digests`` gives for its
    keys."""

    data: bytearray
    structure: Structure
    keys: bytes


def rewritten(
    parts: Parts, join: Join, write: Callable[[RecordPart], tuple[Any, Buffer]]
) -> Rewritten:
    """One record, put together of its ``parts``; ``write`` gives the value of a part, and its bytes
    as a record.

    ``join``: of the format written. ValueError where a map has a key twice, or a part is not what
    it should be; TooDeep; and what ``write`` raises.
    """
    around = join.record
    assert around is not None
    written = bytearray()
    opened: list[_Opened] = []
    begins = True
    for part in parts:
        if part is None:
            if begins:
                raise ValueError("a map or an array without parts")
            done = opened.pop()
            if repeated(done.keys) is not None:
                raise ValueError("a map has a key twice")
            # This moves all the bytes behind it, but only once for each level that is cut.
            written[done.at : done.at] = join.counted(done.structure, done.count)
            written += around[done.structure].after
            continue
        if begins:
            opened.append(_Opened(part.structure, len(written)))
            written += around[part.structure].before
        else:
            written += around[part.structure].between
        value, data = write(part)
        _check_depth(value, len(opened) - 1)
        if len(value) != part.count:
            raise ValueError("a part has another number of members")
        inside = opened[-1]
        inside.count += part.count
        if part.structure == Structure.MAP and not part.unique:
            inside.keys += key_digests([value])
        written += _within(data, part, join)
        begins = part.opens
    written += join.record_end
    return Rewritten(written, done.structure, bytes(done.keys))


def _check_depth(value: Any, around: int) -> None:
    """TooDeep where ``value``, which was read alone, is nested too deeply within ``around``
    others."""
    if around:
        for _ in range(around):
            value = [value]
        check_values([value])


def _within(data: Buffer, part: RecordPart, join: Join) -> Buffer:
    """The bytes within the one map or array that ``data`` is."""
    assert join.record is not None
    around = join.record[part.structure]
    before = join.counted(part.structure, part.count) + around.before
    after = (join.null if part.opens else b"") + around.after + join.record_end
    view = memoryview(data)
    end = len(view) - len(after)
    if view[: len(before)] != before or view[end:] != after:
        raise ValueError("a part is written as another record")
    return view[len(before) : end]
