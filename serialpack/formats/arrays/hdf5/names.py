"""What the arrays of an HDF5 file are called where they stand by name, and in which order.

A dataset is called by its groups too (``group/x``), an attribute behind what it is of:
``group/x@unit``, ``group@unit``, of the file ``@unit``; so do NeXus and the tools of netCDF.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

#: Between what has an attribute and its name.
MARK = "@"


class AttributeName(NamedTuple):
    """``of``: a dataset, a group, or the file, whose name is empty."""

    of: str
    name: str


class Names:
    """The names of all arrays, each of a dataset or an attribute."""

    def __init__(self, names: Iterable[str]) -> None:
        self._all = list(names)
        plain = [name for name in self._all if MARK not in name]
        #: What can have attributes: nothing whose own name looks like one of these.
        self._owners = {"", *(above for name in plain for above in _with_groups(name))}

    def attribute(self, name: str) -> AttributeName | None:
        """What ``name`` says, where it is of an attribute; None where it is of a dataset."""
        of, mark, own = name.partition(MARK)
        return AttributeName(of, own) if mark and own and of in self._owners else None

    def has(self, owner: str) -> bool:
        """Whether attributes of ``owner`` can have names."""
        return owner in self._owners

    def grouped(self) -> list[str]:
        """The names in the order that they have in a file: those of a group together, where the
        first of them was, its attributes before what is in it."""
        first: dict[str, int] = {}

        def places(name: str) -> list[tuple[bool, int]]:
            found = self.attribute(name)
            groups = _with_groups(name if found is None else found.of)
            steps = [(True, first.setdefault(above, len(first))) for above in groups if above]
            return steps if found is None else [*steps, (False, 0)]

        return sorted(self._all, key=places)


def _with_groups(name: str) -> Iterable[str]:
    """The names of the groups around a dataset, from the outermost on, and its own."""
    return accumulate(name.split("/"), "{}/{}".format)
