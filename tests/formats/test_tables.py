"""Parquet and Arrow as sources: what is read as which values, and what is too much."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Unheld
from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables.table import TableFormat
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from tests.formats.hostile import said

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = ("parquet", "arrow")


def _format(name: str) -> TableFormat:
    fmt = FORMATS.get(name)
    assert isinstance(fmt, TableFormat)
    return fmt


def file_of(name: str, table: Any, **how: Any) -> bytes:
    """A file as pyarrow writes it."""
    file = io.BytesIO()
    if name == "parquet":
        pq.write_table(table, file, **how)
    else:
        options = pa.ipc.IpcWriteOptions(**how)
        with pa.ipc.new_file(file, table.schema, options=options) as writer:
            writer.write_table(table)
    return file.getvalue()


def stream_of(table: Any) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def _columns(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of one type, wherever they are."""
    return st.lists(inner | st.none(), min_size=1, max_size=5)


_leaves = st.sampled_from(
    [
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.integers(2**63, 2**64 - 1),
        st.floats(),
        st.text(),
        st.binary(),
        st.dates(),
        st.times(),
        st.datetimes(),
        st.datetimes(timezones=st.just(UTC)),
        st.timedeltas(timedelta(days=-(10**6)), timedelta(days=10**6)),
        st.decimals(allow_nan=False, allow_infinity=False, places=3).filter(
            lambda value: (
                len(value.as_tuple().digits) < 70 and not (value.is_signed() and not value)
            )
        ),
        st.uuids(),
        st.none(),
    ]
)
_types = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        inner.map(lambda kind: st.lists(kind | st.none(), max_size=3)),
        st.tuples(inner, inner).map(
            lambda pair: st.fixed_dictionaries({"x": pair[0], "a b": pair[1] | st.none()})
        ),
    ),
    max_leaves=3,
)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=150)
def test_columns_of_one_type_come_back(name: str, data: st.DataObject) -> None:
    fmt = _format(name)
    kind = data.draw(data.draw(_types.map(lambda inner: st.just(inner))))
    values = data.draw(_columns(kind))
    records = [{"v": _plain(value), "n": i} for i, value in enumerate(values)]
    for write, read in ((fmt.write, fmt.read), (fmt.write_stored, fmt.read_stored)):
        assert difference(records, read(write(records))) is None


