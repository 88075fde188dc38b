"""Records of any shape as tables of text, and back by the words of the report."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import serialpack
from serialpack.cli.app import run
from serialpack.conversion.tables.closing_line import closing_words
from serialpack.conversion.tables.shaping import Shaping, column_names


def to_csv(records: Any, to: str = "csv", **how: Any) -> tuple[str, Any]:
    out = io.BytesIO()
    data = json.dumps(records).encode("utf-8", "surrogatepass")
    report = serialpack.convert(io.BytesIO(data), out, format="json", to=to, **how)
    return out.getvalue().decode(), report


def back(text: str, words: list[str], source: str = "csv") -> Any:
    """The records of a table, read by words of the command line."""
    null = words[words.index("--null") + 1] if "--null" in words else None
    nest = None
    if "--nest" in words:
        after = words[words.index("--nest") + 1 :][:1]
        nest = column_names(after[0]) if after and not after[0].startswith("--") else ()
    separator = words[words.index("--separator") + 1] if "--separator" in words else "."
    shaping = Shaping(null, "--typed" in words, nest, separator=separator)
    out = io.BytesIO()
    data = io.BytesIO(text.encode())
    serialpack.convert(data, out, format=source, to="json", shaping=shaping)
    return json.loads(out.getvalue())


ROUND = {
    "a list beside its text": ([{"a": [1, 2]}, {"a": "[1,2]"}], 'a\n"[1,2]"\n"""[1,2]"""\n'),
    "null": ([{"a": None}], "a\nnull\n"),
    "a map beside a number": ([{"a": {"b": 1}}, {"a": 5}], 'a\n"{""b"":1}"\n5\n'),
    "a dot in a key": ([{"a.b": 1}], "a.b\n1\n"),
    "a dot in a key beside a map": ([{"a.b": 1, "c": {"d": 2}}], "a.b,c/d\n1,2\n"),
    "a dot in a key of a map": ([{"a": {"b.c": 1}}], "a/b.c\n1\n"),
    "a name that would be there twice": ([{"a.b": 1, "a": {"b": 2}}], "a.b,a/b\n1,2\n"),
    "all but one separator": ([{"a./__:": 1, "a": {"b": 2}}], "a./__:,a~b\n1,2\n"),
    "a key that ends as a separator begins": (
        [{"a_": {"b": 1}, "c.d": 1, "e/f": 2}],
        "a_:b,c.d,e/f\n1,1,2\n",
    ),
    "all separators that are no words of a shell": (
        [{"a./__:": 1, "a": {"b": 2}, "~": 3, "|": 4}],
        "a./__:,a->b,~,|\n1,2,3,4\n",
    ),
    "other order": ([{"a": 1, "b": 2}, {"b": 3, "a": 4}], "a,b\n1,2\n4,3\n"),
    "maps": ([{"a": {"b": 1, "c": {"d": True}}}], "a.b,a.c.d\n1,true\n"),
    "numbers beside text": ([{"a": 1}, {"a": "1"}, {"a": "true"}], 'a\n1\n"1"\n"true"\n'),
    "floats": ([{"a": 1.0, "b": 2}, {"a": 1e300, "b": -0.0}], "a,b\n1.0,2\n1e+300,-0.0\n"),
    "text like null": ([{"a": "null", "b": "NaN"}], 'a,b\n"null","NaN"\n'),
    "texts": ([{"a": 'x,"y"', "b": "1\n2"}], 'a,b\n"x,""y""","1\n2"\n'),
    "empty text": ([{"a": "", "b": "x"}], 'a,b\n"",x\n'),
    "a hollow map": ([{"a": {"b": None}, "c": 1}], 'a,c\n"{""b"":null}",1\n'),
    "an empty map": ([{"a": {}, "c": 1}], "a,c\n{},1\n"),
}


@pytest.mark.parametrize("name", ROUND)
def test_there_and_back(name: str) -> None:
    records, text = ROUND[name]
    written, report = to_csv(records)
    assert written == text
    assert back(written, list(report.back)) == records
    assert not report.losses


