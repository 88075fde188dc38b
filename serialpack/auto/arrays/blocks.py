"""Blocks of an array: so long that they lose nothing, and several, as threads work on one each."""

from __future__ import annotations

from typing import NamedTuple

from serialpack.auto.arrays.trial import ArrayChain
from serialpack.codecs.chunks import CHUNK
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import StageSpec
from serialpack.stages.effort import EFFORTS

#: An array is cut into so many blocks, unless it is larger.
_BLOCKS = 4

#: A block has so many bytes at least, or what is done for each takes longer than is gained; and
#: before zstd, which has few matches in less. It is packed into so many, of which it takes 200.
_LEAST, _LEAST_MATCHED, _PACKED = 384 << 10, 1 << 20, 100_000

#: Where so large a share of numbers is left as they are, most of them match none.
_FEW_MATCHES = 0.6

#: In the first so many numbers of a block no farther neighbour foretells any: a block has so many
#: times as many.
_FAR = 80

#: pcodec finds bins for each block: more than two are made of so many numbers each. Two are made
#: where each has chunks of its own in any case, if it is packed into half as many bytes: the second
#: takes 350, and half the time.
_NUMBERS = CHUNK

#: Block sizes are multiples of this.
_STEP = 4096


class Blocks(NamedTuple):
    """Blocks of ``size`` bytes, which go through ``codec``; of the first, ``more`` stand before
    these."""

    size: int
    codec: StageSpec
    more: int = 0


def blocks_of(
    layout: NumbersLayout, chain: ArrayChain, length: int, most: int, effort: int, *, cut: bool
) -> Blocks:
    """Those in which numbers of ``length`` bytes go through ``chain``; of ``most`` bytes each,
    where they are not to be ``cut`` otherwise.

    Columns that stand one after another, and are packed apart, are not cut: a block has as many as
    another.
    """
    codec = chain.codec
    if not (layout.stacked and codec.name == "pcodec" and codec.values[-1]):
        return Blocks(block_size(layout, chain, length, most, effort) if cut else most, codec)
    count, size = layout.stacked, most
    if length > most or cut:
        wanted = min(_BLOCKS, length // _LEAST, int(chain.share * length) // _PACKED)
        blocks = _blocks_of_columns(layout, most, wanted if EFFORTS[effort].least_gain else 1)
        count = count // blocks if blocks and cut else 0
        size = count * layout.column if blocks > 1 and cut else most
    columns = codec._replace(values=(*codec.values[:-1], count if count > 1 else 0))
    return Blocks(size, columns, layout.start if size < most else 0)


def _blocks_of_columns(layout: NumbersLayout, most: int, wanted: int) -> int:
    """How many blocks of as many columns each: as many as are ``wanted``, or fewer, and more where
    they would be too large; none where one column is."""
    count = layout.stacked
    fit = [each for each in range(1, count + 1) if count % each == 0]
    fit = [each for each in fit if layout.start + count // each * layout.column <= most]
    return max((each for each in fit if each <= wanted), default=min(fit, default=0))


def block_size(
    layout: NumbersLayout, chain: ArrayChain, length: int, most: int, effort: int
) -> int:
    """Bytes of the blocks in which numbers of ``length`` bytes go through ``chain``, not more than
    ``most``.

    What finds matches gets all that it may; there are few behind differences, and where so much is
    left, and pcodec looks at a part of a block at a time. Where time matters less, and it says of
    each block anew how numbers are spread, it gets all, too.
    """
    lags = [values[1] or 1 for name, values in chain.filters if name == "delta"]
    by_numbers = chain.codec.name == "pcodec"
    columns = chain.codec.values[-1] if by_numbers else 0
    if not (lags or by_numbers or chain.share > _FEW_MATCHES):
        return most
    if by_numbers and not EFFORTS[effort].least_gain:
        return most
    least = _FAR * max(lags, default=0) * layout.size
    least = max(least, _LEAST if by_numbers else _LEAST_MATCHED)
    blocks = min(_BLOCKS, length // least, int(chain.share * length) // _PACKED)
    if by_numbers:
        chunks = length // layout.size // max(columns, 1) // _NUMBERS
        blocks = min(blocks, max(chunks, 1 if columns else 2))
        if blocks == 1 and chunks > 1 and not (lags or columns):
            blocks = min(2, length // least)
    if blocks <= -(-length // most):
        return most
    return -(-length // blocks // _STEP) * _STEP
