"""The parts of a block: packed through filters and codec, with the proof, and unpacked again.

Most blocks have one part, packed through the chain of the header. A block may also be cut into
extents with chains of their own (an array in an object, say): each becomes a part, which can be
read without the others.
"""

from typing import TYPE_CHECKING, NamedTuple

from serialpack.auto.worth import shrinks_well
from serialpack.container.block import Part
from serialpack.container.frames import checksum
from serialpack.errors import CodecError, DamagedError, SerialpackError, newer
from serialpack.pipeline.squeeze import Squeeze
from serialpack.pipeline.timing import Timer
from serialpack.stages.chain import Chain, Extent, chain_of_numbers, parse_stage
from serialpack.stages.registry import CODECS
from serialpack.stages.stage import Buffer, ChainNumbers

if TYPE_CHECKING:
    from serialpack.dictionaries import Dictionary


class PackedPart(NamedTuple):
    """A part that is ready to be written. ``stored``: neither filters nor codec were applied, as
    they saved nothing. ``check``: the checksum of its bytes before packing; that of ``payload`` is
    in ``part``."""

    stored: bool
    payload: Buffer
    part: Part
    check: int


class PartPacker:
    """Packs parts. ``verify``: undo each and compare; ``min_saving``: see
    ``auto.choice.Choice``."""

    def __init__(
        self, chain: Chain, dictionary: "Dictionary | None", min_saving: float, *, verify: bool
    ) -> None:
        self.squeeze = Squeeze(chain, dictionary)
        self._chain = chain
        self._least = min_saving
        self._verify = verify
        self._squeezes: dict[Chain, Squeeze] = {chain: self.squeeze}
        #: Memory in which parts are restored for the proof, used again and again.
        self._room = bytearray()

    def one(
        self,
        data: Buffer,
        block: int,
        timer: Timer,
        *,
        early: bool,
        payload: Buffer | None = None,
        learned: object = None,
    ) -> PackedPart:
        """Pack ``data``, all of block number ``block``, as one part. ``early``: see
        ``auto.worth.shrinks_well``; ``payload``: what filters and codec make of it, where that is
        known already; ``learned``: see ``codecs.base.Codec.begins``."""
        self.squeeze.codec.begins(source=block == 0, learned=learned)
        return self._pack(data, self._chain, self.squeeze, block, timer, early=early, known=payload)

    def several(
        self, data: Buffer, extents: tuple[Extent, ...], block: int, timer: Timer
    ) -> list[PackedPart]:
        """Pack ``data``, all of block number ``block``, as one part for each of ``extents``, which
        cut it without gaps."""
        found, at, view = [], 0, memoryview(data)
        for extent in extents:
            chain = extent.chain or self._chain
            squeeze = self._squeezes.get(chain)
            if squeeze is None:
                squeeze = self._squeezes[chain] = Squeeze(chain)
            piece = view[at : at + extent.size]
            squeeze.codec.begins(source=block == 0)
            packed = self._pack(piece, chain, squeeze, block, timer, early=False)
            at += extent.size
            if packed.stored and len(extents) == 1:
                chain = self._chain  # the block's flag says that it is stored
            elif packed.stored and not self._chain.zstd_envelope:
                chain = chain._replace(filters=(), codec=parse_stage(CODECS, "none"))
            if chain != self._chain:
                if self._chain.zstd_envelope:
                    raise not_given_back(chain, "no reader takes it beside this one", block)
                packed = packed._replace(part=packed.part._replace(chain=chain.numbers))
            found.append(packed)
        return found

    def _pack(
        self,
        data: Buffer,
        chain: Chain,
        squeeze: Squeeze,
        block: int,
        timer: Timer,
        *,
        early: bool,
        known: Buffer | None = None,
    ) -> PackedPart:
        """Pack ``data`` as one part of the ``chain``, and prove it."""
        stored, payload = self._compress(data, chain, squeeze, early=early, known=known)
        timer.lap("compress")
        check = checksum(data)
        if self._verify and payload is not data:
            self._undo(payload, squeeze, chain, (len(data), check), block)
        timer.lap("undo")
        told = check if payload is data else checksum(payload)
        return PackedPart(stored, payload, Part(len(payload), len(data), told), check)

    def _compress(
        self, data: Buffer, chain: Chain, squeeze: Squeeze, *, early: bool, known: Buffer | None
    ) -> tuple[bool, Buffer]:
        """Whether the part is stored uncompressed, and its payload; ``known``: what filters and
        codec make of ``data``, where that was made before."""
        # ``shrinks_well`` tries zstd on samples, which tells nothing about other codecs.
        least = self._least if chain.codec.name == "zstd" else 0
        if chain.plain:
            return False, data
        shrinks = (
            known is not None
            or not least
            or shrinks_well(
                data,
                squeeze.filtered,
                chain.codec,
                least,
                item_size=squeeze.item_size,
                early=early,
            )
        )
        if shrinks:
            payload = squeeze.forward(data) if known is None else known
            if len(payload) < (1 - least) * len(data):
                return False, payload
        if self._chain.zstd_envelope:
            from serialpack.codecs.zstd import stored_frame

            return True, stored_frame(data)
        return True, data

    def _undo(
        self, payload: Buffer, squeeze: Squeeze, chain: Chain, was: tuple[int, int], block: int
    ) -> None:
        """Undo filters and codec as unpacking will, and compare size and checksum with ``was``,
        those of what was packed; raise ``not_given_back`` where they differ."""
        room = None
        if squeeze.restores_in_place:
            if len(self._room) < was[0]:
                self._room = bytearray(was[0])
            room = memoryview(self._room)[: was[0]]
        try:
            restored = squeeze.backward(payload, was[0], room)
        except CodecError as error:
            raise not_given_back(chain, str(error), block) from None
        if (len(restored), checksum(restored)) != was:
            raise not_given_back(chain, "other bytes came back", block)


