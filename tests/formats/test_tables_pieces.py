"""Parquet and Arrow files are converted some rows at a time, whatever their groups and batches."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError
from serialpack.formats.base import SourceBlock
from serialpack.formats.shared.random_access import FileRead
from tests.formats.table_files import NAMES, file_of, stream_of, table_format
from tests.pipes import Pipe

pa = pytest.importorskip("pyarrow")

WORDS = ["one", "two", "", "a longer word"]


def _table(rows: int) -> Any:
    """One with all kinds of columns, some of whose values are null."""
    numbers = list(range(rows))
    texts = [WORDS[n % 4] for n in numbers]
    lists = [texts[: n % 3] if n % 5 else None for n in numbers]
    columns = {
        "number": pa.array(numbers, pa.int64()),
        "null": pa.nulls(rows),
        "text": pa.array(texts),
        "category": pa.array(texts).dictionary_encode(),
        "lists": pa.array(lists, pa.list_(pa.string())),
        "maps": pa.array([{"a": n, "b": texts[n]} if n % 7 else None for n in numbers]),
        "pairs": pa.array([[(t, n)] for n, t in enumerate(texts)], pa.map_("string", "int64")),
        "date": pa.array([datetime.date(2020, 1, 1 + n % 28) for n in numbers]),
        "bytes": pa.array([bytes([n % 256]) for n in numbers]),
        "json": pa.array([json.dumps(t) for t in texts], pa.json_()),
    }
    return pa.table(columns).replace_schema_metadata({"serialpack": "kept"})


def _blocks(name: str, path: Path, size: int = 3000) -> list[SourceBlock]:
    read = FileRead(io.BytesIO().read, str(path))
    return [*table_format(name).split(read, size, for_values=True)]


def _put(folder: Path, data: bytes) -> Path:
    path = folder / "x"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("rows", [0, 1, 400])
@pytest.mark.parametrize("how", ["parquet", "groups", "arrow", "stream"])
def test_pieces_have_the_rows_of_the_whole(tmp_path: Path, how: str, rows: int) -> None:
    name = "arrow" if how in ("arrow", "stream") else "parquet"
    fmt, table = table_format(name), _table(rows)
    groups = {"row_group_size": 150} if how == "groups" else {}
    data = stream_of(table) if how == "stream" else file_of(name, table, **groups)
    blocks = _blocks(name, _put(tmp_path, data))
    assert len(blocks) > 3 if rows == 400 else len(blocks) == 1
    assert [block.last for block in blocks] == [False] * (len(blocks) - 1) + [True]
    found: list[Any] = []
    for number, block in enumerate(blocks):
        assert (block.index, block.first_record) == (number, len(found))
        found += fmt.parse(block)
        assert fmt.json_columns(block) == ["json"]
        assert fmt.kept_words(block) == b"kept"
    assert found == fmt.read(data) == table.to_pylist(maps_as_pydicts="strict")


@pytest.mark.parametrize("name", NAMES)
def test_words_that_come_again_and_again_take_the_room_of_each(tmp_path: Path, name: str) -> None:
    """One word of 20 kB in a dictionary, which is meant a thousand times."""
    words = pa.array(["x" * 20_000] * 1000).dictionary_encode()
    for table in (pa.table({"a": words}), pa.table({"a": [[w] for w in words.to_pylist()]})):
        blocks = _blocks(name, _put(tmp_path, file_of(name, table)), 100_000)
        assert max(len(block.data) for block in blocks) < 100_000
        assert sum(block.records or 0 for block in blocks) == 1000


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_little_of_a_file_is_in_memory(tmp_path: Path, name: str, *, lists: bool) -> None:
    """Of one row group, or batch, of 8 MB of which no text comes again."""
    texts = pa.array(np.char.add("a text that is not short ", np.arange(200_000).astype("U6")))
    if lists:
        texts = pa.ListArray.from_arrays(np.arange(0, 200_001, 2, dtype="i4"), texts)
    table = pa.table({"a": np.random.default_rng(0).random(len(texts)), "b": texts})
    path = _put(tmp_path, file_of(name, table))
    del table, texts
    read = FileRead(io.BytesIO().read, str(path))
    before, most = pa.total_allocated_bytes(), 0
    for _ in table_format(name).split(read, 1 << 20, for_values=True):
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < 6 << 20


@pytest.mark.parametrize("name", NAMES)
def test_a_row_that_is_too_large_is_refused(tmp_path: Path, name: str) -> None:
    table = pa.table({"a": [["x" * 1_000_000] * 80]})
    path = _put(tmp_path, file_of(name, table, compression="zstd"))
    with pytest.raises(RefusedError, match=r"larger than 64 MiB|many times more"):
        _blocks(name, path)


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_told_as_of_the_whole(tmp_path: Path, name: str) -> None:
    good = file_of(name, pa.table({"a": [*range(50)]}))
    for data in (
        b"",
        b"x" + good,
        good[:-1],
        good[: len(good) // 2],
        good[:-9] + b"\xff" + good[-8:],
    ):
        with pytest.raises(SyntaxInputError) as error:
            table_format(name).parse(SourceBlock(data, 0, 0, last=True))
        with pytest.raises(SyntaxInputError) as again:
            _blocks(name, _put(tmp_path, data))
        assert (again.value.message, again.value.offset) == (
            error.value.message,
            error.value.offset,
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_is_kept_and_bad_rows_are_left_out_alone(name: str) -> None:
    """A map with a key twice is no value of Python's."""
    maps = pa.array([[], [("k", 1)], [("k", 1), ("k", 2)], []], pa.map_(pa.string(), pa.int64()))
    data = file_of(name, pa.table({"a": [1, 2, 3, 4], "m": maps}))

    out = io.BytesIO()
    report = serialpack.convert(Pipe(data), out, to="ndjson", skip_bad=True)
    assert [json.loads(line)["a"] for line in out.getvalue().splitlines()] == [1, 2, 4]
    assert (report.kept_pipe, report.left_out, report.places[0].record) == (True, 1, 2)
