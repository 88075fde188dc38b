"""The blocks of a container (units), and what reads their records.

``members_of`` gives the sources that are packed in a container, and each of these
(``MemberRecords``) its units, of which nothing is read yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from serialpack.collector import gc_paused
from serialpack.compressed.pieces import Pieces
from serialpack.compressed.source import compression_named
from serialpack.container.block import CONTINUED
from serialpack.container.seek import StoredMember, find_members, read_block
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.sources.reading import SourceReader, TextProof
from serialpack.errors import UsageError, ValueRefusedError
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Difference, SourceBlock, ValueFormat
from serialpack.formats.pieces.join import Join
from serialpack.pipeline.blocks import BlockUnpacker
from serialpack.pipeline.fields import OpenBlock, head_of, opened_block
from serialpack.pipeline.plan import SETTINGS, Plan
from serialpack.pipeline.pread import unshared
from serialpack.pipeline.unpack import member_plan, untrusted
from serialpack.pipeline.writing import keeps
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import COMMENTS, KINDS
from serialpack.values.structure import Structure


class Unit(NamedTuple):
    """Records that are read together: those of a block of a container, or of a piece of its
    source where its blocks do not say theirs.

    ``records``: how many; ``first_record``: how many of the container stand before them; ``size``:
    bytes of the source. ``block``: what is known of them without these, counted within the member.
    """

    member: MemberRecords
    records: int
    first_record: int
    block: SourceBlock
    size: int
    stored: bool  # whether it is a block of the container


class MemberRecords:
    """One of the sources that are packed in a container one after another."""

    def __init__(self, source: Source, found: StoredMember, plan: Plan) -> None:
        fmt = FORMATS.get(plan.format)
        assert isinstance(fmt, ValueFormat)
        self.format = fmt
        self.plan = plan
        self.rows = found.index.rows
        self.structure = plan.style.get("k", "") if fmt.declared.is_json_text else ""
        self._file = unshared(source.file)
        self._found = found
        self.offsets = found.offsets
        self._unpacker = BlockUnpacker(plan)
        self._reader: SourceReader | None = None
        self._head: Buffer | None = None
        self._last: tuple[int, Buffer] | None = None

    def units(self, first_record: int) -> Iterator[Unit]:
        """All its records; ``first_record`` stand before them. InputError, RefusedError."""
        if any(row.records is None for row in self.rows):
            yield from self._split_again(first_record)
            return
        offset = records = 0
        flags = [*(row.flags for row in self.rows), 0]
        for number, row in enumerate(self.rows):
            assert row.records is not None
            continued = bool(flags[number] & CONTINUED)
            block = SourceBlock(
                b"",
                index=number,
                offset=offset,
                records=row.records,
                first_record=records,
                last=number == len(self.rows) - 1,
                partial=continued or bool(flags[number + 1] & CONTINUED),
                continued=continued,
            )
            yield Unit(self, row.records, first_record + records, block, row.size, stored=True)
            offset += row.size
            records += row.records

    def _split_again(self, first_record: int) -> Iterator[Unit]:
        """The same where blocks are plain bytes: all of them are gone over, to count records."""
        pieces = Pieces(map(self.source_of, range(len(self.rows))))
        records, block_size = 0, self._found.header.block_size
        most = Join.most_values(block_size)
        for block in self.format.split(pieces.read, block_size, for_values=True, most_values=most):
            count = block.records
            if count is None:
                count = len(self.read(block))
            known = block._replace(data=b"")
            yield Unit(self, count, first_record + records, known, len(block.data), stored=False)
            records += count

    def source_of(self, number: int) -> Buffer:
        """The source's bytes of a block."""
        if self._last is None or self._last[0] != number:
            start, end = self.offsets[number : number + 2]
            stored = read_block(self._file, self._found, number, start, end)
            self._last = number, self._unpacker(stored).source_data
        return self._last[1]

    def piece_of(self, unit: Unit) -> Buffer:
        """The source's bytes of a unit."""
        if unit.stored:
            return self.source_of(unit.block.index)
        found = []
        start, end = unit.block.offset, unit.block.offset + unit.size
        position = 0
        for number, row in enumerate(self.rows):
            if start < position + row.size and position < end:
                data = memoryview(self.source_of(number))
                found.append(data[max(start - position, 0) : end - position])
            position += row.size
        return b"".join(found)

    def opened(self, number: int) -> OpenBlock | None:
        """A block of columns, to be read in part; None where it is none."""
        if self.plan.chain.serializer.name != "columns":
            return None
        start = self.offsets[number]
        return opened_block(self._file, self._found, self.plan, number, start)[0]

    def placed(self, block: SourceBlock) -> SourceBlock:
        """``block`` with what else must be known to read it."""
        return self.format.in_source(block, self.plan.style, self.head)

    def head(self) -> Buffer:
        """How the source's first block begins: at least with what its format has there."""
        if self._head is None:
            block = self.opened(0) if self.format.declared.delimiter else None
            if block is None:
                self._head = self.source_of(0)
            else:
                with block.checked():
                    self._head = head_of(block)
        return self._head

    def reader(self, block: SourceBlock) -> SourceReader:
        """What reads blocks; from the first one it learns their usual style."""
        if self._reader is None:
            style = self.plan.style
            if self.format.restyled:
                style = {**self.format.detect_style(block), **style}
            structure = Structure.MAP if self.structure == Structure.MAP else None
            plan = ConversionPlan(self.plan.format, style=style, structure=structure)
            serializer = SERIALIZERS.cls(self.plan.chain.serializer.name)
            kept = issubclass(serializer, RecordSerializer) and keeps(serializer, self.format)
            if kept and SETTINGS in style:
                plan = plan._replace(
                    source_serializer=(*self.plan.chain.serializer,),
                    source_settings=style[SETTINGS],
                )
            self._reader = SourceReader(plan, refused)
        return self._reader

    def read(self, block: SourceBlock) -> list[Any]:
        """The records of a block, with its bytes; InputError, RefusedError."""
        return read_values(self.reader(block), block)

    def alone(self, unit: Unit, number: int, text: bytes) -> tuple[SourceBlock, SourceReader]:
        """A record of a unit as a source of its own, and what reads it; ``text``: its bytes."""
        first_record = unit.block.first_record + number
        if self.structure:
            text = (b"{%b}" if self.structure == Structure.MAP else b"[%b]") % text
            block = SourceBlock(text, 0, 0, records=1, first_record=first_record, last=True)
            return block, SourceReader(
                ConversionPlan("json", style=self.format.detect_style(block)), refused
            )
        within = unit.block._replace(index=max(unit.block.index, 1))  # no header stands in it
        block = self.placed(within)._replace(
            data=text,
            records=1,
            first_record=first_record,
            last=False,
            inside=None,
        )
        return block, self.reader(block)


