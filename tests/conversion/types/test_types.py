"""Columns of text get types, and are written as they were: ``--infer`` and ``--types``."""

from __future__ import annotations

import io
import json
import math
import pickle
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.types.spelling import is_style, possible, spelled, values_of

pa = pytest.importorskip("pyarrow")

INFER = Shaping(infer=True)
EAST = timezone(timedelta(hours=2))


def converted(data: bytes, to: str, source: str = "csv", **how: Any) -> tuple[bytes, Any]:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, format=source, to=to, **how)
    return out.getvalue(), report


def by_hand(**types: str) -> Shaping:
    return Shaping(types=tuple(types.items()))


def values(data: bytes, source: str) -> list[dict[str, Any]]:
    """The rows of a typed table, by its own library."""
    import pyarrow.parquet

    if source == "parquet":
        rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    else:
        rows = pa.ipc.open_file(data).read_all().to_pylist()
    return list(rows)


#: Cells of one column, and the values that they are; None: they stay text.
COLUMNS: dict[str, tuple[list[str], list[Any] | None]] = {
    "integers": (["1", "-20", "", "0"], [1, -20, None, 0]),
    "zip codes": (["00501", "10001"], None),
    "a plus": (["+1", "2"], None),
    "a negative zero": (["-0", "1"], [-0.0, 1.0]),
    "wide": (["18446744073709551615", "0"], [2**64 - 1, 0]),
    "too wide": (["18446744073709551616", "0"], None),
    "wide both ways": (["18446744073709551615", "-1"], None),
    "with and without a point": (["1", "2.5", "-3"], [1.0, 2.5, -3.0]),
    "with a point": (["1.0", "2.5", "-0.0"], [1.0, 2.5, -0.0]),
    "1 beside 1.0": (["1", "1.0"], None),
    "prices": (["1.50", "", "10.00"], [1.5, None, 10.0]),
    "prices of several kinds": (["1.50", "1.5"], None),
    "more digits than a double": (["0.12345678901234567891"], None),
    "exponents": (["1.500e+00", "2.000e-03"], [1.5, 0.002]),
    "no point before": ([".5", "0.5"], None),
    "underscores": (["1_000"], None),
    "other digits": (["\N{ARABIC-INDIC DIGIT ONE}"], None),
    "space": ([" 1"], None),
    "TRUE": (["TRUE", "FALSE", ""], [True, False, None]),
    "true": (["true", "false"], [True, False]),
    "both cases": (["true", "FALSE"], None),
    "dates": (["2024-02-29", "", "0001-01-01"], [date(2024, 2, 29), None, date(1, 1, 1)]),
    "no dates": (["2024-02-30"], None),
    "times": (["12:00", "23:59"], [time(12), time(23, 59)]),
    "seconds": (["12:00:00.5", "23:59:01.0"], [time(12, 0, 0, 500000), time(23, 59, 1)]),
    "timestamps": (["2024-01-01T01:02:03", ""], [datetime(2024, 1, 1, 1, 2, 3), None]),
    "with a space": (["2024-01-01 01:02"], [datetime(2024, 1, 1, 1, 2)]),
    "in UTC": (["2024-01-01T00:00:00.250Z"], [datetime(2024, 1, 1, 0, 0, 0, 250000, tzinfo=UTC)]),
    "T and space": (["2024-01-01T01:02:03", "2024-01-01 01:02:03"], None),
    "another zone": (["2024-01-01T01:02:03+02:00"], [datetime(2024, 1, 1, 1, 2, 3, tzinfo=EAST)]),
    "other zones": (["2024-01-01T01:02:03+02:00", "2024-01-01T01:02:03+01:00"], None),
    "nanoseconds": (["2024-01-01T01:02:03.123456789"], None),
    "a word at the end": ([*["1"] * 300, "n/a"], None),
    "a fraction at the end": ([*["1"] * 300, "0.5"], [*[1.0] * 300, 0.5]),
    "nothing": (["", ""], None),
    "NaN": (["NaN", "1.5"], None),
    "nan": (["27", "nan", "-inf", ""], [27.0, math.nan, -math.inf, None]),
    "nan first": (["nan", "1.50", *["2.25"] * 99, "inf"], [math.nan, 1.5, *[2.25] * 99, math.inf]),
    "nan last": ([*["2.0"] * 99, "nan"], [*[2.0] * 99, math.nan]),
    "nothing but nan": (["nan", "", "nan"], None),
    "nan beside dates": (["nan", "2024-02-29"], None),
    "nan beside words": (["true", "nan"], None),
}


