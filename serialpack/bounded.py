"""Decompression with a bound: no more memory is taken than was promised. Streams of zlib, bzip2 and
LZMA, and numbers of pcodec.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from serialpack.leb128 import EndsEarly

if TYPE_CHECKING:
    from numpy.typing import NDArray

Bytes = bytes | bytearray | memoryview

#: In pcodec's chunks: the number of the mode with a dictionary, that of the delta encoding with a
#: window, and the most bits of a window's length that its own compressor writes.
_DICTIONARY, _LOOKBACK, _MOST_WINDOW = 4, 2, 15

#: How pcodec's standalone format begins, version included; how many bytes say the version of the
#: chunks; and how many the metadata of a chunk take at most, but for those that are very long.
_MAGIC, _FORMAT_VERSION, _METADATA = b"pco!\x03", 2, 4 << 10

_OTHERS = "it holds another number of values than promised"


class StreamDecoder(Protocol):
    """The decompressor objects of zlib, bz2 and lzma, as far as they agree."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: Bytes, max_length: int) -> bytes: ...


def decompress(decoder: StreamDecoder, stored: Bytes, most: int) -> bytes:
    """What ``stored`` decompresses to, up to one byte more than ``most``.

    The extra byte tells "exactly this long" from "longer" without decoding the rest. EndsEarly;
    errors of the library as they are.
    """
    data = decoder.decompress(stored, most + 1)
    if len(data) == most and not decoder.eof:
        data += decoder.decompress(b"", 1)
    if len(data) <= most and not decoder.eof:
        raise EndsEarly("it ends too early")
    return data


def decompress_numbers(stored: Bytes, array: NDArray[Any]) -> None:
    """Fill ``array`` from ``stored``, which is pcodec's standalone format.

    ValueError for anything but as many numbers of its type as it has room for.
    """
    try:
        _read_chunks(memoryview(stored), array)
    except IndexError:
        raise EndsEarly("it ends too early") from None
    except (RuntimeError, TypeError) as error:
        raise ValueError(str(error)) from None
    except BaseException as error:
        # A panic of the library's own language comes as an exception that is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError("it makes the library give up") from None


def _read_chunks(stored: memoryview, array: NDArray[Any]) -> None:
    """Fill ``array`` chunk by chunk: what each asks memory for is looked at before it gets it, as
    one that is refused ends the process (pcodec, docs/format.md, "Standalone Format")."""
    from pcodec.wrapped import FileDecompressor

    if bytes(stored[: len(_MAGIC)]) != _MAGIC:
        raise ValueError("it does not begin as pcodec's version 3 does")
    # Behind the magic and the type of all chunks: six bits that say how many bits the count of all
    # numbers has, and it.
    at = len(_MAGIC) + 1
    at += (6 + (stored[at] & 63) + 1 + 7) // 8
    file, size = FileDecompressor.new(bytes(stored[at : at + _FORMAT_VERSION]))
    at += size
    done, kind, end = 0, f"{array.dtype.kind}{8 * array.itemsize}", len(stored)
    while stored[at]:  # the type of a chunk
        count = 1 + int.from_bytes(stored[at + 1 : at + 4], "little")
        if count > len(array) - done:
            raise ValueError(_OTHERS)
        at += 4
        asked = _memory_asked(bytes(stored[at : at + 16]), 8 * array.itemsize)
        if asked is not None and asked[1] > len(array):
            raise ValueError(f"its {asked[0]} has more numbers than it holds")
        chunk, size = _enough(partial(file.chunk_decompressor, dtype=kind), stored[at:], _METADATA)
        at += size
        # Chunks take about as many bytes a number, and the library copies what it is given.
        about = end if count == len(array) else end * count // len(array) * 9 // 8 + _METADATA
        into = array[done : done + count]
        read = partial(chunk.read_page_into, page_n=count, dst=into)
        progress, size = _enough(read, stored[at:], about)
        if progress.n_processed != count or not progress.finished:
            raise ValueError(_OTHERS)
        at += size
        done += count
    if at != end - 1 or done != len(array):
        raise ValueError(_OTHERS)


def _enough(read: Callable[[bytes], tuple[Any, int]], data: memoryview, about: int) -> Any:
    """What ``read`` makes of the begin of ``data``, of ``about`` so many bytes or of all."""
    try:
        return read(bytes(data[:about]))
    except RuntimeError:
        if about >= len(data):
            raise
        return read(bytes(data))


def _memory_asked(meta: bytes, width: int) -> tuple[str, int] | None:
    """What a chunk whose metadata begin with ``meta`` asks memory for beside its own numbers, its
    dictionary or the window in which differences look back, and for how many numbers of ``width``
    bits. None where it asks for no more than any chunk may.

    pcodec, docs/format.md: "Wrapped Format Components".
    """
    bits = int.from_bytes(meta, "little")
    mode = bits & 15
    if mode == _DICTIONARY:
        return "dictionary", bits >> 4 & (1 << 25) - 1
    # The delta encoding, behind the parameters of the mode.
    delta = bits >> 4 + {1: width, 2: width, 3: 8}.get(mode, 0)
    window = 1 + (delta >> 4 & 31) if delta & 15 == _LOOKBACK else 0
    return ("window", 1 << window) if window > _MOST_WINDOW else None
