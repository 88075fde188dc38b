"""Entries of npz files that are told by what they are."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.errors import RefusedError, SerialpackError
from serialpack.formats.arrays import zipped
from tests.formats.test_npy import saved
from tests.formats.test_npz import converted, encrypted, entries

#: Where the first entry says how many bytes its name has, the higher byte (APPNOTE.TXT, 4.3.7).
_NAME_SIZE = 27


def test_an_encrypted_entry_is_said_to_be_that() -> None:
    """It told what zipfile calls an entry."""
    with pytest.raises(SerialpackError, match=r"'a\.npy': it is encrypted; unzip takes it out"):
        converted(encrypted(entries({"a.npy": saved(np.zeros(3))})), "json")


def test_an_entry_without_a_name() -> None:
    """It was an internal error."""
    data = entries({"?name": b"", "a.npy": saved(np.zeros(1))}).replace(b"?name", b"\0name")
    with pytest.raises(SerialpackError, match="entries that are no arrays would be lost: ''"):
        converted(data, "json")
    assert converted(data, "json", lossy=["around"]) == b'{"a":[0.0]}\n'


def test_the_small_arrays_of_a_packed_one_are_told_beside_the_large(tmp_path: Path) -> None:
    """Only those that have blocks of their own were; of others alone, none."""
    columns = {"large": np.arange(20_000.0), "small": np.zeros((2, 3), "i2"), "one": np.array(1)}
    for left in (columns, {"small": columns["small"]}):
        data = entries({f"{n}.npy": saved(a) for n, a in left.items()}, zipfile.ZIP_STORED)
        (tmp_path / "a.npz").write_bytes(data)
        serialpack.pack(tmp_path / "a.npz", tmp_path / "a.spk", force=True)
        (member,) = serialpack.inspect(tmp_path / "a.spk").members
        assert list(member.holds) == list(left)
        assert member.holds["small"] == "<i2, 2 x 3, C order"


def test_a_damaged_entry_is_told_in_a_short_line() -> None:
    """It told the name that the entry claims to have: of a kilobyte, all that stands behind it."""
    data = bytearray(entries({"a.npy": saved(np.zeros(3000))}, zipfile.ZIP_STORED))
    data[_NAME_SIZE] ^= 1 << 3  # 2048 bytes more
    with pytest.raises(
        SerialpackError, match=r"its entry 'a\.npy': File name in directory"
    ) as told:
        converted(bytes(data), "json")
    assert len(str(told.value)) < 400


@pytest.mark.parametrize("name", ["npz", "hdf5"])
def test_what_is_written_may_be_larger_than_what_is_read_as_values(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of 80 MB was refused, as its proof was read like a file of somebody else's."""
    pytest.importorskip("h5py")
    monkeypatch.setattr(zipped, "_MOST", 100)
    source, target = tmp_path / "a.ndjson", tmp_path / f"a.{name}"
    source.write_text("".join(f'{{"x":{x}}}\n' for x in range(50)))
    serialpack.convert(source, target)
    assert run(["unpack", "--at", "x", str(target), "-o", str(tmp_path / "x.npy")]) == 0
    assert np.load(tmp_path / "x.npy").tolist() == list(range(50))
    with pytest.raises(RefusedError, match="more than are read as values"):
        serialpack.convert(target, tmp_path / "a.json")
