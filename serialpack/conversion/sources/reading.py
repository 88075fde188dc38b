"""Reads the records of a source's blocks, and proves that reading them lost nothing.

``SourceReader.read`` takes a block and gives its records as values of Python; ``prove`` compares
such with the text of the block. ``alone`` cuts a block into its records, to find the bad ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rules import TEXT_TABLES
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.tables.from_text import row_reader
from serialpack.conversion.targets.verdicts import verdict
from serialpack.errors import (
    InputError,
    RefusedError,
    SerialpackError,
    SyntaxInputError,
    UsageError,
    ValueRefusedError,
)
from serialpack.formats import FORMATS
from serialpack.formats.base import (
    Difference,
    SourceBlock,
    Style,
    Unheld,
    ValueFormat,
    too_large,
)
from serialpack.formats.json.text import JsonText
from serialpack.formats.losses.reading import parse_lossy
from serialpack.formats.shared.lines import LINE_ENDS
from serialpack.pipeline.reading import Reading
from serialpack.reports import LeftOut
from serialpack.serializers import reader
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.values.kinds import NAN, NULLS, unplaced
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.conversion.tables.from_database import DatabaseReader

#: Makes the refusal of a value: the difference, and the number of the block's first record.
Refuse = Callable[[Difference, int], ValueRefusedError]


class Unspelled(Exception):
    """A block's text is not that of its values in any style: its numbers may have their own."""


