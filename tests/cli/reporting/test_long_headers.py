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
