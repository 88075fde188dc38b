"""One block: packed through the chain of its member, and unpacked again.

A packer and an unpacker are used by one worker, one block after another.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple, cast

from serialpack.container.block import CONTINUED, EXACT, STORED, Block, Part, StoredBlock
from serialpack.container.frames import checksum
from serialpack.errors import CodecError, DamagedError, RefusedError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Style, ValueFormat
from serialpack.pipeline.parts import PartPacker, PartUnpacker, not_given_back
from serialpack.pipeline.plan import SETTINGS, Plan
from serialpack.pipeline.timing import Timer
from serialpack.pipeline.writing import Writing, gives_back, keeps
from serialpack.serializers import SERIALIZERS, reader
from serialpack.serializers.base import ByteSerializer, RecordSerializer
from serialpack.stages.stage import Buffer
from serialpack.text import number_of
from serialpack.values.kinds import Loss
from serialpack.values.structure import Structure
from serialpack.watch import at, within

#: For progress bars: about the share of the serializer's work that comes before the proof.
_WRITTEN = 0.9

#: The exceptions that reading serialized bytes may raise where somebody else made these bytes: they
#: pass all checksums, and still are malformed.
MALFORMED = (ValueError, TypeError, LookupError, OverflowError, RecursionError, AttributeError)

#: So many blocks at the front are ``early`` for ``auto.worth.shrinks_well``: a file may have no
#: more.
_EARLY = 2


class PackedBlock(NamedTuple):
    """A block that is ready to be written: its header, and the stored bytes of each of its parts.

    ``data``: the serialized bytes, for the digest; None where these are the source's. ``seconds``:
    the time of each stage.
    """

    block: Block
    payload: tuple[Buffer, ...]
    data: Buffer | None
    seconds: dict[str, float]
    #: What of the source does not come back although all values do: comments, say.
    dropped: Sequence[Loss] = ()


class Serialized(NamedTuple):
    """A block between serializer and filters; it was proved where the plan says ``verify``."""

    data: Buffer
    records: int | None
    exact: bool
    #: How the style of this block differs from that of the source.
    extras: Style
    dropped: Sequence[Loss] = ()


class Restored(NamedTuple):
    """An unpacked block: its serialized bytes (``data``), and the source's bytes (``source``; None
    where these are the same bytes, or were not asked for)."""

    data: Buffer
    source: Buffer | None
    seconds: dict[str, float]

    @property
    def source_data(self) -> Buffer:
        """The source's bytes: ``source``, or where there is none the serialized bytes."""
        return self.data if self.source is None else self.source


