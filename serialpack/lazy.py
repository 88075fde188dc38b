"""Arrays in containers that are mapped, or of which only the blocks that a slice touches are read.

Enter at ``load_lazily``, as ``objects.load`` does. Those of a block in place are mapped, and not
verified; the others are ``LazyArray``: a block, or a part of one in place, is read, verified and
decoded whole, as ever, and the last one is kept.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from io import FileIO
from itertools import accumulate
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, cast
from weakref import finalize

from serialpack.container.reader import SNIFF, is_container, is_small
from serialpack.container.records import IN_PLACE
from serialpack.container.seek import BlockParts, find_members, read_block
from serialpack.errors import DamagedError, ModeError, SerialpackError, UsageError
from serialpack.files import Path, Source
from serialpack.formats import FORMATS
from serialpack.formats.arrays.header import MOST_HEADER, read_header
from serialpack.formats.arrays.rows import dtype_in
from serialpack.formats.python.buffers import frame_layout, is_framed
from serialpack.formats.python.pickle import load_beside
from serialpack.formats.shared.document import Malformed
from serialpack.pipeline.blocks import BlockUnpacker
from serialpack.pipeline.unpack import member_plan
from serialpack.pipeline.writing import keeps
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.arrays import type_of
from serialpack.serializers.base import FAILURES
from serialpack.serializers.objects import load_over
from serialpack.stages.stage import Buffer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    Array = NDArray[np.generic]

#: Of ``numpy.memmap``'s modes those that do not write into the file: its checksums would be wrong.
MODES = "r", "c"

#: An index of one axis: one place, or several.
_Places = int | range


def load_lazily(source: Path | IO[bytes], mode: str, *, trust: bool) -> list[Any]:
    """The object in ``source``, whose large arrays are mapped, or lazy; nothing where it has none.

    ``source``, which stays open then, is read from where it stood else. UsageError (a ValueError)
    for a pipe, and for a mode that is none of ``MODES``.
    """
    if mode not in MODES:
        hint = '"c" keeps in memory what is written to an array'
        raise ModeError(f"mmap_mode={mode!r}: a container is read, not written to", hint=hint)
    opened = Source(source)
    place = opened.file.tell() if opened.seekable() else 0
    found: list[Any] = []
    try:
        if not opened.seekable():
            raise ModeError("mmap_mode reads a file, not a pipe", hint="leave it out")
        if is_container(head := opened.peek(SNIFF)) and not is_small(head):
            found = _lazy_object(StoredBytes(opened, trust=trust), mode)
    except SerialpackError as error:
        error.path = error.path or opened.path
        raise
    finally:
        if not found and opened.owned:
            opened.close()
        elif not found and opened.file.seekable():
            opened.file.seek(place)
    return found


def _lazy_object(stored: StoredBytes, mode: str) -> list[Any]:
    mapped = stored.mapped_at is not None
    if mode != "r" and not mapped:
        return []  # what is decoded is memory of its own
    if stored.plan.format == "npy" and stored.is_source:
        return [_lazy_npy(stored)]
    named = stored.plan.chain.serializer.name
    if stored.plan.format != "object" or not is_framed(stored.read(0, 8)):
        return []

    def over(place: slice, descr: str, shape: list[int], fortran: bool, _: bool) -> Any:
        kind = type_of(descr, shape, place.stop - place.start)
        if not mapped:
            return LazyArray(stored, place.start, kind, tuple(shape), fortran=fortran)
        return stored.map(place.start, kind, tuple(shape), mode, "F" if fortran else "C")

    try:
        layout = frame_layout(stored.read, len(stored))
        if layout.end < len(stored):
            raise ValueError("a frame with more behind it")
        message = stored.read(layout.pickle.start, layout.pickle.stop)
        if named == "objects":
            return load_over(message, layout.buffers, over)
        if not mapped:
            return []
        places = layout.buffers
        return load_beside(
            message,
            [stored.map(place.start, "u1", (place.stop - place.start,), mode) for place in places],
        )
    except FAILURES as error:
        raise DamagedError(f"{named} cannot read it ({error})") from None


def _lazy_npy(stored: StoredBytes) -> LazyArray:
    try:
        header = read_header(bytes(stored.read(0, MOST_HEADER)))
        kind = dtype_in(header)
        if header.size + math.prod(header.shape) * kind.itemsize != len(stored):
            raise Malformed("its items are fewer or more than its shape has", header.size)
    except Malformed as error:
        raise DamagedError(f"its array cannot be read ({error})") from None
    return LazyArray(stored, header.size, kind, header.shape, fortran=header.fortran)


class StoredBytes:
    """The serialized bytes of a container of one member, in a file that can be sought.

    ``bytes_read``: how many bytes of blocks were read from the file so far. For any number of
    threads, one at a time. UsageError for several members.
    """

    def __init__(self, source: Source, *, trust: bool = False) -> None:
        members = find_members(source.file)
        if len(members) != 1:
            raise UsageError("holds several files one after another", hint="unpack it")
        (self._member,) = members
        self._source = source
        self.plan = member_plan(self._member.header, trust=trust)
        self._unpacker = BlockUnpacker(self.plan, serialized=True)
        self._offsets = self._member.offsets
        rows = self._member.index.rows
        sizes = [row.size if row.serialized is None else row.serialized for row in rows]
        #: Of a block in place its parts, each of which is read alone.
        self._parts: BlockParts | None = None
        if any(row.flags & IN_PLACE for row in rows):
            self._parts = BlockParts(source.file, self._member, 0, self._offsets[0])
            sizes = [part.restored for part in self._parts.block.parts]
        self._starts = [*accumulate(sizes, initial=0)]
        self._kept: tuple[int, Buffer] = (-1, b"")
        self._lock = Lock()
        if source.owned:  # nobody else closes it, as with a file that is mapped
            finalize(self, source.close)
        self.bytes_read = 0
        serializer = SERIALIZERS.cls(self.plan.chain.serializer.name)
        #: Whether they are the source's.
        self.is_source = keeps(serializer, FORMATS.get(self.plan.format))
        #: The most bytes of a block.
        self.block_size = max([1, *sizes])

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def mapped_at(self) -> int | None:
        """Where they begin in the file; None where they, or it, cannot be mapped."""
        # A file that decompresses another has the number of that one.
        plain = isinstance(getattr(self._source.file, "raw", self._source.file), FileIO)
        if self._parts is None or not plain:
            return None
        return self._offsets[1] - len(self)

    def map(
        self, start: int, dtype: Any, shape: tuple[int, ...], mode: str, order: Any = "C"
    ) -> Any:
        """The array that begins at byte ``start``, mapped; nothing of it is read or verified."""
        import numpy as np

        place = (self.mapped_at or 0) + start
        return np.memmap(cast(Any, self._source.file), dtype, cast(Any, mode), place, shape, order)

    def read(self, start: int, stop: int) -> Buffer:
        """The bytes from ``start`` up to but not including ``stop``; DamagedError."""
        with self._lock:
            pieces = list(self._pieces(start, min(stop, len(self))))
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def fill(self, start: int, target: memoryview) -> None:
        """Write the bytes from ``start`` on over ``target``, without one more copy; as ``read``."""
        with self._lock:
            for piece in self._pieces(start, start + len(target)):
                target[: len(piece)] = piece
                target = target[len(piece) :]

    def _pieces(self, start: int, stop: int) -> Iterator[Buffer]:
        number = max(bisect_right(self._starts, start) - 1, 0)
        while start < stop:
            begin, end = self._starts[number : number + 2]
            block = memoryview(self._block(number))
            yield block[start - begin : stop - begin]
            start, number = end, number + 1

    def _block(self, number: int) -> Buffer:
        if self._kept[0] != number and self._parts is not None:
            self._kept = number, self._parts.read(number)
            self.bytes_read += len(self._kept[1])
        elif self._kept[0] != number:
            start, end = self._offsets[number : number + 2]
            stored = read_block(self._source.file, self._member, number, start, end)
            self._kept = number, self._unpacker(stored).data
            self.bytes_read += end - start
        return self._kept[1]


class LazyArray:
    """An array of NumPy's in a container: indexed, it gives an array in memory.

    ``shape``, ``dtype``, ``ndim``, ``size`` (items) and ``nbytes`` are as an array's. ``chunks``:
    the shape of what is read at a time at least, so that ``dask.array.from_array`` takes it as it
    is. Slices, integers and ``...`` read only the blocks that they touch; other indexes, and
    ``numpy.asarray``, read all of it.

    >>> import numpy, serialpack
    >>> serialpack.dump(numpy.zeros((1000, 300)), "zeros.spk")
    >>> array = serialpack.load("zeros.spk", mmap_mode="r")
    >>> array.shape, array[10:12, ::100]
    ((1000, 300), array([[0., 0., 0.],
           [0., 0., 0.]]))
    """

    def __init__(
        self,
        stored: StoredBytes,
        start: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        *,
        fortran: bool = False,
    ) -> None:
        self._stored = stored
        self._start = start
        self.dtype = dtype
        self.shape = shape
        self._fortran = fortran
        # As it lies in the file: an array in Fortran order is the transpose of one in C order.
        self._lengths = shape[::-1] if fortran else shape
        self._strides = [
            dtype.itemsize * math.prod(self._lengths[axis + 1 :]) for axis in range(len(shape))
        ]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of the pieces in which it is stored, about."""
        found = []
        left = self._stored.block_size
        for length, stride in zip(self._lengths, self._strides, strict=True):
            found.append(max(min(length, left // max(stride, 1)), 1))
            left = min(left, stride)
        return tuple(found[::-1] if self._fortran else found)

    @property
    def bytes_read(self) -> int:
        """How many bytes of blocks were read from the file so far, for it and its neighbours."""
        return self._stored.bytes_read

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<LazyArray {self.shape} {self.dtype}>"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        import numpy as np

        return np.asarray(self[...], dtype)

    def __getitem__(self, key: Any) -> Any:
        import numpy as np

        index = _places(key if isinstance(key, tuple) else (key,), self.shape)
        if index is None:
            return np.asarray(self)[key]
        found = self._take(self._start, 0, index[::-1] if self._fortran else index)
        if self._fortran:
            found = found.T
        # One item is a scalar, as of an array in memory, but where dots ask for an array.
        dotted = any(item is Ellipsis for item in (key if isinstance(key, tuple) else (key,)))
        return found if found.shape or dotted else found.copy()[()]

    def _take(self, start: int, axis: int, index: list[_Places]) -> Array:
        """The items at ``index``, of the axes from ``axis`` on, of what begins at ``start``."""
        import numpy as np

        if axis == len(index):
            return self._read(start, ())
        places, stride = index[axis], self._strides[axis]
        if isinstance(places, int):
            return self._take(start + places * stride, axis + 1, index)
        inner = index[axis + 1 :]
        lengths = [len(places), *(len(each) for each in inner if not isinstance(each, int))]
        found: Array = np.empty(lengths, self.dtype)
        if not found.nbytes:
            return found
        if places.step == 1 and inner == [range(length) for length in self._lengths[axis + 1 :]]:
            self._stored.fill(start + places[0] * stride, found.reshape(-1).view(np.uint8).data)
            return found
        at_once = max(self._stored.block_size // (stride * abs(places.step)), 1)
        for first in range(0, len(places), at_once):
            some = places[first : first + at_once]
            if len(some) == 1:
                found[first] = self._take(start + some[0] * stride, axis + 1, index)
                continue
            low, high = min(some[0], some[-1]), max(some[0], some[-1]) + 1
            read = self._read(start + low * stride, (high - low, *self._lengths[axis + 1 :]))
            within = [range(some[0] - low, some[-1] - low + some.step, some.step), *inner]
            found[first : first + len(some)] = read[tuple(map(_index, within))]
        return found

    def _read(self, start: int, shape: tuple[int, ...]) -> Array:
        import numpy as np

        size = math.prod(shape) * self.dtype.itemsize
        found: Array = np.ndarray(shape, self.dtype, self._stored.read(start, start + size))
        return found


def _places(key: tuple[Any, ...], shape: tuple[int, ...]) -> list[_Places] | None:
    """The places of each axis; None for an index that is more than slices and integers.

    IndexError where there are none, as NumPy has it.
    """
    if any(item is not Ellipsis and not _is_plain(item) for item in key):
        return None
    dots = [number for number, item in enumerate(key) if item is Ellipsis]
    missing = len(shape) - len(key) + len(dots)
    if len(dots) > 1 or missing < 0:
        raise IndexError(f"too many indices for an array of {len(shape)} dimensions")
    at = dots[0] if dots else len(key)
    whole = [slice(None)] * missing
    items = [*key[:at], *whole, *key[at + 1 :]]
    return [
        _place(item, axis, length)
        for axis, (item, length) in enumerate(zip(items, shape, strict=True))
    ]


def _is_plain(item: Any) -> bool:
    return isinstance(item, slice) or (hasattr(item, "__index__") and not _is_mask(item))


def _is_mask(item: Any) -> bool:
    """Whether it is a boolean, or an array of items: these mean more to NumPy."""
    kind = getattr(getattr(item, "dtype", None), "kind", "")
    return isinstance(item, bool) or kind == "b" or getattr(item, "shape", ()) != ()


def _place(item: Any, axis: int, length: int) -> _Places:
    if isinstance(item, slice):
        return range(*item.indices(length))
    place: int = item.__index__()
    if not -length <= place < length:
        raise IndexError(f"index {place} is out of bounds for axis {axis} with size {length}")
    return place % length


def _index(places: _Places) -> Any:
    """What picks ``places`` of an axis of an array in memory."""
    if isinstance(places, int):
        return places
    stop: int | None = places.start + len(places) * places.step
    return slice(places.start, stop if stop is not None and stop >= 0 else None, places.step)