def test_a_key_that_only_some_have_is_told_from_null_by_a_word() -> None:
    records: list[dict[str, Any]]
    records = [{"a": 1, "n": None}, {"b": {"c": None}}, {"b": None, "n": "null"}, {}]
    written, report = to_csv(records, shaping=Shaping(null="null"))
    assert written == 'a,n,b,b.c\n1,null,,\n,,,null\n,"null",null,\n,,,\n'
    assert back(written, list(report.back)) == records
    plain, report = to_csv(records)
    rules = {loss.rule for loss in report.carried}
    assert rules == {"cells", "mixed", "missing", "null", "key-order"}
    assert "--null" not in report.back
    found = back(plain, list(report.back))
    nothing: dict[str, Any] = {"a": None, "n": None, "b": None}
    assert found == [{**nothing, **record} for record in records]


def test_null_below_a_key_is_told_as_what_it_is_read_as() -> None:
    """It was told as null, which the words for the way back do not give there."""
    records = [{"a": {"b": 1, "c": None}}]
    written, report = to_csv(records)
    assert written == "a.b,a.c\n1,\n"
    assert {loss.rule for loss in report.carried} == {"cells", "nested", "missing"}
    assert back(written, list(report.back)) == [{"a": {"b": 1}}]
    written, report = to_csv(records, shaping=Shaping(null="null"))
    assert {loss.rule for loss in report.carried} == {"cells", "nested", "null"}
    assert back(written, list(report.back)) == records


def test_text_that_is_json_too_needs_the_names() -> None:
    records = [{"text": "[1]", "list": [1]}]
    written, report = to_csv(records)
    assert report.back == ("-F", "csv", "--typed", "--nest", "list")
    assert back(written, list(report.back)) == records


def test_a_separator_within_a_key_matters_where_maps_are_flattened() -> None:
    records = [{"a.b": 1, "c": {"d": 2}}]
    with pytest.raises(serialpack.ValueRefusedError, match='separator="/"') as refused:
        to_csv(records, shaping=Shaping(separator="."))
    assert refused.value.exit_code == 4
    written, report = to_csv(records, shaping=Shaping(separator="/"))
    assert written == "a.b,c/d\n1,2\n"
    assert back(written, list(report.back)) == records


def test_a_separator_that_runs_into_a_key_is_refused() -> None:
    """a_ and b came back as a and _b."""
    records = [{"a_": {"b": 1, "c": {"-": 2, ">": 3}}}]
    written, report = to_csv(records, shaping=Shaping(separator="->"))
    assert back(written, list(report.back)) == records
    with pytest.raises(serialpack.ValueRefusedError, match="'a_' is not told from"):
        to_csv([{"a_": {"b": 1}}], shaping=Shaping(separator="__"))


@pytest.mark.parametrize(
    "record",
    [
        {"a.": {"b": 1}, "c/": 1, "d__": 2, "e:": 3},  # a shell makes ~ a folder
        {"a b": [1], "$HOME": [1], "c(d)": "[1]"},
    ],
)
def test_the_words_for_the_way_back_can_be_pasted(record: dict[str, Any]) -> None:
    report = to_csv([record])[1]
    said = closing_words(list(report.carried), report.back, "csv")
    found = re.search(r"\(back: (.*)\)", said)
    assert found is not None
    assert shlex.split(found[1]) == list(report.back)


def test_what_is_no_map() -> None:
    assert to_csv([[1, 2], ["a", None, 3]])[0] == "1,2,\na,,3\n"
    assert to_csv([1, None, "x"])[0] == "value\n1\nnull\nx\n"
    assert to_csv([{"a": 1}, 5])[0] == 'value\n"{""a"":1}"\n5\n'
    assert to_csv([])[0] == ""
    with pytest.raises(serialpack.ValueRefusedError):
        to_csv([{}])


