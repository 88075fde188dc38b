"""``--fields``: reads what the user named (``Fields``), and takes only that of records.

``Projector`` works on values, for formats that have no columns to read alone. Its rules are those
of ``columns.fields.json``.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from serialpack.columns.fields.wanted import Field, Wanted, wanted
from serialpack.conversion.losses.rules import EVERY
from serialpack.errors import RefusedError, UsageError, ValueRefusedError, Ways
from serialpack.values.kinds import FIELDS, Loss, value_step


class Fields:
    """The fields that the user named: ``a``, ``b.c``.

    Names are separated and quoted as the fields of a line of CSV. One with dots is the way to a
    field, or a key that has them. UsageError where one is empty, or quotes are odd.
    """

    def __init__(self, names: Sequence[str]) -> None:
        try:
            rows = [next(csv.reader([text], strict=True)) for text in names]
        except csv.Error:
            raise UsageError("--fields is no line of CSV", hint='--fields a,b.c,"d, e"') from None
        self.names = [name for row in rows for name in row or [""]]
        if not all(self.names) or any("" in name.split(".") for name in self.names):
            raise UsageError("a field without a name", hint="--fields a,b.c")
        #: How each name may be read.
        self._readings = {name: {(name,), tuple(name.split("."))} for name in self.names}

    @property
    def paths(self) -> tuple[Field, ...]:
        """All that the names may mean."""
        return tuple(sorted(set().union(*self._readings.values())))

    @property
    def columns(self) -> frozenset[str]:
        """The keys of records in which all of them are."""
        return frozenset(path[0] for path in self.paths)

    def missing(self, found: Iterable[Field]) -> list[str]:
        """The names of which no reading is among ``found``, nor inside of what is."""
        there = set(found)
        return [
            name
            for name, readings in self._readings.items()
            if not any(
                path[:steps] in there for path in readings for steps in range(1, len(path) + 1)
            )
        ]


def fields_lost(missing: Sequence[str], lossy: Collection[str]) -> Loss:
    """That no record has some fields; ValueRefusedError where ``lossy`` does not allow that."""
    first = "$" + "".join(map(value_step, missing[0].split(".")))
    if not {FIELDS, EVERY} & set(lossy):
        raise ValueRefusedError(
            f"no record has a field {' or '.join(missing)}",
            value_path=first,
            kind=FIELDS,
            hint=Ways((FIELDS,), "goes on without"),
        )
    return Loss(FIELDS, len(missing), 0, first, "a field that was asked for", "")


class Projector:
    """Takes ``wanted`` out of records. ``found``: the fields that were there so far."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.found: set[Field] = set()

    @classmethod
    def of(cls, fields: Sequence[Field]) -> Projector | None:
        """One for ``fields``; None where all of a record is wanted."""
        return cls(wanted(fields)) if fields else None

    def records(self, records: list[Any], first_record: int) -> list[Any]:
        """The records with the wanted fields; RefusedError for one that is no map."""
        for number, record in enumerate(records):
            if not isinstance(record, dict):
                raise RefusedError(
                    f"record {first_record + number} is no map: it has no fields",
                    hint="convert it without --fields",
                )
        return [self._map(record, self._wanted) for record in records]

    def names(self, names: Iterable[str]) -> list[str]:
        """Which of the columns ``names``, in which no value holds others, the records get."""
        inner = self._wanted.inner
        taken = [name for name in names if name in inner and inner[name].whole]
        self.found.update((name,) for name in taken)
        return taken

    def _map(self, value: dict[Any, Any], wanted: Wanted) -> dict[Any, Any]:
        """A map with only the wanted of its keys, and of their values."""
        found = {}
        for key, each in value.items():
            inner = wanted.inner.get(key) if isinstance(key, str) else None
            if inner is None:
                continue
            if inner.whole:
                self.found.add(inner.field)
                found[key] = each
            elif isinstance(each, dict | list):
                found[key] = self._inside(each, inner)
        return found

    def _inside(self, value: Any, wanted: Wanted) -> Any:
        if isinstance(value, dict):
            return self._map(value, wanted)
        return [self._inside(v, wanted) if isinstance(v, dict | list) else None for v in value]
