"""Attributes of HDF5, as arrays beside the datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats.arrays.hdf5.names import MARK, Names
from serialpack.formats.arrays.hdf5.streams import DatasetRows, Npy, corner, npy_of
from serialpack.formats.arrays.hdf5.tree import FAILURES, TreeNode, damaged
from serialpack.formats.arrays.hdf5.types import NoArray, check_read, unread


class Attribute:
    """An attribute, with as much of what a dataset of h5py has as is asked of one; NoArray where
    nothing reads its type.

    ``of``: the name of the dataset or group that has it; ``name``: its own name, behind that.
    """

    chunks = None

    def __init__(self, owner: Any, of: str, name: str) -> None:
        self.name = of + MARK + name
        self._owner, self._own_name = owner, name
        opened = self.id
        try:
            self.dtype = opened.dtype
        except (TypeError, ValueError) as error:
            raise NoArray(unread(error)) from None
        check_read(opened, self.dtype)
        self.shape = opened.shape

    @property
    def id(self) -> Any:
        """The attribute of the library, which is open as long as this is held: to open one takes
        it the longer, the more are open."""
        return self._owner.attrs.get_id(self._own_name)

    def __getitem__(self, region: tuple[Any, ...]) -> Any:
        import h5py
        import numpy as np

        found = np.zeros(self.shape, self.dtype)  # an item may be an array: its dimensions too
        self.id.read(found, mtype=h5py.h5t.py_create(self.dtype))
        return found[region]


def with_attributes(
    file: Any, found: Iterable[TreeNode], datasets: Mapping[str, Npy | DatasetRows]
) -> tuple[dict[str, Npy | DatasetRows], list[str]]:
    """``datasets``, and the attributes in ``file``, where ``found`` is, in their order; and in
    words which attributes are no arrays, or are of what is left out."""
    names, arrays, left = Names(datasets), dict[str, Npy | DatasetRows](), list[str]()
    for of, owner in [("", file), *((node.name, node.what) for node in found)]:
        if owner is None:
            continue
        if of in datasets:
            arrays[of] = datasets[of]
        for name in owner.attrs:
            try:
                if not names.has(of):
                    raise NoArray("what it is of is left out")
                arrays[of + MARK + name] = npy_of(Attribute(owner, of, name))
            except NoArray:
                left.append(f"{owner.name} has {name}")
    return arrays, left


def shown_attributes(owner: Any, of: str, count: int) -> Iterator[tuple[str, Any]]:
    """The name of each attribute of ``owner``, which is called ``of``, and what people see of it:
    the first items of ``count`` rows, or why it is not read."""
    for name in owner.attrs:
        try:
            yield of + MARK + name, corner(Attribute(owner, of, name), count)
        except (NoArray, RefusedError) as why:
            yield of + MARK + name, f"({why})"
        except FAILURES as error:
            yield of + MARK + name, f"({damaged(error)})"
