"""Values as they are stored: serialized, compressed, and with a checksum.

A stored value consists of, in this order:

- the size of the serialized value in bytes, as LEB128 (7 bits in each byte, the lowest first, the
  highest bit set in all bytes but the last); 0: the serialized value follows uncompressed
- what filters and codec made of the serialized value. If that is zstd alone: a frame without magic
  number, checksum and size, made with the store's dictionary where it has one
- the low 32 bits of XXH3-64 over the key and all of the above, the lowest byte first
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from xxhash import xxh3_64_digest

from serialpack.codecs.base import check_ratio
from serialpack.errors import CodecError, DamagedError, RefusedError
from serialpack.formats import FORMATS
from serialpack.leb128 import varint
from serialpack.pipeline.parts import not_given_back
from serialpack.pipeline.squeeze import Squeeze
from serialpack.pipeline.unpack import check_trust
from serialpack.serializers import reader
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.serializers.one_object import deserialized, of_values
from serialpack.stages.stage import MAX_BLOCK, Buffer
from serialpack.stores.header import StoreHeader
from serialpack.stores.keys import shown_key
from serialpack.text import number_of

_CHECK = 4

#: The most bytes that zstd can restore from one stored byte: a block (RFC 8878) restores to at most
#: 128 KiB, and takes at least 4 bytes.
_MOST_OF_ZSTD = (128 << 10) // 4


class ValueCoder:
    """Turns serialized values into stored ones and back, as the header of the store says."""

    def __init__(self, header: StoreHeader, *, trust: bool = False) -> None:
        """RefusedError for a serializer that can run code which is in a value, unless ``trust``."""
        chain = header.chain
        check_trust(chain, trust=trust)
        self.chain = chain
        self.serializer = of_values(reader(*chain.serializer))
        self.serializer.configure(header.settings)
        alone = chain.codec.name == "zstd" and not chain.filters
        level = chain.codec.values[0] if alone else 0
        self._codec = _SmallZstd(level, header.dictionary) if alone else Squeeze(chain)

    def pack(
        self, keys: Sequence[bytes], values: Sequence[Buffer], *, verify: bool = True
    ) -> list[bytes]:
        """The serialized ``values`` of ``keys`` as they are to be stored. ``verify``: each is
        restored and compared. RefusedError for one that is too large."""
        payloads = values if self.chain.plain else [*map(self._codec.forward, values)]
        backward = self._codec.backward
        stored: list[bytes] = []
        try:
            for key, value, payload in zip(keys, values, payloads, strict=True):
                size = len(value)
                if size > MAX_BLOCK:
                    raise RefusedError(
                        f"the value of the key {shown_key(key)} has more than {MAX_BLOCK >> 20} MiB"
                    )
                if len(payload) + 1 < size:
                    if verify and backward(payload, size) != value:
                        raise not_given_back(self.chain, "other bytes came back")
                    body = _leb128(size) + payload
                else:
                    body = b"\0" + value
                stored.append(body + _check(key + body))
        except CodecError as error:
            raise not_given_back(self.chain, str(error)) from None
        return stored

    def unpack(self, key: bytes, stored: bytes) -> bytes:
        """The serialized value that was stored as ``stored`` under ``key``; DamagedError, which
        names the key."""
        body = stored[:-_CHECK]
        if _check(key + body) != stored[-_CHECK:]:
            raise _damaged(key, "its checksum does not match")
        size, start = size_of(body)
        if not size:
            return body[start:]
        try:
            value = self._codec.backward(body[start:], size)
        except CodecError as error:
            raise _damaged(key, f"it {error}") from None
        if len(value) != size:
            raise _damaged(key, f"it restores to {number_of(len(value), 'byte')}, not {size:,}")
        return bytes(value)

    def load(self, key: bytes, stored: bytes) -> Any:
        """The Python object that was stored as ``stored`` under ``key``; DamagedError, which names
        the key."""
        data = self.unpack(key, stored)
        try:
            return deserialized(self.serializer, [data])
        except FAILURES as error:
            raise _damaged(key, f"{self.serializer.name} cannot read it: {error}") from None


def size_of(body: bytes) -> tuple[int, int]:
    """The size that a stored value begins with, and the place of the bytes behind it. Where no size
    stands there, a size is returned that is larger than any value may have.
    """
    size = shift = 0
    for at, byte in enumerate(body[:5], 1):
        size |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return min(size, MAX_BLOCK + 1), at
        shift += 7
    return MAX_BLOCK + 1, 0


def restored_size(stored: bytes) -> int:
    """How many bytes the serialized value of ``stored`` has."""
    size, start = size_of(stored)
    return size or len(stored) - _CHECK - start


_leb128 = lru_cache(1 << 12)(varint)  # the sizes of values are much alike


def _check(data: bytes) -> bytes:
    """The checksum of a key and what is stored for it, 4 bytes. (The digest has its lowest byte
    last.)"""
    return xxh3_64_digest(data)[: -_CHECK - 1 : -1]


def _damaged(key: bytes, why: str) -> DamagedError:
    return DamagedError(f"the value of the key {shown_key(key)} is damaged ({why})")


def cut_records(serializer: RecordSerializer, data: bytes) -> list[bytes]:
    """The bytes of each value, cut out of ``data``, which the ``serializer`` wrote for several
    values at once. UsageError where the values cannot be told apart.
    """
    # The serializer called objects writes MessagePack, with extensions.
    name = "msgpack" if serializer.name == "objects" else serializer.stored_format
    spans = FORMATS.get(name).record_spans(data, {}, first=False)
    return [data[start:end] for start, end in spans]


class _SmallZstd:
    """Makes and reads frames of zstd without magic number, checksum and size, which a stored value
    has by itself. It has the methods of ``pipeline.squeeze.Squeeze`` that are needed here."""

    def __init__(self, level: int, dictionary: bytes) -> None:
        import zstandard

        shared = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        if shared is not None:
            shared.precompute_compress(level=level)
        self._error = zstandard.ZstdError
        bare = zstandard.FORMAT_ZSTD1_MAGICLESS
        parameters = zstandard.ZstdCompressionParameters(
            compression_level=level,
            format=bare,
            write_checksum=False,
            write_content_size=False,
            write_dict_id=False,
        )
        self._compressor = zstandard.ZstdCompressor(compression_params=parameters, dict_data=shared)
        self._decompress = zstandard.ZstdDecompressor(dict_data=shared, format=bare).decompress
        self.forward = self._compressor.compress

    def backward(self, stored: Buffer, size: int) -> bytes:
        """What ``stored`` restores to; CodecError where that is more than ``size`` bytes, or it is
        damaged."""
        check_ratio(len(stored), size, _MOST_OF_ZSTD)
        try:
            # At most ``size`` bytes, one frame, nothing behind it. By position, as names take a
            # quarter of the time of a small value.
            return self._decompress(stored, size, False, False)
        except self._error as error:
            raise CodecError(f"cannot be decoded by zstd ({error})") from None


def trained(values: Sequence[Buffer], total: int, level: int) -> bytes:
    """A dictionary of zstd for values like ``values``, or an empty one where it would take more
    bytes than it saves. ``total``: about how many bytes all values that are to be stored have.

    It is trained on every second one of ``values``, and tried on the others.
    """
    import zstandard

    samples: list[Buffer] = [*values[::2]]
    others = values[1::2]
    size = sum(map(len, samples))
    if len(samples) < _LEAST_SAMPLES:
        return b""
    try:
        made = zstandard.train_dictionary(min(_LARGEST, max(size // 4, 256)), samples, **_COVER)
    except zstandard.ZstdError:  # the samples have nothing in common
        return b""
    dictionary: bytes = made.as_bytes()
    sizes = [
        sum(len(codec.forward(value)) for value in others)
        for codec in (_SmallZstd(level, b""), _SmallZstd(level, dictionary))
    ]
    share = max(total / max(sum(map(len, others)), 1), 1.0)
    return dictionary if (sizes[0] - sizes[1]) * share > len(dictionary) else b""


#: A dictionary is only made of so many samples or more.
_LEAST_SAMPLES = 8

#: The most bytes of a dictionary. A larger one (libzstd's own default is 110 KiB) saves little
#: more, as a small value uses little of it.
_LARGEST = 16 << 10

#: Parameters of the trainer (COVER): the length of segments, and of the pieces that are counted in
#: them. If they are not given, the trainer searches for them, which takes three times as long and
#: on contacts and phone books is no more than 1 % better.
_COVER = {"k": 200, "d": 6}
