"""Zstandard, and the frame of raw blocks that stands for a stored block."""

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from serialpack.codecs.base import DIFFERENCES, Codec, check_ratio, check_size
from serialpack.errors import CodecError
from serialpack.stages.stage import Buffer, dialled
from serialpack.text import number_of

_MAGIC = b"\x28\xb5\x2f\xfd"
_UNKNOWN_SIZE = 2**64 - 1

#: The largest window that is read: what the zstd program reads without being asked. A block of
#: 64 MiB at level 22 needs no more than its own size.
_WINDOW_LIMIT = 128 << 20

#: Block_Maximum_Size of RFC 8878. A block takes 4 bytes at least, which gives the ratio.
_BLOCK = 128 << 10
_MOST = _BLOCK // 4

#: What ``decompress_pieces`` gives at a time. Larger pieces are memory that malloc returns to the
#: system and asks for again: 1100 page faults for 3 MB, which took a fifth of the time.
_PIECE = _BLOCK

#: What every frame says of itself.
_FRAME: dict[str, Any] = {
    "write_checksum": True,
    "write_content_size": True,
    "write_dict_id": False,
}

#: Level 3 for large blocks of text records, whose keys and separators repeat at length: one table
#: of matches of 7 bytes instead of two (strategy fast) finds nearly all of them. Over full blocks
#: of contacts, logs, CSV and JSON, beside libzstd's own level 3: 0.80 of the time to compress and
#: 0.96 to decompress, 0.994 of the size (geometric means). Records whose values are prose or
#: source code grow by 2 to 5 %: a sample tells. Not for anything else: programs grow by 7 %. Nor
#: for what is much smaller than a block: it takes no time to speak of, and citm_catalog.json,
#: which shrinks 90-fold, would be 7 % larger.
#: The window stays at 2 MiB: one of 4 MiB saves another 0.7 %, and decompresses 3 % slower.
_LARGE_RECORDS = 3 << 20
_TUNED_RECORDS = {3: {"strategy": 1, "min_match": 7, "hash_log": 17}}

#: The sample: so many bytes in one piece, as matches lie some way apart. It may be larger by so
#: much, which full blocks, in which both find more, are by about a third less.
_SAMPLE = 1 << 20
_LARGER = 1.0125


#: From this level on the window covers all of a larger piece of data: levels up to 16 have windows
#: of 2 and 4 MiB, blocks are of 8 and 16. Archives of eight trees at level 12 were 0.93 to 1.00 of
#: what they are without, in less time, as what is found is not gone through again.
_FAR_LEVEL, _FAR, _FAR_WINDOW = 5, 2 << 20, 26

#: In larger pieces of data, copies are looked for apart from all else, of so many bytes at least:
#: what a level remembers of places so far off is overwritten. Two versions of a file of 28 MiB at
#: level 12: 0.50 of what they are without; 16 to 18 MiB of texts: 1.0004, in 1.03 to 1.2 of the
#: time. Shorter copies take the place of better matches (1.012 by those of 64 bytes).
_COPIES, _COPY = 16 << 20, 512

#: From this level on differences of numbers are taken by strategy btopt, with all else as the level
#: has it: of 80 such in 60 arrays it leaves 0.984 to 1.012 of what btultra2 does, in the mean
#: 1.0004, in 0.06 to 0.9 of the time, in the mean 0.35. Where nearly all is zeros it may leave a
#: tenth more.
_DIFFERENCES_LEVEL, _TUNED_DIFFERENCES = 19, {"strategy": 7}

#: Up to so many bytes are little data: what they need is small too, and is kept.
_LITTLE = 64 << 10


#: The level that 0 stands for.
_DEFAULT_LEVEL = 3

#: What a dictionary begins with.
_DICTIONARY_MAGIC = b"\x37\xa4\x30\xec"

#: From this ID on they are anybody's (RFC 8878, 5), as many as two bytes of a frame name, in the
#: place of the four that libzstd's own IDs take. Containers know a dictionary by its hash.
_PRIVATE_ID = 1 << 15

