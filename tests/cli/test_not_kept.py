"""What an archive does not keep, or give back, is told when it is packed."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

import serialpack
from serialpack.archive.not_kept import leads_out
from serialpack.cli.reporting.tally import Tally
from tests.cli.conftest import Run
from tests.cli.told import needs_posix


def _has_attributes(folder: str) -> bool:
    """Whether files in ``folder`` can be given extended attributes."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            os.setxattr(file.name, "user.note", b"kept")
    except (AttributeError, OSError):
        return False
    return True


needs_attributes = pytest.mark.skipif(
    not _has_attributes(tempfile.gettempdir()), reason="files have no extended attributes here"
)


@needs_posix
def test_hard_links_and_links_out_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in/x").mkdir(parents=True)
    (tmp_path / "in/a.json").write_text("[1]")
    (tmp_path / "alone").hardlink_to(tmp_path / "in/a.json")
    (tmp_path / "in/x/inside").symlink_to("../a.json")
    said = run("pack", "-r", "in", "--archive", "-o", "a.spk").stderr.decode()
    assert "a.spk: " not in said
    (tmp_path / "in/x/b.json").hardlink_to(tmp_path / "in/a.json")
    (tmp_path / "in/x/out").symlink_to("/etc")
    said = run("pack", "-r", "in", "--archive", "-o", "b.spk").stderr.decode()
    assert "b.spk: 2 names of the same files (hard links) became files of their own\n" in said
    assert "b.spk: 1 link leads out of what unpack writes to, and will not be made by it\n" in said
    refused = run("unpack", "b.spk", code=4).stderr.decode()
    said = "b/in/x/out: is a link out of the folder, to '/etc'; --exclude in/x/out leaves it out\n"
    assert said in refused
    run("unpack", "b.spk", "--exclude", "in/x/out", "-o", "without")
    with pytest.raises(serialpack.ArchiveError) as error:
        serialpack.unpack_archive(tmp_path / "b.spk", tmp_path / "without", force=True)
    (_, refusal), *_ = error.value.failures
    assert 'exclude=["in/x/out"] leaves it out' in str(refusal)
    assert run("pack", "-q", "-r", "in", "--archive", "-o", "c.spk").stderr == b""


def _has_holes(folder: str) -> bool:
    """Whether files in ``folder`` can be sparse."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(1 << 20)
            return os.lseek(file.fileno(), 0, os.SEEK_HOLE) == 0
    except (AttributeError, OSError):
        return False


@pytest.mark.skipif(not _has_holes(tempfile.gettempdir()), reason="files have no holes here")
def test_holes_are_told_of(run: Run, tmp_path: Path) -> None:
    """They came back filled without a word."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/zeros").write_bytes(bytes(1 << 20))
    said = run("pack", "-r", "in", "--archive", "-o", "a.spk").stderr.decode()
    assert "a.spk: " not in said
    with (tmp_path / "in/disk.img").open("wb") as file:
        file.truncate(1 << 20)
    said = run("pack", "-r", "in", "--archive", "-o", "b.spk").stderr.decode()
    assert "b.spk: 1 file has holes (sparse), which come back filled with zeros\n" in said


@pytest.mark.skipif(not _has_holes(tempfile.gettempdir()), reason="files have no holes here")
def test_holes_of_files_packed_alone_are_told(run: Run, tmp_path: Path) -> None:
    """Of an archive they were told; a file alone came back filled, and nobody said so."""
    for name in "ab":
        with (tmp_path / name).open("wb") as file:
            file.truncate(8 << 20)
    (tmp_path / "c").write_bytes(bytes(8 << 20))
    done = run("pack", "a")
    assert b"holes of a come back filled with zeros\n" in done.stderr
    done = run("pack", "-r", ".", "-o", "packed", "--exclude", "*.spk")
    assert b"holes of 2 sparse sources (first ./a) come back filled" in done.stderr
    assert b"holes" not in run("pack", "c").stderr
    assert b"holes of b" in run("pack", "--rm", "b").stderr


