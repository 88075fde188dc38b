"""Formats whose reading can run code, or crash: told by a look at their bytes, loaded on trust."""

from __future__ import annotations

import gc
from abc import abstractmethod
from itertools import compress
from typing import Any, ClassVar

from serialpack.errors import InputError
from serialpack.formats._document import DocumentFormat, Malformed, compared
from serialpack.formats.base import MAX_DEPTH, Difference, SourceBlock, Unheld
from serialpack.kinds import shown
from serialpack.stage import Buffer

#: What may stand in itself again and again, without classes of its own.
_CONTAINERS = frozenset({dict, list, tuple, set, frozenset})


class UnsafeFormat(DocumentFormat):
    """Only ``read`` and ``load`` build objects: whoever calls them was told to trust the bytes."""

    safe: ClassVar[bool] = False

    @abstractmethod
    def survey(self, data: bytes) -> int:
        """How many records ``data`` is; Malformed where it is none. Builds and runs nothing."""

    @abstractmethod
    def load(self, data: Buffer) -> list[Any]:
        """The records of bytes that were surveyed, or that ``write`` wrote.

        Malformed where that cannot be, say because a class is not there any more.
        """

    def read(self, data: bytes) -> list[Any]:
        self.survey(data)
        records = self._load(data)
        for number, record in enumerate(records):
            if _is_deep(record, len(data)):
                was = f"{shown(record)} ({MAX_DEPTH} at most)"
                raise Unheld(Difference(number, "$", was, "", "depth"))
        return records

    def read_written(self, data: bytes) -> list[Any]:
        return self.load(data)

    def count(self, block: SourceBlock) -> int:
        """How many records a whole source is; SyntaxInputError where it is none. Runs nothing."""
        try:
            return self.survey(bytes(block.data))
        except Malformed as bad:
            raise self._placed(block, bad) from None

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        """As always, but both were surveyed before."""
        return compared(self._load(bytes(block.data)), self._load(bytes(restored)))

    def _load(self, data: bytes) -> list[Any]:
        try:
            return self.load(data)
        except Malformed as bad:
            hint = f"pack -s raw or -s {self.name} keeps the bytes"
            raise InputError(f"cannot be loaded: {bad.message}", hint=hint, start=bad.at) from None


def _is_deep(value: Any, size: int) -> bool:
    """Whether containers stand in containers deeper than formats take. One that holds itself ends.

    Looks at all of one depth at a time, by C code. ``size``: the most that there can be where
    none is shared; those that are must be known again.
    """
    level, met = [value], set[int]()
    for _ in range(MAX_DEPTH):
        inner = gc.get_referents(*level)
        level = list(compress(inner, map(_CONTAINERS.__contains__, map(type, inner))))
        size -= len(level)
        if size < 0:
            fresh = {id(part): part for part in level if id(part) not in met}
            level = list(fresh.values())
            met.update(fresh)
        if not level:
            return False
    return True