def test_tabs_stand_for_commas_in_tsv() -> None:
    written, report = to_csv([{"a": "x,y", "b": "x\ty", "c": 1}], to="tsv")
    assert written == 'a\tb\tc\nx,y\t"x\ty"\t1\n'
    assert back(written, list(report.back), "tsv") == [{"a": "x,y", "b": "x\ty", "c": 1}]


@pytest.mark.parametrize("records", [[{"a": 1}], [{"a": "x"}, {"b": "y"}], [{"a": {"b": "x"}}]])
def test_strict_carries_nothing(records: Any) -> None:
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        to_csv(records, strict=True)
    assert refused.value.exit_code == 4
    assert to_csv([{"a": "x"}], strict=True)[0] == "a\nx\n"


def test_blocks_share_their_columns() -> None:
    records: list[Any] = [{"n": n} for n in range(500)] + [{"late": [n]} for n in range(500)]
    for source in ("json", "ndjson"):
        out = io.BytesIO()
        lines = [json.dumps(record) for record in records]
        text = "\n".join(lines) if source == "ndjson" else f"[{','.join(lines)}]"
        report = serialpack.convert(
            io.BytesIO(text.encode()), out, format=source, to="csv", block_size=300
        )
        assert out.getvalue().startswith(b"n,late\n0,\n")
        assert out.getvalue().endswith(b",[499]\n")
        assert report.records == 1000
        assert {loss.rule: loss.count for loss in report.carried} == {
            "cells": 500,
            "missing": 1000,
            "mixed": 500,
        }


@pytest.mark.parametrize("size", [10, 17 << 20], ids=["in memory", "on the disk"])
def test_a_pipe_is_kept_and_where_that_is_a_file_it_is_said(
    size: int, tmp_path: Path, capfd: Any
) -> None:
    import os
    import threading

    pipe, out = tmp_path / "pipe", tmp_path / "out.csv"
    os.mkfifo(pipe)
    data = b'[{"a":1}' + b" " * size + b"]"
    writer = threading.Thread(target=lambda: pipe.write_bytes(data))
    writer.start()
    assert run(["unpack", "-F", "json", "--to", "csv", str(pipe), "-o", str(out)]) == 0
    writer.join()
    assert out.read_text() == "a\n1\n"
    said = capfd.readouterr().err
    assert ("temporary file" in said) is (size > 16 << 20)
    assert "1 carried: 1 value as a bare cell (back: -F csv --typed)" in said


def at(path: str, document: Any, **how: Any) -> Any:
    out = io.BytesIO()
    data = io.BytesIO(json.dumps(document).encode())
    serialpack.convert(data, out, format="json", to="json", shaping=Shaping(at=path), **how)
    return json.loads(out.getvalue())


def test_the_records_at_a_path() -> None:
    document = {"data": {"items": [{"a": 1}, {"a": 2}]}}
    assert at("data.items", document) == [{"a": 1}, {"a": 2}]
    document["next"] = {}
    with pytest.raises(serialpack.ValueRefusedError, match=r'\$\.next.*lossy=\["around"\]'):
        at("data.items", document)
    assert at("data.items", document, lossy=["around"]) == [{"a": 1}, {"a": 2}]
    assert at("data", document, lossy=["around"]) == document["data"]
    for path in ("data.rows", "data.items.0.a", "data.items.7", "x"):
        with pytest.raises(serialpack.UsageError, match=f'at="{path}"\\): '):
            at(path, document, lossy=["around"])


def test_one_row_with_a_list_in_it_names_the_list(tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"n": 1, "rows": [{"a": 1}], "tags": ["x"], "more": [{}]}')
    assert run(["unpack", "--to", "csv", str(path)]) == 0
    assert "one row: --at rows or --at more takes" in capfd.readouterr().err
    path.write_text('[{"rows": [{"a": 1}]}, {"rows": [{"a": 1}]}]')
    assert run(["unpack", "-f", "--to", "csv", str(path)]) == 0
    assert "--at" not in capfd.readouterr().err


@pytest.mark.parametrize("shaping", [Shaping(null="1"), Shaping(null="a b"), Shaping(separator="")])
def test_words_that_no_table_can_have(shaping: Shaping) -> None:
    with pytest.raises(serialpack.UsageError):
        to_csv([{"a": 1}], shaping=shaping)