def read_values(reader: SourceReader, block: SourceBlock) -> list[Any]:
    """The records of a block; ValueRefusedError for what Python's values would not say."""
    with gc_paused():
        records = reader.read(block, Losses([COMMENTS]))
        if not reader.by_text:
            return records
        lost = TextProof(reader).prove_read(block, records)
    if lost is not None:
        raise refused(lost, block.first_record)
    return records


def refused(lost: Difference, first_record: int) -> ValueRefusedError:
    """The error for a value that Python does not hold as the source has it."""
    became = f" would become {lost.became}" if lost.became else ""
    return ValueRefusedError(
        f"Python cannot hold {KINDS[lost.kind]}: {lost.was}{became}",
        record=first_record + lost.record,
        value_path=lost.value_path,
        kind=lost.kind,
        hint="unpack gives it as it is spelled",
    )


@contextmanager
def counted(unit: Unit) -> Iterator[None]:
    """Errors count records in the whole container, not in the unit's member."""
    try:
        yield
    except ValueRefusedError as error:
        if error.record is not None:
            error.record += unit.first_record - unit.block.first_record
        raise


def members_of(source: Source, *, trust: bool) -> list[MemberRecords]:
    """The members of a container; UsageError where their records are not known."""
    members: list[MemberRecords] = []
    for found in find_members(source.file):
        if found.header.in_archive:
            raise UsageError(
                "an archive has files, not records", hint="unpack -o FOLDER gives them"
            )
        plan = member_plan(found.header, trust=trust)
        fmt = FORMATS.get(plan.format)
        if fmt.serialized:
            raise UsageError("it holds a Python object", hint="serialpack.load reads it")
        if not isinstance(fmt, ValueFormat) or (fmt.unpacked and not fmt.declared.is_array):
            hint = "unpack gives its bytes; pack --from says what a source is"
            if compression_named(found.header.name or ""):
                hint = "unpack --to ndjson writes those of the file that is compressed in it"
            raise UsageError(
                f"there are no records in it that are known ({plan.format})", hint=hint
            )
        if not fmt.safe and not trust:
            raise untrusted(f"reading {plan.format}", "--trust reads it")
        if members and members[0].plan.format != plan.format:
            raise UsageError(
                "it holds files of different formats, one after another", hint="unpack it"
            )
        members.append(MemberRecords(source, found, plan))
    return members
