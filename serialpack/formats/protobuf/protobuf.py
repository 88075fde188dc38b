"""Protocol Buffers as a source: a delimited stream of google.protobuf.Value.

A message does not say what its fields mean, and a file not where a message ends. So a source is
read as values only in the one form that needs no schema: messages of google.protobuf.Value, each
behind its length as a varint (Java's ``writeDelimitedTo``). A file of one bare message is not
guessed at. The serializer of this name also checks streams of other messages, given their schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serialpack.formats.base import Unheld
from serialpack.formats.protobuf import wire
from serialpack.formats.shared.document import SequenceFormat

if TYPE_CHECKING:
    from serialpack.formats.pieces.join import Join


class ProtobufFormat(SequenceFormat):
    """Messages one after another, each behind its length. Streams put together are a stream."""

    title = "delimited google.protobuf.Value"
    about = "Protocol Buffers, messages behind their lengths"

    scan = staticmethod(wire.scan)

    @property
    def join(self) -> Join:
        from serialpack.formats.pieces.join import Join

        return Join()

    def read(self, data: bytes) -> list[Any]:
        records: list[Any] = []
        for start, end in wire.split_delimited(data):
            try:
                records.append(wire.read_value(data, start, end))
            except Unheld as lost:
                raise Unheld(lost.difference._replace(record=len(records))) from None
        return records

    def write(self, records: list[Any]) -> bytes:
        return wire.delimited(map(wire.write_value, records))
