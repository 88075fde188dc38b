"""The bodies of header and block header as Python values; that of the index is in ``index``.

Stages, formats and style are numbers and small values here; what they mean is known to the
layers above. Layouts and rules: ``man/spk.5``.
"""

from typing import Any, NamedTuple

from serialpack.container.entries import (
    ARCHIVE,
    CONTROL,
    ENTRY,
    ROWS,
    access_in,
    before_in,
    entry_in,
    entry_needs,
    fault_of,
)
from serialpack.container.frames import (
    FRAME_EXTRA,
    HEADER,
    MAX_BODY,
    START_OWN,
    START_ZSTD,
    checksum,
    pack_body,
    pack_values,
    unpack_body,
)
from serialpack.container.limits import max_stored, too_much
from serialpack.container.names import (
    DICTIONARY,
    DictionaryName,
    count_of,
    decode_name,
    dictionary_in,
    encode_name,
    typed_value,
)
from serialpack.container.versions import version_number, version_text, writer_of
from serialpack.errors import DamagedError, UsageError, newer
from serialpack.stages.stage import MAX_BLOCK, Buffer, ChainNumbers

VERSION = 1
DEFAULT_BLOCK_SIZE = 4 << 20

#: Flags of a block.
STORED = 1
EXACT = 2
CONTINUED = 4
IN_PLACE = 8
_KNOWN_FLAGS = STORED | EXACT | CONTINUED | IN_PLACE

#: Where the first part of a block in place begins is a multiple of this.
ALIGN = 64

#: Features a header may need that this version knows.
KNOWN_NEEDS = frozenset({ENTRY, ARCHIVE, DICTIONARY, ROWS, CONTROL})

#: The key in a block's map under which the rows of its entries stand.
ENTRIES = "e"


class Header(NamedTuple):
    """What a member says of itself, before its first block.

    ``entry``: where the member is one entry of an archive, its path there; ``access``: the mode of
    that entry and, where they are kept, the numbers of user and group. ``archive``: the member is
    part of an archive that a closing member ends; ``before``: of a closing member, how many are
    before it. ``rows``: the blocks list their entries in rows of the second form. ``why``: the
    writer's reason for the chain.
    """

    chain: ChainNumbers
    format: int = 0
    block_size: int = DEFAULT_BLOCK_SIZE
    name: str | None = None
    mtime: int | None = None
    style: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    writer: str = ""
    meta: dict[str, str] = {}  # noqa: RUF012
    unproved: bool = False
    entry: str | None = None
    why: str = ""
    dictionary: DictionaryName | None = None
    zstd_envelope: bool = True
    archive: bool = False
    rows: bool = False
    before: int | None = None
    access: tuple[int, ...] = ()

    @property
    def in_archive(self) -> bool:
        """Whether the member is one entry of an archive, or holds several."""
        return self.archive or self.entry is not None

    @property
    def shared(self) -> bool:
        """Whether the member holds several entries, which its blocks list."""
        return self.archive and self.entry is None

    @property
    def start(self) -> bytes:
        """The bytes a member begins with, which tell its envelope."""
        return START_ZSTD if self.zstd_envelope else START_OWN

    def values(self) -> dict[str, Any]:
        """What the header says, by the keys of its map; UsageError for a path that no entry has."""
        values: dict[str, Any] = {"c": [s[0] if len(s) == 1 else list(s) for s in self.chain]}
        if self.format:
            values["f"] = self.format
        if self.block_size != DEFAULT_BLOCK_SIZE:
            values["b"] = self.block_size
        if self.name is not None:
            values["n"] = encode_name(self.name)
        if self.entry is not None:
            if fault := fault_of(self.entry):
                raise UsageError(f"the path of an entry {fault}: {self.entry!r}")
            values["e"] = encode_name(self.entry)
        if self.mtime is not None:
            values["t"] = self.mtime
        if self.style:
            values["s"] = self.style
        if self.writer:
            values["w"] = version_number(self.writer)
        if self.meta:
            values["m"] = self.meta
        if self.unproved:
            values["u"] = True
        if self.why:
            values["y"] = self.why
        if self.access:
            values["p"] = list(self.access)
        if self.before is not None:
            values["a"] = self.before
        if self.dictionary is not None:
            values["d"] = self.dictionary.value()
        needs = entry_needs(self.entry, archive=self.archive, rows=self.rows)
        if self.dictionary is not None:
            needs.append(DICTIONARY)
        if needs:
            values["needs"] = needs
        return values

    def encode(self) -> bytes:
        """The body of the header's frame; UsageError where it would be over 32 KiB."""
        body = bytes([VERSION]) + pack_values(self.values())
        if len(body) > MAX_BODY[HEADER]:
            raise UsageError(
                f"the header would take {len(body)} bytes, the most is {MAX_BODY[HEADER]}",
                hint="shorten --meta",
            )
        return body

    @classmethod
    def decode(cls, body: bytes, start: int, *, zstd_envelope: bool) -> "Header":
        """The header in ``body``; ``start`` is its frame's place, for errors."""
        version = body[0] if body else VERSION
        try:
            objects = unpack_body(body[1:], start, "header")
        except DamagedError:
            if version == VERSION:
                raise
            objects = []
        values = objects[0] if len(objects) == 1 else None
        if version != VERSION:
            raise newer(f"container version {version}", writer_of(values))
        if not isinstance(values, dict):
            raise DamagedError("the header is malformed (no map)", start=start)
        return cls.of_values(values, start, zstd_envelope=zstd_envelope)

    @classmethod
    def of_values(cls, values: dict[str, Any], start: int, *, zstd_envelope: bool) -> "Header":
        """The header that says ``values``, by the keys of its map; ``start``: see ``decode``."""
        writer = writer_of(values)
        needs = tuple(typed_value(values, "needs", list, [], start))
        if not all(isinstance(n, str) for n in needs):
            raise DamagedError("the header's 'needs' is malformed", start=start)
        unknown = [n for n in needs if n not in KNOWN_NEEDS]
        if unknown:
            raise newer(f"the feature {unknown[0]!r}", writer)
        block_size = typed_value(values, "b", int, DEFAULT_BLOCK_SIZE, start)
        if not 1 <= block_size <= MAX_BLOCK:
            raise DamagedError(f"the header gives a block size of {block_size}", start=start)
        return cls(
            chain=decode_chain(values.get("c"), start),
            format=typed_value(values, "f", int, 0, start),
            block_size=block_size,
            name=decode_name(values.get("n"), start),
            mtime=typed_value(values, "t", int, None, start),
            style=typed_value(values, "s", dict, {}, start),
            writer=version_text(typed_value(values, "w", int, 0, start)),
            meta=_meta(values, start),
            unproved=typed_value(values, "u", bool, False, start),
            entry=entry_in(values, needs, start),
            why=typed_value(values, "y", str, "", start),
            dictionary=dictionary_in(values, needs, start),
            zstd_envelope=zstd_envelope,
            archive=ARCHIVE in needs,
            rows=ROWS in needs,
            before=before_in(values, needs, start),
            access=access_in(values, start),
        )


