"""Tables that are mostly empty: rows written some at a time are those that are written at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables import shape
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.reports import ConvertReport

TARGETS = ("csv", "tsv", "parquet", "arrow", "avro", "sqlite")

#: Records of other keys each, and some that have what is in many cells.
RECORDS: list[dict[str, Any]] = [
    {f"k{n}": n, "all": "x,\n" if n % 3 else None, f"m{n % 4}": {"a": n, f"b{n % 2}": [n]}}
    for n in range(23)
]


def _few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are written two or three at a time."""
    monkeypatch.setattr(shape, "MOST_CELLS", 20)
    monkeypatch.setattr(shape, "_AT_A_TIME", 64)


def _converted(folder: Path, source: Path, to: str, **how: Any) -> tuple[bytes, ConvertReport]:
    target = folder / f"out.{to}"
    report = serialpack.convert(source, target, to=to, threads=1, force=True, **how)
    return target.read_bytes(), report


def _source(folder: Path, name: str, records: list[Any]) -> Path:
    path = folder / name
    lines = [json.dumps(record) for record in records]
    text = "".join(f"{line}\n" for line in lines)
    if name.endswith(".yaml"):
        text = "".join(f"- {line}\n" for line in lines)
    if name.endswith(".json"):
        text = "[" + ",".join(lines) + "]"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["x.ndjson", "x.json", "x.yaml"])
@pytest.mark.parametrize("to", TARGETS)
def test_the_same_rows_and_the_same_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, to: str
) -> None:
    source = _source(tmp_path, name, RECORDS)
    whole, told = _converted(tmp_path, source, to)
    _few_cells(monkeypatch)
    parts, told_of_parts = _converted(tmp_path, source, to)
    if to in ("csv", "tsv"):
        assert parts == whole
    else:  # in other groups of rows
        (tmp_path / "whole").write_bytes(whole)
        (tmp_path / "parts").write_bytes(parts)
        again = [tmp_path / f"{each}.ndjson" for each in ("whole", "parts")]
        for path in again:
            serialpack.convert(tmp_path / path.stem, path, to="ndjson", format=to)
        assert again[0].read_bytes() == again[1].read_bytes()
    assert told_of_parts.carried == told.carried
    assert told_of_parts.records == len(RECORDS)


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_what_is_refused_is_named_left_out_or_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    _few_cells(monkeypatch)
    records = [*RECORDS[:9], {"k9": "\ud800"}, *RECORDS[10:]]
    source = _source(tmp_path, "x.ndjson", records)
    with pytest.raises(ValueRefusedError) as refused:
        _converted(tmp_path, source, to)
    assert refused.value.record == 9
    left_out = _converted(tmp_path, source, to, skip_bad=True)[1]
    assert [place.record for place in left_out.places] == [9]
    assert left_out.records == len(records) - 1
    lossy = _converted(tmp_path, source, to, lossy=["utf8"])[1]
    assert [(loss.rule, loss.count, loss.record) for loss in lossy.losses] == [("utf8", 1, 9)]
    with pytest.raises(ValueRefusedError):
        _converted(tmp_path, _source(tmp_path, "y.ndjson", RECORDS), to, strict=True)


def test_what_would_take_far_more_memory_than_its_source_is_refused(tmp_path: Path) -> None:
    """Before anything is written: 0.7 MB took gigabytes, and minutes."""
    source = tmp_path / "own.ndjson"
    source.write_text("".join(f'{{"k{number}":1}}\n' for number in range(10_000)))
    with pytest.raises(RefusedError, match=r"10,000 columns that is mostly empty: .* 928 MiB"):
        _converted(tmp_path, source, "parquet")
    assert not (tmp_path / "out.parquet").exists()
    few = tmp_path / "few.ndjson"
    few.write_text("".join(f'{{"k{number}":1}}\n' for number in range(300)))
    _converted(tmp_path, few, "parquet")
