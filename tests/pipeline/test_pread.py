"""Files that processes have in common after a fork, and with them the place where they stand."""

from __future__ import annotations

import io
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import serialpack
from serialpack.pipeline.pread import unshared

pytestmark = pytest.mark.skipif(not hasattr(os, "preadv"), reason="no reading by place here")


def test_it_reads_as_the_file_does_and_leaves_its_place(tmp_path: Path) -> None:
    data = bytes(range(256)) * 200
    (tmp_path / "a").write_bytes(data)
    with (tmp_path / "a").open("rb") as file:
        file.seek(7)
        other = unshared(file)
        for start, size in ((0, 10), (40_000, 20_000), (51_190, 30), (60_000, 5), (3, 0)):
            assert other.seek(start) == start
            assert other.read(size) == data[start : start + size]
        assert other.seek(-2, os.SEEK_END) == len(data) - 2
        assert other.read() == data[-2:]
        assert file.tell() == os.lseek(file.fileno(), 0, os.SEEK_CUR) == 7
        other.seek(0)
    with pytest.raises(ValueError, match="closed"):
        other.read(1)


def test_another_file_is_read_as_it_is() -> None:
    for file in (io.BytesIO(b"abc"), io.BufferedReader(io.BytesIO(b"abc"))):
        assert unshared(file) is file


def test_lazy_arrays_and_records_do_not_move_the_place(tmp_path: Path) -> None:
    """Workers that had one by a fork said that the file was damaged."""
    array = np.random.default_rng(1).random((900, 100))
    serialpack.dump(array, tmp_path / "a.spk", "objects+zstd:1")
    (tmp_path / "r.ndjson").write_text("".join(f'{{"n": {n}}}\n' for n in range(9000)))
    serialpack.pack(tmp_path / "r.ndjson", tmp_path / "r.spk", block_size=65536)
    with (tmp_path / "a.spk").open("rb") as file, (tmp_path / "r.spk").open("rb") as other:
        lazy = serialpack.load(file, mmap_mode="r")
        records = serialpack.open(other)
        for each in (file, other):
            os.lseek(each.fileno(), 5, os.SEEK_SET)
        assert (lazy[500:510] == array[500:510]).all()
        assert records[8000] == {"n": 8000}
        for each in (file, other):
            assert os.lseek(each.fileno(), 0, os.SEEK_CUR) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of threads, which are the point
def test_a_fork_while_a_thread_reads_reads_on(tmp_path: Path) -> None:
    serialpack.dump(np.arange(200_000), tmp_path / "a.spk", "objects+zstd:1")
    lazy = serialpack.load(tmp_path / "a.spk", mmap_mode="r")
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lazy._stored._locked():
            locked.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if lazy[7] == 7 else 1)
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        done.set()
        thread.join()
