"""msgspec-msgpack: MessagePack messages, one after another, by msgspec."""

from __future__ import annotations

from functools import cache
from typing import Any

from serialpack.formats.msgpack.heads import without_head
from serialpack.serializers._msgpack_shared import Messages, read_messages
from serialpack.stages.stage import Buffer


class MsgSpecMsgPackSerializer(Messages):
    """msgspec's MessagePack. What it has an own idea of (tuples, sets, dates and objects become
    arrays, text and maps, an offset is dropped) is left to the proof.
    """

    library = "msgspec"
    distribution = "msgspec"
    compiled = True
    holds_structs = True
    about = "MessagePack messages, by msgspec"

    def _dump(self, records: list[Any]) -> bytes:
        import msgspec

        try:
            if len(records) == 1:
                message: bytes = _encoder().encode(records[0])
                return message
            return without_head(_encoder().encode(records), len(records))
        except msgspec.EncodeError as error:  # for a length beyond 32 bits
            raise ValueError(str(error)) from None

    def _load(self, data: Buffer) -> list[Any]:
        decode = _decoder().decode
        try:
            return [decode(data)]
        except ValueError:
            pass  # more than one message, most likely
        return read_messages(data, decode)


@cache
def _encoder() -> Any:
    import msgspec

    return msgspec.msgpack.Encoder()


@cache
def _decoder() -> Any:
    import msgspec

    return msgspec.msgpack.Decoder()
