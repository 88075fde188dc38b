"""What inspection finds out about a file: of a container its members, of any other its shape."""

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
    """One member of a container. Times are in ns since 1970; None where nothing is known.

    ``size``: bytes that it unpacks to; ``packed``: bytes that it takes, of which ``container`` are
    no data. ``entry``: its path, where it is one entry of an archive; ``entries``: those in it,
    where it holds several. ``why``: auto's reason for the chain, where the data gave one.
    ``forms``: of columns, how many blocks have which form, where that is known without reading all;
    ``columns``: what is in them, if asked for. ``array``: what array it is, or has compressed in
    it; its range is that of up to 64 MiB (compressed 4 MiB), or of the first block where only that
    is read, as of far files. ``dictionary``: the one that unpacks it. ``holds``: of an object its
    values, of a file of arrays what each is, with words for what is large (``pipeline.outline``);
    of a compressed file what is in it (``nifti in gzip``). ``listing``: the datasets of HDF5, the
    tables of a database. ``damage``: what is wrong with the array."""

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
        """How many blocks are stored as they are, for they did not shrink."""
        return sum(b.stored for b in self.blocks)


class ColumnsInfo(NamedTuple):
    """What the columns of a member hold. ``structure``: bytes that are of no column; ``text``:
    bytes of blocks that are kept as text."""

    columns: "tuple[ColumnInfo, ...]"
    structure: int
    text: int


class Shape(NamedTuple):
    """What a file that is no container looks like. ``fields``: name -> types seen in the records of
    the first ``looked_at`` bytes (``look.Look``). ``entropy``: in bits a byte, of single bytes in
    the first ``sampled`` ones. ``inside``: the shape of what is in it, where it is compressed;
    ``listing``: its entries, where it is a tar or a zip, also a compressed one. ``wrong``: what is
    wrong with the array that it is."""

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
        """What is wrong with a compressed file, an array, a tar or a zip, in the part that was
        read; None where nothing is."""
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
        """What is wrong with a file that is no container, or with the file in a container that is
        whole, in the part that was read; None where nothing is."""
        if self.shape is not None:
            return self.shape.damage
        told = (m.damage or (m.listing and m.listing.damage) for m in self.members)
        damage = next(filter(None, told), None)
        hint = "the container is whole: it gives back the file as it was"
        return damage and InputError(damage.said, path=self.path, hint=hint)