class BlockPacker:
    """Packs blocks: serializes, filters, compresses, and proves each step by undoing it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.format = FORMATS.get(plan.format)
        self.serializer = SERIALIZERS.create(*plan.chain.serializer)
        self.serializer.configure(plan.style.get(SETTINGS, {}))
        self.keeps = keeps(type(self.serializer), self.format)
        #: Whether the serializer hands on the source's bytes without looking at them.
        self.passes = isinstance(self.serializer, ByteSerializer) and self.serializer.passes
        self._parts = PartPacker(plan.chain, plan.dictionary, plan.min_saving, verify=plan.verify)
        if plan.records:
            self._parts.squeeze.codec.for_records()

    def __call__(self, source: SourceBlock) -> PackedBlock:
        """The packed block. RefusedError for a value that the serializer cannot hold."""
        timer = Timer()
        serialized = self.serialize(source, timer)
        with within(self._serialized, 1):
            return self.finish(source, serialized, timer)

    def alone(self, source: SourceBlock, timer: Timer) -> tuple[Block, Buffer]:
        """The block of a source that is only one block, and its payload.

        The same as by calling the packer, in less time. Only allowed where the serializer
        ``passes``.
        """
        timer.seconds.update(serialize=0.0, prove=0.0)  # there was nothing to do
        data = source.data
        packed = self._parts.one(data, 0, timer, early=True, payload=source.payload)
        flags = STORED * packed.stored | EXACT
        block = Block(0, flags, source.records, len(data), packed.check, None, (packed.part,))
        timer.lap("checksum")
        return block, packed.payload

    @property
    def _serialized(self) -> float:
        """For progress bars: about the share of all work that is done once the block is serialized
        and proved."""
        if self.serializer.compresses:
            return 0.95
        return 0.0 if self.keeps else 0.5

    def serialize(self, source: SourceBlock, timer: Timer) -> Serialized:
        """The first half of packing: the serializer, and the proof that the block comes back from
        it. RefusedError, SyntaxInputError."""
        if isinstance(self.serializer, ByteSerializer):
            return self._serialize_bytes(source, self.serializer, timer)
        assert isinstance(self.serializer, RecordSerializer)
        try:
            return self._serialize_records(source, self.serializer, timer)
        except ValueRefusedError as refused:
            if self.plan.style.get("k") == Structure.MAP and refused.record is not None:
                refused.record = 0  # it is a member of one map, whatever its number
            raise

    def _serialize_records(
        self, source: SourceBlock, serializer: RecordSerializer, timer: Timer
    ) -> Serialized:
        """As ``serialize``, by a serializer of records."""
        writing = Writing(serializer, self.format)
        with within(0, self._serialized * _WRITTEN):
            data, records = writing.encode(source)
        timer.lap("serialize")
        exact, extras = writing.keeps, Style()
        if self.plan.verify and not exact:
            lost, exact, extras = writing.prove(source, data, self.plan.style)
            if lost and (other := writing.encode_otherwise(source)) is not None:
                data = other
                lost, exact, extras = writing.prove(source, data, self.plan.style)
            if lost is not None:
                raise serializer.refuse(lost, source.first_record)
            if self.plan.demand_exact and not exact:
                raise RefusedError(
                    f"--exact: {serializer.name} would not give back the bytes of"
                    f" record {source.first_record} and those after it, only their values",
                    hint="-s raw keeps the bytes",
                )
        elif isinstance(self.format, ValueFormat) and not exact:
            extras = self.format.style_changes(source, self.plan.style)
        timer.lap("prove")
        return Serialized(data, records, exact, extras, () if exact else writing.dropped)

    def _serialize_bytes(
        self, source: SourceBlock, serializer: ByteSerializer, timer: Timer
    ) -> Serialized:
        """As ``serialize``, by a serializer of bytes; where these do not come back, as plain
        bytes."""
        whole = not (source.partial or source.continued)
        kind = self.format.declared.columns if whole else ""
        with within(0, self._serialized * _WRITTEN):
            data = serializer.encode(source.data, kind)
        timer.lap("serialize")
        # ``keeps`` is asked, and not whether ``data is source.data``: Python has only one b"1", so
        # that may be true of bytes that were made anew.
        if self.plan.verify and not self.keeps and not gives_back(serializer, data, source.data):
            data = serializer.plain(source.data)
            if not gives_back(serializer, data, source.data):
                raise not_given_back(self.plan.chain, "not even as plain bytes", source.index)
        timer.lap("prove")
        return Serialized(data, source.records, True, {})

    def finish(self, source: SourceBlock, serialized: Serialized, timer: Timer) -> PackedBlock:
        """The second half of packing: filters and codec, with their proof, and the checksums."""
        data, exact = serialized.data, serialized.exact
        kept = self.keeps
        if source.extents and kept:
            packed = self._parts.several(data, source.extents, source.index, timer)
        else:
            early = source.index < _EARLY
            known = source.payload if kept else None
            learned = source.learned if kept else None
            one = partial(self._parts.one, payload=known, learned=learned)
            packed = [one(data, source.index, timer, early=early)]
        at(_WRITTEN)
        payload = tuple(each.payload for each in packed)
        parts = tuple(each.part for each in packed)
        if payload[0] is data and len(pieces := self._pieces(data)) > 1:
            payload = tuple(pieces)
            parts = tuple(Part(len(piece), len(piece), checksum(piece)) for piece in payload)
        stored = len(packed) == 1 and packed[0].stored
        check = packed[0].check if len(packed) == 1 else checksum(data)
        flags = STORED * stored | EXACT * exact | CONTINUED * source.continued
        block = Block(
            seq=source.index,
            flags=flags,
            records=serialized.records,
            size=len(source.data),
            check=check,
            source_check=checksum(source.data) if exact and not kept else None,
            parts=parts,
            extras={"s": serialized.extras} if serialized.extras else {},
        )
        timer.lap("checksum")
        restored = None if kept else data
        return PackedBlock(block, payload, restored, timer.seconds, serialized.dropped)

    def _pieces(self, data: Buffer) -> Sequence[Buffer]:
        return self.serializer.parts(data) if isinstance(self.serializer, ByteSerializer) else ()


class BlockUnpacker:
    """Unpacks blocks, and verifies every checksum that they carry.

    ``serialized``: only as far as the serialized bytes; ``source`` of each result is None then.
    """

    def __init__(self, plan: Plan, *, serialized: bool = False) -> None:
        self.plan = plan
        self.serialized = serialized
        self.format = FORMATS.get(plan.format)
        self.serializer = reader(*plan.chain.serializer)
        self.serializer.configure(plan.style.get(SETTINGS, {}))
        self.keeps = keeps(type(self.serializer), self.format)
        self._parts = PartUnpacker(plan.chain, plan.dictionary, plan.writer)
        self.squeeze = self._parts.squeeze

    def __call__(self, stored: StoredBlock) -> Restored:
        """The unpacked block; DamagedError, with its place in the file, where it does not restore
        to what its header says."""
        timer = Timer()
        data = self.decompress(stored, timer)
        at(0.5)
        source = None if self.serialized else self.deserialize(stored, data, timer)
        return Restored(data, None if source is data else source, timer.seconds)

    def decompress(self, stored: StoredBlock, timer: Timer) -> Buffer:
        """The first half of unpacking: the serialized bytes, whose checksum is verified."""
        if (self.keeps or self.serializer.exact) and not stored.block.exact:
            raise damaged(stored, f"says that {self.serializer.name} is not exact")
        data = self._data(stored)
        timer.lap("decompress")
        # That of a block in place is made of the checksums of its parts, which were verified.
        if not stored.block.in_place and checksum(data) != stored.block.check:
            raise damaged(stored, "the checksum of its content does not match")
        timer.lap("checksum")
        return data

    def deserialize(self, stored: StoredBlock, data: Buffer, timer: Timer) -> Buffer:
        """The second half of unpacking: the source's bytes, whose checksum and size are verified
        where the block is exact."""
        block = stored.block
        if self.keeps:
            source = data
        else:
            try:
                source = self._undone(block, data)
            except MALFORMED as error:
                raise damaged(stored, f"its values cannot be read ({error})") from None
        timer.lap("deserialize")
        exact = block.exact
        if exact and source is not data and checksum(source) != block.source_check:
            raise damaged(stored, "the checksum of its source does not match")
        if exact and len(source) != block.size:
            raise damaged(
                stored, f"it restores to {number_of(len(source), 'byte')}, not {block.size:,}"
            )
        timer.lap("checksum")
        return source

    def _undone(self, block: Block, data: Buffer) -> Buffer:
        """The source's bytes, made of a block's serialized bytes; one of ``MALFORMED`` where those
        are broken."""
        if isinstance(self.serializer, ByteSerializer):
            return self.serializer.decode(data)
        assert isinstance(self.serializer, RecordSerializer)
        style = {**self.plan.style, **block.extras.get("s", {})}
        writing = Writing(self.serializer, self.format)
        one = block.exact and block.records == 1
        right = (lambda text: checksum(text) == block.source_check) if one else None
        return writing.decode(data, style, first=block.seq == 0, exact=block.exact, right=right)

    def pieces(self, stored: StoredBlock) -> Iterator[Buffer]:
        """The source's bytes from the front, in pieces, for a caller that stops when it has enough.

        The checksum of the content is not verified, as that would take all of it. The checksums of
        the stored bytes were, and they cover every byte that is decoded here.
        """
        block = stored.block
        plain = self.keeps and not self.squeeze.filters and not block.in_place
        parts = [(part.restored, part.chain) for part in block.parts]
        if not plain or not block.exact or block.stored or parts != [(block.size, None)]:
            yield self(stored).source_data
            return
        try:
            yield from self.squeeze.codec.decompress_pieces(stored.payload[0], block.size)
        except CodecError as error:
            raise damaged(stored, f"its payload {error}") from None

    def _data(self, stored: StoredBlock) -> Buffer:
        """The serialized bytes of a stored block: filters and codec are undone, part by part, in
        the room that the block has for them, where it has one. DamagedError."""
        if stored.block.in_place:
            (whole,) = stored.payload
            return whole
        room = stored.room
        if room is not None and len(room) != stored.block.serialized:
            room = None
        pieces: list[Buffer] = []
        at = 0
        for part, payload in zip(stored.block.parts, stored.payload, strict=True):
            place = None if room is None else room[at : at + part.restored]
            at += part.restored
            try:
                found = self._parts(part, payload, stored=stored.block.stored, room=place)
            except CodecError as error:
                raise damaged(stored, f"its payload {error}") from None
            except DamagedError as error:
                raise damaged(stored, error.message) from None
            if place is None:
                pieces.append(found)
            elif found is not place:
                place[:] = found
        if room is not None:
            return room
        return pieces[0] if len(pieces) == 1 else b"".join(cast("list[bytes]", pieces))


def damaged(stored: StoredBlock, what: str) -> DamagedError:
    """The error for what is wrong with a block."""
    return DamagedError(what, block=stored.block.seq, start=stored.start, end=stored.end)