def _plain(value: Any) -> Any:
    """Without the folds that Hypothesis likes, and the orders of keys."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    return value.replace(fold=0) if isinstance(value, datetime | time) else value


ROWS: list[dict[str, Any]] = [
    {
        "text": "\u00e9",
        "number": 2**64 - 1,
        "float": -0.0,
        "flag": True,
        "bytes": b"\0",
        "moment": datetime(2020, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        "local": datetime(1, 1, 1),
        "day": date(9999, 12, 31),
        "time": time(23, 59, 59, 999_999),
        "span": timedelta(microseconds=-1),
        "price": Decimal("1.50"),
        "id": UUID(int=7),
        "ids": [UUID(int=8), None],
        "list": [[1.5], []],
        "map": {"b": 1, "a": {"c": None}},
        "beside": {"id": UUID(int=9), "nothings": [None, None], "ids": [[UUID(int=1)], None]},
        "nothing": None,
        "empty": [],
    }
]


@pytest.mark.parametrize("name", NAMES)
def test_types_of_columns(name: str) -> None:
    fmt = _format(name)
    records = [*ROWS, dict.fromkeys(ROWS[0]), *ROWS]
    data = fmt.write(records)
    assert difference(records, fmt.read(data)) is None
    assert fmt.write(records) == data
    table = fmt.read_table(data, 0)
    assert table.schema.field("moment").type == pa.timestamp("us", "UTC")
    assert fmt.read(fmt.write([])) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "records",
    [
        [1],
        ["a"],
        [{"a": 1}, [1]],
        [{}],
        [{"a": 1}, {"b": 1}],
        [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
        [{"a": 1}, {"a": 1, "b": None}],
        [{"a": 1}, {"a": 1.5}],
        [{"a": 1}, {"a": True}],
        [{"a": 1}, {"a": "x"}],
        [{"a": {"x": 1}}, {"a": {"y": 1}}],
        [{"a": [1, "x"]}],
        [{"a": 2**64}],
        [{"a": -1}, {"a": 2**63}],
        [{"a": -(2**63) - 1}],
        [{"a": Decimal("1.5")}, {"a": Decimal("1.50")}],
        [{"a": Decimal("0." + "1" * 77)}],
        [{"a": Decimal("NaN")}],
        [{"a": timedelta.max}],
        [{"a": datetime(2020, 1, 1)}, {"a": datetime(2020, 1, 1, tzinfo=UTC)}],
        [{"a": (1, 2)}],
        [{"a": bytearray(b"x")}],
        [{"a": np.int64(1)}],
        [{"a": "\ud800"}],
        [{1: 2}],
    ],
)
def test_what_no_column_holds(name: str, records: list[Any]) -> None:
    for write in (_format(name).write, _format(name).write_stored):
        with pytest.raises(FAILURES):
            write(records)


_UTC = {"tzinfo": UTC}
READ: list[tuple[Any, Any]] = [
    (pa.array([-1], pa.int8()), -1),
    (pa.array([0.1], pa.float32()), float(np.float32(0.1))),
    (pa.array([1.5], pa.float16()), 1.5),
    (pa.array(["a"]).dictionary_encode(), "a"),
    (pa.array([1500], pa.timestamp("ms")), datetime(1970, 1, 1, 0, 0, 1, 500_000)),
    (pa.array([1000], pa.timestamp("ns", "UTC")), datetime(1970, 1, 1, microsecond=1, **_UTC)),  # type: ignore[arg-type]
    (pa.array([1000], pa.time64("ns")), time(0, 0, 0, 1)),
    (pa.array([1], pa.time32("s")), time(0, 0, 1)),
    (pa.array([1], pa.duration("s")), timedelta(seconds=1)),
    (pa.array([86_400_000], pa.date64()), date(1970, 1, 2)),
    (pa.array([[("a", 1), ("b", None)]], pa.map_(pa.string(), pa.int8())), {"a": 1, "b": None}),
    (pa.array([[1, 2]], pa.list_(pa.int8(), 2)), [1, 2]),
    (pa.array([["a"]], pa.large_list(pa.large_string())), ["a"]),
    (
        pa.array([[{"t": datetime(2020, 1, 1, tzinfo=UTC)}]]),
        [{"t": datetime(2020, 1, 1, tzinfo=UTC)}],
    ),
    (pa.array(['{"a":1}'], pa.json_()), '{"a":1}'),
]
ARROW_ONLY: list[tuple[Any, Any]] = [
    (pa.array(["long enough for a view"], pa.string_view()), "long enough for a view"),
    (pa.array([b"x", None], pa.binary_view()), b"x"),
    (pa.array(["a"], pa.string_view()).dictionary_encode(), "a"),
    (pa.array([{}], pa.struct([])), {}),
    (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1]), pa.array(["a"])]), 1),
]


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [(name, *case) for name in NAMES for case in READ] + [("arrow", *case) for case in ARROW_ONLY],
)
def test_columns_of_others(name: str, column: Any, value: Any) -> None:
    fmt = _format(name)
    data = file_of(name, pa.table({"v": column}))
    assert difference(value, fmt.read(data)[0]["v"]) is None
    if name == "arrow":
        assert difference(fmt.read(data), fmt.read(stream_of(pa.table({"v": column})))) is None
    # Other serializers give a file of the same types again, where pyarrow makes them of values.
    block = SourceBlock(data, 0, 0, last=True)
    again = fmt.spell(fmt.read(data), fmt.learn(block), first=True)
    assert fmt.difference(block, again) is None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([1], pa.timestamp("ns")), "value"),
        (pa.array([1], pa.time64("ns")), "value"),
        (pa.array([1 << 30], pa.date32()), "value"),
        (pa.array([1], pa.timestamp("us", "No/Where")), "value"),
        (pa.array([[("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int8())), "duplicate-keys"),
        (
            pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
            "duplicate-keys",
        ),
    ],
)
def test_what_python_does_not_hold(name: str, column: Any, kind: str) -> None:
    data = file_of(name, pa.table({"v": column}))
    with pytest.raises(Unheld) as caught:
        _format(name).read(data)
    assert (caught.value.difference.value_path, caught.value.difference.kind) == ("$.v", kind)
    assert isinstance(said(data, name), ValueRefusedError)


def test_a_moment_beyond_all_years() -> None:
    data = file_of("arrow", pa.table({"v": pa.array([1 << 60], pa.timestamp("s"))}))
    with pytest.raises(Unheld):
        _format("arrow").read(data)


@pytest.mark.parametrize("name", NAMES)
def test_two_columns_of_one_name(name: str) -> None:
    data = file_of(name, pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))
    for serializer in (name, "json"):
        error = said(data, name, serializer)
        assert isinstance(error, ValueRefusedError)
        assert error.kind == "duplicate-keys"


@pytest.mark.parametrize("name", NAMES)
def test_other_serializers_keep_the_types(name: str) -> None:
    table = pa.table({"a": pa.array([1, 2], pa.int8()), "b": pa.array(["x", None])})
    data = file_of(name, table)
    for serializer in ("json", "msgpack", name):
        packed, back = io.BytesIO(), io.BytesIO()
        report = serialpack.pack(io.BytesIO(data), packed, serializer=serializer, format=name)
        packed.seek(0)
        serialpack.unpack(packed, back)
        assert _format(name).read_schema(back.getvalue()) == table.schema
        assert report.exact == (back.getvalue() == data)


TABLE = pa.table({"a": [1, 2], "b": ["x", "y"]})


def _bad(name: str) -> list[tuple[bytes, str]]:
    good = file_of(name, TABLE)
    cases = [
        (b"", "begin"),
        (good[:-1], "does not end with"),
        (good[: len(good) // 2], "does not end with"),
        (good + b"x", "does not end with"),
        (b"x" + good, "begin"),
        (b"\xef\xbb\xbf" + good, "begin"),
        (good.decode("latin-1").encode("utf-16"), "begin"),
        (good[:4] + good[-4:], "begin|does not end with"),
    ]
    if name == "parquet":
        cases += [
            (good[:-8] + b"\xff\xff\xff\xff" + good[-4:], "4294967295 bytes is announced"),
            (good[:-8] + b"\0\0\0\0" + good[-4:], "no footer"),
            (b"PAR1" + b"\x19\xfc\xff\xff\xff\xff\x0f" + b"\x07\0\0\0PAR1", "items are announced"),
            (b"PAR1" + b"\x1c" * 100 + b"\x64\0\0\0PAR1", "too deeply"),
        ]
    else:
        stream = stream_of(TABLE)
        cases += [
            (good[:-10] + b"\xff\xff\xff\x7f" + good[-6:], "2147483647 bytes is announced"),
            (stream[:-20], "."),
            (stream + b"x", "more than a stream"),
            (b"FEA1" + good[4:], "begin"),
        ]
    return cases


@pytest.mark.parametrize(
    ("name", "data", "words"), [(name, *case) for name in NAMES for case in _bad(name)]
)
def test_bad_files_are_told(name: str, data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        _format(name).read(data)
    error = said(data, name)
    assert isinstance(error, SyntaxInputError)
    assert 0 <= error.offset <= len(data)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_changed_bytes_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Were this to end the process: run it alone to see the bytes."""
    source = bytearray(file_of(name, TABLE))
    for _ in range(data.draw(st.integers(1, 4))):
        source[data.draw(st.integers(0, len(source) - 1))] = data.draw(st.integers(0, 255))
    try:
        _format(name).read(bytes(source))
    except (Malformed, Unheld, RefusedError):
        return


