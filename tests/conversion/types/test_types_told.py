"""What is told of columns that got a type or none, and integers that become decimals."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping, types_of
from tests.conversion.types.test_types import INFER, by_hand, converted, values

pytest.importorskip("pyarrow")


def test_columns_that_stay_text_are_named() -> None:
    """They were counted, and nobody was told which."""
    from serialpack.cli.reporting.converted import told_of

    source = b"a,b,c\n1,x,00123\n2,y,7\n"
    _, report = converted(source, "parquet", shaping=INFER)
    assert (report.types, report.text) == ({"a": "integer"}, ("b", "c"))
    wanted = (
        "  text as before: b, c; --types NAME=number (date, boolean, ...) reads any spelling of one"
    )
    assert told_of(report, verbose=False) == [wanted]
    # Of records of other formats, numbers are no text.
    _, report = converted(b'{"n":1,"s":"x","t":"2024-01-02"}\n', "parquet", "ndjson", shaping=INFER)
    assert (report.types, report.text) == ({"t": "date"}, ("s",))
    many = ",".join(f"c{n}" for n in range(9)).encode()
    _, report = converted(many + b"\n" + b",".join([b"x"] * 9) + b"\n", "parquet", shaping=INFER)
    (line,) = told_of(report, verbose=False)
    assert line.startswith("  text as before: c0, c1, c2, c3, c4 and 4 more; ")
    _, report = converted(b"a,\n1,x\n", "parquet", shaping=INFER)  # no name was no word
    assert told_of(report, verbose=False)[0].startswith("  text as before: ''; ")
    for asked, to in (Shaping(), "parquet"), (by_hand(a="integer"), "parquet"), (INFER, "tsv"):
        assert converted(source, to, shaping=asked)[1].text == ()


@pytest.mark.parametrize("rows", [1, 4000])
def test_numbers_with_a_decimal_comma_are_named(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stayed text without a word about how to read them; 1,234 may be English."""
    from serialpack.cli.reporting.converted import told_of
    from serialpack.conversion.tables import survey

    cells = [("1.234,56", "1,234", "7,5"), ("7", "5,678,901", "x,1"), ("-0,5", "", "")]
    text = "a;b;c\n" + "".join(f"{';'.join(row)}\n" for row in cells * rows)
    made = []
    for _ in "columns", "records":
        _, report = converted(text.encode(), "parquet", "csv:semicolon", shaping=INFER)
        assert (report.text, report.commas) == (("a", "b", "c"), ("a",))
        (line,) = told_of(report, verbose=False)
        made.append(line)
        monkeypatch.setattr(survey, "goes_by_columns", lambda _: None)
    assert made == ["  text as before: a, b, c; --types a=decimal-comma reads a decimal comma"] * 2
    _, report = converted(
        text.encode(), "parquet", "csv:semicolon", shaping=by_hand(a="decimal-comma")
    )
    assert report.types == {"a": "decimal-comma"}


