"""``--skip-existing``: what an earlier run has made of a source as it is now is left."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from serialpack.cli.reporting.tally import TESTED, Tally
from tests.cli.conftest import Run
from tests.docs.test_schemas import check
from tests.injected import injected
from tests.noise import noise

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


@pytest.mark.parametrize("way", WAYS)
def test_an_output_that_is_older_than_its_source_is_said_to_be(
    run: Run, sources: Path, way: str
) -> None:
    source, command = made(sources, way)
    run(*command)
    os.utime(source, ns=(10**18 + 10**11,) * 2)
    assert b"exists already, and is older than its source; -f" in run(*command, code=1).stderr


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
    """A disk that keeps seconds, or every other (FAT), had every output refused as older than its
    source."""
    source, command = made(sources, way)
    run(*command)
    (output,) = (sources / "out").iterdir()
    for step in (10**9, 10**7, 1000, 100):
        when = 10**18 + 123_456_789 // step * step
        os.utime(output, ns=(when, when))
        assert b"left as it is" in run(*command).stderr
    os.utime(source, ns=(10**18 + 10**9, 10**18 + 10**9))
    os.utime(output, ns=(10**18, 10**18))
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Small files of two kinds, a large one, an empty folder and a link, of times long ago."""
    folder = tmp_path / "in"
    (folder / "x/empty").mkdir(parents=True)
    for number in range(5):
        (folder / f"{number}.json").write_text(f'{{"n": {number}}}')
    (folder / "x/large").write_bytes(noise(100_000))
    (folder / "x/text.txt").write_text("text\n")
    if os.name == "posix":
        (folder / "link").symlink_to("0.json")
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(10**18 + 5, 10**18 + 5))
    return folder


def test_an_archive_of_its_sources_as_they_are_is_left(run: Run, folder: Path) -> None:
    """``--skip-existing`` was not heeded: that it exists already was an error, and with -f it was
    made anew each time."""
    command = ("pack", "-r", "in", "--archive", "-o", "in/all.spk", "--skip-existing")
    run(*command)
    archive = folder / "all.spk"
    before = archive.stat()
    for more in ((), ("-f",)):
        done = run(*command, *more, "--json")
        said = done.stderr.decode()
        assert (
            "in/all.spk: has all its sources as they are, left as it is\n0 packed, 7 left" in said
        )
        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(told) == 7
        for line in told:
            check("left", line)
        assert (archive.stat().st_ino, archive.stat().st_mtime_ns) == (
            before.st_ino,
            before.st_mtime_ns,
        )
    said = run(*command, "--dry-run").stderr.decode()
    assert said.endswith("would be left as it is\n")


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda of: (of / "0.json").write_text("[]"), "its entry in/0.json is of another size"),
        (lambda of: os.utime(of / "1.json"), "its entry in/1.json is older than its source"),
        (
            lambda of: os.utime(of / "x/large", (1, 1)),
            "its entry in/x/large is newer than its source",
        ),
        (lambda of: (of / "new").touch(), "has no entry in/new"),
        (lambda of: (of / "2.json").unlink(), "has 1 other entry"),
        (lambda of: (of / "x/text.txt").chmod(0o600), "its entry in/x/text.txt has another mode"),
    ],
)
def test_an_archive_of_other_sources_is_not_left(
    run: Run, folder: Path, change: Callable[[Path], object], wrong: str
) -> None:
    """What is wrong with it is said, and with -f it is made anew."""
    (folder / "x/text.txt").chmod(0o644)
    command = ("pack", "-r", "in", "--archive", "-o", "all.spk", "--skip-existing")
    run(*command)
    change(folder)
    said = run(*command, code=1).stderr.decode()
    assert f"all.spk: exists already, and {wrong}; -f overwrites it\n" in said
    assert b" packed, " in run(*command, "-f").stderr
    assert b"left as it is" in run(*command).stderr


_REMOVING = ("pack", "-r", "in", "--archive", "--rm", "-o", "all.spk")