def test_a_footer_that_contradicts_itself_does_not_end_the_process() -> None:
    """pyarrow aborts where it is asked for the metadata of a column whose histograms are short."""
    source = file_of("parquet", pa.table({"a": [1.5, None], "l": [[1], []]}))
    footer = len(source) - 8 - int.from_bytes(source[-8:-4], "little")
    for at in range(footer, len(source) - 8):
        for byte in (0, 0x26, 0x36, 0x46):
            changed = source[:at] + bytes([byte]) + source[at + 1 :]
            try:
                _format("parquet").read(changed)
            except (Malformed, Unheld, RefusedError):
                continue


def _nulls(count: int) -> Any:
    return pa.Array.from_buffers(pa.null(), count, [None])


def _views() -> Any:
    """Many views of the same megabyte."""
    one = pa.array(["x" * 1_000_000], pa.string_view()).buffers()
    heads = pa.py_buffer(one[1].to_pybytes()[:16] * 100_000)
    return pa.Array.from_buffers(pa.string_view(), 100_000, [None, heads, *one[2:]])


def _zeros() -> Any:
    return pa.array(np.zeros(20_000_000, "i8"))


def _list_views() -> Any:
    """Many lists of the same elements."""
    starts, sizes = ([each] * 10_000 for each in (0, 10_000))
    return pa.ListViewArray.from_arrays(
        pa.array(starts, pa.int32()), pa.array(sizes, pa.int32()), pa.array(range(10_000))
    )


