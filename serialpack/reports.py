"""What packing and unpacking did, as numbers and words."""

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from serialpack.errors import Damage, SerialpackError
from serialpack.text import number_of
from serialpack.values.kinds import DROPPED, Loss

Number = TypeVar("Number", int, float)


class NotKept(NamedTuple):
    """What an output does not keep of what it was given: its ``mode`` there, and the one given
    (None: they are the same), by how many nanoseconds its ``time`` is off, and whether it was to
    have a ``special`` bit (set-user-ID, set-group-ID, sticky), which no output is given."""

    mode: tuple[int, int] | None
    time: int
    special: bool = False


class PackReport(NamedTuple):
    """What packing did. Sizes in bytes; ``seconds`` spent per stage, added up over threads.

    ``entry``: its path in the archive that it went into, where it did. ``dropped``: what will not
    come back of the source though its values do, by rule: comments, and the like. ``dictionary``:
    the name and hash of the one that is needed to unpack it; ``saved``: how many bytes smaller it
    makes the container. ``not_kept``: what of the source's mode and time the target lacks;
    ``sparse``: whether the source has holes, which come back filled with zeros.
    """

    source: str
    target: str | None
    chain: str
    why: str
    format: str
    size: int
    packed: int
    payload: int
    blocks: int
    stored_blocks: int
    records: int | None
    exact: bool
    proved: bool
    seconds: dict[str, float]
    entry: str | None = None
    dropped: list[Loss] = []  # noqa: RUF012 (never written to)
    dictionary: str | None = None
    saved: int = 0
    not_kept: NotKept | None = None
    sparse: bool = False

    @property
    def kept(self) -> str:
        """What unpacking will give back, in words."""
        words = [f"{number_of(loss.count, *DROPPED[loss.rule])} dropped" for loss in self.dropped]
        return ", ".join((kept(exact=self.exact, proved=self.proved), *words))

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes that each stage worked on, where known, for speeds."""
        return {
            "read": self.size,
            "serialize": self.size,
            "prove": self.size,
            "compress": self.size,
            "checksum": self.size,
            "write": self.packed,
        }


class DictionaryInfo(NamedTuple):
    """The dictionary that a member needs: its name, its hash (XXH3-64, in hexadecimal), and
    whether it was found here."""

    name: str
    hash: str
    found: bool


class LostRange(NamedTuple):
    """One stretch of a member's source that could not be salvaged.

    ``blocks`` blocks, from the one numbered ``block`` on; the bytes of the source from ``start`` up
    to but not including ``end``; ``records`` records, from number ``record`` on. All count from 0.
    None where that is not known: mostly of what is lost at the end, where the index is lost too.
    """

    member: int
    block: int
    blocks: int | None
    start: int | None
    end: int | None
    record: int | None
    records: int | None
    why: str

    def __str__(self) -> str:
        parts = [f"member {self.member}"] if self.member else []
        if self.blocks is None:
            parts.append(f"all from block {self.block} on")
        elif self.blocks == 1:
            parts.append(f"block {self.block}")
        else:
            parts.append(f"blocks {self.block} to {self.block + self.blocks - 1}")
        if self.start is not None and self.end is not None:
            parts.append(f"bytes {self.start}-{self.end}")
        elif self.start is not None:
            parts.append(f"bytes from {self.start} on")
        if self.record is not None and self.records is not None:
            parts.append(f"records {self.record}-{self.record + self.records}")
        elif self.record is not None:
            parts.append(f"records from {self.record} on")
        return f"{', '.join(parts)}: {self.why}"


class UnpackReport(NamedTuple):
    """What unpacking did. ``exact``: the whole source came back, byte for byte.

    ``entry``: the path in the archive that it came from, where it was one. ``damage`` and
    ``lost``: with ``salvage``, what is damaged in the container, and of the source lost by that.
    ``entries``: how many there are in it, where it is an archive. ``left``: with
    ``skip_existing``, that the target was there, held the same bytes, and was left as it was.
    ``not_kept``: what of the source's mode and time the target lacks.
    """

    source: str
    target: str | None
    format: str
    size: int
    blocks: int
    blocks_read: int
    records: int | None
    exact: bool
    part: bool
    proved: bool
    read: int
    seconds: dict[str, float]
    entry: str | None = None
    damage: tuple[Damage, ...] = ()
    lost: tuple[LostRange, ...] = ()
    entries: int | None = None
    left: bool = False
    not_kept: NotKept | None = None

    @property
    def whole_blocks(self) -> str:
        """How many blocks of how many are whole, in words."""
        if any(each.blocks is None for each in self.lost):
            return f"{self.blocks_read:,} of {self.blocks:,} or more blocks"
        return f"{self.blocks_read:,} of {number_of(self.blocks, 'block')}"

    @property
    def kept(self) -> str:
        """What came back, in words."""
        if self.lost:
            return f"salvaged: {self.whole_blocks}"
        return "a part" if self.part else kept(exact=self.exact, proved=self.proved)

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes that each stage worked on, where known, for speeds."""
        sizes = dict.fromkeys(("decompress", "checksum", "deserialize", "write"), self.size)
        return {"read": self.read, **sizes}