@pytest.mark.parametrize("more", [(), ("--skip-existing",)])
def test_a_run_that_was_killed_while_it_removed_goes_on(
    run: Run, folder: Path, more: tuple[str, ...]
) -> None:
    """It asked for another name. What is left is held against the archive, byte for byte."""
    files = (each for each in folder.rglob("*") if each.is_file() and not each.is_symlink())
    before = {path: path.read_bytes() for path in files}
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    removed = "import os\nreal = os.unlink\ndef unlink(path):\n    real(path)\n    os._exit(0)\n"
    env = injected(folder.parent / "site", removed + "os.unlink = unlink\n")
    run(*_REMOVING, "--journal", "kept.log", env=env)
    (gone,) = (path for path in before if not path.exists())
    line = f'{{"source": "in/{gone.relative_to(folder)}", "target": "all.spk", "left": true}}\n'
    assert line in (folder.parent / "kept.log").read_text()
    left = len(before) - 1
    said = run(*_REMOVING, *more, "--dry-run").stderr.decode()
    assert said.count("would remove in/") == left
    said = run(*_REMOVING, *more).stderr.decode()
    assert f"all.spk: has the very bytes of {left} sources, now removed, left as it is\n" in said
    assert not any(path.exists() for path in before)
    assert "has all its sources as they are" in run(*_REMOVING, *more).stderr.decode()
    run("unpack", "--skip-existing", "all.spk", "-o", ".")
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("name", "data", "wrong"),
    [
        ("1.json", b"[0]", "its entry in/1.json is of another size"),
        ("1.json", None, "its entry in/1.json has other bytes"),
        ("x/large", None, "its entry in/x/large has other bytes"),
        ("new", b"", "has no entry in/new"),
    ],
)
def test_an_archive_is_not_written_over_where_its_sources_may_be_gone(
    run: Run, folder: Path, name: str, data: bytes | None, wrong: str
) -> None:
    """Of a run with --rm that was killed, "-f overwrites it" lost what was removed already."""
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    (folder / "0.json").unlink()
    path = folder / name
    found = path.stat() if path.exists() else None
    path.write_bytes(path.read_bytes().swapcase()[::-1] if data is None else data)
    if data is None and found is not None:
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    there = sorted(folder.rglob("*"))
    for more in ((), ("--skip-existing",), ("--skip-existing", "-f")):
        said = run(*_REMOVING, *more, code=1).stderr.decode()
        assert f"serialpack: all.spk: exists already, and {wrong}; " in said
        assert "; -o names another\n" in said
        assert sorted(folder.rglob("*")) == there
    run("unpack", "all.spk", "-o", "back")


def test_an_archive_that_is_not_brought_to_disk_removes_nothing(run: Run, folder: Path) -> None:
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    there = sorted(folder.rglob("*"))
    failing = (
        "import os\ndef fsync(fd):\n    raise OSError(5, 'input/output error')\nos.fsync = fsync\n"
    )
    said = run(*_REMOVING, env=injected(folder.parent / "site", failing), code=1).stderr.decode()
    assert "serialpack: all.spk: cannot bring to disk: input/output error\n" in said
    assert sorted(folder.rglob("*")) == there


def test_a_damaged_archive_is_not_taken_for_its_sources(run: Run, folder: Path) -> None:
    (folder / "x/large").write_bytes(noise(200_000))
    run("pack", "-r", "in", "--archive", "-o", "all.spk", "--block-size", "64K")
    archive = folder.parent / "all.spk"
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    archive.write_bytes(data)
    there = sorted(folder.rglob("*"))
    said = run(*_REMOVING, code=1).stderr.decode()
    assert "all.spk: exists already, and in/x/large in it cannot be compared: its checksum" in said
    assert sorted(folder.rglob("*")) == there


