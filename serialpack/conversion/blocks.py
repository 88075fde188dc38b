"""One block of a source becomes a piece of the target, and is proved."""

from __future__ import annotations

from typing import Any, NamedTuple

from serialpack.collector import gc_paused
from serialpack.columns.fields.wanted import wanted
from serialpack.conversion.alike import Alike
from serialpack.conversion.literals import has_literals, settled, without_literals
from serialpack.conversion.losses import Losses
from serialpack.conversion.plan import ConversionPlan, Found
from serialpack.conversion.projecting import Projector
from serialpack.conversion.reading import SourceReader, TextProof, Unspelled, left_out_of
from serialpack.conversion.tables.writers import carrier_of, records_at, table_writer
from serialpack.conversion.targets import TargetWriter, is_sequence, writers
from serialpack.errors import InputError, RefusedError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Unheld, ValueFormat
from serialpack.formats.json.values import check_json, same_json
from serialpack.formats.shared.document import compared
from serialpack.formats.shared.join import Piece
from serialpack.pipeline.timing import Timer
from serialpack.reports import LeftOut
from serialpack.serializers.base import FAILURES
from serialpack.values.kinds import Difference
from serialpack.values.structure import Structure
from serialpack.watch import at

#: After so many blocks that are not of the type, it is not tried any more.
_MOST_MISSES = 3

#: Up to so many bytes it takes longer to import a fast library than to do without.
_SMALL = 64 << 10


#: The hint where there is none.
_NO_WAY = "no format here can"


class _Tried(NamedTuple):
    """What a block became: its values, and their bytes where the target is written in pieces."""

    records: list[Any]
    losses: Losses
    data: bytes
    elements: bool
    numbers: list[int] | None = None
    piece: Piece | None = None


class Converting(NamedTuple):
    """What makes workers of a plan. Small, and can be sent to a process."""

    plan: ConversionPlan

    def worker(self) -> BlockConverter:
        """What converts blocks, one after another."""
        return BlockConverter(self.plan)


