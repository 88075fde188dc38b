"""A container of what is looked at before it is written is restored once, not twice."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.conversion import restored
from serialpack.pipeline.blocks import BlockUnpacker

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
