"""Datasets as files that are read here: .npy, .npz, or rows of MessagePack, piece by piece."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from serialpack.errors import InputError, MissingLibraryError, RefusedError
from serialpack.formats.arrays.hdf5.chunked import ChunkedDataset, is_sparse
from serialpack.formats.arrays.hdf5.lzo import SHUFFLE, LzoDataset, can_undo
from serialpack.formats.arrays.hdf5.odd import odd_type_of
from serialpack.formats.arrays.hdf5.tree import found_at
from serialpack.formats.arrays.hdf5.types import (
    NoArray,
    as_held,
    check_read,
    has_text,
    held,
    lengths,
    row_values,
    unheld,
    unread,
)
from serialpack.formats.arrays.header import npy_header
from serialpack.formats.arrays.values import values_of
from serialpack.formats.arrays.zipped import zip_pieces
from serialpack.msgpack_bytes import LIST_16, MAP_16

#: About how many bytes of a dataset are read at a time, as far as its chunks allow.
_PIECE = 16 << 20

#: The most bytes of a chunk that is read: each is restored as a whole.
_MOST_CHUNK = 1 << 30

#: An array of text with more bytes than this must not have so many times those of its texts.
_MANY, _TIMES = 64 << 20, 32

#: Items of a row that are read to be shown.
_CORNER = 11

#: Number of a filter -> what it is called (HDF Group, registered filter plugins).
_FILTER_NAMES = {1: "gzip", 2: "shuffle", 3: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset"}
_FILTER_NAMES |= {305: "lzo", 307: "bzip2", 32000: "lzf", 32001: "blosc", 32004: "lz4"}
_FILTER_NAMES |= {32008: "bitshuffle", 32013: "zfp", 32015: "zstd", 32017: "sz", 32024: "sz3"}
_FILTER_NAMES |= {32026: "blosc2", 32028: "sperr"}


class ChunkFilter(NamedTuple):
    """A filter that the chunks of a dataset went through. ``here``: whether it can be undone
    here."""

    code: int
    name: str
    values: tuple[int, ...]
    here: bool


def filters(dataset: Any) -> Iterator[ChunkFilter]:
    """The filters of ``dataset``, in the order in which they were applied."""
    made = dataset.id.get_create_plist()
    said = [made.get_filter(number) for number in range(made.get_nfilters())]
    codes = [code for code, *_ in said]
    undone = odd_type_of(dataset) is None and can_undo(codes, dataset.dtype)
    for code, _, values, name in said:
        words = _FILTER_NAMES.get(code) or name.decode("utf-8", "replace") or f"filter {code}"
        yield ChunkFilter(code, words, tuple(values), undone or _is_here(code))


def _readable(dataset: Any) -> Any:
    """``dataset``, or what reads its items where h5py does not, or only slowly."""
    if odd_type_of(dataset) is not None:
        return dataset
    codes = [each.code for each in filters(dataset)] if dataset.chunks else []
    if can_undo(codes, dataset.dtype):
        return LzoDataset(dataset, shuffled=SHUFFLE in codes)
    return ChunkedDataset(dataset) if is_sparse(dataset) else dataset


def _is_here(code: int) -> bool:
    import h5py

    if not h5py.h5z.filter_avail(code):
        with suppress(ImportError):
            import hdf5plugin  # noqa: F401  (which makes its filters known)
    return bool(h5py.h5z.filter_avail(code))


def check(file: Any, dataset: Any, depth: int = 0) -> None:
    """RefusedError for a dataset that is in other files, or whose pieces are too large to be read;
    MissingLibraryError where a filter of its is not here, NoArray for types that h5py does not
    read."""
    name = dataset.name
    try:
        size = dataset.dtype.itemsize
    except (TypeError, ValueError) as error:
        raise NoArray(unread(error)) from None
    odd = odd_type_of(dataset)
    check_read(dataset.id, dataset.dtype, None if odd is None else odd.memory)
    if dataset.id.get_create_plist().get_external_count():
        raise RefusedError(f"the numbers of {name} are in other files, which are not opened")
    if dataset.is_virtual:
        if depth > 8:
            raise RefusedError(f"{name} is made of others that are made of others, without end")
        for source in dataset.virtual_sources():
            if source.file_name != ".":
                raise RefusedError(
                    f"{name} is made of datasets in other files, which are not opened:"
                    f" {source.file_name}",
                    hint="h5repack, or h5py, makes one file of them",
                )
            check(file, found_at(file, source.dset_name, asked=f"{name}: "), depth + 1)
    for each in filters(dataset):
        if not each.here:
            raise MissingLibraryError(
                f"{name} is compressed by {each.name} (filter {each.code}), which is not here",
                hint="pip install 'serialpack[hdf5,lzo]' brings blosc, zstd, LZ4, LZO and others",
            )
    if dataset.chunks and math.prod(dataset.chunks) * size > _MOST_CHUNK:
        raise RefusedError(f"the chunks of {name} have more than 1 GiB each")
    if any(length >= 1 << 63 for length in dataset.shape or ()):
        raise InputError(f"no sound HDF5 file: {name} has a length beyond all")


def regions(shape: tuple[int, ...], item: int, chunks: Any) -> Iterator[tuple[Any, ...]]:
    """Parts of an array in the order of its items, each of at most about ``_PIECE`` bytes.

    Where the chunks with one row have more, they are read again for each row of them: memory is
    bounded first.
    """
    import numpy as np

    if not shape:
        yield ()
        return
    if 0 in shape:
        return
    inner = [max(math.prod(shape[axis + 1 :]) * item, 1) for axis in range(len(shape))]
    axis = next((a for a, size in enumerate(inner) if size <= _PIECE), len(shape) - 1)
    step = max(_PIECE // inner[axis], 1)
    if chunks and (chunk := min(chunks[axis], shape[axis])):
        step = max(step // chunk * chunk, min(chunk, max(4 * _PIECE // inner[axis], 1)))
    for lead in np.ndindex(shape[:axis]):
        for start in range(0, shape[axis], step):
            yield (*lead, slice(start, start + step))


def arrays(dataset: Any, *, by_row: bool = False) -> Iterator[Any]:
    """The items of ``dataset``, in parts one after another; ``by_row``: whole rows."""
    dataset = _readable(dataset)
    shape = dataset.shape[:1] if by_row else dataset.shape
    row = math.prod(dataset.shape[len(shape) :])
    for region in regions(shape, dataset.dtype.itemsize * row, dataset.chunks):
        yield _as_array(dataset[region], dataset)


def _as_array(found: Any, dataset: Any) -> Any:
    """``found``, what h5py gives for a region of ``dataset``, as an array: of one item it gives no
    array."""
    import numpy as np

    if dataset.shape or dataset.dtype.kind != "O":
        return np.asarray(found, dtype=dataset.dtype.base)
    array = np.empty((), dataset.dtype)
    array[()] = found  # also a list
    return array


class Npy(NamedTuple):
    """A dataset as an .npy file: the type of its items, what stands before these, and how many
    bytes they have."""

    dataset: Any
    dtype: Any
    header: bytes
    size: int

    def pieces(self) -> Iterator[Any]:
        """The bytes of the file."""
        yield self.header
        for array in arrays(self.dataset):
            yield as_held(array, self.dtype).tobytes()


def npy_of(dataset: Any) -> Npy:
    """``dataset``, which ``check`` has passed, as an .npy file; NoArray."""
    import numpy as np

    if dataset.shape is None:
        raise NoArray("nothing (a null dataspace)")
    if why := unheld(dataset.dtype):
        raise NoArray(why)
    texts = lengths(dataset.dtype, arrays(dataset)) if has_text(dataset.dtype) else {}
    dtype, shape = held(dataset.dtype, texts), dataset.shape
    if dtype.subdtype is not None:
        dtype, shape = dtype.base, shape + dtype.shape
    size = math.prod(shape) * dtype.itemsize
    if texts and size > max(_MANY, _TIMES * dataset.id.get_storage_size()):
        raise NoArray("texts of which one is far longer than the others")
    descr = np.lib.format.dtype_to_descr(dtype)
    return Npy(dataset, dtype, npy_header(descr, shape, fortran=False), size)


def rows(dataset: Any) -> Iterator[bytes]:
    """The rows of ``dataset``, which ``check`` has passed, in MessagePack; NoArray."""
    import msgspec

    if dataset.shape is None:
        raise NoArray("nothing (a null dataspace)")
    encode = msgspec.msgpack.Encoder().encode
    for array in arrays(dataset, by_row=True):
        values = row_values(array)
        yield b"".join(map(encode, values if dataset.shape else [values]))


class DatasetRows(NamedTuple):
    """A dataset that no array holds, of lists of any length, or without items, given row by row."""

    dataset: Any


def map_pieces(named: Mapping[str, Npy | DatasetRows]) -> Iterator[bytes]:
    """A map in MessagePack from the name of each dataset to its rows; each ``has_plain_items``."""
    import msgspec

    encode = msgspec.msgpack.Encoder().encode
    yield struct.pack(">BI", MAP_16 + 1, len(named))
    for name, each in named.items():
        shape = each.dataset.shape
        yield encode(name)
        if shape is None:
            yield encode(None)
            continue
        if shape:
            yield struct.pack(">BI", LIST_16 + 1, shape[0])
        yield from rows(each.dataset)


def corner(dataset: Any, count: int) -> Any:
    """Values of ``count`` rows of ``dataset``, which ``check`` has passed, a few more of each than
    are shown; NoArray."""
    if dataset.shape is None:
        raise NoArray("nothing (a null dataspace)")
    most = (count, *[_CORNER] * (len(dataset.shape) - 1))
    region = tuple(map(slice, most[: len(dataset.shape)]))
    array = _as_array(_readable(dataset)[region], dataset)
    if unheld(dataset.dtype):
        return row_values(array)
    dtype = held(dataset.dtype, lengths(dataset.dtype, [array]))
    return values_of(as_held(array, dtype))


def npz_pieces(named: Mapping[str, Npy | DatasetRows]) -> Iterator[bytes]:
    """An .npz file of the arrays in ``named``, in pieces as they are made; not compressed."""
    arrays = ((name, npy) for name, npy in named.items() if isinstance(npy, Npy))
    return zip_pieces((name, npy.pieces()) for name, npy in arrays)


def no_more_files() -> None:
    """Keep this process from opening any more files, whatever a damaged one makes the library
    do."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))
