"""Frames of pandas and tables of Arrow: held without pickle where that holds all of them."""

from __future__ import annotations

import io
import warnings
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack.container.small import Small
from serialpack.errors import DamagedError, SerialpackError
from serialpack.objects import dumping
from serialpack.serializers import SERIALIZERS
from serialpack.values.equality import difference
from tests.serializers.objects.test_own_objects import made_of

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
golden = pytest.importorskip("tests.golden.frames")

NUMBERS = np.arange(5)
TABLES: dict[str, Any] = {
    "table": pa.table({"a": [1, 2, None], "s": ["x", "é", None]}, metadata={"who": "I"}),
    "chunks": pa.concat_tables([pa.table({"a": [1.5]}), pa.table({"a": [float("nan"), 3]})]),
    "nested": pa.table({"a": [{"b": [1, None]}, None], "c": [[[]], [[1]]]}),
    "dictionary": pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()}),
    "nothing": pa.table({}),
    "large": pa.table({"a": np.arange(9000), "s": [str(n) for n in range(9000)]}),
}
FRAMES: dict[str, Any] = {
    "numbers": pd.DataFrame({"a": NUMBERS, "b": NUMBERS * 1.5, "c": NUMBERS > 2}),
    "inserted": pd.DataFrame({"a": [1, 2]}).assign(b=[3, 4], c=[1.5, float("nan")]),
    "texts": pd.DataFrame({"a": [1, 2], "s": ["x", None]}, index=["p", "q"]),
    "objects": pd.DataFrame({"s": np.array(["x", "y"], object)}),
    "nulls": pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    "categories": pd.DataFrame({"a": pd.Categorical(["x", "y", "x"])}),
    "twice": pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"]),
    "empty": pd.DataFrame(),
    "large": pd.DataFrame({"a": np.arange(9000), "b": np.arange(9000) * 0.5}),
    "days": pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2020-01-01", periods=2)),
    "UTC": pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2020-01-01", periods=2, tz="UTC")),
    "times": pd.DataFrame(
        {"a": pd.DatetimeIndex(["2020-01-01", "2020-02-05"], tz="UTC")},
        index=pd.DatetimeIndex(["2020-01-01 01:00", "2020-02-05"], tz="+02:00", name="when"),
    ),
    "lengths": pd.DataFrame({"a": [1, 2]}, index=pd.timedelta_range("1s", periods=2)),
}
COLUMNS: dict[str, Any] = {
    "integers": pd.array([1, None, 300], dtype="UInt16"),
    "doubles": pd.array([1.5, None], dtype="Float64"),
    "booleans": pd.array([True, None], dtype="boolean"),
    "strings": pd.array(["x", None, "é"], dtype=pd.StringDtype("python")),
    "strings-nan": pd.array(["x", None], dtype=pd.StringDtype("python", na_value=np.nan)),
    "strings-arrow": pd.array(["x", None], dtype=pd.StringDtype("pyarrow")),
    "ordered": pd.Categorical(["x", None], categories=["y", "x"], ordered=True),
    "days-of-few": pd.Categorical(pd.date_range("2020", periods=2)),
    "cut": pd.cut([1, 5, 9], 3),
    "tuples": pd.Categorical([(1, 2), (3, 4)]),
    "seconds": pd.DatetimeIndex(["2020-01-01", None], tz="Asia/Tokyo").as_unit("s"),
    "months": pd.PeriodIndex(["2020-01", None], freq="M"),
    "intervals": pd.IntervalIndex.from_breaks([0.5, 1, 2], closed="left"),
    "sparse": pd.arrays.SparseArray([0, 0, 1, 0]),
    "sparse-blocks": pd.arrays.SparseArray([np.nan, 1.5], kind="block"),
    "lists-arrow": pd.array([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    "decimals-arrow": pd.array([Decimal("1.50"), None], dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
    "any": pd.Series([1, "a", None, float("nan"), pd.NA, pd.NaT, (1,), [1], {1}], dtype=object),
    "scalars": pd.Series(
        [pd.Timestamp(7, tz="UTC"), pd.Timedelta(1), pd.Period("2020", "Y")], dtype=object
    ),
    "arrays": pd.Series([np.arange(2), np.arange(2)], dtype=object),
}
INDEXES: dict[str, Any] = {
    "levels": pd.MultiIndex.from_tuples([("a", 1), ("b", np.nan)], names=["x", None]),
    "unused": pd.MultiIndex.from_product([[1, 2], ["a", "b"]])[:2],
    "zones": pd.MultiIndex.from_arrays([pd.date_range("2020", periods=2, tz="Asia/Tokyo"), [1, 2]]),
    "few": pd.CategoricalIndex(["x", "y"], name="few"),
    "grouped": pd.Series([1, 2]).groupby(pd.Categorical(["x", "y"]), observed=True).sum().index,
    "cut": pd.Series([1.5, 3]).groupby(pd.cut([1.5, 3], 2), observed=False).size().index,
    "periods": pd.period_range("2020", periods=2, freq="W-WED"),
    "intervals": pd.interval_range(0, 2),
    "nullable": pd.Index([1, 2], dtype="Int64"),
    "mixed": pd.Index([1, "a"], name=("a", 1)),
    "arrow": pd.Index([1, 2], dtype="int64[pyarrow]"),
    "range": pd.RangeIndex(5, 11, 3),
}
OTHERS: tuple[Any, ...] = (
    *(pd.Timestamp(1234567890123456789, tz="Europe/Berlin"), pd.NaT, pd.NA, pd.Timedelta(5)),
    *(pd.Period("2020-01", "M"), pd.Interval(0, 1, closed="left"), pd.array([1, None], "Int8")),
    *(pa.record_batch({"a": [1]}), pa.array([1, None, 3])[1:], pa.chunked_array([[1], [2]])),
    *(pd.Int64Dtype(), pd.StringDtype("python", na_value=np.nan), pd.SparseDtype("f8", 0.0)),
    *(pd.CategoricalDtype(["b", "a"], ordered=True), pd.DatetimeTZDtype("us", "Asia/Tokyo")),
    *(pd.ArrowDtype(pa.list_(pa.int8())), pd.IntervalDtype("f8", "both"), pd.PeriodDtype("M")),
    *(pd.offsets.MonthEnd(2), pd.offsets.Week(weekday=1), pa.field("a", pa.int8(), False)),
    *(pa.schema({"a": pa.int8()}), pa.scalar("é"), pa.list_(pa.int8()), pa.record_batch({"a": []})),
)
SERIES: dict[str, Any] = {
    "series": pd.Series([1.5, float("nan")], name="x"),
    "part": pd.DataFrame({"a": [1, 2], "b": [1, 2]}).set_index("a")["b"],
    "counts": pd.Series(["a", "b", "a"]).value_counts(),
    "zoned": pd.Series(pd.date_range("2020-01-01", periods=3, tz="Europe/Berlin"), name=7),
    "booleans": pd.Series([True, None], dtype="boolean"),  # whose attributes have another order
    "types": pd.DataFrame({"a": ["x"], "b": pd.Categorical(["x"]), "c": [1.5]}).dtypes,
}


@pytest.fixture(autouse=True)
def _no_warning(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(dumping, "_warned", type(dumping._warned)())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", FRAMES | SERIES)
def test_frames_need_no_trust(name: str) -> None:
    value = (FRAMES | SERIES)[name]
    back = serialpack.loads(serialpack.dumps([value, (1,)]))[0]
    same = pd.testing.assert_series_equal if name in SERIES else pd.testing.assert_frame_equal
    same(back, value, check_exact=True)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_every_type_need_no_trust(name: str) -> None:
    """Nullable and Arrow's types, categories, periods, intervals and objects were pickled."""
    frame = pd.DataFrame({"a": COLUMNS[name]})
    back = serialpack.loads(serialpack.dumps([frame, frame["a"]]))
    pd.testing.assert_frame_equal(back[0], frame, check_exact=True)
    pd.testing.assert_series_equal(back[1], frame["a"], check_exact=True)
    assert [repr(item) for item in back[1]] == [repr(item) for item in frame["a"]]


@pytest.mark.parametrize("name", INDEXES)
def test_indexes_of_every_kind_need_no_trust(name: str) -> None:
    index = INDEXES[name]
    frame = pd.DataFrame(np.zeros((2, 2)), index=index, columns=index)
    back = serialpack.loads(serialpack.dumps([frame, index]))
    pd.testing.assert_frame_equal(back[0], frame, check_exact=True, check_freq=True)
    pd.testing.assert_index_equal(back[1], index, exact=True)
    assert back[1].names == index.names


def test_notes_and_flags_of_frames_are_kept() -> None:
    for made in (pd.DataFrame({"a": [1]}), pd.Series([1])):
        made.attrs["unit"] = "m"
        value = made.set_flags(allows_duplicate_labels=False)
        back = serialpack.loads(serialpack.dumps(value))
        assert back.attrs == {"unit": "m"}
        assert not back.flags.allows_duplicate_labels


def test_scalars_arrays_and_pieces_of_tables_need_no_trust() -> None:
    for value in OTHERS:
        back = serialpack.loads(serialpack.dumps([value]))[0]
        assert type(back) is type(value)
        assert str(back) == str(value)


@pytest.mark.parametrize(
    "column",
    [["x" * 20, None], [1.5, float("nan")], [[1], None], [{"a": "b"}, None], [True, None], []],
    ids=str,
)
def test_polars_needs_no_trust(column: list[Any]) -> None:
    """Frames of polars were refused: nothing told two of them apart, or that they are the same."""
    pl = pytest.importorskip("polars")
    series = pl.Series(column)
    for value in (series, pl.DataFrame({"a": series, "b": series})[1:]):
        back = serialpack.loads(serialpack.dumps([value]))[0]
        assert type(back) is type(value)
        assert repr(back) == repr(value)
        assert serialpack.loads(serialpack.dumps(value, "pickle"), trust=True).shape == value.shape


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("Int128", [-(1 << 127), (1 << 127) - 1, 1 << 64, -1, None, 0]),
        ("UInt128", [(1 << 128) - 1, 1 << 64, None, 0]),
        ("Int128", []),
        ("UInt128", [None]),
    ],
)
def test_integers_of_128_bits_need_no_trust(kind: str, numbers: list[int | None]) -> None:
    """Arrow has none."""
    pl = pytest.importorskip("polars")
    series = pl.Series("a", numbers, dtype=getattr(pl, kind))
    frame = pl.DataFrame([series, pl.Series("b", [[1]] * len(numbers), dtype=pl.List(pl.Int8))])
    for value in (series, frame, frame[:0], series.dtype, type(series.dtype)):
        (back,) = serialpack.loads(serialpack.dumps([value], "objects"))
        assert type(back) is type(value)
        assert repr(back) == repr(value)
        assert difference(value, back) is None
    if any(numbers):
        assert difference(series, series.reverse()) is not None
        assert difference(series, series.fill_null(0)) is not None


def test_lies_about_integers_of_128_bits_are_one_error() -> None:
    pl = pytest.importorskip("polars")
    sink = pa.BufferOutputStream()
    table = pl.DataFrame({"high": [1.5], "low": [1]}).to_arrow()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    stored = sink.getvalue().to_pybytes()
    inner = msgpack.ExtType(20, msgpack.packb([stored, len(stored)]))
    for parts in (
        *(["wide", "a", name, table] for name, table in (("Int128", inner), ("Int64", inner))),
        *(["wide", "a", "Int128", 1], ["wide type", "Int8"], ["wide type", 1], ["columns", 1]),
    ):
        message = msgpack.packb(msgpack.ExtType(32, msgpack.packb(parts)))
        with pytest.raises(serialpack.DamagedError):
            serialpack.loads(Small(((60,), (0,)), 0, len(message), {}, message).encode())


def test_types_and_schemas_of_polars_need_no_trust() -> None:
    pl = pytest.importorskip("polars")
    types = [
        pl.Int8(),
        pl.Datetime("us", "UTC"),
        pl.Enum(["a"]),
        pl.List(pl.Int8()),
        pl.Decimal(9, 2),
    ]
    schema = pl.DataFrame({"a": [[1]], "b": ["x"]}).schema
    value = [*types, pl.Int8, pl.Struct, schema, {"again": schema}]
    back = serialpack.loads(serialpack.dumps(value))
    assert back == value
    assert list(map(type, back)) == list(map(type, value))
    assert list(map(repr, back)) == list(map(repr, value))
    lies: list[list[Any]] = [
        *(["class", "DataFrame"], ["class", 1], ["type", 1], ["schema", None], ["list"], ["field"]),
        *(["list", 1], ["array", 1, 1], ["struct", 1], ["fields", 1], ["field", "a", 1]),
    ]
    for parts in lies:
        with pytest.raises(DamagedError):
            serialpack.loads(made_of(msgpack.ExtType(32, msgpack.packb(parts))))


def test_types_in_types_of_polars_are_as_they_were_typed() -> None:
    """``List(Int8)`` has the class in it, where one that was read has an ``Int8()``."""
    pl = pytest.importorskip("polars")
    for value in (
        *(pl.List(pl.Int8), pl.List(pl.List(pl.Categorical())), pl.Array(pl.Int8, (2, 3))),
        pl.Struct({"a": pl.Int8, "b": pl.Struct([pl.Field("x", pl.Array(pl.Int8(), 0))])}),
        *(pl.Struct([]), pl.Field("x", pl.Int8)),
        pl.Schema({"a": pl.List(pl.Int64), "b": pl.Struct({"x": pl.Datetime("ms")}), "c": pl.Int8}),
    ):
        again = serialpack.loads(serialpack.dumps([value], "objects"))[0]
        assert difference(value, again) is None
        assert again == value


def test_a_schema_of_polars_is_no_table(tmp_path: Path) -> None:
    """Converting it was an internal error."""
    pl = pytest.importorskip("polars")
    serialpack.dump({"s": pl.Schema({"a": pl.Int8})}, tmp_path / "a.spk")
    with pytest.raises(serialpack.RefusedError, match=r"\$\.s\.a"):
        serialpack.convert(tmp_path / "a.spk", tmp_path / "a.json")


def test_two_frames_of_polars_are_told_apart() -> None:
    pl = pytest.importorskip("polars")
    few = pl.Series("a", ["x", "y"], dtype=pl.Enum(["x", "y"]))
    assert difference(few, serialpack.loads(serialpack.dumps([few]))[0]) is None
    for other in (few.cast(pl.String), few.rename("b"), few[:1], few.cast(pl.Enum(["y", "x"]))):
        assert difference(few, other) is not None


def test_what_pandas_keeps_of_what_it_was_asked_for_is_no_value() -> None:
    """A frame whose index had been looked at was taken for another one, and pickled."""
    frame = FRAMES["UTC"].copy()
    assert frame.index.unit
    back = serialpack.loads(serialpack.dumps(frame, "objects"))
    assert type(back.index.tz) is type(frame.index.tz)
    assert back.index.freq == frame.index.freq


def test_golden_tables_and_frames() -> None:
    back = serialpack.load(Path(__file__).parents[2] / "golden/object-frames.spk")
    assert back[0].equals(golden.TABLE)
    for one, other in zip(back[1:], golden.PANDAS, strict=True):
        assert one.equals(other)
        assert str(one.index) == str(other.index)


def test_golden_words_and_pieces() -> None:
    pl = pytest.importorskip("polars")
    there = Path(__file__).parents[2] / "golden"
    frame, series, *scalars = serialpack.load(there / "object-pandas.spk")
    pd.testing.assert_frame_equal(frame, golden.WORDS[0], check_exact=True, check_freq=True)
    pd.testing.assert_series_equal(series, golden.WORDS[1], check_exact=True)
    assert frame.attrs == {"unit": "m"}
    assert repr(scalars) == repr([*golden.WORDS[2:]])
    *pieces, table, column = serialpack.load(there / "object-pieces.spk")
    assert [*map(str, pieces)] == [*map(str, golden.PIECES)]
    assert table.equals(pl.DataFrame({"a": [1, None], "s": ["x", "é"]}))
    assert column.equals(pl.Series("n", [1.5]))


@pytest.mark.parametrize("name", TABLES)
def test_tables_need_no_trust(name: str, tmp_path: Path) -> None:
    table, path = TABLES[name], tmp_path / "a.spk"
    serialpack.dump({"t": table}, path, "auto+none")
    whole = path.read_bytes()
    for source, mode in ((path, None), (path, "r"), (path, "c"), (io.BytesIO(whole), "r")):
        back = serialpack.load(source, mmap_mode=mode)["t"]
        assert str(back) == str(table)
        assert back.schema.equals(table.schema, check_metadata=True)


def test_what_is_named_by_no_text_is_pickled() -> None:
    days = pd.offsets.CustomBusinessDay(weekmask="Mon Tue")
    value = pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2020", periods=2, freq=days))
    with pytest.warns(serialpack.PickleWarning):
        data = serialpack.dumps(value)
    with pytest.raises(serialpack.RefusedError):
        serialpack.loads(data)
    assert serialpack.loads(data, trust=True).equals(value)


def test_a_frame_that_is_another_is_told_apart() -> None:
    frame = FRAMES["numbers"]
    assert difference(frame, frame.copy()) is None
    for other in (frame.rename(columns={"a": "z"}), frame.astype({"a": "i4"}), frame[::-1]):
        assert difference(frame, other) is not None
    assert difference(TABLES["table"], TABLES["table"].slice(0, 2)) is not None
    assert difference(TABLES["chunks"], TABLES["chunks"].combine_chunks()) is not None


def test_parts_that_are_none_of_pandas_are_damage() -> None:
    import msgpack

    for code, parts in (
        (30, ["sparse", msgpack.ExtType(18, msgpack.packb([bytes(8), "'<i8'", [1], False, True]))]),
        (30, ["masked", "NA", None, None]),
        (30, ["category", None, None, False]),
        (30, ["times", None, "../../etc/passwd"]),
        (30, ["levels", [], [], [], None]),
        (30, ["open"]),
        (30, []),
        (31, ["batch", 1]),
        (31, []),
        (32, ["frame", 1]),
        (21, [1, 2, 3]),
    ):
        message = msgpack.packb(msgpack.ExtType(code, msgpack.packb(parts)))
        data = Small(((60,), (0,)), 0, len(message), {}, message).encode()
        with pytest.raises(serialpack.DamagedError):
            serialpack.loads(data)


def test_flipped_bits_never_crash_and_nothing_compressed_is_read() -> None:
    serializer = SERIALIZERS.create("objects")
    values = [TABLES["table"], INDEXES["levels"], COLUMNS["sparse"], COLUMNS["cut"]]
    whole = b"".join(serializer.dump_object([values]))  # type: ignore[attr-defined]
    for bit in range(0, 8 * len(whole), 5):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        data = Small(((60,), (0,)), 0, len(flipped), {}, bytes(flipped)).encode()
        with suppress(SerialpackError):
            serialpack.loads(data)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, TABLES["large"].schema, options=options) as stream:
        stream.write_table(TABLES["large"])
    packed = sink.getvalue().to_pybytes()
    import msgpack

    inner = msgpack.packb([packed, len(packed)])
    message = msgpack.packb(msgpack.ExtType(20, inner))
    data = Small(((60,), (0,)), 0, len(message), {}, message).encode()
    with pytest.raises(serialpack.DamagedError, match="compressed"):
        serialpack.loads(data)


def test_a_panic_of_polars_is_one_error() -> None:
    """It is no Exception, so that nobody caught it."""
    polars = pytest.importorskip("polars")
    import msgpack

    frame = polars.DataFrame({"c": polars.Series(["a"], dtype=polars.Categorical)})
    table = frame.to_arrow(compat_level=polars.CompatLevel.newest())
    (name,) = table.schema.field(0).metadata
    lying = table.cast(table.schema.set(0, table.schema.field(0).with_metadata({name: b"9;x"})))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, lying.schema) as stream:
        stream.write_table(lying)
    stored = sink.getvalue().to_pybytes()
    inner = msgpack.ExtType(20, msgpack.packb([stored, len(stored)]))
    message = msgpack.packb(msgpack.ExtType(32, msgpack.packb(["frame", inner])))
    data = Small(((60,), (0,)), 0, len(message), {}, message).encode()
    with pytest.raises(serialpack.DamagedError, match="extension 32"):
        serialpack.loads(data)
