"""A codec of numcodecs (and so of Zarr's format 2): each chunk is a container of its own."""

from __future__ import annotations

from typing import Any

from numcodecs.abc import Codec
from numcodecs.compat import ensure_ndarray_like, ndarray_copy

from serialpack.objects.dumping import dumps
from serialpack.objects.loading import loads


class SerialpackCodec(Codec):  # type: ignore[misc]
    """Chunks under a chain: by default bytes shuffled by item size, and Blosc's LZ4.

    ``chain``: what ``serialpack.dumps`` takes, of the serializer ``objects``. ``encode`` raises
    ValueRefusedError for an array of objects that only pickle holds, ``decode`` DamagedError for a
    chunk that is not whole, and both what ``dumps`` and ``loads`` raise else.

    >>> import numcodecs, numpy
    >>> codec = numcodecs.get_codec({"id": "serialpack"})
    >>> chunk = codec.encode(numpy.arange(10_000))
    >>> len(chunk) < 8_000, codec.decode(chunk)[:3]
    (True, array([0, 1, 2]))
    """

    codec_id = "serialpack"

    def __init__(self, chain: str | None = None) -> None:
        self.chain = chain

    def encode(self, buf: Any) -> bytes:
        array = ensure_ndarray_like(buf)
        size = min(array.dtype.itemsize or 1, 255)
        chain = self.chain or f"objects+shuffle:{size}+blosc-lz4"
        return dumps(array, chain)

    def decode(self, buf: Any, out: Any = None) -> Any:
        return ndarray_copy(loads(buf), out)
