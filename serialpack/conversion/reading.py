"""The records of a source's blocks, and the proof that reading them lost nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from serialpack.conversion.losses import Losses
from serialpack.conversion.plan import TAGGED, Plan
from serialpack.errors import RefusedError, SyntaxInputError, UsageError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import Difference, SourceBlock, Unheld, ValueFormat
from serialpack.serializers import reader
from serialpack.serializers.base import FAILURES, ValueSerializer

#: Makes the refusal of a value: the difference, and the number of the block's first record.
Refuse = Callable[[Difference, int], ValueRefusedError]


class Reader:
    """Reads blocks of one source. ``refuse`` says what Python itself cannot hold."""

    def __init__(self, plan: Plan, refuse: Refuse) -> None:
        fmt = FORMATS.get(plan.source)
        assert isinstance(fmt, ValueFormat)
        self.format = fmt
        self._plan = plan
        self._refuse = refuse
        self._untags = plan.tagged and plan.source in TAGGED
        #: Whether ``read`` may lose what only the text says, which ``unread`` finds.
        self.by_text = fmt.respelled and not self._untags and plan.source_serializer is None
        self._serializer: ValueSerializer | None = None
        if plan.source_serializer is not None:
            serializer = reader(*plan.source_serializer)
            assert isinstance(serializer, ValueSerializer)
            serializer.configure(plan.source_settings)
            self._serializer = serializer

    def read(self, block: SourceBlock, losses: Losses, *, lossy: bool = False) -> list[Any]:
        """The records of a block; SyntaxInputError, ValueRefusedError, RefusedError.

        ``lossy``: what ``losses`` allows is changed and counted, and ``unread`` is not needed.
        """
        if block.partial:
            raise RefusedError("a record is larger than 64 MiB")
        if self._serializer is not None:
            return self._stored(block, self._serializer)
        self._check_comments(block, losses)
        try:
            if not lossy and not self._untags:
                return self.format.parse(block)
            allowed = losses.allowed if lossy else frozenset[str]()
            records, found = self.format.parse_lossy(block, allowed)
        except Unheld as unheld:
            raise self._refuse(unheld.difference, block.first_record) from None
        losses.merge(found)
        if not self._untags:
            return records
        from serialpack.conversion.tagged import BadTag, untag

        try:
            values = untag(records, of_bson=self._plan.target == "bson")
        except BadTag as bad:
            lost = bad.difference
            raise SyntaxInputError(
                f"not tagged JSON: record {block.first_record + lost.record}, {lost.value_path}:"
                f" {lost.was} {bad.reason}",
                offset=block.offset,
                hint="without --tagged it is read as it stands",
            ) from None
        if self._plan.structure == "m" and any(type(v) is not dict or len(v) != 1 for v in values):
            raise RefusedError("a tag that is larger than a block is not read")
        return values

    def unread(self, block: SourceBlock, records: list[Any]) -> Difference | None:
        """What of the block's text is not in ``records``: those read, or those that they became.

        One of ``serializers.base.FAILURES`` where the records are none of its format.
        """
        fmt, usual, source = self.format, self._plan.spelling, bytes(block.data)
        first = block.index == 0
        text = self._text_of(block, records)
        if text == source:
            return None
        for guess in fmt.respellings(block, usual):
            if fmt.spell(records, {**usual, **guess}, first=first) == source:
                return None
        return fmt.difference(block, text)

    def is_text_of(self, block: SourceBlock, records: list[Any]) -> bool:
        """Whether the block's text is that of ``records`` in the source's usual spelling."""
        return self._text_of(block, records) == bytes(block.data)

    def _text_of(self, block: SourceBlock, records: list[Any]) -> bytes:
        fmt, usual = self.format, self._plan.spelling
        spelling = {**usual, **fmt.respell(block, usual)}
        return fmt.spell(records, spelling, first=block.index == 0)

    def alone(self, block: SourceBlock) -> Iterator[tuple[SourceBlock, Reader]]:
        """Each record of a block as a block of its own, and what reads it.

        The block itself where its records cannot be told apart.
        """
        fmt, data = self.format, bytes(block.data)
        first = block.index == 0
        # Where nobody counted them, what follows the last comma could be a piece of one.
        told = block.records is not None or (first and block.last)
        try:
            spans = fmt.record_spans(data, self._plan.spelling, first=first) if told else []
        except (UsageError, ValueError):
            spans = []
        if block.partial or not spans or block.records not in (None, len(spans)):
            yield block, self
            return
        each = self
        if fmt.name == "json":
            each = Reader(self._plan._replace(source="ndjson", spelling={}), self._refuse)
        for number, (start, end) in enumerate(spans):
            text = data[start:end]
            if fmt.name == "json":
                # A line of its own, wherever it breaks the lines of the source.
                text = text.translate(_ONE_LINE)
                text = b"{%b}" % text if self._plan.structure == "m" else text
            part = block._replace(
                data=text,
                index=max(block.index, 1),  # no header stands in it
                offset=block.offset + start,
                records=1,
                first_record=block.first_record + number,
                last=False,
                line=block.line + data.count(b"\n", 0, start) if block.line >= 0 else -1,
                column=0,
            )
            yield part, each

    def _stored(self, block: SourceBlock, serializer: ValueSerializer) -> list[Any]:
        try:
            return serializer.load(block.context + bytes(block.data))
        except FAILURES as error:
            raise SyntaxInputError(
                f"{serializer.name} cannot read it: {error}", offset=block.offset
            ) from None

    def _check_comments(self, block: SourceBlock, losses: Losses) -> None:
        found = self.format.comments(block)
        if found is None:
            return
        if "comments" not in losses.allowed:
            raise ValueRefusedError(
                f"{self._plan.target} has no place for comments: {found.was}",
                record=found.record,
                value_path=found.value_path,
                kind="comments",
                hint="--lossy comments drops them",
            )
        losses.merge([found])


_ONE_LINE = bytes.maketrans(b"\n\r", b"  ")
