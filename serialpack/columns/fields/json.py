"""The records of a block of JSON with only some of their fields, from the columns of these alone.

Values and keys are copied as they are spelled; brackets and commas are written anew, without white
space.

A *field* is a path of keys, and stands for all that is at its end. Lists on the way are passed
through: of ``[{"name": "x", "age": 1}, {}]`` the field ``name`` is ``[{"name":"x"},{}]``. What
is not there is left out: of ``{"b": {"c": 1}, "d": 2}`` the field ``b.e`` is ``{"b":{}}``, and
``d.e`` is ``{}``. These are the rules of projections in MongoDB, but for one: an element of a
list on the way that is neither a map nor a list is ``null``, so that those behind it keep their
places. Keys are compared without their escapes. Of a key that is there twice both are taken.
Where ``b.c`` may be a key as well as the way to one, both may be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.bulk.copying import put_together
from serialpack.columns.fields.gathered import Gathered, column_of
from serialpack.columns.fields.projecting import ProjectingMachine, Run
from serialpack.columns.fields.steps import EMPTY, Step
from serialpack.columns.fields.wanted import NotMapsError as NotMapsError
from serialpack.columns.fields.wanted import UntoldError as UntoldError
from serialpack.columns.fields.wanted import unescaped, wanted
from serialpack.columns.parse import json_tokens
from serialpack.columns.parse.nodes import FIXED, QUOTED, SCALAR, Node
from serialpack.columns.parse.shape import Split
from serialpack.columns.stored.structure import TextShape
from serialpack.columns.texts import Texts
from serialpack.values.structure import Structure


class Projection:
    """Some fields of the records of a block.

    ``shape``: the structure of JSON. ``fields``: of each the keys on the way. ``inside``: what the
    records are: lines of a sequence, the one document, the elements of a document that is a list,
    or the members of one that is a map (each then counts as a map of one key). ``first``, ``last``:
    whether the block begins, or ends, the document. ``records``: how many the block has, where that
    is known.

    UntoldError where the text is not valid, or not that; NotMapsError where a record is no map:
    from the constructor or from ``lines``. ValueError where it is no JSON. Scalars are not looked
    at: ``01`` stays ``01``.
    """

    def __init__(
        self,
        shape: TextShape,
        fields: Sequence[tuple[str, ...]],
        *,
        inside: Structure,
        first: bool,
        last: bool,
        records: int | None = None,
    ) -> None:
        if shape.text_kind != "json":
            raise ValueError("not the structure of a JSON text")
        self._shape = shape
        self._fields = list(fields)
        self._inside, self._first, self._last = inside, first, last
        self._records = records
        self._run = Run(self._machine(foresees=True), shape.walk)
        steps = self._run.steps
        needed = {step.node for step in steps if step.asks or step.value}
        #: The nodes of the values whose texts must be looked at.
        self._asked = {step.node for step in steps if step.asks}
        if not self._run.told:
            self._asked = needed = set(range(len(shape.nodes)))
        #: The numbers of the columns that ``lines`` needs.
        self.columns = {shape.nodes[node].column for node in needed} - {-1}
        if self._run.told:
            self._run.check()

    @property
    def missing(self) -> list[tuple[str, ...]]:
        """The wanted fields that no record has. Of a field within another wanted one, that one
        counts.

        Data keys are not known before ``lines`` has looked at them: until then a field that may be
        one of them counts as missing.
        """
        found = self._run.machine.setting.found
        return [
            field
            for field in self._fields
            if not any(field[:steps] in found for steps in range(1, len(field) + 1))
        ]

    def lines(self, texts: Callable[[int], Texts]) -> bytes:
        """For each record a line: the map of its wanted fields. ``texts(number)`` gives the values
        of a needed column.

        Broken where these are not as many as the structure says; UntoldError, NotMapsError.
        """
        self._look(texts)
        run = self._run
        run.check()
        places, numbers = run.loud()
        written = _written(self._shape, run.steps, places, numbers, texts)
        records = run.records(numbers)
        end = run.end(numbers, self._shape.trailer, last=self._last)
        if end is None:
            raise UntoldError(records)
        text = written + end
        records += end.count(b"\n")
        if text.count(b"\n") != records:
            raise UntoldError(None, "the end of a line stands in a string")
        if self._records not in (None, records):
            raise UntoldError(None, "there are more or fewer records")
        return text

    def _machine(self, *, foresees: bool) -> ProjectingMachine:
        """A machine for the block; ``foresees``: see there."""
        fields = wanted(self._fields)
        return ProjectingMachine(
            self._shape.nodes, fields, self._inside, first=self._first, foresees=foresees
        )

    def _look(self, texts: Callable[[int], Texts]) -> None:
        """Look at the texts of values where what is written depends on them,
        and run again where it does."""
        machine = self._machine(foresees=False)
        walk = _with_readings(machine, self._shape, self._asked, texts)
        foreseen = any(step.foreseen for step in self._run.steps)
        if foreseen or not self._run.told or walk is not self._shape.walk:
            self._run = Run(machine, walk)
            if not self._run.told:
                self._run.go()


def _with_readings(
    machine: ProjectingMachine, shape: TextShape, nodes: set[int], texts: Callable[[int], Texts]
) -> NDArray[np.integer[Any]]:
    """The walk of ``shape`` as symbols: a value of ``nodes`` whose text matters has another symbol
    than its node.

    Such values are data keys of wanted fields, and empty lists and maps with blanks in them.
    """
    walk = shape.walk
    names = machine.wanted.names()
    for column in sorted({shape.nodes[node].column for node in nodes} - {-1}):
        of_column = [number for number, node in enumerate(shape.nodes) if node.column == column]
        kinds = {shape.nodes[number].kind for number in of_column if number in nodes}
        found: dict[int, bytes] = {}
        values = column_of(shape, column, texts)
        if SCALAR in kinds:
            found = _empty(values)
        if kinds & set(QUOTED):
            found |= _named(values, names)
        if not found:
            continue
        if walk is shape.walk:
            walk = walk.astype(np.int32)  # there are more symbols than nodes
        places = np.flatnonzero(shape.column_of[shape.walk] == column)
        for place, reading in found.items():
            at = int(places[place])
            if int(walk[at]) in nodes:
                walk[at] = machine.symbol(int(walk[at]), reading)
    return walk


def _empty(column: Texts) -> dict[int, bytes]:
    """The values that are an empty list or map with blanks in it: their indices, each with its
    reading, the same without blanks."""
    found: dict[int, bytes] = {}
    if not len(column.data):
        return found
    first = column.data[np.minimum(column.starts, len(column.data) - 1)]
    # "[" and "{" differ in one bit.
    for place in np.flatnonzero((first | 0x20) == b"{"[0]).tolist():
        start, end = int(column.starts[place]), int(column.ends[place])
        text = column.data[start:end].tobytes()
        fixed = text[:1] + text[-1:]
        if fixed in EMPTY and not text[1:-1].strip(b" \t\r\n"):
            found[place] = fixed
    return found


def _named(column: Texts, names: set[str]) -> dict[int, bytes]:
    """The data keys that are among ``names``: their indices, each with the key as it is spelled."""
    escapes = bool((column.data == b"\\"[0]).any())
    # A lone surrogate can only stand there as an escape.
    spelled = {name.encode("utf-8", "replace") for name in names}
    return {
        place: key
        for place, key in enumerate(column.to_list())
        if (key in spelled or (escapes and b"\\" in key)) and unescaped(key) in names
    }


def _written(
    shape: TextShape,
    steps: list[Step],
    places: NDArray[np.int64],
    numbers: NDArray[np.int64],
    texts: Callable[[int], Texts],
) -> bytes:
    """What is written up to the end of the walk.

    ``numbers``: of the ``steps`` for which anything is written, in order; ``places``: where in the
    walk these are taken.
    """
    if not len(numbers):
        return b""
    leads, filled = (
        np.array([getattr(step, name) for step in steps], bool) for name in ("leads", "filled")
    )
    commas = leads.take(numbers)
    commas[0] = False
    commas[1:] &= filled.take(numbers[:-1])
    gathered = Gathered(
        [step.text for step in steps],
        [shape.nodes[step.node].column if step.value else -1 for step in steps],
        [step.quote for step in steps],
        numbers,
        commas,
    )
    gathered.put(shape, places, texts)
    return gathered.text()


def untied(data: bytes) -> Split:
    """A JSON text as structure and values, all in one column: good for ``Projection`` and nothing
    else, for a text that ``shape.split`` does not take apart."""
    leaves = json_tokens.values(json_tokens.marked(data))
    nodes = []
    for first in leaves.firsts.tolist():
        text = data[int(leaves.gap_starts[first]) : int(leaves.gap_ends[first])]
        kind = int(leaves.kinds[first])
        nodes.append(Node(text, kind, -1 if kind in FIXED else 0))
    lengths = leaves.ends - leaves.starts
    shape = TextShape("json", nodes, leaves.gap, data[leaves.stop :], [])
    some = shape.column_of[shape.walk] >= 0
    starts, lengths = leaves.starts[some], lengths[some]
    source = np.frombuffer(data, np.uint8)
    return Split(shape, [Texts.from_lengths(put_together(source, starts, lengths), lengths)])
