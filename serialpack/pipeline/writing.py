"""The side of the serializer: blocks of a source become serialized bytes, which are proved, and
back.

This is about serializers of records. Serializers of bytes take the source's bytes as they are; for
these see ``blocks``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serialpack.collector import gc_paused
from serialpack.errors import SyntaxInputError, ValueRefusedError
from serialpack.formats.base import (
    Format,
    SourceBlock,
    Style,
    Unheld,
    ValueFormat,
    too_large,
)
from serialpack.formats.shared.document import Malformed
from serialpack.pipeline.reading import Proof, Reading
from serialpack.serializers.base import FAILURES, ByteSerializer, RecordSerializer, Serializer
from serialpack.stages.stage import WIDE, Buffer
from serialpack.values.kinds import Difference, Loss


def keeps(serializer: type[Serializer], fmt: Format) -> bool:
    """Whether ``serializer`` keeps a source in ``fmt`` as it is: the serialized bytes are the
    source's."""
    if issubclass(serializer, ByteSerializer):
        return serializer.passes
    if fmt.serialized:
        return True
    read_as = fmt.declared.version_of or fmt.name
    own = read_as == serializer.stored_format and isinstance(fmt, ValueFormat)
    return own and not fmt.restyled  # type: ignore[attr-defined]


def needs_values(serializer: type[Serializer], fmt: Format) -> bool:
    """Whether ``serializer`` takes a source in ``fmt`` apart into values, and does not pack its
    bytes."""
    return not (serializer.exact or keeps(serializer, fmt))


def gives_back(serializer: ByteSerializer, data: Buffer, source: Buffer) -> bool:
    """Whether ``data``, which ``serializer`` made of ``source``, gives back the very bytes of
    it."""
    try:
        return serializer.decode(data) == source
    except ValueError:
        return False


