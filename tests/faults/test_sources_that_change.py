"""Sources that change while they are read, or after."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import fastavro
import pytest

import serialpack
from serialpack.errors import FileError
from serialpack.files.disk import remove_source
from tests.faults.conftest import KIB, MIB, Start, finish, hidden
from tests.injected import HIDDEN, injected
from tests.noise import noise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX limits, mounts and users")


def test_a_source_that_grows_while_it_is_read_is_noticed(source: Path, tmp_path: Path) -> None:
    def grow(read: int, written: int) -> None:
        if read > 100 * KIB:
            assert written
            with source.open("ab") as file:
                file.write(b"more")

    with pytest.raises(FileError, match="changed while it was read"):
        serialpack.pack(source, tmp_path / "out", block_size=64 * KIB, progress=grow)
    assert not (tmp_path / "out").exists()
    assert not hidden(tmp_path)


def test_a_source_that_grows_while_the_command_reads_it_is_an_error(
    start: Start, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.write_bytes(noise(4 * MIB))
    process = start("pack", "--block-size", "64K", source, "-o", "-")
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 1)  # the pipe is full soon: it waits in the middle
    with source.open("ab") as file:
        file.write(b"more")
    assert "changed while it was read; try again" in finish(process, 1)


def test_a_source_written_to_after_it_was_read_is_not_removed(source: Path) -> None:
    before = source.stat()
    with source.open("ab") as file:
        file.write(b"more")
    with pytest.raises(FileError, match="no longer the file"):
        remove_source(str(source), before)
    assert source.exists()


def test_a_source_written_to_after_it_was_done_ahead_is_not_removed(
    start: Start, tmp_path: Path
) -> None:
    """Of several files each is read, and told of later: what it is then is not what was packed."""
    for name in "abc":
        (tmp_path / name).write_bytes(noise(KIB))
    env = injected(
        tmp_path / "site",
        "from serialpack.cli.files.mover import Mover\n"
        "real = Mover.input\n"
        "def told(self, path):\n"
        "    if path == 'b':\n"
        "        with open(path, 'ab') as file:\n"
        "            file.write(b'more')\n"
        "    return real(self, path)\n"
        "Mover.input = told\n",
    )
    said = finish(start("pack", "--rm", "a", "b", "c", env=env), 1, most=4)
    assert "b: is no longer the file that was read; kept" in said
    assert [name for name in "abc" if (tmp_path / name).exists()] == ["b"]


@pytest.mark.parametrize("archive", [False, True], ids=["file", "archive"])
def test_a_container_that_changes_while_it_is_read_is_not_called_damaged(
    start: Start, tmp_path: Path, archive: bool
) -> None:
    """It is cut once something is written of it; the file beside it goes on."""
    (tmp_path / "a").write_bytes(noise(2 * MIB))
    for name in ("x.spk", "y.spk"):
        if archive:
            serialpack.pack_archive({"a": tmp_path / "a"}, tmp_path / name, block_size=64 * KIB)
        else:
            serialpack.pack(tmp_path / "a", tmp_path / name, block_size=64 * KIB)
    env = injected(
        tmp_path / "site",
        HIDDEN + "real = os.open\n"
        "def opening(path, *args, **named):\n"
        "    if '.serialpack-' in os.fspath(path):\n"
        "        os.truncate('x.spk', 1 << 20)\n"
        "    return real(path, *args, **named)\n"
        "os.open = opening\n",
    )
    said = finish(start("unpack", "x.spk", "y.spk", "-o", "out", env=env), 1, most=2)
    assert "serialpack: x.spk: changed while it was read; try again when it is quiet" in said
    assert (tmp_path / "out" / ("y/a" if archive else "y")).read_bytes() == noise(2 * MIB)
    assert len([path for path in (tmp_path / "out").rglob("*") if path.is_file()]) == 1


#: ``in/b`` becomes a pipe as soon as ``in`` is listed, or ``in/a`` is opened.
BECOMES_A_PIPE = """
import builtins, os

def swap():
    if os.path.isfile('in/b'):
        os.unlink('in/b')
        os.mkfifo('in/b')

class Listing:
    def __init__(self, path):
        self.real = real_scandir(path)
    def __enter__(self):
        return self.real
    def __exit__(self, *_):
        self.real.close()
        swap()

def opening(real):
    def wrapped(path, *args, **named):
        opened = real(path, *args, **named)
        if path == 'in/a':
            swap()
        return opened
    return wrapped