class LeftOut(NamedTuple):
    """A piece of the source that ``skip_bad`` left out.

    ``records``: how many (None: not known), from number ``record`` on. ``offset``: the byte of the
    source where the first of them stands; ``error``: why. ``refused``: the source is whole there,
    and has a value that was refused.
    """

    record: int
    offset: int
    records: int | None
    error: str
    refused: bool = False


class RecordsInside(NamedTuple):
    """Where else the records of a document may be than where they were taken from.

    ``lists``: the paths at which lists of maps stand in the one record that there is; ``columnar``:
    those, of which one may be empty, at which a table stands by columns. ``header``: the records
    are lists, of which the first looks like the names of the columns. ``by_key``: the columns may
    as well be records by key.
    """

    lists: tuple[str, ...] = ()
    columnar: tuple[str, ...] = ()
    header: bool = False
    by_key: bool = False

    def in_list(self) -> "RecordsInside":
        """The same, where the one record is that of a list."""
        columnar = tuple(f"0.{each}" if each else "0" for each in self.columnar)
        lists = tuple(f"0.{each}" for each in self.lists)
        return self._replace(lists=lists, columnar=columnar)

    def below(self, path: str) -> "RecordsInside":
        """The same, with the paths from the document, in which ``path``, with its last dot, or
        empty, leads to the one record."""
        columnar = tuple(each and path + each for each in self.columnar)
        return self._replace(lists=tuple(map(path.__add__, self.lists)), columnar=columnar)