@pytest.mark.parametrize("text", ['a\n1\n"x', "a,b\n1,2,3\n", "a\nx\ry\n"])
def test_what_is_no_table_is_one_error(text: str) -> None:
    with pytest.raises(serialpack.SerialpackError):
        back(text, ["--typed"])


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
    | st.sampled_from(["", "null", "true", "1", "[1]", '"x"', "NaN", ",", '"', "\n", "\r"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@example([{"a": {"": "[]", '"': []}}])  # a column that --nest has to name in quotes
@example([{"a": ['"'], "b": "\r"}])  # were its quotes escaped, its lines would end in two ways
@given(st.lists(st.dictionaries(st.sampled_from("abc"), values, min_size=1), min_size=1))
def test_whatever_the_records_are(records: list[Any]) -> None:
    """With a word for null all comes back, but the order of keys."""
    try:
        written, report = to_csv(records, shaping=Shaping(null="null", separator="\N{LOZENGE}"))
    except serialpack.ValueRefusedError:  # a lone surrogate
        return
    found = back(written, list(report.back))
    alone = written.count("\n") and len(report.back) and "," not in written.split("\n", 1)[0]
    if alone and any(loss.rule == "missing" for loss in report.carried):
        return  # in one column an empty cell would be no row
    assert repr(ordered(found)) == repr(ordered(json.loads(json.dumps(records))))


@given(st.lists(st.dictionaries(st.sampled_from("abc"), values, min_size=1), min_size=1))
def test_what_is_not_told_as_missing_comes_back_without_a_word_for_null(records: list[Any]) -> None:
    try:
        written, report = to_csv(records, shaping=Shaping(separator="\N{LOZENGE}"))
    except serialpack.ValueRefusedError:  # a lone surrogate
        return
    if all(loss.rule != "missing" for loss in report.carried):
        found = back(written, list(report.back))
        assert repr(ordered(found)) == repr(ordered(json.loads(json.dumps(records))))


def ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value)}
    return [ordered(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("document", [{"a": [1, {"b": []}], "c": "x\ny"}, [], [1, [2]], 5, {}])
@pytest.mark.parametrize("size", [None, 8])
def test_json_is_indented(document: Any, size: int | None) -> None:
    out, data = io.BytesIO(), io.BytesIO(json.dumps(document).encode())
    shaping = Shaping(indent=3)
    serialpack.convert(data, out, format="json", to="json", shaping=shaping, block_size=size)
    assert out.getvalue().decode() == json.dumps(document, indent=3) + "\n"
    with pytest.raises(serialpack.UsageError, match=r"Shaping\.indent is for"):
        to_csv([], shaping=shaping)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("0e99999999999999999999", 0.0),
        ("65.613616999999977", 65.613616999999977),
        ("1e99999999999999999999", None),
        ("1e-99999999999999999999", None),
        ("65.6136169999999770", None),
        ("0.1000000000000000000001", None),
        ("-0", None),
    ],
)
def test_a_cell_is_the_double_that_has_its_digits(cell: str, value: float | None) -> None:
    """As a literal of JSON is; with whatever exponent. To text it keeps its own."""
    out, data = io.BytesIO(), f"a\n{cell}\n".encode()
    shaping = Shaping(typed=True)
    serialpack.convert(io.BytesIO(data), out, format="csv", to="json", shaping=shaping)
    assert out.getvalue() == b'[\n{"a":%b}\n]\n' % cell.encode()
    out = io.BytesIO()
    if value is None:
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.convert(io.BytesIO(data), out, format="csv", to="cbor", shaping=shaping)
        return
    serialpack.convert(io.BytesIO(data), out, format="csv", to="cbor", shaping=shaping)
    back = io.BytesIO()
    serialpack.convert(io.BytesIO(out.getvalue()), back, format="cbor", to="json")
    assert json.loads(back.getvalue()) == {"a": value}  # one item is a document