class Part(NamedTuple):
    """One payload of a block: its sizes, the checksum of its stored bytes, its own chain."""

    stored: int
    restored: int
    check: int
    chain: ChainNumbers | None = None


class Block(NamedTuple):
    """A block header: everything about a block that is not its payload.

    ``size`` is what it restores to in the source's format, ``records`` how many records begin
    in it (None: not known). ``check`` is of the serialized bytes, ``source_check`` of the
    source's where the block is exact (None: those are the serialized bytes, or not exact).
    """

    seq: int
    flags: int
    records: int | None
    size: int
    check: int
    source_check: int | None
    parts: tuple[Part, ...]
    extras: dict[str, Any] = {}  # noqa: RUF012 (never written to)

    @property
    def exact(self) -> bool:
        return bool(self.flags & EXACT)

    @property
    def stored(self) -> bool:
        return bool(self.flags & STORED)

    @property
    def continued(self) -> bool:
        return bool(self.flags & CONTINUED)

    @property
    def entries(self) -> bytes | None:
        """The rows of the entries in the block, as ``rows`` writes them; None where it has none."""
        return self.extras.get(ENTRIES)

    @property
    def in_place(self) -> bool:
        """Whether the payload is the serialized bytes as they are, of any size, at a place in the
        file where they can be mapped."""
        return bool(self.flags & IN_PLACE)

    @property
    def told(self) -> bytes:
        """The checksums of all parts, which ``check`` and the digest of the member are of in place
        of a large block's bytes."""
        return b"".join(part.check.to_bytes(8, "little") for part in self.parts)

    @property
    def serialized(self) -> int:
        """Bytes of the block after its serializer, before filters and codec."""
        parts = self.parts
        return parts[0].restored if len(parts) == 1 else sum(p.restored for p in parts)

    @property
    def payload(self) -> int:
        """Bytes of the block's parts in the file."""
        parts = self.parts
        return parts[0].stored if len(parts) == 1 else sum(p.stored for p in parts)

    def encode(self, member: int) -> bytes:
        """The body of the block header's frame; ``member`` is the header's checksum."""
        parts = [
            [*p[:3], *([] if p.chain is None else [[list(s) for s in p.chain]])] for p in self.parts
        ]
        fixed = [member, self.seq, self.flags, self.records, self.size]
        objects: list[Any] = [[*fixed, self.check, self.source_check, parts]]
        if self.extras:
            objects.append(self.extras)
        return pack_body(*objects)

    def padded(self, member: int, at: int) -> "Block":
        """The block, which is in place, with as much in its header's frame, at byte ``at`` of the
        member, as brings its first part to a multiple of ``ALIGN``."""
        bare = self._replace(extras={**self.extras, "p": b""})
        end = at + FRAME_EXTRA + len(bare.encode(member))
        return bare._replace(extras={**self.extras, "p": bytes(-end % ALIGN)})

    @classmethod
    def decode(cls, body: bytes, start: int, member: int, writer: str = "") -> "Block":
        """The block header in ``body``; DamagedError where it is malformed or another member's.

        ``writer``: the version that wrote the member, for the message about an unknown flag.
        """
        objects = unpack_body(body, start, "block header")
        try:
            fixed, extras = objects if len(objects) > 1 else (*objects, {})
            if not isinstance(extras, dict):
                raise TypeError("no map")
            bytes_of(extras.get(ENTRIES, b""))
            owner, seq, flags, records, size, check, source_check, raw_parts = fixed[:8]
            parts = tuple(
                Part(
                    count_of(p[0]),
                    count_of(p[1]),
                    count_of(p[2]),
                    decode_chain(p[3], start) if len(p) > 3 else None,
                )
                for p in raw_parts
            )
            block = cls(
                seq=count_of(seq),
                flags=count_of(flags),
                records=None if records is None else count_of(records),
                size=count_of(size),
                check=count_of(check),
                source_check=None if source_check is None else count_of(source_check),
                parts=parts,
                extras=extras,
            )
        except (TypeError, ValueError, IndexError, KeyError) as error:
            raise DamagedError(f"a block header is malformed ({error})", start=start) from None
        if owner != member:
            raise DamagedError("a block of another container stands here", start=start)
        if block.flags & ~_KNOWN_FLAGS:
            raise newer(f"the block flag {block.flags & ~_KNOWN_FLAGS}", writer)
        block.check_sizes(start)
        return block

    def check_sizes(self, start: int) -> None:
        """DamagedError for sizes that cannot be true, before anything is read or allocated."""
        if not self.parts:
            raise DamagedError("a block has no parts", start=start, block=self.seq)
        in_place = self.in_place
        if fault := too_much(self.size, self.serialized, self.records, in_place=in_place):
            raise DamagedError(f"a block says it {fault}", start=start, block=self.seq)
        if in_place and (fault := self._misplaced()):
            raise DamagedError(f"a block in place {fault}", start=start, block=self.seq)
        for part in self.parts:
            if part.stored > max_stored(part.restored):
                raise DamagedError(
                    f"a part says it takes {part.stored} bytes to restore {part.restored}",
                    start=start,
                    block=self.seq,
                )

    def _misplaced(self) -> str | None:
        """Which rule of blocks in place this one breaks, in words; None where it keeps them."""
        if self.flags != IN_PLACE | EXACT or self.source_check is not None:
            return "is not its source as it is"
        if self.size != self.serialized or any(p.stored != p.restored for p in self.parts):
            return "has two sizes"
        if any(p.chain is not None or p.stored > MAX_BLOCK for p in self.parts):
            return f"has a part of more than {MAX_BLOCK} bytes, or with a chain"
        return "has another checksum than its parts" if self.check != checksum(self.told) else None


