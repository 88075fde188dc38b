"""Large values in a source, packed apart: arrays of an object or an archive, long bytes.

What stands side by side in a source may be as unlike as a picture and the words about it. So each
large value begins a block, and gets filters and codec by samples of its own; what is left, which is
small, can be read without it. Enter at ``apart``, or for a source at ``settle_apart``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from serialpack.auto import choice as auto
from serialpack.auto.choice import Choice
from serialpack.auto.few_numbers import SAMPLE, for_few_numbers
from serialpack.auto.items import for_items
from serialpack.files.source import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.formats.messages.format import MessageFormat
from serialpack.formats.messages.long_bytes import LongBytes
from serialpack.formats.python.buffers import cuts
from serialpack.formats.shared.large import LargeValue, NumbersLayout, ReadAt
from serialpack.stages.chain import Chain, Extent
from serialpack.stages.stage import Buffer

#: Fewer bytes are not worth the time that it takes to try all chains for the large values in them:
#: some 6 ms, in which zlib packs about so many.
LEAST_TRIED = 256 << 10

#: Arrays of one type are tried together where they are smaller than this, whatever their shape.
_ALONE = 1 << 20

#: Of so many bytes of a value it is guessed what they are.
_GUESSED = 4 << 20


class Apart(NamedTuple):
    """How a source with large values is packed. ``chain``: of its header, and of what else has
    none of its own in ``chains``, which are those of ``values``. ``rest``: what is no large value.
    """

    chain: Chain
    values: Sequence[LargeValue]
    chains: Sequence[Chain]
    rest: Chain

    def blocks(
        self, read: ReadAt, total: int, block_size: int, *, records: int | None = None
    ) -> Iterator[SourceBlock]:
        """The blocks of the source of ``total`` bytes; ``records``: 1 where it is one record."""
        pieces = [*_blocks(self.extents(total), block_size)]
        for index, (start, stop, chain, _) in enumerate(pieces):
            later = records is not None and index > 0
            yield SourceBlock(
                read(start, stop),
                index=index,
                offset=start,
                records=0 if later else records,
                first_record=int(later),
                last=index + 1 == len(pieces),
                partial=records is not None and len(pieces) > 1,
                continued=later,
                extents=(Extent(stop - start, None if chain == self.chain else chain),),
            )

    def extents(self, total: int) -> Iterator[_Extent]:
        """Those of a source of ``total`` bytes, one after another."""
        at = 0
        for value, chain in zip(self.values, self.chains, strict=True):
            if value.start > at:
                yield _Extent(at, value.start, self.rest, False)
            yield _Extent(value.start, value.stop, chain, True)
            at = value.stop
        if at < total or not total:
            yield _Extent(at, total, self.rest, False)


class _Extent(NamedTuple):
    start: int
    stop: int
    chain: Chain
    is_value: bool


def _blocks(extents: Iterator[_Extent], size: int) -> Iterator[_Extent]:
    """Those of one chain together where they are small, a large one in pieces of ``size``."""
    held = next(extents)
    for extent in extents:
        alike = held.is_value and extent[2:] == held[2:]
        if alike and extent.stop - held.start <= size:
            held = held._replace(stop=extent.stop)
            continue
        yield from _pieces(held, size)
        held = extent
    yield from _pieces(held, size)


def _pieces(extent: _Extent, size: int) -> Iterator[_Extent]:
    start, stop = extent[:2]
    for at in range(start, max(stop, start + 1), size):
        yield extent._replace(start=at, stop=min(at + size, stop))


def apart(
    choice: Choice, values: Sequence[LargeValue], read: ReadAt, *, tried: bool, few: bool = False
) -> Apart:
    """How ``values``, in their order, are packed, and the rest as ``choice`` has it.

    ``tried``: whether filters and codecs are tried for them, ``few``: but a few filters alone; else
    they have those of ``choice``, with sizes of their own items where it names none.
    """
    chains = dict.fromkeys(values, choice.chain)
    if tried and few:
        for (layout,), alike in _grouped(values, _said).items():
            length, joined = _joined(alike, read)
            start = max(length - SAMPLE, 0) // 2 // layout.item * layout.item
            sample = joined(start, min(start + SAMPLE, length))
            chains.update(dict.fromkeys(alike, for_few_numbers(choice.chain, layout, sample)))
    elif tried:
        likely = partial(_likely, read, choice.block_size)
        for layouts, alike in _grouped(values, likely).items():
            length, joined = _joined(alike, read)
            head = joined(0, choice.block_size)
            found = auto.for_numbers(choice, list(layouts), length, joined, head).chain
            chains.update(dict.fromkeys(alike, found))
    elif any(choice.open_items):
        for value in values:
            if value.layout is not None:
                layout = value.layout._replace(start=0)
                chains[value] = for_items(choice.chain, choice.open_items, layout)
    sizes: defaultdict[Chain, int] = defaultdict(int)
    for value, chain in chains.items():
        sizes[chain] += value.size
    others = [chain for chain in sizes if not chain.zstd_envelope]
    header = max(others or sizes, key=lambda chain: sizes[chain], default=choice.chain)
    if others:
        return Apart(header, values, [chains[value] for value in values], choice.chain)
    # In the envelope of zstd no part has a chain, which is a level, of its own.
    return Apart(header, values, [header] * len(values), header)


#: What the numbers of a value are, or may be: nothing where it has none.
_Layouts = tuple[NumbersLayout, ...]


def _grouped(
    values: Sequence[LargeValue], layouts_of: Callable[[LargeValue], _Layouts]
) -> dict[_Layouts, list[LargeValue]]:
    """Values that are tried together, by what their numbers are, or may be."""
    found: defaultdict[_Layouts, list[LargeValue]] = defaultdict(list)
    for value in values:
        if layouts := layouts_of(value):
            found[tuple(layout._replace(start=0) for layout in layouts)].append(value)
    return found


def _said(value: LargeValue) -> _Layouts:
    return () if value.layout is None else (value.layout.in_a_row(),)


def _likely(read: ReadAt, block_size: int, value: LargeValue) -> _Layouts:
    from serialpack.auto.raw_numbers import likely_layouts

    stop = min(value.stop, value.start + _GUESSED)
    layouts = likely_layouts(value.layout, partial(read, value.start, stop))
    if value.size < _ALONE:
        layouts = [layout.in_a_row() for layout in layouts]
    if value.size > block_size:  # a column may be cut
        layouts = [layout._replace(stacked=0) for layout in layouts]
    return tuple(layouts)


def _joined(values: list[LargeValue], read: ReadAt) -> tuple[int, ReadAt]:
    """How many bytes ``values`` are, one after another; and what reads them so."""
    starts = [*accumulate((value.size for value in values), initial=0)]

    def joined(start: int, stop: int) -> Buffer:
        pieces = [
            read(values[number].start + begin, values[number].start + end)
            for number, begin, end in cuts(starts, start, stop)
        ]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    return starts[-1], joined


def settle_apart(
    choice: Choice, format: str, peek: Callable[[int], Buffer], source: Source
) -> Choice | None:
    """``choice``, which is open, for ``source``, of which ``peek`` shows what comes next; None
    where it has no large values."""
    fmt, size = FORMATS.get(format), source.size
    if size is not None and size < LEAST_TRIED:
        return None
    if isinstance(fmt, MessageFormat):
        head = memoryview(peek(choice.block_size + 1))
        return _of_messages(choice, fmt, head) if (size or len(head)) >= LEAST_TRIED else None
    again = source.again()
    if size is None or again is None:
        return None
    with again:
        read = partial(auto.read_at, again.file)
        values = fmt.large_values(read, size)
        if not values:
            return None
        how = apart(choice, values, read, tried=True)
    return choice._replace(
        chain=how.chain,
        why=f"by samples of each of its large values ({len(values)})",
        settled=True,
        looked_at=True,
        split=lambda read, block_size: how.blocks(
            lambda start, stop: read(stop - start), size, block_size
        ),
    )


def _of_messages(choice: Choice, fmt: MessageFormat, head: memoryview) -> Choice | None:
    """For messages of which half or more is long bytes, as far as their beginning tells."""
    values = [LargeValue(*span) for span in LongBytes(fmt.heads).within(head)]
    if sum(value.size for value in values) * 2 < len(head):
        return None
    how = apart(choice, values, lambda start, stop: head[start:stop], tried=True)
    return choice._replace(
        chain=how.chain,
        why="its long bytes are parts of their own, filtered as a sample of them calls for",
        settled=True,
        looked_at=True,
        split=lambda read, block_size: _with_extents(how, fmt, fmt.split(read, block_size)),
    )


def _with_extents(
    how: Apart, fmt: MessageFormat, blocks: Iterator[SourceBlock]
) -> Iterator[SourceBlock]:
    """``blocks``, each in parts: its long bytes, and what is between them."""
    finder = LongBytes(fmt.heads)
    for block in blocks:
        values = [LargeValue(*span) for span in finder.within(block.data)]
        here = how._replace(values=values, chains=[how.chain] * len(values))
        yield block._replace(
            extents=tuple(
                Extent(stop - start, None if chain == how.chain else chain)
                for start, stop, chain, _ in here.extents(len(block.data))
            )
        )
