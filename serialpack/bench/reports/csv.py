"""``--format csv``: a line for each row, with every figure in full."""

from __future__ import annotations

import csv as library
import io
from typing import Any

from serialpack.bench.measuring.trials import STEPS
from serialpack.bench.reports.row_columns import anchor_row
from serialpack.bench.results import Results, Row

#: The fields of a row that are by step: each step has a column ``seconds_STEP``, and one
#: ``means_STEP``.
BY_STEP = ("seconds", "means")

#: The columns: whether it is a row or an anchor, the fields of a row, and the steps.
KEYS = (
    "kind",
    *(key for key in Row._fields if key not in BY_STEP),
    *(f"{key}_{step}" for key in BY_STEP for step in STEPS),
)


def csv(results: Results) -> str:
    """All rows, then the anchors; lists as words with spaces between; nothing for what is None."""
    text = io.StringIO()
    writer = library.DictWriter(text, KEYS, lineterminator="\n")
    writer.writeheader()
    for row in results.rows:
        writer.writerow(_line("row", row))
    for anchor in results.anchors:
        writer.writerow(_line("anchor", anchor_row(anchor)))
    return text.getvalue()


def _line(kind: str, row: Row) -> dict[str, Any]:
    values: dict[str, Any] = {"kind": kind, **row._asdict()}
    for key in BY_STEP:
        times = values.pop(key) or {}
        values |= {f"{key}_{step}": times.get(step) for step in STEPS}
    return {key: _cell(value) for key, value in values.items()}


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value) if isinstance(value, list) else value
