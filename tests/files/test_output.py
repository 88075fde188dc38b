"""Outputs that get their names together, and what is read back before they do."""

from __future__ import annotations

import io
import os
import stat
import threading
from functools import partial
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import IO

import pytest

from serialpack.errors import ExistingFileError
from serialpack.files import disk, output, targets
from serialpack.files.disk import sync_all
from serialpack.files.output import Output, OutputGroup
from serialpack.files.pending import PendingFile
from serialpack.files.targets import sink
from serialpack.hidden import is_hidden, remove_dead
from tests.injected import has_unnamed
from tests.noise import noise

of_linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def hidden(folder: Path) -> list[str]:
    return [name for name in names(folder) if is_hidden(name)]


@pytest.fixture(autouse=True, params=["unnamed", "hidden"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Outputs are files without a name, or hidden ones, until they have theirs."""
    if request.param == "hidden":
        monkeypatch.setattr("serialpack.files.unnamed._UNNAMED", 0)
    elif not has_unnamed(tmp_path):
        pytest.skip("no files without a name here")


def write(path: Path, data: bytes = b"data", *, force: bool = False) -> None:
    with Output(path, force=force) as output:
        output.write(data)


@pytest.mark.parametrize("each", [False, True], ids=["group", "each"])
def test_names_come_with_the_commit(tmp_path: Path, each: bool) -> None:
    """What could not be given one is told, and removed; the others are there."""
    paths = [tmp_path / f"{number}" for number in range(6)]
    with OutputGroup(each=each) as group:
        for path in paths:
            write(path, path.name.encode())
        assert names(tmp_path) == hidden(tmp_path)
        paths[3].write_bytes(b"another's")
        failed = group.commit()
    assert list(failed) == [str(paths[3])]
    assert isinstance(failed[str(paths[3])], ExistingFileError)
    paths[3].write_bytes(b"3")
    assert [path.read_bytes() for path in paths] == [b"%d" % number for number in range(6)]
    assert not hidden(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_nobody_else_reads_a_file_that_is_being_written(tmp_path: Path) -> None:
    """Its mode is that of its source once it is whole."""
    path = tmp_path / "out"
    with Output(path, mode=0o644) as out:
        out.write(b"secret, as far as anyone knows")
        assert os.fstat(out.fd).st_mode & 0o777 == 0o600
    assert path.stat().st_mode & 0o777 == 0o644


def test_without_a_commit_nothing_is_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ended"), OutputGroup():
        write(tmp_path / "a")
        raise ValueError("ended")
    assert not names(tmp_path)
    write(tmp_path / "b")  # and the group is over
    assert names(tmp_path) == ["b"]


@of_linux
@pytest.mark.parametrize("each", [False, True], ids=["group", "each"])
def test_what_the_disk_does_not_hold_gets_no_name(tmp_path: Path, each: bool) -> None:
    """It is read back where the source is to be removed."""
    paths = [tmp_path / f"{number}" for number in range(6)]
    large = noise(100_000)
    with OutputGroup(each=each, read_back=True) as group:
        for path in paths:
            with Output(path) as output:
                output.write(b"____")
                output.write(large)
                output.patch(0, b"head")
        for number, place in ((1, 2), (4, 99_999)):
            with Path(f"/proc/self/fd/{group.outputs[number].fd}").open("r+b") as file:
                file.seek(place)
                file.write(b"\0\0")
        failed = group.commit()
    assert list(failed) == [str(paths[1]), str(paths[4])]
    assert "what was read back" in str(failed[str(paths[1])])
    assert all(path.read_bytes() == b"head" + large for path in paths if str(path) not in failed)
    assert not hidden(tmp_path)


def behind(fd: int) -> Path:
    """The file that a descriptor is of."""
    return Path(f"/proc/self/fd/{fd}").readlink()


def hidden_of(group: OutputGroup, number: int) -> Path:
    """The hidden file of an output of the group."""
    return behind(group.outputs[number].fd)


@pytest.mark.parametrize(
    ("files", "each", "steps"),
    [
        (None, False, ["file", "name", "folder"]),
        (1, False, ["file", "name", "folder"]),
        (6, True, [*["file"] * 6, *["name"] * 6, "folder"]),
        (6, False, ["all", *["name"] * 6, "folder"]),
    ],
    ids=["alone", "group of one", "each", "group"],
)
def test_a_file_has_its_name_once_it_is_on_disk_and_then_the_folder_is(
    tmp_path: Path,
    files: int | None,
    each: bool,
    steps: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A power cut in between would leave an empty file, or none for a source that is removed."""
    done: list[str] = []
    fsync, give_name = os.fsync, PendingFile.give_name

    def synced(fd: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")
        fsync(fd)

    def named(pending: PendingFile, *, force: bool, only_same: bool) -> None:
        done.append("name")
        give_name(pending, force=force, only_same=only_same)

    def all_synced(_: int) -> bool:
        done.append("all")
        return True

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr(PendingFile, "give_name", named)
    monkeypatch.setattr("serialpack.files.output.syncfs", lambda: all_synced)
    if files is None:
        write(tmp_path / "0")
    else:
        with OutputGroup(each=each) as group:
            for number in range(files):
                write(tmp_path / f"{number}")
            assert not group.commit()
    assert done == steps


@of_linux
def test_a_file_system_that_fails_is_asked_file_by_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the error is that of the file it is about."""
    asked: list[int] = []

    def fails(fd: int) -> bool:
        asked.append(fd)
        return False

    monkeypatch.setattr("serialpack.files.output.syncfs", lambda: fails)
    real = os.fsync

    def fsync(fd: int) -> None:
        if asked and behind(fd) == bad:
            raise OSError(5, "Input/output error")
        real(fd)

    monkeypatch.setattr("os.fsync", fsync)
    with OutputGroup() as group:
        for number in range(6):
            write(tmp_path / f"{number}")
        bad = hidden_of(group, 2)
        failed = group.commit()
    assert len(asked) == 1
    assert list(failed) == [str(tmp_path / "2")]
    assert names(tmp_path) == ["0", "1", "3", "4", "5"]


@of_linux
def test_every_file_system_that_a_group_writes_to_is_brought_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is asked once, by a file that is on it."""
    asked: list[str] = []
    real = os.fstat

    def all_synced(fd: int) -> bool:
        asked.append(behind(fd).parent.name)
        return True

    def on_two(fd: int) -> SimpleNamespace:
        found = real(fd)
        fields = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        return SimpleNamespace(**fields | {"st_dev": behind(fd).parent.name[0]})

    monkeypatch.setattr("serialpack.files.output.syncfs", lambda: all_synced)
    with OutputGroup() as group:
        for name in ("a", "b", "a2", "b2"):
            (tmp_path / name).mkdir()
            write(tmp_path / name / "x")
        monkeypatch.setattr("os.fstat", on_two)
        assert not group.commit()
    assert sorted(name[0] for name in asked) == ["a", "b"]


def test_what_must_be_the_same_stays(tmp_path: Path) -> None:
    for name in ("same", "other"):
        (tmp_path / name).write_bytes(b"data")
    before = (tmp_path / "same").stat()
    with OutputGroup() as group:
        group.only_same = True
        write(tmp_path / "same", force=True)
        write(tmp_path / "other", b"atad", force=True)
        write(tmp_path / "new")
        failed = group.commit()
    assert list(failed) == [str(tmp_path / "other")]
    assert (tmp_path / "same").stat().st_ino == before.st_ino
    assert (tmp_path / "new").read_bytes() == b"data"
    assert not hidden(tmp_path)


def test_dead_hidden_files_are_told_from_others(tmp_path: Path) -> None:
    (tmp_path / ".serialpack-01234567.tmp").write_bytes(b"")
    (tmp_path / "serialpack.tmp").write_bytes(b"")
    with OutputGroup() as group:
        write(tmp_path / "a")
        assert remove_dead(str(tmp_path)) == 1
        assert not group.commit()
    assert names(tmp_path) == ["a", "serialpack.tmp"]
    assert remove_dead(str(tmp_path / "none")) == 0


def test_several_files_are_brought_to_disk_at_a_time(tmp_path: Path) -> None:
    """Each waits for another one here; none is given its name before its own is done."""
    together = threading.Barrier(2, timeout=60)

    def sync(fd: int) -> None:
        together.wait()
        assert names(tmp_path) == hidden(tmp_path)
        real(fd)

    real = os.fsync
    with OutputGroup(each=True) as group, pytest.MonkeyPatch.context() as patch:
        for number in range(2):
            write(tmp_path / f"{number}")
        patch.setattr("serialpack.files.output.sync_folder", lambda _: None)
        patch.setattr("os.fsync", sync)
        assert not group.commit()
    assert names(tmp_path) == ["0", "1"]


def test_each_file_has_the_fault_of_its_own() -> None:
    def sync(number: int) -> None:
        if number % 3 == 0:
            raise OSError(number, "no")

    faults = sync_all([partial(sync, number) for number in range(40)])
    assert [fault and fault.errno for fault in faults] == [
        number if number % 3 == 0 else None for number in range(40)
    ]


@of_linux
def test_room_is_made_for_bytes_that_are_not_written_yet(tmp_path: Path) -> None:
    """Not where there is no disk: it would take longer. The file is as long as it was."""
    with (tmp_path / "a").open("wb") as file:
        disk.make_room(file.fileno(), 100, 1 << 20)
        stat = os.fstat(file.fileno())
    assert stat.st_size == 0
    if os.major(stat.st_dev):
        assert stat.st_blocks * 512 >= 1 << 20
    else:
        assert stat.st_blocks == 0


def test_room_is_made_for_what_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is written to, in a file of ours and in one of the caller's, which may be a pipe."""
    made: list[tuple[int, int]] = []
    for module in (output, targets):
        monkeypatch.setattr(module, "make_room", lambda _, start, size: made.append((start, size)))
        monkeypatch.setattr(module, "LARGE", 100_000)
    sizes = (10, 99_999, 100_000, 5)
    with Output(tmp_path / "a") as out:
        for size in sizes:
            out.write(bytes(size))
    with (tmp_path / "b").open("wb") as file, sink(file, False, None) as put:
        for size in sizes:
            put(bytes(size))
    assert made == [(100_009, 100_000)] * 2
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == bytes(200_014)
    ends = os.pipe()
    with os.fdopen(ends[0], "rb") as read, os.fdopen(ends[1], "wb") as file:
        putting = Thread(target=_put_all, args=(file, bytes(100_000)))
        putting.start()
        assert read.read(100_000) == bytes(100_000)
        putting.join()
    _put_all(io.BytesIO(), bytes(100_000))
    assert len(made) == 2


def _put_all(file: IO[bytes], data: bytes) -> None:
    with sink(file, False, None) as put:
        put(data)
