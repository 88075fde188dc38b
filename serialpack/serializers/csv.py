"""csv and tsv: tables of text, by the standard library, as RFC 4180 has them."""

from __future__ import annotations

from typing import Any

from serialpack.formats import FORMATS
from serialpack.formats.csv.tokens import rows_of
from serialpack.formats.csv.write import write
from serialpack.serializers.base import RecordSerializer
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import KINDS, Difference, bare, value_step


class CsvSerializer(RecordSerializer):
    """A header line and a row for each record; each block has a header of its own.

    Records are maps of text with the same keys in the same order.
    """

    stored_format = "csv"
    cannot = frozenset(KINDS) - {"text", "control"}
    tabular = True
    text = True
    about = "comma-separated values, by the standard library"

    def _dump(self, records: list[Any]) -> bytes:
        return write(records, self._delimiter)

    @property
    def _delimiter(self) -> str:
        return FORMATS.declaration(self.dialect or self.stored_format).delimiter.decode()

    def _load(self, data: Buffer) -> list[Any]:
        rows = rows_of(str(data, "utf-8"), self._delimiter)
        if not rows:
            return []
        names = rows.pop(0)
        if not names or len(set(names)) < len(names):
            raise ValueError("no header line")
        if not {len(names)}.issuperset(map(len, rows)):
            raise ValueError("a row that does not fit the header")
        return [dict(zip(names, row)) for row in rows]  # noqa: B905 (slower, and just checked)

    def blame(self, records: list[Any], error: Exception) -> Difference:
        names = list(records[0]) if records and type(records[0]) is dict else []
        for number, record in enumerate(records):
            if type(record) is not dict:
                return bare(record)._replace(record=number)
            if not record:
                return Difference(number, "$", "a map without keys", "", "value")
            lost = _first_lost(number, record)
            if lost is not None:
                return lost
            if list(record) != names:
                return Difference(number, "$", "other keys than before", "", "mixed")
        return super().blame(records, error)


def _first_lost(number: int, record: dict[Any, Any]) -> Difference | None:
    from serialpack.values.kind_of import lost_value

    for key, value in record.items():
        for part, is_key in ((key, True), (value, False)):
            lost = lost_value("$" if is_key else f"${value_step(key)}", part, is_key=is_key)
            if lost.kind in ("text", "control"):
                continue
            nested = not is_key and isinstance(value, dict | list)
            return lost._replace(record=number, kind="nested" if nested else lost.kind)
    return None


class TsvSerializer(CsvSerializer):
    """As csv, with tabs between the fields."""

    stored_format = "tsv"
    about = "tab-separated values, by the standard library"
