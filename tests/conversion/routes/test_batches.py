"""Parquet and Arrow become each other with their very types, bit for bit."""

from __future__ import annotations

import io
import struct
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.conversion.tables import batches
from serialpack.conversion.tables.shaping import Shaping
from serialpack.formats.tables.bits import same_bits

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 300


def floats() -> Any:
    """NaN of several bits, and zeros of both signs."""
    bits = [0x7FF8DEAD00000001, 0xFFF0000000000001, 1 << 63, 0, 0x3FF0000000000000]
    values = b"".join(struct.pack("<Q", bits[n % 5]) for n in range(ROWS))
    return pa.Array.from_buffers(pa.float64(), ROWS, [None, pa.py_buffer(values)])


def columns() -> dict[str, Any]:
    numbers = [None if n % 7 == 3 else n % 100 for n in range(ROWS)]
    words = pa.array([f"w{n}" for n in range(100)])
    far = pa.array([n * 10**15 + n for n in range(ROWS)])
    inner = pa.struct([pa.field("x", pa.float32(), metadata={"unit": "m"}), ("y", pa.int8())])
    return {
        "int8": pa.array(numbers, pa.int8()),
        "float16": pa.array(numbers, pa.float16()),
        "floats": floats(),
        "lists": pa.array([None if n % 5 else [float("nan"), None][: n % 3] for n in range(ROWS)]),
        "decimal": pa.array([Decimal(n).scaleb(-2) for n in range(ROWS)], pa.decimal128(9, 2)),
        "words": pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), words),
        "order": pa.DictionaryArray.from_arrays(pa.array(numbers), words[::-1], ordered=True),
        "berlin": far.cast(pa.timestamp("ns", "Europe/Berlin")),
        "took": far.cast(pa.duration("ms")),
        "text": pa.array([f"é{n}" for n in range(ROWS)], pa.large_string()),
        "map": pa.array([[(f"k{n % 9}", n % 9)] for n in range(ROWS)], pa.map_("string", "int16")),
        "inner": pa.array([None if n % 4 else {"x": 0.5, "y": 1} for n in range(ROWS)], inner),
        "uuid": pa.array([bytes([n % 256]) * 16 for n in range(ROWS)], pa.uuid()),
        "null": pa.nulls(ROWS),
    }


def table(**some: Any) -> Any:
    some = some or columns()
    fields = [
        pa.field(name, column.type, nullable=name != "floats", metadata={"of": name})
        for name, column in some.items()
    ]
    return pa.Table.from_arrays(
        list(some.values()), schema=pa.schema(fields, metadata={"pandas": "{}"})
    )


def written(source: Any, format: str, rows: int = 70) -> bytes:
    file = io.BytesIO()
    if format == "parquet":
        pq.write_table(source, file, row_group_size=rows)
    else:
        new = pa.ipc.new_stream if format == "stream" else pa.ipc.new_file
        with new(file, source.schema) as writer:
            writer.write_table(source, max_chunksize=rows)
    return file.getvalue()


def read(data: bytes, format: str) -> Any:
    if format == "parquet":
        return pq.read_table(io.BytesIO(data))
    return pa.ipc.open_file(io.BytesIO(data)).read_all()


def converted(data: bytes, format: str, to: str, **how: Any) -> tuple[Any, Any]:
    made, source = io.BytesIO(), "parquet" if format == "parquet" else "arrow"
    report = serialpack.convert(io.BytesIO(data), made, format=source, to=to, **how)
    return read(made.getvalue(), to), report


@pytest.mark.parametrize("to", ["parquet", "arrow"])
@pytest.mark.parametrize("format", ["parquet", "arrow", "stream"])
@pytest.mark.parametrize("rows", [ROWS, 0])
def test_types_and_what_is_said_of_them_stay(format: str, to: str, rows: int) -> None:
    """They were those of Python's values: int64 of int8, double of halves, text of dictionaries."""
    data = written(table().slice(0, rows), format)
    found, report = converted(data, format, to)
    original = read(data, "parquet") if format == "parquet" else table()
    assert found.schema.equals(original.schema)
    assert found.schema.metadata == original.schema.metadata
    assert [f.metadata for f in found.schema] == [f.metadata for f in original.schema]
    assert (report.records, report.losses, report.carried) == (rows, [], [])
    bits = [c.combine_chunks().view("int64") for c in (found["floats"], table()["floats"])]
    assert bits[0].equals(bits[1].slice(0, rows))
    for name in {*found.column_names} - {"floats", "lists"}:
        assert found[name].equals(table()[name].cast(found[name].type).slice(0, rows)), name
    assert found["order"].type.ordered
    if rows and to == "arrow":
        assert found["order"].chunk(0).dictionary.equals(columns()["order"].dictionary)


