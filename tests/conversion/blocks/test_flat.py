"""Tables of plain values go by their columns: what is written and told is as of their records."""

import io
import random
import sqlite3
import struct
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.conversion.blocks import converter, flat
from serialpack.conversion.tables import survey
from serialpack.conversion.tables.cells import CellStyle
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import SerialpackError
from serialpack.values.missing import MISSING

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

_NAN = struct.unpack("<d", b"\x01" + b"\0" * 5 + b"\xf8\x7f")[0]
_TEXTS = [
    "",
    "a",
    "5",
    "null",
    "true",
    'q"',
    "a,b",
    "a;b",
    "a\tb",
    "a\nb",
    "a\r\nb",
    "\0",
    "\ufeffx",
]
_TEXTS += ["caf\xe9", "\U0001f600", "[1]", '{"a":1}', "NaN", "-0", "1e5", " ", "\x7f", "NA"]
_FLOATS = [0.0, -0.0, 1.5, 1e300, 5e-324, 1e16, 123456789.0, 0.1]
_DAYS = [date(1, 1, 1), date(2024, 2, 29), date(9999, 12, 31)]
_TIMES = [datetime(1970, 1, 1), datetime(2024, 2, 29, 1, 2, 3, 4), datetime(1900, 1, 1)]
_INTEGERS = [0, 1, -1, (1 << 53) + 1, -(1 << 63), (1 << 63) - 1]

#: What columns hold, by their types in Arrow.
_KINDS: list[tuple[str, list[Any]]] = [
    *(("int64", _INTEGERS), ("int8", [0, -128, 127]), ("uint64", [0, (1 << 64) - 1])),
    *(("float64", _FLOATS), ("float64", [0.1, -7.25]), ("bool_", [True, False])),
    ("float32", [0.5, -0.0, 16777216.0]),
    *(("string", _TEXTS), ("string", ["alpha", "beta"]), ("large_string", _TEXTS)),
    *(("date32", _DAYS), ("date64", _DAYS)),
    *(("timestamp us", _TIMES), ("timestamp s", [_TIMES[0]]), ("timestamp ns", _TIMES[:2])),
    *(("binary", [b"", b"\0\xff"]), ("float64", [1.5, float("nan"), float("inf"), _NAN])),
    *(("utc", [datetime(2024, 1, 1, tzinfo=UTC)]), ("zone", [datetime(2024, 7, 1, tzinfo=UTC)])),
    *(("time64 us", [time(0), time(1, 2, 3, 4)]), ("duration us", [timedelta(1), timedelta(0)])),
    ("decimal", [Decimal("1.50"), Decimal("-0.00"), Decimal("99999.99")]),
    *(("far", [3_000_000, 0]), ("null", [None])),
    *(("list", [[1, 2], []]), ("struct", [{"a": 1}]), ("words", ["x", "y"])),
]
_ARROW = {
    "timestamp us": pa.timestamp("us"),
    "timestamp s": pa.timestamp("s"),
    "timestamp ns": pa.timestamp("ns"),
    "utc": pa.timestamp("us", "UTC"),
    "zone": pa.timestamp("us", "Europe/Berlin"),
    "time64 us": pa.time64("us"),
    "duration us": pa.duration("us"),
    "decimal": pa.decimal128(7, 2),
    "list": pa.list_(pa.int64()),
    "struct": pa.struct([("a", pa.int64())]),
}
_NAMES = ["a", "b", "a.b", "", "x y", 'q"', "c,d", "\xe9", "5"]

_SHAPINGS = [
    *(Shaping(), Shaping(null="null"), Shaping(null="NA"), Shaping(infer=True)),
    *(Shaping(indent=2), Shaping(ascii=True), Shaping(types=(("a", "integer"),))),
]


def _array(kind: str, values: list[Any]) -> Any:
    if kind == "far":
        return pa.array(values, pa.int32()).cast(pa.date32())
    if kind == "words":
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, _ARROW[kind] if kind in _ARROW else getattr(pa, kind)())


