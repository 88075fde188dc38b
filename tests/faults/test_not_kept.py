"""File systems that keep no modes, or coarser times, and say nothing of that."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Command, Start, finish
from tests.faults.disk import injecting
from tests.faults.test_disk import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX modes and mounts")

TIME = 10**18 + 123_456_789


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of three files and a link, of a time with nanoseconds."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.json", "b.json", "c.json"):
        (folder / name).write_text("[1]")
        (folder / name).chmod(0o644)
        os.utime(folder / name, ns=(TIME, TIME))
    (folder / "link").symlink_to("a.json")
    os.utime(folder / "link", ns=(TIME, TIME), follow_symlinks=False)
    folder.chmod(0o755)
    os.utime(folder, ns=(TIME, TIME))
    return folder


@pytest.fixture
def seconds(tmp_path: Path) -> Iterator[Path]:
    """A file system whose times are whole seconds."""
    folder, image = tmp_path / "disk", tmp_path / "disk.img"
    folder.mkdir()
    mkfs, mount = shutil.which("mkfs.ext3"), shutil.which("mount")
    if not ROOT or mkfs is None or mount is None:
        pytest.skip("only root can mount a file system")
    image.touch()
    os.truncate(image, 8 << 20)
    made = subprocess.run(
        [mkfs, "-q", "-F", "-I", "128", str(image)], capture_output=True, check=False
    )
    mounted = [mount, "-o", "loop", str(image), str(folder)]
    if made.returncode or subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("no such file system can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def all_of(process: Command) -> str:
    return finish(process, 0, most=20)


def told(said: str) -> list[str]:
    return [line for line in said.splitlines() if "does not keep" in line]


def test_times_that_are_cut_are_told_once(start: Start, files: Path, seconds: Path) -> None:
    cut = "the file system does not keep the time"
    said = all_of(start("pack", files / "a.json", "-o", seconds / "a.spk"))
    assert told(said) == [f"{cut} (123 ms off) of {seconds}/a.spk"]
    said = all_of(start("pack", "-r", files, "-o", f"{seconds}/p/"))
    assert told(said) == [f"{cut} (up to 123 ms off) of 4 outputs (first {seconds}/p/a.json.spk)"]
    said = all_of(start("unpack", "-r", f"{seconds}/p", "-o", f"{seconds}/u/"))
    assert told(said) == []  # its sources are of whole seconds, too
    archive = seconds.parent / "all.spk"
    said = all_of(start("pack", "-r", "--archive", "in", "-o", archive))
    assert told(said) == []
    said = all_of(start("unpack", archive, "-o", seconds / "all"))
    (line,) = told(said)
    assert f"{cut} (up to 123 ms off) of 5 entries (first {seconds}/all/in/a.json)" in line
    assert all_of(start("unpack", "-q", archive, "-o", seconds / "quiet")) == ""
    # What is cut is no reason to do it again.
    said = all_of(start("pack", "-r", files, "--skip-existing", "-o", f"{seconds}/p/"))
    assert told(said) == []
    assert "4 left as they were" in said


@pytest.mark.usefixtures("files")
def test_modes_that_are_not_taken_are_told(start: Start, tmp_path: Path) -> None:
    """As FAT and NTFS do: no error, and the mode is what it was."""
    silent = injecting("fchmod", "retval=0")
    said = all_of(start("pack", "-r", "in", "-o", "out/", before=silent))
    of = "the file system does not keep the mode (600, not 644)"
    assert told(said) == [f"{of} of 4 outputs (first out/a.json.spk)"]
    all_of(start("pack", "-r", "--archive", "in", "-o", "in.spk"))
    said = all_of(start("unpack", "in.spk", "-o", "again", before=silent))
    assert told(said) == [f"in.spk: {of} of 3 entries (first again/in/a.json)"]
    assert tmp_path.joinpath("again/in/a.json").read_text() == "[1]"


@pytest.mark.parametrize("call", ["fchmod", "utimensat"])
def test_what_is_for_the_owner_of_the_disk_to_set_is_no_failure(
    start: Start, files: Path, call: str
) -> None:
    """Each file failed: "cannot write: operation not permitted"."""
    refused = injecting(call, "error=EPERM")
    said = all_of(start("pack", "-r", files, "-o", "out/", before=refused))
    (line,) = told(said)
    assert "of 4 outputs (first out/a.json.spk)" in line
    all_of(start("pack", "-r", "--archive", "in", "-o", "in.spk"))
    said = all_of(start("unpack", "in.spk", "-o", "again", before=refused))
    assert len(told(said)) == 1
