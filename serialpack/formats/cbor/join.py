"""How the records of many blocks become one file of CBOR."""

from __future__ import annotations

from typing import ClassVar

from serialpack.formats.pieces.join import CountedJoin
from serialpack.values.structure import Structure


class CborJoin(CountedJoin):
    """CBOR."""

    null = b"\xf6"
    _long: ClassVar[dict[str, int]] = {Structure.ARRAY: 0x9A, Structure.MAP: 0xBA}

    def counted(self, structure: Structure, count: int) -> bytes:
        major = {Structure.ARRAY: 0x80, Structure.MAP: 0xA0}.get(structure)
        if major is None:
            return b""
        if count < 24:
            return bytes([major | count])
        size = next(n for n in range(4) if count < 1 << (8 << n))
        return bytes([major | 24 + size]) + count.to_bytes(1 << size)
