"""Tables of text become tables with types column by column: as they do record by record."""

from __future__ import annotations

import io
import random
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import pytest

import serialpack
from serialpack.conversion.blocks.converter import BlockConverter
from serialpack.conversion.tables import survey, to_database
from serialpack.conversion.tables.frames import FrameTable
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.types import arrow_cells
from serialpack.conversion.types.spelling import possible, values_of
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv import by_columns
from serialpack.formats.csv.quoting import quoted, quotes_of, quotes_of_columns
from serialpack.formats.csv.text import CsvText
from serialpack.formats.csv.tokens import rows_of
from serialpack.formats.sqlite.rows import encoded as rows_encoded

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.csv")
pytest.importorskip("pyarrow.parquet")

_CELLS = {
    "integer": ["0", "7", "-12", "9223372036854775807", "-0", "+1", "007", "0x1f", "1_0", "2" * 20],
    "number": ["1.5", "0.0", "-0.0", "1.0", "0.0001", "0.00001", "1e5", "1e+16", "3.14159", ".5"],
    "digits": ["0.1234567890123456", "9007199254740993.0", "4503599627370496.5", "5e-324", "1.25"],
    "places": ["1.50", "-0.25", "0.00", "-0.00", "00.50", "1234567890.34", "12345678901234567.89"],
    "none": ["nan", "inf", "-inf", "NaN", "Infinity"],
    "boolean": ["true", "false", "TRUE", "FALSE", "True", "False"],
    "date": ["2024-02-29", "2023-02-29", "0001-01-01", "0000-01-01", "9999-12-31", "31.12.2023"],
    "time": ["2024-01-01T10:00:00", "2024-01-01 10:00:00", "2024-01-01T10:00:00Z", "10:00"],
    "parts": ["2024-01-01T10:00:00.5", "2024-01-01T10:00:00.250", "2024-01-01T10:00:00.123456"],
    "whole": ["2024-01-01T10:00:00.000000", "2024-01-01T24:00:00", "2024-01-01T10:00:00+02:00"],
}


def columns_of_cells() -> Iterator[list[str]]:
    """Columns of few cells, most of them alike."""
    drawn = random.Random(7)
    kinds = list(_CELLS.values())
    for _ in range(4000):
        some = drawn.choice(kinds)
        cells = [drawn.choice(some) for _ in range(drawn.randrange(1, 4))]
        if drawn.random() < 0.3:
            cells.append(drawn.choice(["", *drawn.choice(kinds)]))
        yield cells


