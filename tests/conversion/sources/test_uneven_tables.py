"""Tables of text as spreadsheets write them: rows that end early, columns of one name."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.text import unique_names

TEXT = b"a,b,c\n1,2,3\n4,5\n6\n7,,9\n"
RECORDS = [{"a": "1", "b": "2", "c": "3"}, {"a": "4", "b": "5"}, {"a": "6"}]
RECORDS += [{"a": "7", "b": "", "c": "9"}]


def converted(data: bytes, to: str, **how: Any) -> tuple[bytes, Any]:
    made = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), made, to=to, format="csv", **how)
    return made.getvalue(), report


@pytest.mark.parametrize("to", ["json", "ndjson", "yaml", "msgpack"])
def test_they_are_told(to: str) -> None:
    """They were refused, and with them the file: spreadsheets write such rows."""
    data, report = converted(TEXT, to)
    told = {loss.rule: (loss.count, loss.record, loss.was) for loss in report.carried}
    assert told == {"short-rows": (2, 1, "2 fields, not 3")}
    back = io.BytesIO()
    serialpack.convert(io.BytesIO(data), back, to="json", format=to)
    assert json.loads(back.getvalue()) == RECORDS


@pytest.mark.parametrize("to", ["csv", "tsv", "parquet", "arrow", "sqlite", "avro"])
def test_in_tables_their_last_fields_are_empty(to: str) -> None:
    data, report = converted(TEXT, to)
    assert {loss.rule: loss.count for loss in report.carried} == {"short-rows": 2, "missing": 3}
    if to == "csv":
        assert data == b"a,b,c\n1,2,3\n4,5,\n6,,\n7,,9\n"
    if to in ("csv", "tsv"):  # text is read as text without a word, and with --typed as numbers
        assert report.back == ()


def test_lines_above_a_table_are_told_with_what_leaves_them_out() -> None:
    """The hint was --skip-bad, which leaves out the table: it may be one of one column."""
    table = b"a;b;c\n1;2;3\n4;5;6\n"
    text = b"Report 2024\n\n" + table
    with pytest.raises(serialpack.ValueRefusedError, match="different lengths") as refused:
        converted(text, "json")
    command = re.search(r"tail -n \+\d+ (?=<FILE)", str(refused.value))
    assert command is not None
    words = shlex.split(command[0])
    left = subprocess.run(words, input=text, capture_output=True, check=True).stdout
    assert left == table
    data, _ = converted(left, "json")
    assert len(json.loads(data)[0]) == 3


@pytest.mark.parametrize("above", ["\n\n", "\r\n", "sep=;\n\n", "\ufeff\n"])
@pytest.mark.parametrize("table", [b"name\nx\ny\n", b"a\n"])
def test_blank_lines_above_any_table_are_told_with_what_leaves_them_out(
    above: str, table: bytes
) -> None:
    """Also above one of one column, or without rows, of which no title can be told."""
    with pytest.raises(serialpack.ValueRefusedError, match="different lengths") as refused:
        converted(above.encode() + table, "json")
    command = re.search(r"tail -n \+(\d+) (?=<FILE)", str(refused.value))
    assert command is not None
    assert int(command[1]) == above.count("\n") + 1


@pytest.mark.parametrize("more", [",", ",,"])
def test_a_last_delimiter_of_all_rows_is_told(more: str) -> None:
    """They were refused: nobody knew whether the first field or the last has no name."""
    text = f"a,b\n1,2{more}\n3,4{more}\n".encode()
    data, report = converted(text, "json")
    first, second = json.loads(data)
    behind = {f"column{3 + n}": "" for n in range(len(more))}
    assert (first, second) == ({"a": "1", "b": "2", **behind}, {"a": "3", "b": "4", **behind})
    assert {loss.rule: loss.count for loss in report.carried} == {"long-rows": 2}
    with pytest.raises(serialpack.ValueRefusedError, match="different lengths"):
        converted(text, "json", strict=True)


@pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_of_one_field_more_are_told_with_what_names_it(mark: str, end: str) -> None:
    """As R and pandas write them, without a name for that of the rows; or with a last delimiter.
    The hint was --skip-bad, which leaves out all of them."""
    lines = ["a,b", "1,2,3", "4,5,6", ""]
    text = end.join(lines).replace(",", mark).encode()
    told = "tsv" if mark == "\t" else {";": "csv:semicolon", "|": "csv:pipe"}.get(mark, "csv")
    with pytest.raises(serialpack.ValueRefusedError, match="one field more") as refused:
        serialpack.convert(io.BytesIO(text), io.BytesIO(), to="json", format=told)
    commands = re.findall(r"(sed '[^']+') <FILE", str(refused.value))
    names = []
    for command in commands:
        words = shlex.split(command)
        made = subprocess.run(words, input=text, capture_output=True, check=True).stdout
        data, _ = converted(made, "json")
        assert [list(row.values()) for row in json.loads(data)] == [[*"123"], [*"456"]]
        names.append(list(json.loads(data)[0]))
    assert names == [["a", "b", "more"], ["row", "a", "b"]]
    with pytest.raises(serialpack.RefusedError, match="no record is left") as left:
        serialpack.convert(io.BytesIO(text), io.BytesIO(), to="json", format=told, skip_bad=True)
    assert "sed" not in str(left.value)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("odd", ['"Swing it" magistern', '"', 'a "b"', '"x"y"'])
def test_quotes_that_are_text_are_told_with_what_quotes_them(odd: str, end: str) -> None:
    """Tables between tabs as databases write them, IMDb's too: they were refused without a way."""
    rows = [{"id": "1", "title": "plain", "x": ""}, {"id": "2", "title": odd, "x": '"y" z'}]
    lines = ["id\ttitle\tx", *("\t".join(row.values()) for row in rows), ""]
    text = end.join(lines).encode()
    with pytest.raises(serialpack.InputError, match="quotes all fields") as refused:
        serialpack.convert(io.BytesIO(text), io.BytesIO(), to="json", format="tsv")
    command = re.search(r"sed '[^']+' (?=<FILE)", str(refused.value))
    assert command is not None
    words, out = shlex.split(command[0]), io.BytesIO()
    made = subprocess.run(words, input=text, capture_output=True, check=True).stdout
    serialpack.convert(io.BytesIO(made), out, to="json", format="tsv")
    assert json.loads(out.getvalue()) == rows


