"""An array of very many columns: NumPy refuses its header unless it is told its length."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

np = pytest.importorskip("numpy")


def test_the_argument_that_reads_it_is_told(run: Run, tmp_path: Path) -> None:
    names = ",".join(f"column_{number}" for number in range(600))
    (tmp_path / "wide.csv").write_text(f"{names}\n{','.join(['1.5'] * 600)}\n")
    said = run("unpack", "--infer", "wide.csv", "-o", "wide.npy").stderr.decode()
    (most,) = re.findall(r"np\.load reads it with max_header_size=(\d+)\n", said)
    with pytest.raises(ValueError, match="max_header_size"):
        np.load(tmp_path / "wide.npy")
    assert len(np.load(tmp_path / "wide.npy", max_header_size=int(most)).dtype.names) == 600
    (tmp_path / "few.csv").write_text("a,b\n1,2\n")
    assert b"header" not in run("unpack", "--infer", "few.csv", "-o", "few.npy").stderr


def _told(said: bytes) -> list[int]:
    return list(map(int, re.findall(rb"np\.load reads it with max_header_size=(\d+)", said)))


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """An array of a record of 600 fields, whose header is too long for NumPy as it is."""
    kind = [(f"a_column_of_a_table_{number}", "<f8") for number in range(600)]
    np.save(tmp_path / "wide.npy", np.ones(2, kind))
    (tmp_path / "few.csv").write_text("a,b\n1,2\n")
    return tmp_path


@pytest.mark.parametrize("name", ["made.npy", "made.npz", "made.npy.gz", "-"])
def test_it_is_told_wherever_the_array_goes(run: Run, wide: Path, name: str) -> None:
    """It was read from a file of its own name only, which no pipe, .gz or archive is."""
    run("pack", "wide.npy")
    to = "npz" if name.endswith("npz") else "npy"
    (most,) = _told(run("unpack", "wide.npy.spk", "--to", to, "-o", name).stderr)
    assert 10_000 < most < 50_000
    if name == "made.npz":
        with np.load(wide / name, max_header_size=most) as arrays:
            assert all(len(arrays[each].dtype.names) == 600 for each in arrays)
    made = run("unpack", "--infer", "few.csv", "--to", to, "-o", f"few{name}")
    assert not _told(made.stderr)


def test_of_many_files_it_is_told_once(run: Run, wide: Path) -> None:
    folder = wide / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.npy").write_bytes((wide / "wide.npy").read_bytes())
    said = run("unpack", "--to", "npz", "-r", "many", "-o", "out/").stderr
    assert len(_told(said)) == 1
    assert b"40 files: its header is long" in said
