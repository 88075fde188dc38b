"""What came of a conversion (``Converted``), and the tally of its blocks (``BlockTally``).

The tally adds up what was changed, left out and found in each block, and makes the errors that
only all blocks together show: that no record is left, or that a map has a key twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from serialpack.columns.fields.wanted import Field
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rules import TEXT_TABLES
from serialpack.conversion.plan import ConversionPlan, Found
from serialpack.conversion.targets.writers import delimiters_of
from serialpack.errors import InputError, RefusedError, ValueRefusedError, Ways
from serialpack.formats.base import ValueFormat
from serialpack.pipeline.line import Line
from serialpack.reports import LeftOut
from serialpack.values.kinds import BLANK_LINES, COLUMNS, NO_ROWS, NULLS, Loss

#: The most that is told of what was left out, one by one.
_MOST_LEFT_OUT = 1000

#: The rules by which a typed table holds something else than it has the spelling of, so that the
#: cells come back all the same. By others the value of a type is text, or a row has other fields.
_TURNED_BACK = frozenset({"booleans", "missing", "null", BLANK_LINES, NULLS})

#: Called with the fields that there were so far.
Seen = Callable[[frozenset[Field]], object]


class Converted(NamedTuple):
    """What came of a conversion. ``left_out``: how many pieces, ``places``: the first of them.

    ``records``: how many are in the target; None where they were not counted. ``fields``: which
    of the plan's there were. ``same``: what the plan keeps writes the very bytes of the source.
    ``at``: the path at which they stand in the target, where that has put something around them.
    """

    read: int
    records: int | None
    losses: list[Loss]
    left_out: int
    places: list[LeftOut]
    seconds: dict[str, float]
    fields: frozenset[Field] = frozenset()
    same: bool = False
    at: str = ""


class BlockTally:
    """What happened in all blocks so far."""

    def __init__(
        self, plan: ConversionPlan, line: Line, losses: Losses | None, seen: Seen | None
    ) -> None:
        self._line = line
        self._target = plan.target
        self._seen = seen
        self.left_out = 0
        self.losses = losses or Losses(plan.lossy)
        self.places: list[LeftOut] = []
        self._broken = False
        self.fields: frozenset[Field] = frozenset()
        self._keys = bytearray()
        self._same = True
        #: What the target has the names of also where it has no rows.
        columns = () if plan.layout is None else plan.layout.columns
        self._columns = frozenset(column.path for column in columns)

    def add(self, found: Found) -> None:
        """Count what was found in one more block."""
        self.losses.merge(found.losses)
        self.leave_out(found.left_out)
        self._keys += found.keys
        self.fields |= found.fields
        if self._seen is not None:
            self._seen(self.fields)
        self._same = self._same and found.same

    def leave_out(self, places: list[LeftOut]) -> None:
        self.left_out += len(places)
        self._broken = self._broken or not all(place.refused for place in places)
        self.places += places[: _MOST_LEFT_OUT - len(self.places)]

    def none_left(self) -> InputError | RefusedError:
        """That no record is left: the source is broken, or has only what is refused."""
        kind = InputError if self._broken else RefusedError
        return kind(f"no record is left: {self.places[0].error}")

    def check_any(self, count: int, fmt: ValueFormat) -> None:
        """An error where no record is left, or where there was none to say the columns by."""
        if count:
            return
        self.fields |= self._columns
        if self.left_out:
            raise self.none_left()
        names = [] if self._columns else [*fmt.sample(self._line.first)]
        if not names:
            return
        if not fmt.declared.delimiter:
            told = Loss(NO_ROWS, len(names), 0, "$", f"{', '.join(names):.60}", "")
            check_dropped([told], self.losses, self._target)
            self.losses.merge([told])
        elif COLUMNS in self.losses.allowed:
            self.losses.merge([Loss(COLUMNS, 1, 0, "$", "the names of columns", "")])
        else:  # which may be a record, of a table that has no names
            way = () if fmt.declared.headless else ("--no-header takes its line as a record",)
            raise ValueRefusedError(
                "a table without rows: the names of its columns would be lost",
                kind=COLUMNS,
                hint=Ways((COLUMNS,), "drops them", way),
            )

    def check_keys(self) -> None:
        """ValueRefusedError where a map, which came member by member, has a key twice."""
        if not self._keys:
            return
        from serialpack.formats.pieces.keys import repeated

        if (pair := repeated(self._keys)) is not None:
            raise ValueRefusedError(
                f"a map has a key twice: its members {pair[0]} and {pair[1]}",
                record=0,
                kind="duplicate-keys",
            )

    def done(self, records: int) -> Converted:
        """What came of all blocks; ``records`` are in the target."""
        line, losses = self._line, self.losses.report()
        return Converted(
            line.read,
            records,
            losses,
            self.left_out,
            self.places,
            line.seconds,
            self.fields,
            self._same and not self.left_out,
        )


def comes_back(plan: ConversionPlan, done: Converted, *, as_it_is: bool) -> str:
    """What of a table of text comes back from a table that keeps how it was written."""
    if plan.kept is None or plan.target in TEXT_TABLES:
        return ""
    kept = plan.kept
    changed = not {loss.rule for loss in done.losses} <= _TURNED_BACK
    changed = changed or bool(kept.head and not kept.first_line([*kept.columns]))
    if changed or done.left_out or plan.fields or not plan.verify:
        return ""
    return "bytes" if done.same and as_it_is else "cells"


def comes_back_by(plan: ConversionPlan) -> str:
    """The format as which a table of text comes back, where its delimiter is that of one format
    alone (tabs); else empty."""
    if plan.kept is None:
        return ""
    mark = [plan.kept.delimiter]
    return next((to for to in sorted(TEXT_TABLES) if delimiters_of(to) == mark), "")
