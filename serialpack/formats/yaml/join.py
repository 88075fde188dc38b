"""How the records of many blocks become one file of YAML."""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.formats.pieces.join import Around, Join
from serialpack.values.structure import Structure


class YamlJoin(Join):
    """Documents; the lines of an array or of a map go on in the next piece."""

    maps = True
    around: ClassVar[dict[str, Around]] = {
        Structure.SEQUENCE: Around(between=b"---\n"),
        Structure.ARRAY: Around(empty=b"[]\n"),
        Structure.MAP: Around(empty=b"{}\n"),
    }

    def lowered(self, records: list[Any], structure: Structure) -> list[Any]:
        return [records] if structure == Structure.ARRAY else super().lowered(records, structure)

    def raised(self, dumped: list[Any], structure: Structure) -> list[Any]:
        return dumped[0] if structure == Structure.ARRAY else super().raised(dumped, structure)
