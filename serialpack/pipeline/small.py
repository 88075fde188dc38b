"""Objects through a chain into the small form, and back, without the machinery of blocks."""

import io
from functools import lru_cache
from threading import local

from serialpack.container.small import (
    MOST_WRITTEN,
    STORED,
    UNPROVED,
    read_small,
    small_form,
    small_head,
)
from serialpack.errors import CodecError, DamagedError
from serialpack.formats.base import Style
from serialpack.pipeline.blocks import SETTINGS, Plan
from serialpack.pipeline.pack import Packing, pack_stream
from serialpack.pipeline.parts import not_given_back
from serialpack.pipeline.squeeze import Squeeze
from serialpack.pipeline.unpack import check_trust
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, chain_of_numbers
from serialpack.stages.stage import Buffer, ChainNumbers
from serialpack.text import number_of

#: How many chains' codecs each thread keeps: making one takes longer than packing a message.
_KEPT = 4

_thread = local()


def pack_small(chain: Chain, settings: Style, data: Buffer, *, verify: bool) -> bytes | None:
    """``data``, one serialized object, in the small form; None where it is too large for that."""
    if len(data) > MOST_WRITTEN:
        return None
    flags = 0 if verify else UNPROVED
    head, plain = _begun(chain, flags, bool(settings))
    payload = data
    if not plain:
        squeeze = _squeeze(chain)
        payload = squeeze.forward(data)
        if len(payload) >= len(data):
            payload = data
            head, _ = _begun(chain, flags | STORED, bool(settings))
        elif verify:
            _undo(chain, squeeze, payload, data)
    return small_form(head, len(data), settings, payload)


@lru_cache(64)
def _begun(chain: Chain, flags: int, settings: bool) -> tuple[bytes, bool]:
    """What a small form begins with, and whether the chain leaves bytes as they are."""
    return small_head(chain.numbers, flags, settings=settings), chain.plain


def _undo(chain: Chain, squeeze: Squeeze, payload: Buffer, data: Buffer) -> None:
    try:
        same = squeeze.backward(payload, len(data)) == data
    except CodecError as error:
        raise not_given_back(chain, str(error)) from None
    if not same:
        raise not_given_back(chain, "other bytes came back")


def unpack_small(data: Buffer, *, trust: bool) -> tuple[Plan, Buffer]:
    """The serialized object in the small form ``data``, and how it is to be read.

    DamagedError where it is not whole; RefusedError as by ``check_trust``.
    """
    numbers, flags, size, settings, restored = read_small(data)
    plan, plain, safe = _plan(numbers, flags)
    if not (trust or safe):
        check_trust(plan.chain, trust=False)
    if settings:
        plan = Plan(plan.chain, plan.format, {SETTINGS: settings}, plan.verify)
    if not (plain or flags & STORED):
        try:
            restored = _squeeze(plan.chain).backward(restored, size)
        except CodecError as error:
            raise DamagedError(f"its payload {error}") from None
    if len(restored) != size:
        raise DamagedError(f"it restores to {number_of(len(restored), 'byte')}, not {size:,}")
    return plan, restored


@lru_cache(64)
def _plan(numbers: ChainNumbers, flags: int) -> tuple[Plan, bool, bool]:
    """The plan, whether it leaves bytes as they are, and whether what it gives is safe to load.

    UnsupportedError for a stage that this version does not know.
    """
    chain = chain_of_numbers(numbers, "")
    plan = Plan(chain, "object", {}, verify=not flags & UNPROVED)
    return plan, chain.plain, SERIALIZERS.cls(chain.serializer.name).safe


def expand(data: Buffer) -> bytes:
    """The container that says the same as the small form ``data``, for those who read blocks."""
    plan, restored = unpack_small(data, trust=True)  # they ask for it themselves
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
