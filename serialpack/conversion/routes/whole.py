"""Writes the one file of all records of a source, where the target cannot be written in pieces.

``as_a_whole`` takes all records in memory: a document, the columns of a table as arrays by name, a
document with one root, or any records of a format whose files are written at once.
"""

from __future__ import annotations

from typing import Any

from serialpack.collector import gc_paused
from serialpack.conversion.blocks.converter import BlockConverter
from serialpack.conversion.losses.rules import (
    ARCHIVES,
    BY_COLUMN,
    ELEMENTS,
    ONE_MAP,
)
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.routes.outcome import BlockTally, Converted
from serialpack.conversion.targets.root import in_one_map, in_one_root
from serialpack.conversion.targets.writers import is_sequence
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.formats.pieces.join import Join
from serialpack.formats.shared.document import DocumentFormat
from serialpack.reports import LeftOut
from serialpack.stages.stage import Write
from serialpack.text import with_article
from serialpack.values.kinds import Loss
from serialpack.values.structure import Structure


def as_a_whole(
    records: list[Any],
    numbers: list[int],
    structure: Structure,
    write: Write,
    plan: ConversionPlan,
    tally: BlockTally,
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
        if not (len(records) == 1 and document is records[0]):
            # What was the only list of a record now stands in an element, where one is another.
            (document,) = BlockConverter(plan).changed([document], tally.losses, 0)
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


def _check_rows(rows: list[Any], plan: ConversionPlan, tally: BlockTally) -> None:
    """ValueRefusedError for what no array holds, which says in which of its rows that is."""
    _one_file(rows, [], plan._replace(target="npy", named=plan.target), tally)


def all_in_one_block(records: list[Any]) -> SourceBlock:
    """The block that all ``records`` of a source are of."""
    return SourceBlock(b"", index=0, offset=0, records=len(records), last=True)


def _not_one(plan: ConversionPlan, count: int) -> RefusedError:
    here = "are more" if count else "is none"
    return RefusedError(
        f"{with_article(plan.target)} file is one document, here {here}",
        hint="--to npy or ndjson holds any number",
    )


def _one_file(
    records: list[Any], numbers: list[int], plan: ConversionPlan, tally: BlockTally
) -> tuple[bytes, int]:
    """The file of ``records``, and how many of them are in it.

    Strictly at first, then with losses, then without those that are refused. ``numbers``: which
    of the source's they are, where they are records of it.
    """
    converter = BlockConverter(plan)
    if not (plan.lossy or plan.skip_bad):
        return converter.write(records, all_in_one_block(records)), len(records)
    if (data := converter.tried(records, all_in_one_block(records))) is not None:
        return data, len(records)
    if plan.lossy:
        records = converter.changed(records, tally.losses, 0)
    if plan.skip_bad and len(records) > 1:
        records, numbers = _without_bad(converter, records, numbers, tally)
    while True:
        try:
            return converter.write(records, all_in_one_block(records)), len(records)
        except ValueRefusedError as error:
            # One that is not refused alone, but with those before it.
            if not plan.skip_bad or not error.record:
                raise
            at = error.record
            number = numbers[at] if numbers else at
            tally.leave_out([LeftOut(number, 0, 1, error.said, refused=True)])
            records, numbers = records[:at] + records[at + 1 :], numbers[:at] + numbers[at + 1 :]


def _without_bad(
    converter: BlockConverter, records: list[Any], numbers: list[int], tally: BlockTally
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
            tally.leave_out([LeftOut(number, 0, 1, error.said, refused=True)])
        else:
            kept.append(record)
            kept_numbers.append(number)
    if not kept:
        raise tally.none_left()
    return kept, kept_numbers
