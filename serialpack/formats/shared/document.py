"""Formats that a library reads and writes whole: a file is one block, and its values are proved.
Where records can be told apart without reading them, ``split`` does so, and each block is read.

A subclass says ``read`` and ``write``; the rest follows. The text that unpacking writes is the
library's: the very bytes come back where those are the same, else the same values. A serializer
whose own format it is keeps the bytes as they are (``Serializer.keeps``).
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats.base import (
    MAX_BLOCK,
    Difference,
    Read,
    SourceBlock,
    Span,
    Style,
    ValueFormat,
    too_large,
)
from serialpack.formats.shared.split import (
    Scan,
    SequenceFinder,
    fewer_bytes,
    record_ends,
    split_plain,
    split_records,
)
from serialpack.stages.stage import Buffer
from serialpack.text import with_article
from serialpack.values.kinds import BEYOND_JSON

if TYPE_CHECKING:
    from serialpack.formats.shared.large import ReadAt


#: What is wrong with a file of no bytes, where its format has none such.
EMPTY = "there is nothing in it"


class Malformed(ValueError):
    """Bytes that break the rules of their format; ``at``: from which byte on, where known;
    ``hint``: the way out, where there is one."""

    def __init__(self, message: str, at: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint


class Unwritable(ValueError):
    """A value that a format does not write, where that is known; ``difference`` says which."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.was)
        self.difference = difference


