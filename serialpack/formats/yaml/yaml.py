"""YAML by its core schema (1.2), or by YAML 1.1: each document is a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from serialpack.formats.base import Read, SourceBlock, Style, StyleTypes
from serialpack.formats.shared.comments import comments, in_yaml
from serialpack.formats.shared.document import DocumentFormat
from serialpack.formats.shared.split import split_plain, split_records
from serialpack.formats.yaml.split import YamlFinder
from serialpack.stages.stage import import_library
from serialpack.values.kinds import DIGITS, DUPLICATES, UTF8, Loss

if TYPE_CHECKING:
    from serialpack.formats.yaml.join import YamlJoin


class YamlFormat(DocumentFormat):
    """YAML documents, in UTF-8. Comments and the style of the text are not values.

    Plain text is read by the core schema of YAML 1.2 (1.2.2, section 10.3), and by YAML 1.1 where
    a document says so (``%YAML 1.1``). Of tags those of YAML 1.1 are read that have a Python
    value: null, bool, int, float, timestamp, binary, str, seq, map and set; and the key ``<<``
    merges maps, which is no part of YAML 1.2 and which files of all kinds count on. What anchors
    and aliases share stays shared. What is written is the same to readers of both versions.
    """

    style_types: ClassVar[StyleTypes] = {"e": (bool,)}
    about = "YAML documents, by YAML 1.2"
    core: ClassVar[bool] = True
    title: ClassVar[str] = "YAML"
    heeds = frozenset({DIGITS, DUPLICATES, UTF8})
    keeps_literals = True

    @property
    def join(self) -> YamlJoin:
        from serialpack.formats.yaml.join import YamlJoin

        return YamlJoin()

    def split(
        self,
        read: Read,
        block_size: int,
        *,
        for_values: bool = False,
        most_values: int = 0,  # noqa: ARG002
    ) -> Iterator[SourceBlock]:
        if not for_values:
            return split_plain(read, block_size)
        return split_records(read, block_size, YamlFinder(), for_values=True)

    def read(self, data: bytes) -> list[Any]:
        return self._read(data, 0)

    def read_block(self, block: SourceBlock) -> list[Any]:
        return self._read(bytes(block.data), max(block.line, 0))

    def _read(self, data: bytes, line: int) -> list[Any]:
        import_library("yaml", "yaml")
        from serialpack.formats.yaml.read import read

        return read(data, self.marks, line, core=self.core, literals=self.literals)

    def literal_of(self, text: str) -> str | None:
        from serialpack.formats.yaml.scalars import literal_of

        return literal_of(text)

    def comments(self, block: SourceBlock) -> Loss | None:
        import_library("yaml", "yaml")
        return comments(block, (b"#",), in_yaml)

    def write(self, records: list[Any]) -> bytes:
        import_library("yaml", "yaml")
        from serialpack.formats.yaml.write import write

        return write(records, explicit=False, core=self.core)

    def write_stored(self, records: list[Any]) -> bytes:
        import_library("yaml", "yaml")
        from serialpack.formats.yaml.write import write

        return write(records, explicit=True)

    def read_stored(self, data: bytes) -> list[Any]:
        """As ``read``, by YAML 1.1, as stored text was always written; it means the same by either
        version."""
        import_library("yaml", "yaml")
        from serialpack.formats.yaml.read import read

        return read(data, core=False)

    def style_changes(self, block: SourceBlock, style: Style) -> Style:
        """Whether the end of the last document is marked, as it is before directives of the next
        one."""
        last = bytes(block.data[-_LAST_LINE:]).rstrip(b"\r\n").rpartition(b"\n")[2]
        ends = last.startswith(b"...") and not block.last
        return {"e": ends} if ends != style.get("e", False) else {}

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:
        import_library("yaml", "yaml")
        from serialpack.formats.yaml.write import write

        text = write(records, explicit=False, first=first, core=self.core)
        return text + _END if style.get("e") and not text.endswith(b"\n" + _END) else text


class Yaml11Format(YamlFormat):
    """As ``YamlFormat``, by YAML 1.1 as PyYAML has it: ``no`` is false, ``2001-12-14`` a date.

    This is what all YAML was read as up to 0.1, so its number is that of the containers then.
    """

    about = "YAML documents, by YAML 1.1"
    core = False


_END = b"...\n"

#: Bytes at the end of a block in which the mark of its end is looked for.
_LAST_LINE = 1 << 10
