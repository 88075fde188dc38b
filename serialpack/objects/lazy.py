"""Arrays in containers that are mapped, or of which only the blocks that a slice touches are read.

Enter at ``load_lazily``, as ``loading.load`` does. An array in a block that stands in place is
mapped, and not verified. Any other is a ``LazyArray``: each of its blocks that is touched (of one
in place: each part) is read, verified and decoded whole, as ever, and the last one is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from numpy.lib.mixins import NDArrayOperatorsMixin

from serialpack.container.reader import SNIFF, is_container, is_small
from serialpack.detection.detect import HEAD, detect
from serialpack.errors import DamagedError, RefusedError, SerialpackError, UsageError
from serialpack.files.source import File, Path, Source
from serialpack.formats import FORMATS
from serialpack.formats.arrays.places import Places, index_of, places_of, rows_in
from serialpack.formats.arrays.rows import ArrayFormat
from serialpack.formats.python.buffers import LARGE, frame_layout, is_framed
from serialpack.formats.python.pickle import load_beside
from serialpack.formats.shared.document import Malformed
from serialpack.objects.scaling import check_unscaled, scaled_as_wanted
from serialpack.pipeline.stored import StoredBytes
from serialpack.serializers.base import FAILURES
from serialpack.serializers.objects.arrays import type_of
from serialpack.serializers.objects.read import load_over

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    Array = NDArray[np.generic]

#: Of ``numpy.memmap``'s modes those that do not write into the file: its checksums would be wrong.
MODES = "r", "c"

#: Up to so many runs of neighbouring rows are read one by one; with more, all rows between the
#: first and the last one are read.
_MOST_RUNS = 4096


def load_lazily(source: Path | File, mode: str, *, trust: bool, scaled: bool | None) -> list[Any]:
    """The object in ``source``, in a list, with its large arrays mapped or lazy; nothing where it
    has none. ``scaled``: as of ``load``.

    ``source`` stays open where there is an object, and else is left where it stood. UsageError for
    a pipe, for a mode that is none of ``MODES``, and for numbers that are to be scaled.
    """
    check_unscaled(scaled=scaled)
    if mode not in MODES:
        hint = '"c" keeps in memory what is written to an array'
        raise UsageError(f"mmap_mode={mode!r}: a container is read, not written to", hint=hint)
    opened = Source(source)
    place = opened.file.tell() if opened.seekable() else 0
    found: list[Any] = []
    try:
        if not opened.seekable():
            raise UsageError("mmap_mode reads a file, not a pipe", hint="leave it out")
        if not is_container(head := opened.peek(SNIFF)):
            found = _mapped_file(opened, mode, scaled=scaled)
        elif not is_small(head):
            found = _lazy_object(StoredBytes(opened, trust=trust), mode, scaled=scaled)
    except SerialpackError as error:
        error.path = error.path or opened.path
        raise
    finally:
        if not found and opened.owned:
            opened.close()
        elif not found and opened.file.seekable():
            opened.file.seek(place)
    return found


def _lazy_object(stored: StoredBytes, mode: str, *, scaled: bool | None) -> list[Any]:
    mapped = stored.mapped_at is not None
    if mode != "r" and not mapped:
        return []  # what is decoded is memory of its own
    fmt = FORMATS.get(stored.plan.format)
    if isinstance(fmt, ArrayFormat) and stored.is_source:
        return [_lazy_file(fmt, stored, scaled=scaled)]
    named = stored.plan.chain.serializer.name
    if stored.plan.format != "object" or not is_framed(stored.read(0, 8)):
        return []

    def over(place: slice, descr: str, shape: list[int], fortran: bool, _: bool) -> Any:
        kind = type_of(descr, shape, place.stop - place.start)
        if not mapped:
            lazy = LazyArray(stored, place.start, kind, tuple(shape), fortran=fortran)
            # Of an array that would be in the message where there are few such, nobody asks a part.
            return lazy if lazy.nbytes >= LARGE else lazy[...]
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


def _mapped_file(source: Source, mode: str, *, scaled: bool | None) -> list[Any]:
    """The mapped array of a file of one array that is no container, in a list. Nothing where it is
    no such file, or not on this machine's disks: loading tells what it is."""
    import numpy as np

    fmt = FORMATS.get(detect(source.name, source.peek(HEAD)))
    if not isinstance(fmt, ArrayFormat) or source.here is None:
        return []
    try:
        size = source.size or 0
        header, kind = fmt.whole_header(lambda start, stop: source.peek(stop)[start:stop], size)
    except (Malformed, RefusedError):
        return []
    if size == header.size:  # no items: nothing can be mapped
        return []
    order: Any = "F" if header.fortran else "C"
    found: Any = np.memmap(source.here, kind, cast(Any, mode), header.size, header.shape, order)
    source.close()
    return [scaled_as_wanted(found, header.scale, scaled=scaled)]


def _lazy_file(fmt: ArrayFormat, stored: StoredBytes, *, scaled: bool | None) -> LazyArray:
    """The array of a packed file of one."""
    try:
        header, kind = fmt.whole_header(stored.read, len(stored))
    except Malformed as error:
        raise DamagedError(f"its array cannot be read ({error})") from None
    found = LazyArray(stored, header.size, kind, header.shape, fortran=header.fortran)
    return cast(LazyArray, scaled_as_wanted(found, header.scale, scaled=scaled))


