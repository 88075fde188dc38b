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
from serialpack.errors import CodecError
from serialpack.leb128 import read_varint, varint
from serialpack.stages.stage import Buffer, Param, dialled
from serialpack.text import number_of
from serialpack.values.multiples import unit_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Types of numbers, spelled as NumPy does: unsigned, signed, float; and bytes.
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")
#: So many bytes may stand before the numbers; and so many columns one after another.
MOST_START, MOST_COLUMNS = 1 << 16, 1 << 16

#: From this level on all ways are tried, at a quick level. More chunks suit numbers that change
#: their ways from one to the next, fewer those that are all alike.
_THOROUGH, _QUICK, _CHUNKS = 10, 8, (1 << 16, 1 << 20)

#: pcodec itself looks for how differences are taken in each chunk, at the level that is asked for,
#: which takes half the time at this one and beyond where there are many bins. At a quick level it
#: says the same of so few numbers, or narrow ones; of more, of so many bytes at least, pieces tell.
_SLOW, _DELTA_LEVEL, _FEW, _FEW_NARROW, _WIDE = 8, 5, 1 << 13, 1 << 16, 4

#: Differences to the one before are not taken where a piece is so much smaller without them.
_ONE_BEFORE, _CLEARLY_LESS = ("try_consecutive", 1), 0.99

#: The levels that tell what is left, where not all is tried, and where it is.
_TELLING, _TELLING_MORE = 7, 9

#: About how many bytes stand around a chunk; where numbers take so small a part of their bits,
#: most are alike, and weights of bins are too coarse to tell how many.
_AROUND, _SKEWED = 12, 8

#: Bins fit the few numbers of a column in a sample better than they fit all, by this part of what
#: is said of them.
_FITTED = 0.02

#: So large a part of the numbers each, so many at least and at most, from these places on (as
#: shares of all).
_SHARE, _PIECE, _PLACES = 32, (1 << 11, 1 << 14), (0.1, 0.3, 0.5, 0.7, 0.9)

#: Of fewer numbers than so many pieces have, two tell: five would take as long as all of them.
_FEW_PIECES = 16

#: Numbers mixed into one slot for each of a piece leave so many empty where half of them or more
#: have come before (1 - exp(-1/2) are taken), by the golden ratio (Knuth, TAOCP 3, 6.4).
_TAKEN, _MIX = 0.393, 0x9E3779B97F4A7C15

#: So many numbers at most stand together in one place, as colours do. They are told apart by what
#: is so many bits smaller than the difference from the one before.
_TOGETHER, _CLEARLY = 4, 0.25

#: From this level on numbers of so many bytes at most may be foretold from several before each, as
#: sound is (linear prediction; from 16 first): pcodec does not look for that by itself. Read at a
#: third of the speed, it must leave so much less of pieces; and where all is tried, hardly less.
_FORETOLD, _NARROW, _LESS, _HARDLY_LESS = 9, 4, 0.97, 0.995
_ORDER, _ORDERS = 16, (8, 32)

#: Each chunk is foretold in its own way, and a number that is unlike all others spoils its own.
_CHUNK_FORETOLD, _CHUNKS_FORETOLD = 1 << 16, (1 << 14, 1 << 18)

