"""Small containers of a batch are unpacked as those before them, and become the very same."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from serialpack import SerialpackError, api
from serialpack.cli.files.batch import FileJob
from serialpack.cli.files.fast_path import AlikeUnpacker
from serialpack.cli.files.workers import file_unpacker
from serialpack.container.small import START_SMALL
from serialpack.files.output import OutputGroup
from serialpack.reports import UnpackReport
from tests.cli.files.test_fast_path import outcomes
from tests.pipeline.test_alone import CHAINS, JSON, SOURCES, calls

ROOT = Path(__file__).parents[2]
HOW: dict[str, Any] = {"trust": False, "force": False, "max_size": None}


class Batch:
    """Unpacks files into a folder, as the command line does in one worker."""

    def __init__(self, folder: Path, *, alike: bool = True, **how: Any) -> None:
        self.folder = folder
        folder.mkdir()
        made = file_unpacker({**HOW, **how}, None)
        assert isinstance(made, AlikeUnpacker)
        self._general_way = made._unpack
        made._unpack = self._general
        self.unpack: Any = made if alike else self._general
        #: Those that went the general way.
        self.general: list[str] = []

    def _general(self, job: FileJob, progress: Any) -> UnpackReport | None:
        self.general.append(job.path)
        return self._general_way(job, progress)

    def __call__(self, *sources: Path, writes: bool = True) -> list[Any]:
        """See ``outcomes``."""
        return outcomes(self.unpack, self._jobs(sources, writes))

    def _jobs(self, sources: Iterable[Path], writes: bool) -> Iterator[FileJob]:
        for number, source in enumerate(sources):
            out = str(self.folder / str(number)) if writes else None
            yield FileJob(str(source), out, size=source.stat().st_size)


def containers(folder: Path) -> list[Path]:
    """Sources through chains, some with what is seldom in a header."""
    folder.mkdir()
    found: list[Path] = []
    hows: list[dict[str, Any]] = [{}, {"verify": False, "meta": {"by": "me"}}]
    for serializer, codec in CHAINS:
        for number, (name, data) in enumerate(SOURCES.items()):
            for more in hows if (serializer, codec) == CHAINS[0] else hows[:1]:
                path = folder / f"{len(found)}.spk"
                identity: Any = (name, number) if number % 4 else ("\udcff", None)
                how = {**more, "serializer": serializer, "codec": codec, "threads": 1}
                try:
                    api.pack(io.BytesIO(data), path, identity=identity, **how)
                except SerialpackError:
                    continue
                path.chmod(0o600 + 0o44 * (number % 2))
                os.utime(path, ns=(number, 10**18 + number))
                found.append(path)
    return found


def test_what_is_unpacked_alike_is_what_is_unpacked_by_itself(tmp_path: Path) -> None:
    """Files, their modes and times, and reports; also where they are only tested."""
    paths = containers(tmp_path / "in")
    batch = Batch(tmp_path / "alike")
    general = Batch(tmp_path / "general", alike=False)
    for writes in (True, False):
        assert batch(*paths, writes=writes) == general(*paths, writes=writes)
    assert len(batch.general) < len(general.general) * 2 / 3
    assert len(general.general) == 2 * len(paths)


@pytest.mark.parametrize("folder", ["golden", "bad"])
def test_all_that_there_is_comes_to_the_same(folder: str, tmp_path: Path) -> None:
    """What was written by any version, and what is damaged."""
    paths = [path for path in sorted((ROOT / folder).rglob("*.spk")) if path.stat().st_size < 1000]
    for path in paths:  # those of the small form have no time, and get that of now
        if not path.read_bytes().startswith(START_SMALL):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    paths = sorted(tmp_path.glob("*.spk"))
    assert len(paths) > 20
    alike, general = (Batch(tmp_path / str(way), alike=way)(*paths) for way in (True, False))
    assert alike == general


def test_each_byte_of_a_container_counts(tmp_path: Path) -> None:
    whole = tmp_path / "a.spk"
    api.pack(io.BytesIO(JSON), whole, identity=("a.json", 1))
    data, paths = whole.read_bytes(), [whole]
    for at in range(len(data)):
        paths.append(tmp_path / f"{at}.spk")
        paths[-1].write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    paths.append(tmp_path / "twice.spk")
    paths[-1].write_bytes(2 * data)
    batch = Batch(tmp_path / "alike")
    assert batch(*paths) == Batch(tmp_path / "general", alike=False)(*paths)
    assert batch.general == [str(path) for path in paths[1:]]


def test_what_is_unpacked_alike_passes_few_functions(tmp_path: Path) -> None:
    """About 90 in Python; 250 the general way."""
    source = tmp_path / "a.spk"
    api.pack(io.BytesIO(JSON), source, identity=("a.json", 1))
    unpack = Batch(tmp_path / "out").unpack
    jobs = [FileJob(str(source), str(tmp_path / "out" / name), size=1) for name in "abc"]
    with OutputGroup():
        assert calls(lambda: unpack(jobs.pop(), lambda *_: None)) < 100


def test_what_runs_code_is_asked_for_each_time(tmp_path: Path) -> None:
    paths = [tmp_path / "0.spk", tmp_path / "1.spk"]
    for path in paths:
        api.pack(io.BytesIO(b"\x80\x04N."), path, format="pickle", serializer="pickle", trust=True)
    for found in Batch(tmp_path / "out")(*paths):
        assert "can run any code" in found[1]


def test_a_limit_is_for_the_general_way() -> None:
    assert not isinstance(file_unpacker({**HOW, "max_size": 9}, None), AlikeUnpacker)