#: So many sets of what little data needs does a thread keep.
_KEPT = 8


class _Coders(NamedTuple):
    """A compressor of a level, and a decompressor; both with a dictionary, or without."""

    compressor: Any
    decompressor: Any


class _ThreadOwn(threading.local):
    """What a thread has: by level and dictionary."""

    def __init__(self) -> None:
        self.small: dict[tuple[int, bytes], _Coders] = {}


_thread = _ThreadOwn()


class Zstd(Codec):
    """Data format: one Zstandard frame (RFC 8878) with content size and checksum; of a dictionary,
    where it is given one, the frame names the ID."""

    library = "zstandard"
    params = (dialled("level", -7, 22, (1, 2, 3, 5, 8, 12, 15, 19, 22)),)
    levels = (":1", ":3", ":9", ":19")
    about = "fast and small; any zstd tool reads it"
    bound = (
        "The frame must state its content size, equal to the size promised and possible for its "
        "length, a checksum, no other dictionary than it was given and a window of at most 128 MiB;"
        " then libzstd writes into a buffer of that size."
    )
    takes_dictionary = True

    @classmethod
    def looks_far(cls, values: tuple[int, ...]) -> bool:
        return values[0] >= 3  # whose window is of 2 MiB

    def __init__(self, name: str, values: tuple[int, ...] = ()) -> None:
        super().__init__(name, values)
        import zstandard

        self._zstd = zstandard
        self._records = self._differences = False
        self._dictionary = b""

    # One of each for this instance, hence for one thread: sharing them gives false corruption.
    # They are made when they are needed, each takes up to 0.1 ms.

    @cached_property
    def _decompressor(self) -> Any:
        return self._made.decompressor

    @cached_property
    def _compressor(self) -> Any:
        return self._made.compressor

    @cached_property
    def _made(self) -> _Coders:
        return self._make()

    def _make(self) -> _Coders:
        """A compressor and a decompressor; a dictionary is looked through for both, once."""
        level, frame = self.values[0], _FRAME
        given: dict[str, Any] = {}
        if self._dictionary:
            dictionary = self._zstd.ZstdCompressionDict(
                self._dictionary, dict_type=self._zstd.DICT_TYPE_FULLDICT
            )
            # All else of the library takes 0 as the default.
            dictionary.precompute_compress(level=level or _DEFAULT_LEVEL)
            frame, given = {**_FRAME, "write_dict_id": True}, {"dict_data": dictionary}
        return _Coders(
            self._zstd.ZstdCompressor(level=level, **frame, **given),
            self._zstd.ZstdDecompressor(max_window_size=_WINDOW_LIMIT, **given),
        )

    def use_dictionary(self, dictionary: bytes) -> None:
        self._dictionary = dictionary
        try:
            if dictionary_id(dictionary) == 0:
                raise CodecError("the dictionary has no ID")
            self._small  # noqa: B018 (it is made, which looks through the dictionary)
        except (self._zstd.ZstdError, ValueError) as error:
            raise CodecError(f"it is no sound dictionary of zstd ({error})") from None

    @property
    def _small(self) -> _Coders:
        """What this thread's instances have in common for little data, which is done before the
        next begins: making it takes longer than using it."""
        key = (self.values[0], self._dictionary)
        if (found := _thread.small.get(key)) is None:
            if len(_thread.small) >= _KEPT:
                _thread.small.clear()
            found = _thread.small[key] = self._make()
        return found

    @cached_property
    def _of_records(self) -> Any:
        """The compressor for large blocks of records; None where there is none of its own."""
        tuned = _TUNED_RECORDS.get(self.values[0])
        if tuned is None:
            return None
        parameters = self._zstd.ZstdCompressionParameters.from_level(
            self.values[0], source_size=4 << 20, **_FRAME, **tuned
        )
        return self._zstd.ZstdCompressor(compression_params=parameters)

    @cached_property
    def _of_far(self) -> Any:
        """The compressor for data that is larger than the windows of most levels."""
        return self._far_compressor()

    @cached_property
    def _of_copies(self) -> Any:
        """The compressor for data in which copies may be too far apart for a level to find."""
        return self._far_compressor(enable_ldm=True, ldm_min_match=_COPY)

    def _far_compressor(self, **how: Any) -> Any:
        if self.values[0] < _FAR_LEVEL or self._dictionary:
            return self._compressor
        return far_compressor(self.values[0], **_FRAME, **how)

    @property
    def heeds_differences(self) -> bool:
        return self.values[0] >= _DIFFERENCES_LEVEL and not self._dictionary

    def begins(self, *, source: bool, learned: object = None) -> None:  # noqa: ARG002
        self._differences = self.heeds_differences and learned == DIFFERENCES

    def _of_differences(self, size: int) -> Any:
        """The compressor for so many bytes of differences."""
        how = {**_FRAME, **_TUNED_DIFFERENCES}
        if size > _FAR:
            return far_compressor(self.values[0], **how)
        parameters = self._zstd.ZstdCompressionParameters
        found = parameters.from_level(self.values[0], source_size=size, **how)
        return self._zstd.ZstdCompressor(compression_params=found)

    def quickly(self, data: Buffer, level: int) -> bytes:
        """``data`` at a low ``level``, but with copies found as far off as by this codec: that
        takes next to nothing more."""
        if len(data) > _FAR and self.values[0] >= _FAR_LEVEL:
            compressor = far_compressor(level, enable_ldm=True)
        else:
            compressor = self._zstd.ZstdCompressor(level=level)
        stored: bytes = compressor.compress(data)
        return stored

    def gains_on_records(self, block: Buffer) -> bool:
        if len(block) < _LARGE_RECORDS or self._of_records is None:
            return False
        start = (len(block) - _SAMPLE) // 2
        sample = memoryview(block)[start : start + _SAMPLE]
        own = self._compressor.compress(sample)
        return len(self._of_records.compress(sample)) <= _LARGER * len(own)

    def for_records(self) -> None:
        self._records = True

    def _compress(self, data: Buffer) -> bytes:
        if self._differences:
            compressor = self._of_differences(len(data))
        elif len(data) <= _LITTLE:
            compressor = self._small.compressor
        else:
            tuned = self._records and len(data) >= _LARGE_RECORDS and self._of_records is not None
            compressor = self._of_records if tuned else self._compressor
            if len(data) > _FAR and not tuned:
                compressor = self._of_copies if len(data) > _COPIES else self._of_far
        stored: bytes = compressor.compress(data)
        return stored

    def _decompress(self, stored: Buffer, size: int) -> bytes:
        self._check_header(stored, size)
        data = self._decode(stored, size)
        if len(data) != size:
            raise CodecError(f"does not restore to the {number_of(size, 'byte')} promised")
        return data

    def _decompress_pieces(self, stored: Buffer, size: int) -> Iterator[bytes]:
        self._check_header(stored, size)
        reader = self._decompressor.stream_reader(stored)
        while size:
            piece = reader.read(min(size, _PIECE))
            if not piece:
                raise CodecError("ends before it restores to what it promises")
            size -= len(piece)
            yield piece

    def _check_header(self, stored: Buffer, size: int) -> None:
        if bytes(stored[:4]) != _MAGIC:
            raise CodecError("is not a zstd frame")
        frame = self._zstd.get_frame_parameters(stored)
        if frame.content_size == _UNKNOWN_SIZE:
            raise CodecError("does not state its content size")
        check_size(frame.content_size, size)
        check_ratio(len(stored), size, _MOST)
        if frame.window_size > _WINDOW_LIMIT:
            raise CodecError(f"asks for a window of {number_of(frame.window_size, 'byte')}")
        if frame.dict_id and frame.dict_id != dictionary_id(self._dictionary):
            raise CodecError(f"asks for dictionary {frame.dict_id}")
        if not frame.has_checksum:
            raise CodecError("has no checksum")

    def _decode(self, stored: Buffer, size: int) -> bytes:
        if size:
            little = max(size, len(stored)) <= _LITTLE
            decompressor = self._small.decompressor if little else self._decompressor
            restored: bytes = decompressor.decompress(stored, allow_extra_data=False)
            return restored
        # decompress() returns b"" for content size 0 without a look at the rest. The length
        # keeps what a false frame could write here to a few RLE blocks.
        if len(stored) > 32:
            raise CodecError("is too long for an empty frame")
        decoder = self._decompressor.decompressobj()
        data = decoder.decompress(stored)
        if not decoder.eof or decoder.unused_data:
            raise CodecError("does not end where its frame ends")
        return cast(bytes, data)


