"""What a format promises: where its records begin and end, and the style of its text.

A format splits a source into blocks of whole records without building objects, in memory bounded
by the block size. A *value format* also turns a block into values and back, and can compare two
texts strictly, value by value: that is the proof behind "same or refused".
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from serialpack.depth import TOO_DEEP
from serialpack.errors import RefusedError, UsageError
from serialpack.formats.declaration import Declaration
from serialpack.stages.stage import MAX_BLOCK as MAX_BLOCK
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import Difference as Difference
from serialpack.values.kinds import Loss
from serialpack.values.kinds import Unheld as Unheld
from serialpack.values.kinds import value_step as value_step
from serialpack.values.structure import Structure

if TYPE_CHECKING:
    from serialpack.formats.losses.marks import Marks
    from serialpack.formats.pieces.join import Join
    from serialpack.formats.shared.large import LargeValue, ReadAt
    from serialpack.stages.chain import Extent

#: Reads up to n bytes; fewer only at the end of the source, b"" when there is no more.
Read = Callable[[int], bytes]

#: Takes bytes, for people to look at.
Shown = Callable[[Buffer], object]

#: The style of a text, as a container keeps it: MessagePack-able values under short string keys.
Style = dict[str, Any]
#: The keys of a format's style, and the types that their values have.
StyleTypes = Mapping[str, tuple[type, ...]]

#: Where something begins and ends in some bytes.
Span = tuple[int, int]


class SourceBlock(NamedTuple):
    """A piece of the source. All pieces in order, put together, are the source's bytes.

    ``records``: how many records begin in it; None where these are not known. ``partial``: it
    holds a piece of one record that is larger than ``MAX_BLOCK``; ``continued``: and not the first
    piece. ``index``, ``offset``, ``first_record``, ``line`` (newlines before it; -1 where not
    counted) and ``column`` (characters before it on its line) say where it stands, all counted from
    0. ``context``: what of the source before it must be known to read it: a file's header.
    ``inside``: its records are the elements (``"a"``) of one array that is all of the source, or
    the members (``"m"``) of one map, each a map of one member. ``extents``: its parts, if several.
    ``payload``: what filters and codec make of it. ``learned``: see ``Codec.begins``.
    """

    data: Buffer
    index: int  # type: ignore[assignment]  # tuple's method, which nobody needs here
    offset: int
    records: int | None = None
    first_record: int = 0
    last: bool = False
    partial: bool = False
    continued: bool = False
    line: int = -1
    column: int = 0
    context: bytes = b""
    inside: Structure | None = None
    extents: "tuple[Extent, ...]" = ()
    payload: Buffer | None = None
    learned: object = None


def picked(spans: Iterator[Span], span: Span, count: int) -> Span | None:
    """As ``Format.record_range``, of ``spans`` of all records."""
    start = end = next(islice(spans, span[0], None), None)
    if span[1] - span[0] > 1:
        end = next(islice(spans, span[1] - span[0] - 2, None), None)
    if start is None or end is None or (span[1] == count and next(spans, None) is not None):
        return None
    return start[0], end[1]


def too_large(block: SourceBlock) -> RefusedError:
    """The error for a ``partial`` block where values are to be read."""
    number = block.first_record - block.continued
    return RefusedError(
        f"record {number}, at byte {block.offset}, is larger than {MAX_BLOCK >> 20} MiB",
        hint="pack -s raw keeps the bytes",
    )


def depth_loss(record: int = 0) -> Difference:
    """What is lost of a record that is nested more deeply than ``MAX_DEPTH``."""
    return Difference(record, "$", TOO_DEEP, "", "depth")


class Format(ABC):
    """One file format, as a source."""

    about: ClassVar[str] = ""
    #: Whether blocks can be parsed into values (see ValueFormat).
    has_values: ClassVar[bool] = False
    #: Whether a document of some megabytes is read as values in no time.
    quick: ClassVar[bool] = False
    #: Whether its sources are what a serializer wrote.
    serialized: ClassVar[bool] = False
    #: What its style has; other keys mean nothing.
    style_types: ClassVar[StyleTypes] = {}

    def check_style(self, style: Style) -> None:
        """ValueError where a container's style has values of other types.

        What they say is checked by those who use it: ValueError too.
        """
        for key, types in self.style_types.items():
            if key in style and type(style[key]) not in types:
                raise ValueError(f"{key!r} is {type(style[key]).__name__}")

    def __init__(self, declared: Declaration) -> None:
        #: What is known of it without this class.
        self.declared = declared

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def number(self) -> int:
        """The number that it has in containers, for ever."""
        return self.declared.number

    @property
    def parameters(self) -> Style:
        """What a container keeps of how a source is in it, beside the number: keys of its style."""
        return {}

    @abstractmethod
    def split(
        self, read: Read, block_size: int, *, for_values: bool = False, most_values: int = 0
    ) -> Iterator[SourceBlock]:
        """Split what ``read`` gives into blocks of about ``block_size`` bytes of whole records.

        Never fails on bad syntax: from the first place where records cannot be told any more,
        it splits plain bytes with ``records=None``. Yields one empty block for an empty source,
        and marks the last block. ``for_values``: the blocks will be parsed, so lines are counted
        for errors, and a format that is only read whole makes one block (RefusedError where that
        would be larger than ``MAX_BLOCK``).

        ``most_values``: about how many values, keys too, a block of several records has at most,
        for who needs memory for each; 0: any number. They are counted quickly: rather too many
        than too few, so that a block may be smaller than it had to be. A format that has no
        records worth that splits as ever.
        """

    def large_values(self, read: "ReadAt", size: int) -> "list[LargeValue]":  # noqa: ARG002
        """The large values in a source of ``size`` bytes, in order, as far as soon found."""
        return []

    def record_spans(
        self,
        data: Buffer,  # noqa: ARG002
        style: Style,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> Iterator[Span]:
        """Start and end in ``data``, a whole block's source bytes, of each record in it.

        Found as they are asked for, and none is kept: a block may have as many records as bytes.
        ``first``: it is the first block, where a CSV header stands. UsageError where they have no
        places of their own in the bytes.
        """
        raise self._unsplit()

    def record_range(
        self, data: Buffer, style: Style, span: Span, count: int, *, first: bool
    ) -> Span | None:
        """Where records ``span[0]`` up to but not including ``span[1]``, one at least, stand in
        a block.

        ``count``: how many it must have; None where it is seen to have another number. What is
        behind the last one asked for is looked at only where none is to follow it. A format
        overrides this where it finds a few records faster than one after another.
        """
        return picked(self.record_spans(data, style, first=first), span, count)

    def outline(self, block: SourceBlock) -> Style:  # noqa: ARG002
        """What of the style must be known to write a slice of records, from the first block.

        All that is stored of it where the bytes themselves are kept.
        """
        return {}

    #: Whether ``slice_ends`` looks at ``head``.
    slice_needs_head: ClassVar[bool] = False
    #: What stands between two records of a slice; None: what ``slice_ends`` has behind them.
    slice_between: ClassVar[bytes | None] = None

    def slice_ends(
        self,
        head: Buffer,  # noqa: ARG002
        style: Style,  # noqa: ARG002
    ) -> tuple[bytes, bytes]:
        """What stands before and behind records when only some of them are written.

        ``head``: the source's first block, where a CSV header stands.
        """
        raise self._unsplit()

    def shown_by(self, write: Shown) -> Shown:
        """What takes bytes of records, and gives them to ``write`` as text in UTF-8 for people."""
        return write

    def look_at_head(self, read: Read, count: int) -> bytes | None:  # noqa: ARG002
        """The first ``count`` records as lines for people; None where its bytes are such lines."""
        return None

    def head_of(
        self,
        style: Style,  # noqa: ARG002
        count: int,  # noqa: ARG002
    ) -> bytes | None:
        """What stands before ``count`` elements of the one array or map that is the source.

        None where it is none, or does not say how many there are.
        """
        return None

    def elements(
        self,
        data: Buffer,
        style: Style,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> Buffer:
        """The elements in a block of such a source, without what stands around all of them."""
        return data

    def ends_record(
        self,
        data: Buffer,  # noqa: ARG002
        style: Style,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
        within: bool,  # noqa: ARG002
    ) -> bool:
        """Whether a record surely ends with a block, which may be a piece of a large one.

        The block is not the source's last. ``within``: it begins within that record.
        """
        return True

    def _unsplit(self) -> UsageError:
        return UsageError(
            f"the records of this source ({self.name}) cannot be cut out of its bytes",
            hint="unpack all of it",
        )


class ValueFormat(Format):
    """A format whose records serializers can hold as values."""

    has_values = True
    #: Whether reading it can run code that somebody put into the file.
    safe: ClassVar[bool] = True
    #: Whether serializers of this very format write its records anew, in a style of their own.
    restyled: ClassVar[bool] = False
    #: Whether a file in it is one record.
    one_record: ClassVar[bool] = False
    #: Whether ``losses.reading.parse_lossy`` tells what reading drops: comments, and the like.
    tells: ClassVar[bool] = False
    unpacked: ClassVar[tuple[str, ...]] = ()  #: what it is instead of records, and what reads that
    #: Whether ``split`` for values reads from any place, by a ``shared.random_access.FileRead``.
    in_file: ClassVar[bool] = False
    #: The rules of ``--lossy`` that ``losses.reading.parse_lossy`` heeds.
    heeds: ClassVar[frozenset[str]] = frozenset()
    #: Where ``parse`` notes what it changes because a rule says so; None: it changes nothing.
    #: Only of the copy of itself that ``losses.reading.parse_lossy`` makes.
    marks: "Marks | None" = None
    #: Whether its numbers are text that it can keep: ``literal_of`` says which.
    keeps_literals: ClassVar[bool] = False
    #: Whether it keeps that text when it is written, but reads it as text.
    takes_literals: ClassVar[bool] = False
    #: Whether a number that Python writes in another way is a ``Literal`` to ``parse``, and that
    #: no other to ``difference``. Only of the copy that ``reading_literals`` makes.
    literals: bool = False

    def sample(self, block: SourceBlock) -> dict[str, Any]:  # noqa: ARG002
        """A record as could be below the names of columns that ``block`` has; empty without."""
        return {}

    def literal_of(self, text: str) -> str | None:  # noqa: ARG002
        """How a number that another format spells ``text`` is spelled here: the same, or nearly.

        None where this format's readers would read no number in it, or another one.
        """
        return None

    def writes_as(self, other: str) -> bool:  # noqa: ARG002
        """Whether the format of that name spells all numbers as this one does."""
        return False

    def reading_literals(self) -> "ValueFormat":
        """The format, as it reads the text of numbers."""
        from copy import copy

        reader = copy(self)
        reader.literals = True
        return reader

    @property
    def join(self) -> "Join | None":
        """How blocks of records become one file; None where it is written whole, or not at all."""
        return None

    def as_list(self, data: bytes, count: int) -> bytes | None:  # noqa: ARG002
        """``data``, which is ``count`` records, as one that is a list of them; None where that
        takes more than a copy. Nobody need look for their ends then."""
        return None

    @abstractmethod
    def detect_style(self, block: SourceBlock) -> Style:
        """The style of the source, guessed from its first block; never fails."""

    @abstractmethod
    def parse(self, block: SourceBlock) -> list[Any]:
        """The records of a block as values.

        SyntaxInputError with the place in the source; Unheld for values that Python cannot hold.
        """

    def parse_quickly(self, block: SourceBlock) -> list[Any]:
        """As ``parse``, for who proves the text afterwards or only looks at the values: some text
        that breaks the syntax may be taken too."""
        return self.parse(block)

    def count(self, block: SourceBlock) -> int:
        """How many records a block has whose bytes stay as they are; errors as of ``parse``."""
        return len(self.parse(block))

    def in_source(
        self,
        block: SourceBlock,
        style: Style,  # noqa: ARG002
        first: Callable[[], Buffer],  # noqa: ARG002
    ) -> SourceBlock:
        """``block``, taken out of its source, with what else must be known to read it.

        ``style``: the source's, as a container keeps it. ``first`` gives how the source's
        first block begins, and is called only where that is needed.
        """
        return block

    def kept_words(self, block: SourceBlock) -> bytes | None:  # noqa: ARG002
        """What a table keeps of the text that it was made of, in bytes; None where nothing is."""
        return None

    def comments(self, block: SourceBlock) -> Loss | None:  # noqa: ARG002
        """How many comments a block has, and the first; None where it has none.

        Right for blocks that ``parse`` takes; never fails.
        """
        return None

    def structure(self, block: SourceBlock, count: int) -> Structure:
        """What the records of a source are, told from its first block with ``count`` of them.

        ``"d"``: one, which is the document; ``"a"``, ``"m"``: elements of the array or members
        of the map that is the document (see ``SourceBlock.inside``); ``"n"``: a sequence. That
        no key stands twice among the members of several blocks is for their reader to see to
        (``formats.pieces.keys``).
        """
        if block.inside or self.declared.sequence:
            return block.inside or Structure.SEQUENCE
        return Structure.DOCUMENT if block.last and count == 1 else Structure.SEQUENCE

    @abstractmethod
    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:
        """The text of a block's records; ``first``: it is the first block of the source."""

    @abstractmethod
    def style_changes(self, block: SourceBlock, style: Style) -> Style:
        """What of ``style`` is different at this block's end, such as the bracket of the last one.

        Quick, and always right: the text is valid with it whatever else of the style is different.
        """

    @abstractmethod
    def style_guesses(self, block: SourceBlock, style: Style) -> Iterator[Style]:
        """Guesses at all that is different from ``style`` in this block, the likeliest first."""

    @abstractmethod
    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        """The first value of ``block`` that ``restored`` does not hold, compared strictly.

        Strictly: types, order of keys, duplicate keys, every digit, the sign of zero, lone
        surrogates. None where all values are the same. SyntaxInputError where the block is
        not valid in this format.
        """