def _drawn(draw: random.Random) -> tuple[list[str], list[tuple[str, list[Any]]]]:
    rows, width = draw.choice([0, 1, 2, 9, 50, 90, 90]), draw.choice([1, 2, 3, 6])
    usual = draw.random() < 0.7
    columns = []
    for _ in range(width):
        kind, values = draw.choice(_KINDS[:13] if usual else _KINDS)
        some = [*values, *[None] * draw.choice([0, 0, 1, 3])]
        columns.append((kind, [draw.choice(some) for _ in range(rows)]))
    names = draw.sample(_NAMES, width)
    if width > 1 and draw.random() < 0.1:
        names[1] = names[0]
    return names, columns


def _table(draw: random.Random, path: Path) -> str:
    """A drawn table at ``path``; its format."""
    names, columns = _drawn(draw)
    made = draw.choice(["parquet", "arrow", "sqlite"])
    if made == "sqlite":
        rows = list(zip(*(map(_plain, values) for _, values in columns), strict=True))
        names = [f"{n}{number}" for number, n in enumerate(names)]
        types = [draw.choice(["", "BOOLEAN", "TEXT", "INTEGER", "JSON", "REAL"]) for _ in names]
        pairs = [(n.replace('"', '""'), t) for n, t in zip(names, types, strict=True)]
        said = ",".join(f'"{name}" {kind}' for name, kind in pairs)
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute(f"CREATE TABLE t({said})")
            db.executemany(f"INSERT INTO t VALUES({','.join('?' * len(names))})", rows)
            db.commit()
            path.write_bytes(db.serialize())
        return made
    table = pa.Table.from_arrays([_array(*column) for column in columns], names)
    if made == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=draw.choice([1000, 40]))
    else:
        pq.write_table(table, path, row_group_size=draw.choice([1000, 40]))
    return made


def _plain(value: Any) -> Any:
    if type(value) is int and value >= 1 << 63:
        return None
    return value if type(value) in (int, float, str, bytes, bool, type(None)) else str(value)


def _came(path: Path, source: str, to: str, how: dict[str, Any]) -> Any:
    out = io.BytesIO()
    try:
        report = serialpack.convert(path, out, format=source, to=to, threads=1, **how)
    except SerialpackError as error:
        return type(error), str(error), error.hint, getattr(error, "record", None)
    return out.getvalue(), report._replace(seconds={})


def _how(draw: random.Random) -> dict[str, Any]:
    how: dict[str, Any] = {"shaping": Shaping() if draw.random() < 0.6 else draw.choice(_SHAPINGS)}
    if draw.random() < 0.3:
        how["lossy"] = draw.choice([["nan"], ["all"], ["columns"], ["bigint", "null"]])
    how.update(
        draw.choice([{}, {}, {}, {}, {}, {"strict": True}, {"skip_bad": True}, {"verify": False}])
    )
    how.update(
        draw.choice(
            [{}, {}, {}, {}, {}, {"fields": ["a"]}, {"fields": ["b", "a"]}, {"tagged": True}]
        )
    )
    return how


