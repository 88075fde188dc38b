"""msgpack: MessagePack messages, one after another, by msgpack-python."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from serialpack.kinds import BEYOND_JSON
from serialpack.serializers.base import ValueSerializer, check_finite
from serialpack.stage import Buffer

#: A double, or a float, that is not finite (or other bytes that look like one).
_NOT_FINITE = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")
_NOT_FINITE_32 = re.compile(rb"\xca[\x7f\xff][\x80-\xff]")


class MsgPack(ValueSerializer):
    """MessagePack, holding what JSON can say: no binary, no extensions, keys that are strings."""

    library = "msgpack"
    distribution = "msgpack"
    stored_format = "msgpack"
    cannot = BEYOND_JSON | {"bigint", "surrogates"}
    about = "MessagePack messages, by msgpack-python"

    def dump(self, records: list[Any]) -> bytes:
        import msgpack

        packer = msgpack.Packer(use_bin_type=True, strict_types=True, autoreset=False)
        for record in records:
            packer.pack(record)
        return bytes(packer.bytes())

    def load(self, data: Buffer) -> list[Any]:
        """An Unpacker of its own for each block: one that has failed must not be used again.

        No length is believed beyond the bytes at hand.
        """
        import msgpack

        size = len(data)
        unpacker = msgpack.Unpacker(
            raw=False,
            strict_map_key=True,
            max_buffer_size=max(size, 1),
            max_str_len=size,
            max_bin_len=0,
            max_ext_len=0,
            max_array_len=size,
            max_map_len=size // 2,
        )
        unpacker.feed(data)
        records = []
        ends = [0]
        for record in unpacker:
            records.append(record)
            ends.append(unpacker.tell())
        if ends[-1] != size:
            raise ValueError("the last message is not whole")
        for pattern in (_NOT_FINITE, _NOT_FINITE_32):
            for match in pattern.finditer(data):
                check_finite(records[bisect_right(ends, match.start()) - 1])
        return records