class PartUnpacker:
    """Restores parts to serialized bytes. ``writer``: the version that wrote them, for messages."""

    def __init__(self, chain: Chain, dictionary: "Dictionary | None", writer: str) -> None:
        self.squeeze = Squeeze(chain, dictionary)
        self._chain = chain
        self._writer = writer
        self._squeezes: dict[ChainNumbers, Squeeze] = {}

    def __call__(
        self, part: Part, payload: Buffer, *, stored: bool, room: memoryview | None = None
    ) -> Buffer:
        """The bytes that ``part`` restores to. ``stored``: whether the block says that it is stored
        uncompressed; ``room``: memory of that size, which may be used for them. CodecError,
        UnsupportedError; DamagedError where the part has a chain that it cannot have."""
        squeeze = self.squeeze if part.chain is None else self._own(part.chain, stored=stored)
        if stored and not self._chain.zstd_envelope:
            if part.stored != part.restored:
                raise CodecError("has two sizes, and is stored")
            return payload
        return squeeze.backward(payload, part.restored, room)

    def _own(self, numbers: ChainNumbers, *, stored: bool) -> Squeeze:
        """The filters and codec of a part that has a chain of its own. UnsupportedError,
        DamagedError where it cannot have that."""
        found = self._squeezes.get(numbers)
        if found is None:
            chain = chain_of_numbers(numbers, self._writer)
            if self._chain.zstd_envelope:
                raise newer("parts with a chain of their own in this envelope", self._writer)
            if chain.serializer != self._chain.serializer or stored:
                raise DamagedError("a part has a chain that does not belong in its block")
            found = self._squeezes[numbers] = Squeeze(chain)
        return found


def not_given_back(chain: Chain, what: str, block: int | None = None) -> SerialpackError:
    """The error for a chain that does not give back what it was given: the fault of a library or of
    the machine, not of the data. ``what`` went wrong, in words."""
    where = "" if block is None else f"block {block}: "
    return SerialpackError(
        f"{where}{chain} did not give back what it was given ({what})",
        hint="nothing was written; check this machine's memory, try another codec and report it",
    )
