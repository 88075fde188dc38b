"""What the arrays of an HDF5 file are called where arrays stand by name, and in which order.

A dataset's name begins with its groups (``group/x``), that of an attribute with what it is of:
``group/x@unit``, ``group@unit``, of the file ``@unit``. NeXus and the tools of netCDF do so, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

#: What stands between the name of an attribute and that of its owner.
MARK = "@"


class AttributeName(NamedTuple):
    """An attribute's name. ``of``: that of its owner, a dataset or a group; empty for the file."""

    of: str
    name: str


class Names:
    """The names of all arrays, each of a dataset or an attribute."""

    def __init__(self, names: Iterable[str]) -> None:
        self._all = list(names)
        plain = [name for name in self._all if MARK not in name]
        #: The names that can have attributes. A name that only looks like one of an attribute is a
        #: dataset's.
        self._owners = {"", *(above for name in plain for above in _with_groups(name))}

    def attribute(self, name: str) -> AttributeName | None:
        """The parts of ``name`` where it is one of an attribute; None where it is one of a
        dataset."""
        of, mark, own = name.partition(MARK)
        return AttributeName(of, own) if mark and own and of in self._owners else None

    def has(self, owner: str) -> bool:
        """Whether ``owner`` is a name that can have attributes."""
        return owner in self._owners

    def grouped(self) -> list[str]:
        """The names in the order of a file: those of a group stand together where its first one
        stood, its attributes before its datasets."""
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