class Writing:
    """Takes blocks of a source in ``fmt`` through a serializer of records, and back."""

    def __init__(self, serializer: RecordSerializer, fmt: Format) -> None:
        self.serializer = serializer
        self.format = fmt
        self.keeps = keeps(type(serializer), fmt)
        #: What the last ``encode`` read that is not in the serialized bytes: comments, and the
        #: like.
        self.dropped: list[Loss] = []

    def encode(self, block: SourceBlock) -> tuple[Buffer, int | None]:
        """The serialized bytes of a block, and how many records they hold.

        SyntaxInputError where it is not in its format, ValueRefusedError for a value that the
        serializer cannot hold.
        """
        if self.keeps:
            return block.data, self._count(block)
        assert isinstance(self.format, ValueFormat)
        if block.partial:
            raise too_large(block)
        with gc_paused():
            if (data := self._in_parts(block)) is not None:
                return data, 1
            records = self._read(block)
            if not self.format.tells and (comments := self.format.comments(block)) is not None:
                self.dropped = [comments]
            try:
                return self.serializer.dump_parsed(records), len(records)
            except FAILURES as error:
                lost = self.serializer.blame(records, error)
                raise self.serializer.refuse(lost, block.first_record) from None

    def encode_otherwise(self, block: SourceBlock) -> Buffer | None:
        """The serialized bytes of a block that ``encode`` does not give back, made in the other way
        that some serializers have (``dump_otherwise``); None where there is none."""
        with gc_paused():
            pieces = self.serializer.dump_otherwise(self._read(block), whole=False)
        return None if pieces is None else b"".join(pieces)

    def _in_parts(self, block: SourceBlock) -> Buffer | None:
        """The serialized bytes of a block of one large record, made part by part (``wide``); None
        for any other block, and for an unusual record."""
        assert isinstance(self.format, ValueFormat)
        if len(block.data) < WIDE or block.records != 1 or self.format.tells:
            return None
        from serialpack.pipeline.wide import encoded

        return encoded(block, self.format, self.serializer)

    def decode(
        self,
        data: Buffer,
        style: Style,
        *,
        first: bool,
        exact: bool,
        right: Callable[[Buffer], bool] | None = None,
    ) -> Buffer:
        """The text, in ``style``, of the block that was serialized as ``data``; one of ``FAILURES``
        for bytes that the serializer did not write. ``first``: whether it is the first block of its
        source.

        ``exact``: the caller will compare the bytes or their checksum; so values may be read in a
        quicker way, in which different values may look equal. ``right(text)``: given for a block of
        one record, says whether ``text`` is the right one: a large record is then written part by
        part (``wide``) first, and by its values only where that text is wrong.
        """
        if self.keeps:
            return data
        fmt = self.format
        assert isinstance(fmt, ValueFormat)
        with gc_paused():
            if right is not None:
                text = self._text(data, style, first=first)
                if text is not None and right(text):
                    return text
            records = self.serializer.load_unchecked(data) if exact else self._strictly(data)
            return fmt.write_text(records, style, first=first)

    def prove(self, block: SourceBlock, data: Buffer, style: Style) -> Proof:
        """Prove that ``data``, the serialized bytes of ``block``, gives it back; ``style``: of its
        source."""
        if self.keeps:
            return Proof(None, True, {})
        assert isinstance(self.format, ValueFormat)
        try:
            with gc_paused():
                if (proof := self._prove_in_parts(block, data, style)) is not None:
                    return proof
                again = self.serializer.load_unchecked(data)
                reading = Reading(self.format, style)
                return reading.prove(block, again, lambda: self._strictly(data))
        except FAILURES as error:
            # The library does not read what it wrote: look for the value that is to blame.
            return Proof(self.serializer.blame(self._read(block), error), False, {})

    def _text(self, data: Buffer, style: Style, *, first: bool) -> Buffer | None:
        """The text of one large record, made part by part (``wide``); None where ``data`` is not
        large, or the record is unusual."""
        if len(data) < WIDE:
            return None
        from serialpack.pipeline.wide import decoded

        return decoded(data, self.format, style, self.serializer, first=first)

    def _prove_in_parts(self, block: SourceBlock, data: Buffer, style: Style) -> Proof | None:
        """The proof that one large record gives the very bytes of its block, made part by part, as
        unpacking will do it. None for any other block, and where other bytes come back: then values
        are compared."""
        if len(data) < WIDE or block.records != 1:
            return None
        assert isinstance(self.format, ValueFormat)
        for changes in Reading(self.format, style).guesses(block):
            text = self._text(data, {**style, **changes}, first=block.index == 0)
            if text is None or text == block.data:
                return None if text is None else Proof(None, True, changes)
        return None

    def _strictly(self, data: Buffer) -> list[Any]:
        """The records in ``data``, read so that values with different texts do not look equal."""
        assert isinstance(self.format, ValueFormat)
        return (
            self.serializer.load_json(data) if self.format.restyled else self.serializer.load(data)
        )

    def _read(self, block: SourceBlock) -> list[Any]:
        """The records of a block, each value as the source has it. ValueRefusedError for what no
        value of Python holds."""
        assert isinstance(self.format, ValueFormat)
        try:
            if not self.format.tells:
                return self.format.parse(block)
            # Imported here: it imports all kinds of values, and few formats need it.
            from serialpack.formats.losses.reading import parse_lossy

            records, self.dropped = parse_lossy(self.format, block, frozenset())
            if not self.format.safe and not self.serializer.identity:
                from serialpack.formats.shared.expansion import check_far

                check_far(records)
            return records
        except Unheld as unheld:
            # Python cannot hold the value, so no other serializer of records can either.
            raise self._lost(unheld.difference, block) from None

    def _count(self, block: SourceBlock) -> int | None:
        """How many records a block has that is kept as it is; None where its format has no records.
        SyntaxInputError where it is malformed."""
        if not isinstance(self.format, ValueFormat):
            return block.records
        try:
            with gc_paused():
                own = self.serializer.count(block.data) if not block.partial else None
                if own is None and self._in_parts(block) is not None:
                    return 1
                return self.format.count(block) if own is None else own
        except Unheld as unheld:
            raise self._lost(unheld.difference, block) from None
        except Malformed as bad:
            raise SyntaxInputError(bad.message, offset=block.offset + (bad.at or 0)) from None

    def _lost(self, lost: Difference, block: SourceBlock) -> ValueRefusedError:
        return self.serializer.refuse(lost, block.first_record, "raw can")