class DocumentFormat(ValueFormat):
    """A format that is read and written as a whole."""

    #: What messages call it: ``YAML``.
    title: ClassVar[str]
    #: Kinds of values that it has no words for, where no serializer of its name declares them.
    cannot: ClassVar[frozenset[str]] = BEYOND_JSON
    #: Those kinds in ``cannot`` of which it has words for some values.
    partly: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def read(self, data: bytes) -> list[Any]:
        """The records of a whole source.

        Malformed where the bytes break the format's rules, Unheld for a value that Python cannot
        hold, RefusedError for a limit, MissingLibraryError where the library is absent. Within
        two seconds and 200 MB for hostile bytes of a few kilobytes, whatever they ask for.
        """

    def flat_names(self, block: SourceBlock) -> list[str] | None:  # noqa: ARG002
        """The names of the columns of a block of a table, in which no value holds others, and whose
        records all have these keys; None where that is not known without reading them."""
        return None

    def flat_columns(self, block: SourceBlock) -> dict[str, Sequence[Any]] | None:  # noqa: ARG002
        """The values of such columns, as those of the records that ``parse`` gives; None where it
        takes the records, of which something may be told. Errors as of ``read_block``."""
        return None

    def read_written(self, data: bytes) -> list[Any]:
        """As ``read``, of what ``write`` has just written here."""
        return self.read(data)

    @abstractmethod
    def write(self, records: list[Any]) -> bytes:
        """The records in this format; ValueError, TypeError, OverflowError or RecursionError
        (subclasses too) for a value that it cannot hold."""

    def check_document(self, document: Any) -> None:
        """ValueRefusedError for what cannot be the one document of a file."""

    def write_stored(self, records: list[Any]) -> bytes:
        """As ``write``, for a block of a container: any number of records."""
        return self.write(records)

    def read_stored(self, data: bytes) -> list[Any]:
        """As ``read``, of what ``write_stored`` wrote; whatever is wrong may be a ValueError."""
        return self.read_written(data)

    def split(
        self,
        read: Read,
        block_size: int,
        *,
        for_values: bool = False,
        most_values: int = 0,  # noqa: ARG002
    ) -> Iterator[SourceBlock]:
        return self._split_whole(read) if for_values else split_plain(read, block_size)

    def _split_whole(self, read: Read) -> Iterator[SourceBlock]:
        data = read(MAX_BLOCK + 1)
        if len(data) > MAX_BLOCK:
            raise self.too_large()
        yield SourceBlock(data, index=0, offset=0, last=True, line=0)

    def too_large(self) -> RefusedError:
        """Why a source of more than ``MAX_BLOCK`` is not read as values."""
        return RefusedError(
            f"{with_article(self.title)} source of more than 64 MiB is not read as values",
            hint="pack -s raw keeps the bytes",
        )

    def small_values(self, read: ReadAt, size: int, most: int) -> dict[str, str]:  # noqa: ARG002
        """Name -> what it is, in words, of up to ``most`` values that ``large_values`` does not
        give."""
        return {}

    def look_at_head(self, read: Read, count: int) -> bytes | None:
        """Lines of JSON; None for what runs code, and for text whose records say where they end."""
        has_spans = type(self).record_spans is not DocumentFormat.record_spans
        if not self.safe or (has_spans and self.declared.is_text):
            return None
        from serialpack.formats.shared.preview import first_lines

        return first_lines(self, read, count)

    def detect_style(self, block: SourceBlock) -> Style:  # noqa: ARG002
        return {}

    def parse(self, block: SourceBlock) -> list[Any]:
        if block.partial:
            raise too_large(block)
        records = self._placed_records(block)
        if len(records) != block.records and (block.index or block.records is not None):
            raise self._placed(block, Malformed("records cannot be told apart from here on", 0))
        return records

    def _placed_records(self, block: SourceBlock) -> list[Any]:
        """As ``read_block``, with errors that say where in the source it is."""
        try:
            return self.read_block(block)
        except Malformed as bad:
            raise self._placed(block, bad) from None
        except ValueRefusedError as refused:
            if refused.record is not None:
                refused.record += block.first_record
            raise

    def read_block(self, block: SourceBlock) -> list[Any]:
        """As ``read``, of a block that ``split`` has made. Places are those in the block."""
        return self.read(bytes(block.data))

    def write_text(
        self,
        records: list[Any],
        style: Style,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> bytes:
        return self.write(records)

    def style_changes(self, block: SourceBlock, style: Style) -> Style:  # noqa: ARG002
        return {}

    def style_guesses(
        self,
        block: SourceBlock,  # noqa: ARG002
        style: Style,  # noqa: ARG002
    ) -> Iterator[Style]:
        return iter(())

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        after = self._placed_records(block._replace(data=restored))
        return compared(self.parse(block), after)

    def _placed(self, block: SourceBlock, bad: Malformed) -> SyntaxInputError:
        at = len(block.data) if bad.at is None else bad.at
        line = column = None
        if self.declared.is_text and bad.at is not None:
            before = bytes(block.data[:at]).decode("utf-8", "replace")
            newlines = before.count("\n")
            line = max(block.line, 0) + newlines + 1
            column = len(before) - before.rfind("\n") + (0 if newlines else block.column)
        is_empty = block.last and not (block.index or block.data)
        return SyntaxInputError(
            f"not valid {self.title}: {EMPTY if is_empty else bad.message}",
            offset=block.offset + at,
            line=line,
            column=column,
            hint=bad.hint,
        )


class SequenceFormat(DocumentFormat):
    """A format whose files are records one after another, which say where they end."""

    @staticmethod
    @abstractmethod
    def scan(view: memoryview, most: int, ends: array[int] | None = None) -> Scan:
        """The records at the front of ``view``, ``most`` at most (-1: all of them).

        ``ends`` gets the place where each one ends.
        """

    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        if not for_values:
            return split_plain(read, block_size)
        size = fewer_bytes(block_size, most_values)
        return split_records(read, size, SequenceFinder(self.scan), for_values=True)

    def record_spans(
        self,
        data: Buffer,
        style: Style,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> Iterator[Span]:
        return pairwise(chain((0,), record_ends(self.scan, data)))

    def slice_ends(
        self,
        head: Buffer,  # noqa: ARG002
        style: Style,  # noqa: ARG002
    ) -> tuple[bytes, bytes]:
        return b"", b""


def compared(before: list[Any], after: list[Any]) -> Difference | None:
    """The first difference between two lists of records, compared strictly."""
    from serialpack.values.equality import difference
    from serialpack.values.quick_equality import quickly_same

    if len(before) != len(after):
        return Difference(0, "$", f"{len(before)} records", str(len(after)), "value")
    if quickly_same(before, after, identity=False):  # in one go, which is mostly all
        return None
    for number, pair in enumerate(zip(before, after, strict=True)):
        if (lost := difference(*pair, record=number)) is not None:
            return lost
    return None
