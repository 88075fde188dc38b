"""``serialpack.contrib.dask``: containers as bags and dataframes, of which only parts are read."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path
from random import Random
from typing import Any

import pytest

import serialpack
from serialpack.errors import FileError, RefusedError, UsageError
from tests.far.conftest import RECORDS
from tests.far.conftest import packed as packed
from tests.far.conftest import server as server
from tests.far.server import FileServer
from tests.records.containers import lines

pytest.importorskip("dask.bag", reason="the extra dask is not installed")
contrib = pytest.importorskip("serialpack.contrib.dask")

RANDOM = Random(2)
PEOPLE = [
    {"id": n, "half": n / 2 if n % 3 else None, "a": RANDOM.randbytes(4).hex(), "in": {"k": n}}
    for n in range(4000)
]


@pytest.fixture(autouse=True)
def alone() -> Any:
    import dask

    with dask.config.set(scheduler="sync"):
        yield


def columns(path: Path, records: list[Any], block_size: int = 20_000) -> Path:
    source = io.BytesIO(lines(records))
    serialpack.pack(
        source, path, format="ndjson", serializer="columns", block_size=block_size, force=True
    )
    return path


def frame(*args: Any, **how: Any) -> Any:
    pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
    return contrib.read(*args, **how)


def test_a_bag_has_the_records_in_order(server: FileServer) -> None:
    bag = contrib.read(server.url("records.spk"), blocksize="256 KiB")
    assert bag.npartitions == -(-len(RECORDS) // (5 * (64 << 10)))
    assert bag.compute() == [json.loads(line) for line in RECORDS.splitlines()]


def test_a_partition_reads_the_ends_and_its_blocks(server: FileServer, packed: bytes) -> None:
    bag = contrib.read(server.url("records.spk"), blocksize="256 KiB")
    assert sum(each.sent for each in server.asked) == 2 * (64 << 10)
    server.asked.clear()
    third = bag.to_delayed()[2].compute()
    assert third == bag.compute()[third[0]["id"] : third[-1]["id"] + 1]
    server.asked.clear()
    bag.to_delayed()[2].compute()
    assert len(server.asked) == 4  # its size, its two ends, the blocks
    share = len(packed) / (bag.npartitions - 1)
    assert sum(each.sent for each in server.asked) < 2 * (64 << 10) + share


def test_a_dataframe_reads_its_columns(server: FileServer, tmp_path: Path) -> None:
    """Also of those that it has, only what is used: Dask pushes that down to the blocks."""
    wide = [
        {"id": n, "a": f"{n:x}", **{f"noise {k}": RANDOM.randbytes(8 + k).hex() for k in range(12)}}
        for n in range(12_000)
    ]
    whole = columns(tmp_path / "wide.spk", wide, 4 << 20).read_bytes()
    server.files["wide.spk"] = whole
    known = {"id": "int64[pyarrow]", "a": "string[pyarrow]"}
    table = frame(server.url("wide.spk"), ["id", "a"], blocksize=1, dtypes=known)
    assert table.npartitions == 2
    assert sum(each.sent for each in server.asked) == 2 * (64 << 10)
    server.asked.clear()
    assert table["id"].sum().compute() == sum(range(12_000))
    of_id = sum(each.sent for each in server.asked)
    assert of_id < 0.25 * len(whole)
    server.asked.clear()
    assert table.compute()["a"].tolist() == [record["a"] for record in wide]
    assert sum(each.sent for each in server.asked) < 0.75 * len(whole)


def test_a_dataframe_is_typed_and_numbered(tmp_path: Path) -> None:
    path = columns(tmp_path / "a.spk", PEOPLE)
    table = frame([path, str(path)], ["id", "half", "a", "in", "in.k"], blocksize=1)
    assert table.known_divisions
    assert [str(kind) for kind in table.dtypes] == [
        "int64[pyarrow]", "double[pyarrow]", "string", "object", "int64[pyarrow]",
    ]  # fmt: skip
    assert table.loc[5000]["id"].compute().tolist() == [1000]
    found = table.compute()
    assert (found.dtypes == table.dtypes).all()
    assert found.index.tolist() == [*range(8000)]
    assert found["id"].tolist() == found["in.k"].tolist() == [*range(4000)] * 2
    assert [each if each == each else None for each in found["in"]] == [r["in"] for r in PEOPLE] * 2
    assert found["half"].isna().tolist() == [n % 3 == 0 for n in range(4000)] * 2


def test_types_are_of_the_first_block_that_has_values(tmp_path: Path) -> None:
    records = [
        {"late": n if n > 2000 else None, "turns": n if n < 2000 else n / 2, "none": None}
        for n in range(4000)
    ]
    path = columns(tmp_path / "a.spk", records, 10_000)
    table = frame(path, ["late", "none"])
    assert [str(kind) for kind in table.dtypes] == ["int64[pyarrow]", "null[pyarrow]"]
    assert table["late"].sum().compute() == sum(range(2001, 4000))
    with pytest.raises(RefusedError, match=r"turns.*double.*dtypes=\{.turns.: .double\[pya"):
        frame(path, ["turns"], blocksize=1).compute()
    double = frame(path, ["turns"], dtypes={"turns": "double[pyarrow]"}, blocksize=1)
    assert double["turns"].sum().compute() == sum(r["turns"] for r in records if r["turns"])


@pytest.mark.parametrize("value", ["text", True, 1.5, 1 << 53 | 1, [1], "\ud800"])
def test_no_value_is_changed_for_a_type(tmp_path: Path, value: object) -> None:
    """What the type does not hold is said, with one that does."""
    first = {float: 1, int: 1.5, bool: 1, str: 1, list: "x"}[type(value)]
    if value == "\ud800":
        first = "x"
    path = columns(tmp_path / "a.spk", [{"x": first}] * 10 + [{"x": value}], 1)
    with pytest.raises(RefusedError, match="does not hold as they are") as caught:
        frame(path, ["x"]).compute()
    assert "\n" not in str(pickle.loads(pickle.dumps(caught.value)))
    found = frame(path, ["x"], dtypes={"x": "object"}).compute()
    assert found["x"].tolist() == [first] * 10 + [value]


def test_a_named_type_converts(tmp_path: Path) -> None:
    path = tmp_path / "a.spk"
    serialpack.pack(io.BytesIO(b"id,x\n1,a\n20,b\n"), path, format="csv")
    found = frame(path, ["id"], dtypes={"id": "int16[pyarrow]"}).compute()
    assert found["id"].tolist() == [1, 20]
    with pytest.raises(RefusedError, match="int8"):
        frame(path, ["x"], dtypes={"x": "int8[pyarrow]"}).compute()


def test_another_container_by_then_is_said(tmp_path: Path) -> None:
    path = columns(tmp_path / "a.spk", PEOPLE[:100])
    bag = contrib.read(path)
    columns(path, PEOPLE[100:200])
    with pytest.raises(FileError, match=r"not the container that it was.*call read again"):
        bag.compute()


def test_what_cannot_be_read_is_said_at_once(tmp_path: Path, server: FileServer) -> None:
    path = columns(tmp_path / "a.spk", PEOPLE[:10])
    with pytest.raises(UsageError, match="no record has a field idd"):
        frame(path, ["idd", "id"])
    with pytest.raises(UsageError, match="dtypes names what is not read: x"):
        frame(path, ["id"], dtypes={"x": "object"})
    with pytest.raises(UsageError, match="no file is named"):
        contrib.read([])
    with pytest.raises(serialpack.NotContainerError):
        contrib.read(server.url("records.ndjson"))
    with pytest.raises(FileError, match="404"):
        contrib.read([path, server.url("none.spk")])


def test_nothing_is_a_bag_and_a_dataframe_too(tmp_path: Path) -> None:
    path = columns(tmp_path / "a.spk", [])
    assert contrib.read(path).compute() == []
    assert len(frame(path, ["x"]).compute()) == 0


def test_what_is_read_whole_is_one_partition(tmp_path: Path) -> None:
    path = tmp_path / "a.spk"
    serialpack.pack(io.BytesIO(b"- 1\n- 2\n"), path, format="yaml", serializer="raw")
    with serialpack.open(path) as records:
        assert contrib.read(path, blocksize=1).compute() == list(records)


def test_no_password_is_in_a_graph_that_is_shown(server: FileServer) -> None:
    bag = contrib.read(f"http://me:secret@{server.host}/records.spk")
    assert "secret" not in f"{bag!r} {dict(bag.dask)!r}"
    assert bag.count().compute() == 20_000
    assert all(each for each in server.authorized)