@pytest.mark.parametrize("rows", [1, 4000])
def test_numbers_that_decimals_keep_are_named(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stayed text, as doubles have not all their digits, without a word of what keeps them."""
    from serialpack.cli.reporting.converted import told_of
    from serialpack.conversion.tables import survey

    cells = [
        ("0.10000000000000000555", "2.50", "00123", "1.5", "7", "nan", "1"),
        ("1.25", "3.5", "12", "x", "9" * 38, "1.50", ""),
        ("-7", "", "1", "2", "1." + "2" * 38, "2.5", "2"),
    ]
    names, kept = "abcdefg", ("a", "b", "e")
    text = ",".join(names) + "\n" + "".join(f"{','.join(row)}\n" for row in cells * rows)
    words = (
        "  text as before: a, b, c, d, e and 1 more; --types a=decimal,b=decimal,e=decimal keeps"
    )
    for _ in "columns", "records":
        _, report = converted(text.encode(), "parquet", shaping=INFER)
        assert (report.types, report.decimals) == ({"g": "integer"}, kept)
        assert told_of(report, verbose=False) == [
            f"{words} all digits of numbers, =number makes doubles"
        ]
        assert converted(text.encode(), "json", shaping=INFER)[1].decimals == ()
        monkeypatch.setattr(survey, "goes_by_columns", lambda _: None)
    made, _ = converted(text.encode(), "parquet", shaping=by_hand(**dict.fromkeys(kept, "decimal")))
    found = values(made, "parquet")[: len(cells)]
    for place, name in (0, "a"), (1, "b"), (4, "e"):
        wanted = [row[place] for row in cells]
        assert [row[name] for row in found] == [Decimal(w) if w else None for w in wanted]


def test_what_gives_tabs_back_is_told() -> None:
    """The same bytes were to come back, but ``--to csv`` gave others."""
    source = b"a\tb\n1\tx\n"
    made, report = converted(source, "parquet", "tsv", shaping=INFER)
    assert report.typed.endswith("(back: the same bytes, by --to tsv)")
    assert converted(made, "tsv", "parquet")[0] == source
    for mark, name in {",": "csv", ";": "csv:semicolon", "|": "csv:pipe"}.items():
        source = f"a{mark}b\n1{mark}x\n".encode()
        made, report = converted(source, "parquet", name, shaping=INFER)
        assert report.typed.endswith("(back: the same bytes)")
        assert converted(made, "csv", "parquet")[0] == source


def test_times_in_several_zones_are_not_counted_as_typed() -> None:
    """They are text, and were told to be that and to have a type."""
    cells = b"t,n\n2024-01-01T00:00:00+01:00,1\n2024-07-01T00:00:00+02:00,2\n"
    _, report = converted(cells, "parquet", shaping=by_hand(t="timestamp", n="integer"))
    assert (report.types, report.carried[0].rule) == ({"n": "integer"}, "timestamps")


def test_what_does_for_intervals_and_words_of_others_is_told() -> None:
    """They were an unknown type, or no duration, without a word of why; so were words of others."""
    with pytest.raises(serialpack.UsageError, match="'float'; number is what it is called here"):
        converted(b"a\n1.50\n2.5\n", "arrow", shaping=by_hand(a="float"))
    with pytest.raises(serialpack.UsageError, match="'interval'; duration is of days"):
        converted(b"a\nP1D\n", "arrow", shaping=by_hand(a="interval"))
    with pytest.raises(serialpack.SerialpackError, match="months and years have no length"):
        converted(b"a\nP1M\n", "arrow", shaping=by_hand(a="duration"))


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_integers_may_be_decimals(to: str) -> None:
    """Those beyond 64 bits had no way into a table but as text."""
    source = b'[{"a":12345678901234567890123},{"a":-1},{"a":null}]'
    made, _ = converted(source, to, "json", shaping=by_hand(a="decimal"))
    assert [row["a"] for row in values(made, to)] == [Decimal(12345678901234567890123), -1, None]


#: Numbers of JSON -> what they are as decimals, and how many got the places of others.
NUMBERS = {
    "of other places": ("[1, 1.5, 2.25, null]", ["1.00", "1.50", "2.25", None], 2),
    "with all digits": (
        "[0.12345678901234567890123, 1.10]",
        *(["0.12345678901234567890123", "1.10000000000000000000000"], 1),
    ),
    "with exponents": ("[1e2, 1.5E-3, 1e16]", ["100.0000", "0.0015", "10000000000000000.0000"], 2),
    "and text": ('[1.5, "2.5"]', ["1.5", "2.5"], 0),
}


@pytest.mark.parametrize("to", ["parquet", "arrow"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_may_be_decimals(name: str, to: str) -> None:
    """ "1.5 is no decimal", it said, and decimals of other places made JSON text of a column."""
    text, wanted, count = NUMBERS[name]
    cells = text[1:-1].split(", ")
    source = "".join(f'{{"a":{cell}}}\n' for cell in cells).encode()
    made, report = converted(source, to, "ndjson", shaping=by_hand(a="decimal"))
    found = [row["a"] for row in values(made, to)]
    assert [None if v is None else str(v) for v in found] == wanted
    told = {loss.rule: loss.count for loss in report.carried}
    assert told == ({"places": count} if count else {})
    if count:
        with pytest.raises(serialpack.ValueRefusedError, match="decimal with more places"):
            converted(source, to, "ndjson", shaping=by_hand(a="decimal"), strict=True)


def test_decimals_of_other_places_are_not_the_same_bytes_again() -> None:
    made, report = converted(b"a\n1.5\n2.25\n", "parquet", shaping=by_hand(a="decimal"))
    assert report.comes_back == ""
    assert values(made, "parquet") == [{"a": Decimal("1.50")}, {"a": Decimal("2.25")}]
    inside = b'[{"m":{"a":[1.5,2.25]}}]'
    made, report = converted(
        inside, "parquet", "json", shaping=Shaping(types=(("m.a", "decimal"),))
    )
    assert [str(v) for v in values(made, "parquet")[0]["m"]["a"]] == ["1.50", "2.25"]
    assert [(loss.rule, loss.count) for loss in report.carried] == [("places", 1)]


def test_what_is_no_number_is_no_decimal() -> None:
    for cell in ("true", '{"b":1}'):
        with pytest.raises(serialpack.ValueRefusedError, match="is no decimal; "):
            converted(b'[{"a":%s}]' % cell.encode(), "csv", "json", shaping=by_hand(a="decimal"))
    source = b'[{"a":1.10},{"a":1e2}]'  # text keeps the digits
    made, _ = converted(source, "json", "json", shaping=by_hand(a="decimal"))
    assert made == b'[\n{"a":"1.10"},\n{"a":"100"}\n]\n'


#: Cells of one column -> its type by --infer, and the first value.
STYLES: dict[str, tuple[list[str], str, object]] = {
    "fractions cut at zeros": (
        ["2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00.123Z", "2024-01-01T00:00:00Z"],
        *("timestamp", datetime(2024, 1, 1, 0, 0, 0, 500_000, UTC)),
    ),
    "fractions as Python's": (
        ["2024-01-01 00:00:00", "2024-01-01 00:00:00.100000"],
        *("timestamp", datetime(2024, 1, 1)),
    ),
    "times of day": (["12:00:00.25", "12:00:00"], "time", time(12, 0, 0, 250_000)),
    "days first": (["31.12.2023", "01.02.2024"], "date", date(2023, 12, 31)),
    "months first": (["12/31/2023", "01/02/2024"], "", "12/31/2023"),
    "zeros at the end": (["12:00:00.250", "12:00:00"], "", "12:00:00.250"),
    "digits of days": (["31.12.2023", "1.2.2024"], "", "31.12.2023"),
}


@pytest.mark.parametrize("to", ["parquet", "arrow"])
@pytest.mark.parametrize("name", STYLES)
def test_styles_of_times_are_found_and_come_back(name: str, to: str) -> None:
    """Fractions of seconds as Go and Python write them, and dates as Europe does, stayed text."""
    cells, kind, first = STYLES[name]
    source = "\n".join(["t", *cells, ""]).encode()
    made, report = converted(source, to, shaping=INFER)
    assert (report.types, report.comes_back) == ({"t": kind} if kind else {}, "bytes")
    assert values(made, to)[0]["t"] == first
    assert converted(made, "csv", to)[0] == source


def test_dates_are_read_with_the_day_first() -> None:
    source = b"d\n1.5.2023\n31.12.2023\n2024-01-01\n"
    made, report = converted(source, "json", shaping=by_hand(d="date"))
    assert [row["d"] for row in json.loads(made)] == ["2023-05-01", "2023-12-31", "2024-01-01"]
    assert {loss.rule: loss.count for loss in report.carried}["spellings"] == 2
    with pytest.raises(serialpack.ValueRefusedError, match=r"no date, as 2023-12-31 and 31\.12"):
        converted(b"d\n12/31/2023\n", "json", shaping=by_hand(d="date"))


@pytest.mark.parametrize("name", ["c,d", 'q"q', "x\ny", "driver's age", "a=b", "plain"])
@pytest.mark.parametrize("kind", ["integer", "number"])
def test_the_hint_names_the_column_as_it_is_read(name: str, kind: str) -> None:
    """A comma, a quote or a line's end in a name made other names of it, and where the error was
    put in the words of Python, an error of its own."""
    text = io.StringIO()
    csv.writer(text).writerows([[name, "e"], ["1" + "0" * 400 if kind == "number" else "x", "1"]])
    source = text.getvalue().encode()
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        converted(source, "parquet", shaping=Shaping(types=((name, kind),)))
    assert str(refused.value)
    found = re.search(r"--types (?:'[^']*'(?:\"'\"'[^']*')*|\S+)", refused.value.hint or "")
    assert found is not None
    bash = shutil.which("bash") or pytest.skip("bash is not here")
    words = subprocess.run(
        [bash, "-c", f"printf '%s\\0' {found[0]}"], capture_output=True, check=True, text=True
    )
    _, said, _ = words.stdout.split("\0")
    named = types_of([said])
    assert [each for each, _ in named] == [name]
    converted(source, "parquet", shaping=Shaping(types=named))


@pytest.mark.parametrize("to", ["parquet", "arrow", "sqlite"])
@pytest.mark.parametrize(
    ("data", "name"),
    [(b"a,a\n1,2\n3,4\n", "a"), (b"a,a\n1,2\n3,4\n", "a_2"), (b"a,b\n1,2\n1,2,3\n", "column3")],
    ids=["first of a name", "second of it", "beyond the names"],
)
def test_types_of_columns_whose_names_are_made(data: bytes, name: str, to: str) -> None:
    """An internal error, where no ``--infer`` looked at all columns."""
    made, report = converted(data, to, shaping=by_hand(**{name: "integer"}))
    assert report.types == {name: "integer"}
    assert not report.comes_back
    again = json.loads(converted(made, "json", to)[0])
    assert [type(record[name]) for record in again if record.get(name) is not None]
    assert {type(record[name]) for record in again} <= {int, type(None)}


@pytest.mark.parametrize("to", ["parquet", "sqlite"])
@pytest.mark.parametrize("data", [b"\xe9,b\n1,2\n", b"a,b\n\xe9,1\nx,2\n"], ids=["name", "cell"])
def test_bytes_that_are_let_go_do_not_come_back(data: bytes, to: str) -> None:
    """An internal error; and it was said that the same cells come back."""
    _, report = converted(data, to, lossy=["utf8"], shaping=INFER)
    assert [loss.rule for loss in report.losses] == ["utf8"]
    assert report.types["b"] == "integer"
    assert not report.comes_back


@pytest.mark.parametrize("how", [{"skip_bad": True}, {"lossy": ["all"]}])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"b,\xe9\n", "line 1, column 3.*not UTF-8"),
        (b'b,"a"x\n1,2\n', "line 1, column 6.*text behind the quote"),
    ],
)
def test_names_that_are_none_are_refused(data: bytes, said: str, how: dict[str, Any]) -> None:
    """An internal error, where no row is left."""
    with pytest.raises(serialpack.InputError, match=said):
        converted(data, "parquet", **how)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+02:00", "9999-12-31T23:00:00+02:00"])
@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_times_that_utc_may_not_have_are_text(time: str, to: str) -> None:
    """An internal error, where one stood below another."""
    data = f"at,n\n2024-01-01T10:00:00+02:00,1\n{time},2\n".encode()
    made, report = converted(data, to, shaping=INFER)
    assert report.types == {"n": "integer"}
    assert converted(made, "csv", to)[0] == data


@pytest.mark.parametrize("types", [{"n": "decimal"}, {"at": "timestamp"}])
def test_what_a_database_has_as_text_is_not_said_to_come_back(types: dict[str, str]) -> None:
    """It was said to be the same bytes, and was in quotes, or spelled otherwise."""
    data = b"at,n\n2024-01-01 10:00:00,1.50\n"
    for to, comes_back in ("sqlite", ""), ("parquet", "bytes"):
        made, report = converted(data, to, shaping=by_hand(**types))
        assert report.comes_back == comes_back
        assert (converted(made, "csv", to)[0] == data) is bool(comes_back)


@pytest.mark.parametrize("rows", [1, 40_000])
@pytest.mark.parametrize("cells", [("-0.00", "1.25"), ("-0.0", "1.5"), ("-1.5e-01", "-0.0e+00")])
def test_a_database_has_negative_zeros(cells: tuple[str, str], rows: int) -> None:
    """SQLite makes 0.0 of them in a column that is declared REAL: the table was refused."""
    data = "a,b\n" + "".join(f"{cell},x\n" for cell in cells) * rows
    made, report = converted(data.encode(), "sqlite", shaping=INFER)
    assert report.types == {"a": "number"}
    assert report.comes_back == "bytes"
    assert converted(made, "csv", "sqlite")[0] == data.encode()


@pytest.mark.parametrize("cell", ["1.50", "1.5e+00"])
def test_one_spelling_of_a_named_column_is_not_refused(cell: str) -> None:
    """By ``strict`` it was, where it is not the usual one; and what no cell has is another."""
    how: dict[str, Any] = {"shaping": by_hand(b="number"), "strict": True}
    assert converted(f"a,b\nx,{cell}\n".encode(), "json", **how)[1].types == {"b": "number"}
    with pytest.raises(serialpack.ValueRefusedError, match="spelled otherwise"):
        converted(f"a,b\nx,{cell}\nx,2.5\n".encode(), "json", **how)


@pytest.mark.parametrize("to", ["parquet", "arrow", "sqlite"])
def test_other_names_do_not_come_back(to: str) -> None:
    """Of a table without rows nothing was told of the name that was made for the second."""
    made, report = converted(b"a,a\n", to, shaping=INFER, lossy=["all"])
    assert not report.comes_back
    assert converted(made, "csv", to)[0] != b"a,a\n"


@pytest.mark.parametrize("to", ["parquet", "arrow", "sqlite"])
def test_short_rows_below_quoted_ones(to: str) -> None:
    """An internal error, where cells that are filled are quoted."""
    rows = '"some text","some more"\n"text",\n' * 40_000  # of more than one block
    made, report = converted(f'a,b\n{rows}"z"\n'.encode(), to, shaping=INFER)
    assert not report.comes_back
    assert json.loads(converted(made, "json", to)[0])[-1] == {"a": "z", "b": None}
