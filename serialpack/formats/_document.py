"""Formats that a library reads and writes whole: a file is one block, and its values are proved.

A subclass says ``read`` and ``write``; the rest follows. The text that unpacking writes is the
library's: the very bytes come back where those are the same, else the same values. A serializer
whose own format it is keeps the bytes as they are (``Serializer.keeps``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from serialpack.errors import RefusedError, SyntaxInputError
from serialpack.formats._cutting import cut_plain
from serialpack.formats.base import (
    MAX_BLOCK,
    Difference,
    Read,
    SourceBlock,
    Spelling,
    ValueFormat,
)
from serialpack.stage import Buffer


class Malformed(ValueError):
    """Bytes that break the rules of their format; ``at``: from which byte on, where known."""

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class DocumentFormat(ValueFormat):
    """A format that is read and written as a whole."""

    #: What messages call it: ``YAML``.
    title: ClassVar[str]
    #: Whether places in it are told by line and column.
    is_text: ClassVar[bool] = False

    @abstractmethod
    def read(self, data: bytes) -> list[Any]:
        """The records of a whole source.

        Malformed where the bytes break the format's rules, Unheld for a value that Python cannot
        hold, RefusedError for a limit, MissingLibraryError where the library is absent. Within
        two seconds and 200 MB for hostile bytes of a few kilobytes, whatever they ask for.
        """

    @abstractmethod
    def write(self, records: list[Any]) -> bytes:
        """The records in this format; ValueError, TypeError, OverflowError or RecursionError
        (subclasses too) for a value that it cannot hold."""

    def cut(
        self, read: Read, block_size: int, *, for_values: bool = False
    ) -> Iterator[SourceBlock]:
        if not for_values:
            yield from cut_plain(read, block_size)
            return
        data = read(MAX_BLOCK + 1)
        if len(data) > MAX_BLOCK:
            raise RefusedError(
                f"a {self.title} source of more than 64 MiB is not read as values",
                hint="-s raw packs files of any size",
            )
        yield SourceBlock(data, index=0, offset=0, last=True, line=0)

    def learn(self, block: SourceBlock) -> Spelling:  # noqa: ARG002
        return {}

    def parse(self, block: SourceBlock) -> list[Any]:
        data = bytes(block.data)
        try:
            return self.read(data)
        except Malformed as bad:
            raise self._placed(data, bad) from None

    def spell(
        self,
        records: list[Any],
        spelling: Spelling,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> bytes:
        return self.write(records)

    def respell(self, block: SourceBlock, spelling: Spelling) -> Spelling:  # noqa: ARG002
        return {}

    def respellings(
        self,
        block: SourceBlock,  # noqa: ARG002
        spelling: Spelling,  # noqa: ARG002
    ) -> Iterator[Spelling]:
        return iter(())

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        return compared(self.parse(block), self.parse(block._replace(data=restored)))

    def _placed(self, data: bytes, bad: Malformed) -> SyntaxInputError:
        at = len(data) if bad.at is None else bad.at
        line = column = None
        if self.is_text and bad.at is not None:
            before = data[:at].decode("utf-8", "replace")
            line = before.count("\n") + 1
            column = len(before) - before.rfind("\n")
        return SyntaxInputError(
            f"not valid {self.title}: {bad.message}", offset=at, line=line, column=column
        )


def compared(before: list[Any], after: list[Any]) -> Difference | None:
    """The first difference between two lists of records, compared strictly."""
    from serialpack.values import difference

    if len(before) != len(after):
        return Difference(0, "$", f"{len(before)} records", str(len(after)), "value")
    for number, pair in enumerate(zip(before, after, strict=True)):
        if (lost := difference(*pair, record=number)) is not None:
            return lost
    return None
