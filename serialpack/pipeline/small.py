"""Objects through a chain into the small form, and back, without the machinery of blocks."""

import io
from functools import lru_cache
from threading import local
from typing import NamedTuple

from serialpack.container.small import MOST_WRITTEN, STORED, UNPROVED, Small
from serialpack.errors import CodecError, DamagedError
from serialpack.formats.base import Style
from serialpack.pipeline.blocks import SETTINGS, Plan
from serialpack.pipeline.pack import Packing, pack_stream
from serialpack.pipeline.parts import not_given_back
from serialpack.pipeline.squeeze import Squeeze
from serialpack.stages.chain import Chain, chain_of_numbers
from serialpack.stages.stage import Buffer, ChainNumbers

#: How many chains' codecs each thread keeps: making one takes longer than packing a message.
_KEPT = 4

_thread = local()


class SmallUnpacked(NamedTuple):
    """The serialized bytes of a small form, and what it says of them."""

    plan: Plan
    data: Buffer
    stored_size: int


def pack_small(chain: Chain, settings: Style, data: Buffer, *, verify: bool) -> bytes | None:
    """``data``, one serialized object, in the small form; None where it is too large for that."""
    if len(data) > MOST_WRITTEN:
        return None
    payload, stored = data, False
    if not chain.plain:
        squeeze = _squeeze(chain)
        payload = squeeze.forward(data)
        stored = len(payload) >= len(data)
        if stored:
            payload = data
        elif verify:
            _undo(chain, squeeze, payload, data)
    flags = STORED * stored | UNPROVED * (not verify)
    return Small(chain.numbers, flags, len(data), settings, payload).encode()


def _undo(chain: Chain, squeeze: Squeeze, payload: Buffer, data: Buffer) -> None:
    try:
        same = squeeze.backward(payload, len(data)) == data
    except CodecError as error:
        raise not_given_back(chain, str(error)) from None
    if not same:
        raise not_given_back(chain, "other bytes came back")


def unpack_small(data: Buffer) -> SmallUnpacked:
    """The serialized object in the small form ``data``; DamagedError where it is not whole."""
    small = Small.decode(data)
    plan = _plan(small.chain, small.flags)
    if small.settings:
        plan = plan._replace(style={SETTINGS: small.settings})
    restored = small.payload
    if not (small.flags & STORED or plan.chain.plain):
        try:
            restored = _squeeze(plan.chain).backward(small.payload, small.size)
        except CodecError as error:
            raise DamagedError(f"its payload {error}") from None
    if len(restored) != small.size:
        raise DamagedError(f"it restores to {len(restored)} bytes, not {small.size}")
    return SmallUnpacked(plan, restored, len(small.payload))


@lru_cache(64)
def _plan(numbers: ChainNumbers, flags: int) -> Plan:
    """UnsupportedError for a stage that this version does not know."""
    chain = chain_of_numbers(numbers, "")
    return Plan(chain, "object", {}, verify=not flags & UNPROVED)


def expand(data: Buffer) -> bytes:
    """The container that says the same as the small form ``data``, for those who read blocks."""
    plan, restored, _ = unpack_small(data)
    pieces: list[Buffer] = []
    pack_stream(
        io.BytesIO(restored).read,
        pieces.append,
        Packing(
            chain=plan.chain,
            format=plan.format,
            block_size=max(len(restored), 1),
            verify=plan.verify,
            settings=plan.style.get(SETTINGS, {}),
        ),
    )
    return b"".join(pieces)


def _squeeze(chain: Chain) -> Squeeze:
    kept: dict[Chain, Squeeze] = _thread.__dict__.setdefault("kept", {})
    if chain not in kept:
        if len(kept) >= _KEPT:
            kept.clear()
        kept[chain] = Squeeze(chain)
    return kept[chain]
