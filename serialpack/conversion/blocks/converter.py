"""``BlockConverter``: one block of a source becomes a piece of the target, and is proved.

It is called with a block, and gives its ``plan.Found``: the piece, or where the target is written
as a whole the records, with what was changed and what was left out.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from serialpack.collector import gc_paused
from serialpack.conversion.blocks.flat import FlatReader
from serialpack.conversion.blocks.rows import RowWriter
from serialpack.conversion.blocks.structs import RecordStruct
from serialpack.conversion.blocks.wide import WideRecords
from serialpack.conversion.losses.by_columns import Columns, records_of
from serialpack.conversion.losses.literals import has_literals
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.plan import ConversionPlan, Found
from serialpack.conversion.sources.fields import Projector
from serialpack.conversion.sources.reading import SourceReader, TextProof, Unspelled, left_out_of
from serialpack.conversion.tables.by_columns import ColumnConverter
from serialpack.conversion.tables.writers import picked_records, typer_of
from serialpack.conversion.targets.writers import is_sequence
from serialpack.conversion.types.kept import is_written_so
from serialpack.conversion.types.seen import TypesSeen
from serialpack.conversion.types.untyping import Untyper
from serialpack.errors import InputError, RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats.base import SourceBlock
from serialpack.formats.pieces.join import Piece
from serialpack.pipeline.timing import Timer
from serialpack.reports import LeftOut
from serialpack.serializers.base import FAILURES
from serialpack.values.structure import Structure
from serialpack.watch import at

#: Kinds of which one is not held where a UUID is no object of Python's.
_WITH_SAFETY = frozenset({"object", "uuid"})

#: After so many blocks that are not of the type, it is not tried any more.
_MOST_MISSES = 3

#: So many records of a block that is broken are tried, for one that is not.
_MOST_TRIED = 100


class _Tried(NamedTuple):
    """What a block became: its values, and their bytes where the target is written in pieces.
    ``keys``: as of ``Found``, where the values are not there."""

    records: list[Any]
    losses: Losses
    data: bytes
    elements: bool
    numbers: list[int] | None = None
    piece: Piece | None = None
    keys: bytes = b""
    same: bool = False


class BlockConverter(RowWriter):
    """Reads a block's records, writes them, and reads them again. Belongs to one worker.

    Everything is strict first. Only what is refused then is tried once more with the losses that
    the user named, and at last record by record, where bad ones are to be left out.
    """

    def __init__(self, plan: ConversionPlan) -> None:
        super().__init__(plan)
        self._reader = SourceReader(plan, self.refuse)
        self._flattens = (
            is_sequence(plan.target)
            and (plan.alone or not is_sequence(plan.source))
            and not plan.structure
        )
        self._struct: RecordStruct | None = None
        #: Whether UUIDs may say more than the target holds, which many of its readers would lose.
        self._drops_safety = (
            self._reader.gives_objects
            and not self._tags
            and not _WITH_SAFETY.isdisjoint(self._writers[-1].serializer.cannot)
        )
        self._may_be_struct = (
            plan.verify
            and self._writers[0].serializer.holds_structs
            and plan.structure != Structure.MAP
            and not (plan.tagged or plan.fields or plan.shaping.picks or plan.types)
        )
        self._misses = 0
        self._wide = WideRecords.of(plan, None if plan.whole else self._target.join, type(self))
        #: Whether the last block had literals, and how many were not the text of their values.
        self._literals, self._unspelled = False, 0
        self._projector = Projector.of(plan.fields)
        self._typer = typer_of(plan)
        taken = None if self._projector is None else self._projector.names
        self._columns = ColumnConverter.of(plan, self._table, taken)
        self._flat = None if self._join is None else FlatReader.of(plan, taken)

    def __call__(self, block: SourceBlock) -> Found:
        """The block converted; of a target that is written as a whole, its records only."""
        timer = Timer()
        with gc_paused():
            found = self._converted(block)
        timer.lap("convert")
        return found._replace(seconds=timer.seconds)

    def _converted(self, block: SourceBlock) -> Found:
        """The block by the fastest way that does; without bad records, where that may be."""
        left_out: list[LeftOut] = []
        try:
            tried = self._try_wide(block) or self._try_struct(block)
            tried = tried or self._try_columns(block) or self._try_flat(block)
            tried = tried or self._tried(block, self._reader)
        except (InputError, RefusedError) as error:
            if not self.plan.skip_bad:
                if isinstance(error, SyntaxInputError) and self._is_good_beside(block):
                    error.hint = error.hint or "--skip-bad leaves out what is broken"
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
            same=tried.same,
        )
        if self._join is None or self._apart:
            return found
        structure = self.plan.structure or Structure.SEQUENCE
        piece = tried.piece
        if piece is None:
            piece = self._join.piece(tried.data, tried.records, structure)
        keys = tried.keys
        if structure == Structure.MAP and not keys:
            from serialpack.formats.pieces.keys import key_digests

            keys = key_digests(tried.records)
        return found._replace(records=[], numbers=(), piece=piece, keys=keys)

    def _tried(self, block: SourceBlock, reader: SourceReader) -> _Tried:
        """The block without losses, or where that is refused with those that the user named."""
        if self.plan.refused and block.index == 0 and block.last:  # it is not held as it is
            return self._try(block, reader, lossy=True)
        if (usual := self._try_usual(block, reader)) is not None:
            return usual
        caught, self._caught = self._caught, self._caught or bool(self.plan.lossy)
        try:
            return self._try(block, reader)
        except (InputError, ValueRefusedError):
            if caught or not self.plan.lossy:
                raise
        finally:
            self._caught = caught
        return self._try(block, reader, lossy=True)

    def _try_usual(self, block: SourceBlock, reader: SourceReader) -> _Tried | None:
        """The block, as fast as can be; None where its numbers may have a text of their own."""
        rare = self._unspelled <= _MOST_MISSES and not self._literals
        # Who only looks wants the nearest values: what these lose is found when they are written.
        if self._decimals or not (self.plan.looked or (rare and reader.by_text)):
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
        """The block, read and its text proved, shaped, carried, written and proved.

        ``lossy``: with the losses that the user named. ``usual``: a number is the nearest that
        Python has; Unspelled where the text does not say just that.
        """
        losses, first = self._losses(), block.first_record
        literals = not usual and reader.has_literals
        records = reader.read(block, losses, lossy=lossy, literals=literals, usual=usual)
        at(0.4)
        if elements := self._is_array(block, records):
            records = records[0]
        self._literals = literals = literals and has_literals(records)
        restyled = literals and self._restyles
        proof: TextProof | None = None
        if reader.by_text and not lossy:
            proof = TextProof(reader, usual=usual, literals=literals)
            beside = restyled or self._tags or self._join is None or self._reshapes
            if beside or not self.plan.verify:  # also where nothing else is proved: a key twice
                self._check_text(block, proof, records)
                proof = None
        if literals and (restyled or not reader.by_text):
            records = self._settled(records, losses, first)
        if self._drops_safety:
            from serialpack.conversion.losses.safety import without_safety

            records = without_safety(records, losses, first, self.plan.target)
        if self.plan.shaping.picks:
            records, elements, lost = picked_records(records, self.plan)
            losses.merge(lost)
        records = self._shaped(records, first)
        same = self._same_text(block, records)
        records = self._carried(records, losses, first, lossy=lossy)
        if self._join is None:
            return _Tried(records, losses, b"", elements)
        if self._table is not None:
            piece = None if self._apart else self._row_piece(records, losses, first)
            return _Tried(records, losses, b"", elements, piece=piece, same=same)
        data = self.write(records, block, proof, literals=literals)
        if usual and proof is not None and self._may_be_struct and not block.last:
            self._struct = RecordStruct.of(records)
            self._may_be_struct = False
        return _Tried(records, losses, data, elements)

    def _shaped(self, records: list[Any], first_record: int) -> list[Any]:
        """The records, or those fields of them that the user named."""
        if self._projector is not None:
            records = self._projector.records(records, first_record)
            if self.plan.structure == Structure.MAP:
                records = [record for record in records if record]
        return records

    def _carried(
        self, records: list[Any], losses: Losses, first_record: int, *, lossy: bool
    ) -> list[Any]:
        """The records with the values that the target has for what they are."""
        if self._typer is not None:
            told = self._typer.apply(records, first_record, losses.allowed)
            losses.carry(told, self.plan.target)
        if self._carrier is not None:
            return self._carrier.carried(records, losses, first_record)
        if lossy and self._join is not None:
            return self.changed(records, losses, first_record)
        return records

    @property
    def _restyles(self) -> bool:
        """Whether numbers are spelled another way in the target."""
        return self._table is not None or not self._target.writes_as(self.plan.source)

    @property
    def _reshapes(self) -> bool:
        """Whether what is written is not compared with the text of the source."""
        beside = self._projector, self._table, self._typer
        return self.plan.shaping.picks or any(part is not None for part in beside)

    def look_into(self, seen: TypesSeen) -> None:
        """Say of all that is read from now on, in ``seen``, how columns of text are spelled."""
        if self._typer is not None:
            self._typer.seen = seen

    def _same_text(self, block: SourceBlock, records: list[Any]) -> bool:
        """Whether what the plan keeps of a table of text writes the bytes of the block again.

        A cell that gets a value is the very text that is spelled from that, or it is told.
        """
        kept = self.plan.kept if self.plan.verify and self.plan.is_text_table else None
        return kept is not None and is_written_so(kept, block, records)

    def _try_wide(self, block: SourceBlock) -> _Tried | None:
        """The block, whose records are too large to be there as values; None where they are not."""
        one = self._flattens and block.index == 0 and block.last
        found = None if self._wide is None else self._wide.convert(block, arrays=not one)
        return None if found is None else _Tried([], Losses(()), b"", False, None, *found)

    def _try_columns(self, block: SourceBlock) -> _Tried | None:
        """The block by its columns; None where it has to go by its records."""
        found = None if self._columns is None else self._columns.convert(block, self._losses())
        return found and _Tried([], found.losses, b"", False, piece=found.piece, same=found.same)

    def _try_flat(self, block: SourceBlock) -> _Tried | None:
        """The block by columns of plain values; None where it has to go by its records, of which it
        is told then what is wrong."""
        columns = None if self._flat is None else self._flat.read(block)
        if not self._flat or not columns:
            return None
        caught, self._caught = self._caught, True
        try:
            if (tried := self._of_columns(columns, block)) is not None:
                return tried
        except (*FAILURES, InputError, RefusedError):
            pass
        finally:
            self._caught = caught
        self._flat.missed()
        return None

    def _of_columns(self, columns: Columns, block: SourceBlock) -> _Tried | None:
        """What a block becomes that is ``columns``; None, or an error, where that is refused."""
        losses, first = self._losses(), block.first_record
        if isinstance(self._typer, Untyper):
            columns, told = self._typer.apply_to_columns(columns, first)
            losses.carry(told, self.plan.target)
        made = self._columns_by_rules(columns, losses, first)
        if made is None:
            return None
        if self._table is not None:
            piece = self._column_piece(made, losses, first)
            return piece and _Tried([], losses, b"", elements=False, piece=piece)
        records = records_of(made)
        return _Tried(records, losses, self.write(records, block, literals=False), elements=False)

    def part(self, block: SourceBlock) -> tuple[Any, bytes]:
        """As of ``wide.PartConverter``; who asks wants no more than to know that it is the same."""
        self._caught = True
        tried = self._tried(block, self._reader)
        if tried.losses.report():
            raise ValueError("a part that does not become the same")
        return tried.records[0], tried.data

    def _try_struct(self, block: SourceBlock) -> _Tried | None:
        """The block by its records' type; None where they do not have it."""
        if self._struct is None or self._literals:
            return None
        found = self._struct.convert(block, self._reader, self._writers[0])
        if found is None:
            self._misses += 1
            if self._misses > _MOST_MISSES:
                self._struct = None
            return None
        return _Tried(found[0], Losses(()), found[1], elements=False)

    def _is_array(self, block: SourceBlock, records: list[Any]) -> bool:
        """Whether the source is one document, an array, and the target a sequence of records."""
        alone = self._flattens and block.index == 0 and block.last and len(records) == 1
        return alone and type(records[0]) is list

    def _without_bad(self, block: SourceBlock, error: Exception) -> tuple[_Tried, list[LeftOut]]:
        """The block's records but for those that are refused, and those."""
        kept, numbers = list[Any](), list[int]()
        losses, left_out = self._losses(), list[LeftOut]()
        good, bad, count = b"", [], 0
        self._reader.tell_header(block, losses)
        for count, (part, reader) in enumerate(self._reader.alone(block, blank=True), 1):  # noqa: B007
            if part is block:
                left_out.append(left_out_of(block, block.records, error))
                break
            try:
                tried = self._tried(part, reader)
            except (InputError, RefusedError) as refused:
                left_out.append(left_out_of(part, 1, refused))
                bad.append(part)
            else:
                good = good or (bytes(part.data) if part.records else b"")
                numbers += [part.first_record] * len(tried.records)
                kept += tried.records
                losses.merge(tried.losses)
        else:
            broken = self._reader.broken_around(block, count, good, bad)
            left_out += [broken] if broken is not None else []
        if self._apart:
            return _Tried(kept, losses, b"", False, numbers), left_out
        if self._table is not None and self._join is not None:
            # What was carried has been counted, record by record.
            piece = self._row_piece(kept, self._losses(), block.first_record)
            return _Tried(kept, losses, b"", False, numbers, piece), left_out
        literals = self._reader.has_literals and has_literals(kept)
        data = b"" if self._join is None else self.write(kept, block, literals=literals)
        return _Tried(kept, losses, data, elements=False, numbers=numbers), left_out

    def _is_good_beside(self, block: SourceBlock) -> bool:
        """Whether one of the first records of a block, which is broken, can be read alone, or it
        has none and others were before it."""
        for part, reader in islice(self._reader.alone(block), _MOST_TRIED):
            if part is block:
                return block.index > 0 and block.records == 0
            with suppress(InputError, RefusedError):
                if reader.read(part, Losses(self.plan.lossy), lossy=bool(self.plan.lossy)):
                    return True
        return False

    def _check_text(self, block: SourceBlock, proof: TextProof, records: list[Any]) -> None:
        if (lost := proof.prove_read(block, records)) is not None:
            raise self.refuse(lost, block.first_record)
