"""Frames of pandas and tables of Arrow: held without pickle where that holds all of them."""

from __future__ import annotations

import io
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack import objects
from serialpack.container.small import Small
from serialpack.errors import SerialpackError
from serialpack.serializers import SERIALIZERS

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
SERIES: dict[str, Any] = {
    "series": pd.Series([1.5, float("nan")], name="x"),
    "zoned": pd.Series(pd.date_range("2020-01-01", periods=3, tz="Europe/Berlin"), name=7),
}


@pytest.fixture(autouse=True)
def _no_warning(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(objects, "_warned", type(objects._warned)())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", FRAMES | SERIES)
def test_frames_need_no_trust(name: str) -> None:
    value = (FRAMES | SERIES)[name]
    back = serialpack.loads(serialpack.dumps([value, (1,)]))[0]
    same = pd.testing.assert_series_equal if name in SERIES else pd.testing.assert_frame_equal
    same(back, value, check_exact=True)


def test_what_pandas_keeps_of_what_it_was_asked_for_is_no_value() -> None:
    """A frame whose index had been looked at was taken for another one, and pickled."""
    frame = FRAMES["UTC"].copy()
    assert frame.index.unit
    back = serialpack.loads(serialpack.dumps(frame, "objects"))
    assert type(back.index.tz) is type(frame.index.tz)
    assert back.index.freq == frame.index.freq


def test_golden_tables_and_frames() -> None:
    back = serialpack.load(Path(__file__).parents[1] / "golden/object-frames.spk")
    assert back[0].equals(golden.TABLE)
    for one, other in zip(back[1:], golden.PANDAS, strict=True):
        assert one.equals(other)
        assert str(one.index) == str(other.index)


@pytest.mark.parametrize("name", TABLES)
def test_tables_need_no_trust(name: str, tmp_path: Path) -> None:
    table, path = TABLES[name], tmp_path / "a.spk"
    serialpack.dump({"t": table}, path, "auto+none")
    whole = path.read_bytes()
    for source, mode in ((path, None), (path, "r"), (path, "c"), (io.BytesIO(whole), "r")):
        back = serialpack.load(source, mmap_mode=mode)["t"]
        assert str(back) == str(table)
        assert back.schema.equals(table.schema, check_metadata=True)


@pytest.mark.parametrize(
    "value",
    [
        pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([("a", 1)])),
        pd.DataFrame({"a": [{1, 2}]}),
    ],
    ids=["levels", "sets"],
)
def test_what_arrow_does_not_hold_is_pickled(value: Any) -> None:
    with pytest.warns(serialpack.PickleWarning):
        data = serialpack.dumps(value)
    with pytest.raises(serialpack.RefusedError):
        serialpack.loads(data)
    assert serialpack.loads(data, trust=True).equals(value)


def test_a_frame_that_is_another_is_told_apart() -> None:
    from serialpack.values.equality import difference

    frame = FRAMES["numbers"]
    assert difference(frame, frame.copy()) is None
    for other in (frame.rename(columns={"a": "z"}), frame.astype({"a": "i4"}), frame[::-1]):
        assert difference(frame, other) is not None
    assert difference(TABLES["table"], TABLES["table"].slice(0, 2)) is not None
    assert difference(TABLES["chunks"], TABLES["chunks"].combine_chunks()) is not None


def test_flipped_bits_never_crash_and_nothing_compressed_is_read() -> None:
    serializer = SERIALIZERS.create("objects")
    whole = b"".join(serializer.dump_object([TABLES["table"]]))  # type: ignore[attr-defined]
    for bit in range(0, 8 * len(whole), 3):
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
