"""YAML 1.1, as PyYAML reads and writes it: each document is a record."""

from __future__ import annotations

from typing import Any, ClassVar

from serialpack.formats._document import DocumentFormat
from serialpack.stage import import_library


class Yaml(DocumentFormat):
    """YAML documents, in UTF-8. Comments and the style of the text are not values.

    Read are the tags of YAML 1.1 that have a Python value: null, bool, int, float, timestamp,
    binary, str, seq, map, set and merge. What anchors and aliases share stays shared.
    """

    name = "yaml"
    number = 7
    about = "YAML documents"
    title: ClassVar[str] = "YAML"
    is_text: ClassVar[bool] = True

    def read(self, data: bytes) -> list[Any]:
        import_library("yaml", "yaml")
        from serialpack.formats._yamlread import read

        return read(data)

    def write(self, records: list[Any]) -> bytes:
        import_library("yaml", "yaml")
        from serialpack.formats._yamlwrite import write

        return write(records, explicit=False)
