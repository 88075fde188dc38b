"""Datasets of odd types, which h5py does not read (times, integers of three bytes), or as what no
array holds (references): as times, wider integers, and the paths of what is referred to.

Times of HDF5 (H5T_TIME) are seconds since 1970; those of eight bytes that PyTables writes are
seconds and millionths of them, four bytes each (PyTables, src/typeconv.c).
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

#: What h5py raises for a type that NumPy has nothing for.
_NO_TYPE = (TypeError, ValueError, NotImplementedError, StopIteration)
#: What it raises for a reference to what is not there, or is damaged.
_NO_OBJECT = (OSError, RuntimeError, ValueError, KeyError, TypeError)

#: Of the file that was looked at last: see ``_paths``.
_PATHS: dict[int, dict[int, bytes]] = {}


class OddType(NamedTuple):
    """How items of a type are read. ``memory``: the type that HDF5 is asked for, ``raw``: the same
    for NumPy, ``made``: the one that items are made then. ``odd``: whether h5py alone cannot do
    that."""

    memory: Any
    raw: Any
    made: Any
    odd: bool = False


def sound(what: Any) -> Any:
    """``what``; where it is a dataset of an odd type, as one whose items NumPy has."""
    import h5py

    if not isinstance(what, h5py.Dataset):
        return what
    try:
        kind = _odd_type(what.id.get_type(), is_fine="PYTABLES_FORMAT_VERSION" in what.file.attrs)
    except _NO_TYPE:  # asking for its dtype tells that
        return what
    return _class()(what.id, kind) if kind.odd else what


def odd_type_of(dataset: Any) -> OddType | None:
    """The odd type of a dataset that ``sound`` has made; None for any other dataset."""
    found: OddType | None = getattr(dataset, "odd_type", None)
    return found


def has_references(dataset: Any) -> bool:
    """Whether items of a dataset are paths that stand for references."""
    found = odd_type_of(dataset)
    return found is not None and _refers(found.raw)


def _refers(raw: Any) -> bool:
    import h5py

    base = raw.base
    if base.names is not None:
        return any(_refers(base[name]) for name in base.names)
    return h5py.check_ref_dtype(base) is h5py.Reference


@cache
def _class() -> Any:
    import h5py
    import numpy as np

    class OddDataset(h5py.Dataset):  # type: ignore[misc]
        """A dataset of an ``OddType``, read by regions of integers and slices of step 1."""

        def __init__(self, identifier: Any, odd_type: OddType) -> None:
            super().__init__(identifier)
            self.odd_type = odd_type

        @property
        def dtype(self) -> Any:
            return self.odd_type.made

        def __getitem__(self, region: tuple[Any, ...]) -> Any:
            memory, raw = self.odd_type.memory, self.odd_type.raw
            parts = [*region, *[slice(None)] * (len(self.shape) - len(region))]
            spans = [
                part.indices(length)[:2] if isinstance(part, slice) else (part, part + 1)
                for part, length in zip(parts, self.shape, strict=True)
            ]
            counts = tuple(max(end - start, 0) for start, end in spans)
            found = np.zeros(counts, raw)
            if found.size:
                space = self.id.get_space()
                if counts:
                    space.select_hyperslab(tuple(start for start, _ in spans), counts)
                    self.id.read(h5py.h5s.create_simple(counts), space, found, memory)
                else:
                    self.id.read(h5py.h5s.ALL, h5py.h5s.ALL, found, memory)
            made = _made(found, self.dtype.base, self.id)
            return made[tuple(slice(None) if isinstance(part, slice) else 0 for part in parts)]

    return OddDataset


def _odd_type(stored: Any, *, is_fine: bool) -> OddType:
    import h5py
    import numpy as np

    h5t = h5py.h5t
    kind = stored.get_class()
    if kind == h5t.TIME:
        known = {"<i4": h5t.UNIX_D32LE, ">i4": h5t.UNIX_D32BE, "<i8": h5t.UNIX_D64LE}
        known[">i8"] = h5t.UNIX_D64BE
        raw = np.dtype(next(name for name, each in known.items() if stored.equal(each)))
        unit = "us" if is_fine and raw.itemsize == 8 else "s"
        return OddType(stored, raw, np.dtype(f"M8[{unit}]"), odd=True)
    if kind == h5t.REFERENCE and stored.equal(h5t.STD_REF_OBJ):
        raw = h5py.ref_dtype
        return OddType(h5t.py_create(raw), raw, h5py.string_dtype(), odd=True)
    if kind == h5t.INTEGER and stored.get_size() in (3, 5, 6, 7):
        letter = "u" if stored.get_sign() == h5t.SGN_NONE else "i"
        raw = np.dtype(f"{letter}{4 if stored.get_size() == 3 else 8}")
        return OddType(h5t.py_create(raw), raw, raw, odd=True)
    if kind == h5t.ARRAY:
        base, dims = _odd_type(stored.get_super(), is_fine=is_fine), stored.get_array_dims()
        raw, made = np.dtype((base.raw, dims)), np.dtype((base.made, dims))
        return OddType(h5t.array_create(base.memory, dims), raw, made, base.odd)
    if kind == h5t.COMPOUND:
        members = {
            stored.get_member_name(n).decode(): _odd_type(
                stored.get_member_type(n), is_fine=is_fine
            )
            for n in range(stored.get_nmembers())
        }
        if any(member.odd for member in members.values()):
            raw = np.dtype([(name, member.raw) for name, member in members.items()])
            made = np.dtype([(name, member.made) for name, member in members.items()])
            memory = h5t.create(h5t.COMPOUND, raw.itemsize)
            at = 0
            for name, member in members.items():
                memory.insert(name.encode(), at, member.memory)
                at += member.raw.itemsize
            return OddType(memory, raw, made, odd=True)
    raw = stored.dtype
    return OddType(h5t.py_create(raw), raw, raw)


def _made(array: Any, dtype: Any, file: Any) -> Any:
    """The items of ``array``, as HDF5 gave them, made items of ``dtype``; ``file``: where
    references lead."""
    import h5py
    import numpy as np

    if dtype.names is not None:
        made = np.zeros(array.shape, dtype)
        for name in dtype.names:
            made[name] = _made(array[name], dtype[name].base, file)
        return made
    if dtype.kind == "M" and array.dtype.kind == "i":
        if dtype == "M8[us]":
            array = array.astype("i8")
            array = (array >> 32) * 1_000_000 + array.astype("i4")
        return array.astype("i8").view(dtype)
    if h5py.check_ref_dtype(array.dtype) is None:
        return array
    paths = np.empty(array.shape, dtype)
    named = _paths(file)
    for at, each in np.ndenumerate(array):
        paths[at] = _path(each, file, named) if each else b""
    return paths


def _path(reference: Any, file: Any, named: dict[int, bytes]) -> bytes:
    """The path of what ``reference`` leads to; empty where that is nowhere."""
    import h5py

    try:
        found = named.get(h5py.h5o.get_info(h5py.h5r.dereference(reference, file)).addr)
    except _NO_OBJECT:
        found = None
    return found or h5py.h5r.get_name(reference, file) or b""


def _paths(file: Any) -> dict[int, bytes]:
    """Where a file has something -> the first path to it. The library looks through all of the
    file for the path of each reference, and files of MATLAB have thousands."""
    import h5py

    number = h5py.h5o.get_info(file).fileno  # of an open file, and of no other one ever
    if number not in _PATHS:
        root = h5py.h5i.get_file_id(file)
        paths = {h5py.h5o.get_info(root).addr: b"/"}

        def note(name: bytes, info: Any) -> None:
            paths.setdefault(info.addr, b"/" + name)

        with suppress(*_NO_OBJECT):  # where it is damaged the library looks itself
            h5py.h5o.visit(root, note, info=True)
        _PATHS.clear()
        _PATHS[number] = paths
    return _PATHS[number]