real_scandir = os.scandir
"""
WHEN = {
    "listed": "os.scandir = Listing\n",
    "opened": "os.open = opening(os.open)\nbuiltins.open = opening(open)\n",
}


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("size", [KIB, 100 * KIB])
@pytest.mark.parametrize(
    "words",
    [
        ["pack", "-r", "in", "-o", "out"],
        ["pack", "-r", "in", "--rm"],
        ["pack", "-r", "in", "--archive", "-o", "all.spk"],
        ["pack", "-r", "in", "--archive", "-o", "all.spk", "--rm"],
        ["inspect", "-r", "in"],
        ["unpack", "--to", "ndjson", "-F", "csv", "-r", "in", "-o", "out"],
    ],
    ids=" ".join,
)
def test_a_file_found_in_a_folder_that_is_a_pipe_meanwhile_is_not_waited_for(
    start: Start, tmp_path: Path, words: list[str], size: int, when: str
) -> None:
    """It waited for ever. The other files go on."""
    (tmp_path / "in").mkdir()
    for name in "abc":
        (tmp_path / "in" / name).write_bytes(b"row\n" * (size // 4))
    env = injected(tmp_path / "site", BECOMES_A_PIPE + WHEN[when])
    said = finish(start(*words, env=env), 1, most=9)
    assert "in/b: was a file when it was found, and is a pipe now; not read" in said
    assert stat.S_ISFIFO((tmp_path / "in/b").lstat().st_mode)
    made = [path for path in tmp_path.rglob("*") if path.suffix in (".spk", ".ndjson")]
    assert len(made) == (0 if words[0] == "inspect" else 1 if "--archive" in words else 2)
    assert (tmp_path / "in/a").exists() is ("--rm" not in words)


@pytest.mark.parametrize("words", [["pack", "-o", "out"], ["inspect"]], ids=" ".join)
def test_a_file_that_is_named_and_a_pipe_meanwhile_is_not_waited_for(
    start: Start, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "in").mkdir()
    for name in "abc":
        (tmp_path / "in" / name).write_bytes(b"row\n" * 9)
    env = injected(tmp_path / "site", BECOMES_A_PIPE + WHEN["opened"])
    said = finish(start(*words, "in/a", "in/b", "in/c", env=env), 1, most=9)
    assert "in/b: was a file when it was found, and is a pipe now; not read" in said


@pytest.mark.parametrize("more", [["in/b", "-o", "out"], ["-r", "in/b", "-o", "out"]])
def test_a_pipe_that_is_named_is_read(start: Start, tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in/b")
    process = start("pack", "-q", *more)
    (tmp_path / "in/b").write_bytes(b"data")
    finish(process, 0)
    found = tmp_path / "out" if (tmp_path / "out").is_file() else tmp_path / "out/b.spk"
    assert serialpack.inspect(found).members[0].size == 4


#: ``source`` is emptied, removed, or another file, before it is opened for the nth time by name.
CHANGES_AT = """
import builtins, os, sys

def change():
    how, at = os.environ['CHANGE'].split()
    change.opened += 1
    if change.opened == int(at):
        if how == 'empty':
            os.truncate('source', 0)
        elif how == 'gone':
            os.unlink('source')
        else:
            os.replace('other', 'source')
change.opened = 0

def hook(event, words):
    if event == 'open' and str(words[0]) == 'source' and not change.busy:
        change.busy = True
        change()
        change.busy = False
change.busy = False
sys.addaudithook(hook)
"""


CHANGED = b"serialpack: source: changed while it was read; try again when it is quiet\n"


def test_what_is_read_twice_must_be_the_same_both_times(start: Start, tmp_path: Path) -> None:
    """Its columns were known, and it was empty then: a table without rows was made of it."""
    env = injected(tmp_path / "site", CHANGES_AT)
    made = set()
    for at in range(1, 6):
        (tmp_path / "source").write_bytes(b"a,b\n1,2\n" * 9)
        words = ("unpack", "-F", "csv", "--to", "avro", "--infer", "-q", "source", "-o", "-")
        process = start(*words, env=env | {"CHANGE": f"empty {at}"})
        out, said = process.communicate(timeout=60)
        if process.returncode:
            assert (process.returncode, said) == (1, CHANGED)
        else:
            records = fastavro.reader(io.BytesIO(out))
            assert [*records] or records.writer_schema == ["null"]  # it was empty from the start on
        made.add(process.returncode)
    assert made == {0, 1}


@pytest.mark.parametrize("how", ["gone", "other"])
@pytest.mark.parametrize("kind", ["npz", "arrow"])
def test_what_is_opened_by_name_must_be_what_was_opened_first(
    start: Start, tmp_path: Path, kind: str, how: str
) -> None:
    """The other one was converted, or what was gone called damaged."""
    env = injected(tmp_path / "site", CHANGES_AT)
    rows, whole = tmp_path / "rows", tmp_path / "whole"
    rows.write_bytes(b'{"a":[1,2,3]}')
    serialpack.convert(rows, whole, format="json", to=kind)
    said = []
    for at in (3, 4):  # before that it is looked at
        (tmp_path / "source").write_bytes(whole.read_bytes())
        (tmp_path / "other").write_bytes(b"not the same")
        words = ("unpack", "-F", kind, "--to", "json", "-q", "source", "-o", "-")
        process = start(*words, env=env | {"CHANGE": f"{how} {at}"})
        said.append(process.communicate(timeout=60)[1])
    assert said.count(CHANGED) + said.count(b"") == 2
    assert CHANGED in said
