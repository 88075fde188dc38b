"""How the records of many blocks become one file of MessagePack."""

from __future__ import annotations

from typing import ClassVar

from serialpack.formats.msgpack.heads import head
from serialpack.formats.pieces.join import CountedJoin
from serialpack.msgpack_bytes import FIX_LIST, FIX_MAP, LIST_16, MAP_16
from serialpack.values.structure import Structure


class MsgPackJoin(CountedJoin):
    """MessagePack."""

    null = b"\xc0"
    _long: ClassVar[dict[str, int]] = {Structure.ARRAY: LIST_16 + 1, Structure.MAP: MAP_16 + 1}

    def counted(self, structure: Structure, count: int) -> bytes:
        kinds = {Structure.ARRAY: FIX_LIST, Structure.MAP: FIX_MAP}
        return head(kinds[structure], count) if structure in kinds else b""
