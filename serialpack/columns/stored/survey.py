"""Tells of columns how many bytes each takes and how it is encoded, for ``inspect``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from serialpack.columns.parse.nodes import (
    EMPTY_LIST,
    EMPTY_MAP,
    FALSE,
    KEY,
    NULL,
    RAW,
    SCALAR,
    STRING,
    TRUE,
    Mark,
    Path,
)
from serialpack.columns.stored.block import ColumnBlock
from serialpack.columns.stored.structure import KINDS_OF_TEXT

#: What people call the values of a kind. Those of tables are all called fields.
_TYPES = {
    STRING: "string",
    SCALAR: "number",
    NULL: "null",
    TRUE: "boolean",
    FALSE: "boolean",
    EMPTY_LIST: "list",
    EMPTY_MAP: "map",
    KEY: "key",
    RAW: "other",
}

#: What has a meaning in a path as people write it.
_MARKS = frozenset('.[]{}*"')


class ColumnInfo(NamedTuple):
    """A column, in all blocks together.

    ``path`` as people write it: ``a.b[]``; ``{}`` for the values of a map whose keys are data;
    ``*`` for several paths of few values each. ``values``: how many it has; ``size``: bytes of
    their texts; ``packed``: bytes that they take, its share of shared frames included.
    ``encodings``: the names of its encodings, the one that most blocks use first; none where the
    structure says the values.
    """

    path: str
    type: str
    values: int
    size: int
    packed: int
    encodings: tuple[str, ...]


class Survey:
    """The columns of blocks, added one by one."""

    def __init__(self) -> None:
        #: Bytes of all structures, and of all headers of columns.
        self.structure = 0
        #: By path and type: number of values, bytes of their texts, bytes that they take.
        self._sums: dict[tuple[str, str], list[int]] = {}
        self._encodings: dict[tuple[str, str], Counter[str]] = {}

    def add(self, block: ColumnBlock) -> None:
        """Add the columns of a block. Broken where it is malformed."""
        shape, packed = block.shape, block.packed
        table = bool(KINDS_OF_TEXT[shape.text_kind])
        self.structure += block.outline_size + packed.bounds[0]
        for number, column in enumerate(shape.columns):
            kind = "field" if table else _TYPES[column.kind]
            key = spelled(column.path), kind
            self._count(key, packed.number(number), packed.text_size(number))
            self._sums[key][2] += packed.stored_size(number)
            self._encodings[key][packed.encoding(number)] += 1
        counts = shape.visits
        for node, path in enumerate(shape.outline.paths):
            if shape.nodes[node].column < 0:
                key = spelled(path), _TYPES[shape.nodes[node].kind]
                self._count(key, int(counts[node]), 0)

    def _count(self, key: tuple[str, str], values: int, size: int) -> None:
        sums = self._sums.setdefault(key, [0, 0, 0])
        sums[0] += values
        sums[1] += size
        self._encodings.setdefault(key, Counter())

    def columns(self) -> list[ColumnInfo]:
        """All columns, those that take the most bytes first."""
        found = [
            ColumnInfo(
                *key, values, size, packed, tuple(n for n, _ in self._encodings[key].most_common())
            )
            for key, (values, size, packed) in self._sums.items()
        ]
        return sorted(found, key=lambda info: (-info.packed, -info.values, info.path))


def spelled(path: Path) -> str:
    """A path as people write it; empty for a record that is a single value."""
    return "".join(_steps(path)).removeprefix(".")


def _steps(path: Path) -> Iterable[str]:
    for step in path:
        if isinstance(step, bytes):
            name = step.decode("utf-8", "replace")
            # A key that could be taken for several, or none, stands in quotes.
            yield "." + (name if name and not _MARKS & set(name) else f'"{name}"')
        elif isinstance(step, int):
            yield f"[{step}]"
        else:
            yield step.value if step is Mark.ITEM else "." + step.value