class BlockConverter:
    """Reads a block's records, writes them, and reads them again. Belongs to one worker.

    Everything is strict first. Only what is refused then is tried once more with the losses that
    the user named, and at last record by record, where bad ones are to be left out.
    """

    def __init__(self, plan: ConversionPlan) -> None:
        self.plan = plan
        target = FORMATS.get(plan.target)
        assert isinstance(target, ValueFormat)
        self._join = None if plan.whole else target.join
        self._writers = writers(plan.target, plan.target_settings)
        self._reader = SourceReader(plan, self.refuse)
        self._flattens = (
            is_sequence(plan.target)
            and (plan.alone or not is_sequence(plan.source))
            and not plan.structure
        )
        self._alike: Alike | None = None
        self._may_be_alike = (
            plan.verify
            and self._writers[0].serializer.holds_structs
            and plan.structure != Structure.MAP
            and not (plan.tagged or plan.fields)
        )
        self._misses = 0
        #: Whether the next refusal is caught, so that nobody reads its hint; the hints so far.
        self._caught = False
        self._hints: dict[str, str] = {}
        self._target = target
        self._tags = plan.tagged and target.declared.tagged
        #: Whether the last block had literals, and how many were not the text of their values.
        self._literals, self._unspelled = False, 0
        self._projector = Projector(wanted(plan.fields)) if plan.fields else None
        self._table = table_writer(plan)
        self._carrier = carrier_of(plan)
        if self._table is not None and not plan.whole:
            self._join = self._table.join
        self._may_be_alike = self._may_be_alike and not (plan.fields or plan.shaping.at)

    def __call__(self, block: SourceBlock) -> Found:
        """The block converted; of a target that is written as a whole, its records only."""
        timer = Timer()
        with gc_paused():
            found = self._converted(block)
        timer.lap("convert")
        return found._replace(seconds=timer.seconds)

    def _converted(self, block: SourceBlock) -> Found:
        left_out: list[LeftOut] = []
        try:
            tried = self._try_alike(block) or self._tried(block, self._reader)
        except (InputError, RefusedError) as error:
            if not self.plan.skip_bad:
                raise
            tried, left_out = self._without_bad(block, error)
        first, count = block.first_record, len(tried.records)
        found = Found(
            tried.records,
            tried.losses.report(),
            left_out,
            tried.elements,
            fields=frozenset(self._projector.found if self._projector is not None else ()),
            numbers=tried.numbers or range(first, first + count),
        )
        if self._join is None:
            return found
        structure = self.plan.structure or Structure.SEQUENCE
        piece = tried.piece
        if piece is None:
            piece = self._join.piece(tried.data, tried.records, structure)
        keys = b""
        if structure == Structure.MAP:
            from serialpack.formats.shared.members import key_digests

            keys = key_digests(tried.records)
        return found._replace(records=[], numbers=(), piece=piece, keys=keys)

    def _tried(self, block: SourceBlock, reader: SourceReader) -> _Tried:
        if (usual := self._try_usual(block, reader)) is not None:
            return usual
        self._caught = bool(self.plan.lossy)
        try:
            return self._try(block, reader)
        except (InputError, ValueRefusedError):
            if not self.plan.lossy:
                raise
        finally:
            self._caught = False
        return self._try(block, reader, lossy=True)

    def _try_usual(self, block: SourceBlock, reader: SourceReader) -> _Tried | None:
        """The block, as fast as can be; None where its numbers may have a text of their own."""
        rare = self._unspelled <= _MOST_MISSES and not self._literals
        if not (rare and reader.by_text and self.plan.verify):
            return None
        caught, self._caught = self._caught, True
        try:
            return self._try(block, reader, usual=True)
        except Unspelled:
            self._unspelled += 1
            return None
        except (InputError, ValueRefusedError):
            return None  # which is told when it is tried again
        finally:
            self._caught = caught

    def _try(
        self,
        block: SourceBlock,
        reader: SourceReader,
        *,
        lossy: bool = False,
        usual: bool = False,
    ) -> _Tried:
        losses = self._losses()
        literals = not usual and reader.format.keeps_literals
        records = reader.read(block, losses, lossy=lossy, literals=literals)
        at(0.4)
        elements = self._is_array(block, records)
        if elements:
            records = records[0]
        self._literals = literals = literals and has_literals(records)
        restyled = literals and (
            self._table is not None or not self._target.writes_as(self.plan.source)
        )
        proof: TextProof | None = None
        if self.plan.verify and reader.by_text and not lossy:
            proof = TextProof(reader, usual=usual, literals=literals)
            if restyled or self._tags or self._join is None or self._reshapes:
                self._check_text(block, proof, records)
                proof = None
        if literals and (restyled or not reader.by_text):
            records = self._settled(records, losses, block.first_record)
        if self.plan.shaping.at:
            records, elements = self._at(records, losses), True
        if self._projector is not None:
            records = self._projector.records(records, block.first_record)
            if self.plan.structure == Structure.MAP:
                records = [record for record in records if record]
        if self._carrier is not None:
            records = self._carrier.carried(records, losses, block.first_record)
        elif lossy and self._join is not None:
            records = self.changed(records, losses, block.first_record)
        if self._table is not None and self._join is not None:
            piece = self._row_piece(records, losses, block.first_record)
            return _Tried(records, losses, b"", elements, piece=piece)
        data = b""
        if self._join is not None:
            data = self.write(records, block, proof, literals=literals)
            if usual and proof is not None and self._may_be_alike:
                self._alike = Alike.of(records)
                self._may_be_alike = False
        return _Tried(records, losses, data, elements)

    @property
    def _reshapes(self) -> bool:
        """Whether what is written is not compared with the text of the source."""
        beside = self._projector, self._table, self.plan.shaping.at
        return any(part is not None for part in beside)

    def _losses(self) -> Losses:
        return Losses(self.plan.lossy, self.plan.asked)

    def _at(self, records: list[Any], losses: Losses) -> list[Any]:
        """The records at the path that the user named."""
        found, lost = records_at(records, self.plan)
        losses.merge(lost)
        return found

    def _row_piece(self, records: list[Any], losses: Losses, first_record: int) -> Piece:
        """The rows of ``records``, proved; ValueRefusedError."""
        assert self._table is not None
        written = self._table.write(records, first_record)
        if written.lost is not None:
            raise self.refuse(written.lost, first_record, None, records)
        told = self._losses()
        told.merge(written.told)
        told.check_carried(self.plan)
        losses.merge(told)
        return written.piece

    def _try_alike(self, block: SourceBlock) -> _Tried | None:
        """The block by its records' type; None where they do not have it."""
        if self._alike is None or self._literals:
            return None
        dump = self._writers[0].dump
        found = self._alike.convert(block, self._reader, dump, self.plan.target)
        if found is None:
            self._misses += 1
            if self._misses > _MOST_MISSES:
                self._alike = None
            return None
        return _Tried(found[0], Losses(()), found[1], elements=False)

    def _is_array(self, block: SourceBlock, records: list[Any]) -> bool:
        """Whether the source is one document, an array, and the target a sequence of records."""
        return (
            self._flattens
            and block.index == 0
            and block.last
            and len(records) == 1
            and type(records[0]) is list
        )

    def _without_bad(self, block: SourceBlock, error: Exception) -> tuple[_Tried, list[LeftOut]]:
        """The block's records but for those that are refused, and those."""
        kept: list[Any] = []
        numbers: list[int] = []
        losses = self._losses()
        left_out: list[LeftOut] = []
        good, bad, count = b"", [], 0
        for count, (part, reader) in enumerate(self._reader.alone(block), 1):  # noqa: B007
            if part is block:
                left_out.append(left_out_of(block, block.records, error))
                break
            try:
                tried = self._tried(part, reader)
            except (InputError, RefusedError) as refused:
                left_out.append(left_out_of(part, 1, refused))
                bad.append(part)
            else:
                good = good or bytes(part.data)
                numbers += [part.first_record] * len(tried.records)
                kept += tried.records
                losses.merge(tried.losses)
        else:
            broken = self._reader.broken_around(block, count, good, bad)
            left_out += [broken] if broken is not None else []
        if self._table is not None and self._join is not None:
            # What was carried has been counted, record by record.
            piece = self._row_piece(kept, self._losses(), block.first_record)
            return _Tried(kept, losses, b"", False, numbers, piece), left_out
        data = b"" if self._join is None else self.write(kept, block)
        return _Tried(kept, losses, data, elements=False, numbers=numbers), left_out

    def _settled(self, records: list[Any], losses: Losses, first_record: int) -> list[Any]:
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
        serializer = self._writers[-1].serializer
        return losses.apply(
            records,
            serializer.cannot | serializer.partly,
            self._holds,
            first_record,
            never=serializer.cannot,
        )

    def _holds(self, value: Any) -> bool:
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
            both = self._reader.format.keeps_literals and self._target.keeps_literals
            literals = both and has_literals(records)
        values = self._tagged(records, block) if self._tags else records
        refusal: ValueRefusedError | None = None
        small = len(block.data) <= _SMALL and block.last
        for writer in self._writers[-1:] if small else self._writers:
            try:
                data, lost = self._written(writer, values, records, block, proof, literals=literals)
            except FAILURES as error:
                lost = writer.serializer.blame(values, error)
            if lost is None:
                return data
            refusal = self.refuse(lost, block.first_record, writer, records)
        assert refusal is not None
        raise refusal

    def _tagged(self, records: list[Any], block: SourceBlock) -> list[Any]:
        from serialpack.conversion.tagged import TagFailure, tag

        if self.plan.structure == Structure.MAP and any(
            type(key) is not str for r in records for key in r
        ):
            raise RefusedError("keys that are no text, in a map that is larger than a block")
        try:
            return tag(records, of_bson=self.plan.source == "bson")
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
        if not self.plan.verify and self._needs_no_proof(dumped):
            return data, None
        again = (writer.load_literals if literals else writer.load)(data, len(dumped))
        if join is not None:
            again = join.raised(again, structure)
        if self._tags:
            from serialpack.conversion.tagged import untag

            restored = untag(again, of_bson=self.plan.source == "bson")
            return data, compared(values, again) or compared(records, restored)
        # Python takes 1, 1.0 and true for one, which their text tells apart; and values that JSON
        # has no words for, which some writer would find words for, for none that it has.
        if proof is None or again != values:
            same = len(data) <= _SMALL and same_json(values, again)
            return data, None if same else compared(values, again)
        return data, proof.lost(block, again)

    def _needs_no_proof(self, dumped: list[Any]) -> bool:
        """Whether ``dumped`` may go unproved: JSON's writers have words for what JSON has not,
        each its own, so that what was not to be proved would depend on who writes the block.
        """
        if not FORMATS.declaration(self.plan.target).tagged:
            return True
        try:
            check_json(dumped)
        except ValueError:
            return False
        return True

    def _check_text(self, block: SourceBlock, proof: TextProof, records: list[Any]) -> None:
        if (lost := proof.of_read(block, records)) is not None:
            raise self.refuse(lost, block.first_record)

    def refuse(
        self,
        lost: Difference,
        first_record: int,
        writer: TargetWriter | None = None,
        records: list[Any] | None = None,
    ) -> ValueRefusedError:
        """The error for a value that is lost, with what would keep it or let it go.

        ``records``: those that it is among, as they were read.
        """
        writer = writer or self._writers[-1]
        hint = _NO_WAY if self._caught else self._hints.get(lost.kind)
        if hint is None:
            hint = self._hint(lost, records)
            if self.plan.skip_bad:  # of many that are told, one by one
                self._hints[lost.kind] = hint
        return writer.serializer.refuse(lost, first_record, hint)

    def _hint(self, lost: Difference, records: list[Any] | None) -> str:
        from serialpack.conversion import hints

        record = None
        if records is not None and lost.record < len(records):
            (record,) = without_literals([records[lost.record]])
        writer = self._writers[-1]
        return hints.hint_for(self.plan, lost, record, writer, self._by_rules) or _NO_WAY
