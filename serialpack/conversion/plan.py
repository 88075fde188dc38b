"""What workers are told of a conversion (``ConversionPlan``), and what they answer (``Found``)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.columns.fields.wanted import Field
from serialpack.conversion.tables.layout import Layout
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.types.kept import KeptTable
from serialpack.conversion.types.typing import TypedColumn
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Style
from serialpack.reports import LeftOut
from serialpack.values.kinds import Loss
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.formats.pieces.join import Piece


class ConversionPlan(NamedTuple):
    """How blocks are converted. Small, and can be sent to a process.

    Of the source: ``source``, its format; ``style``, as its first block has it; ``structure``: an
    array or a map, where the records are parts of one document (``targets.joining``); ``alone``:
    it is one document, also where its format is a sequence of records. ``source_serializer``,
    ``source_settings``: what reads it where that is not its format: one that was given a schema,
    say. ``fields``: those that are taken of each record; none: all. ``array_name``: what its one
    array is called where it was taken from. ``above``: how many lines and bytes of it stand before
    what is read.

    Of the target: ``target``, its format, empty where the source is only read, as values of Python;
    ``named``: what a refusal calls it, where that is not the name of its serializer;
    ``target_settings``: its schema; ``whole``: it is written of all records at once, so that blocks
    are only read. ``layout``: its columns, where it is a table; ``types``: the columns of text that
    get values; ``kept``: how a table of text is, or was, written that becomes a typed table, or
    comes from one.

    What the user says: ``lossy``: the rules that may be applied, of which he named ``asked``;
    ``strict``: nothing is carried; ``verify``, ``tagged``, ``skip_bad``: as of ``files.convert``;
    ``shaping``: what is said about tables; ``step``: to the multiples of what the floats of an
    array are rounded, 0: they are not.

    Of this pass: ``looked``: the records are only looked at, and read once more when they are
    written. ``refused``: it was refused without the losses that are allowed now, which are only
    counted. ``listed``: what is refused is tried with all losses allowed next. ``is_part``: the
    records are parts of one that is large (``blocks.wide``).
    """

    source: str
    target: str = ""
    style: Style = {}  # noqa: RUF012 (never written to)
    structure: Structure | None = None
    verify: bool = True
    lossy: tuple[str, ...] = ()
    tagged: bool = False
    skip_bad: bool = False
    alone: bool = False
    whole: bool = False
    fields: tuple[Field, ...] = ()
    source_serializer: tuple[str, tuple[int, ...]] | None = None
    source_settings: Style = {}  # noqa: RUF012
    target_settings: Style = {}  # noqa: RUF012
    shaping: Shaping = Shaping()
    layout: Layout | None = None
    strict: bool = False
    asked: tuple[str, ...] = ()
    looked: bool = False
    types: tuple[TypedColumn, ...] = ()
    kept: KeptTable | None = None
    is_part: bool = False
    step: float = 0.0
    array_name: str = ""
    above: tuple[int, int] = (0, 0)
    refused: bool = False
    listed: bool = False
    named: str = ""

    def placed(self, blocks: Iterator[SourceBlock]) -> Iterator[SourceBlock]:
        """``blocks`` of what is read, with the places that they have in the source."""
        lines, size = self.above
        if not size:
            return blocks
        return (b._replace(line=b.line + lines, offset=b.offset + size) for b in blocks)

    @property
    def is_text_table(self) -> bool:
        """Whether the source is a table of text."""
        return bool(FORMATS.declaration(self.source).delimiter)

    @property
    def one_array(self) -> str:
        """What the source's one array is called where the target has arrays by name."""
        is_dataset = FORMATS.declaration(self.target).has_datasets
        return self.array_name or ("data" if is_dataset else "arr_0")


class Found(NamedTuple):
    """The records of a block, and what was changed or left out on the way to them.

    ``numbers``: which record of the source each of them is of. ``elements``: the block's one
    record was an array, and ``records`` are its elements. ``piece``: what they became, where the
    target is written block by block. ``keys``: of the members of a map, what
    ``formats.pieces.keys`` tells of theirs. ``fields``: which of the plan's there were.
    ``same``: what the plan keeps writes the very bytes of the block.
    """

    records: list[Any]
    losses: list[Loss]
    left_out: list[LeftOut]
    elements: bool = False
    numbers: Sequence[int] = ()
    piece: "Piece | None" = None
    keys: bytes = b""
    fields: frozenset[Field] = frozenset()
    same: bool = False
    seconds: dict[str, float] = {}  # noqa: RUF012
