"""How the records of many blocks become one file of MessagePack."""

from __future__ import annotations

from typing import ClassVar

from serialpack.formats.msgpack.heads import head
from serialpack.formats.shared.join import CountedJoin
from serialpack.values.structure import Structure


class MsgPackJoin(CountedJoin):
    """MessagePack."""

    _long: ClassVar[dict[str, int]] = {Structure.ARRAY: 0xDD, Structure.MAP: 0xDF}

    def counted(self, structure: Structure, count: int) -> bytes:
        kinds = {Structure.ARRAY: 0x90, Structure.MAP: 0x80}
        return head(kinds[structure], count) if structure in kinds else b""
