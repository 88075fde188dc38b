"""A block: its header, and a block as it was read from a file (man/spk.5, BLOCK HEADER)."""

from typing import Any, NamedTuple

from serialpack.container.fields import bytes_of, count_of, decode_chain
from serialpack.container.frames import (
    FRAME_EXTRA,
    checksum,
    pack_body,
    unpack_body,
)
from serialpack.container.limits import max_stored, too_much
from serialpack.errors import DamagedError, newer
from serialpack.stages.stage import MAX_BLOCK, Buffer, ChainNumbers

#: Flags of a block. STORED: neither filters nor codec were applied. EXACT: it restores to the very
#: bytes of its source. CONTINUED: it begins within a record, which began in an earlier block.
#: IN_PLACE: see ``Block.in_place``.
STORED = 1
EXACT = 2
CONTINUED = 4
IN_PLACE = 8
_KNOWN_FLAGS = STORED | EXACT | CONTINUED | IN_PLACE

#: The first part of a block in place begins at a multiple of so many bytes.
ALIGN = 64

#: The key in ``Block.extras`` under which the rows of the entries in the block stand.
ENTRIES = "e"


class Part(NamedTuple):
    """A part of a block: how many bytes it takes in the file, how many it restores to, the checksum
    of its stored bytes, and its chain where that differs from the header's."""

    stored: int
    restored: int
    check: int
    chain: ChainNumbers | None = None


class Block(NamedTuple):
    """The header of a block: all that is said of it beside its payload.

    - ``seq``: its number in the member, from 0; ``flags``: see ``EXACT`` and the others
    - ``records``: how many records begin in it; None where that is not known
    - ``size``: bytes of its source
    - ``check``: checksum of the serialized bytes. ``source_check``: checksum of the source's bytes;
      None where these are the serialized bytes, or do not come back exactly
    - ``parts``: the pieces of its payload; ``extras``: what is said of few blocks, by one-letter
      keys
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
        """The encoded rows of the entries in the block (``rows.encode_rows``); None where the block
        is not shared by entries."""
        return self.extras.get(ENTRIES)

    @property
    def in_place(self) -> bool:
        """Whether the payload is the serialized bytes as they are, at a place in the file that can
        be mapped to memory as an array. Only such a block may have any size."""
        return bool(self.flags & IN_PLACE)

    @property
    def part_checks(self) -> bytes:
        """The checksums of all parts, as bytes. Of a block in place, which may be huge, ``check``
        and the digest of the member are made of these, and not of the content itself."""
        return b"".join(part.check.to_bytes(8, "little") for part in self.parts)

    @property
    def serialized(self) -> int:
        """How many bytes the block has after its serializer, before filters and codec."""
        parts = self.parts
        return parts[0].restored if len(parts) == 1 else sum(p.restored for p in parts)

    @property
    def payload(self) -> int:
        """How many bytes the parts of the block take in the file."""
        parts = self.parts
        return parts[0].stored if len(parts) == 1 else sum(p.stored for p in parts)

    def encode(self, member: int) -> bytes:
        """The body of the block header's frame. ``member``: the id of the member, which is the
        checksum of its header."""
        parts = [
            [*p[:3], *([] if p.chain is None else [[list(s) for s in p.chain]])] for p in self.parts
        ]
        fixed = [member, self.seq, self.flags, self.records, self.size]
        objects: list[Any] = [[*fixed, self.check, self.source_check, parts]]
        if self.extras:
            objects.append(self.extras)
        return pack_body(*objects)

    def padded(self, member: int, at: int) -> "Block":
        """This block, which is in place, with so much padding in its header that its first part
        begins at a multiple of ``ALIGN``. ``at``: the byte of the member at which the frame of the
        block header begins; ``member``: as for ``encode``."""
        bare = self._replace(extras={**self.extras, "p": b""})
        end = at + FRAME_EXTRA + len(bare.encode(member))
        return bare._replace(extras={**self.extras, "p": bytes(-end % ALIGN)})

    @classmethod
    def decode(cls, body: bytes, start: int, member: int, writer: str = "") -> "Block":
        """The block header in the ``body`` of its frame; DamagedError where it is malformed, or of
        another member than ``member`` (see ``encode``); UnsupportedError for unknown flags.

        ``start``: the place of the frame in the file; ``writer``: the version that wrote the
        member; both for errors.
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
        """DamagedError for sizes that cannot be true. Called before anything is read or memory is
        taken for the block; ``start``: its place in the file."""
        if not self.parts:
            raise DamagedError("a block has no parts", start=start, block=self.seq)
        in_place = self.in_place
        if fault := too_much(self.size, self.serialized, self.records, in_place=in_place):
            raise DamagedError(f"a block says it {fault}", start=start, block=self.seq)
        if in_place and (fault := self._in_place_fault()):
            raise DamagedError(f"a block in place {fault}", start=start, block=self.seq)
        for part in self.parts:
            if part.stored > max_stored(part.restored):
                raise DamagedError(
                    f"a part says it takes {part.stored} bytes to restore {part.restored}",
                    start=start,
                    block=self.seq,
                )

    def _in_place_fault(self) -> str | None:
        """Which rule for blocks in place this one breaks, as the end of a sentence; None where it
        keeps them all."""
        if self.flags != IN_PLACE | EXACT or self.source_check is not None:
            return "is not its source as it is"
        if self.size != self.serialized or any(p.stored != p.restored for p in self.parts):
            return "has two sizes"
        if any(p.chain is not None or p.stored > MAX_BLOCK for p in self.parts):
            return f"has a part of more than {MAX_BLOCK} bytes, or with a chain"
        return (
            "has another checksum than its parts"
            if self.check != checksum(self.part_checks)
            else None
        )


class StoredBlock(NamedTuple):
    """A block that was read from a file, with the checksums of its stored bytes verified.

    ``start``, ``end``: its place in the file, in bytes. ``payload``: the stored bytes of each part;
    of a block in place one buffer with all of them. ``damage``: the error, where the stored bytes
    are damaged and the reader was asked not to raise it. ``room``: memory to restore the block
    into, where the caller has given some.
    """

    block: Block
    start: int
    end: int
    payload: tuple[Buffer, ...]
    damage: DamagedError | None = None
    room: memoryview | None = None