@pytest.mark.parametrize("row", ["a,b", '"a","b"'])
def test_two_returns_at_the_end_of_a_line_are_told_with_what_takes_them_out(row: str) -> None:
    """As of text that was written twice as Windows does: it was text behind a quote, or a line end
    for which ``tr`` puts three."""
    text = f"{row}\r\r\n1,2\r\r\n".encode()
    with pytest.raises(serialpack.InputError, match="two carriage returns") as refused:
        serialpack.convert(io.BytesIO(text), io.BytesIO(), to="json", format="csv")
    command = re.search(r"tr -d '[^']+' (?=<FILE)", str(refused.value))
    assert command is not None
    words, out = shlex.split(command[0]), io.BytesIO()
    made = subprocess.run(words, input=text, capture_output=True, check=True).stdout
    serialpack.convert(io.BytesIO(made), out, to="json", format="csv")
    assert json.loads(out.getvalue()) == [{"a": "1", "b": "2"}]


TYPED = [{"a": 1, "b": 2, "c": 3}, {"a": 4, "b": 5}, {"a": 6}, {"a": 7, "b": None, "c": 9}]


@pytest.mark.parametrize(
    ("shaping", "records"),
    [
        (Shaping(typed=True), TYPED),
        (Shaping(nest=("-",)), RECORDS),
        (Shaping(typed=True, nest=()), TYPED),
        (Shaping(typed=True, null="null"), [*TYPED[:3], {"a": 7, "c": 9}]),
    ],
)
def test_read_as_values_they_are_told_as_well(shaping: Shaping, records: list[Any]) -> None:
    """With --typed, or --nest, they were refused, and without carried."""
    data, report = converted(TEXT, "json", shaping=shaping)
    told = {loss.rule: (loss.count, loss.record, loss.was) for loss in report.carried}
    assert told == {"short-rows": (2, 1, "2 fields, not 3")}
    assert json.loads(data) == records
    with pytest.raises(serialpack.ValueRefusedError, match="line 3: 2 fields, not 3"):
        converted(TEXT, "json", shaping=shaping, strict=True)
    long = b"a,b,c\n1,2,3\n4\n1,2,3,4\n"
    with pytest.raises(serialpack.ValueRefusedError, match="line 3: 1 field, not 3"):
        converted(long, "json", shaping=shaping, strict=True)
    data, report = converted(long, "json", shaping=shaping)
    assert {loss.rule: loss.count for loss in report.carried} == {"short-rows": 1, "long-rows": 1}
    found = [list(record) for record in json.loads(data)]
    assert found == [["a", "b", "c"], ["a"], ["a", "b", "c", "column4"]]


