"""Files that processes do in groups, of which one ends its process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from serialpack.cli.files.batch import Batch, Commit, FileJob
from serialpack.errors import FileError, SerialpackError
from serialpack.files.output import Output
from serialpack.pipeline.processes import WorkerEnded
from serialpack.reports import ConvertReport


def copier() -> Callable[[FileJob, Any], ConvertReport]:
    """What copies a file; of some names it does not come back."""

    def copy(job: FileJob, progress: Callable[[int, int], object]) -> ConvertReport:
        assert job.target is not None
        name = Path(job.path).name
        with Output(job.target) as output:
            output.write(Path(job.path).read_bytes())
            progress(0, 0)
            if name == "ends":
                os._exit(9)
        if name == "fails":
            raise FileError("cannot be copied", path=job.path)
        empty: list[Any] = []
        seconds = {"copy": 0.1}
        return ConvertReport(
            job.path, job.target, "", "", 1, 1, None, empty, 0, empty, True, True, seconds
        )

    return copy


def jobs_of(folder: Path, names: str) -> list[FileJob]:
    (folder / "in").mkdir()
    for name in names.split():
        (folder / "in" / name).write_text(name)
    out = str(folder / "out")
    return [
        FileJob(str(folder / "in" / name), f"{out}/{name}", size=10, folder=out)
        for name in names.split()
    ]


@pytest.mark.parametrize("each", [False, True], ids=["group", "each"])
def test_only_the_file_that_ends_a_process_fails(tmp_path: Path, each: bool) -> None:
    """Those that were in a group with it are done once more, in another process."""
    jobs = jobs_of(tmp_path, "a b c ends d fails e f g")
    batch = Batch(jobs, copier, Commit(each, False), processes=1, alone=None)
    found = {}
    for job in jobs:
        assert job.path in batch
        try:
            found[Path(job.path).name] = batch.report(job.path).target
        except SerialpackError as error:
            found[Path(job.path).name] = type(error).__name__
    assert found.pop("ends") == WorkerEnded.__name__
    assert found.pop("fails") == FileError.__name__
    assert found == {name: str(tmp_path / "out" / name) for name in "abcdefg"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*"abcdefg"}
    batch.stop()


def test_what_keeps_all_from_being_done_is_said_of_all(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, "a b c")
    batch = Batch(jobs, nothing, Commit(False, False), processes=1, alone=None)
    for job in jobs:
        with pytest.raises(FileError, match="no tools"):
            batch.report(job.path)


def nothing() -> Callable[[FileJob, Any], ConvertReport]:
    raise FileError("there are no tools")


def test_large_files_are_left_to_the_caller(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, "a b")
    jobs[1] = jobs[1]._replace(size=1000)
    batch = Batch(jobs, copier, Commit(False, False), processes=0, alone=999)
    assert jobs[1].path not in batch
    assert batch.report(jobs[0].path).target == jobs[0].target


def test_once_it_is_stopped_no_process_takes_the_place_of_one_that_ended(tmp_path: Path) -> None:
    """After Ctrl-C another was started, which wrote on until it saw that its parent was gone."""
    jobs = jobs_of(tmp_path, "ends a b c d e")
    batch = Batch(jobs, copier, Commit(False, False), processes=1, alone=None)
    batch._processes[0].stopped = True
    with pytest.raises(WorkerEnded):
        batch.report(jobs[0].path)
    with pytest.raises(WorkerEnded):  # of those that were to follow, too
        batch._processes[0](jobs[1:2])
    assert batch._processes[0].worker is None
    assert not [*(tmp_path / "out").iterdir()]