@pytest.mark.parametrize(
    "what", ["records", "bytes", "salvage", "entry", "converted entry", "pipe"]
)
@pytest.mark.usefixtures("folder")
def test_what_times_do_not_tell_is_made_again_and_left_where_it_is_the_same(
    run: Run, tmp_path: Path, what: str
) -> None:
    """``--skip-existing`` was not heeded: that it exists already was an error."""
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    run("pack", "rows.csv")
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    stdin = (tmp_path / "rows.csv").read_bytes() if what == "pipe" else b""
    asked: dict[str, tuple[str, ...]] = {
        "records": ("unpack", "--records", "0:1", "rows.csv.spk", "-o", "some"),
        "bytes": ("unpack", "--bytes", "0:5", "rows.csv.spk", "-o", "some"),
        "salvage": ("unpack", "--salvage", "rows.csv.spk", "-o", "some"),
        "entry": ("unpack", "--include", "in/0.json", "--records", "0:1", "all.spk", "-o", "some"),
        "converted entry": (
            "unpack",
            "--include",
            "in/0.json",
            "--to",
            "yaml",
            "all.spk",
            "-o",
            "some",
        ),
        "pipe": ("pack", "-", "-o", "some"),
    }
    command = (*asked[what], "--skip-existing")
    run(*command, stdin=stdin)
    some = tmp_path / "some"
    before, inode = some.read_bytes(), some.stat().st_ino
    said = run(*command, stdin=stdin).stderr.decode()
    assert said.endswith("some is there already, and left: the bytes are the same\n")
    assert (some.read_bytes(), some.stat().st_ino) == (before, inode)
    some.write_bytes(before + b"more")
    said = run(*command, stdin=stdin, code=1).stderr.decode()
    assert (
        "some: exists already, and is not what its source becomes now; -f alone overwrites" in said
    )
    run(*command, "-f", stdin=stdin)
    assert some.read_bytes() == before


def test_salvaged_again_what_is_lost_is_said_again(run: Run, tmp_path: Path) -> None:
    """An output of before is left, and the exit code is that of what is lost."""
    for name in "ab":
        (tmp_path / name).write_bytes(noise(300_000, ord(name)))
        run("pack", name, "--block-size", "64K", "--rm")
    data = bytearray((tmp_path / "a.spk").read_bytes())
    data[150_000] ^= 1
    (tmp_path / "a.spk").write_bytes(data)
    command = ("unpack", "--salvage", "--skip-existing", "a.spk", "b.spk")
    first = run(*command, code=3).stderr.decode()
    again = run(*command, code=3).stderr.decode()
    assert "a.spk: lost: block " in first
    assert "a.spk: lost: block " in again
    assert again.count("is there already, and left: the bytes are the same") == 2


def test_a_plan_says_what_would_be_left(run: Run, sources: Path) -> None:
    """It said that the outputs exist already, as an error."""
    (sources / "b.json").write_text("[1]")
    run("pack", "a.json", "-o", "out/")
    said = run(
        "pack", "--dry-run", "--skip-existing", "a.json", "b.json", "-o", "out/"
    ).stderr.decode()
    assert said.splitlines() == [
        "a.json: out/a.json.spk is whole and no older, would be left as it is",
        "would pack b.json to out/b.json.spk as raw+zstd:3",
    ]


def test_entries_that_are_left_are_told_by_the_schema(run: Run, folder: Path) -> None:
    """Their lines have the entry, which it did not know."""
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    shutil.rmtree(folder / "x/empty")
    done = run("unpack", "--json", "--skip-existing", "all.spk", "-o", ".")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    left = [line for line in told if "left" in line]
    assert len(left) == 7
    for line in left:
        check("left", line)


@pytest.mark.parametrize("size", [3, 9_000_000])
def test_a_large_source_is_removed_too_once_its_output_is_there(
    run: Run, tmp_path: Path, size: int
) -> None:
    """One of more than 4 MiB, which no other process does, was refused: it exists already."""
    for name in "ab":
        (tmp_path / name).write_bytes(noise(size, ord(name)))
        os.utime(tmp_path / name, (1, 1))
    run("pack", "a", "b")
    whole = (tmp_path / "b.spk").read_bytes()
    (tmp_path / "b.spk").write_bytes((tmp_path / "a.spk").read_bytes())
    said = run("pack", "--rm", "--skip-existing", "a", "b", code=1).stderr.decode()
    assert "b.spk: exists already, and is not what its source becomes now; -f alone" in said
    assert not (tmp_path / "a").exists()
    assert (tmp_path / "b").exists()
    (tmp_path / "b.spk").write_bytes(whole)
    run("pack", "--rm", "--skip-existing", "b")
    assert not (tmp_path / "b").exists()
    run("unpack", "--rm", "a.spk", "b.spk")
    run("pack", "a", "b")
    run("unpack", "--rm", "--skip-existing", "a.spk", "b.spk")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["a", "b"]


def test_a_test_that_is_stopped_is_not_said_to_go_on() -> None:
    """It writes nothing that --skip-existing could leave."""
    assert "--skip-existing" not in Tally(TESTED).stopped()
    assert Tally("packed").stopped().endswith("; --skip-existing goes on from there")
