"""Tables of text below other lines: comments, which are no values, and titles."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack
from serialpack.errors import SyntaxInputError

TABLE = "a,b,c\n1,2,3\n4,5,6\n"
RECORDS = [dict(zip("abc", "123", strict=True)), dict(zip("abc", "456", strict=True))]


def converted(data: bytes, to: str = "json", **how: Any) -> tuple[bytes, Any]:
    made = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), made, to=to, format="csv", **how)
    return made.getvalue(), report


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    ("above", "comments"),
    [
        ("# made by nobody\n", 1),
        ('\ufeff# of cars, and of others, and so on, or not\r\n#\r\n\r\n# "1974\r\n', 3),
        ("\n\n", 0),
        ("#\n\n##x\n", 2),
    ],
)
def test_comments_and_blank_lines_are_left_out(above: str, comments: int, mark: str) -> None:
    """They were refused as a row of another length; all tools but this skip them."""
    text = (above + TABLE.replace(",", mark)).encode()
    data, report = converted(text)
    assert json.loads(data) == RECORDS
    assert report.read_as.startswith(f"a table below {above.count(chr(10))} line")
    told = {loss.rule: loss.count for loss in report.carried}
    assert told == ({"comments": comments} if comments else {})
    if comments:
        with pytest.raises(serialpack.ValueRefusedError, match="no place for comments"):
            converted(text, strict=True)


def test_blank_lines_above_rows_of_several_lengths_are_left_out() -> None:
    """They were refused: half of the rows had to be as long as the line of names."""
    data, _ = converted(b"\n\r\n\na,b,c\n1,2\n3\n")
    assert json.loads(data) == [{"a": "1", "b": "2"}, {"a": "3"}]


@pytest.mark.parametrize("above", ["Report\n", "Sales of 2024\n\n# by nobody\n", "\ufeffCars\r\n"])
def test_a_title_is_information(above: str) -> None:
    """``tail`` had to leave it out, which Windows has not, and which undoes no container."""
    text = (above + TABLE).encode()
    with pytest.raises(serialpack.ValueRefusedError, match="1 line above the table") as refused:
        converted(text)
    assert refused.value.kind == "around"
    assert above.strip("\ufeff\r\n").split("\n")[0] in str(refused.value)
    data, report = converted(text, lossy=["around"])
    assert json.loads(data) == RECORDS
    assert [(loss.rule, loss.count) for loss in report.losses] == [("around", 1)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#a,b\n1,2\n", ["#a", "b"]),
        ("##v=1\n# x\n#a,b\n1,2\n", ["#a", "b"]),
        ("#\n#a,b\nc,d\n1,2\n", ["#a", "b"]),
        ("# of a, b\nc,d\n1,2\n", ["# of a", " b"]),
        ("# x\na\n", ["# x"]),
        ("#x\nSmith; John\n", ["#x"]),
    ],
)
def test_the_line_of_names_may_look_like_a_comment(text: str, names: list[str]) -> None:
    """What may be a table as it stands is read as before."""
    assert list(json.loads(converted(text.encode())[0])[0]) == names


def test_lines_that_may_be_names_are_refused_as_before() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="different lengths"):
        converted(b"# x\n# of a, b\nc,d\n1,2\n")


def test_a_line_above_rows_that_end_in_a_delimiter_is_no_title() -> None:
    data, report = converted(b"name\nx,\ny,\n")
    assert json.loads(data) == [{"name": "x", "column2": ""}, {"name": "y", "column2": ""}]
    assert {loss.rule: loss.count for loss in report.carried} == {"long-rows": 2}
    with pytest.raises(serialpack.ValueRefusedError, match="different lengths"):
        converted(b"name\nx,\ny,1\n")


def test_a_last_line_without_an_end_tells_too() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="different lengths"):
        converted(b"foo\n12,5\n145,00\n5.25")
    assert json.loads(converted(b"# c\na,b\n1,2")[0]) == [{"a": "1", "b": "2"}]


def test_without_names_only_comments_are_left_out() -> None:
    data, _ = converted(b"# hits\n1,2\n3,4\n", no_header=True)
    assert json.loads(data) == [{"column1": "1", "column2": "2"}, {"column1": "3", "column2": "4"}]
    with pytest.raises(serialpack.ValueRefusedError, match="different lengths"):
        converted(b"hits\n1,2\n", no_header=True)


def test_places_in_errors_are_those_of_the_source() -> None:
    text = b'# a\n# b\nx,y\n1,2\n3,"4\n'
    with pytest.raises(SyntaxInputError, match="line 5, column 3") as broken:
        converted(text)
    assert broken.value.offset == text.index(b'"')
    with pytest.raises(serialpack.ValueRefusedError, match="line 6: 2,000 fields"):
        converted(b"# a\n# b\nx,y\n1,2\n3,4\n" + b"," * 1999)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp1252", "utf-8-sig"])
def test_tables_in_other_encodings(encoding: str) -> None:
    """A byte-order mark is no part of what is read; and characters have other lengths there."""
    for above in ("# caf\xe9\n", "Caf\xe9\n\n"):
        text = (above + "n\xe4me,b,c\n1,2,3\n4,5,6\n").encode(encoding)
        said = None if encoding in ("utf-16", "utf-32", "utf-8-sig") else encoding
        data, report = converted(text, encoding=said, lossy=["around"])
        assert list(json.loads(data)[0]) == ["n\xe4me", "b", "c"]
        assert report.read_as.startswith(f"a table below {above.count(chr(10))} line")


def test_cells_behind_spaces_below_comments() -> None:
    data, report = converted(b'# a\n"x", "y, z"\n"1", "2, 3"\n')
    assert json.loads(data) == [{"x": "1", "y, z": "2, 3"}]
    assert report.read_as == (
        "a table below 1 line, cells behind spaces, which are no part of them"
    )
