"""A word for null beside ``--infer`` and ``--types``: R writes NA, and such files were refused."""

from __future__ import annotations

import io
import json
from datetime import date
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.types.kept import kept_of
from serialpack.formats.csv.style import NEEDED
from tests.conversion.converting import records_of
from tests.conversion.types.test_types import converted

pq = pytest.importorskip("pyarrow.parquet")

TEXT = b"""\
id,x,name,when,ok
1,2.5,a,2020-01-01,TRUE
2,NA,NA,NA,NA
NA,3.5,"NA",2020-01-03,FALSE
"""
NA = Shaping(infer=True, null="NA")
VALUES: list[dict[str, Any]] = [
    {"id": 1, "x": 2.5, "name": "a", "when": date(2020, 1, 1), "ok": True},
    {"id": 2, "x": None, "name": None, "when": None, "ok": None},
    {"id": None, "x": 3.5, "name": "NA", "when": date(2020, 1, 3), "ok": False},
]
AS_TEXT = [{**each, "when": each["when"] and str(each["when"])} for each in VALUES]


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("target", ["parquet", "sqlite", "ndjson", "yaml"])
def test_cells_of_the_word_are_null_and_told(target: str, verify: bool) -> None:
    """In columns that get types and in text; what is quoted is text."""
    data, report = converted(TEXT, target, shaping=NA, verify=verify)
    (told,) = [loss for loss in report.carried if loss.rule == "nulls"]
    assert told[1:] == (5, 1, "$.x", "'NA'", "null")
    found = records_of(converted(data, "pickle", target)[0], "pickle")
    found = found[0] if len(found) == 1 else found
    assert found == (AS_TEXT if target in ("sqlite", "ndjson") else VALUES)


def test_other_readers_find_null() -> None:
    data, _ = converted(TEXT, "parquet", shaping=NA)
    table = pq.read_table(io.BytesIO(data))
    assert [str(kind) for kind in table.schema.types] == [
        *("int64", "double", "string", "date32[day]", "bool")
    ]
    assert table.to_pylist() == VALUES
    rows = b"a,b\n1,2.5\n2,NA\n" * 1
    np = pytest.importorskip("numpy")
    data, report = converted(rows, "npy", shaping=NA, lossy=("null",))
    found = np.load(io.BytesIO(data))
    assert found["a"].tolist() == [1, 2]
    assert str(found["b"].tolist()) == "[2.5, nan]"
    assert {loss.rule for loss in report.carried} == {"nulls"}


def test_strict_takes_no_word_for_null() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="cell of the word for null"):
        converted(TEXT, "ndjson", shaping=NA, strict=True)
    data, _ = converted(TEXT, "ndjson", shaping=NA, strict=True, lossy=("nulls",))
    assert data.count(b"null") == 5


def test_types_by_name_take_it_too() -> None:
    shaping = Shaping(types=(("when", "date"), ("id", "integer")), null="NA")
    data, _ = converted(TEXT, "parquet", shaping=shaping)
    rows = pq.read_table(io.BytesIO(data)).to_pylist()
    assert [(row["id"], row["x"], row["when"]) for row in rows] == [
        (1, "2.5", date(2020, 1, 1)),
        (2, None, None),
        (None, "3.5", date(2020, 1, 3)),
    ]


def test_in_blocks_of_few_rows_and_where_the_word_is_nowhere() -> None:
    rows: list[dict[str, Any]] = [{"n": None if n % 7 else n, "s": f"s{n}"} for n in range(500)]
    text = "n,s\n" + "".join(f"{'NA' if r['n'] is None else r['n']},{r['s']}\n" for r in rows)
    data, report = converted(text.encode(), "parquet", shaping=NA, block_size=300)
    assert pq.read_table(io.BytesIO(data)).to_pylist() == rows
    assert [loss.count for loss in report.carried] == [sum(r["n"] is None for r in rows)]
    _, report = converted(b"n\n1\n", "parquet", shaping=NA)
    assert not report.carried


def test_without_types_it_is_still_of_no_use() -> None:
    with pytest.raises(serialpack.UsageError, match="null is for cells") as caught:
        converted(TEXT, "json", shaping=Shaping(null="NA"))
    assert 'shaping=Shaping(infer=True, null="NA") reads' in str(caught.value)


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("to", ["csv", "tsv"])
def test_between_tables_of_text_cells_stay_as_they_are_spelled(to: str, verify: bool) -> None:
    """Each number was quoted, as text is where a word for null is written beside values."""
    text = TEXT.replace(b"2.5", b"2.50").replace(b",FALSE", b",")
    data, report = converted(text, to, shaping=NA, verify=verify, strict=True)
    assert data == (text if to == "csv" else text.replace(b",", b"\t"))
    assert not report.carried
    assert not report.back


def test_a_word_for_null_in_a_table_of_one_column() -> None:
    text = b'a\n1\nNA\n"NA"\n""\n'
    assert converted(text, "csv", shaping=NA)[0] == text


def test_columns_that_are_left_out_have_none() -> None:
    """Their cells of the word were counted too."""
    _, report = converted(TEXT, "ndjson", shaping=NA, fields=["name", "x"])
    assert [loss.count for loss in report.carried] == [2]
    dotted = b"a.b,a.c,d\nNA,NA,NA\n"
    for fields, count in (["a"], 2), (["a.c"], 1), (["a.b", "d"], 2):
        _, report = converted(dotted, "ndjson", shaping=NA._replace(nest=()), fields=fields)
        assert [loss.count for loss in report.carried] == [count]


@pytest.mark.parametrize("target", ["parquet", "arrow", "sqlite"])
@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        b'"a";"n"\r\n"x";NA\r\nNA;2.50\r\n"NA";3.00',  # as R writes it
        b"only\nNA\n1\n",
        b"a,t\nNA,NA\nNA,\n",
    ],
)
def test_the_very_bytes_come_back(text: bytes, target: str) -> None:
    """How the cells of a table were written was kept without such a word alone."""
    data, report = converted(text, target, shaping=NA)
    assert report.comes_back == "bytes"
    back, told = converted(data, "csv", target)
    assert back == text
    assert told.back[-2:] == ("--null", "NA")


def test_types_by_name_bring_the_bytes_back_too() -> None:
    shaping = Shaping(types=(("x", "number"),), null="NA")
    text = b"x,s\n1.50,NA\nNA,\n"
    data, report = converted(text, "parquet", shaping=shaping)
    assert report.comes_back == "bytes"
    assert converted(data, "csv", "parquet")[0] == text


@pytest.mark.parametrize("shaping", [NA, Shaping(types=(("x", "number"),), null="NA")])
def test_where_empty_cells_are_null_as_well_nothing_is_said_to_come_back(shaping: Shaping) -> None:
    data, report = converted(b"x,s\n1.50,a\nNA,b\n,c\n", "parquet", shaping=shaping)
    assert report.comes_back == ""
    assert converted(data, "csv", "parquet")[0] == b"x,s\n1.5,a\n,b\n,c\n"


@pytest.mark.parametrize("word", ["NA", "a,b", 'a"', "a\n", 1, None])
def test_a_word_that_would_be_no_cell_is_not_kept(word: Any) -> None:
    words = {"version": 1, "head": "x\n", "delimiter": ",", "newline": "\n", "end": True}
    columns = {"x": ["integer", "", NEEDED, word]}
    kept = kept_of(json.dumps({**words, "columns": columns}).encode())
    assert (kept is not None) is (word == "NA")
