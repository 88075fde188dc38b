"""``--skip-existing``: what an earlier run has made of a source as it is now is left."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run

#: What ``unpack`` makes of a container, by its options.
WAYS: dict[str, tuple[str, ...]] = {
    "pack": ("pack",),
    "unpack": ("unpack",),
    "convert": ("unpack", "--to", "yaml"),
}


def made(folder: Path, way: str) -> tuple[Path, tuple[str | Path, ...]]:
    """A source of one verb or the other, and the command that is run again."""
    source = folder / ("a.json" if way == "pack" else "a.json.spk")
    return source, (*WAYS[way], "--skip-existing", source, "-o", f"{folder}/out/")


@pytest.fixture
def sources(run: Run, tmp_path: Path) -> Path:
    """A file of JSON and its container, both of one time."""
    (tmp_path / "a.json").write_text('{"n": 1}')
    os.utime(tmp_path / "a.json", ns=(10**18 + 123_456_789,) * 2)
    run("pack", tmp_path / "a.json")
    return tmp_path


@pytest.mark.parametrize("seconds", [-86400, -1])
@pytest.mark.parametrize("way", WAYS)
def test_an_output_of_a_source_that_an_older_one_replaced_is_not_left(
    run: Run, sources: Path, way: str, seconds: int
) -> None:
    """Of the same size, it was (mv, cp -p, rsync): the output was whole and no older."""
    source, command = made(sources, way)
    run(*command)
    assert b"is whole and no older, left as it is" in run(*command).stderr
    (sources / "a.json").write_text('{"n": 2}')
    run("pack", "-f", "a.json")
    when = 10**18 + 123_456_789 + seconds * 10**9
    os.utime(source, ns=(when, when))
    (output,) = (sources / "out").iterdir()
    before = output.read_bytes()
    wrong = "is of a newer source" if way == "pack" else "is newer than its source"
    said = run(*command, code=1).stderr.decode()
    assert said == f"serialpack: {output}: exists already, and {wrong}; -f overwrites it\n"
    assert output.read_bytes() == before
    run(*command, "-f")
    assert output.read_bytes() != before
    assert b"left as it is" in run(*command).stderr


def test_a_container_says_its_source_s_time_itself(run: Run, sources: Path) -> None:
    """One that was copied without its time, or is on a disk that keeps seconds, was refused as
    older than its source, or left whatever its source was."""
    _, command = made(sources, "pack")
    run(*command)
    for when in (10**9, 10**18, 2 * 10**18):
        os.utime(sources / "out/a.json.spk", ns=(when, when))
        assert b"left as it is" in run(*command).stderr


@pytest.mark.parametrize("way", ["unpack", "convert"])
def test_a_time_that_is_cut_is_the_same(run: Run, sources: Path, way: str) -> None:
    """A disk that keeps seconds had every output refused as older than its source."""
    _, command = made(sources, way)
    run(*command)
    (output,) = (sources / "out").iterdir()
    for step in (10**9, 10**7, 1000, 100):
        when = 10**18 + 123_456_789 // step * step
        os.utime(output, ns=(when, when))
        assert b"left as it is" in run(*command).stderr


def test_an_output_without_bytes_is_left(run: Run, tmp_path: Path) -> None:
    """What a container of an empty file became was refused: "exists already, and is empty"."""
    (tmp_path / "empty").touch()
    run("pack", "empty")
    command = ("unpack", "--skip-existing", "empty.spk", "-o", "out/")
    run(*command)
    assert b"left as it is" in run(*command).stderr


def test_a_container_of_a_container_is_left(run: Run, sources: Path) -> None:
    """The container in it was held against the size of the one that it was in."""
    run("pack", "-f", "a.json.spk")
    command = ("unpack", "--skip-existing", "a.json.spk.spk", "-o", "out/")
    run(*command)
    assert b"left as it is" in run(*command).stderr
    assert (sources / "out/a.json.spk").read_bytes() == (sources / "a.json.spk").read_bytes()


def test_a_container_that_says_no_time_is_left_where_it_is_no_older(
    run: Run, sources: Path
) -> None:
    """One that was packed from a pipe."""
    run("pack", "-o", "b.json.spk", stdin=(sources / "a.json").read_bytes())
    (sources / "a.json").rename(sources / "b.json")
    assert b"left as it is" in run("pack", "--skip-existing", "b.json").stderr
    assert (
        json.loads(run("inspect", "--json", "b.json.spk").stdout)["members"][0].get("modified")
        is None
    )
