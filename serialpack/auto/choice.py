"""The choice of a chain, and its reason.

``choose`` fills in what the user left to auto, as far as that can be said without the data;
``settle`` looks at the data for the rest. Blocks are then chosen for one by one: ``worth`` says
which are not worth a codec, and the serializer columns keeps the text of those that it
hardly makes smaller. It begins as dask.distributed compresses messages
(``distributed.protocol.compression.maybe_compress``), by samples; but what these take for noise
is looked at whole, so that nothing is stored that zstd would have made clearly smaller.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import IO, TYPE_CHECKING, NamedTuple

from serialpack.auto.cuts import Split, of_learned, whole
from serialpack.auto.items import for_items, open_items
from serialpack.auto.records import apart, is_tangled, sample_of
from serialpack.codecs import CODECS
from serialpack.errors import UsageError
from serialpack.files.source import Source
from serialpack.filters import FILTERS
from serialpack.formats import FORMATS
from serialpack.formats.declaration import Declaration
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, parse_stage
from serialpack.stages.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.stages.stage import MAX_BLOCK, Buffer

if TYPE_CHECKING:
    from serialpack.auto.arrays.for_layout import Chosen
    from serialpack.formats.shared.large import NumbersLayout

#: Why a file in no format that is known is taken as it is.
NEITHER = "it has neither records nor an array of numbers"

#: Of less all is tried that is tried at all; the container does not say why.
LEAST = 10_000
_LEAST_OF_IT = "it leaves least of what was tried on all of it"

#: Of many small files so many bytes are tried: fewer do not have what comes again in other files.
_MANY_FRONT = 2 << 20

#: Columns must save this part of ``least_gain`` of the source: of trees of JSON that shrink to a
#: fiftieth anyway, they saved 6 to 40 kB a second, of others 300 and more. Below the second of what
#: the text takes, a front tells.
_OF_SOURCE, _SURELY = 0.1, 0.65

#: What numbers gain pays as much sooner than what a filter alone is asked for: they are read back
#: at half a gigabyte a second and more, and with them others than zstd's entropy coder.
_QUICKLY = 4


class Choice(NamedTuple):
    """A chain, the size of its blocks in bytes, and why these.

    ``shared``: the chain for a small source with a dictionary that it shares with others (see
    ``Effort``). ``min_saving``: what its codec must save of a block (see ``Effort``), 0 where the
    user named the codec. ``settled``: whether the data cannot change it any more; ``looked_at``:
    whether it was looked at for this. ``split``: what cuts the source in the place of its format,
    given what reads it, and the size of blocks. ``threads``: how many may look for it. ``sized``:
    whether the user named the size of blocks. ``open_items``: as ``items.open_items``.
    """

    chain: Chain
    shared: Chain
    block_size: int
    why: str
    effort: int = DEFAULT_EFFORT
    min_saving: float = 0.0
    settled: bool = True
    looked_at: bool = False
    split: Split | None = None
    threads: int = 1
    sized: bool = False
    open_items: tuple[bool, ...] = ()

    @property
    def reason(self) -> str:
        """What the container says of why: nothing where the source was not looked at."""
        return self.why if self.looked_at else ""


@lru_cache(None, typed=True)  # True is no 1 here
def choose(
    serializer: str = "auto",
    filters: tuple[str, ...] = (),
    codec: str = "auto",
    *,
    effort: int = DEFAULT_EFFORT,
    block_size: int | None = None,
) -> Choice:
    """Fill in what the user left to ``auto``, and levels that are not named, by ``effort``.

    ``block_size``: of blocks, in bytes, where not that of the effort. UsageError for an unknown
    stage or effort, and for a size that no block has.
    """
    if block_size is not None and not (type(block_size) is int and 1 <= block_size <= MAX_BLOCK):
        raise UsageError("the block size must be from 1 byte to 64M")
    if effort not in EFFORTS:
        raise UsageError(f"effort {effort} is not one of {min(EFFORTS)} to {max(EFFORTS)}")
    step = EFFORTS[effort]
    settled = (serializer, filters, codec) != ("auto", (), "auto")
    min_saving = step.min_saving if codec == "auto" else 0.0
    why = []
    if serializer == "auto":
        serializer = "raw"
        why.append("raw keeps the very bytes")
    first = parse_stage(SERIALIZERS, serializer, effort)
    if codec == "auto" and SERIALIZERS.cls(first.name).compresses:
        codec, min_saving = "none", 0.0
        why.append(f"{first.name} compresses what it writes")
    if codec == "auto":
        codec = "zstd"
        why.append(f"zstd at the level of effort -{effort}, any zstd tool unpacks it")
    chain = Chain(
        first,
        tuple(parse_stage(FILTERS, f, effort) for f in filters),
        parse_stage(CODECS, codec, effort),
    )
    words = "; ".join(why) or "as asked for"
    return Choice(
        chain,
        chain._replace(codec=parse_stage(CODECS, codec, step.shared)),
        block_size or step.block_size,
        words,
        effort,
        min_saving,
        settled,
        sized=block_size is not None,
        open_items=open_items(filters, codec),
    )


def settle(
    choice: Choice,
    format: str,
    peek: Callable[[int], Buffer],
    source: Source | None = None,
    *,
    many: bool = False,
) -> Choice:
    """``choice``, with what it left open chosen by looking at the source.

    ``peek(n)`` shows the source's first n bytes, fewer where it has no more. A block of them, and
    of records one more, is asked for: what comes through a pipe may be long in coming. ``source``
    is looked at farther on too, where it can be. ``many``: what is shown is the first of several
    blocks of small files, each with records of its own.
    """
    if choice.settled:
        return _with_items(choice, peek) if any(choice.open_items) else choice
    declared = FORMATS.declaration(format)
    # Of records it matters whether there are more than in one block.
    head = peek(choice.block_size + bool(declared.columns))
    found = _settled(choice, format, head, source, many=many)
    if found.looked_at and found.chain == choice.chain:
        found = _by_slow_codecs(found, format, head)
    usual = EFFORTS[DEFAULT_EFFORT].block_size
    if choice.sized or many or len(head) > usual:
        return found
    # Of all that there is, in one block, nobody need say that others could be larger.
    return found._replace(block_size=min(found.block_size, usual))


def is_alike(choice: Choice, format: str) -> bool:
    """Whether ``settle`` leaves all sources of fewer than ``LEAST`` bytes in ``format`` the same
    stages, without a look at them."""
    if choice.settled:
        return not any(choice.open_items)
    return FORMATS.declaration(format).is_text


def _with_items(choice: Choice, peek: Callable[[int], Buffer]) -> Choice:
    """``choice``, whose stages are named, with the size of items that they are named without: that
    of the array that the source is, if it is one and stays as it is."""
    from serialpack.formats.arrays.layout import MOST_HEAD, numbers_in

    is_raw = choice.chain.serializer.name == "raw"
    layout = numbers_in(peek(MOST_HEAD)) if is_raw else None
    if layout is None:
        return choice
    return choice._replace(chain=for_items(choice.chain, choice.open_items, layout))


def _settled(
    choice: Choice, format: str, head: Buffer, source: Source | None, *, many: bool
) -> Choice:
    """As ``settle``, with what the source begins with."""
    declared = FORMATS.declaration(format)
    choice = choice._replace(settled=True, looked_at=len(head) >= LEAST)
    if not choice.looked_at:
        return choice if declared.is_text or not head else _for_few(choice, declared, head)
    if declared.columns:
        return _for_records(choice, format, head, many=many)
    if declared.variants:
        return choice._replace(why="columns takes tables apart that are in UTF-8 or alike")
    from serialpack.formats.arrays.layout import numbers_in

    layout = numbers_in(head)
    if layout is not None or not declared.is_text:
        from serialpack.auto.raw_numbers import likely_layouts

        if layouts := likely_layouts(layout, lambda: head):
            return _for_array(choice, layouts, head, source, format)
    return choice._replace(why=NEITHER)


def _by_slow_codecs(choice: Choice, format: str, head: Buffer) -> Choice:
    """``choice``, which leaves the source as it is to zstd, with what leaves less of it, where the
    effort tries others."""
    if not (slow := EFFORTS[choice.effort].slow):
        return choice
    from serialpack.auto.slow_codecs import smallest

    found = smallest(choice.chain.codec, slow, head)
    split = None if found.payload is None else partial(whole, format, head, found.payload)
    return choice._replace(
        chain=choice.chain._replace(codec=found.codec),
        why=f"{choice.why}; {found.why}" if found.why else choice.why,
        split=split,
    )


def _for_few(choice: Choice, declared: Declaration, head: Buffer) -> Choice:
    """With what leaves least of ``head``, all that there is. Where time matters least an array is
    tried as larger ones are, which takes four times as long."""
    from serialpack.auto.few_numbers import least_of_little

    layout, found = None, None
    if declared.is_array:
        from serialpack.formats.arrays.layout import numbers_in

        layout = numbers_in(head)
    if layout is not None and not EFFORTS[choice.effort].least_gain:
        found = _for_array(choice, [layout], head, None, declared.name).chain
    best = least_of_little(choice.chain.codec, choice.effort, layout, head, found)
    if best.codec.name != choice.chain.codec.name:
        choice = choice._replace(min_saving=0.0)
    chain = choice.chain._replace(filters=best.filters, codec=best.codec)
    return choice._replace(
        chain=chain,
        why=choice.why if chain.zstd_envelope else _LEAST_OF_IT,
        split=partial(whole, declared.name, head, best.payload),
    )


def _for_records(choice: Choice, format: str, head: Buffer, *, many: bool) -> Choice:
    if not EFFORTS[choice.effort].by_itself:
        return choice._replace(why=f"effort -{choice.effort} leaves records whole, for speed")
    chain = choose("columns", effort=choice.effort).chain
    columns = choice._replace(chain=chain, min_saving=0.0)
    if is_tangled(chain.serializer, format, head):
        return choice._replace(why="its keys are data, of which columns hardly gain anything")
    if many:
        return _for_many(choice, columns, format, head)
    if len(head) <= choice.block_size:
        # The source's one block is both ways at once, and tells better than a part of it.
        return columns._replace(why="columns of its records, where these are smaller than its text")
    # Whole blocks, in which more is alike, come out better still: here any gain will do.
    sample = sample_of(format, head)
    text = len(CODECS.create(*choice.chain.codec).compress(sample))
    taken = apart(chain.serializer, format, sample)
    if taken is None or len(taken) >= text:
        return choice._replace(why="a sample of its records is no smaller as columns")
    why = f"a sample of its records is {1 - len(taken) / text:.0%} smaller as columns than as text"
    return columns._replace(why=why)


def _for_many(choice: Choice, columns: Choice, format: str, block: Buffer) -> Choice:
    """``choice``, or ``columns`` where these pay for the first ``block`` of several of small files:
    in all of it text finds again what its front does not show."""
    least = EFFORTS[choice.effort].least_gain
    for part, what in ((block[:_MANY_FRONT], "part"), (block, "block")):
        text = len(CODECS.create(*choice.chain.codec).compress(part))
        taken = apart(columns.chain.serializer, format, part)
        if taken is None or text - len(taken) <= least * max(text, _OF_SOURCE * len(part)):
            return choice._replace(why=f"a {what} of its files gains too little as columns")
        why = (
            f"a {what} of its files is {1 - len(taken) / text:.0%} smaller as columns than as text"
        )
        if len(taken) < _SURELY * text:
            break
    return columns._replace(why=why)


def _for_array(
    choice: Choice,
    layouts: "list[NumbersLayout]",
    head: Buffer,
    source: Source | None,
    format: str,
) -> Choice:
    """``layouts``: what its numbers are, or may be."""
    again = source.again() if source is not None and (source.size or 0) > len(head) else None
    if again is None or again.size is None:
        data = memoryview(head)
        return for_numbers(choice, layouts, len(data), _part_of(data), data, format=format)
    with again:
        read = partial(read_at, again.file)
        return for_numbers(choice, layouts, again.size, read, head, format=format)


def for_numbers(
    choice: Choice,
    layouts: "list[NumbersLayout]",
    length: int,
    read: Callable[[int, int], Buffer],
    head: Buffer,
    *,
    format: str = "",
) -> Choice:
    """``choice`` with the filters and the codec that suit numbers of ``length`` bytes.

    ``layouts``: what they are, or may be. ``read`` gives the bytes between two places. ``head``:
    what they begin with, as much as a block. ``format``: of a source that is nothing else, whose
    block gets what was made of it, where the samples are all of it.
    """
    from serialpack.auto.arrays.choice import chosen

    layouts = [layout.of_length(length) for layout in layouts]
    best = chosen(
        layouts,
        length,
        read,
        head,
        choice.chain.codec,
        choice.effort,
        choice.threads,
        packed=bool(format),
    )
    if best is None:
        return choice._replace(why="it has too few numbers to look at")
    found, plain, recurs = best
    gains = found.share < (1 - EFFORTS[choice.effort].least_gain / _QUICKLY) * plain.share
    if not gains and not found.filters and found.codec.name == plain.codec.name:
        # Another level is read as fast: any gain will do.
        plain = min(found, plain, key=lambda each: each.share)
    same = (found.filters, found.codec) == choice.chain[1:]
    payload = found.payload if recurs or gains or same else plain.payload
    split = None
    if payload is not None and length == len(head):  # else it was made of several blocks
        split = partial(whole, format, head, payload)
    if recurs:
        return choice._replace(
            chain=choice.chain._replace(filters=found.filters, codec=found.codec),
            why=f"much of it comes again, which {found.codec.name} finds",
            split=split,
        )
    if not gains:
        why = "a sample of its numbers gains too little behind a filter"
        chain = choice.chain._replace(codec=plain.codec)
        return choice._replace(chain=chain, why=why, split=split)
    return _with_filters(choice._replace(split=split), layouts[0], best, length, head, format)


def _with_filters(
    choice: Choice,
    layout: "NumbersLayout",
    best: "Chosen",
    length: int,
    head: Buffer,
    format: str,
) -> Choice:
    """``choice`` with filters and codec of the ``best``, which gain enough, and blocks of a size
    that suits them; the rest as for ``for_numbers``."""
    from serialpack.auto.arrays.blocks import blocks_of
    from serialpack.formats.shared.split import split_plain

    found, plain, _ = best
    size, split = choice.block_size, choice.split
    cut = bool(format) and not choice.sized and (length > len(head) or length < size)
    blocks = blocks_of(layout, found, length, size, choice.effort, cut=cut)
    if blocks.more:
        split = partial(split_plain, more=blocks.more)
    elif split is None and found.learned is not None and format:
        split = partial(of_learned, format, found.learned)
    return choice._replace(
        chain=choice.chain._replace(filters=found.filters, codec=blocks.codec),
        block_size=blocks.size,
        min_saving=choice.min_saving if found.codec.name == plain.codec.name else 0.0,
        why=f"a sample of its numbers is {1 - found.share / plain.share:.0%} smaller so",
        split=split,
    )


def _part_of(data: memoryview) -> Callable[[int, int], Buffer]:
    return lambda start, stop: data[start:stop]


def read_at(file: IO[bytes], start: int, stop: int) -> bytes:
    """The bytes of a file from ``start`` up to but not including ``stop``, fewer at its end."""
    file.seek(start)
    return file.read(stop - start)
