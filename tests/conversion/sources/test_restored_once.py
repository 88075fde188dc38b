"""A container of what is looked at before it is written is restored once, not twice."""

from __future__ import annotations

import bz2
import io
import json
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.conversion.sources import restored
from serialpack.errors import TruncatedError
from serialpack.pipeline.blocks import BlockUnpacker
from serialpack.pipeline.fields import Projected

RECORDS = [{"id": i, "name": f"n{i % 7}", "price": i / 8} for i in range(4000)]


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A container of ten blocks or more."""
    source = tmp_path / "x.ndjson"
    source.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    path = tmp_path / "x.ndjson.spk"
    serialpack.pack(source, path, block_size=16 << 10)
    source.unlink()
    return path


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of each block that is restored, as often as it is."""
    seen: list[int] = []
    undo = BlockUnpacker.__call__

    def counted(self: BlockUnpacker, stored: Any) -> Any:
        seen.append(stored.block.seq)
        return undo(self, stored)

    monkeypatch.setattr(BlockUnpacker, "__call__", counted)
    return seen


@pytest.mark.parametrize("to", ["csv", "sqlite", "parquet", "avro"])
def test_each_block_is_restored_once(packed: Path, blocks: list[int], to: str) -> None:
    target = io.BytesIO()
    report = serialpack.convert(packed, target, to=to)
    assert report.records == len(RECORDS)
    assert len(blocks) == len({*blocks}) >= 10


def test_the_command_restores_each_block_once(
    packed: Path, blocks: list[int], tmp_path: Path
) -> None:
    assert run(["unpack", "-q", "--to", "csv", str(packed), "-o", str(tmp_path / "x.csv")]) == 0
    assert len(blocks) == len({*blocks}) >= 10
    assert (tmp_path / "x.csv").read_text().count("\n") == len(RECORDS) + 1


@pytest.mark.parametrize("limit", ["_MOST", "_IN_MEMORY"])
def test_what_is_too_much_to_keep_is_restored_again(
    packed: Path, blocks: list[int], monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """What is kept beyond memory is on the disk, and beyond that nothing is kept."""
    kept = io.BytesIO()
    serialpack.convert(packed, kept, to="csv")
    blocks.clear()
    monkeypatch.setattr(restored, limit, 100 << 10)
    target = io.BytesIO()
    serialpack.convert(packed, target, to="csv")
    assert target.getvalue() == kept.getvalue()
    assert len(blocks) == len({*blocks}) * (2 if limit == "_MOST" else 1)


def test_no_room_for_a_temporary_file_is_no_error(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: Any, **_options: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.SpooledTemporaryFile.write", full)
    target = io.BytesIO()
    assert serialpack.convert(packed, target, to="csv").records == len(RECORDS)


@pytest.fixture
def undone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each piece that comes of undoing bzip2."""
    sizes: list[int] = []
    undo = bz2.BZ2Decompressor

    class Counted:
        def __init__(self) -> None:
            self._undo = undo()

        def decompress(self, data: bytes, max_length: int = -1) -> bytes:
            found = self._undo.decompress(data, max_length)
            sizes.append(len(found))
            return found

        def __getattr__(self, name: str) -> Any:
            return getattr(self._undo, name)

    monkeypatch.setattr(bz2, "BZ2Decompressor", Counted)
    return sizes


def compressed(folder: Path, name: str = "x.ndjson.bz2", tail: int = 0) -> Path:
    """A file of several blocks of bzip2's, as large as can be told apart from its front."""
    lines = "".join(json.dumps({**record, "more": "x" * 250}) + "\n" for record in RECORDS)
    path = folder / name
    data = bz2.compress(lines.encode(), 1)
    path.write_bytes(data[: len(data) - tail])
    return path


@pytest.mark.parametrize("to", ["csv", "sqlite", "avro"])
def test_what_takes_long_to_undo_is_undone_once(undone: list[int], tmp_path: Path, to: str) -> None:
    """But for the front, by which it is told what it is."""
    source = compressed(tmp_path)
    size = len(bz2.decompress(source.read_bytes()))
    undone.clear()
    target = io.BytesIO()
    told: list[int] = []
    how: dict[str, Any] = {"progress": lambda read, _: told.append(read)}
    report = serialpack.convert(source, target, to=to, **how)
    assert report.records == len(RECORDS)
    assert size <= sum(undone) < 1.8 * size
    assert told == sorted(told)


def test_where_it_is_damaged_is_said_as_ever(tmp_path: Path) -> None:
    source = compressed(tmp_path, tail=9)
    with pytest.raises(TruncatedError, match=r"x\.ndjson\.bz2"):
        serialpack.convert(source, io.BytesIO(), to="csv")


def test_a_compressed_table_in_a_file_is_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads it keeps it."""
    packed = compressed(tmp_path)
    serialpack.convert(packed, tmp_path / "x.sqlite")
    data = (tmp_path / "x.sqlite").read_bytes()
    packed = tmp_path / "y.sqlite.bz2"
    packed.write_bytes(bz2.compress(data, 1))
    pieces: list[int] = []
    keep = restored._kept

    def counted(copy: Any, piece: bytes, size: int) -> bool:
        pieces.append(len(piece))
        return keep(copy, piece, size)

    monkeypatch.setattr(restored, "_kept", counted)
    target = io.BytesIO()
    assert serialpack.convert(packed, target, to="csv").records == len(RECORDS)
    assert sum(pieces) < len(data)


@pytest.mark.parametrize("fields", [["id", "price"], ["price", "no"]])
def test_of_some_fields_each_block_is_read_once(
    packed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fields: list[str]
) -> None:
    columns = tmp_path / "y.spk"
    serialpack.convert(packed, tmp_path / "y.ndjson")
    serialpack.pack(tmp_path / "y.ndjson", columns, serializer="columns", block_size=16 << 10)
    seen: list[int] = []
    read = Projected._piece

    def counted(self: Projected, number: int) -> Any:
        seen.append(number)
        return read(self, number)

    monkeypatch.setattr(Projected, "_piece", counted)
    target = io.BytesIO()
    report = serialpack.convert(columns, target, to="csv", fields=fields, lossy=["fields"])
    assert report.missing == [name for name in fields if name == "no"]
    assert report.records == len(RECORDS)
    names = ",".join(name for name in fields if name != "no")
    assert target.getvalue().splitlines()[0].decode() == names
    assert len(seen) == len({*seen}) >= 10
