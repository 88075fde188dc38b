"""Finds what of a JSON text belongs to some fields, by going along its walk.

A machine goes from value to value, as the one in ``parse.json`` does that takes a text apart. From
each state each symbol leads to a step, which is made by ``steps`` the first time and looked up from
then on.

- symbol: a node; or a node together with what the text of its value turned out to be, where that
  matters (the *reading*: a data key that is wanted, or an empty list or map with blanks in it)
"""

from __future__ import annotations

import re
from itertools import accumulate
from operator import attrgetter, getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serialpack.columns.fields.steps import (
    AFTER,
    FIRST,
    NEXT,
    BadError,
    Setting,
    State,
    Step,
    StepWriter,
)
from serialpack.columns.fields.wanted import Wanted
from serialpack.columns.parse.nodes import Node
from serialpack.values.structure import Structure

#: The parts of a gap. A byte that only the last alternative matches is not JSON.
_PARTS = re.compile(rb'[ \t\r\n]+|"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|\xef\xbb\xbf|.', re.DOTALL)

#: With at most so many symbols a table of all pairs of them is small.
_FEW = 512

#: Up to so many symbols are searched for one by one.
_FEW_COMPARED = 8


class ProjectingMachine:
    """Makes the steps for a walk through ``nodes``, those of a block.

    ``inside``: what the records are: lines of a sequence, the one document, or the elements or
    members of the array or map that is the document. ``first``: whether the block begins the
    document. ``foresees``: whether texts of values were not looked at yet; then what depends on
    them counts as wanted.
    """

    def __init__(
        self, nodes: list[Node], wanted: Wanted, inside: Structure, *, first: bool, foresees: bool
    ) -> None:
        self.nodes = nodes
        self.wanted = wanted
        self.setting = Setting(wanted, inside, first=first, foresees=foresees)
        #: For each symbol its node, and its reading or None. The first symbols are the nodes
        #: themselves, under their own numbers.
        self.symbols: list[tuple[int, bytes | None]] = [(n, None) for n in range(len(nodes))]
        self._first = first
        self._readings: dict[tuple[int, bytes], int] = {}
        self._parts: dict[bytes, list[bytes]] = {}
        self.restart()

    def restart(self) -> None:
        """Forget all steps."""
        self.setting.found.clear()
        self.start = Step(self.step, self.setting.begins)
        self.steps: list[Step] = []
        self._known: dict[tuple[State, int], Step] = {}

    def symbol(self, node: int, reading: bytes) -> int:
        """The symbol for a value of ``node`` with this ``reading``."""
        number = self._readings.setdefault((node, reading), len(self.symbols))
        if number == len(self.symbols):
            self.symbols.append((node, reading))
        return number

    def step(self, state: State, symbol: int) -> Step:
        """The step from ``state`` by ``symbol``."""
        found = self._known.get((state, symbol))
        if found is None:
            number, reading = self.symbols[symbol]
            node = self.nodes[number]
            writer = StepWriter(self.setting, state)
            try:
                writer.parts(self._parts_of(node.text), start=self._starts(state))
                found = writer.value(self.step, node.kind, reading)
            except BadError as error:
                found = Step(self.step, state)
                found.error = error.meaning
                found.ends = writer.ends
            found.number = len(self.steps)
            found.symbol = symbol
            found.node = number
            self.steps.append(found)
            self._known[state, symbol] = found
        return found

    def end(self, step: Step, trailer: bytes, *, filled: bool, last: bool) -> bytes | None:
        """What is written behind the last ``step``, with the ``trailer`` of the text read; None
        where no valid text ends so.

        ``filled``: that of the last step for which anything was written. ``last``: whether the
        block ends the document.
        """
        writer = StepWriter(self.setting, step.state)
        try:
            writer.parts(self._parts_of(trailer), start=self._starts(step.state))
        except BadError:
            return None
        spot, expects = writer.spot, writer.expects
        if spot is self.setting.around:
            done = last and expects == AFTER
        elif spot is self.setting.base and not spot.bracket:
            done = True
        else:
            # White space behind the document may be a block by itself.
            blank = step is self.start and not trailer.strip(b" \t\r\n")
            done = spot is self.setting.base and expects in (FIRST, NEXT) and (blank or not last)
        return b"," * (writer.leads and filled) + writer.out if done else None

    def _starts(self, state: State) -> bool:
        """Whether a gap in ``state`` is the first one of the document."""
        return self._first and state is self.setting.begins

    def _parts_of(self, text: bytes) -> list[bytes]:
        parts = self._parts.get(text)
        if parts is None:
            parts = self._parts[text] = _PARTS.findall(text)
        return parts


