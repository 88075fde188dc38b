"""Values as the text that they were in a table of text, as a typed table kept it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import is_
from typing import Any

from serialpack.conversion.types.kept import KeptTable
from serialpack.conversion.types.seen import TypesSeen
from serialpack.conversion.types.spelling import COMMA, TEXT
from serialpack.errors import InputError
from serialpack.values.kinds import Loss, shown, value_step
from serialpack.values.missing import MISSING

#: The rule by which values of a type are text in a cell.
_RULES = {
    **dict.fromkeys(("integer", "number", "boolean", COMMA), "cells"),
    "decimal": "decimals",
    "complex": "complex",
}


class Untyper:
    """Gives the columns of a typed table the text that they were kept with."""

    def __init__(self, kept: KeptTable) -> None:
        self._kept = kept
        #: Where it is only looked which columns are still as they were kept.
        self.seen: TypesSeen | None = None

    def look_at(self, columns: dict[str, Sequence[Any]] | None) -> TypesSeen | None:
        """Which of the columns, that records are, are no more as they were kept; None where there
        are none."""
        self.seen = TypesSeen()
        if columns:
            self.apply_to_columns(columns, 0)
        return self.seen if columns else None

    def apply(self, records: list[Any], first_record: int, _allowed: object) -> list[Loss]:
        """Put text in the place of values, within ``records``; what is to be told of that.

        A column that is no more as it was kept stays as it is.
        """
        told: list[Loss] = []
        if not {dict}.issuperset(map(type, records)):
            return told
        for name in self._kept.columns:
            values = [record.get(name, MISSING) for record in records]
            texts, losses = self._texts(name, values, first_record)
            for record, text in zip(records, texts or (), strict=False):
                record[name] = text
            told += losses
        return told

    def apply_to_columns(
        self, columns: dict[str, Sequence[Any]], first_record: int
    ) -> tuple[dict[str, Sequence[Any]], list[Loss]]:
        """As ``apply``, of records that are their columns, which stay as they are; those with text
        in their place, and what is to be told."""
        made, told = dict(columns), list[Loss]()
        for name in self._kept.columns:
            values = columns.get(name)
            if values is None and self.seen is None:
                continue
            values = [MISSING] if values is None else values
            texts, losses = self._texts(name, values, first_record)
            if texts is not None and name in made:
                made[name] = texts
            told += losses
        return made, told

    def _texts(
        self, name: str, values: Sequence[Any], first_record: int
    ) -> tuple[list[Any] | None, list[Loss]]:
        """The text for the values of a column, and what is to be told of it; None where they
        stay."""
        column = self._kept.columns[name]
        if (texts := column.proved_texts(values)) is None:
            if self.seen is not None:
                self.seen.misfits.add(name)
            elif not all(value is MISSING for value in values):
                changed = "it has other records than when it was looked at"
                raise InputError(changed, hint="run it again")
            return None, []
        if column.spelling.type == TEXT:
            return None, []
        rule = _RULES.get(column.spelling.type, "timestamps")
        return texts, _told(rule, name, values, texts, first_record)


def _told(
    rule: str, name: str, values: Sequence[Any], texts: list[Any], first_record: int
) -> list[Loss]:
    found = []
    empty = sum(map(is_, values, repeat(None)))
    path = "$" + value_step(name)
    if empty < len(values):
        first = next(number for number, value in enumerate(values) if value is not None)
        place = first_record + first, path
        found.append(Loss(rule, len(values) - empty, *place, shown(values[first]), texts[first]))
    if empty:
        place = first_record + values.index(None), path
        found.append(Loss("null", empty, *place, "null", "an empty cell"))
    return found