def _dictionary() -> Any:
    return pa.DictionaryArray.from_arrays(np.zeros(100_000, "i1"), pa.array(["x" * 1_000_000]))


MOST = (1 << 31) - 1
#: Files of some kilobytes that hold gigabytes: format, compression, and what makes the column.
BOMBS: dict[str, tuple[str, str | None, Callable[[], Any]]] = {
    "nulls": ("arrow", None, lambda: _nulls(MOST)),
    "a list of nulls": (
        "arrow",
        None,
        lambda: pa.ListArray.from_arrays(pa.array([0, MOST], pa.int32()), _nulls(MOST)),
    ),
    "a fixed list": ("arrow", None, lambda: pa.FixedSizeListArray.from_arrays(_nulls(MOST), MOST)),
    "a dictionary": ("arrow", "zstd", _dictionary),
    "views": ("arrow", "zstd", _views),
    "zeros": ("arrow", "zstd", _zeros),
    "views of lists": ("arrow", "zstd", _list_views),
    "runs": ("arrow", None, lambda: pa.RunEndEncodedArray.from_arrays([9], ["x"])),
    "nulls in pages": ("parquet", "zstd", lambda: _nulls(100_000_000)),
    "zeros in pages": ("parquet", "zstd", _zeros),
    "words in pages": ("parquet", "zstd", lambda: pa.array(["x" * 1_000_000] * 80)),
    "words in lists": ("parquet", "zstd", lambda: pa.array([["x" * 1_000_000] * 80])),
}

#: Packs, and says with which exit code it is refused, and how much memory that took.
PROGRAM = """
import io, sys, serialpack
from pathlib import Path
try:
    serialpack.pack(sys.argv[2], io.BytesIO(), serializer=sys.argv[1], threads=1)
except serialpack.SerialpackError as error:
    status = Path("/proc/self/status").read_text()
    print(error.exit_code, status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc says what it took")
@pytest.mark.parametrize("what", BOMBS)
def test_bombs_take_little_memory(tmp_path: Path, what: str) -> None:
    name, codec, make = BOMBS[what]
    data = file_of(name, pa.table({"a": make()}), compression=codec)
    assert len(data) < 300_000
    source = tmp_path / f"bomb.{name}"
    source.write_bytes(data)
    command = [sys.executable, "-c", PROGRAM, name, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    exit_code, kilobytes = done.stdout.split()
    assert exit_code == "4"
    assert int(kilobytes) < 200 << 10  # with Python and the libraries


@pytest.mark.parametrize("name", NAMES)
def test_columns_of_one_value_are_no_bomb(name: str) -> None:
    """What serializers wrote is read with more room than what comes from strangers."""
    fmt = _format(name)
    records: list[dict[str, Any]] = [{"a": None, "b": False, "c": "word"}] * 600_000
    assert fmt.read_stored(fmt.write_stored(records)) == records
