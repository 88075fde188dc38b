"""Records of lists below one of names, ``--header``."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.conversion.tables.shaping import Shaping

LISTS = [["a", "b"], [1, "x"], [None, [2]]]
RECORDS = [{"a": 1, "b": "x"}, {"a": None, "b": [2]}]


def read(document: Any, format: str = "json", at: str | None = None, **how: Any) -> Any:
    lines = document if format == "ndjson" else [document]
    data = io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())
    out, shaping = io.BytesIO(), Shaping(at=at, header=True)
    serialpack.convert(data, out, format=format, to="json", shaping=shaping, **how)
    return json.loads(out.getvalue())


def test_lists_below_names_are_records() -> None:
    assert read(LISTS) == read(LISTS, "ndjson") == read({"x": {"y": LISTS}}, at="x.y") == RECORDS
    assert read([["a", "b"], [1], []]) == [{"a": 1}, {}]
    assert read([]) == []
    with pytest.raises(serialpack.ValueRefusedError, match="names of its columns would be lost"):
        read([["a", "b"]])
    assert read([["a", "b"]], lossy=["columns"]) == []


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"a": 1}, r"\$\[0\] is no list of names"),
        ([["a", "a"], [1, 2]], r"\$\[0\] is no list of names"),
        ([["a", 1], [1, 2]], r"\$\[0\] is no list of names"),
        ([[], []], r"\$\[0\] is no list of names"),
        ([["a"], [1], [1, 2]], r"\$\[2\] is no list of 1 at most"),
        ([["a"], {"a": 1}], r"\$\[1\] is no list of 1 at most"),
    ],
)
def test_what_are_no_lists_below_names(document: Any, said: str) -> None:
    with pytest.raises(serialpack.UsageError, match=said) as caught:
        read(document)
    assert 'at="PATH"' in str(caught.value)


def test_it_goes_without_columnar() -> None:
    shaping = Shaping(header=True, columnar=True)
    with pytest.raises(serialpack.UsageError, match="exclude each other"):
        serialpack.convert(io.BytesIO(b"[]"), io.BytesIO(), to="csv", shaping=shaping)


@pytest.mark.parametrize(
    ("document", "target", "told"),
    [
        (LISTS, "parquet", True),
        (LISTS, "sqlite", True),
        (LISTS, "csv", False),  # where the first row is the line of names
        ([["a", "b"], ["c", "d"]], "parquet", False),
        ([["a", 1], ["c", 2]], "parquet", False),
        ([["a", "b"]], "parquet", False),
        ([["a", "a"], [1, 2]], "parquet", False),
    ],
)
def test_a_first_row_of_names_is_told(
    tmp_path: Path, capfd: Any, document: Any, target: str, *, told: bool
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    assert run(["unpack", "--to", target, str(path)]) == 0
    assert ("the first row looks like names: --header" in capfd.readouterr().err) is told