class SourceReader:
    """Reads blocks of one source. ``refuse`` says what Python itself cannot hold."""

    def __init__(self, plan: ConversionPlan, refuse: Refuse) -> None:
        fmt = FORMATS.get(plan.source)
        assert isinstance(fmt, ValueFormat)
        self.format = fmt
        #: The format and the source's style, which prove what was read.
        self.half = Reading(fmt, plan.style)
        #: The same, as they read and prove the text of numbers.
        self._spelled = Reading(fmt.reading_literals(), plan.style)
        target = FORMATS.get(plan.target) if plan.target else fmt
        self._to_text = isinstance(target, ValueFormat) and (
            target.keeps_literals or target.takes_literals
        )
        self._plan = plan
        self._refuse = refuse
        self._untags = plan.tagged and fmt.declared.is_json
        self._decimal128 = target.declared.decimal128
        #: NaN in JSON, which has none, loses nothing where the target has it.
        has_nan = bool(plan.target) and verdict("non-finite", plan.target).word != "lost"
        self._beside = frozenset({NAN} if has_nan and fmt.declared.is_json else ())
        #: Whether ``read`` may lose what only the text says, which ``prove`` finds.
        self.by_text = fmt.restyled and not self._untags and plan.source_serializer is None
        self._database: DatabaseReader | None = None
        if fmt.declared.is_database:
            from serialpack.conversion.tables.from_database import DatabaseReader

            self._database = DatabaseReader(fmt, plan)
        self._rows = row_reader(fmt, plan)
        self.by_text = self.by_text and self._rows is None
        #: Whether there may be literals among what is read.
        self.has_literals = fmt.keeps_literals or self._rows is not None
        self._serializer: RecordSerializer | None = None
        if plan.source_serializer is not None:
            serializer = reader(*plan.source_serializer)
            assert isinstance(serializer, RecordSerializer)
            serializer.configure(plan.source_settings)
            self._serializer = serializer
        #: Whether there may be any of Python's objects among what is read.
        self.gives_objects = self._untags or (
            not fmt.safe if self._serializer is None else self._serializer.holds_objects
        )

    def read(
        self,
        block: SourceBlock,
        losses: Losses,
        *,
        lossy: bool = False,
        literals: bool = False,
        usual: bool = False,
    ) -> list[Any]:
        """The records of a block; SyntaxInputError, ValueRefusedError, RefusedError.

        ``lossy``: what ``losses`` allows is changed and counted, and ``prove`` is not needed.
        ``literals``: numbers that are spelled as Python does not are literals. ``usual``: as of
        ``TextProof``, which proves them afterwards, unless they are only looked at.
        """
        if block.partial:
            raise too_large(block)
        if self._serializer is not None:
            return self._stored(block, self._serializer)
        self._check_comments(block, losses)
        try:
            records = self._parsed(block, losses, lossy=lossy, literals=literals, usual=usual)
        except Unheld as unheld:
            refused = self._refuse(unheld.difference, block.first_record)
            if unheld.hint:
                refused.hint, refused.ways = unheld.hint, None
            raise refused from None
        return self._untagged(block, records) if self._untags else records

    def _parsed(
        self, block: SourceBlock, losses: Losses, *, lossy: bool, literals: bool, usual: bool
    ) -> list[Any]:
        """As ``read``, tags as they stand; Unheld in place of the refusal."""
        fmt = (self._spelled if literals else self.half).format
        allowed = losses.allowed | self._beside if lossy else frozenset[str]()
        if self._rows is not None:
            records, found = self._rows.read(block, allowed, literals=literals)
            if self._plan.target not in TEXT_TABLES:  # where it is written again
                losses.carry([loss for loss in found if loss.rule == NULLS], self._plan.target)
            found = [loss for loss in found if loss.rule != NULLS]
        elif self._database is not None:
            records, found = self._database.read(block)
        elif not lossy and not self._untags and not fmt.tells:
            return fmt.parse_quickly(block) if usual else fmt.parse(block)
        else:
            records, found = parse_lossy(fmt, block, allowed)
            if not fmt.safe:
                _check_far(records)
            if fmt.tells:
                check_dropped(found, losses, self._plan.target)
        losses.merge(found)
        return records

    def _untagged(self, block: SourceBlock, records: list[Any]) -> list[Any]:
        from serialpack.conversion.tagging.extended_json import BadTag, untag

        try:
            values = untag(records, decimal128=self._decimal128)
        except BadTag as bad:
            lost = bad.difference
            raise SyntaxInputError(
                f"not tagged JSON: record {block.first_record + lost.record}, {lost.value_path}:"
                f" {lost.was} {bad.reason}",
                offset=block.offset,
                hint="without --tagged it is read as it stands",
            ) from None
        if self._plan.structure == Structure.MAP and any(
            type(v) is not dict or len(v) != 1 for v in values
        ):
            raise RefusedError("a tag that is larger than a block is not read")
        return values

    def prove(
        self, block: SourceBlock, records: list[Any], *, literals: bool = False
    ) -> Difference | None:
        """What of the block's text is not in ``records``: those read, or those that they became.

        ``literals``: as ``read``; then also the text of a number. One of
        ``serializers.base.FAILURES`` where the records are none of its format.
        """
        return (self._spelled if literals else self.half).prove(block, records).lost

    def is_usual(self, block: SourceBlock, records: list[Any]) -> bool:
        """Whether the block's text is that of ``records`` in the source's style, and the text of
        numbers the target's."""
        return self.half.is_usual(block, records) and self._floats_alike(block, self.half.style)

    def spells(self, block: SourceBlock, records: list[Any]) -> bool:
        """As ``is_usual``, or in another style; False is no proof of a difference."""
        style = self.half.style_of(block, records)
        return style is not None and self._floats_alike(block, style)

    def _floats_alike(self, block: SourceBlock, style: Style) -> bool:
        assert isinstance(self.format, JsonText)
        return not self._to_text or self.format.spells_floats(block, style, self._plan.target)

    def tell_header(self, block: SourceBlock, losses: Losses) -> None:
        """Count in ``losses`` what is told of a table's header, which stands in none of ``alone``.

        What is wrong with it, each record tells.
        """
        declared, head = self.format.declared, b""
        if not block.index and declared.delimiter and not declared.headless:
            head = self._below_header(block).context
        told = Losses(losses.allowed)
        try:
            if head:
                above = block._replace(data=head, records=0)
                self.read(above, told, lossy=bool(self._plan.lossy))
        except (InputError, RefusedError):
            return
        losses.merge(told.report())

    def _below_header(self, block: SourceBlock) -> SourceBlock:
        """The block as if its source had another before it, which has its header."""
        later, style = block._replace(index=max(block.index, 1)), self._plan.style
        return self.format.in_source(later, style, lambda: block.data)

    def alone(
        self, block: SourceBlock, *, blank: bool = False
    ) -> Iterator[tuple[SourceBlock, SourceReader]]:
        """Each record of a block as a block of its own, and what reads it; with ``blank`` also
        the lines that are records of one empty field.

        The block itself where its records cannot be told apart.
        """
        fmt, data = self.format, bytes(block.data)
        first = block.index == 0
        # Where nobody counted them, what follows the last comma could be a piece of one.
        told = block.records is not None or (first and block.last)
        if block.partial or not told or (block.records == 0 and not first):
            yield block, self
            return
        try:
            count = sum(1 for _ in fmt.record_spans(data, self._plan.style, first=first))
        except (UsageError, ValueError):
            yield from self._split_again(block)
            return
        if not count or block.records not in (None, count):
            yield block, self
            return
        each = self
        around = block
        if first and fmt.declared.delimiter:  # no record has the header
            around = self._below_header(block)
        if fmt.declared.is_json_text:
            each = SourceReader(self._plan._replace(source="ndjson", style={}), self._refuse)
        spans = fmt.record_spans(data, self._plan.style, first=first)
        if blank and fmt.declared.delimiter:
            from serialpack.formats.csv.csv import CsvFormat

            assert isinstance(fmt, CsvFormat)
            spans = fmt.value_spans(block, self._plan.style)
        for number, (start, end) in enumerate(spans):
            yield self._part(around, data, slice(start, end), number), each

    def _part(self, block: SourceBlock, data: bytes, place: slice, number: int) -> SourceBlock:
        """The record ``number`` of a block, which stands at ``place`` of its ``data``."""
        text, above = data[place], data[: place.start]
        if self.format.declared.is_json_text:
            # A line of its own, wherever it breaks the lines of the source.
            text = text.translate(_ONE_LINE)
            text = b"{%b}" % text if self._plan.structure == Structure.MAP else text
        return block._replace(
            data=text,
            index=max(block.index, 1),  # no header stands in it
            offset=block.offset + place.start,
            records=int(bool(text.strip(LINE_ENDS))),  # a blank line has been counted nowhere
            first_record=block.first_record + number,
            last=False,
            line=block.line + above.count(b"\n") if block.line >= 0 else -1,
            column=_column(block, above),
        )

    def _split_again(self, block: SourceBlock) -> Iterator[tuple[SourceBlock, SourceReader]]:
        """As ``alone``, for formats whose records have no places: split as finely as can be."""
        parts = []
        if not block.partial and not block.inside:
            data = block.context + bytes(block.data)
            parts = list(self.format.split(BytesIO(data).read, 1, for_values=True))
        if len(parts) < 2:
            yield block, self
            return
        before = len(block.context)
        for part in parts:
            if part.data and part.records != 0:
                yield (
                    part._replace(
                        offset=block.offset + part.offset - before,
                        first_record=block.first_record + part.first_record,
                        line=block.line + part.line if block.line >= 0 else -1,
                    ),
                    self,
                )

    def broken_around(
        self, block: SourceBlock, count: int, good: bytes, bad: list[SourceBlock]
    ) -> LeftOut | None:
        """What is wrong with a block beside the ``bad`` ones of its ``count`` records, if anything.

        ``good``: a record that is not bad, which is put in the place of each that is.
        """
        declared = self.format.declared
        # The header of a table stands in none of its records; that of an array says how many.
        has_header = block.context and not declared.delimiter
        if bad and (not good or has_header or declared.is_array):
            return None
        added = int(
            self._plan.structure == Structure.MAP and self.format.declared.is_json_text
        )  # a brace each
        good = good[added : len(good) - added]
        data, at, pieces = bytes(block.data), 0, []
        for part in bad:
            start = part.offset - block.offset
            pieces += [data[at:start], good]
            at = start + len(part.data) - 2 * added
        whole = block._replace(data=b"".join((*pieces, data[at:])))
        try:
            self.read(whole, Losses(self._plan.lossy), lossy=bool(self._plan.lossy))
        except InputError as error:
            return LeftOut(block.first_record + count, block.offset, None, error.said)
        except RefusedError:  # of a value: the records were looked at one by one
            pass
        return None

    def _stored(self, block: SourceBlock, serializer: RecordSerializer) -> list[Any]:
        try:
            records = serializer.load(block.context + bytes(block.data))
            return _check_far(records) if serializer.identity else records
        except FAILURES as error:
            raise SyntaxInputError(
                f"{serializer.name} cannot read it: {error}", offset=block.offset
            ) from None

    def _check_comments(self, block: SourceBlock, losses: Losses) -> None:
        found = self.format.comments(block)
        if found is None:
            return
        check_dropped([found], losses, self._plan.target)
        losses.merge([found])


