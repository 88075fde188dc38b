"""What was found out about a file: of a container its members, of anything else its shape."""

from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.errors import DamagedError, InputError
from serialpack.inspection.archived import ArchivedEntry, iso_time
from serialpack.inspection.listed import Listing
from serialpack.inspection.look import ArrayLook, Inside
from serialpack.reports import BlockInfo, DictionaryInfo
from serialpack.stages.chain import Chain

if TYPE_CHECKING:
    from serialpack.columns.stored.survey import ColumnInfo
    from serialpack.errors import Damage


class MemberInfo(NamedTuple):
    """One member of a container. ``size`` is what it unpacks to, ``packed`` what it takes;
    ``container`` is the part of ``packed`` that is not data. Times in ns since 1970. ``entry``
    is its path in the archive, where it is one of an archive's. ``why``: the reason for the chain,
    where auto had one in the data. ``forms``: of columns, how many blocks are what, where that can
    be told without reading all; ``columns``: what is in them, where that was asked for.
    ``array``: where it is one, or one is compressed in it; what is the least and the greatest is
    known of up to 64 MiB, of one that is compressed 4 MiB, and where only the first block is read,
    as of what is far, of that one. ``entries``: of an archive, those that
    are in it. ``dictionary``: where it is unpacked with one. ``holds``: of an object its
    values, of an archive of arrays what each is, with words for what is large
    (``pipeline.outline``); of a compressed file what is in it (``nifti in gzip``). ``listing``: of
    HDF5 its datasets, of a database its tables. ``damage``: what is wrong with the array."""

    chain: Chain
    why: str
    format: str
    name: str | None
    entry: str | None
    mtime: int | None
    meta: dict[str, str]
    writer: str
    zstd_envelope: bool
    block_size: int
    size: int
    serialized: int
    packed: int
    container: int
    records: int | None
    exact: bool
    proved: bool
    digest: str | None
    blocks: tuple[BlockInfo, ...]
    forms: dict[str, int] | None = None
    columns: "ColumnsInfo | None" = None
    array: "ArrayLook | None" = None
    entries: tuple[ArchivedEntry, ...] | None = None
    dictionary: DictionaryInfo | None = None
    holds: Any = None
    listing: "Listing | None" = None
    damage: DamagedError | None = None

    @property
    def modified(self) -> str | None:
        """The modification time in UTC, as ISO 8601 with all nine digits of the second."""
        return iso_time(self.mtime)

    @property
    def stored_blocks(self) -> int:
        """How many blocks did not shrink."""
        return sum(b.stored for b in self.blocks)


class ColumnsInfo(NamedTuple):
    """What the columns of a member hold. ``structure``: bytes of what is no column's;
    ``text``: of blocks that are kept as their text."""

    columns: "tuple[ColumnInfo, ...]"
    structure: int
    text: int


class Shape(NamedTuple):
    """What another file looks like. ``fields``: name -> types seen, of the first records, in the
    first ``looked_at`` bytes (``look.Look``); ``entropy`` in bits a byte, of the bytes one by one
    in the first ``sampled`` bytes. ``inside``: what is in it, where it is compressed; ``listing``:
    its entries, where it is a tar or a zip, or one that is compressed. ``wrong``: what is wrong
    with the array that it is."""

    format: str
    looks_like: str | None
    fields: dict[str, tuple[str, ...]]
    records_seen: int
    sampled: int
    entropy: float
    chain: Chain
    why: str
    looked_at: int
    whole: bool
    record_types: tuple[str, ...]
    inside: Inside | None
    listing: Listing | None
    array: ArrayLook | None = None
    wrong: DamagedError | None = None

    @property
    def damage(self) -> DamagedError | None:
        """What is wrong with a compressed file, an array, a tar or a zip, as far as it was looked
        at."""
        if self.inside is not None:
            look = self.inside.look
            if (damage := self.inside.damage or (look and look.damage)) is not None:
                return damage
        elif self.wrong is not None:
            return self.wrong
        return None if self.listing is None else self.listing.damage


class Inspection(NamedTuple):
    """What a file is: ``members`` of a container, or ``shape`` of anything else.

    ``damage``: with ``salvage``, what is damaged in the container.
    """

    path: str
    size: int | None
    members: tuple[MemberInfo, ...]
    shape: Shape | None
    damage: "tuple[Damage, ...]" = ()

    @property
    def damage_inside(self) -> InputError | None:
        """What is wrong with a file that is no container, or that a whole container is of, as far
        as it was looked at."""
        if self.shape is not None:
            return self.shape.damage
        told = (m.damage or (m.listing and m.listing.damage) for m in self.members)
        damage = next(filter(None, told), None)
        hint = "the container is whole: it gives back the file as it was"
        return damage and InputError(damage.said, path=self.path, hint=hint)
