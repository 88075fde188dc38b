"""The result of an inspection: of a container its members, of any other file its shape."""

from collections.abc import Sequence
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
    """One member of a container. Fields are None where nothing is known.

    - ``why``: the reason that auto gave for the chain; empty where it looked at no data
    - ``name``: the base name of the source; ``mtime``: its time in ns since 1970
    - ``entry``: the path of the member, where it is one entry of an archive; ``entries``: the
      entries in it, where it is of an archive: each is made when it is come to, and not kept
    - ``size``: bytes that it unpacks to; ``serialized``: bytes after its serializer; ``packed``:
      bytes that it takes in the file, of which ``container`` are headers and the like
    - ``digest``: XXH3-128 of what it restores to, in hexadecimal
    - ``forms``: of the serializer columns, how many blocks have which form; None where that cannot
      be told without reading the blocks. ``columns``: what is in them, if that was asked for
    - ``array``: the array that the source is, or that is in it where it is compressed. The range of
      its numbers is told of arrays up to 64 MiB (4 MiB where it is compressed); ``damage``: what is
      wrong with that array
    - ``dictionary``: the shared dictionary that it is unpacked with
    - ``holds``: of an object an outline of its values, of a file of arrays what each is
      (``pipeline.outline``); of a compressed file the formats (``nifti in gzip``)
    - ``listing``: the datasets or tables in the source
    """

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
    entries: Sequence[ArchivedEntry] | None = None
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
        """How many blocks are stored uncompressed, because they did not shrink."""
        return sum(b.stored for b in self.blocks)


class ColumnsInfo(NamedTuple):
    """The columns of a member, all blocks together. ``structure``: stored bytes that belong to no
    column; ``text``: stored bytes of the blocks that are kept as text, without columns."""

    columns: "tuple[ColumnInfo, ...]"
    structure: int
    text: int


class Shape(NamedTuple):
    """What a file that is no container looks like; the fields that ``look.Look`` has, too, are
    explained there.

    ``chain``, ``why``: what auto would choose for it, and the reason. ``entropy``: of the first
    ``sampled`` bytes, taken one by one, in bits a byte. ``inside``: what is in the file, where it
    is compressed; ``listing``: its entries, where it is a tar or a zip (also a compressed one), or
    has datasets or tables. ``wrong``: what is wrong with the array that it is.
    """

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
        """What is wrong with a compressed file, an array, a tar or a zip, as far as it was read;
        None where nothing is."""
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
        """What is wrong with a file that is no container, or with the file that a container holds
        while the container itself is whole; None where nothing is, as far as it was read."""
        if self.shape is not None:
            return self.shape.damage
        told = (m.damage or (m.listing and m.listing.damage) for m in self.members)
        damage = next(filter(None, told), None)
        hint = "the container is whole: it gives back the file as it was"
        return damage and InputError(damage.said, path=self.path, hint=hint)
