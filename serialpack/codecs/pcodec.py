"""pcodec: numbers by the bins that their bits fall into."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from serialpack.bounded import decompress_numbers
from serialpack.codecs.base import Codec, check_size
from serialpack.codecs.chunks import (
    AUTO,
    CONVOLVED,
    LOOKBACK,
    NO_OP,
    ChunkWay,
    Delta,
    Meta,
    config_of,
    joined,
    stream_of,
    without_few,
)
from serialpack.codecs.ways import (
    QUICK,
    THOROUGH,
    as_learned,
    better_without,
    delta_of,
    way_of,
)
from serialpack.errors import CodecError
from serialpack.leb128 import read_varint, varint
from serialpack.stages.stage import Buffer, Param, dialled
from serialpack.text import number_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Types of numbers, spelled as NumPy does: unsigned, signed, float; and bytes.
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")
#: So many bytes may stand before the numbers; and so many columns one after another.
MOST_START, MOST_COLUMNS = 1 << 16, 1 << 16

#: pcodec itself looks for how differences are taken in each chunk, at the level that is asked for,
#: which takes half the time at a quick one from this one on, where there are many bins.
_SLOW = 8

#: Where all ways are tried: more chunks suit numbers that change their ways from one to the next,
#: fewer those that are all alike; and of numbers foretold from several before each.
_CHUNKS, _CHUNKS_FORETOLD, _ORDERS = (1 << 16, 1 << 20), (1 << 14, 1 << 18), (8, 32)

#: The levels that tell what is left, where not all is tried, and where it is.
_TELLING, _TELLING_MORE = 7, 9

#: About how many bytes stand around a chunk; where numbers take so small a part of their bits,
#: most are alike, and weights of bins are too coarse to tell how many.
_AROUND, _SKEWED = 12, 8

#: Bins fit the few numbers of a column in a sample better than they fit all, by this part of what
#: is said of them.
_FITTED = 0.02


class Pcodec(Codec):
    """Data format: the restored size and the length of what follows, each in LEB128; ``n = size //
    k`` numbers of ``k`` bytes, little-endian, in pcodec's standalone format (nothing where ``n`` is
    0); and the ``size % k`` bytes that are left, as they are.

    The type is the first of ``TYPES``, bytes, where it is not set. Floats come back bit for bit,
    NaN too. With a start, the first so many bytes of a source become a chunk of their own: the
    header of an array, which spoils the bins of its numbers. With columns, so many of as many
    numbers stand one after another, which have chunks, and ways, of their own; what is left is of
    the last. (Loncaric, Jeppesen, Zinberg, 2025.)
    """

    library = "pcodec"
    params = (
        dialled("level", 0, 12, (4, 6, 9, 9, 9, 9, 10, 10, 12)),
        Param("type", 1, len(TYPES), 0, mark="@", words=TYPES),
        Param("start", 1, MOST_START, 0, mark="/"),
        Param("columns", 2, MOST_COLUMNS, 0, mark="="),
    )
    levels = (":4", "")
    about = "numbers of one type; floats and integers that no text compressor shrinks"
    bound = "The size stored is compared first; the library writes into an array of that size."

    estimates = True
    _at_start = True

    #: How each column of what was ``estimated`` is looked at.
    _ways: "tuple[ChunkWay, ...]" = ()
    #: How samples were.
    _learned: "ChunkWay | None" = None

    def learned(self) -> "ChunkWay | None":
        way = self._ways[0] if len(self._ways) == 1 else None
        # How far back numbers are differs from place to place, and so does the rest.
        return None if way is None or way.unit or way.delta == LOOKBACK else way

    def begins(self, *, source: bool, learned: object = None) -> None:
        self._at_start = source
        self._learned = learned if isinstance(learned, ChunkWay) else None

    @property
    def _type(self) -> "np.dtype[Any]":
        import numpy as np

        return np.dtype("<" + TYPES[max(self.values[1], 1) - 1])

    def _compress(self, data: Buffer) -> bytes:
        numbers, before = self._numbers(data)
        columns = self._columns(numbers[before:])
        ways = self._ways if len(self._ways) == len(columns) else (None,) * len(columns)
        if len(columns) == 1:
            way = ways[0] or as_learned(numbers[before:], self._learned, self.values[0])
            streams = [_smallest(numbers, before, self.values[0], way)] if len(numbers) else []
        else:
            parts = [numbers[:before]] if before else []
            streams = [stream_of(part, 0, self.values[0], ChunkWay()) for part in parts]
            streams += [
                _smallest(each, 0, self.values[0], way)
                for each, way in zip(columns, ways, strict=True)
            ]
        stream = joined(streams, len(numbers))
        rest = bytes(data[numbers.nbytes :])
        return b"".join((varint(len(data)), varint(len(stream)), stream, rest))

    def _columns(self, numbers: "NDArray[Any]") -> "list[NDArray[Any]]":
        """``numbers`` as so many columns; as one where they have less than two rows."""
        count = self.values[3]
        rows = len(numbers) // count if count else 0
        if rows < 2:
            return [numbers]
        stops = [*range(rows, rows * count, rows), len(numbers)]
        return [numbers[start:stop] for start, stop in pairwise([0, *stops])]

    def _estimated(self, data: Buffer, size: int, samples: int) -> int:
        """By a level that tells as much."""
        numbers, before = self._numbers(data)
        columns, part_of = self._columns(numbers[before:]), len(data) / max(size, 1)
        part_of += _FITTED if len(columns) > 1 else 0
        found, ways = 0, []
        each = max(len(numbers) // len(columns) // samples, 1)
        # One way serves what stands before one column, too.
        shared = way_of(columns[0], self.values[0]) if len(columns) == 1 else None
        for part in ([numbers[:before]] if before else []) + columns:
            way = shared or way_of(part, self.values[0])
            told = self._told(part, way, part_of, each)
            if told is None:
                return len(self._compress(data))
            found += told[0]
            ways.append(way._replace(delta=told[1]))
        self._ways = tuple(ways[-len(columns) :])
        return found

    def _told(
        self, numbers: "NDArray[Any]", way: ChunkWay, part_of: float, each: int
    ) -> tuple[int, Delta] | None:
        """About how many bytes a chunk of ``numbers`` takes, with ``part_of`` what is said once;
        and how differences are taken. None for what is new in the format.

        Samples of ``each`` so many are pages: a difference from one to the next, larger than all
        others, would take bins from these.
        """
        from pcodec import PagingSpec
        from pcodec.wrapped import FileCompressor

        if not len(numbers):
            return 0, way.delta
        if way.delta[0] == CONVOLVED and len(numbers) > way.chunk:
            # As it will be cut: what is unlike the rest spoils one part.
            parts = [numbers[at : at + way.chunk] for at in range(0, len(numbers), way.chunk)]
            told = [self._told(part, way, 1, each) for part in parts]
            sizes = [size for size, _ in filter(None, told)]
            return (sum(sizes), way.delta) if len(sizes) == len(told) else None
        level = min(self.values[0], _TELLING if self.values[0] < THOROUGH else _TELLING_MORE)
        config, width = config_of(level, way), 8 * numbers.itemsize
        if way.delta[0] == CONVOLVED:
            numbers = numbers[: without_few(len(numbers))[0]]
            config.paging_spec = PagingSpec.exact_page_sizes([len(numbers)])
        elif len(numbers) > each:
            more = (len(numbers) - 1) // each
            pages = [len(numbers) - more * each, *[each] * more]
            config.paging_spec = PagingSpec.exact_page_sizes(pages)
        chunk = FileCompressor().chunk_compressor(numbers, config)
        meta = Meta.read(chunk.write_meta(), width)
        if meta is None:
            return None
        if meta.bits < width / _SKEWED:
            found = sum(len(chunk.write_page(page)) for page in range(len(chunk.n_per_page())))
        else:
            found = int(meta.bits * len(numbers)) // 8
        if way.delta == AUTO and better_without(numbers, way, meta.delta):
            return self._told(numbers, way._replace(delta=NO_OP), part_of, each)
        return found + int((_AROUND + meta.size) * part_of), meta.delta

    def _numbers(self, data: Buffer) -> "tuple[NDArray[Any], int]":
        """Those in ``data``, and how many of them stand before those of the array."""
        import numpy as np

        kind = self._type
        n = len(data) // kind.itemsize
        # The library takes numbers only where a processor may read them at once.
        numbers = np.require(np.frombuffer(data, kind, n), requirements="A")
        before = self.values[2] // kind.itemsize if self._at_start else 0
        return numbers, before if before < n else 0

    def _decompress(self, stored: Buffer, size: int) -> Buffer:
        import numpy as np

        kind = self._type
        n, rest = divmod(size, kind.itemsize)
        found, at = read_varint(stored, 0, len(stored))
        check_size(found, size)
        length, start = read_varint(stored, at, len(stored))
        if len(stored) != start + length + rest or bool(n) != bool(length):
            raise CodecError(f"does not restore to the {number_of(size, 'byte')} promised")
        out = np.empty(size, np.uint8)
        if n:
            numbers = out[: size - rest].view(kind)
            decompress_numbers(stored[start : start + length], numbers)
        out[size - rest :] = np.frombuffer(stored, np.uint8, rest, start + length)
        return out.data


def _smallest(
    numbers: "NDArray[Any]", before: int, level: int, way: ChunkWay | None = None
) -> bytes:
    """The stream of ``numbers``, of which those ``before`` are a chunk of their own; ``way``: how
    they are looked at, where that is known."""
    few = len(numbers) <= min(_CHUNKS)
    best = way or way_of(numbers[before:], level)
    if way is None and level >= _SLOW and not (few and level >= THOROUGH):
        best = best._replace(delta=delta_of(numbers[before:], best))
    foretold = best.delta[0] == CONVOLVED
    if level < THOROUGH or (few and not foretold):
        return stream_of(numbers, before, level, best)
    found = {best: stream_of(numbers, before, QUICK, best)}
    chunks = _CHUNKS_FORETOLD if foretold else _CHUNKS
    count = len(numbers) - before
    cuts = [chunk for chunk in chunks if -(-count // chunk) != -(-count // best.chunk)]
    changes: list[dict[str, Any]] = [{"chunk": chunk} for chunk in cuts]
    # What some of them are multiples of it sees in a few, which it draws by how many there are: of
    # one in three arrays of such it misses that.
    changes += [{"aside": 1}] if numbers.dtype.kind == "f" and best.unit is None else []
    deltas = [(CONVOLVED, order) for order in _ORDERS] if foretold else [LOOKBACK]
    for change in (*changes, *({"delta": delta} for delta in deltas)):
        changed = best._replace(**change)
        found[changed] = stream_of(numbers, before, QUICK, changed)
        best = min(found, key=lambda way: len(found[way]))
    # At a higher level it may miss what the numbers have in common.
    return min(found[best], stream_of(numbers, before, level, best), key=len)