class StoredBlock(NamedTuple):
    """A block as it stands in the file, its stored checksums verified.

    ``start`` and ``end`` are byte offsets in the file. ``payload``: the stored bytes of each part;
    those of all parts of a block in place are one. ``damage``: the error where they are not what
    was written, and not raised. ``room``: memory of the reader's to restore the block into.
    """

    block: Block
    start: int
    end: int
    payload: tuple[Buffer, ...]
    damage: DamagedError | None = None
    room: memoryview | None = None


def decode_chain(value: Any, start: int) -> ChainNumbers:
    """A chain as stored: each stage a number, or an array of number and parameters."""
    stages = [s if isinstance(s, list) else [s] for s in value] if isinstance(value, list) else []
    if stages and all(s and all(type(n) is int for n in s) and s[0] >= 0 for s in stages):
        return tuple(tuple(s) for s in stages)
    raise DamagedError("a chain is malformed", start=start)


def bytes_of(value: Any) -> bytes:
    """``value``, which must be a byte string; TypeError otherwise."""
    if not isinstance(value, bytes):
        raise TypeError("not a byte string")
    return value


def _meta(values: dict[str, Any], start: int) -> dict[str, str]:
    meta: dict[str, str] = typed_value(values, "m", dict, {}, start)
    if not all(isinstance(text, str) for pair in meta.items() for text in pair):
        raise DamagedError("the header's 'm' is malformed", start=start)
    return meta
