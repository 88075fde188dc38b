"""TOML, as the standard library reads and tomli-w writes it: the document is one record."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from serialpack.formats.base import SourceBlock
from serialpack.formats.shared.comments import comments, in_toml
from serialpack.formats.shared.document import DocumentFormat
from serialpack.stages.stage import import_library
from serialpack.values.kinds import DIGITS, UTF8, Loss

#: What stands before each document of a block. tomli-w writes no comments, and newlines in texts
#: only as escapes: so nothing else looks like it.
_BEGIN = "#---\n"

#: A float, but no infinity or NaN. Integers are not meant: their values are all of them.
_FLOAT = re.compile(
    r"[-+]?(?:0|[1-9](?:_?[0-9])*)"
    r"(?:\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?|[eE][-+]?[0-9](?:_?[0-9])*)"
)


class TomlFormat(DocumentFormat):
    """A TOML document. Comments and the style of the text are not values.

    Integers have 64 bits: TOML promises no more, and other readers refuse them.
    """

    one_record = True
    about = "a TOML document"
    title: ClassVar[str] = "TOML"
    heeds = frozenset({DIGITS, UTF8})
    keeps_literals = True

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats.toml.read import read

        return [read(data, self.marks, literals=self.literals)]

    def literal_of(self, text: str) -> str | None:
        return text if _FLOAT.fullmatch(text) else None

    def comments(self, block: SourceBlock) -> Loss | None:
        return comments(block, (b"#",), in_toml)

    def write(self, records: list[Any]) -> bytes:
        import_library("tomli_w", "toml")
        from serialpack.formats.toml.write import write

        if len(records) != 1:
            raise ValueError(f"{len(records)} records, a TOML document is one")
        return write(records[0]).encode()

    def write_stored(self, records: list[Any]) -> bytes:
        from serialpack.formats.toml.write import write

        return "".join(_BEGIN + write(record) for record in records).encode()

    def read_stored(self, data: bytes) -> list[Any]:
        from serialpack.formats.toml.read import read

        before, *documents = re.split(rb"^#---\n", data, flags=re.MULTILINE)
        if before:
            raise ValueError("does not begin with #---")
        return [read(document) for document in documents]
