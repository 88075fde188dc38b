"""Records of a document that has its table by columns, ``--columnar``."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.conversion.tables.shaping import Shaping

ROWS = [{"a": 1, "b": "x"}, {"a": None, "b": [2]}]
COLUMNS = {"a": [1, None], "b": ["x", [2]]}
FORMS: dict[str, Any] = {
    "list": COLUMNS,
    "columns": {"a": {"0": 1, "1": None}, "b": {"0": "x", "1": [2]}},
    "split": {"columns": ["a", "b"], "data": [[1, "x"], [None, [2]]]},
    "split with labels": {"columns": ["a", "b"], "index": [0, 1], "data": [[1, "x"], [None, [2]]]},
}


def read(document: Any, to: str = "json", at: str | None = None, **how: Any) -> Any:
    out, data = io.BytesIO(), io.BytesIO(json.dumps(document).encode())
    shaping = Shaping(at=at, columnar=True)
    serialpack.convert(data, out, format="json", to=to, shaping=shaping, **how)
    return out.getvalue() if to == "csv" else json.loads(out.getvalue())


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_records(form: str) -> None:
    assert read(FORMS[form]) == ROWS
    assert read(FORMS[form], "csv") == b'a,b\n1,"""x"""\n,[2]\n'
    assert read({"deep": {"table": FORMS[form]}}, at="deep.table") == ROWS


@pytest.mark.parametrize("orient", ["columns", "split"])
def test_what_pandas_writes_is_what_it_had(orient: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": [1.5, None], "name": ["x", "y"]}, index=["p", "q"])
    found = read(json.loads(frame.to_json(orient=orient)))
    assert found == [
        {"index": "p", "t": 1.5, "name": "x"},
        {"index": "q", "t": None, "name": "y"},
    ]
    assert list(found[0]) == ["index", "t", "name"]
    counted = json.loads(frame.reset_index(drop=True).to_json(orient=orient))
    assert read(counted) == [{"t": 1.5, "name": "x"}, {"t": None, "name": "y"}]


def test_columns_of_other_documents() -> None:
    out = io.BytesIO()
    data = io.BytesIO(pickle.dumps({"x": (1, 2), "y": [3, 4]}))
    how: dict[str, Any] = {
        "format": "pickle",
        "to": "csv",
        "trust": True,
        "shaping": Shaping(columnar=True),
    }
    with pytest.raises(serialpack.UsageError, match=r"\$\.x is"):
        serialpack.convert(data, out, **how)  # a tuple is no list
    data = io.BytesIO(b"y: [3, 4]\nz: [5, 6]\n")
    serialpack.convert(data, out, **how | {"format": "yaml"})
    assert out.getvalue() == b"y,z\n3,5\n4,6\n"


def test_arrays_by_name_are_columns(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    np.savez(tmp_path / "a.npz", x=np.arange(2), y=np.array([0.5, 1.5]))
    out = tmp_path / "a.csv"
    serialpack.convert(tmp_path / "a.npz", out, shaping=Shaping(columnar=True))
    assert out.read_bytes() == b"x,y\n0,0.5\n1,1.5\n"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"a": [1, 2], "b": [1]}, "2 values of 'a', 1 of 'b'"),
        ({"a": [1], "b": 2}, r"\$\.b is 2"),
        ({"a": 1}, r"\$\.a is 1"),
        ({"a": None, "b": None}, r"\$\.a is null"),
        ({"a": "xy"}, r"\$\.a is 'xy'"),
        ({"a": [1], "b": {"0": 2}}, r"\$\.b is "),
        ({"a": {"x": 1}, "b": {"y": 1}}, r"\$\.b has other labels"),
        ({"a": {"x": 1, "y": 2}, "b": {"y": 1, "x": 2}}, r"\$\.b has other labels"),
        ({"columns": ["a", "a"], "data": [[1, 2]]}, r"\$\.columns are no names"),
        ({"columns": ["a", 1], "data": [[1, 2]]}, r"\$\.columns are no names"),
        ({"columns": ["a", "b"], "data": [[1, 2], [1]]}, r"\$\.data\[1\] is no list of 2"),
        ({"columns": ["a"], "data": [[1]], "index": [5, 6]}, "2 values of 'index', 1 of 'a'"),
        ({"columns": ["index"], "data": [[1]], "index": [5]}, "a column 'index', and labels"),
        ([{"a": [1]}, {"a": [2]}], r"\$ is list, no map"),
    ],
)
def test_what_is_no_table_by_columns(document: Any, said: str) -> None:
    with pytest.raises(serialpack.UsageError, match=said) as caught:
        read(document)
    assert 'at="PATH"' in str(caught.value)


def test_tables_without_rows() -> None:
    """Their columns would go without a word."""
    assert read({}) == []
    documents: list[Any] = [{"a": [], "b": []}, {"columns": ["a"], "index": [], "data": []}]
    for document in documents:
        with pytest.raises(serialpack.ValueRefusedError, match="names of its columns would be"):
            read(document)
        assert read(document, lossy=["columns"]) == []


def test_labels_that_only_equal_numbers_are_kept() -> None:
    for labels in ([False, True], [0.0, 1.0]):
        found = read({"columns": ["a"], "index": labels, "data": [[1], [2]]})
        assert [repr(record["index"]) for record in found] == list(map(repr, labels))


def test_columns_that_are_called_as_those_of_split_are() -> None:
    found = read({"columns": [1, 2], "data": ["x", "y"]})
    assert found == [{"columns": 1, "data": "x"}, {"columns": 2, "data": "y"}]


def test_what_stands_around_it_is_named() -> None:
    document = {"place": "x", "hourly": COLUMNS}
    with pytest.raises(serialpack.ValueRefusedError, match=r"\$\.place"):
        read(document, at="hourly")
    assert read(document, at="hourly", lossy=["around"]) == ROWS


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (FORMS["list"], "--columnar reads its lists as columns"),
        (FORMS["columns"], "--columnar reads its lists as columns"),
        (FORMS["split"], "--columnar reads its lists as columns"),
        (
            {"u1": {"name": "Ada", "age": 3}, "u2": {"name": "Alan", "age": 4}},
            "--columnar reads its maps as columns; jq -c 'to_entries[] | {key} + .value' FILE",
        ),
        ({"n": 1, "a b": COLUMNS}, "--at 'a b' --columnar reads the lists there"),
        ({"a": [1], "b": [2]}, ""),
        ({"a": [1, 2], "b": [2]}, ""),
        ({"a": [{}, {}], "b": [{}, {}]}, ""),
        ({"a": [1, 2]}, ""),
        ([COLUMNS, COLUMNS], ""),
    ],
)
def test_one_row_says_how_its_columns_are_read(
    tmp_path: Path, capfd: Any, document: Any, words: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    assert run(["unpack", "--to", "csv", str(path)]) == 0
    said = capfd.readouterr().err
    assert (words in said) if words else ("--columnar" not in said)
