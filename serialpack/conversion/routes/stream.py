"""A source of records becomes a file block by block, in memory that does not grow with it.

``convert_stream`` cuts the source into blocks, has workers convert them, and joins the pieces that
they became. Where the target is written of all records at once, it collects them (``whole``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from serialpack.conversion.blocks.converter import BlockConverter
from serialpack.conversion.blocks.members import MembersConverter
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.plan import ConversionPlan, Found
from serialpack.conversion.routes.outcome import BlockTally, Converted, Seen
from serialpack.conversion.routes.whole import all_in_one_block, as_a_whole
from serialpack.conversion.tables.writers import join_of
from serialpack.conversion.targets.joining import Joiner, Patch
from serialpack.formats import FORMATS
from serialpack.formats.base import Read, SourceBlock, ValueFormat
from serialpack.formats.pieces.join import Join
from serialpack.pipeline.line import Crew, Elsewhere, Line, Progress
from serialpack.stages.stage import Write
from serialpack.values.structure import Structure

#: The records of so much less are read where tables of them are large: up to three blocks wait.
_BESIDE_ROWS = 4


def convert_stream(
    read: Read,
    write: Write,
    plan: ConversionPlan,
    *,
    block_size: int | None,
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
    fmt, target = FORMATS.get(plan.source), FORMATS.get(plan.target)
    assert isinstance(fmt, ValueFormat)
    assert isinstance(target, ValueFormat)
    join = join_of(plan) or target.join
    line = _line_of(read, fmt, plan, join, block_size, size, progress)
    tally = BlockTally(plan, line, losses, seen)
    first = line.first
    structure = plan.structure or fmt.structure(first, 0)
    in_pieces = join is not None and (join.maps or structure != Structure.MAP)
    plan = plan._replace(
        style=fmt.detect_style(first) if fmt.restyled else fmt.outline(first),
        structure=structure if structure in (Structure.ARRAY, Structure.MAP) else None,
        whole=plan.whole or not in_pieces,
    )
    apart = _waits_as_values(plan)
    # Of tables Python does the most, so that threads are of no use.
    slow = plan.layout is not None
    crew = Crew(threads, processes=threads > 1, slow=slow, elsewhere=elsewhere)
    converter = MembersConverter if structure == Structure.MAP else BlockConverter
    converted = line.through(partial(converter, plan), crew if in_pieces and not apart else Crew())
    if join is None or not in_pieces:
        return _written_whole(converted, first, structure, write, plan, tally)
    with Joiner(join, write, patch) as joiner:
        pieces = _in_pieces(converted, plan) if apart else converted
        _join(pieces, line, structure, joiner, plan, tally)
    return tally.done(joiner.count)


def _waits_as_values(plan: ConversionPlan) -> bool:
    """Whether the records of a block wait as values, and some rows at a time are written."""
    return plan.layout is not None and plan.layout.most_rows > 0


def _line_of(
    read: Read,
    fmt: ValueFormat,
    plan: ConversionPlan,
    join: Join | None,
    block_size: int | None,
    size: int | None,
    progress: Progress | None,
) -> Line:
    """The blocks of the source, of ``block_size`` bytes or as many as suit the target."""
    size_of_block = block_size or (join or Join).block_size
    if block_size is None and _waits_as_values(plan):
        size_of_block //= _BESIDE_ROWS
    most = 0 if plan.source_serializer else (join or Join).most_values(size_of_block)
    blocks = fmt.split(read, size_of_block, for_values=True, most_values=most)
    return Line(plan.placed(blocks), block_size=size_of_block, size=size, progress=progress)


def _structure_of(first: SourceBlock, found: Found, count: int, plan: ConversionPlan) -> Structure:
    """What the records of the target are, as the first block says: ``found`` of it, ``count``
    records with those that were left out."""
    if plan.shaping.picks:
        return Structure.ARRAY if found.elements else Structure.DOCUMENT
    if found.elements or plan.structure:
        return plan.structure or Structure.ARRAY
    if plan.alone and first.last and count == 1:
        return Structure.DOCUMENT
    fmt = FORMATS.get(plan.source)
    assert isinstance(fmt, ValueFormat)
    return fmt.structure(first, count)


def _join(
    converted: Iterator[tuple[SourceBlock, Found]],
    line: Line,
    structure: Structure,
    joiner: Joiner,
    plan: ConversionPlan,
    tally: BlockTally,
) -> None:
    """Join the pieces of all blocks, which come from ``line``, one after another."""
    for block, found in converted:
        assert found.piece is not None
        tally.add(found)
        if block.index == 0:
            count = found.piece.records + len(found.left_out)
            structure = _structure_of(line.first, found, count, plan)
        joiner.add(found.piece, structure, first_record=block.first_record, last=block.last)
        line.written += len(found.piece.body)
    fmt = FORMATS.get(plan.source)
    assert isinstance(fmt, ValueFormat)
    tally.check_any(joiner.count, fmt)
    tally.check_keys()
    joiner.finish(structure)


def _written_whole(
    converted: Iterator[tuple[SourceBlock, Found]],
    first: SourceBlock,
    structure: Structure,
    write: Write,
    plan: ConversionPlan,
    tally: BlockTally,
) -> Converted:
    """Collect the records of all blocks, and write one file of them."""
    records, numbers = list[Any](), list[int]()
    # What is sure to be refused is not read to its end.
    early = None if plan.lossy or plan.skip_bad else BlockConverter(plan)
    for block, found in converted:
        tally.add(found)
        records += found.records
        numbers += found.numbers
        if block.index == 0:
            count = len(found.records) + len(found.left_out)
            structure = _structure_of(first, found, count, plan)
        if early is None or block.last or structure == Structure.MAP or not found.records:
            continue
        if not early.fits([records[0], *found.records]):
            early.write(records, all_in_one_block(records))  # which says why
    fmt = FORMATS.get(plan.source)
    assert isinstance(fmt, ValueFormat)
    tally.check_any(len(records), fmt)
    return as_a_whole(records, numbers, structure, write, plan, tally)


def _in_pieces(
    converted: Iterator[tuple[SourceBlock, Found]], plan: ConversionPlan
) -> Iterator[tuple[SourceBlock, Found]]:
    """Each block as often as pieces are made of it."""
    writer = BlockConverter(plan)
    for block, found in converted:
        for part in writer.pieces(found, block.first_record):
            yield block._replace(last=False), part