def test_read_as_maps_they_have_no_empty_ones() -> None:
    """Below a dotted column that a row does not reach."""
    table = b'a,b.c,b.d\n1,"x",3\n2,y\n3\n'
    data, _ = converted(table, "json", shaping=Shaping(typed=True, nest=()))
    assert json.loads(data) == [
        {"a": 1, "b": {"c": "x", "d": 3}},
        {"a": 2, "b": {"c": "y"}},
        {"a": 3},
    ]


def test_in_a_later_block_they_are_counted_on() -> None:
    rows = [b"%d,x" % number for number in range(60_000)]
    rows[50_000] = b"50000"
    data, report = converted(b"\n".join([b"a,b", *rows]), "ndjson", block_size=64 << 10)
    (told,) = report.carried
    assert (told.rule, told.count, told.record) == ("short-rows", 1, 50_000)
    assert json.loads(data.splitlines()[50_000]) == {"a": "50000"}


def test_strictly_they_are_refused() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="line 3: 2 fields, not 3"):
        converted(TEXT, "json", strict=True)


LONG = b"a,b\n1,2\n3,4,5,6\n7\n"
LONGER = [{"a": "1", "b": "2"}, {"a": "3", "b": "4", "column3": "5", "column4": "6"}, {"a": "7"}]


@pytest.mark.parametrize("to", ["json", "ndjson", "yaml", "msgpack"])
def test_fields_beyond_the_names_have_that_of_their_place(to: str) -> None:
    """A comma in text without quotes kept a whole table from being read."""
    data, report = converted(LONG, to)
    told = {loss.rule: (loss.count, loss.record, loss.was) for loss in report.carried}
    assert told == {"short-rows": (1, 2, "1 field, not 2"), "long-rows": (1, 1, "4 fields, not 2")}
    back = io.BytesIO()
    serialpack.convert(io.BytesIO(data), back, to="json", format=to)
    assert json.loads(back.getvalue()) == LONGER
    with pytest.raises(serialpack.ValueRefusedError, match="line 3: 4 fields, not 2"):
        converted(LONG, to, strict=True)


@pytest.mark.parametrize("to", ["csv", "tsv", "parquet", "arrow", "sqlite", "avro"])
def test_in_tables_such_fields_are_columns(to: str) -> None:
    data, report = converted(LONG, to)
    assert {loss.rule: loss.count for loss in report.carried} == {
        "short-rows": 1,
        "long-rows": 1,
        "missing": 5,
    }
    if to == "csv":
        assert data == b"a,b,column3,column4\n1,2,,\n3,4,5,6\n7,,,\n"


def test_such_rows_are_left_out_where_that_is_asked_for() -> None:
    """As before: what stands in them may well have moved."""
    data, report = converted(LONG, "json", skip_bad=True)
    assert json.loads(data) == [LONGER[0], LONGER[2]]
    assert (report.left_out, [place.record for place in report.places]) == (1, [1])


@pytest.mark.parametrize("shaping", [Shaping(), Shaping(typed=True)])
def test_what_is_told_of_the_header_is_told_beside_rows_left_out(shaping: Shaping) -> None:
    """Read row by row, none of which has the header, columns were renamed without a word."""
    text = b"a,a,b\n1,2,3\n3,4,5,6\n"
    report = converted(text, "ndjson", shaping=shaping, skip_bad=True)[1]
    assert {loss.rule: loss.count for loss in report.carried} == {"renamed": 1}
    assert report.left_out == 1


def test_what_is_lost_of_the_header_is_counted_beside_rows_left_out() -> None:
    """As of a name that is no UTF-8."""
    text = b"\xff,b\n1,2\n3,4,5\n"
    report = converted(text, "ndjson", encoding="utf-8", lossy=["utf8"], skip_bad=True)[1]
    assert {loss.rule: loss.count for loss in report.losses} == {"utf8": 1}
    assert report.left_out == 1


def test_their_names_are_no_others() -> None:
    data, _ = converted(b"a,column3\n1,2,3\n4,5\n", "json")
    assert json.loads(data)[0] == {"a": "1", "column3": "2", "column3_2": "3"}
    data, _ = converted(b"1,2\n3,4,5\n", "json", no_header=True)
    assert json.loads(data)[1] == {"column1": "3", "column2": "4", "column3": "5"}


def test_in_later_blocks_all_may_be_long() -> None:
    """As where a column is added to a log, some day."""
    rows = [b"%d,x" % n if n < 30_000 else b"%d,x,y" % n for n in range(60_000)]
    data, report = converted(b"\n".join([b"a,b", *rows]), "ndjson", block_size=64 << 10)
    assert [(loss.rule, loss.count) for loss in report.carried] == [("long-rows", 30_000)]
    assert json.loads(data.splitlines()[-1]) == {"a": "59999", "b": "x", "column3": "y"}