class TextProof(NamedTuple):
    """What compares records with the text of the block that they are of.

    ``usual``: only with what its style makes of them, which is fast. ``literals``: as of ``read``.
    """

    reader: SourceReader
    usual: bool = False
    literals: bool = False

    def prove(self, block: SourceBlock, records: list[Any]) -> Difference | None:
        """As ``SourceReader.prove``; Unspelled where ``usual`` does not tell."""
        if not self.usual:
            return self.reader.prove(block, records, literals=self.literals)
        if not self.reader.spells(block, records):
            raise Unspelled
        return None

    def prove_read(self, block: SourceBlock, records: list[Any]) -> Difference | None:
        """As ``prove``, of the records that were read: of those it never fails."""
        try:
            return self.prove(block, records)
        except FAILURES as error:
            return unplaced(error)


def left_out_of(block: SourceBlock, records: int | None, error: Exception) -> LeftOut:
    """That ``records`` of a block were left out, because of ``error``."""
    if not isinstance(error, SerialpackError):
        return LeftOut(block.first_record, block.offset, records, str(error))
    if isinstance(error, ValueRefusedError) and error.ways is not None and error.ways.skip_bad:
        error.hint = None  # it is what was done
    refused = isinstance(error, RefusedError)
    return LeftOut(block.first_record, block.offset, records, error.said, refused)


def _column(block: SourceBlock, before: bytes) -> int:
    """The characters before a part of a block, on its line."""
    last = before[before.rfind(b"\n") + 1 :]
    around = 0 if b"\n" in before else block.column
    return around + len(last.decode("utf-8", "replace"))


_ONE_LINE = bytes.maketrans(b"\n\r", b"  ")


def _check_far(records: list[Any]) -> list[Any]:
    from serialpack.formats.shared.expansion import check_far  # few sources are pickles

    return check_far(records)
