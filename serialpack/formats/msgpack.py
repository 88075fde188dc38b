"""MessagePack as a source: a sequence of messages, each of them a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serialpack.errors import RefusedError, SyntaxInputError
from serialpack.formats._cutting import Cut, Finder, Untold, cut_records
from serialpack.formats._document import DocumentFormat, Malformed
from serialpack.formats.base import Read, SourceBlock, Spelling, Unheld
from serialpack.stage import Buffer


class MsgPack(DocumentFormat):
    """A sequence of MessagePack messages."""

    name = "msgpack"
    number = 5
    about = "MessagePack messages, one after another"
    title = "MessagePack"

    def cut(
        self, read: Read, block_size: int, *, for_values: bool = False
    ) -> Iterator[SourceBlock]:
        return cut_records(read, block_size, _MessageFinder(), for_values=for_values)

    def record_spans(
        self,
        data: Buffer,
        spelling: Spelling,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> list[tuple[int, int]]:
        ends, _ = message_ends(data)
        return list(zip([0, *ends], ends, strict=False))

    def slice_ends(
        self,
        head: Buffer,  # noqa: ARG002
        spelling: Spelling,  # noqa: ARG002
    ) -> tuple[bytes, bytes]:
        return b"", b""

    def parse(self, block: SourceBlock) -> list[Any]:
        if block.partial:
            raise RefusedError(
                "a message is larger than 64 MiB", hint="-s raw packs messages of any size"
            )
        try:
            return self.read(bytes(block.data))
        except Malformed as bad:
            at = len(block.data) if bad.at is None else bad.at
            raise SyntaxInputError(
                f"not valid MessagePack: {bad.message}", offset=block.offset + at
            ) from None

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats._messages import Repeated

        try:
            return _records(data)
        except (ValueError, RecursionError, Repeated) as error:
            raise _explained(data, error) from None

    def write(self, records: list[Any]) -> bytes:
        from serialpack.formats import _messages

        return _messages.pack(records)


def _records(data: bytes) -> list[Any]:
    """The messages; ValueError, RecursionError or Repeated where not all of them can be held."""
    from serialpack.formats import _messages

    records = _messages.unpack(data)
    _messages.check_depth(records, data)
    # What is written as it was read has lost nothing: no key twice, no nanoseconds.
    if _messages.pack(records) == data:
        return records
    return _messages.unpack_exactly(data)


def _explained(data: bytes, error: Exception) -> Exception:
    """What is wrong with a sequence that could not be read, and where."""
    from serialpack.formats import _messagescan
    from serialpack.formats._messages import Repeated

    record = start = 0
    for end in message_ends(data)[0]:
        try:
            _records(data[start:end])
        except (ValueError, RecursionError, Repeated):
            break
        record, start = record + 1, end
    try:
        _messagescan.check(data, start, record)
    except (Malformed, Unheld) as found:
        return found
    return Malformed(str(error), start)


def message_ends(data: Buffer, most: int = -1) -> tuple[list[int], bool]:
    """Where messages end, ``most`` at most; and whether what is behind them begins none."""
    import msgpack

    limit = (1 << 32) - 1
    unpacker = msgpack.Unpacker(
        max_buffer_size=max(len(data), 1),
        max_str_len=limit,
        max_bin_len=limit,
        max_ext_len=limit,
        max_array_len=limit,
        max_map_len=limit,
    )
    unpacker.feed(data)
    skip, tell = unpacker.skip, unpacker.tell
    ends: list[int] = []
    try:
        while len(ends) != most:
            skip()
            ends.append(tell())
    except msgpack.OutOfData:
        return ends, False
    except ValueError:
        return ends, True
    return ends, False


class _MessageFinder(Finder):
    """Messages end where the library says, up to bytes that begin none: there it is lost."""

    def __init__(self) -> None:
        self._lost = False

    def _cut(self, buf: bytearray, start: int, limit: int, most: int = -1) -> Cut | None:
        if self._lost:
            raise Untold
        with memoryview(buf) as view:
            ends, self._lost = message_ends(view[start:limit], most)
        if ends:
            return Cut(start + ends[-1], len(ends))
        # All that was looked at, so that the place is within the block.
        return Cut(limit, None) if self._lost else None  # type: ignore[arg-type]  # not known

    def last(self, buf: bytearray, start: int, limit: int) -> Cut | None:
        return self._cut(buf, start, limit)

    def first(self, buf: bytearray, start: int, limit: int) -> Cut | None:
        return self._cut(buf, start, limit, 1)

    def rest(self, buf: bytearray, start: int) -> int | None:
        cut = self._cut(buf, start, len(buf)) or Cut(start, 0)
        return cut.records if cut.end == len(buf) else None

    def ends(
        self,
        buf: bytearray,  # noqa: ARG002
        start: int,  # noqa: ARG002
        limit: int,  # noqa: ARG002
        *,
        begin: bool,
    ) -> int | None:
        """Not looked for: all that follows a message of more than MAX_BLOCK is plain bytes."""
        if not begin:
            raise Untold
        return None
