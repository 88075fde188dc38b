"""A table with types is written where it is to be: its bytes need room once, and none elsewhere."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.conversion.tables import batches
from serialpack.errors import FileError
from serialpack.hidden import temporary_folder

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TABLE = pa.table({"a": pa.array(range(3000), pa.int16()), "b": [f"é{n}" for n in range(3000)]})


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=500)
    return path


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The temporary folders that tables were made in."""
    made: list[Path] = []

    @contextmanager
    def noted() -> Iterator[str]:
        with temporary_folder() as folder:
            made.append(Path(folder))
            yield folder

    monkeypatch.setattr(batches, "temporary_folder", noted)
    return made


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("fields", [["a", "b"], ["a"], []])
def test_a_file_is_made_in_its_place(
    source: Path, kept: list[Path], verify: bool, force: bool, fields: list[str]
) -> None:
    made = source.with_suffix(".parquet")
    if force:
        made.write_bytes(b"old")
    told: list[int] = []
    how: dict[str, Any] = {"verify": verify, "force": force, "fields": fields}
    report = serialpack.convert(source, made, **how, progress=lambda _, size: told.append(size))
    assert not kept
    names = fields or ["a", "b"]
    assert pq.read_table(made).equals(TABLE.select(names))
    assert (report.records, report.size) == (3000, made.stat().st_size)
    assert told == sorted(told)
    assert told[-1] == report.size
    assert names_in(source.parent) == ["a.arrow", "a.parquet"]


def test_what_is_there_stays_where_it_may_not_be_overwritten(source: Path) -> None:
    made = source.with_suffix(".parquet")
    made.write_bytes(b"old")
    with pytest.raises(FileError):
        serialpack.convert(source, made)
    assert made.read_bytes() == b"old"


def test_other_targets_are_copied_once_it_is_proved(source: Path, kept: list[Path]) -> None:
    """What is compressed, or the caller's, is not read again."""
    made, packed = io.BytesIO(), source.with_suffix(".parquet.gz")
    serialpack.convert(source, made, to="parquet")
    serialpack.convert(source, packed)
    assert len(kept) == 2
    assert not any(folder.exists() for folder in kept)
    assert pq.read_table(io.BytesIO(made.getvalue())).equals(TABLE)
    again = io.BytesIO()
    serialpack.convert(packed, again, to="parquet")
    assert pq.read_table(io.BytesIO(again.getvalue())).equals(TABLE)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("same", [True, False])
def test_a_pipe_with_a_name_is_opened_once(
    source: Path, monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    """Its reader takes the first end for the end."""
    if not same:
        monkeypatch.setattr(batches, "same_bits", lambda *_: False)
    pipe = source.with_suffix(".pipe")
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    serialpack.convert(source, pipe, to="parquet")
    reader.join(60)
    assert pq.read_table(io.BytesIO(found[0])).to_pylist() == TABLE.to_pylist()


def test_what_does_not_come_back_is_made_by_values_in_its_place(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the first attempt is in the second, or beside it."""
    monkeypatch.setattr(batches, "same_bits", lambda *_: False)
    made = source.with_suffix(".parquet")
    serialpack.convert(source, made)
    assert pq.read_table(made)["a"].type == pa.int64()
    assert pq.read_table(made).to_pylist() == TABLE.to_pylist()
    assert names_in(source.parent) == ["a.arrow", "a.parquet"]


def test_it_has_no_name_before_it_is_proved(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = source.with_suffix(".parquet")

    def broken_off(*_: Any) -> bool:
        assert not made.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(batches, "same_bits", broken_off)
    with pytest.raises(KeyboardInterrupt):
        serialpack.convert(source, made)
    assert names_in(source.parent) == ["a.arrow"]


def test_many_are_made_in_their_places(source: Path, kept: list[Path]) -> None:
    """As outputs that get their names together."""
    other, into = source.with_name("b.arrow"), source.parent / "made"
    other.write_bytes(source.read_bytes())
    assert run(["unpack", "-q", "--to", "parquet", str(source), str(other), "-o", f"{into}/"]) == 0
    assert not kept
    assert names_in(into) == ["a.parquet", "b.parquet"]
    assert all(pq.read_table(path).equals(TABLE) for path in into.iterdir())