class ConvertReport(NamedTuple):
    """What a conversion did. ``read`` and ``size`` are bytes of the source and of the target.

    ``losses``: what was changed because the user allowed it, by rule. ``left_out``: how many pieces
    were left out; ``places``: the first thousand of them. ``exact``: the target is the very source
    of the container. ``missing``: the fields that were asked for and that no record has.
    ``carried``: what the target holds in another type or shape, by rule; ``back``: the words that
    read it as it was. ``inside``: where else its records may be; ``apart``: the one that there is
    has nothing but lists of them. ``kept_pipe``: the source was kept in a temporary file, to be
    read twice. ``by_content``: the format of the source was told by its content alone. ``read_as``:
    what was made into JSON to be read, in words. ``types``: column of text -> the type of the
    values that it was turned into; ``columns``: how many columns there are; ``text``: by
    ``--infer``, those that stay text, ``commas``: of which these are numbers with a decimal comma,
    and ``decimals`` such that a table with types has as decimals, and doubles change.
    ``comes_back``: what ``--to csv`` makes of the target again, where that keeps how the source was
    written: its ``bytes``, or its ``cells``; ``comes_back_by``: what does in the place of csv.
    ``not_kept``: what of the source's mode and time the target lacks. ``array_header``: how long
    the header of an array is that NumPy reads only if it is told so; 0: it needs not be told.
    """

    source: str
    target: str | None
    format: str
    to: str
    read: int
    size: int
    records: int | None
    losses: list[Loss]
    left_out: int
    places: list[LeftOut]
    exact: bool
    proved: bool
    seconds: dict[str, float]
    missing: list[str] = []  # noqa: RUF012 (never written to)
    carried: list[Loss] = []  # noqa: RUF012
    back: tuple[str, ...] = ()
    kept_pipe: bool = False
    inside: RecordsInside = RecordsInside()
    apart: bool = False
    by_content: bool = False
    read_as: str = ""
    types: dict[str, str] = {}  # noqa: RUF012
    columns: int = 0
    text: tuple[str, ...] = ()
    commas: tuple[str, ...] = ()
    decimals: tuple[str, ...] = ()
    comes_back: str = ""
    comes_back_by: str = ""
    not_kept: NotKept | None = None
    array_header: int = 0

    @property
    def typed(self) -> str:
        """Which columns of text have types, and what comes back, in words; empty where none was
        to get any."""
        if not self.columns:
            return ""
        each = number_of(self.columns, "column has a type", "columns have types")
        words = f"{len(self.types):,} of {each}"
        if not self.comes_back:
            return words
        by = f", by --to {self.comes_back_by}" if self.comes_back_by else ""
        return f"{words} (back: the same {self.comes_back}{by})"

    @property
    def kept(self) -> str:
        """What is in the target, in words."""
        if self.losses:
            count = sum(loss.count for loss in self.losses)
            return f"{number_of(count, 'value')} changed as allowed"
        return kept(exact=self.exact, proved=self.proved)

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes that each stage worked on, where known, for speeds."""
        return {"read": self.read, "convert": self.read, "write": self.size}


def kept(*, exact: bool, proved: bool) -> str:
    """How true to its source a container is, in words."""
    if exact:
        return "exact bytes" if proved else "exact bytes, not proved"
    return "same values" if proved else "values not proved"


class Report(Protocol):
    """What packing and unpacking tell, as far as they agree."""

    @property
    def seconds(self) -> dict[str, float]: ...
    @property
    def sizes(self) -> dict[str, int]: ...
    @property
    def size(self) -> int: ...


ReportT = TypeVar("ReportT", bound=Report)


class Sums:
    """What the reports of entries come to, together: ``count`` of them, ``files`` with bytes of
    their own blocks, ``left`` as they were, and ``size``, ``seconds`` and ``sizes`` added up."""

    def __init__(self) -> None:
        self.count = self.files = self.left = self.size = 0
        self.seconds: dict[str, float] = {}
        self.sizes: dict[str, int] = {}

    def add(self, report: UnpackReport) -> None:
        """Count ``report``, too."""
        self.count += 1
        self.files += report.blocks > 0
        self.left += report.left
        self.size += report.size
        _add(self.seconds, report.seconds)
        _add(self.sizes, report.sizes)


class ArchiveReport(NamedTuple, Generic[ReportT]):
    """What was done with the entries of an archive, one by one and in sum.

    ``damage``: with ``salvage``, what is damaged in the archive. ``failures``: entries that were
    not packed, and why. ``all_packed``: bytes of a whole archive, also those that no entry takes.
    ``notes``: what else is to be told. ``sums``: those of unpacked entries, also where none asked
    for the ``entries``.
    """

    entries: tuple[ReportT, ...]
    damage: tuple[Damage, ...] = ()
    failures: tuple[tuple[str, SerialpackError], ...] = ()
    all_packed: int | None = None
    notes: tuple[str, ...] = ()
    sums: Sums | None = None

    @property
    def size(self) -> int:
        """Bytes of all sources."""
        return sum(each.size for each in self._summed)

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds spent per stage, added up over threads and entries."""
        return _summed(each.seconds for each in self._summed)

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes that each stage worked on, where known, for speeds."""
        sizes = {"read": 0, "write": 0} | _summed(each.sizes for each in self._summed)
        return sizes if self.all_packed is None else {**sizes, "write": self.all_packed}

    @property
    def _summed(self) -> Sequence[ReportT | Sums]:
        return self.entries if self.sums is None else (self.sums,)


def _summed(stages: Iterable[dict[str, Number]]) -> dict[str, Number]:
    total: dict[str, Number] = {}
    for each in stages:
        _add(total, each)
    return total


def _add(total: dict[str, Number], more: dict[str, Number]) -> None:
    for stage, number in more.items():
        total[stage] = total[stage] + number if stage in total else number


class BlockInfo(NamedTuple):
    """One block: where it stands in the file, its sizes in bytes, its records.

    ``damaged``: with ``salvage``, whether it is lost.
    """

    start: int
    end: int
    size: int
    serialized: int
    records: int | None
    stored: bool
    exact: bool
    continued: bool
    number: int
    damaged: bool = False