def test_arrays_have_the_values_that_python_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never another value, and never one whose text is not the cell; None is no answer."""
    monkeypatch.setattr(arrow_cells, "_LEAST", 0)
    known = set()
    for cells in columns_of_cells():
        filled = [cell for cell in cells if cell]
        array = arrow_cells.array_of_cells(cells, empty_is_null=True)
        for spelling in possible(filled[0]):
            values = arrow_cells.values_in(array, spelling)
            if values is None:
                continue
            expected = values_of(filled, spelling)
            assert expected is not None, (cells, spelling)
            found = [str(value) for value in values.to_pylist() if value is not None]
            assert found == [str(value) for value in expected], (cells, spelling)
            known.add((spelling.type, spelling.style[1:2] if "stamp" in spelling.type else ""))
    assert known >= {(kind, "") for kind in ("integer", "number", "boolean", "date")}
    assert known >= {("timestamp", digits) for digits in "036p"}


def test_arrays_of_text_have_the_cells() -> None:
    for cells in (["a", "", "b"] * 999, ["a\nb", "\u00e9", ""] * 999):
        array = arrow_cells.array_of_cells(cells, empty_is_null=False)
        assert array.to_pylist() == cells
        assert arrow_cells.is_text_of(array, cells)
        assert not arrow_cells.is_text_of(array, [*cells[1:], cells[0]])
    joined = pa.array(["a", "b,"] + [""] * 999)
    assert not arrow_cells.is_text_of(joined, ["a,", "b"] + [""] * 999)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_how_columns_are_quoted_is_told_of_their_text(newline: str) -> None:
    drawn, told = random.Random(newline), 0
    for number in range(2000):
        rows = drawn.randrange(1, 90 if number % 20 == 0 else 4)
        texts = ["", "a", "b,c", 'd"e', "x\ny"][: drawn.randrange(1, 6)]
        columns = [[drawn.choice(texts) for _ in range(rows)] for _ in range(2)]
        ways = [drawn.choice("naf") for _ in columns]
        cells = [quoted(*pair, ",", alone=False) for pair in zip(columns, ways, strict=True)]
        body = newline.join(map(",".join, zip(*cells, strict=True))) + newline * (number % 2)
        found = quotes_of_columns(body, columns, ",")
        if found is not None:
            told += 1
            assert found == [quotes_of(some, ",", alone=False) for some in cells], body
    assert told > 1500


def _rows(count: int) -> str:
    lines = [
        f"{n},{n / 8},{n / 100:.2f},2024-05-{n % 28 + 1:02},2024-05-01T10:00:{n % 60:02}"
        f",{'true' if n % 3 else 'false'},{n % 7 or ''},t{n % 9},"
        for n in range(count)
    ]
    return "\n".join(["i,x,p,d,at,b,some,t,none", *lines, ""])


#: More than 64 KiB, of which pyarrow reads the cells, or rows enough for it to cast them.
TABLES = {
    "types": _rows(1300),
    "quotes": _rows(1300).replace("t5", '"a, ""b"""').replace("t6", '"x\ny"'),
    "all quoted": "a,b\n" + '"1","x"\n' * 8300,
    "filled quoted": "a,b\n" + '"1","x"\n"2",\n' * 5200,
    "some quoted": "a,b\n" + '1,"x"\n2,x\n' * 6700,
    "commas": "a,b\n" + '1,"7,5"\n2,8\n' * 5500,
    "CR LF": _rows(1300).replace("\n", "\r\n"),
    "mark": "\ufeff" + _rows(1300),
    "no last end": _rows(1300)[:-1],
    "no numbers": "a,b\n" + "".join(f"{(n % 5 and n) or 'nan'},{n:05}\n" for n in range(1300)),
    "late": "a,b,c\n" + "1,2,2024-01-01\n" * 3000 + "x,2.5,\n",
    "big": "a,b\n" + "".join(f"{2**63 + n},{2**62 + n}\n" for n in range(1700)),
    "zeros": "a,b\n" + "-0.0,-0.00\n1.5,1.50\n" * 700,
    "blank lines": _rows(1300).replace("\n7,", "\n\n7,") + "\n\n",
    "short rows": _rows(1300).replace("\n7,", "\n7\n7,"),
    "one name twice": _rows(1300).replace("i,x", "x,x", 1),
    "named cells": "a,A2\n" + "1,\0\n" * 1300,
    "one row": "a,b\n1,2\n",
    "one column": "a\n" + "1\n\n" * 1300,
    "no rows": "a,b\n",
}


def _converted(
    text: str,
    to: str,
    *,
    infer: bool,
    types: tuple[tuple[str, str], ...] = (),
    fields: tuple[str, ...] = (),
) -> tuple[Any, Any]:
    """What a table becomes, and what is said of that, or why it does not."""
    made = io.BytesIO()
    shaping = Shaping(infer=infer, types=types)
    how: dict[str, Any] = {"format": "csv", "to": to, "fields": fields, "shaping": shaping}
    try:
        done = serialpack.convert(io.BytesIO(text.encode()), made, threads=1, **how)
    except serialpack.SerialpackError as error:
        return str(error), None
    if to == "sqlite":
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(made.getvalue())
            return list(database.iterdump()), done._replace(seconds={})
    return made.getvalue(), done._replace(seconds={})