@pytest.mark.skipif(not _has_holes(tempfile.gettempdir()), reason="files have no holes here")
def test_the_report_says_that_a_source_has_holes(tmp_path: Path) -> None:
    """The sum asked each source once more, which need not be there any more, or here."""
    for name, size in (("large", 1 << 20), ("small", 1 << 15)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
        source = tmp_path / name
        report = serialpack.pack(source, tmp_path / f"{name}.spk")
        source.unlink()
        tally = Tally("packed")
        tally.add_report(report, 1)
        assert [*tally.not_kept.lines] == [f"holes of {source} come back filled with zeros"]


@needs_posix
def test_special_bits_are_told_of_files_too(run: Run, tmp_path: Path) -> None:
    """They went without a word, where they were no archive's."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("[1]")
        (tmp_path / name).chmod(0o4755)
    bits = b"set-user-ID, set-group-ID and sticky bits are not given to "
    assert bits + b"a.spk\n" in run("pack", "a").stderr
    assert (tmp_path / "a.spk").stat().st_mode & 0o7777 == 0o755
    assert bits not in run("unpack", "-f", "a.spk").stderr
    (tmp_path / "a").chmod(0o4755)
    assert bits + b"2 outputs (first out/a.spk)\n" in run("pack", "a", "b", "-o", "out").stderr
    run("pack", "--archive", "a", "b", "-o", "c.spk")
    assert bits + b"2 entries (first c/a)\n" in run("unpack", "c.spk").stderr


@needs_attributes
def test_attributes_that_go_with_a_removed_source_are_told(run: Run, tmp_path: Path) -> None:
    """The source that had them was removed without a word; one that stays has them still."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("[1]")
        os.setxattr(tmp_path / name, "user.note", b"kept")
    said = b"extended attributes or an ACL of "
    assert said not in run("pack", "a", "b", "-o", "out").stderr
    lost = said + b"2 removed sources (first a) are not kept\n"
    assert lost in run("pack", "a", "b", "-o", "again", "--rm").stderr
    assert said not in run("unpack", "again/a.spk", "-o", "a", "--rm").stderr
    os.setxattr(tmp_path / "out/b.spk", "user.note", b"kept")
    assert said + b"out/b.spk are not kept\n" in run("unpack", "out/b.spk", "--rm").stderr
    assert run("pack", "-q", "a", "--rm").stderr == b""


@needs_posix
def test_a_folder_that_is_anothers_is_told_as_such(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was the file system that did not keep its mode; and what a folder that was there gives to
    all in it, as set-group-ID does, was taken from it."""
    (tmp_path / "in").mkdir(mode=0o750)
    (tmp_path / "in/a.json").write_text("[1]")
    run("pack", "-r", "in", "--archive", "-o", "a.spk")
    (tmp_path / "out/in").mkdir(parents=True)
    (tmp_path / "out/in").chmod(0o2777)
    run("unpack", "a.spk", "-o", "out", "-f")
    assert (tmp_path / "out/in").stat().st_mode & 0o7777 == 0o2750
    (tmp_path / "out/in").chmod(0o777)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr("serialpack.archive.extract.os.chmod", refuse)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    folder = tmp_path / "out/in"
    report = serialpack.unpack_archive(tmp_path / "a.spk", tmp_path / "out", force=True)
    assert report.notes == (f"only its owner can change the mode (777, not 750) of {folder}",)


@needs_attributes
def test_extended_attributes_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    os.setxattr(tmp_path / "a.json", "user.note", b"1")
    said = run("pack", "a.json", "--archive", "-o", "a.spk").stderr.decode()
    assert "a.spk: 1 entry has extended attributes or an ACL, which are not kept\n" in said


@needs_attributes
def test_attributes_are_told_again_where_sources_are_removed_later(
    run: Run, tmp_path: Path
) -> None:
    """A run that went on after one that was killed removed them without a word."""
    names = ("a.json", "b.json")
    for name in names:
        (tmp_path / name).write_text("[1]")
    os.setxattr(tmp_path / "a.json", "user.note", b"1")
    run("pack", "--archive", *names, "-o", "a.spk")
    said = run("pack", "--archive", "--rm", *names, "-o", "a.spk").stderr.decode()
    assert "a.spk: 1 entry has extended attributes or an ACL, which are not kept\n" in said
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("entry", "target", "out"),
    [
        ("a", "b", False),
        ("a", "..", True),
        ("x/a", "..", False),
        ("x/a", "../../b", True),
        ("x/a", "y/../b", True),
        ("a", "/", True),
    ],
)
def test_which_links_lead_out(entry: str, target: str, out: bool) -> None:
    assert leads_out(entry, target) == out


def test_an_archive_without_files_is_told_of(run: Run, tmp_path: Path) -> None:
    """Nothing at all was said."""
    (tmp_path / "in/x").mkdir(parents=True)
    run("pack", "-r", "in", "--archive", "-o", "a.spk")
    assert run("unpack", "a.spk", "-o", "out").stderr == b"a.spk -> out: 2 entries, 0 B\n"


@needs_posix
def test_times_that_no_archive_holds_are_told(run: Run, tmp_path: Path) -> None:
    """They came back as others, without a word: 2446, the last year of ext4, as 1901."""
    (tmp_path / "in").mkdir()
    for name, size, year in (("a.json", 3, 2300), ("large", 1 << 20, 2446), ("old", 0, 1677)):
        (tmp_path / "in" / name).write_bytes(b"[1]".ljust(size) if size else b"")
        seconds = (year - 1970) * 31_556_952
        os.utime(tmp_path / "in" / name, (seconds, seconds))
    late = [each for each in (tmp_path / "in").iterdir() if each.stat().st_mtime > 1 << 33]
    if len(late) < 2:
        pytest.skip("this file system has no such times")
    pack = ("pack", "-r", "in", "--archive", "-o", "a.spk")
    said = run(*pack).stderr.decode()
    # Some file systems, as that of memory, have the year 1677, too.
    times = [each.stat().st_mtime_ns for each in (tmp_path / "in").iterdir()]
    outside = sum(not -(1 << 63) <= time < 1 << 63 for time in times)
    assert f"a.spk: {outside} entries have times before 1677 or after 2262, of which the" in said
    run("unpack", "-q", "a.spk", "-o", "out")
    last = ((1 << 63) - 1) / 1e9
    assert {(tmp_path / "out/in" / each.name).stat().st_mtime for each in late} == {last}
    assert b"left as it is" in run(*pack, "--skip-existing").stderr
