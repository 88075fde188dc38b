"""What is told of files in containers that are not all there."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.inspection.info import MemberInfo


def _told_of(path: Path) -> MemberInfo:
    (member,) = serialpack.inspect(path).members
    return member


def test_an_array_is_told_by_its_first_block_where_another_is_damaged(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(40_000, dtype="<u4") ** 2)
    packed = tmp_path / "a.npy.spk"
    serialpack.pack(tmp_path / "a.npy", packed, block_size=1 << 16)
    data, blocks = bytearray(packed.read_bytes()), _told_of(packed).blocks
    data[blocks[1].end - 50] ^= 255
    packed.write_bytes(data)
    array = _told_of(packed).array
    assert array is not None
    assert (array.shape, array.maximum) == ((40_000,), None)
    assert array.why.endswith("of which the first 64.0 KiB are looked at")
    data[blocks[0].end - 50] ^= 255
    packed.write_bytes(data)
    with pytest.raises(serialpack.DamagedError, match="block 0"):
        serialpack.inspect(packed)


def test_what_is_in_a_file_is_not_told_where_its_dictionary_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serialpack.dictionaries._known", {})
    for number in range(9):
        np.save(tmp_path / f"{number}.npy", np.arange(number, 200 + number))
        with closing(sqlite3.connect(tmp_path / f"{number}.db")) as database:
            database.execute(f"CREATE TABLE numbers{number} (number INTEGER)")
    dictionary, sources = tmp_path / "trained", [tmp_path / "0.npy", tmp_path / "0.db"]
    serialpack.train_dictionary([*tmp_path.glob("*.npy"), *tmp_path.glob("*.db")], dictionary)
    packed = [Path(f"{source}.spk") for source in sources]
    for source, target in zip(sources, packed, strict=True):
        serialpack.pack(source, target, shared_dict=dictionary)
    array, listed = map(_told_of, packed)
    assert array.dictionary is not None
    assert array.array is not None
    assert listed.dictionary is not None
    assert listed.listing is not None
    dictionary.unlink()
    monkeypatch.setattr("serialpack.dictionaries._known", {})
    array, listed = map(_told_of, packed)
    assert array.dictionary is not None
    assert not array.dictionary.found
    assert (array.array, listed.listing) == (None, None)


def test_owners_of_an_archive_are_told_of_small_files_and_of_large_ones(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "small").write_bytes(b"1")
    (folder / "large").write_bytes(random.Random(1).randbytes(300_000))
    assert run(["pack", "-qr", str(folder), "--archive", "--owner", "-o", f"{folder}.spk"]) == 0
    members = serialpack.inspect(f"{folder}.spk").members
    owners = [entry.owner for member in members for entry in member.entries or ()]
    whose = folder.stat()
    assert owners == [(whose.st_uid, whose.st_gid)] * 3
