"""Values as the text that they were in a table of text, as a typed table kept it."""

from __future__ import annotations

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

    def apply(self, records: list[Any], first_record: int, _allowed: object) -> list[Loss]:
        """Put text in the place of values, within ``records``; what is to be told of that.

        A column that is no more as it was kept stays as it is.
        """
        told: list[Loss] = []
        if not {dict}.issuperset(map(type, records)):
            return told
        for name, column in self._kept.columns.items():
            values = [record.get(name, MISSING) for record in records]
            if (texts := column.proved_texts(values)) is None:
                if self.seen is None:
                    if all(value is MISSING for value in values):
                        continue
                    changed = "it has other records than when it was looked at"
                    raise InputError(changed, hint="run it again")
                self.seen.misfits.add(name)
                continue
            if column.spelling.type == TEXT:
                continue
            for record, text in zip(records, texts, strict=True):
                record[name] = text
            rule = _RULES.get(column.spelling.type, "timestamps")
            told += _told(rule, name, values, texts, first_record)
        return told


def _told(
    rule: str, name: str, values: list[Any], texts: list[str], first_record: int
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
