"""A system that starts no process: it is told so, and not that the input is wrong."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from serialpack.cli.files.cluster_here import running
from serialpack.errors import FileError
from serialpack.unstarted import WorkerNotStartedError
from tests.cli.conftest import environment

#: The command of a Python that is not there any more, as after an update.
COMMAND = """
import sys
sys.executable = "gone"
from serialpack.cli import main
main()
"""

SAID = (
    "no worker process can be started: gone: no such file or directory;"
    " it is to be a Python that may be run"
)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ("bench a.json --budget 1", "a.json: "),
        ("unpack a.h5 -o a.npy", "a.h5: "),
        ("pack a.json --scheduler local", ""),
    ],
)
def test_a_python_that_cannot_be_run_is_named(tmp_path: Path, args: str, named: str) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')
    if "a.h5" in args:
        pytest.importorskip("h5py").File(tmp_path / "a.h5", "w").create_dataset(
            "a", data=np.ones(3)
        )
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *args.split()],
        capture_output=True,
        cwd=tmp_path,
        env=environment(tmp_path),
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.decode() == f"serialpack: {named}{SAID}\n"


def test_a_cluster_of_which_no_worker_comes_up_is_one_line() -> None:
    """It was called an internal error."""

    class Dask:
        @staticmethod
        def LocalCluster(**_: object) -> None:
            try:
                raise RuntimeError("can't start new thread")
            except RuntimeError as error:
                raise RuntimeError("Nanny failed to start.") from error

    pytest.importorskip("dask")
    with (
        pytest.raises(FileError, match="starts no workers: can't start new thread"),
        running(Dask, 1),
    ):
        pass


def test_a_limit_is_told_by_who_knows_it() -> None:
    told = {
        number: WorkerNotStartedError(OSError(number, "no")).hint
        for number in (errno.EAGAIN, errno.EMFILE, errno.ENOENT)
    }
    assert told == {
        errno.EAGAIN: "ulimit -u says how many are permitted",
        errno.EMFILE: "ulimit -n says how many files may be open",
        errno.ENOENT: "it is to be a Python that may be run",
    }
