"""How the records of many blocks become one file of MessagePack."""

from __future__ import annotations

from typing import ClassVar

from serialpack.formats.msgpack.heads import head
from serialpack.formats.shared.join import CountedJoin


class MsgPackJoin(CountedJoin):
    """MessagePack."""

    _long: ClassVar[dict[str, int]] = {"a": 0xDD, "m": 0xDF}

    def counted(self, structure: str, count: int) -> bytes:
        kinds = {"a": 0x90, "m": 0x80}
        return head(kinds[structure], count) if structure in kinds else b""
