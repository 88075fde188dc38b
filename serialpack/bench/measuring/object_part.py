"""Measures a serializer on one Python object, as ``trials.serialize`` does on blocks."""

from __future__ import annotations

import io
from contextlib import suppress
from functools import cache
from typing import Any

from serialpack.bench.measuring.trials import Care, SerializedPart, repeat
from serialpack.collector import gc_paused
from serialpack.errors import SerialpackError
from serialpack.formats import FORMATS
from serialpack.objects.dumping import dumps
from serialpack.objects.loading import loads
from serialpack.pipeline.blocks import Serialized
from serialpack.pipeline.digest import WholeDigest
from serialpack.pipeline.packing import Packing, prepare
from serialpack.pipeline.timing import Timer
from serialpack.serializers import SERIALIZERS, one_object
from serialpack.stages.stage import Buffer


@cache
def warm_up(chain: str) -> None:
    """Have everything imported that a chain needs: a large object may be measured only once."""
    for value in ({"n": 1}, [{"n": 1}]):
        with suppress(SerialpackError):
            loads(dumps(value, chain), trust=True)
            return


def serialize_object(
    packing: Packing, value: Any, care: Care, *, proved: bool = True
) -> SerializedPart:
    """Serialize ``value``, prove it where ``proved``, and load it.
    RefusedError where it cannot be held."""
    warm_up(str(packing.chain))
    serializer = one_object.of_values(SERIALIZERS.create(*packing.chain.serializer))
    serializer.configure(packing.settings)

    def dump(_: bool) -> tuple[Buffer, dict[str, float]]:
        timer = Timer()
        pieces = one_object.serialized(serializer, value)
        timer.lap("serialize")
        if proved:
            one_object.prove(serializer, value, value, pieces, None)
            timer.lap("prove")
        return pieces[0] if len(pieces) == 1 else bytearray().join(pieces), timer.seconds

    data, there = repeat(dump, len, care)

    def load(_: bool) -> tuple[None, dict[str, float]]:
        # A copy: a loader may keep a bytearray that it is given, as its own.
        pieces: list[Buffer] = [bytearray(data) if isinstance(data, bytearray) else data]
        timer = Timer()
        with gc_paused():
            one_object.deserialized(serializer, pieces)
        timer.lap("deserialize")
        return None, timer.seconds

    _, back = repeat(load, lambda _: 0, care)
    blocks = list(FORMATS.get("object").split(io.BytesIO(data).read, packing.block_size))
    digest = WholeDigest()
    digest.add(data, None, exact=True)
    return SerializedPart(
        packing=packing,
        plan=prepare(packing, blocks[0])[1],
        blocks=blocks,
        serialized=[Serialized(b.data, b.records, True, {}) for b in blocks],
        there=there,
        back=back,
        digest=digest.digest(),
    )
