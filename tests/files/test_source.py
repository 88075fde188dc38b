"""Outputs appear whole or not at all, and names from files are never trusted."""

from __future__ import annotations

import errno
import io
import os
import pickle
import stat
from pathlib import Path

import pytest

from serialpack.errors import FileError
from serialpack.files.disk import remove_source
from serialpack.files.output import Output
from serialpack.files.paths import safe_name
from serialpack.files.source import Source, file_error
from serialpack.files.targets import check_output
from tests.injected import has_unnamed


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.name.startswith(".serialpack-")]


def test_an_output_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with Output(target) as out:
        out.write(b"half ")
        assert not target.exists()
        assert len(leftovers(tmp_path)) == (not has_unnamed(tmp_path))
        if os.name == "posix":
            assert stat.S_IMODE(os.fstat(out.fd).st_mode) == 0o600
        out.write(b"whole")
    assert target.read_bytes() == b"half whole"
    assert not leftovers(tmp_path)


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    for error in (ValueError, KeyboardInterrupt, SystemExit):
        with pytest.raises(error), Output(target, force=True) as out:
            out.write(b"new")
            raise error
        assert target.read_bytes() == b"old"
        assert not leftovers(tmp_path)


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with pytest.raises(FileError, match="exists already"), Output(target) as out:
        out.write(b"mine")
        target.write_bytes(b"theirs")
    assert target.read_bytes() == b"theirs"
    assert not leftovers(tmp_path)


def test_mode_and_time_follow_the_source(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(b"x")
    source.chmod(0o640)
    os.utime(source, ns=(1, 1_234_567_890_123_456_700))
    with Output(tmp_path / "out", like=source.stat()) as out:
        out.write(b"y")
    made = (tmp_path / "out").stat()
    assert made.st_mtime_ns == source.stat().st_mtime_ns
    assert stat.S_IMODE(made.st_mode) == stat.S_IMODE(source.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="symlinks")
def test_outputs_are_never_written_through_a_link(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_bytes(b"precious")
    link.symlink_to(victim)
    with pytest.raises(FileError, match="exists already"):
        check_output(link, force=False)
    with Output(link, force=True) as out:
        out.write(b"new")
    assert victim.read_bytes() == b"precious"
    assert link.read_bytes() == b"new"
    assert not link.is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="links and devices")
def test_outputs_that_cannot_be_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(b"x")
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "soft").symlink_to(source)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "fifo")
    found = source.stat()
    for name, force, words in [
        ("in", True, "is the input itself"),
        ("hard", True, "is the input itself"),
        ("soft", True, "is the input itself"),
        ("dangling", False, "exists already"),
        ("fifo", True, "is not a regular file"),
        (".", True, "is a folder"),
        ("no/such", True, "folder does not exist"),
    ]:
        with pytest.raises(FileError, match=words):
            check_output(tmp_path / name, force=force, source=found)
    with pytest.raises(FileError, match="not a regular file"):
        check_output(os.devnull, force=True)


def test_a_source_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"x" * 10)
    with Source(path) as source:
        source.read(5)
        source.check_unchanged()
        path.write_bytes(b"x" * 11)
        with pytest.raises(FileError, match="changed while it was read"):
            source.check_unchanged()


def test_what_is_more_than_it_seemed_is_read_in_few_reads(tmp_path: Path) -> None:
    """A file that grows meanwhile, as one that tells no size does at once."""
    path = tmp_path / "a"
    path.write_bytes(b"x")
    with Source(path) as source:
        with path.open("ab") as more:
            more.write(b"y" * 100_000)
        reads: list[int] = []
        some = source._some

        def counted(size: int) -> bytes:
            reads.append(size)
            return some(size)

        source._some = counted  # type: ignore[method-assign]
        assert source.read(200_000) == b"x" + b"y" * 100_000
        assert len(reads) <= 4


@pytest.mark.parametrize("other", ["file", "size", "time"])
def test_a_source_that_is_another_by_now_is_not_removed(tmp_path: Path, other: str) -> None:
    """Each tells it alone: which file it is, its size, its time."""
    path = tmp_path / "in"
    path.write_bytes(b"x")
    before = path.stat()
    if other == "file":
        path.rename(tmp_path / "elsewhere")
    path.write_bytes(b"another" if other == "size" else b"y")
    later = before.st_mtime_ns + (10**9 if other == "time" else 0)
    os.utime(path, ns=(later, later))
    with pytest.raises(FileError, match="no longer the file"):
        remove_source(os.fspath(path), before)
    assert path.exists()


def test_reads_are_whole_whatever_the_file_gives() -> None:
    class Drip(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 0, 3))

    with Source(Drip(bytes(range(20)))) as source:
        assert source.peek(7) == bytes(range(7))
        assert source.read(10) == bytes(range(10))
        assert source.read(100) == bytes(range(10, 20))
        assert source.read(1) == b""


@pytest.mark.parametrize(
    ("stored", "safe"),
    [
        ("data.json", "data.json"),
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("C:\\dir\\x.json", "x.json"),
        ("a\0b\x1b[31m\n.json", "ab[31m.json"),
        ("\u202egnp.exe", "gnp.exe"),
        ("né\udcff", "né\udcff"),
        ("..", None),
        (".", None),
        ("", None),
        (None, None),
        ("dir/", None),
        ("con", None),
        ("NUL.txt", None),
        ("x" * 5000, None),
        (" ", None),
    ],
)
def test_stored_names_lose_everything_unsafe(stored: str | None, safe: str | None) -> None:
    assert safe_name(stored) == safe


def test_what_was_peeked_at_is_still_to_be_read(tmp_path: Path) -> None:
    """Of a file the system gives it once more, which saves copies of it; from where the file
    object of a caller stands."""
    path = tmp_path / "a"
    data = bytes(range(256)) * 1000
    path.write_bytes(data)
    for start in (0, 7):
        with path.open("rb") as file:
            file.seek(start)
            source = Source(file)
            for size in (10, 100_000, 5, 1 << 20):
                assert source.peek(size) == data[start : start + size]
            pieces = [source.read(size) for size in (3, 200_000)]
            assert source.peek(9) == data[start + 200_003 : start + 200_012]
            assert b"".join((*pieces, source.read(1 << 20), source.read(1))) == data[start:]


def test_what_was_peeked_at_of_a_pipe_is_still_to_be_read() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as out, os.fdopen(reading, "rb") as file:
        out.write(b"abcdefgh")
        out.close()
        source = Source(file)
        assert (source.peek(2), source.peek(4), source.read(1)) == (b"ab", b"abcd", b"a")
        assert source.read(9) == b"bcdefgh"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.ENOENT, errno.EACCES])
def test_what_the_system_refuses_is_an_error_of_the_system_to_python(number: int) -> None:
    """Whoever catches OSError for a full disk, and asks for its number."""
    theirs = OSError(number, os.strerror(number))
    found = file_error(theirs, "a.spk", "write")
    for error in (found, pickle.loads(pickle.dumps(found))):
        assert isinstance(error, FileError)
        assert isinstance(error, type(theirs))
        assert error.errno == number
        said = str(error).removesuffix("; target names the output of one file")  # in /dev/fd
        assert said == f"a.spk: cannot write: {os.strerror(number).lower()}"
        assert isinstance(error, OSError)
        assert error.filename == "a.spk"
