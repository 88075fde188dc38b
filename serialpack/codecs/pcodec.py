"""pcodec: numbers by the bins that their bits fall into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serialpack.binary import decompress_numbers, read_varint, varint
from serialpack.codecs.base import Codec, check_size
from serialpack.errors import CodecError
from serialpack.stages.stage import Buffer, Param, dialled

if TYPE_CHECKING:
    import numpy as np

#: Types of numbers, spelled as NumPy does: unsigned, signed, float; and bytes.
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")

#: So many bytes may stand before the numbers, and so many numbers are in a chunk, as in pcodec's
#: own (``pcodec.DEFAULT_MAX_PAGE_N``).
MOST_START, _CHUNK = 1 << 16, 1 << 18

#: From this level on other chunks are tried, at a quick level: more suit numbers that change their
#: ways from one to the next, fewer those that are all alike.
_THOROUGH, _QUICK, _CHUNKS = 10, 6, (1 << 16, 1 << 18, 1 << 20)


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
    def _type(self) -> np.dtype[Any]:
        import numpy as np

        return np.dtype("<" + TYPES[max(self.values[1], 1) - 1])

    def compress(self, data: Buffer) -> bytes:
        import numpy as np
        from pcodec import ChunkConfig, standalone

        kind = self._type
        n = len(data) // kind.itemsize
        # The library takes numbers only where a processor may read them at once.
        numbers = np.require(np.frombuffer(data, kind, n), requirements="A")
        before = self.values[2] // kind.itemsize

        def chunked(level: int, most: int) -> bytes:
            pages = _pages(before if before < n else 0, n, most)
            config = ChunkConfig(level, paging_spec=pages, enable_8_bit=True)
            stream: bytes = standalone.simple_compress(numbers, config)
            return stream

        chunk = _CHUNK
        if self.values[0] >= _THOROUGH and n > min(_CHUNKS):
            chunk = min(_CHUNKS, key=lambda most: len(chunked(_QUICK, most)))
        stream = chunked(self.values[0], chunk) if n else b""
        rest = bytes(data[n * kind.itemsize :])
        return b"".join((varint(len(data)), varint(len(stream)), stream, rest))

    def decompress(self, stored: Buffer, size: int) -> Buffer:
        import numpy as np

        kind = self._type
        n, rest = divmod(size, kind.itemsize)
        try:
            found, at = read_varint(stored, 0, len(stored))
            check_size(found, size)
            length, start = read_varint(stored, at, len(stored))
            if len(stored) != start + length + rest or bool(n) != bool(length):
                raise CodecError(f"does not restore to the {size} bytes promised")
            out = np.empty(size, np.uint8)
            if n:
                numbers = out[: size - rest].view(kind)
                decompress_numbers(stored[start : start + length], numbers)
        except ValueError as error:
            raise CodecError(f"pcodec cannot restore {size} bytes from it: {error}") from None
        out[size - rest :] = np.frombuffer(stored, np.uint8, rest, start + length)
        return out.data


def _pages(before: int, numbers: int, most: int) -> Any:
    """A chunk of the numbers ``before``, if any, then even ones, as pcodec itself makes them."""
    from pcodec import PagingSpec

    left = numbers - before
    count = max(-(-left // most), 1)
    even = [left // count + (n < left % count) for n in range(count)]
    return PagingSpec.exact_page_sizes([before, *even] if before else even)