def test_what_parquet_has_not_is_the_nearest_there() -> None:
    """And what holds once what it means often is written out, the columns beside it as they are."""
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([1.5, None]))
    some = {
        "seconds": pa.array([1, None, 3], pa.timestamp("s", "UTC")),
        "time": pa.array([1, None, 3], pa.time32("s")),
        "day": pa.array([86_400_000, None, 0], pa.date64()),
        "numbers": pa.array([5, None, 5]).dictionary_encode(),
        "views": pa.array([[1], None, [2]], pa.list_view(pa.int8())),
        "runs": runs,
        "beside": pa.array([1, None, 3], pa.int8()),
    }
    found, report = converted(written(table(**some), "arrow"), "arrow", "parquet")
    assert found.schema.types == [
        *(pa.timestamp("ms", "UTC"), pa.time32("ms"), pa.date32(), pa.int64()),
        *(pa.large_list(pa.int8()), pa.float64(), pa.int8()),
    ]
    (told,) = report.carried
    assert (told.rule, told.count, told.value_path) == ("nearest", 6, "$.seconds")
    assert (told.was, told.became) == ("timestamp[s, tz=UTC]", "timestamp[ms, tz=UTC]")
    assert found["runs"].to_pylist() == [1.5, 1.5, None]
    assert found["views"].to_pylist() == [[1], None, [2]]


def test_where_another_type_may_not_be_it_is_refused() -> None:
    data = written(pa.table({"a": pa.array([1], pa.time32("s"))}), "arrow")
    with pytest.raises(serialpack.errors.ValueRefusedError, match=r"time32\[s\] would be"):
        converted(data, "arrow", "parquet", strict=True)
    converted(data, "arrow", "parquet", strict=True, lossy=["nearest"])


