"""Small files of a batch are packed as one of their format was before, and become the very same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from serialpack import SerialpackError, api
from serialpack.auto.choice import LEAST
from serialpack.cli.files.batch import Begins, FileJob
from serialpack.cli.files.fast_path import AlikePacker
from serialpack.cli.files.workers import file_packer
from serialpack.files.output import OutputGroup
from serialpack.pipeline.line import Progress
from serialpack.pipeline.settle import settle
from serialpack.reports import PackReport, UnpackReport
from tests.formats.test_arrays_layout import npy
from tests.noise import noise
from tests.pipeline.test_alone import JSON, SOURCES, calls

if TYPE_CHECKING:
    from serialpack.archive.write import PackOptions

HOWS: list[dict[str, Any]] = [
    {},
    {"verify": False, "meta": {"by": "me"}},
    {"serializer": "json", "codec": "none"},
    {"serializer": "columns"},
    {"format": "bytes"},
    {"block_size": 16},
    {"effort": 9},
    {"codec": "pcodec"},
    {"filters": ["shuffle"], "codec": "zstd"},
]


#: Of one format, and each packed in a way of its own.
ARRAYS = {
    "floats.npy": npy(np.asarray(np.sin(np.arange(300)), "<f4")),
    "prices.npy": npy(np.asarray(np.round(np.cos(np.arange(300)) * 50, 2), "<f8")),
    "swapped.npy": npy(np.asarray(np.arange(300) ** 2, ">i4")),
    "noise.npy": npy(np.asarray(np.frombuffer(noise(1200), "u1"), "u1")),
    "again.npy": npy(np.asarray(np.tile(np.frombuffer(noise(64), "u1"), 20), "u1")),
    "words.npy": npy(np.asarray(["ab", "cd"] * 90, "U2")),
}


#: So many files are begun together.
TOGETHER = 7


def outcomes(work: Callable[[FileJob, Progress], Any], jobs: Iterable[FileJob]) -> list[Any]:
    """What comes of each of some files: bytes, mode, time and report, the report alone of what
    writes no file; or what it raises."""
    made: list[Any] = []
    left = list(jobs)
    while left:
        here, left = left[:TOGETHER], left[TOGETHER:]
        with OutputGroup() as group:
            if isinstance(work, Begins):
                work.begin(here)
            for job in here:
                try:
                    made.append((job.target, work(job, lambda *_: None)))
                except SerialpackError as error:
                    made.append((type(error), error.said, error.path))
            assert not group.commit()
    return [_found(*each) if len(each) == 2 else each for each in made]


def _found(out: str | None, report: PackReport | UnpackReport | None) -> Any:
    if report is None:
        return None
    assert report.target == out
    told = report._replace(target="", seconds=dict.fromkeys(report.seconds, 0.0))
    if out is None:
        return told
    path = Path(out)
    return path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns, told


class Batch:
    """Packs files into a folder, as the command line does in one worker."""

    def __init__(self, folder: Path, **how: Any) -> None:
        self.folder = folder
        folder.mkdir()
        self.how = {"threads": 1, **how}
        #: Those that went the general way.
        self.general: list[str] = []
        self.pack = AlikePacker(self._general, cast("PackOptions", how))

    def _general(self, job: FileJob, progress: Any) -> PackReport:
        self.general.append(job.path)
        assert job.target is not None
        return api.pack(job.path, job.target, progress=progress, **self.how)

    def __call__(self, *sources: Path, target: str = "") -> list[Any]:
        """See ``outcomes``."""
        return outcomes(self.pack, self._jobs(sources, target))

    def _jobs(self, sources: Iterable[Path], target: str) -> Iterator[FileJob]:
        for source in sources:
            size = source.stat().st_size if source.exists() else 7
            out = self.folder / (target or f"{source.name}.spk")
            yield FileJob(str(source), str(out), size=size)


def sources(folder: Path) -> list[Path]:
    """``SOURCES`` and ``ARRAYS``, and the small ones once more."""
    folder.mkdir()
    found = []
    for number in range(2):
        for name, data in {**SOURCES, **ARRAYS}.items():
            if number and len(data) > LEAST:
                continue
            path = folder / f"{number}{name}"
            path.write_bytes(data)
            path.chmod(0o600 + 0o44 * number)
            os.utime(path, ns=(number, 10**18 + number))
            found.append(path)
    return found


@pytest.mark.parametrize("how", HOWS)
def test_what_is_packed_alike_is_what_is_packed_by_itself(
    tmp_path: Path, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers, their modes and times, reports and refusals."""
    paths = sources(tmp_path / "in")
    batch = Batch(tmp_path / "alike", **how)
    alike = batch(*paths)
    assert how.keys() & {"serializer", "block_size"} or len(batch.general) < len(paths) * 2 / 3
    monkeypatch.setattr("serialpack.cli.files.fast_path.LEAST", 0)
    general = Batch(tmp_path / "general", **how)
    assert alike == general(*paths)
    assert len(general.general) == len(paths)