class LazyArray(NDArrayOperatorsMixin):
    """An array of NumPy's in a container: indexed, it gives an array in memory.

    ``shape``, ``dtype``, ``ndim``, ``size`` (items) and ``nbytes`` are as an array's. ``chunks``:
    the shape of what is read at a time at least, so that ``dask.array.from_array`` takes it as it
    is. Slices, integers and ``...`` read only the blocks that they touch, as does a list of rows,
    or a mask of them, in C order; other indexes, operators, and ``numpy.asarray``, read all of it.
    The file stays open as long as the array is there; for any number of threads, one at a time. A
    pickle of it has the name of the file, which is opened again where it is read, as by the workers
    of Dask; ``dump`` packs its items.

    IndexError as of NumPy's; TypeError for a pickle of one in an open file; DamagedError where a
    block that is read is not as it was written.

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

    def __iter__(self) -> Iterator[Any]:  # which pandas asks for
        return (self[row] for row in range(len(self)))

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ValueError("the truth of an array with several items is ambiguous; use numpy.any")
        import numpy as np

        return bool(np.asarray(self))

    def __contains__(self, item: Any) -> bool:
        import numpy as np

        return item in np.asarray(self)

    def __reduce__(self) -> tuple[Any, ...]:
        facts = self.dtype, self.shape, self._fortran
        return _again, (type(self), self._stored, self._start, *facts)

    def __deepcopy__(self, _: Any) -> LazyArray:
        return self  # nothing of it changes

    def __eq__(self, other: Any) -> Any:  # records have no ufunc for it
        import numpy as np

        return np.asarray(self) == (np.asarray(other) if isinstance(other, LazyArray) else other)

    def __ne__(self, other: Any) -> Any:
        import numpy as np

        return np.asarray(self) != (np.asarray(other) if isinstance(other, LazyArray) else other)

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        import numpy as np

        said = f"a LazyArray has no {name}"
        if not name.startswith("_") and hasattr(np.ndarray, name):
            said += f": numpy.asarray(array).{name} is that of all of it, in memory"
        raise AttributeError(said, name=name, obj=self)

    def __repr__(self) -> str:
        return f"<LazyArray {self.shape} {self.dtype}>"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        import numpy as np

        if copy is False:
            raise ValueError(
                "a lazy array is read into memory of its own, so that copy is not False"
            )
        return np.asarray(self[...], dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **how: Any) -> Any:
        import numpy as np

        if any(isinstance(out, LazyArray) for out in how.get("out", ())):
            return NotImplemented  # nothing is written to it
        arrays = (np.asarray(each) if isinstance(each, LazyArray) else each for each in inputs)
        return getattr(ufunc, method)(*arrays, **how)

    def __getitem__(self, key: Any) -> Any:
        import numpy as np

        index = places_of(key if isinstance(key, tuple) else (key,), self.shape)
        if index is None:
            rows = rows_in(key, self.shape)
            if rows is None or (self._fortran and self.ndim > 1):
                return np.asarray(self)[key]
            return self._picked(rows, key[1:] if isinstance(key, tuple) else ())
        found = self._take(self._start, 0, index[::-1] if self._fortran else index)
        if self._fortran:
            found = found.T
        # One item is a scalar, as of an array in memory, but where dots ask for an array.
        dotted = any(item is Ellipsis for item in (key if isinstance(key, tuple) else (key,)))
        if found.shape:
            return found
        return found.copy() if dotted else found.copy()[()]

    def _picked(self, rows: NDArray[np.intp], more: tuple[Any, ...]) -> Array:
        """The ``rows`` with these numbers, in this order, and of each what the indexes ``more``
        pick; each block is decoded once."""
        import numpy as np

        wanted, places = np.unique(rows, return_inverse=True)
        begins = np.flatnonzero(np.diff(wanted, prepend=-2) != 1)
        if len(begins) > _MOST_RUNS:
            between = self[(slice(wanted[0], wanted[-1] + 1), *more)]
            all_of_them: Array = between[rows - wanted[0]]
            return all_of_them
        found: Array = np.empty((len(wanted), *self[(slice(0), *more)].shape[1:]), self.dtype)
        for begin, end in pairwise([*begins, len(wanted)]):
            run = slice(wanted[begin], wanted[end - 1] + 1)
            found[begin:end] = self[(run, *more)]
        return found if np.array_equal(wanted, rows) else found[places]

    def _take(self, start: int, axis: int, index: list[Places]) -> Array:
        """The items that ``index`` picks on the axes from ``axis`` on, in the part of the array
        that begins at byte ``start``."""
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
            found[first : first + len(some)] = read[tuple(map(index_of, within))]
        return found

    def _read(self, start: int, shape: tuple[int, ...]) -> Array:
        import numpy as np

        size = math.prod(shape) * self.dtype.itemsize
        found: Array = np.ndarray(shape, self.dtype, self._stored.read(start, start + size))
        return found


def _again(
    cls: type[LazyArray],
    stored: StoredBytes,
    start: int,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    fortran: bool,
) -> LazyArray:
    """Makes a LazyArray anew out of a pickle, which hands over no arguments by name."""
    return cls(stored, start, dtype, shape, fortran=fortran)
