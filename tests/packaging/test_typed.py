"""The annotations of the library, as a type checker of a user's program reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

import serialpack

pytest.importorskip("mypy")

from mypy import api

PROGRAM = """
import array
import gzip
import io
import mmap
from pathlib import Path
from typing import Any

import serialpack
from serialpack import PackReport, UnpackReport

def work(folder: Path, mapped: mmap.mmap) -> None:
    packed: PackReport = serialpack.pack(folder / "a.json", io.BytesIO(), effort=5)
    with gzip.open(folder / "a.gz", "wb") as file:
        serialpack.dump({"a": 1}, file, "msgpack", verify=False, meta={"by": "me"})
        unpacked: UnpackReport = serialpack.unpack(str(folder / "a.spk"), file)
    with gzip.open(folder / "a.gz") as again:
        value: Any = serialpack.load(again, trust=False, mmap_mode="r")
    data: bytes = serialpack.dumps([value], "json")
    for each in (data, bytearray(data), memoryview(data), array.array("B", data), mapped):
        serialpack.loads(each)
    with serialpack.open(folder / "a.spk") as records:
        count: int = len(records)
        some: list[Any] = [record for record in records[0:2]]
    print(packed.packed, unpacked.size, count, some, serialpack.inspect(folder / "a.spk"))
    serialpack.dump(1, file, nothing=2)
"""


@pytest.mark.slow
def test_a_program_of_a_user_passes_strictly(tmp_path: Path) -> None:
    """A file of gzip was none to it, and a map of a file no buffer."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {Path(serialpack.__file__).parents[1]}\n"
    )
    options = ["--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}/cache"]
    said, errors, _ = api.run(
        [*options, f"--config-file={tmp_path}/mypy.ini", str(tmp_path / "program.py")]
    )
    assert not errors
    assert "nothing" in said  # which there is not
    assert "Found 1 error" in said, said