@pytest.mark.parametrize("to", ["csv", "tsv", "ndjson", "json", "yaml", "msgpack", "cbor"])
@pytest.mark.parametrize("part", range(2))
def test_columns_become_what_records_do(
    to: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(f"{to}{part}")
    found = [0, 0]
    whole = converter.BlockConverter._try_flat

    def counted(self: converter.BlockConverter, block: Any) -> Any:
        tried = whole(self, block)
        found[tried is not None] += 1
        return tried

    monkeypatch.setattr(converter.BlockConverter, "_try_flat", counted)
    for number in range(80):
        path = tmp_path / f"{number}.table"
        source, how = _table(draw, path), _how(draw)
        by_columns = _came(path, source, to, how)
        with monkeypatch.context() as general:
            for module in (flat, survey):
                general.setattr(module, "columns_suffice", lambda _: None)
            by_records = _came(path, source, to, how)
        assert by_columns == by_records, (number, source, how)
    assert found[True] > 8


@pytest.mark.parametrize("fields", [[], ["name", "x", "price"]])
@pytest.mark.parametrize("target", ["o.csv", "o.ndjson"])
def test_tables_of_usual_types_have_no_records(
    target: str, fields: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_records(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(converter.BlockConverter, "_tried", by_records)
    columns = {
        "n": pa.array([1, None, 3]),
        "x": pa.array([0.5, 1.0, None]),
        "day": pa.array(_DAYS),
        "price": pa.array([Decimal("1.50"), None, Decimal(2)], pa.decimal128(9, 2)),
        "at": pa.array(_TIMES, pa.timestamp("us")),
        "name": pa.array(["a", "b", None]),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    source = tmp_path / "a.parquet"
    report = serialpack.convert(source, tmp_path / target, fields=fields, threads=1)
    assert report.proved
    counts = {loss.rule: loss.count for loss in report.carried}
    assert counts.get("timestamps") == (None if fields else 6)
    assert counts["decimals"] == 2


_CELLS = (
    b'\xef\xbb\xbf"n";price;day;ok;text;sci\r\n'
    b'1;1.50;31.12.2023;TRUE;"a;b";1e-07\r\n;10.00;;FALSE;;\r\n-7;;01.02.2024;TRUE;x;0.1\r\n'
)


@pytest.mark.parametrize("source", ["parquet", "arrow", "sqlite"])
@pytest.mark.parametrize("null", [None, "NA"])
def test_what_was_kept_is_written_by_columns(
    source: str, null: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took the records, and three times as long as by columns."""

    def by_records(*_: object) -> None:
        raise AssertionError

    cells = _CELLS if null is None else _CELLS.replace(b";;", b";NA;")
    (tmp_path / "a.csv").write_bytes(cells)
    shaping = Shaping(infer=True, null=null)
    made = tmp_path / "made"
    report = serialpack.convert(tmp_path / "a.csv", made, to=source, shaping=shaping)
    assert report.comes_back == "bytes"
    with monkeypatch.context() as patched:
        patched.setattr(converter.BlockConverter, "_tried", by_records)
        serialpack.convert(made, tmp_path / "b.csv", format=source, to="csv")
    assert (tmp_path / "b.csv").read_bytes() == cells


@pytest.mark.parametrize("column", range(6))
def test_a_column_that_is_no_more_as_it_was_kept_is_told_by_columns(
    column: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_bytes(_CELLS)
    made = tmp_path / "made"
    serialpack.convert(tmp_path / "a.csv", made, to="parquet", shaping=Shaping(infer=True))
    table = pq.read_table(made)
    others = [[None, 2, 3], [0.125, 1.5, None], *[["x", None, "z"]] * 3, [None, 1.5, 10.0]]
    changed = pa.array(others[column])
    table = table.set_column(column, table.column_names[column], changed)
    pq.write_table(table, made)
    by_columns = _came(made, "parquet", "csv", {})
    for module in (flat, survey):
        monkeypatch.setattr(module, "columns_suffice", lambda _: None)
    assert by_columns == _came(made, "parquet", "csv", {})


@pytest.mark.parametrize("style", [CellStyle(), CellStyle(null="NA"), CellStyle("\t", alone=True)])
def test_cells_are_written_and_read_as_each_alone(style: CellStyle) -> None:
    draw = random.Random(repr(style))
    drawn: list[list[Any]] = [
        _INTEGERS,
        _FLOATS[:3],
        [True, False],
        ["alpha", "b"],
        _TEXTS,
        [float("nan"), 1.5],
    ]
    for _ in range(400):
        values = [v for some in draw.sample(drawn, draw.choice([1, 1, 2])) for v in some]
        values += [None, MISSING][: draw.choice([0, 1, 1, 2])]
        column = draw.choices(values, k=draw.choice([1, 5, 40]))
        written = style.written(column)
        assert written == [style.written([value])[0] for value in column]
        for literals in (False, True):
            alone = [style._value(cell, literals=literals) for cell in written]
            read = style.read(written, literals=literals)
            assert list(map(_said, read)) == list(map(_said, alone))


def _said(value: Any) -> tuple[type, str]:
    return type(value), repr(value)