class Run:
    """The steps of a machine along a ``walk`` of symbols.

    ``told``: whether each symbol always leads to the same state, so that a step is known by its
    symbol and the one before. Where that is not so, ``go`` must be called, which takes each step.
    """

    def __init__(self, machine: ProjectingMachine, walk: NDArray[np.integer[Any]]) -> None:
        self.machine = machine
        self.walk = walk
        self._pairs = pairs_of(walk, len(machine.symbols))
        self._steps_of_pairs = self._tell()
        self.told = self._steps_of_pairs is not None
        self._gone: NDArray[np.int64] | None = None
        if not self.told:
            machine.restart()

    @property
    def steps(self) -> list[Step]:
        """All steps that were made so far."""
        return self.machine.steps

    def _tell(self) -> NDArray[np.int64] | None:
        """For each of ``_pairs`` the number of its step;
        None unless each symbol always leads to the same state."""
        number = len(self.machine.symbols)
        follows: dict[int, list[int]] = {}
        for pair in self._pairs.tolist():
            follows.setdefault(pair // number, []).append(pair % number)
        todo = self.walk[:1].tolist()
        known = {first: self.machine.start[first] for first in todo}
        found: dict[int, int] = {}
        while todo:
            symbol = todo.pop()
            for following in follows.get(symbol, ()):
                step = known[symbol][following]
                found[symbol * number + following] = step.number
                if following not in known:
                    known[following] = step
                    todo.append(following)
                elif known[following].state != step.state:
                    return None
        return np.array([found[pair] for pair in self._pairs.tolist()], np.int64)

    def go(self) -> None:
        """Take the steps one by one."""
        walk = accumulate(self.walk.tolist(), getitem, initial=self.machine.start)
        next(walk)
        self._gone = np.fromiter(map(attrgetter("number"), walk), np.int64, len(self.walk))

    def check(self) -> None:
        """UntoldError, NotMapsError: where the text is wrong at any step."""
        wrong = [step.number for step in self.steps if step.error]
        if wrong:
            numbers = self._numbers(np.arange(len(self.walk)))
            places = np.flatnonzero(np.isin(numbers, wrong))
            if len(places):
                step = self.steps[int(numbers[places[0]])]
                assert step.error
                raise step.error(self.records(numbers[: places[0] + 1]))

    def loud(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places in the walk where anything is written, and the numbers of the steps there."""
        loud = np.array([step.loud for step in self.steps], bool)
        if self._gone is not None:
            places = np.flatnonzero(loud.take(self._gone))
            return places, self._gone.take(places)
        symbols = {step.symbol for step in self.steps if step.loud}
        places = np.flatnonzero(_is_one_of(self.walk, symbols, len(self.machine.symbols)))
        numbers = self._numbers(places)
        some = loud.take(numbers)
        return (places, numbers) if some.all() else (places[some], numbers[some])

    def _numbers(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the steps at these places of the walk."""
        if self._gone is not None or self._steps_of_pairs is None:
            assert self._gone is not None
            return self._gone[places]
        number = len(self.machine.symbols)
        at = self.walk[places]
        pairs = self.walk[places - 1] * (np.int32 if number <= _FEW else np.int64)(number) + at
        if number <= _FEW:
            table = np.empty(number * number, np.int64)
            table[self._pairs] = self._steps_of_pairs
            numbers: NDArray[np.int64] = table[pairs]
        else:
            which = np.searchsorted(self._pairs, pairs)
            numbers = self._steps_of_pairs[np.minimum(which, len(self._pairs) - 1)]
        if len(places) and places[0] == 0:
            numbers[0] = self.machine.start[int(at[0])].number
        return numbers

    def records(self, numbers: NDArray[np.int64]) -> int:
        """How many records end in these steps."""
        counts = np.bincount(numbers, minlength=len(self.steps)).tolist()
        return sum(step.ends * count for step, count in zip(self.steps, counts, strict=True))

    def end(self, numbers: NDArray[np.int64], trailer: bytes, *, last: bool) -> bytes | None:
        """What is written behind the walk; None where the text is wrong there.

        ``numbers``: of the steps for which anything was written; ``trailer``, ``last``: see ``end``
        of the machine.
        """
        step = self.machine.start
        if len(self.walk):
            step = self.steps[int(self._numbers(np.array([len(self.walk) - 1]))[0])]
        filled = len(numbers) > 0 and self.steps[int(numbers[-1])].filled
        return self.machine.end(step, trailer, filled=filled, last=last)


def pairs_of(walk: NDArray[np.integer[Any]], number: int) -> NDArray[np.int64]:
    """The different pairs of neighbours in ``walk``, each as first * ``number`` + second, sorted.
    All of ``walk`` are below ``number``."""
    if number <= _FEW:
        return np.flatnonzero(np.bincount(walk[:-1] * np.int32(number) + walk[1:]))
    return np.unique(walk[:-1].astype(np.int64) * number + walk[1:])


def _is_one_of(walk: NDArray[np.integer[Any]], symbols: set[int], number: int) -> NDArray[np.bool_]:
    """Which of ``walk``, all of them below ``number``, are among ``symbols``."""
    if len(symbols) > _FEW_COMPARED:
        table = np.zeros(number, bool)
        table[list(symbols)] = True
        taken: NDArray[np.bool_] = table.take(walk)
        return taken
    found = np.zeros(len(walk), bool)
    for symbol in symbols:
        found |= walk == symbol
    return found