def go_by_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no table of text looked at, or converted, by its columns."""
    monkeypatch.setattr(BlockConverter, "_try_columns", lambda *_: None)
    monkeypatch.setattr(survey, "goes_by_columns", lambda _: None)


@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize("to", ["parquet", "arrow", "sqlite"])
@pytest.mark.parametrize("name", TABLES)
def test_the_same_comes_of_columns_as_of_records(
    name: str, to: str, infer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _converted(TABLES[name], to, infer=infer)
    go_by_records(monkeypatch)
    assert _converted(TABLES[name], to, infer=infer) == found


@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize("to", ["parquet", "sqlite"])
@pytest.mark.parametrize("name", TABLES)
def test_the_same_fields_are_taken_of_columns_as_of_records(
    name: str, to: str, infer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = TABLES[name].removeprefix("\ufeff").partition("\n")[0].rstrip("\r").split(",")
    wanted = (tuple(header[1::2]), (header[-1], header[0]), ("none of these", header[0]))
    fields = wanted[(list(TABLES).index(name) + infer + (to == "parquet")) % len(wanted)]
    found = _converted(TABLES[name], to, infer=infer, fields=fields)
    go_by_records(monkeypatch)
    assert _converted(TABLES[name], to, infer=infer, fields=fields) == found


@pytest.mark.parametrize("name", ["types", "quotes", "filled quoted", "late", "zeros"])
def test_a_database_gets_some_rows_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all of a block there were twice as many values of Python's as it has cells."""
    found = _converted(TABLES[name], "sqlite", infer=True)
    made: list[int] = []

    def some(rows: Iterable[Any]) -> bytes:
        listed = list(rows)
        made.append(len(listed))
        return rows_encoded(listed)

    monkeypatch.setattr(to_database, "_ROWS", 300)
    monkeypatch.setattr(to_database, "encoded", some)
    assert _converted(TABLES[name], "sqlite", infer=True) == found
    assert max(made) == 300


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_pyarrow_reads_the_very_cells_or_none(
    newline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it reads otherwise, or as more rows or fields, Python's rows are made of."""
    monkeypatch.setattr(by_columns, "_LEAST", 0)
    drawn, read = random.Random(newline), 0
    pieces = ["a", "", " ", "\0", "\u00e9", "NA", "null"]
    pieces += ["\\", "'", "\r", "\n", "\n\n", "x,", '"', "1"]
    fmt = FORMATS.get("csv")
    assert isinstance(fmt, CsvText)
    for _ in range(4000):
        most = drawn.choice([5, 9, len(pieces)])
        rows = [[drawn.choice(pieces[:most]) for _ in range(3)] for _ in range(3)]
        body = newline.join(map(",".join, rows)) + newline * drawn.randrange(2)
        block = SourceBlock(f"a,b,c\n{body}".encode(), 0, 0, None, last=True)
        found = by_columns.text_columns(fmt, block, verify=True)
        if found is None or not found.newline:
            continue
        read += 1
        assert [cells.to_pylist() for cells in found.cells] == [
            list(cells) for cells in zip(*rows_of(body, ","), strict=True)
        ]
    assert read > 500


def _text_columns(data: bytes, head: bytes) -> by_columns.TextColumns | None:
    """The columns of a block that is not the first."""
    fmt = FORMATS.get("csv")
    assert isinstance(fmt, CsvText)
    block = SourceBlock(data, 1, 9, None, context=head, last=True)
    return by_columns.text_columns(fmt, block, verify=False)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_pyarrow_reads_the_very_cells_in_quotes(
    newline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is told how they are quoted; where that is in no one way, Python reads them."""
    monkeypatch.setattr(by_columns, "_LEAST", 0)
    drawn, read, mixed = random.Random(newline), 0, 0
    texts = ["a", "", "b,c", 'd"e', '"', "x\ny", "x\r\ny", "\r", "\u00e9", " ", "\0", "\ufeff"]
    for number in range(3000):
        some, count = texts[: drawn.randrange(1, len(texts) + 1)], drawn.randrange(1, 90)
        columns = [[drawn.choice(some) for _ in range(count)] for _ in range(3)]
        ways = [drawn.choice("naf") for _ in columns]
        cells = [quoted(*pair, ",", alone=False) for pair in zip(columns, ways, strict=True)]
        if number % 5 == 0:
            mixed += 1
            cells[0] = [
                '"a"' if cell == "a" and drawn.random() < 0.5 else cell for cell in cells[0]
            ]
        body = newline.join(map(",".join, zip(*cells, strict=True))) + newline * (number % 2)
        found = _text_columns(body.encode(), f"a,b,c{newline}".encode())
        assert found is not None
        if found.quotes is None or '"' not in body:
            continue
        read += 1
        assert found.newline == newline
        assert [each.to_pylist() for each in found.cells] == columns
        assert found.quotes == [quotes_of(each, ",", alone=False) for each in cells]
    assert read > 3000 - mixed - 500


def test_a_mark_at_the_front_of_a_later_block_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow leaves it out."""
    monkeypatch.setattr(by_columns, "_LEAST", 0)
    found = _text_columns("\ufeff1,2\n".encode(), b"a,b\n")
    assert found is not None
    assert [list(cells) for cells in found.cells] == [["\ufeff1"], ["2"]]


def test_the_last_row_without_an_end_is_of_the_table_of_the_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Alone in a block, it was taken for one of LF: other bytes were to come back."""
    monkeypatch.setattr(by_columns, "_LEAST", 0)
    for data in (b"1,2", b'1,"2,"'):
        found = _text_columns(data, b"a,b\r\n")
        assert found is not None
        assert found.newline == "\r\n"


@pytest.mark.parametrize("name", ["types", "quotes", "all quoted", "filled quoted", "commas"])
def test_pyarrow_reads_what_is_quoted_in_one_way(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python took four times as long."""
    monkeypatch.setattr(by_columns, "_sequences", _never)
    made, done = _converted(TABLES[name], "parquet", infer=True)
    assert done.comes_back == "bytes"
    assert made


def test_cells_that_pyarrow_reads_otherwise_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    read = pa.csv.read_csv

    def otherwise(*given: Any) -> Any:
        table = read(*given)
        return table.set_column(1, "x", pa.array(["x"] * len(table)))

    monkeypatch.setattr("pyarrow.csv.read_csv", otherwise)
    block = SourceBlock(_rows(1300).encode(), 0, 0, None, last=True)
    fmt = FORMATS.get("csv")
    assert isinstance(fmt, CsvText)
    found = by_columns.text_columns(fmt, block, verify=True)
    assert found is not None
    assert not found.newline
    assert found.cells[1][1] == "0.125"


@pytest.mark.parametrize("to", ["parquet", "sqlite"])
def test_a_sound_table_makes_no_records(to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To make maps of all rows, and columns of these, took most of the time."""
    monkeypatch.setattr("serialpack.formats.csv.text.CsvText.parse", _never)
    made, done = _converted(TABLES["quotes"], to, infer=True)
    assert done.records == 1300
    assert made


@pytest.mark.parametrize("to", ["parquet", "sqlite"])
def test_fields_of_a_sound_table_make_no_records(to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three columns of seven took four times as long as all of them."""
    monkeypatch.setattr("serialpack.formats.csv.text.CsvText.parse", _never)
    made, done = _converted(TABLES["quotes"], to, infer=True, fields=("t", "i"))
    assert done.records == 1300
    assert done.types == {"i": "integer"}
    assert made


def _never(*_: object) -> None:
    raise AssertionError("records are made")


def test_what_an_array_does_not_give_back_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serialpack.conversion.tables.frames.same_bits", lambda *_: False)
    written: list[bool] = []
    write = FrameTable.write

    def by_records(self: FrameTable, *given: Any) -> Any:
        written.append(True)
        return write(self, *given)

    monkeypatch.setattr(FrameTable, "write", by_records)
    made, _ = _converted(TABLES["types"], "parquet", infer=True)
    assert written
    assert pa.parquet.read_table(io.BytesIO(made)).num_rows == 1300


NAMED = {
    "sound": ("a,b,c,d,e\n" + '1,1.50,2024-01-01,2024-01-01T10:00:00,"007"\n' * 1700),
    "an empty column": "a,b,c,d,e\n" + "1,,,,x\n" * 9000,
    "several spellings": "a,b,c,d,e\n"
    + "1,1.5,2024-01-01,2024-01-01 10:00:00,x\n+2,1.50,,,\n" * 1500,
    "late": "a,b,c,d,e\n" + "1,1.5,2024-01-01,,x\n" * 3300 + "x,y,,,\n",
    "not a number": "a,b,c,d,e\n" + "1,nan,2024-01-01,,x\n" * 3300,
}


@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize("to", ["parquet", "sqlite"])
@pytest.mark.parametrize("name", NAMED)
def test_the_same_comes_of_columns_whose_types_are_named(
    name: str, to: str, infer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = {"a": "integer", "b": "number", "c": "date", "d": "timestamp", "e": "text"}
    named = tuple(each for each in types.items() if to == "parquet" or each[0] in "abe")
    found = _converted(NAMED[name], to, infer=infer, types=named)
    go_by_records(monkeypatch)
    assert _converted(NAMED[name], to, infer=infer, types=named) == found


def test_columns_whose_types_are_named_make_no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """They took four times as long."""
    monkeypatch.setattr("serialpack.formats.csv.text.CsvText.parse", _never)
    named = (("a", "integer"), ("b", "number"), ("c", "date"), ("d", "timestamp"), ("e", "text"))
    _, done = _converted(NAMED["sound"], "parquet", infer=False, types=named)
    assert done.types == dict(named)
    assert done.comes_back == "bytes"