def far_compressor(level: int, **how: Any) -> Any:
    """A compressor of ``level`` whose window is as large as any block."""
    import zstandard

    window = max(_FAR_WINDOW, zstandard.ZstdCompressionParameters.from_level(level).window_log)
    parameters = zstandard.ZstdCompressionParameters.from_level(level, window_log=window, **how)
    return zstandard.ZstdCompressor(compression_params=parameters)


def compressor_for(level: int, size: int) -> Any:
    """A compressor of ``level`` for ``size`` bytes: its window covers all of them, where blocks
    under the codec have such a one."""
    import zstandard

    far = size > _FAR and level >= _FAR_LEVEL
    return far_compressor(level) if far else zstandard.ZstdCompressor(level=level)


def dictionary_id(dictionary: Buffer) -> int:
    """The ID of a dictionary (RFC 8878, 5), by which frames name it; 0 for what is none."""
    whole = len(dictionary) > 8 and bytes(dictionary[:4]) == _DICTIONARY_MAGIC
    return int.from_bytes(dictionary[4:8], "little") if whole else 0


def train(samples: Sequence[Buffer], size: int, level: int) -> bytes:
    """A dictionary of up to ``size`` bytes for many pieces of data like ``samples``.

    The same samples give the same dictionary. CodecError where they are too few or too small.

    It is made of segments of up to half a kilobyte, which are chosen in one pass: over pieces not
    trained on as good as those of the lengths that libzstd would look for in many (records of two
    real NDJSON files: 0.98 and 1.005 of its size), and better over the samples themselves. Beside
    it, over the other half of 18 sets of small files, segments of 16 to 2,048 bytes make packed
    sizes of 1.03 to 0.995, dictionaries of 4 to 64 KiB the same, libzstd's search 1.01.
    """
    import zstandard

    try:
        found = zstandard.train_dictionary(size, [*samples], k=512, d=8, level=level)
    except zstandard.ZstdError:
        raise CodecError("they are too few, or too small") from None
    data = bytearray(found.as_bytes())
    number = _PRIVATE_ID + dictionary_id(data) % _PRIVATE_ID
    data[4:8] = number.to_bytes(4, "little")
    return bytes(data)


