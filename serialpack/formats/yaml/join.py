"""How the records of many blocks become one file of YAML."""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.formats.shared.join import Around, Join


class YamlJoin(Join):
    """Documents; the lines of an array or of a map go on in the next piece."""

    maps = True
    around: ClassVar[dict[str, Around]] = {
        "n": Around(between=b"---\n"),
        "a": Around(empty=b"[]\n"),
        "m": Around(empty=b"{}\n"),
    }

    def lowered(self, records: list[Any], structure: str) -> list[Any]:
        return [records] if structure == "a" else super().lowered(records, structure)

    def raised(self, dumped: list[Any], structure: str) -> list[Any]:
        return dumped[0] if structure == "a" else super().raised(dumped, structure)