def test_where_all_rows_are_longer_the_hint_works() -> None:
    """It was to leave them out, and no record is left then."""
    with pytest.raises(serialpack.ValueRefusedError, match="names the one field more"):
        converted(b"a,b\n3,4,5\n", "json")
    with pytest.raises(serialpack.ValueRefusedError, match="no_header=True, by which the names"):
        converted(b"a,b\n3,4,5,6\n7,8,9,0\n", "json")
    data, _ = converted(b"a,b\n3,4,5,6\n7,8,9,0\n", "json", no_header=True)
    assert [len(row) for row in json.loads(data)] == [2, 4, 4]


@pytest.mark.parametrize("text", [LONG, b"a,b\n1,2\n3\n"])
def test_where_they_are_values_is_said(text: bytes, tmp_path: Path) -> None:
    """The hint of --strict, and of a serializer, was to leave them out."""
    with pytest.raises(serialpack.ValueRefusedError, match="carries it"):
        converted(text, "json", strict=True)
    (tmp_path / "a.csv").write_bytes(text)
    with pytest.raises(serialpack.ValueRefusedError, match="carries it"):
        serialpack.pack(tmp_path / "a.csv", tmp_path / "a.spk", serializer="msgpack")


def test_with_types_such_a_table_is_not_said_to_come_back() -> None:
    """Its header does not, nor its rows: the closing line said that its cells did."""
    report = converted(LONG, "parquet", shaping=Shaping(infer=True))[1]
    assert (report.columns, report.comes_back) == (4, "")


@pytest.mark.parametrize("data", [b"a,b\n3,4,5\n", b"a\n1\n2,3\n"])
def test_below_what_may_be_no_names_they_are_refused(data: bytes) -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="rows of different lengths"):
        converted(data, "json")


TWICE = b"a,b,a,,\n1,2,3,,4\n5,6,7,8,9\n"
RENAMED = [
    {"a": "1", "b": "2", "a_2": "3", "": "", "column5": "4"},
    {"a": "5", "b": "6", "a_2": "7", "": "8", "column5": "9"},
]


@pytest.mark.parametrize("to", ["json", "csv", "parquet", "sqlite", "msgpack"])
def test_a_column_whose_name_is_taken_is_renamed(to: str) -> None:
    """Such a table was refused, or lost a column where that was allowed."""
    data, report = converted(TWICE, to)
    (told,) = report.carried
    assert (told.rule, told.count, told.value_path) == ("renamed", 2, "$.a")
    back = io.BytesIO()
    serialpack.convert(io.BytesIO(data), back, to="json", format=to)
    assert json.loads(back.getvalue()) == RENAMED


def test_it_is_renamed_alike_in_all_blocks() -> None:
    rows = b"".join(b"%d,x,%d\n" % (number, number) for number in range(20_000))
    data, report = converted(b"a,b,a\n" + rows, "ndjson", block_size=64 << 10)
    assert [loss.count for loss in report.carried] == [1]
    assert json.loads(data.splitlines()[-1]) == {"a": "19999", "b": "x", "a_2": "19999"}


def test_with_types_it_is_not_said_to_come_back() -> None:
    """The header does not."""
    report = converted(TWICE, "parquet", shaping=Shaping(infer=True))[1]
    assert report.columns == 5
    assert report.comes_back == ""


def test_allowed_the_last_one_wins_and_strictly_it_is_refused() -> None:
    assert json.loads(converted(TWICE, "json", lossy=["duplicates"])[0])[0]["a"] == "3"
    with pytest.raises(serialpack.ValueRefusedError, match="the column 'a'"):
        converted(TWICE, "json", strict=True)


@pytest.mark.parametrize(
    ("names", "unique"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a_2", "a_3"]),
        (["a", "a_2", "a"], ["a", "a_2", "a_3"]),
        (["", "", ""], ["", "column2", "column3"]),
        (["", "", "column2"], ["", "column2_2", "column2"]),
    ],
)
def test_names_are_told_apart(names: list[str], unique: list[str]) -> None:
    assert unique_names(names) == unique


def test_of_very_many_fields_beyond_the_names_none_has_one() -> None:
    """A line of nothing but commas, 30 MB of them, took 7 GB of names."""
    text = b"a,b\n1,2\n1,2" + b",x" * 1000
    assert len(json.loads(converted(text, "ndjson")[0].splitlines()[1])) == 1002
    with pytest.raises(serialpack.RefusedError, match="line 3: 1,003 fields, not 2"):
        converted(text + b",x", "ndjson")