#: Multiples of a unit may take so much more of pieces, which say less of them than all.
_NO_LARGER = 1.005


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
        told = way is not None and not way.unit and way.delta[0] not in (CONVOLVED, *LOOKBACK)
        return way if told else None

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
            way = ways[0] or _as_learned(numbers[before:], self._learned, self.values[0])
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

    def _estimated(self, data: Buffer, size: int) -> int:
        """By a level that tells as much."""
        numbers, before = self._numbers(data)
        columns, part_of = self._columns(numbers[before:]), len(data) / max(size, 1)
        part_of += _FITTED if len(columns) > 1 else 0
        found, ways = 0, []
        # One way serves what stands before one column, too.
        shared = _way_of(columns[0], self.values[0]) if len(columns) == 1 else None
        for part in ([numbers[:before]] if before else []) + columns:
            way = shared or _way_of(part, self.values[0])
            told = self._told(part, way, part_of)
            if told is None:
                return len(self._compress(data))
            found += told[0]
            ways.append(way._replace(delta=told[1]))
        self._ways = tuple(ways[-len(columns) :])
        return found

    def _told(
        self, numbers: "NDArray[Any]", way: ChunkWay, part_of: float
    ) -> tuple[int, Delta] | None:
        """About how many bytes a chunk of ``numbers`` takes, with ``part_of`` what is said once;
        and how differences are taken. None for what is new in the format."""
        from pcodec import PagingSpec
        from pcodec.wrapped import FileCompressor

        if not len(numbers):
            return 0, way.delta
        level = min(self.values[0], _TELLING if self.values[0] < _THOROUGH else _TELLING_MORE)
        config, width = config_of(level, way), 8 * numbers.itemsize
        if way.delta[0] == CONVOLVED:
            numbers = numbers[: without_few(len(numbers))[0]]
            config.paging_spec = PagingSpec.exact_page_sizes([len(numbers)])
        chunk = FileCompressor().chunk_compressor(numbers, config)
        meta = Meta.read(chunk.write_meta(), width)
        if meta is None:
            return None
        if meta.bits < width / _SKEWED:
            found = sum(len(chunk.write_page(page)) for page in range(len(chunk.n_per_page())))
        else:
            found = int(meta.bits * len(numbers)) // 8
        if way.delta == AUTO and _better_without(numbers, way, meta.delta):
            return self._told(numbers, way._replace(delta=NO_OP), part_of)
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
    best = way or _way_of(numbers[before:], level)
    if way is None and level >= _SLOW and not (few and level >= _THOROUGH):
        best = best._replace(delta=_delta_of(numbers[before:], best))
    foretold = best.delta[0] == CONVOLVED
    if level < _THOROUGH or (few and not foretold):
        return stream_of(numbers, before, level, best)
    found = {best: stream_of(numbers, before, _QUICK, best)}
    chunks = _CHUNKS_FORETOLD if foretold else _CHUNKS
    changes: list[dict[str, Any]] = [{"chunk": chunk} for chunk in chunks]
    # What some of them are multiples of it sees in a few, which it draws by how many there are: of
    # one in three arrays of such it misses that.
    changes += [{"aside": 1}] if numbers.dtype.kind == "f" and best.unit is None else []
    deltas = [(CONVOLVED, order) for order in _ORDERS] if foretold else [LOOKBACK]
    for change in (*changes, *({"delta": delta} for delta in deltas)):
        changed = best._replace(**change)
        found[changed] = stream_of(numbers, before, _QUICK, changed)
        best = min(found, key=lambda way: len(found[way]))
    # At a higher level it may miss what the numbers have in common.
    return min(found[best], stream_of(numbers, before, level, best), key=len)


