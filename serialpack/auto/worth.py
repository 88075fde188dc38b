"""Whether a block is worth its codec."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from serialpack.auto.records import SAMPLE, SAMPLES
from serialpack.codecs import CODECS
from serialpack.stages.chain import StageSpec
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    from serialpack.codecs.zstd import Zstd

#: The level at which blocks are tried that samples take for noise and that may be all there is.
_EARLY_LEVEL = 3


def spread(data: Buffer, item_size: int = 1) -> bytes:
    """Samples of ``data`` from places spread evenly over it, each beginning with a whole item.

    All of it where it is no more than they are.
    """
    if len(data) <= SAMPLES * SAMPLE:
        return bytes(data)
    size = SAMPLE - SAMPLE % item_size
    step = (len(data) - size) // (SAMPLES - 1)
    step -= step % item_size
    return b"".join(bytes(data[i * step : i * step + size]) for i in range(SAMPLES))


def shrinks_well(
    data: Buffer,
    filtered: Callable[[Buffer], Buffer],
    codec: StageSpec,
    min_saving: float,
    *,
    item_size: int,
    early: bool,
) -> bool:
    """Whether ``codec``, which is zstd, may save ``min_saving`` of a block behind its filters.

    ``item_size``: that of the filters. They are applied to the samples: of what they make of a
    block, which may be all high bytes first, samples would tell nothing. Where the samples do not
    shrink, the whole block is tried at a fast level: level 1 passes over noise at 1 to 3 GB/s, and
    copies are found as far off as by the codec. Of the two first blocks (``early``), which may be
    the whole file, at level 3, which finds more. True, which is not to know, for a block that is
    hardly more than its samples.
    """
    if len(data) < 2 * SAMPLES * SAMPLE:
        return True
    zstd = cast("Zstd", CODECS.create(*codec))
    sample = filtered(spread(data, item_size))
    if len(zstd.compress(sample)) <= (1 - min_saving) * len(sample):
        return True
    whole, level = filtered(data), min(codec.values[0], _EARLY_LEVEL if early else 1)
    return len(zstd.quickly(whole, level)) <= (1 - min_saving) * len(whole)
