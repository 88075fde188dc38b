"""Packs small objects into the small form, and unpacks them, in less time than by blocks."""

import io
from threading import local

from serialpack.container.small import (
    MOST_WRITTEN,
    STORED,
    UNPROVED,
    SmallHead,
    packed_settings,
    read_small,
    small_form,
    small_head,
)
from serialpack.errors import CodecError, DamagedError
from serialpack.formats.base import Style
from serialpack.pipeline.pack import pack_stream
from serialpack.pipeline.packing import Packing
from serialpack.pipeline.parts import not_given_back
from serialpack.pipeline.plan import SETTINGS, Plan
from serialpack.pipeline.squeeze import Squeeze
from serialpack.pipeline.unpack import check_trust
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, chain_of_numbers
from serialpack.stages.stage import Buffer
from serialpack.text import number_of

#: How many chains' codecs each thread keeps: making one takes longer than packing a message.
_KEPT = 4

_thread = local()


class SmallWriter:
    """Packs serialized objects into the small form, one after another, in one thread. ``settings``:
    those of their serializer."""

    def __init__(self, chain: Chain, settings: Style) -> None:
        self._chain = chain
        self._plain = chain.plain
        self._settings = packed_settings(settings)
        self._heads = [
            small_head(chain.numbers, flags, settings=bool(settings))
            for flags in range((STORED | UNPROVED) + 1)
        ]

    def pack(self, data: Buffer, verify: bool) -> bytes | None:
        """The serialized object ``data`` in the small form; None where it is too large for that."""
        size = len(data)
        if size > MOST_WRITTEN:
            return None
        flags = 0 if verify else UNPROVED
        if self._plain:
            return small_form(self._heads[flags], size, self._settings, data)
        squeeze = _squeeze(self._chain)
        payload = squeeze.forward(data)
        if len(payload) >= size:
            return small_form(self._heads[flags | STORED], size, self._settings, data)
        if verify:
            _undo(self._chain, squeeze, payload, data)
        return small_form(self._heads[flags], size, self._settings, payload)


def _undo(chain: Chain, squeeze: Squeeze, payload: Buffer, data: Buffer) -> None:
    try:
        same = squeeze.backward(payload, len(data)) == data
    except CodecError as error:
        raise not_given_back(chain, str(error)) from None
    if not same:
        raise not_given_back(chain, "other bytes came back")


def unpack_small(data: Buffer, *, trust: bool) -> tuple[Plan, Buffer]:
    """The plan of the small form ``data``, and the serialized object in it.

    DamagedError where it is not whole; RefusedError as of ``unpack.check_trust``.
    """
    said, size, payload = read_small(data)
    restored: Buffer = payload
    plan, as_it_is, safe = said.made or _planned(said)
    if not (trust or safe):
        check_trust(plan.chain, trust=False)
    if not as_it_is:
        try:
            restored = _squeeze(plan.chain).backward(restored, size)
        except CodecError as error:
            raise DamagedError(f"its payload {error}") from None
    if len(restored) != size:
        raise DamagedError(f"it restores to {number_of(len(restored), 'byte')}, not {size:,}")
    return plan, restored


def _planned(said: SmallHead) -> tuple[Plan, bool, bool]:
    """The plan for such small forms, whether their payload is the object's bytes as they are, and
    whether these are safe to load; kept in ``said.made``.

    UnsupportedError for a stage that this version does not know.
    """
    chain = chain_of_numbers(said.chain, "")
    style = {SETTINGS: said.settings} if said.settings else {}
    plan = Plan(chain, "object", style, verify=not said.flags & UNPROVED)
    as_it_is = chain.plain or bool(said.flags & STORED)
    made = said.made = plan, as_it_is, SERIALIZERS.cls(chain.serializer.name).safe
    return made


def expand(data: Buffer) -> bytes:
    """The small form ``data`` packed anew as a container with header and blocks, for those who read
    these."""
    plan, restored = unpack_small(data, trust=True)  # whoever reads the blocks checks it
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
