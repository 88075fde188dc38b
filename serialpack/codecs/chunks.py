"""Chunks of pcodec: how their numbers are looked at, what is said of them, and streams of them."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: So many numbers are in a chunk, half as many as in pcodec's own (``pcodec.DEFAULT_MAX_PAGE_N``):
#: of 75 arrays it leaves 0.980 to 1.006 of what that leaves, in the mean 0.9989. Half of that would
#: leave 0.9966, in a twelfth more time.
CHUNK = 1 << 17

#: How differences are taken: the name of pcodec's ``DeltaSpec``, and their order where it asks.
Delta = tuple[Any, ...]
AUTO, NO_OP, LOOKBACK = ("auto",), ("no_op",), ("try_lookback",)

#: Numbers foretold from several before each, as sound is (linear prediction).
CONVOLVED = "try_conv1"

#: pcodec 1.0 and 1.1 panic where a chunk ends so few numbers behind a multiple of so many (of twice
#: as many, in truth: ``ENCODE_BATCH_SIZE`` of delta/conv1.rs).
_TOO_FEW, _BATCH = 32, 256

#: Where a stream says how many numbers there may be; and how long the version of the chunks' format
#: is, that stands behind.
_HINT, _VERSION = 6, 2


class ChunkWay(NamedTuple):
    """How numbers are looked at.

    ``aside``: so many more of the first are no part of the chunks. ``unit``: what they are
    multiples of, where that is told. ``nearby``: many have come before, or stand together, but
    differences to those were tried in vain. Its mode is never a dictionary
    (``ModeSpec.try_dict``), which is in another order each time, and the same input has to become
    the same bytes.
    """

    chunk: int = CHUNK
    aside: int = 0
    delta: Delta = AUTO
    unit: float | None = None
    nearby: bool = False


class Meta(NamedTuple):
    """What the metadata of a chunk, of ``size`` bytes, say: how differences are taken, and how many
    ``bits`` a number has in the pages (pcodec, docs/format.md, "Chunk Metadata")."""

    size: int
    delta: Delta
    bits: float

    @classmethod
    def read(cls, meta: bytes, width: int) -> "Meta | None":
        """Of a chunk of numbers of ``width`` bits; None for what is new in the format."""
        bits = int.from_bytes(meta, "little")
        # How wide what is said of the mode is, and how many numbers one becomes.
        modes = {0: (0, 1), 1: (width, 2), 2: (width, 2), 3: (8, 2)}
        extra, latents = modes.get(bits & 15, (0, 0))
        at = 4 + extra
        way = bits >> at
        order = (way >> 73 & 31) + 1
        ways = {
            0: (NO_OP, 4),
            1: (("try_consecutive", way >> 4 & 7), 8),
            2: (LOOKBACK, 14),
            3: ((CONVOLVED, order), foretelling_bits(order)),
        }
        if not latents or (found := ways.get(way & 15)) is None:
            return None
        delta: Delta = found[0]
        at += found[1]
        total = 0.0
        # How far back a number was is 32 bits wide.
        for wide in (*([32] if delta == LOOKBACK else []), *[width] * latents):
            some, at = _bits_of_bins(meta, at, wide)
            total += some
        return cls(len(meta), delta, total)


def foretelling_bits(order: int) -> int:
    """How many bits of the metadata of a chunk say how numbers are foretold from so many."""
    return 78 + 32 * order


def _bits_of_bins(meta: bytes, at: int, width: int) -> tuple[float, int]:
    """How many bits the bins of one variable take, which ``meta`` say from bit ``at`` on; and where
    these end."""
    import numpy as np

    head = int.from_bytes(meta[at >> 3 : (at >> 3) + 4], "little") >> (at & 7)
    log, count = head & 15, head >> 4 & 0x7FFF
    at += 19
    each = log + width + width.bit_length()
    stop = at + count * each
    bits = np.unpackbits(np.frombuffer(meta, np.uint8), count=stop, bitorder="little")
    bins = bits[at:].reshape(count, each)
    weights = bins[:, :log] @ (1 << np.arange(log)) + 1
    offsets = bins[:, log + width :] @ (1 << np.arange(width.bit_length()))
    return float(weights @ (offsets + log - np.log2(weights))) / (1 << log), stop


def stream_of(numbers: "NDArray[Any]", before: int, level: int, way: ChunkWay) -> bytes:
    from pcodec.standalone import simple_compress

    config = config_of(level, way)
    config.paging_spec = _pages(before + way.aside, len(numbers), way)
    stream: bytes = simple_compress(numbers, config)
    return stream


def config_of(level: int, way: ChunkWay) -> Any:
    """What pcodec is told of a way, but for its chunks."""
    from pcodec import ChunkConfig, DeltaSpec, ModeSpec

    mode = ModeSpec.auto() if way.unit is None else ModeSpec.try_float_mult(way.unit)
    delta, *order = way.delta
    spec = getattr(DeltaSpec, delta)(*order)
    return ChunkConfig(level, mode_spec=mode, delta_spec=spec, enable_8_bit=True)


def _pages(before: int, numbers: int, way: ChunkWay) -> Any:
    """A chunk of the numbers ``before``, if any, then even ones, as pcodec itself makes them."""
    from pcodec import PagingSpec

    left = numbers - before
    count = max(-(-left // way.chunk), 1)
    even = [left // count + (n < left % count) for n in range(count)]
    sizes = [before, *even] if before else even
    if way.delta[0] == CONVOLVED:
        sizes = [part for size in sizes for part in without_few(size)]
    return PagingSpec.exact_page_sizes(sizes)


def without_few(size: int) -> list[int]:
    """A chunk of so many numbers, or two where pcodec would panic."""
    few = size % _BATCH
    return [size - few, few] if 0 < few < _TOO_FEW and size > few else [size]


def joined(streams: list[bytes], numbers: int) -> bytes:
    """The chunks of ``streams``, of numbers of one type, as one of so many ``numbers``; nothing
    where there are none (pcodec, docs/format.md, "Standalone Format")."""
    if len(streams) < 2:
        return b"".join(streams)
    # How many bits beside one the number has; and it.
    bits = max(numbers.bit_length() - 1, 0)
    hint = (bits | numbers << 6).to_bytes(_hint_size(bits), "little")
    first = streams[0]
    version = first[_HINT + _hint_size(first[_HINT] & 63) :][:_VERSION]
    chunks = [each[_HINT + _hint_size(each[_HINT] & 63) + _VERSION : -1] for each in streams]
    return b"".join((first[:_HINT], hint, version, *chunks, first[-1:]))


def _hint_size(bits: int) -> int:
    return (6 + bits + 1 + 7) // 8