def test_one_column_that_parquet_has_no_type_for_changes_no_other() -> None:
    """All of the table went by Python's values."""
    odd = pa.UnionArray.from_sparse(
        pa.array([0, 1, 0] * (ROWS // 3), pa.int8()),
        [pa.array(range(ROWS)), pa.array(map(str, range(ROWS)))],
    )
    some = columns() | {
        "berlin": pa.array(range(ROWS), pa.timestamp("ms", "Europe/Berlin")),
        "took": pa.array(range(ROWS), pa.duration("ms")),
        "seconds": pa.array(range(ROWS), pa.timestamp("s")),
        "runs": pa.RunEndEncodedArray.from_arrays([ROWS], pa.array([5], pa.int8())),
        "under": pa.array([[{"a": 1.5}]] * ROWS, pa.list_(pa.struct({"a": pa.float32()}))),
    }
    source = table(**some, odd=odd)
    found, report = converted(written(source, "arrow"), "arrow", "parquet")
    assert [loss.rule for loss in report.carried] == ["mixed", "nearest"]
    assert report.carried[1].count == 2
    assert found.schema.metadata == source.schema.metadata
    for name in {*some} - {"seconds", "runs", "under"}:
        was, became = source.schema.field(name), found.schema.field(name)
        assert (became.type, became.nullable) == (was.type, was.nullable)
        assert became.metadata == was.metadata
        assert found[name].to_pylist() == source[name].to_pylist() or name in ("floats", "lists")
    assert found["seconds"].type == pa.timestamp("ms")
    assert found["runs"].type == pa.int8()
    assert found["under"].type.value_type.field("a").type == pa.float32()
    assert found["odd"].to_pylist()[:3] == ["0", '"1"', "2"]


def test_maps_as_columns_keep_the_types_of_their_fields() -> None:
    inner = pa.struct([("x", pa.int8()), ("y", pa.timestamp("ms"))])
    source = pa.table(
        {
            "s": pa.array([{"x": 1, "y": 5}, {"x": 2, "y": None}], inner),
            "f": pa.array([0.1, None], pa.float32()),
            "l": pa.array([[1], [2]], pa.list_(pa.int8())),
        }
    )
    data = written(source, "parquet")
    found, _ = converted(data, "parquet", "parquet", shaping=Shaping(flatten=True))
    assert found.schema.names == ["s.x", "s.y", "f", "l"]
    assert found.schema.types == [pa.int8(), pa.timestamp("ms"), pa.float32(), pa.json_()]


def test_words_of_several_dictionaries_are_in_one() -> None:
    """Of an Arrow file, in which a column has one; those of a stream may come later."""
    kind = pa.dictionary(pa.int32(), pa.string())
    some = [pa.array(["x", "y"]).dictionary_encode(), pa.array(["z", "x"]).dictionary_encode()]
    nested = [pa.StructArray.from_arrays([each], ["w"]) for each in some]
    both = pa.table([pa.chunked_array(some, kind), pa.chunked_array(nested)], names=["w", "s"])
    for format in ("stream", "parquet"):
        data = written(both, format, rows=2)
        found, _ = converted(data, format, "arrow")
        assert found["w"].type == kind
        assert found.to_pylist() == both.to_pylist()


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_columns_are_taken_with_their_types(to: str) -> None:
    data = written(table(), "parquet")
    found, report = converted(data, "parquet", to, fields=["words", "int8"])
    assert found.column_names == ["int8", "words"]
    assert found["int8"].type == pa.int8()
    assert not report.missing
    found, _ = converted(data, "parquet", to, fields=["int8", "no"], lossy=["fields"])
    assert found.column_names == ["int8"]


@pytest.mark.parametrize(
    "how",
    [
        {"shaping": Shaping(flatten=True)},
        {"shaping": Shaping(types=(("a", "number"),))},
        {"fields": ["s.x"]},
        {"skip_bad": True},
        {"tagged": True},
    ],
)
def test_what_asks_for_values_gets_them(how: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(pa.table({"a": pa.array(["1"]), "s": pa.array([{"x": 1}])}), "arrow")
    monkeypatch.setattr(batches, "_Table", None)
    converted(data, "arrow", "parquet", **how)


def test_what_was_packed_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are in the container."""
    data = written(pa.table({"a": pa.array([1, 2], pa.int8())}), "parquet")
    packed, out = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(data), packed, serializer="raw", format="parquet")
    monkeypatch.setattr(batches, "made_table", None)
    serialpack.convert(io.BytesIO(packed.getvalue()), out, to="parquet")
    assert out.getvalue() == data


def test_what_does_not_come_back_is_made_by_values(monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(table(int8=pa.array([1, None, 3], pa.int8())), "arrow")
    seen: list[bool] = []

    def unlike(*_: Any) -> bool:
        seen.append(True)
        return False

    monkeypatch.setattr(batches, "same_bits", unlike)
    found, _ = converted(data, "arrow", "parquet")
    assert seen == [True]
    assert found.schema.types == [pa.int64()]
    assert found["int8"].to_pylist() == [1, None, 3]
    assert converted(data, "arrow", "parquet", verify=False)[0].schema.types == [pa.int8()]


def test_bits_of_floats_are_compared() -> None:
    """Within lists and structs too, and what is null holds none."""
    one, other = (
        pa.array([{"x": [value, None]}, None], pa.struct([("x", pa.list_(pa.float32()))]))
        for value in (0.0, -0.0)
    )
    assert same_bits(one, one)
    assert one.equals(other)
    assert not same_bits(one, other)
    nan = pa.array([float("nan")])
    assert same_bits(nan, nan)


def test_no_more_is_written_than_is_allowed_and_nothing_is_left(tmp_path: Path) -> None:
    source, made = tmp_path / "a.arrow", tmp_path / "a.parquet"
    source.write_bytes(written(table(), "arrow"))
    assert run(["unpack", str(source), "-o", str(made), "--max-size", "1K"]) == 4
    assert not made.exists()
    source.write_bytes(source.read_bytes()[:-20])
    assert run(["unpack", str(source), "-o", str(made)]) == 3
    assert not made.exists()


def test_how_a_table_of_text_was_written_goes_along(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_bytes(b"a;b\r\n1.50;x\r\n2.25;y\r\n")
    names = ["a.parquet", "b.arrow", "c.parquet", "d.csv"]
    serialpack.convert(source, tmp_path / names[0], shaping=Shaping(infer=True))
    for name, made in pairwise(names):
        serialpack.convert(tmp_path / name, tmp_path / made)
    assert (tmp_path / "d.csv").read_bytes() == source.read_bytes()
    serialpack.convert(tmp_path / names[0], tmp_path / "e.arrow", fields=["a"])
    serialpack.convert(tmp_path / "e.arrow", tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_bytes() == b"a\r\n1.50\r\n2.25\r\n"


@pytest.mark.parametrize(("source", "target"), [("arrow", "parquet"), ("parquet", "arrow")])
@pytest.mark.parametrize("verify", [True, False])
def test_it_is_told_how_far_the_work_is(
    monkeypatch: pytest.MonkeyPatch, source: str, target: str, verify: bool
) -> None:
    """Nothing was told until the whole table was made, and proved."""
    table = pa.table({"n": list(range(3000)), "t": [f"text {n}" for n in range(3000)]})
    data = io.BytesIO()
    if source == "parquet":
        pq.write_table(table, data, row_group_size=500)
    else:
        with pa.ipc.new_file(data, table.schema) as writer:
            writer.write_table(table, max_chunksize=500)
    monkeypatch.setattr(batches, "_GROUP_ROWS", 500)
    told: list[tuple[int, int]] = []
    size = len(data.getvalue())
    serialpack.convert(
        io.BytesIO(data.getvalue()),
        io.BytesIO(),
        format=source,
        to=target,
        verify=verify,
        progress=lambda read, written: told.append((read, written)),
    )
    reads = [read for read, _ in told]
    assert reads == sorted(reads)
    assert reads[-1] == size
    assert len({read for read in reads if read < size}) >= 4
