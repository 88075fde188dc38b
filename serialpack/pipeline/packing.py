"""How a member is packed: what is asked for, and the header and the plan that follow from it."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from serialpack.auto.cuts import Split
from serialpack.container.entries import nearest_time
from serialpack.container.header import Header
from serialpack.container.index import IndexRow
from serialpack.container.names import DictionaryName
from serialpack.container.writer import refused_as_written
from serialpack.errors import UsageError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Style, ValueFormat
from serialpack.pipeline.line import Elsewhere
from serialpack.pipeline.plan import SETTINGS, Plan, of_records, plan_of
from serialpack.pipeline.writing import needs_values
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain
from serialpack.values.kinds import Loss


class Packing(NamedTuple):
    """What is asked for: how one member is packed, and what its header says of the source.

    ``entry``, ``archive``, ``before``, ``access``, ``meta``, ``writer``: as in ``Header``.
    ``size``: bytes of the source, None where they are not known. ``verify``, ``demand_exact``: as
    in ``plan.Plan``. ``min_saving``, ``why``: as in ``auto.choice.Choice``.
    """

    chain: Chain
    format: str
    block_size: int
    name: str | None = None
    mtime: int | None = None
    entry: str | None = None
    #: Whether it is part of an archive that a closing member ends: see ``Header``.
    archive: bool = False
    before: int | None = None
    access: tuple[int, ...] = ()
    meta: dict[str, str] = {}  # noqa: RUF012 (never written to)
    writer: str = ""
    verify: bool = True
    demand_exact: bool = False
    threads: int = 1
    size: int | None = None
    min_saving: float = 0.0
    why: str = ""
    #: The serializer's settings (``Serializer.settings``).
    settings: Style = {}  # noqa: RUF012
    #: The dictionary that the codec works with.
    dictionary: DictionaryName | None = None
    #: Who works on the blocks in place of this machine: see ``Crew``.
    elsewhere: Elsewhere | None = None
    #: See ``auto.choice.Choice``.
    split: Split | None = None


class PackedMember(NamedTuple):
    """What was written: a row for each block, and the totals.

    ``size``: bytes of the source; ``length``: bytes of the member, of which ``payload`` are not
    headers and the like; ``stored_blocks``: how many blocks did not shrink. ``dropped``: what of
    the source does not come back although all values do (comments, say). ``saved``: see
    ``pack_smallest``.
    """

    rows: tuple[IndexRow, ...]
    records: int | None
    size: int
    exact: bool
    length: int
    payload: int
    stored_blocks: int
    seconds: dict[str, float]
    dropped: list[Loss] = []  # noqa: RUF012 (never written to)
    saved: int = 0


def check_meta(meta: Mapping[str, str] | None) -> None:
    """UsageError where a key or a value of ``--meta`` is no text."""
    if not all(isinstance(text, str) for pair in (meta or {}).items() for text in pair):
        raise UsageError("the keys and values of meta must be strings")


def blocks_of(read: Callable[[int], bytes], packing: Packing) -> Iterator[SourceBlock]:
    """The blocks of a source, as ``packing`` has it cut; ``read``: see ``pack.pack_stream``."""
    return splitter_of(packing)(read)


def splitter_of(packing: Packing) -> Callable[[Callable[[int], bytes]], Iterator[SourceBlock]]:
    """A function that cuts a source into blocks, as ``packing`` says. It is called with the
    ``read`` of each source."""
    if (split := packing.split) is not None:
        return lambda read: split(read, packing.block_size)
    fmt = FORMATS.get(packing.format)
    serializer = SERIALIZERS.cls(packing.chain.serializer.name)
    return partial(
        fmt.split,
        block_size=packing.block_size,
        for_values=fmt.has_values and not serializer.exact,
        most_values=serializer.most_values(packing.block_size),
    )


def prepare(packing: Packing, first: SourceBlock) -> tuple[Header, Plan]:
    """The header of the member, and the plan for its blocks; ``first``: its first block, by which
    the source's style is told. RefusedError where a reader would not take the header."""
    fmt, serializer = FORMATS.get(packing.format), SERIALIZERS.cls(packing.chain.serializer.name)
    style: Style
    if packing.archive and packing.entry is None:
        style = {}  # its blocks are of many files
    elif isinstance(fmt, ValueFormat) and needs_values(serializer, fmt):
        style = fmt.detect_style(first)
    else:
        style = fmt.outline(first)
    style = {**style, **fmt.parameters}
    if packing.settings:
        style = {**style, SETTINGS: packing.settings}
    header = Header(
        chain=packing.chain.numbers,
        format=fmt.number,
        block_size=packing.block_size,
        name=packing.name,
        mtime=nearest_time(packing.mtime) if packing.mtime and packing.entry else packing.mtime,
        entry=packing.entry,
        archive=packing.archive,
        rows=packing.archive and packing.entry is None,
        before=packing.before,
        access=packing.access,
        style=style,
        writer=packing.writer,
        meta=packing.meta,
        why=packing.why,
        dictionary=packing.dictionary,
        unproved=not packing.verify,
        zstd_envelope=packing.chain.zstd_envelope,
    )
    with refused_as_written():
        plan = plan_of(header)
    return header, plan._replace(
        verify=packing.verify,
        demand_exact=packing.demand_exact,
        min_saving=packing.min_saving,
        records=of_records(packing.chain, fmt.name, first),
    )
