"""pcodec: numbers by the bins that their bits fall into."""

from typing import TYPE_CHECKING, Any, NamedTuple

from serialpack.binary import decompress_numbers, read_varint, varint
from serialpack.codecs.base import Codec, check_size
from serialpack.errors import CodecError
from serialpack.stages.stage import Buffer, Param, dialled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Types of numbers, spelled as NumPy does: unsigned, signed, float; and bytes.
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")

#: So many bytes may stand before the numbers, and so many numbers are in a chunk, as in pcodec's
#: own (``pcodec.DEFAULT_MAX_PAGE_N``).
MOST_START, _CHUNK = 1 << 16, 1 << 18

#: From this level on all ways are tried, at a quick level. More chunks suit numbers that change
#: their ways from one to the next, fewer those that are all alike.
_THOROUGH, _QUICK, _CHUNKS = 10, 8, (1 << 16, 1 << 20)

#: Numbers of few values, fewer than so many of so many, may be smaller by a list of those; which a
#: part of twice so many tells.
_BY_VALUE, _FEW, _LOOKED_AT, _PART, _GAIN = "try_dict", 1 << 10, 1 << 12, 1 << 15, 0.1


class Pcodec(Codec):
    """Data format: the restored size and the length of what follows, each in LEB128; ``n = size //
    k`` numbers of ``k`` bytes, little-endian, in pcodec's standalone format (nothing where ``n`` is
    0); and the ``size % k`` bytes that are left, as they are.

    The type is the first of ``TYPES``, bytes, where it is not set. Floats come back bit for bit,
    NaN too. With a start, as many bytes become a chunk of their own: the header of an array, which
    spoils the bins of its numbers. (Loncaric, Jeppesen, Zinberg: Pcodec, 2025.)
    """

    library = "pcodec"
    params = (
        dialled("level", 0, 12, (4, 6, 9, 9, 9, 9, 10, 10, 12)),
        Param("type", 1, len(TYPES), 0, mark="@", words=TYPES),
        Param("start", 1, MOST_START, 0, mark="/"),
    )
    levels = (":4", "")
    about = "numbers of one type; floats and integers that no text compressor shrinks"
    bound = "The size stored is compared first; the library writes into an array of that size."

    @property
    def _type(self) -> "np.dtype[Any]":
        import numpy as np

        return np.dtype("<" + TYPES[max(self.values[1], 1) - 1])

    def _compress(self, data: Buffer) -> bytes:
        import numpy as np

        kind = self._type
        n = len(data) // kind.itemsize
        # The library takes numbers only where a processor may read them at once.
        numbers = np.require(np.frombuffer(data, kind, n), requirements="A")
        before = self.values[2] // kind.itemsize
        stream = _smallest(numbers, before if before < n else 0, self.values[0]) if n else b""
        rest = bytes(data[n * kind.itemsize :])
        return b"".join((varint(len(data)), varint(len(stream)), stream, rest))

    def _decompress(self, stored: Buffer, size: int) -> Buffer:
        import numpy as np

        kind = self._type
        n, rest = divmod(size, kind.itemsize)
        found, at = read_varint(stored, 0, len(stored))
        check_size(found, size)
        length, start = read_varint(stored, at, len(stored))
        if len(stored) != start + length + rest or bool(n) != bool(length):
            raise CodecError(f"does not restore to the {size} bytes promised")
        out = np.empty(size, np.uint8)
        if n:
            numbers = out[: size - rest].view(kind)
            decompress_numbers(stored[start : start + length], numbers)
        out[size - rest :] = np.frombuffer(stored, np.uint8, rest, start + length)
        return out.data


class _Way(NamedTuple):
    """How numbers are looked at: by the names of pcodec's ``ModeSpec`` and ``DeltaSpec``.

    ``aside``: so many more of the first are no part of the chunks.
    """

    chunk: int = _CHUNK
    aside: int = 0
    mode: str = "auto"
    delta: str = "auto"


def _smallest(numbers: "NDArray[Any]", before: int, level: int) -> bytes:
    """The stream of ``numbers``, of which those ``before`` are a chunk of their own."""
    if level < _THOROUGH or len(numbers) <= min(_CHUNKS):
        return _stream(numbers, before, level, _quick_way(numbers, level))
    best = _Way()
    found = {best: _stream(numbers, before, _QUICK, best)}
    changes: list[dict[str, Any]] = [{"chunk": chunk} for chunk in _CHUNKS]
    changes += [{"mode": _BY_VALUE}] if _is_few(numbers) else []
    # Of what floats are multiples it sees in some, which it draws by how many there are: of one in
    # three arrays of such it misses that.
    changes += [{"aside": 1}] if numbers.dtype.kind == "f" else []
    for change in (*changes, {"delta": "try_lookback"}):
        way = best._replace(**change)
        found[way] = _stream(numbers, before, _QUICK, way)
        best = min(found, key=lambda way: len(found[way]))
    # At a higher level it may miss what the numbers have in common.
    return min(found[best], _stream(numbers, before, level, best), key=len)


def _quick_way(numbers: "NDArray[Any]", level: int) -> _Way:
    """By value only where a part of the numbers is much smaller so: it takes twice the time."""
    middle = len(numbers) // 2
    part = numbers[max(middle - _PART, 0) : middle + _PART]
    usual, listed = _Way(), _Way(mode=_BY_VALUE)
    if not _is_few(numbers):
        return usual
    sizes = [len(_stream(part, 0, level, way)) for way in (usual, listed)]
    return listed if sizes[1] < (1 - _GAIN) * sizes[0] else usual


def _is_few(numbers: "NDArray[Any]") -> bool:
    """Whether the numbers seem to have few values. pcodec does not look for that by itself."""
    import numpy as np
    from pcodec import ModeSpec

    step = max(len(numbers) // _LOOKED_AT, 1)
    return hasattr(ModeSpec, _BY_VALUE) and len(np.unique(numbers[::step])) < _FEW


def _stream(numbers: "NDArray[Any]", before: int, level: int, way: _Way) -> bytes:
    from pcodec import ChunkConfig, DeltaSpec, ModeSpec, standalone

    config = ChunkConfig(
        level,
        mode_spec=getattr(ModeSpec, way.mode)(),
        delta_spec=getattr(DeltaSpec, way.delta)(),
        paging_spec=_pages(before + way.aside, len(numbers), way.chunk),
        enable_8_bit=True,
    )
    stream: bytes = standalone.simple_compress(numbers, config)
    return stream


def _pages(before: int, numbers: int, most: int) -> Any:
    """A chunk of the numbers ``before``, if any, then even ones, as pcodec itself makes them."""
    from pcodec import PagingSpec

    left = numbers - before
    count = max(-(-left // most), 1)
    even = [left // count + (n < left % count) for n in range(count)]
    return PagingSpec.exact_page_sizes([before, *even] if before else even)
