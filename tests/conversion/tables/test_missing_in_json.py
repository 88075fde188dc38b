"""Columns of JSON text in which values are missing, where losses are allowed."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack

RECORDS = [{"a": {"x": [1], "y": [2]}}, {"a": {"y": [3]}}, {"b": [1]}]


def _converted(records: Any, to: str, **how: Any) -> tuple[bytes, Any]:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(json.dumps(records).encode()), out, to=to, **how)
    return out.getvalue(), report


@pytest.mark.parametrize("to", ["csv", "tsv", "parquet", "arrow", "sqlite"])
def test_what_is_missing_is_not_lost(to: str) -> None:
    """Cells of CSV had the text ``"missing"``, for an object of a class, which may be let go."""
    how = {"shaping": serialpack.Shaping(flatten=True)}
    made, report = _converted(RECORDS, to, lossy=["all"], **how)
    assert not report.losses
    assert made == _converted(RECORDS, to, **how)[0] or to == "sqlite"
    if to == "csv":
        assert made == b"a.x,a.y,b\n[1],[2],\n,[3],\n,,[1]\n"


def test_what_is_missing_is_not_among_what_would_be_lost() -> None:
    """The hint named ``objects`` beside what it takes."""
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        _converted({"rows": RECORDS, "n": 1}, "csv", shaping=serialpack.Shaping(at="rows"))
    assert refused.value.hint == "--lossy around leaves it out"