@pytest.mark.parametrize("block_size", [None, 64])
@pytest.mark.parametrize("target", ["parquet", "arrow"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_has_values_or_stays_text(name: str, target: str, block_size: int | None) -> None:
    cells, want = COLUMNS[name]
    text = "".join(f"k{n},{cell}\n" for n, cell in enumerate(cells))
    source = f"k,v\n{text}".encode()
    data, report = converted(source, target, shaping=INFER, block_size=block_size)
    found = [row["v"] for row in values(data, target)]
    assert repr(found) == repr(cells if want is None else want).replace(
        "datetime.timezone.utc", repr(found[0].tzinfo) if name == "in UTC" else ""
    )
    assert set(report.types) == (set() if want is None else {"v"})
    assert report.comes_back == "bytes"
    again, _ = converted(data, "csv", target)
    assert again == source


@pytest.mark.parametrize("target", ["json", "ndjson", "sqlite"])
def test_nan_stays_text_where_the_target_has_none(target: str) -> None:
    """It was a number to be refused for, where it was not the first cell."""
    source = b"k,v,w\na,27,1\nb,nan,2\n"
    data, report = converted(source, target, shaping=INFER)
    assert set(report.types) == {"w"}
    again, _ = converted(data, "json", target)
    assert [row["v"] for row in json.loads(again)] == ["27", "nan"]


#: Whole files, and what comes back.
FILES: dict[str, tuple[str, str]] = {
    "CRLF, no last end": ("a,b\r\n1,x\r\n2,y", "bytes"),
    "a mark, semicolons": ("\ufeffa;b\n1;2,5\n3;x\n", "bytes"),
    "all quoted": ('"a","b"\n"1",""\n"2","y"\n', "bytes"),
    "text quoted": ('"a","b"\n1,"x"\n2,\n', "bytes"),
    "quoted where needed": ('a,b\n1,"x,y"\n2,"say ""hi"""\n3,"l1\nl2"\n', "bytes"),
    "one column": ('a\n1\n""\n3\n', "bytes"),
    "text like a literal": ("a,b\n1,null\n2,\n3,012\n", "bytes"),
    "quoted here and there": ('a,b\n1,"x"\n2,y\n', "cells"),
    "blank lines": ("a,b\n1,2\n\n3,4\n", "cells"),
    "several line ends": ("a,b\r\n1,2\n3,4\r\n", "cells"),
}


def cells_of(text: bytes) -> list[list[str]]:
    import csv

    decoded = text.decode("utf-8-sig")
    mark = ";" if ";" in decoded else ","
    return [row for row in csv.reader(io.StringIO(decoded, newline=""), delimiter=mark) if row]


@pytest.mark.parametrize("target", ["parquet", "arrow", "sqlite"])
@pytest.mark.parametrize("name", FILES)
def test_what_is_said_to_come_back_does(name: str, target: str) -> None:
    text, comes_back = FILES[name]
    source = text.encode()
    data, report = converted(source, target, shaping=INFER)
    assert report.types["a"] == "integer"
    assert report.comes_back == comes_back
    again, there = converted(data, "csv", target)
    assert (again == source) == (comes_back == "bytes")
    assert cells_of(again) == cells_of(source)
    assert there.back == ("-F", "csv", "--infer")


def test_nothing_is_said_to_come_back_that_does_not() -> None:
    """Fields that were dropped, records left out, a proof that was not asked for."""
    source = b"a,b\n1,2\n3,4\n"
    for how in ({"fields": ["a"]}, {"verify": False}):
        assert not converted(source, "parquet", shaping=INFER, **how)[1].comes_back
    left = converted(b"a,b\n1,2\n3,4,5\n", "parquet", shaping=INFER, skip_bad=True)[1]
    assert (left.left_out, left.comes_back) == (1, "")
    assert converted(b"a,b\n1,2\n3\n", "parquet", shaping=INFER)[1].comes_back != "bytes"
    bare = converted(b"1,2\n3,4\n", "parquet", shaping=INFER, no_header=True)[1]
    assert bare.comes_back == "cells"


def test_without_the_options_cells_are_text() -> None:
    data, report = converted(b"a\n1\n", "json")
    assert json.loads(data) == [{"a": "1"}]
    assert (report.types, report.columns, report.comes_back) == ({}, 0, "")


@pytest.mark.parametrize(
    ("target", "wide", "day"),
    [
        *(("json", False, False), ("ndjson", False, False), ("msgpack", True, False)),
        *(("cbor", True, True), ("yaml", True, True), ("avro", True, True)),
        ("sqlite", True, False),
    ],
)
def test_types_are_as_wide_as_the_target(target: str, wide: bool, day: bool) -> None:
    source = b"n,wide,price,day\n1,9007199254740993,1.50,2024-01-01\n2,1,2.00,2024-01-02\n"
    data, report = converted(source, target, shaping=INFER)
    types = {"n": "integer", "wide": "integer", "price": "number", "day": "date"}
    if not wide:
        del types["wide"]
    if not day:
        del types["day"]
    assert report.types == types
    assert not report.carried
    back, _ = converted(data, "ndjson", target)
    first = json.loads(back.splitlines()[0])
    number = 2**53 + 1
    assert first == {
        "n": 1,
        "wide": number if wide else str(number),
        "price": 1.5,
        "day": "2024-01-01",
    }


def test_columns_that_changed_are_written_as_ever() -> None:
    """Values that another put into the table, of another type or with more digits."""
    import pyarrow.parquet

    source = b"a,p,t\n1,1.50,x\n2,2.00,y\n"
    data, _ = converted(source, "parquet", shaping=INFER)
    table = pyarrow.parquet.read_table(io.BytesIO(data))
    metadata = table.schema.metadata
    changed = table.set_column(1, "p", pa.array([1.234, None])).set_column(
        2, "t", pa.array(["x", None])
    )
    out = io.BytesIO()
    pyarrow.parquet.write_table(changed.replace_schema_metadata(metadata), out)
    again, report = converted(out.getvalue(), "csv", "parquet")
    assert again == b"a,p,t\n1,1.234,x\n2,,\n"
    assert {loss.rule for loss in report.carried} == {"cells", "null"}


@pytest.mark.parametrize(
    "words",
    [b"", b"{", b"[]", b'{"version":2}', b'{"version":1,"columns":{}}', b"\xff"]
    + [
        json.dumps(
            {"version": 1, "head": "a\n", "delimiter": ",", "newline": "\n", "end": True}
            | {"columns": {"a": ["number", style, "n"]}, "back": []}
        ).encode()
        for style in ("f999999999", "x", 1, None)
    ],
)
def test_what_is_kept_may_be_anything(words: bytes) -> None:
    import pyarrow.parquet

    table = pa.table({"a": [1.5]}).replace_schema_metadata({"serialpack": words})
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    assert converted(out.getvalue(), "csv", "parquet")[0] == b"a\n1.5\n"


def test_named_types_are_read_in_any_spelling_and_told() -> None:
    source = b"zip,p\n00501,1.50\n10001,+2.5\n,3\n"
    data, report = converted(source, "parquet", shaping=by_hand(zip="integer", p="number"))
    assert [[*row.values()] for row in values(data, "parquet")] == [
        [501, 1.5],
        [10001, 2.5],
        [None, 3.0],
    ]
    (told,) = report.carried
    assert (told.rule, told.count, told.was, told.became) == ("spellings", 3, "'00501'", "501")
    assert not report.comes_back
    with pytest.raises(serialpack.ValueRefusedError, match="without strict=True"):
        converted(source, "parquet", shaping=by_hand(zip="integer"), strict=True)


def test_strings_of_records_get_the_types_that_they_had() -> None:
    lines = (
        b'{"w":"2024-01-01T00:00:00Z","b":"aGk=","d":"1.50","in":[{"x":"2024-01-01"}],"n":"5"}\n'
    )
    types = (("w", "timestamp"), ("b", "bytes"), ("d", "decimal"), ("in.x", "date"))
    data, _ = converted(lines, "pickle", "ndjson", shaping=Shaping(types=types))
    import pickle

    found = pickle.loads(data)  # our own
    assert found == {
        "w": datetime(2024, 1, 1, tzinfo=UTC),
        "b": b"hi",
        "d": Decimal("1.50"),
        "in": [{"x": date(2024, 1, 1)}],
        "n": "5",
    }
    _, report = converted(lines, "parquet", "ndjson", shaping=INFER)
    assert report.types == {"w": "timestamp"}, "a number in quotes is text in JSON"


def test_what_is_named_wrongly_is_said_with_its_place() -> None:
    source = b"a,b\n1,x\n,y\n"
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        converted(source, "json", shaping=by_hand(b="date"))
    assert (refused.value.record, refused.value.value_path) == (0, "$.b")
    assert "'x' is no date" in str(refused.value)
    with pytest.raises(serialpack.UsageError, match="no record has a field c"):
        converted(source, "json", shaping=by_hand(c="date"))
    with pytest.raises(serialpack.UsageError, match="unknown type"):
        converted(source, "json", shaping=by_hand(b="dat"))
    with pytest.raises(serialpack.ValueRefusedError, match="no double holds"):
        converted(b"a\n0.12345678901234567891\n", "json", shaping=by_hand(a="number"))
    for kind in ("number", "decimal"):
        match = f"'1,5' is no {kind}: its comma .*decimal-comma.* takes it for one"
        with pytest.raises(serialpack.ValueRefusedError, match=match):
            converted(b"a;b\n1,5;x\n", "json", shaping=by_hand(a=kind))
    data, report = converted(b"a\nx\n2\n", "json", shaping=by_hand(a="integer"), skip_bad=True)
    assert (json.loads(data), report.left_out) == ([{"a": 2}], 1)


COMMAS = b"name;price;n\r\nx;1,50;2,5\r\ny;-2,25;\r\nz;1234567,00;3\r\n"


@pytest.mark.parametrize("target", ["parquet", "arrow", "sqlite"])
def test_decimal_commas_are_numbers_where_that_is_said(target: str) -> None:
    """They stayed text, whatever was said. The same bytes come back; ``--infer`` takes none."""
    shaping = by_hand(price="decimal-comma", n="decimal-comma")
    data, report = converted(COMMAS, target, shaping=shaping)
    assert report.comes_back == "bytes"
    rows = json.loads(converted(data, "json", target)[0])
    assert [[row["price"], row["n"]] for row in rows] == [[1.5, 2.5], [-2.25, None], [1234567, 3]]
    assert converted(data, "csv", target)[0] == COMMAS
    assert not converted(COMMAS, target, shaping=INFER)[1].types


@pytest.mark.parametrize("target", ["json", "parquet", "arrow", "sqlite"])
def test_cells_are_lists_where_that_is_said(target: str) -> None:
    """And what is in a list has the type that is said beside it."""
    shaping = Shaping(types=(("a", "list"), ("a", "integer")))
    data, report = converted(b"a,b\n1,x\n,y\n", target, shaping=shaping)
    assert report.comes_back == ""
    rows = json.loads(converted(data, "json", target)[0])
    assert [row["a"] for row in rows] == [[1], []]
    source = b'[{"a": ["2024-01-01", null, ["2024-01-02"]]}, {"a": "2024-01-03"}]'
    data, _ = converted(source, "yaml", "json", shaping=by_hand(a="date"))
    again, _ = converted(data, "json", "yaml", shaping=Shaping())
    assert json.loads(again) == json.loads(source)
    with pytest.raises(serialpack.UsageError, match="names a twice"):
        converted(b"a\n1\n", "json", shaping=Shaping(types=(("a", "list"), ("a", "list"))))


@pytest.mark.parametrize("kind", ["text", "list", "integer", "date"])
def test_a_table_without_rows_has_its_named_types(kind: str) -> None:
    data, _ = converted(b"a,b\n", "parquet", shaping=by_hand(a=kind))
    assert converted(data, "csv", "parquet")[0] == b"a,b\n"


def test_what_is_no_decimal_comma_is_refused() -> None:
    """A point may stand between thousands, or be a decimal one."""
    for cell in ("1.5", "1.234", "1.23,5", "1,2,3", "1_0,5"):
        with pytest.raises(serialpack.ValueRefusedError, match="no number with a decimal comma"):
            converted(f"a;b\n{cell};\n".encode(), "json", shaping=by_hand(a="decimal-comma"))
    data, report = converted(b"a;b\n1,5;\n+2,50;\n", "json", shaping=by_hand(a="decimal-comma"))
    assert [row["a"] for row in json.loads(data)] == [1.5, 2.5]
    assert [(loss.rule, loss.count) for loss in report.carried] == [("spellings", 1)]
    # Before a comma, or where there are several, it stands between thousands.
    source = b"a;b\n1.234,50;\n2,25;\n-1.234.567,00;\n"
    data, report = converted(source, "json", shaping=by_hand(a="decimal-comma"))
    assert [row["a"] for row in json.loads(data)] == [1234.5, 2.25, -1234567]
    assert [(loss.rule, loss.count) for loss in report.carried] == [("spellings", 2)]
    with pytest.raises(serialpack.ValueRefusedError, match=r"'1\.234,50' .*decimal-comma"):
        converted(source, "json", shaping=by_hand(a="number"))


def test_spellings_are_closed() -> None:
    """Whatever a cell may be, what is spelled of its value is the cell; and its style is one."""
    for cells, _ in COLUMNS.values():
        for cell in filter(None, cells):
            for spelling in possible(cell):
                found = values_of([cell], spelling)
                assert found is None or spelled(found, spelling) == [cell]
                assert is_style(*spelling)


@pytest.mark.parametrize("target", ["csv", "ndjson", "parquet", "sqlite"])
def test_complex_numbers_are_text_that_types_read(target: str) -> None:
    """They were refused, with pickle as the one way out."""
    records = [{"v": 1.5 + 2j}, {"v": complex(-0.0, -1.0)}, {"v": complex("nan-infj")}]
    text, report = converted(pickle.dumps(records), target, "pickle", trust=True)
    assert [loss.rule for loss in report.carried] == ["complex"]
    back, _ = converted(text, "pickle", target, shaping=by_hand(v="complex"))
    file = io.BytesIO(back)
    assert [repr(pickle.load(file)) for _ in records] == [*map(repr, records)]


@pytest.mark.parametrize("target", ["csv", "parquet"])
def test_a_key_that_no_table_has_is_named_with_formats_that_do(target: str) -> None:
    records = [{"v": 1}, {frozenset({1}): 2}]
    with pytest.raises(
        serialpack.ValueRefusedError, match=r'frozenset\(\{1\}\); to="(?P<to>[^"]+)"'
    ) as said:
        converted(pickle.dumps(records), target, "pickle", trust=True)
    way = str(said.value).rpartition('to="')[2].partition('"')[0]
    assert converted(pickle.dumps(records), way, "pickle", trust=True)[0]


def test_bytes_that_are_text_are_text_by_hand() -> None:
    """Impala and old Hive wrote text of Parquet as bytes; no option made more than base64 of it."""
    table = pa.table({"n": [1, 2], "s": [b"a", None], "m": [{"t": "é".encode()}, {"t": b""}]})
    sink = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(table, sink)
    shaping = Shaping(types=(("s", "text"), ("m.t", "text")))
    expected = [{"n": 1, "s": "a", "m": {"t": "é"}}, {"n": 2, "s": None, "m": {"t": ""}}]
    for to in ("json", "parquet", "arrow"):
        out, report = converted(sink.getvalue(), to, "parquet", shaping=shaping)
        found = json.loads(out) if to == "json" else values(out, to)
        assert (found, [loss.rule for loss in report.carried]) == (expected, [])
    with pytest.raises(serialpack.ValueRefusedError, match=r"\$\.s: .* is no text in UTF-8") as bad:
        converted(b"\x81\xa1s\xc4\x01\xff", "json", "msgpack", shaping=by_hand(s="text"))
    assert (bad.value.record, bad.value.kind) == (0, "value")
