"""How pcodec is to look at numbers, found on pieces of them."""

from typing import TYPE_CHECKING, Any

from serialpack.codecs.chunks import (
    AUTO,
    CONVOLVED,
    LOOKBACK,
    NO_OP,
    ChunkWay,
    Delta,
    Meta,
    config_of,
    foretelling_bits,
    stream_of,
)
from serialpack.values.multiples import unit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: From this level on all ways are tried, at a quick level.
THOROUGH, QUICK = 10, 8

#: At this level pcodec says the same of differences of so few numbers, or narrow ones, as at a
#: higher one; of more, of so many bytes at least, pieces tell.
_DELTA_LEVEL, _FEW, _FEW_NARROW, _WIDE = 5, 1 << 13, 1 << 16, 4

#: Differences to the one before are not taken where a piece is so much smaller without them.
_ONE_BEFORE, _CLEARLY_LESS = ("try_consecutive", 1), 0.99

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
_ORDER = 16

#: Each chunk is foretold in its own way, and a number that is unlike all others spoils its own.
_CHUNK_FORETOLD = 1 << 16

#: Multiples of a unit may take so much more of pieces, which say less of them than all.
_NO_LARGER = 1.005


def way_of(numbers: "NDArray[Any]", level: int) -> ChunkWay:
    """What floats are multiples of, where pieces of them are not larger so; and whether differences
    are to those some way back, where several stand together, or most have come before, and a piece
    is smaller so: pcodec, which looks at fewer, often takes those to the one before; or to what
    several before foretell, where there is time."""
    way, (least, most) = ChunkWay(), _PIECE
    if len(numbers) < least:
        return way
    if unit := unit_of(numbers) if numbers.dtype.kind == "f" else None:
        pieces, so = _from_all_over(numbers), way._replace(unit=unit)
        way = so if _left(pieces, so) <= _NO_LARGER * _left(pieces, way) else way
    bits = _middle(numbers, least)
    together = numbers.itemsize >= _WIDE and _stand_together(bits)
    if together or (numbers.itemsize >= _WIDE and _recurs(bits)):
        piece = _middle(numbers, most).view(numbers.dtype)
        # Few bins do not tell numbers from each other that come again in any order.
        telling = _DELTA_LEVEL if together else QUICK
        left = _left(piece, so := way._replace(delta=LOOKBACK), telling)
        smaller = left <= _left(piece, way, telling)
        # Of less than a bit of each all ways leave about as much.
        way = so if smaller and (together or left > len(piece) // 8) else way._replace(nearby=True)
    if level >= _FORETOLD and numbers.itemsize <= _NARROW:
        way = _foretold(numbers, way, _LESS if level < THOROUGH else _HARDLY_LESS)
    return way


def _foretold(numbers: "NDArray[Any]", way: ChunkWay, asked: float) -> ChunkWay:
    """``way``, but foretold from several before each, where pieces are left so much less so."""
    so = way._replace(delta=(CONVOLVED, _ORDER), chunk=_CHUNK_FORETOLD)
    pieces = _from_all_over(numbers)
    # What is said once of a chunk is a larger part of the few numbers of pieces.
    once = foretelling_bits(_ORDER) / 8 * (1 - len(pieces) / min(so.chunk, len(numbers)))
    return so if _left(pieces, so) - once <= asked * _left(pieces, way) else way


def as_learned(numbers: "NDArray[Any]", way: "ChunkWay | None", level: int) -> "ChunkWay | None":
    """The ``way`` of samples, where differences in the middle of ``numbers`` are as in these; but
    where many have come before, or several stand together, as in samples, all tell which
    differences. None where they are not, and where all ways are tried."""
    least, most = _PIECE
    if way is None or level >= THOROUGH or len(numbers) < least:
        return None
    auto = way._replace(delta=AUTO)
    if way.delta[0] == CONVOLVED:
        # Samples are smaller by what is asked: pieces of a block, which are fewer, need not be.
        found = _foretold(numbers, ChunkWay(), 1)
        return found if found.delta[0] == CONVOLVED else None
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
    places = _PLACES if len(numbers) >= _FEW_PIECES * least else _PLACES[1::2]
    starts = [int((len(numbers) - least) * share) for share in places]
    return np.concatenate([numbers[start : start + least] for start in starts])


def _middle(numbers: "NDArray[Any]", count: int) -> "NDArray[Any]":
    """So many numbers, or all, from the middle, as unsigned ones."""
    count = min(count, len(numbers))
    return numbers[(len(numbers) - count) // 2 :][:count].view(f"u{numbers.itemsize}")


def _left(numbers: "NDArray[Any]", way: ChunkWay, level: int = _DELTA_LEVEL) -> int:
    """How many bytes a quick level leaves."""
    return len(stream_of(numbers, 0, level, way))


def delta_of(numbers: "NDArray[Any]", way: ChunkWay) -> Delta:
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
        return NO_OP if better_without(numbers, way, _ONE_BEFORE) else AUTO
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
    return NO_OP if better_without(numbers, way, found) else found


def better_without(numbers: "NDArray[Any]", way: ChunkWay, delta: Delta) -> bool:
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