def _way_of(numbers: "NDArray[Any]", level: int) -> ChunkWay:
    """What floats are multiples of, where pieces of them are not larger so; and whether differences
    are to those some way back, where several stand together, or most have come before, and a piece
    is smaller so: pcodec, which looks at fewer, often takes those to the one before; or to what
    several before foretell, where there is time."""
    import numpy as np

    way, (least, most) = ChunkWay(), _PIECE
    if len(numbers) < least:
        return way
    places = _PLACES if len(numbers) >= _FEW_PIECES * least else _PLACES[1::2]
    starts = [int((len(numbers) - least) * share) for share in places]
    if unit := unit_of(numbers) if numbers.dtype.kind == "f" else None:
        pieces = np.concatenate([numbers[start : start + least] for start in starts])
        so = way._replace(unit=unit)
        way = so if _left(pieces, so) <= _NO_LARGER * _left(pieces, way) else way
    middle = numbers[starts[len(starts) // 2] :][:least]
    bits = middle.view(f"u{numbers.itemsize}")
    together = numbers.itemsize >= _WIDE and _stand_together(bits)
    if together or (numbers.itemsize >= _WIDE and _recurs(bits)):
        piece = _middle(numbers, most).view(numbers.dtype)
        # Few bins do not tell numbers from each other that come again in any order.
        telling = _DELTA_LEVEL if together else _QUICK
        left = _left(piece, so := way._replace(delta=LOOKBACK), telling)
        smaller = left <= _left(piece, way, telling)
        # Of less than a bit of each all ways leave about as much.
        way = so if smaller and (together or left > len(piece) // 8) else way._replace(nearby=True)
    if level >= _FORETOLD and numbers.itemsize <= _NARROW:
        pieces = np.concatenate([numbers[start : start + least] for start in starts])
        so = way._replace(delta=(CONVOLVED, _ORDER), chunk=_CHUNK_FORETOLD)
        asked = _LESS if level < _THOROUGH else _HARDLY_LESS
        way = so if _left(pieces, so) <= asked * _left(pieces, way) else way
    return way


def _as_learned(numbers: "NDArray[Any]", way: "ChunkWay | None", level: int) -> "ChunkWay | None":
    """The ``way`` of samples, where differences in the middle of ``numbers`` are as in these; but
    where many have come before, or several stand together, as in samples, all tell which
    differences. None where they are not, and where all ways are tried."""
    least, most = _PIECE
    if way is None or level >= _THOROUGH or len(numbers) < least:
        return None
    auto = way._replace(delta=AUTO)
    bits = _middle(numbers, least)
    if numbers.itemsize >= _WIDE and (_recurs(bits) or _stand_together(bits)):
        return auto if way.nearby else None
    pieces = [_middle(numbers, most).view(numbers.dtype)]
    pieces += [_from_all_over(numbers)] if way.delta == NO_OP else []
    return way if all(_quickly(piece, auto) == way.delta for piece in pieces) else None


def _from_all_over(numbers: "NDArray[Any]") -> "NDArray[Any]":
    """Pieces one after another: numbers that wander slowly are alike in each, and not in all."""
    import numpy as np

    least = _PIECE[0]
    starts = [int((len(numbers) - least) * share) for share in _PLACES]
    return np.concatenate([numbers[start : start + least] for start in starts])


def _middle(numbers: "NDArray[Any]", count: int) -> "NDArray[Any]":
    """So many numbers, or all, from the middle, as unsigned ones."""
    count = min(count, len(numbers))
    return numbers[(len(numbers) - count) // 2 :][:count].view(f"u{numbers.itemsize}")


def _left(numbers: "NDArray[Any]", way: ChunkWay, level: int = _DELTA_LEVEL) -> int:
    """How many bytes a quick level leaves."""
    return len(stream_of(numbers, 0, level, way))


def _delta_of(numbers: "NDArray[Any]", way: ChunkWay) -> Delta:
    """How differences are taken where pieces of ``numbers`` tell the same; else each chunk finds
    that: where most have come before, or several stand together, it counts how far back, in all."""
    size, count = numbers.itemsize, len(numbers)
    wide = size >= _WIDE
    if way.delta != AUTO:
        return way.delta
    if count <= (_FEW if wide else _FEW_NARROW):
        return _quickly(numbers, way)
    least, most = _PIECE
    middle = _middle(numbers, most)
    if not wide:
        return NO_OP if _better_without(numbers, way, _ONE_BEFORE) else AUTO
    if _recurs(middle) or _stand_together(middle[: 2 * least]):
        return AUTO
    length = min(max(count // _SHARE, least), most)
    starts = [int((count - length) * share) for share in _PLACES]
    pieces = [numbers[start : start + length] for start in (starts[0], starts[-1])]
    pieces.append(middle.view(numbers.dtype))
    found = _quickly(pieces[0], way)
    if found == NO_OP:
        pieces.append(_from_all_over(numbers))
    return found if all(_quickly(piece, way) == found for piece in pieces[1:]) else AUTO


def _quickly(numbers: "NDArray[Any]", way: ChunkWay) -> Delta:
    """How pcodec takes differences of ``numbers``, at a quick level."""
    import numpy as np
    from pcodec.wrapped import FileCompressor

    config, numbers = config_of(_DELTA_LEVEL, way), np.ascontiguousarray(numbers)
    meta = FileCompressor().chunk_compressor(numbers, config).write_meta()
    read = Meta.read(meta, 8 * numbers.itemsize)
    found = AUTO if read is None else read.delta
    return NO_OP if _better_without(numbers, way, found) else found


def _better_without(numbers: "NDArray[Any]", way: ChunkWay, delta: Delta) -> bool:
    """Whether ``delta``, to the one before, leaves more than none, as often of rows less rows."""
    if delta[0] != _ONE_BEFORE[0]:
        return False
    piece = _middle(numbers, _PIECE[1]).view(numbers.dtype)
    none, left = (_left(piece, way._replace(delta=each)) for each in (NO_OP, delta))
    return none < _CLEARLY_LESS * left


def _recurs(bits: "NDArray[Any]") -> bool:
    """Whether fewer than about half of the unsigned numbers of a piece differ from all others."""
    import numpy as np

    width, slots = 8 * bits.itemsize, len(bits).bit_length() - 1
    mixed = bits * bits.dtype.type(_MIX >> 64 - width)
    taken = np.bincount((mixed >> bits.dtype.type(width - slots)).astype(np.intp))
    return bool(np.count_nonzero(taken) < _TAKEN * len(bits))


def _stand_together(bits: "NDArray[Any]") -> bool:
    """Whether unsigned numbers differ least from those a few before, not from the one before."""
    bits_of = [_bits_of_differences(bits, lag) for lag in range(1, _TOGETHER + 1)]
    return min(bits_of[1:]) < bits_of[0] - _CLEARLY


def _bits_of_differences(bits: "NDArray[Any]", lag: int) -> float:
    import numpy as np

    less = (bits[lag:] - bits[:-lag]).view(f"i{bits.itemsize}").astype(np.float64)
    # The exponent of a float counts the bits; of -1 and 1 as many as of 0.
    return float(((less.view("u8") >> 52 & 0x7FF).clip(1023)).mean())
