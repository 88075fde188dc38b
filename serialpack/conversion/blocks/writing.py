"""``ProvingWriter`` writes records in the target's format, reads them again, and compares them.

It is the half of a conversion that knows the target. For a value that does not come back it makes
the error, with the ways to get on that ``hints`` finds.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from serialpack.conversion.losses.by_columns import Columns
from serialpack.conversion.losses.literals import has_literals, settled, without_literals
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import ARRAYS
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.sources.reading import TextProof
from serialpack.conversion.targets.writers import AsciiWriter, TargetWriter, writers
from serialpack.conversion.types.typing import decimal_columns, keep_digits
from serialpack.errors import RefusedError, ValueRefusedError, Ways
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Unheld, ValueFormat
from serialpack.formats.json.values import is_json, same_json
from serialpack.formats.shared.document import compared
from serialpack.serializers.base import FAILURES
from serialpack.values.kinds import Difference
from serialpack.values.structure import Structure

#: Up to so many bytes it takes longer to import a fast library than to do without.
_SMALL = 64 << 10

#: The hint where there is none.
_NO_WAY = "no format here can"


class ProvingWriter:
    """Writes records in the target's format, and reads them again."""

    def __init__(self, plan: ConversionPlan) -> None:
        self.plan = plan
        target = FORMATS.get(plan.target)
        assert isinstance(target, ValueFormat)
        self._target = target
        self._join = None if plan.whole else target.join
        self._writers = writers(plan.target, plan.target_settings)
        if plan.shaping.ascii:
            self._writers = [AsciiWriter(writer) for writer in self._writers]
        self._tags = plan.tagged and target.declared.is_json
        self._decimals = decimal_columns(plan.types)
        self._decimal128 = FORMATS.declaration(plan.source).decimal128
        #: Whether the next refusal is caught, so that nobody reads its hint; the hints so far.
        self._caught = False
        self._hints: dict[str, str | Ways] = {}

    def _settled(self, records: list[Any], losses: Losses, first_record: int) -> list[Any]:
        """The records with each literal as the target has it; ValueRefusedError."""
        keep_digits(records, self._decimals)
        try:
            records, found = settled(records, self._target, first_record, losses.allowed)
        except Unheld as unheld:
            raise self.refuse(unheld.difference, first_record) from None
        losses.merge(found)
        return records

    def changed(self, records: list[Any], losses: Losses, first_record: int) -> list[Any]:
        """The records with each value changed that the target cannot hold and ``losses`` allows."""
        return records if self._tags else self._by_rules(records, losses, first_record)

    def _by_rules(self, records: list[Any], losses: Losses, first_record: int = 0) -> list[Any]:
        """The records with each rule of ``losses`` applied that the target needs."""
        serializer = self._writers[-1].serializer
        if self.plan.target in ARRAYS:
            from serialpack.conversion.targets.uniform_types import of_one_type

            records = of_one_type(records, losses, first_record)
        if self._target.declared.has_datasets:
            from serialpack.conversion.targets.group_order import by_group

            records = by_group(records, losses, first_record)
        return losses.apply(
            records,
            serializer.cannot | serializer.partly,
            self._holds,
            first_record,
            never=serializer.cannot,
        )

    def _columns_by_rules(
        self, columns: Columns, losses: Losses, first_record: int
    ) -> Columns | None:
        """As ``_by_rules``, of records that are their columns, for targets that hold values of any
        types; None where that takes the records."""
        holder = self._writers[-1].serializer
        refused = holder.cannot | holder.partly
        how = refused, self._holds, first_record, holder.cannot
        return losses.apply_to_columns(columns, *how)

    def _holds(self, value: Any) -> bool:
        """Whether the target gives a value back that is alone in a record."""
        writer = self._writers[-1]
        bare = "bare" in writer.serializer.cannot and not isinstance(value, dict)
        alone = {"x": value} if bare else value
        try:
            return compared([alone], writer.load(writer.dump([alone]), 1)) is None
        except FAILURES:
            return False

    def fits(self, records: list[Any]) -> bool:
        """Whether ``records`` may be held in one file: False only where they are sure not to be."""
        try:
            self._writers[-1].serializer.fit(records)
        except FAILURES:
            return False
        return True

    def write(
        self,
        records: list[Any],
        block: SourceBlock,
        proof: TextProof | None = None,
        *,
        literals: bool | None = None,
    ) -> bytes:
        """The records of a block as the target has them, proved; ValueRefusedError.

        ``proof``: they are as they were read from the text of the block, against which what
        comes back is compared then. ``literals``: whether there are some among them; None where
        nobody has looked.
        """
        if literals is None:
            source = FORMATS.get(self.plan.source)
            typed = self.plan.shaping.typed
            may = typed or (isinstance(source, ValueFormat) and source.keeps_literals)
            literals = may and self._target.keeps_literals and has_literals(records)
        values = self._tagged(records, block) if self._tags else records
        small = len(block.data) <= _SMALL and block.last
        for writer in self._writers[-1:] if small else self._writers:
            failure: Exception | None = None
            try:
                data, lost = self._written(writer, values, records, block, proof, literals=literals)
            except FAILURES as error:
                lost, failure = None, error
            else:
                if lost is None:
                    return data
        # To find the value and a way out takes more than to write all: only of what is told.
        if self._caught:
            raise ValueRefusedError(_NO_WAY)
        if failure is not None:
            # It knows no literals, and would blame the first of them.
            lost = writer.serializer.blame(
                without_literals(values) if literals else values, failure
            )
        assert lost is not None
        raise self.refuse(lost, block.first_record, writer, records)

    def tried(self, records: list[Any], block: SourceBlock) -> bytes | None:
        """As ``write``; None where they are refused, and nobody looks for what it is."""
        self._caught = True
        try:
            return self.write(records, block)
        except ValueRefusedError:
            return None
        finally:
            self._caught = False

    def _tagged(self, records: list[Any], block: SourceBlock) -> list[Any]:
        """The records with tags; ValueRefusedError for a value that has none."""
        from serialpack.conversion.tagging.extended_json import TagFailure, tag

        if self.plan.structure == Structure.MAP and any(
            type(key) is not str for r in records for key in r
        ):
            raise RefusedError("keys that are no text, in a map that is larger than a block")
        try:
            return tag(records, decimal128=self._decimal128)
        except TagFailure as failure:
            raise self.refuse(failure.difference, block.first_record, None, records) from None

    def _written(
        self,
        writer: TargetWriter,
        values: list[Any],
        records: list[Any],
        block: SourceBlock,
        proof: TextProof | None,
        *,
        literals: bool,
    ) -> tuple[bytes, Difference | None]:
        """``values`` as ``writer`` has them, and what was lost of them or of ``records``."""
        structure, join = self.plan.structure or Structure.SEQUENCE, self._join
        dumped = values if join is None else join.lowered(values, structure)
        data = writer.dump(dumped)
        # Of what JSON has no words for, many libraries make what they have a type for, and JSON's
        # own writers each its own words: what is told may not depend on the proof, nor on them.
        if not self.plan.verify and is_json(dumped):
            return data, None
        again = (writer.load_literals if literals else writer.load)(data, len(dumped))
        if join is not None:
            again = join.raised(again, structure)
        small = len(data) <= _SMALL
        return data, self.prove(block, again, values, records, proof, small=small)

    def prove(
        self,
        block: SourceBlock,
        again: list[Any],
        values: list[Any],
        records: list[Any],
        proof: TextProof | None,
        *,
        small: bool,
    ) -> Difference | None:
        """What is not in ``again``, which was read of what was written of ``values``.

        ``records``, ``proof``: as of ``write``; ``small``: whether few bytes were written.
        """
        if self._tags:
            from serialpack.conversion.tagging.extended_json import untag

            restored = untag(again, decimal128=self._decimal128)
            return compared(values, again) or compared(records, restored)
        # Python takes 1, 1.0 and true for one, which their text tells apart; and values that JSON
        # has no words for, which some writer would find words for, for none that it has.
        if proof is None or again != values:
            return None if small and same_json(values, again) else compared(values, again)
        return proof.prove(block, again)

    def refuse(
        self,
        lost: Difference,
        first_record: int | None,
        writer: TargetWriter | None = None,
        records: list[Any] | None = None,
    ) -> ValueRefusedError:
        """The error for a value that is lost, with what would keep it or let it go.

        ``records``: those that it is among, as they were read.
        """
        writer = writer or self._writers[-1]
        hint: str | Ways | None = _NO_WAY if self._caught else self._hints.get(lost.kind)
        # Of a document that is one record all is tried again where what is lost is listed.
        is_whole = records is not None and len(records) == 1 and first_record == 0
        part = self.plan.listed and self.plan.layout is None and is_whole
        if hint is None:
            hint = self._hint(lost, records, part=part)
            if self.plan.skip_bad:  # of many that are told, one by one
                self._hints[lost.kind] = hint
        refused = writer.serializer.refuse(lost, first_record, hint, named=self.plan.named)
        refused.on_path = part
        return refused

    def _hint(self, lost: Difference, records: list[Any] | None, *, part: bool) -> str | Ways:
        """The ways to get on with what is lost, tried with the record that it is in."""
        from serialpack.conversion.blocks import hints

        record, read = None, records is not None and lost.record < len(records)
        beside: list[Any] = []
        if records is not None and read:
            (record,) = without_literals([records[lost.record]])
            if self.plan.target in ARRAYS and lost.kind == "mixed":  # all are of one type
                beside = without_literals(records[: min(lost.record, 1)])
        found = hints.hint_for(
            self.plan,
            lost,
            record,
            self._lost_of,
            self._by_rules,
            read=read,
            part=part,
            beside=beside,
        )
        return found or _NO_WAY

    def _lost_of(
        self,
        records: list[Any],
        rules: Collection[str] = (),  # noqa: ARG002
    ) -> Difference | None:
        """What of ``records`` is lost as they are, whatever the rules."""
        from serialpack.conversion.blocks import hints

        return hints.lost_by(self._writers[-1], records)
