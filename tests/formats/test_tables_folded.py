"""Columns that hold an item once and mean it many times: views of lists, runs, dictionaries of
lists. pyarrow casts the first to wrong values where some are null, and takes no others."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.errors import RefusedError
from serialpack.formats.shared.random_access import FileRead
from serialpack.formats.tables.folded import unfolded, weights
from serialpack.formats.tables.records import records_of
from tests.formats.table_files import file_of, stream_of, table_format

pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")

MOST = 1 << 20


def _runs(ends: list[int], values: Any) -> Any:
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), values)


def _words(numbers: list[int | None], words: Any) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), words)


def _fixed(size: int, rows: int, items: Any) -> Any:
    return pa.Array.from_buffers(pa.list_(items.type, size), rows, [None], children=[items])


def _views() -> Any:
    """Some of the same items, one with nothing before what others have, one null that has some."""
    starts, sizes = pa.array([2, 0, 1, 3], pa.int32()), pa.array([1, 3, 2, 0], pa.int32())
    items = pa.array(["a", None, "a text that is longer than a view"])
    mask = pa.array([False, False, True, False])
    return pa.ListViewArray.from_arrays(starts, sizes, items, mask=mask)


_LONG = "a text that is longer than a view"
_VIEWS: list[Any] = [[_LONG], ["a", None, _LONG], None, []]
_LISTS = pa.array([[1, 2], [3]])
COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "views": (_views(), _VIEWS),
    "large views": (
        pa.array([["a"], None, []], pa.large_list_view(pa.string())),
        [["a"], None, []],
    ),
    "views of views": (
        pa.array([[["a"], None], None, [[]]], pa.list_view(pa.list_view(pa.string_view()))),
        [[["a"], None], None, [[]]],
    ),
    "runs": (_runs([2, 3], pa.array(["x", None])), ["x", "x", None]),
    "runs of lists": (_runs([2, 3], _LISTS), [[1, 2], [1, 2], [3]]),
    "runs of words": (_runs([1, 3], pa.array(["x", "y"]).dictionary_encode()), ["x", "y", "y"]),
    "lists of runs": (
        pa.ListArray.from_arrays([0, 1, 3], _runs([2, 3], pa.array(["x", "y"]))),
        [["x"], ["x", "y"]],
    ),
    "words that are lists": (_words([0, None, 1, 0], _LISTS), [[1, 2], None, [3], [1, 2]]),
    "words that are maps": (_words([1, 0], pa.array([{"a": 1}, None])), [None, {"a": 1}]),
    "words that are views": (
        _words([1, 0, None], pa.array(["x", _LONG], pa.string_view())),
        [_LONG, "x", None],
    ),
    "maps of views": (
        pa.array([[("k", [1])], None], pa.map_(pa.string(), pa.list_view(pa.int8()))),
        [{"k": [1]}, None],
    ),
    "fixed lists of views": (_fixed(2, 2, _views()), [_VIEWS[:2], _VIEWS[2:]]),
    "fixed lists of nothing": (_fixed(0, 2, _views().slice(0, 0)), [[], []]),
    "structures of runs": (
        pa.StructArray.from_arrays([_runs([2], pa.array([True]))], names=["a"]),
        [{"a": True}, {"a": True}],
    ),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_each_item_stands_where_it_is_meant(tmp_path: Path, what: str) -> None:
    column, values = COLUMNS[what]
    fmt, table = table_format("arrow"), pa.table({"v": column})
    records = [{"v": value} for value in values]
    for data in (file_of("arrow", table), stream_of(table)):
        assert fmt.read(data) == records
        path = tmp_path / "x"
        path.write_bytes(data)
        blocks = fmt.split(FileRead(io.BytesIO().read, str(path)), 100, for_values=True)
        assert [record for block in blocks for record in fmt.parse(block)] == records
    part = pa.table({"v": column.slice(1)})
    assert records_of(part, MOST) == records[1:]


@pytest.mark.parametrize("what", COLUMNS)
def test_serializers_and_conversions_are_proved(what: str) -> None:
    column, values = COLUMNS[what]
    data = file_of("arrow", pa.table({"v": column}))
    for to in ("ndjson", "parquet", "msgpack"):
        serialpack.convert(io.BytesIO(data), io.BytesIO(), format="arrow", to=to)
    packed, back = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(data), packed, serializer="msgpack", format="arrow")
    serialpack.unpack(io.BytesIO(packed.getvalue()), back)
    assert table_format("arrow").read(back.getvalue()) == [{"v": value} for value in values]


@pytest.mark.parametrize("kind", [pa.list_view(pa.string()), pa.large_list_view(pa.string())])
def test_views_of_lists_in_parquet(kind: Any) -> None:
    """pyarrow reads them as what they were, since it keeps their types there."""
    values = [["a", None], None, [], ["b"]]
    data = file_of("parquet", pa.table({"v": pa.array(values, kind)}))
    assert table_format("parquet").read(data) == [{"v": value} for value in values]


def test_weights_are_of_what_is_meant() -> None:
    column, values = COLUMNS["views"]
    found = weights(column, MOST)
    assert found.values.tolist() == [1 + len(value or ()) for value in values]
    assert found.of(1, 3) == (5, len("a" + _LONG) + 2)  # a byte for each list
    assert weights(_words([None, 0], _LISTS), MOST).values.tolist() == [1, 3]
    assert unfolded(column).to_pylist() == values


def test_lists_of_a_number_of_items_below_0_are_refused() -> None:
    """It was an internal error."""
    fixed = pa.array([[1, 2, 3, 4, 5, 6, 7]], pa.list_(pa.timestamp("ms"), 7))
    data = file_of("arrow", pa.table({"v": fixed}))
    at = data.rindex((7).to_bytes(4, "little"))
    ruined = data[:at] + b"\xff" * 4 + data[at + 4 :]
    assert "[-1]" in str(pa.ipc.open_file(ruined).schema)
    with pytest.raises(serialpack.SerialpackError, match="lists of -1 items"):
        serialpack.convert(io.BytesIO(ruined), io.BytesIO(), format="arrow", to="ndjson")


def test_a_union_of_folded_columns_is_refused() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [_views().slice(0, 1)])
    with pytest.raises(RefusedError, match="not read here"):
        table_format("arrow").read(file_of("arrow", pa.table({"v": union})))


#: Converts, and says how much memory was held at most.
PROGRAM = """
import io, sys, serialpack
from pathlib import Path
class Nothing(io.RawIOBase):
    def writable(self): return True
    def write(self, data): return len(data)
try:
    serialpack.convert(sys.argv[1], Nothing(), to="ndjson", threads=1)
except serialpack.SerialpackError as error:
    print(error.exit_code, end=" ")
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc says what it took")
def test_runs_within_lists_do_not_take_what_they_say(tmp_path: Path) -> None:
    """One list of two thousand million items, in a few bytes."""
    last = (1 << 31) - 2
    runs = _runs([last], pa.array(["x"]))
    lists = pa.ListArray.from_arrays(pa.array([0, last], pa.int32()), runs)
    source = tmp_path / "bomb.arrow"
    source.write_bytes(file_of("arrow", pa.table({"v": lists})))
    command = [sys.executable, "-c", PROGRAM, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    code, kilobytes = done.stdout.split()
    assert code == "4"
    assert int(kilobytes) < 300 << 10