def stored_frame(data: Buffer) -> bytes:
    """A zstd frame of raw blocks that holds ``data`` (RFC 8878, 3.1.1), with its checksum.

    13 bytes around data shorter than 256 bytes, else 14 bytes (18 from 4 GiB) and 3 for each
    128 KiB. The window is 128 KiB, so a decoder with any limit on it reads the frame.
    """
    import xxhash

    view = memoryview(data)
    size = len(view)
    # Frame_Header_Descriptor: width of the content size, Single_Segment (no window descriptor,
    # and the only one that allows one byte for the size), Content_Checksum.
    if size < 256:
        header = b"\x24" + size.to_bytes(1, "little")
    elif size < 1 << 32:
        header = b"\x84\x38" + size.to_bytes(4, "little")
    else:
        header = b"\xc4\x38" + size.to_bytes(8, "little")
    parts: list[Buffer] = [_MAGIC, header]
    for start in range(0, max(size, 1), _BLOCK):
        block = view[start : start + _BLOCK]
        last = start + _BLOCK >= size
        parts.append((len(block) << 3 | last).to_bytes(3, "little"))
        parts.append(block)
    parts.append((xxhash.xxh64_intdigest(view) & 0xFFFFFFFF).to_bytes(4, "little"))
    return b"".join(parts)
