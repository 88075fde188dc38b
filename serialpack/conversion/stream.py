"""A source in one format becomes a file in another, in bounded memory where both have records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from serialpack.collector import gc_paused
from serialpack.columns.fields.wanted import Field
from serialpack.conversion.blocks.converter import BlockConverter
from serialpack.conversion.blocks.members import MembersConverter
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rules import (
    ARCHIVES,
    BY_COLUMN,
    ELEMENTS,
    ONE_MAP,
    PLACES,
    TEXT_TABLES,
)
from serialpack.conversion.plan import ConversionPlan, Found
from serialpack.conversion.tables.writers import join_of
from serialpack.conversion.targets.joining import Joiner, Patch, Write
from serialpack.conversion.targets.root import in_one_map, in_one_root
from serialpack.conversion.targets.writers import is_sequence
from serialpack.conversion.types.typing import SPELLINGS
from serialpack.errors import InputError, RefusedError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import Read, SourceBlock, ValueFormat
from serialpack.formats.shared.document import DocumentFormat
from serialpack.formats.shared.join import Join
from serialpack.pipeline.line import Crew, Elsewhere, Line, Progress
from serialpack.reports import LeftOut
from serialpack.text import with_article
from serialpack.values.kinds import COLUMNS, DIGITS, LONG_ROWS, NO_ROWS, RENAMED, SHORT_ROWS, Loss
from serialpack.values.structure import Structure

#: The records of so much less are read where tables of them are large: up to three blocks wait.
_BESIDE_ROWS = 4

#: The most that is told of what was left out, one by one.
_MOST_LEFT_OUT = 1000

#: Called with the fields that there were so far.
Seen = Callable[[frozenset[Field]], object]


class Converted(NamedTuple):
    """What came of a conversion. ``left_out``: how many pieces, ``places``: the first of them.

    ``records``: how many are in the target; None where they were not counted. ``fields``: which
    of the plan's there were. ``same``: what the plan keeps writes the very bytes of the source.
    ``at``: the path at which they stand in the target, where that has put something around them.
    """

    read: int
    records: int | None
    losses: list[Loss]
    left_out: int
    places: list[LeftOut]
    seconds: dict[str, float]
    fields: frozenset[Field] = frozenset()
    same: bool = False
    at: str = ""


class _Tally:
    """What happened in all blocks so far."""

    def __init__(
        self, plan: ConversionPlan, line: Line, losses: Losses | None, seen: Seen | None
    ) -> None:
        self._line = line
        self._target = plan.target
        self._seen = seen
        self.left_out = 0
        self.losses = losses or Losses(plan.lossy)
        self.places: list[LeftOut] = []
        self.fields: frozenset[Field] = frozenset()
        self._keys = bytearray()
        self._same = True
        #: What the target has the names of also where it has no rows.
        columns = () if plan.layout is None else plan.layout.columns
        self._columns = frozenset(column.path for column in columns)

    def add(self, found: Found) -> None:
        self.losses.merge(found.losses)
        self.leave_out(found.left_out)
        self._keys += found.keys
        self.fields |= found.fields
        if self._seen is not None:
            self._seen(self.fields)
        self._same = self._same and found.same

    def leave_out(self, places: list[LeftOut]) -> None:
        self.left_out += len(places)
        self.places += places[: _MOST_LEFT_OUT - len(self.places)]

    def check_any(self, count: int, fmt: ValueFormat) -> None:
        """An error where no record is left, or where there was none to say the columns by."""
        if count:
            return
        self.fields |= self._columns
        if self.left_out:
            raise InputError(f"no record is left: {self.places[0].error}")
        names = [] if self._columns else [*fmt.sample(self._line.first)]
        if not names:
            return
        if not fmt.declared.delimiter:
            told = Loss(NO_ROWS, len(names), 0, "$", f"{', '.join(names):.60}", "")
            check_dropped([told], self.losses, self._target)
            self.losses.merge([told])
        elif COLUMNS in self.losses.allowed:
            self.losses.merge([Loss(COLUMNS, 1, 0, "$", "the names of columns", "")])
        else:  # which may be a record, of a table that has no names
            way = "" if fmt.declared.headless else "--no-header takes its line as a record, "
            raise ValueRefusedError(
                "a table without rows: the names of its columns would be lost",
                kind=COLUMNS,
                hint=f"{way}--lossy {COLUMNS} drops them",
            )

    def check_keys(self) -> None:
        """ValueRefusedError where a map, which came member by member, has a key twice."""
        if not self._keys:
            return
        from serialpack.formats.shared.members import repeated

        if (pair := repeated(self._keys)) is not None:
            raise ValueRefusedError(
                f"a map has a key twice: its members {pair[0]} and {pair[1]}",
                record=0,
                kind="duplicate-keys",
            )

    def done(self, records: int) -> Converted:
        line, losses = self._line, self.losses.report()
        return Converted(
            line.read,
            records,
            losses,
            self.left_out,
            self.places,
            line.seconds,
            self.fields,
            self._same and not self.left_out,
        )


def convert_stream(
    read: Read,
    write: Write,
    plan: ConversionPlan,
    *,
    block_size: int | None = None,
    threads: int = 1,
    size: int | None = None,
    patch: Patch | None = None,
    progress: Progress | None = None,
    losses: Losses | None = None,
    elsewhere: Elsewhere | None = None,
    seen: Seen | None = None,
) -> Converted:
    """Convert what ``read`` gives, as ``plan`` says, to one file that ``write`` gets.

    ``block_size``: how many bytes of the source are read at a time, where not as many as suit the
    target. ``size``: the source's bytes, where they are known. ``patch`` as ``Joiner`` has it.
    What is written before an error stays written: a caller that wants all or nothing gives a file
    of its own. ``losses`` counts what was changed, also where it ends early. ``elsewhere`` has
    others convert the blocks, where the target is written block by block. ``seen`` is told which
    of the plan's fields there were so far, before what has them is written.
    """
    fmt = FORMATS.get(plan.source)
    assert isinstance(fmt, ValueFormat)
    target = FORMATS.get(plan.target)
    assert isinstance(target, ValueFormat)
    join = join_of(plan) or target.join
    size_of_block = block_size or (join or Join).block_size
    apart = plan.layout is not None and plan.layout.most_rows > 0
    if apart and block_size is None:
        size_of_block //= _BESIDE_ROWS
    most = 0 if plan.source_serializer else (join or Join).most_values(size_of_block)
    blocks = fmt.split(read, size_of_block, for_values=True, most_values=most)
    line = Line(blocks, block_size=size_of_block, size=size, progress=progress)
    tally = _Tally(plan, line, losses, seen)
    first = line.first
    structure = plan.structure or fmt.structure(first, 0)
    plan = plan._replace(
        style=fmt.detect_style(first) if fmt.restyled else fmt.outline(first),
        structure=structure if structure in (Structure.ARRAY, Structure.MAP) else None,
    )
    in_pieces = join is not None and (join.maps or structure != Structure.MAP)
    if not in_pieces:
        plan = plan._replace(whole=True)

    def structure_of(found: Found, count: int) -> Structure:
        if plan.shaping.at:
            return Structure.ARRAY if found.elements else Structure.DOCUMENT
        if found.elements or plan.structure:
            return plan.structure or Structure.ARRAY
        if plan.alone and first.last and count == 1:
            return Structure.DOCUMENT
        return fmt.structure(first, count)

    # Of tables Python does the most, so that threads are of no use.
    slow = plan.layout is not None
    here = apart or not in_pieces
    several = Crew(threads, processes=threads > 1, slow=slow, elsewhere=elsewhere)
    converter = MembersConverter if structure == Structure.MAP else BlockConverter
    converted = line.through(partial(converter, plan), Crew() if here else several)
    if not in_pieces:
        records, numbers = list[Any](), list[int]()
        # What is sure to be refused is not read to its end.
        early = None if plan.lossy or plan.skip_bad else BlockConverter(plan)
        for block, found in converted:
            tally.add(found)
            records += found.records
            numbers += found.numbers
            if block.index == 0:
                structure = structure_of(found, len(found.records) + len(found.left_out))
            if early is None or block.last or structure == Structure.MAP or not found.records:
                continue
            if not early.fits([records[0], *found.records]):
                early.write(records, _everything(records))  # which says why
        tally.check_any(len(records), fmt)
        return _as_a_whole(records, numbers, structure, write, plan, tally)
    assert join is not None
    with Joiner(join, write, patch) as joiner:
        for block, found in _in_pieces(converted, plan) if apart else converted:
            assert found.piece is not None
            tally.add(found)
            if block.index == 0:
                structure = structure_of(found, found.piece.records + len(found.left_out))
            joiner.add(found.piece, structure, first_record=block.first_record, last=block.last)
            line.written += len(found.piece.body)
        tally.check_any(joiner.count, fmt)
        tally.check_keys()
        joiner.finish(structure)
    return tally.done(joiner.count)


def _in_pieces(
    converted: Iterator[tuple[SourceBlock, Found]], plan: ConversionPlan
) -> Iterator[tuple[SourceBlock, Found]]:
    """Each block as often as pieces are made of it."""
    writer = BlockConverter(plan)
    for block, found in converted:
        for part in writer.pieces(found, block.first_record):
            yield block._replace(last=False), part


def _as_a_whole(
    records: list[Any],
    numbers: list[int],
    structure: Structure,
    write: Write,
    plan: ConversionPlan,
    tally: _Tally,
) -> Converted:
    """One file of all records of a source, in memory; ``numbers`` as ``_one_file`` has them."""
    parts = len(records)
    table = None if structure in (Structure.MAP, Structure.DOCUMENT) else _columns(records, plan)
    rows = records if table is None and _is_array(records, structure, plan) else None
    if table is not None:
        tally.losses.merge([Loss(BY_COLUMN, parts, 0, "$", "a row", "items of arrays")])
        tally.losses.check_carried(plan.target)
        records = [table]
    elif rows is not None:
        records = [{plan.one_array: rows}]
    elif structure == Structure.MAP:
        records = Join().lowered(records, structure)
    elif structure == Structure.ARRAY and not is_sequence(plan.target):
        records = [records]
    at = ""
    if plan.target in ELEMENTS:
        document, at = in_one_root(records, structure, plan, tally.losses)
        records = [document]
    elif plan.target in ONE_MAP:
        document, at = in_one_map(records, plan, tally.losses)
        records = [document]
    target = FORMATS.get(plan.target)
    if isinstance(target, ValueFormat) and target.one_record and len(records) != 1:
        raise _not_one(plan, len(records))
    if isinstance(target, DocumentFormat) and target.one_record:
        target.check_document(records[0])
    whole = len(records) != parts or structure in (Structure.ARRAY, Structure.MAP)
    whole = whole or table is not None or rows is not None
    try:
        with gc_paused():
            data, kept = _one_file(records, numbers[: 0 if whole else None], plan, tally)
    except ValueRefusedError:
        if rows is not None:
            _check_rows(rows, plan, tally)
        raise
    write(data)
    count = kept if not whole or is_sequence(plan.target) else parts
    return tally.done(count)._replace(at=at)


def _columns(records: list[Any], plan: ConversionPlan) -> dict[Any, list[Any]] | None:
    """A map of the columns of a table, where the target has an array for each; else None."""
    if plan.target not in ARCHIVES or not records or type(records[0]) is not dict:
        return None
    names = records[0].keys()
    if not all(type(record) is dict and record.keys() == names for record in records):
        return None
    return {name: [record[name] for record in records] for name in names}


def _is_array(records: list[Any], structure: Structure, plan: ConversionPlan) -> bool:
    """Whether ``records`` are the rows of one array, where the target has arrays by name."""
    if plan.target not in ARCHIVES or structure == Structure.MAP:
        return False
    return structure != Structure.DOCUMENT or type(records[0]) is not dict


def _check_rows(rows: list[Any], plan: ConversionPlan, tally: _Tally) -> None:
    """ValueRefusedError for what no array holds, which says in which of its rows that is."""
    try:
        _one_file(rows, [], plan._replace(target="npy"), tally)
    except ValueRefusedError as error:
        error.message = error.message.replace("npy", plan.target, 1)
        raise


def _everything(records: list[Any]) -> SourceBlock:
    """The block that all ``records`` of a source are of."""
    return SourceBlock(b"", index=0, offset=0, records=len(records), last=True)


def _not_one(plan: ConversionPlan, count: int) -> RefusedError:
    here = "are more" if count else "is none"
    return RefusedError(
        f"{with_article(plan.target)} file is one document, here {here}",
        hint="--to npy or ndjson holds any number",
    )


def _one_file(
    records: list[Any], numbers: list[int], plan: ConversionPlan, tally: _Tally
) -> tuple[bytes, int]:
    """The file of ``records``, and how many of them are in it.

    Strictly at first, then with losses, then without those that are refused. ``numbers``: which
    of the source's they are, where they are records of it.
    """
    converter = BlockConverter(plan)
    if not (plan.lossy or plan.skip_bad):
        return converter.write(records, _everything(records)), len(records)
    if (data := converter.tried(records, _everything(records))) is not None:
        return data, len(records)
    if plan.lossy:
        records = converter.changed(records, tally.losses, 0)
    if plan.skip_bad and len(records) > 1:
        records, numbers = _without_bad(converter, records, numbers, tally)
    while True:
        try:
            return converter.write(records, _everything(records)), len(records)
        except ValueRefusedError as error:
            # One that is not refused alone, but with those before it.
            if not plan.skip_bad or not error.record:
                raise
            at = error.record
            tally.leave_out([LeftOut(numbers[at] if numbers else at, 0, 1, error.said)])
            records, numbers = records[:at] + records[at + 1 :], numbers[:at] + numbers[at + 1 :]


def _without_bad(
    converter: BlockConverter, records: list[Any], numbers: list[int], tally: _Tally
) -> tuple[list[Any], list[int]]:
    """The records without those that are refused alone, or beside the first that is not."""
    kept: list[Any] = []
    kept_numbers: list[int] = []
    for at, record in enumerate(records):
        number = numbers[at] if numbers else at
        beside = SourceBlock(b"", index=0, offset=0, records=1, first_record=number, last=True)
        try:
            converter.write([record], beside)
            if kept:
                converter.write([kept[0], record], beside)
        except ValueRefusedError as error:
            tally.leave_out([LeftOut(number, 0, 1, error.said)])
        else:
            kept.append(record)
            kept_numbers.append(number)
    if not kept:
        raise InputError(f"no record is left: {tally.places[0].error}")
    return kept, kept_numbers


def comes_back(plan: ConversionPlan, done: Converted, *, as_it_is: bool) -> str:
    """What of a table of text comes back from a table that keeps how it was written."""
    if plan.kept is None or plan.target in TEXT_TABLES:
        return ""
    others = (DIGITS, PLACES, SPELLINGS, RENAMED, SHORT_ROWS, LONG_ROWS)
    changed = any(loss.rule in others for loss in done.losses)
    if changed or done.left_out or plan.fields or not plan.verify:
        return ""
    return "bytes" if done.same and as_it_is else "cells"
