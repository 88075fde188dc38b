"""What is said of sources that are compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import serialpack
from serialpack.compressed._compressions import KINDS
from serialpack.formats.foreign import UNDONE_BY

TEXT = b"by me\n\na;b;c\n1;2;3\n4;5;6\n"


def _packed(data: bytes) -> bytes:
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, format="csv")
    return out.getvalue()


def test_each_compression_has_a_command_that_undoes_it() -> None:
    assert KINDS
    assert {kind.name.lower() for kind in KINDS} <= UNDONE_BY.keys()


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("t.csv.gz", gzip.compress),
        ("t.csv.bz2", bz2.compress),
        ("t.csv.xz", lzma.compress),
        ("t.csv.spk", _packed),
    ],
)
def test_a_command_in_a_hint_reads_what_is_in_the_file(
    name: str, packed: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """It was given the file as it is, of which sed and tail make nothing."""
    path = tmp_path / name
    path.write_bytes(packed(TEXT))
    with pytest.raises(serialpack.ValueRefusedError, match="different lengths") as refused:
        serialpack.convert(path, io.BytesIO(), to="json")
    command = re.search(r"([a-z0-9]+) [^;|]*FILE[^;|]*\| tail -n \+\d+", str(refused.value))
    assert command is not None
    if shutil.which(command[1]) is None and command[1] != "serialpack":
        pytest.skip(f"there is no {command[1]}")
    line = command[0].replace("FILE", str(path))
    line = line.replace("serialpack ", f"{sys.executable} -m serialpack ")
    made = subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout
    assert made == b"a;b;c\n1;2;3\n4;5;6\n"
