"""MessagePack as a source: a sequence of messages, each of them a record."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from serialpack.depth import check_messages
from serialpack.formats.base import Read, SourceBlock, Unheld
from serialpack.formats.messages.finder import Opening
from serialpack.formats.messages.format import MessageFormat
from serialpack.formats.msgpack.heads import HEADS, with_head
from serialpack.formats.shared.document import Malformed
from serialpack.formats.shared.split import Scan, SequenceFinder, record_ends, split_records
from serialpack.msgpack_bytes import COUNTS, FIX_MAP, FIX_STRING, LIST_16, MAP_16, MAPS
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import DUPLICATES, UTF8
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks
    from serialpack.formats.msgpack.join import MsgPackJoin

#: Bytes that are given to the library at once where it only goes over them.
_PIECE = 1 << 20


class _MessageFinder(SequenceFinder):
    def most_bytes(self, view: memoryview, most: int) -> int | None:
        from serialpack.msgpack_starts import most_bytes

        return most_bytes(view, most)


class MsgPackFormat(MessageFormat):
    """A sequence of MessagePack messages."""

    about = "MessagePack messages, one after another"
    title = "MessagePack"
    heeds = frozenset({DUPLICATES, UTF8})
    heads = HEADS
    _pair = b"\x81"
    _long: ClassVar[dict[str, int]] = {Structure.ARRAY: LIST_16 + 1, Structure.MAP: MAP_16 + 1}

    @property
    def join(self) -> MsgPackJoin:
        from serialpack.formats.msgpack.join import MsgPackJoin

        return MsgPackJoin()

    def as_list(self, data: bytes, count: int) -> bytes:
        return with_head(data, count)

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        if for_values:
            return super().split(read, block_size, for_values=True, most_values=most_values)
        finder = _MessageFinder(lambda view, most: self.scan(view, most, 1))
        return split_records(read, block_size, finder, most_values=most_values)

    @staticmethod
    def scan(view: memoryview, most: int, step: int, ends: array[int] | None = None) -> Scan:
        import msgpack

        limit = (1 << 32) - 1
        unpacker = msgpack.Unpacker(
            max_buffer_size=max(len(view), 1),
            max_str_len=limit,
            max_bin_len=limit,
            max_ext_len=limit,
            max_array_len=limit,
            max_map_len=limit,
        )
        skip, tell = unpacker.skip, unpacker.tell
        fed = records = end = 0
        left = step
        while records != most:
            try:
                while left:
                    skip()
                    left -= 1
            except msgpack.OutOfData:
                if fed >= len(view):
                    break
                unpacker.feed(view[fed : fed + _PIECE])
                fed += _PIECE
                continue
            except ValueError:
                return Scan(records, end, lost=True)
            records, end, left = records + 1, tell(), step
            if ends is not None:
                ends.append(end)
        return Scan(records, end)

    @staticmethod
    def opening(view: Buffer) -> Opening | None:
        first = view[0] if view else 0
        structure = Structure.MAP if first in MAPS else Structure.ARRAY
        if FIX_MAP <= first < FIX_STRING:
            return Opening(structure, 1, first & 0x0F)
        size = COUNTS.get(first)
        if size is None or len(view) <= size:
            return None
        return Opening(structure, 1 + size, int.from_bytes(view[1 : 1 + size]))

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats.msgpack.values import Repeated

        try:
            return _records(data, self.marks)
        except (ValueError, RecursionError, Repeated) as error:
            raise _explained(data, error, self.marks) from None

    def write(self, records: list[Any]) -> bytes:
        from serialpack.formats.msgpack import values as msgpack_values

        return msgpack_values.pack(records)


def _records(data: bytes, marks: Marks | None) -> list[Any]:
    """The messages of ``data``; ValueError, RecursionError or Repeated where not all of them can be
    held.

    ``marks``: what may be lost, and is noted there; None: nothing may be.
    """
    from serialpack.formats.msgpack import values as msgpack_values

    check_messages(data)
    if marks is not None:
        return msgpack_values.unpack_marked(data, marks)
    records = msgpack_values.unpack(data)
    # What is written as it was read has lost nothing: no key twice, no nanoseconds.
    if msgpack_values.pack(records) == data:
        return records
    return msgpack_values.unpack_exactly(data)


def _explained(data: bytes, error: Exception, marks: Marks | None) -> Exception:
    """What is wrong with a sequence that could not be read, and where."""
    from serialpack.formats.msgpack import scan as msgpack_scan
    from serialpack.formats.msgpack.values import Repeated

    record = start = 0
    for end in message_ends(data):
        try:
            _records(data[start:end], marks)
        except (ValueError, RecursionError, Repeated):
            break
        record, start = record + 1, end
    try:
        msgpack_scan.check(data, start, record)
    except (Malformed, Unheld) as found:
        return found
    return Malformed(str(error), start)


def message_ends(data: Buffer) -> Iterator[int]:
    """Where the messages at the front of ``data`` end."""
    return record_ends(lambda view, most, ends: MsgPackFormat.scan(view, most, 1, ends), data, 0)