def test_only_the_first_of_its_kind_goes_the_general_way(tmp_path: Path) -> None:
    batch = Batch(tmp_path / "out")
    paths = [tmp_path / f"{number}.{kind}" for number in range(5) for kind in ("json", "csv")]
    for path in paths:
        path.write_bytes(JSON)
    batch(*paths)
    assert batch.general == [str(path) for path in paths[:2]]


def test_each_array_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with stages that none before it had was looked at again, to be packed the general way."""
    looked: list[str] = []

    def told(*about: Any) -> Any:
        looked.append(about[1])
        return settle(*about)

    monkeypatch.setattr("serialpack.cli.files.fast_path.settle", told)
    batch = Batch(tmp_path / "out")
    paths = [tmp_path / f"{number}{name}" for number in range(2) for name in ARRAYS]
    for path in paths:
        path.write_bytes(ARRAYS[path.name[1:]])
    batch(*paths)
    assert batch.general == [str(paths[0])]
    assert len(looked) == len(paths) - 1


def test_what_is_packed_alike_passes_few_functions(tmp_path: Path) -> None:
    """About 110 in Python."""
    source = tmp_path / "a.json"
    source.write_bytes(JSON * 20)
    pack = Batch(tmp_path / "out").pack
    jobs = [FileJob(str(source), str(tmp_path / "out" / name), size=1) for name in "abc"]
    with OutputGroup():
        pack(jobs.pop(), lambda *_: None)
        assert calls(lambda: pack(jobs.pop(), lambda *_: None)) < 130


def test_a_call_knows_nothing_of_the_one_before(tmp_path: Path) -> None:
    """A large file says nothing of small ones, whatever was packed before in this process."""
    (tmp_path / "a.json").write_bytes(JSON)
    (tmp_path / "b.json").write_bytes(JSON * 1000)
    Batch(tmp_path / "1", meta={"by": "me"})(tmp_path / "a.json")
    batch = Batch(tmp_path / "2")
    batch(tmp_path / "b.json", tmp_path / "a.json")
    assert len(batch.general) == 2


def test_what_is_not_plain_goes_the_general_way(tmp_path: Path) -> None:
    """Which has the words for it, and touches nothing that is there."""
    plain = tmp_path / "a.json"
    plain.write_bytes(JSON)
    batch = Batch(tmp_path / "out")
    batch(plain)
    (tmp_path / "out" / "link").symlink_to("nowhere")
    (tmp_path / "container.json").write_bytes((tmp_path / "out" / "a.json.spk").read_bytes())
    for source, target, says in (
        (plain, "a.json.spk", "exists already"),
        (plain, "link", "exists already"),
        (plain, "none/a.spk", "its folder does not exist"),
        (tmp_path / "none.json", "b", "cannot read: no such file or directory"),
        (tmp_path / "container.json", "b", "is a serialpack file already"),
        (tmp_path, "b", "is a folder"),
    ):
        assert says in batch(source, target=target)[0][1]
    assert len(batch.general) == 7
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.json.spk", "link"]


def test_what_was_begun_is_not_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no more than was begun is left to be called for."""
    paths = [tmp_path / f"{number}.json" for number in range(4)]
    for path in paths:
        path.write_bytes(JSON)
    batch = Batch(tmp_path / "out")
    batch(paths[0])
    jobs = list(batch._jobs(paths[1:], ""))
    batch.pack.begin(jobs)
    monkeypatch.delattr("serialpack.cli.files.fast_path.os.read")
    with OutputGroup() as group:
        assert [batch.pack(job, lambda *_: None).source for job in jobs] == [*map(str, paths[1:])]
        assert not group.commit()
    assert batch.general == [str(paths[0])]
    monkeypatch.undo()
    batch.pack.begin(jobs[:1])
    batch.pack.begin(jobs[1:])
    assert [*batch.pack._begun] == []  # their outputs are there


def test_a_source_that_is_written_to_meanwhile_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a.json"
    source.write_bytes(JSON)
    batch = Batch(tmp_path / "out")
    batch(source)
    read = os.read

    def grows(fd: int, size: int) -> bytes:
        data = read(fd, size)
        source.write_bytes(JSON * 2)
        return data

    monkeypatch.setattr("serialpack.cli.files.fast_path.os.read", grows)
    assert batch(source, target="b")[0][3].size == 2 * len(JSON)
    assert len(batch.general) == 2


def test_a_packer_of_files_needs_no_more_than_what_is_asked(tmp_path: Path) -> None:
    source, target = tmp_path / "x.json", tmp_path / "x.json.spk"
    source.write_bytes(JSON)
    file_packer({"serializer": "json"}, force=False)(
        FileJob(str(source), str(target)), lambda *_: None
    )
    assert target.exists()
