"""What is at the edge: empty files, full disks, words that no header holds."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import serialpack
from serialpack.stages.stage import is_installed
from tests.cli.conftest import Run
from tests.cli.told import needs_posix

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")

#: What each verb says on standard output, words or lines of JSON; none of it is about an input.
SAYING = [
    ["inspect", "a.json"],
    ["inspect", "a.json", "b.json.spk"],
    ["inspect", "--json", "a.json"],
    ["inspect", "--json", "a.json", "b.json.spk"],
    ["inspect", "-q", "--blocks", "--columns", "b.json.spk"],
    ["inspect", "--head", "1", "b.json.spk"],
    ["inspect", "--stages"],
    ["inspect", "--stages", "--json"],
    ["unpack", "-q", "--test", "--json", "b.json.spk", "b.json.spk"],
    ["unpack", "-o", "-", "b.json.spk"],
    ["unpack", "-q", "--to", "yaml", "a.json", "-o", "-"],
    ["pack", "-q", "--json", "-f", "a.json"],
    ["--help"],
    ["--version"],
]


@pytest.mark.skipif(not is_installed("tomli_w"), reason="tomli-w is not installed")
def test_an_empty_file_is_an_empty_map(tmp_path: Path, run: Run) -> None:
    """It is so in TOML: one record in no bytes."""
    empty = tmp_path / "e.toml"
    empty.write_bytes(b"")
    run("pack", "-s", "toml", empty)
    empty.write_bytes(b"other")
    run("unpack", "-f", f"{empty}.spk")
    assert empty.read_bytes() == b""
    document = tmp_path / "d.json"
    document.write_bytes(b"{}")
    run("unpack", "--to", "toml", document)
    assert (tmp_path / "d.toml").read_bytes() == b""
    run("pack", "-s", "toml", tmp_path / "d.toml")
    run("unpack", "--test", tmp_path / "d.toml.spk")


def test_what_no_header_holds_is_a_wrong_call(tmp_path: Path, run: Run) -> None:
    """Words of the user's that are no text are refused, and nothing is written."""
    (tmp_path / "a").write_bytes(b"a")
    done = run("pack", "--meta", b"k=\xff", tmp_path / "a", code=2)
    assert b"the header cannot hold" in done.stderr
    assert not (tmp_path / "a.spk").exists()


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("args", SAYING, ids=" ".join)
def test_a_full_standard_output_is_named_once(
    args: list[str], unbuffered: str, tmp_path: Path
) -> None:
    """Not an input, which is well; and nothing is tried again."""
    if "yaml" in args and not is_installed("yaml"):
        pytest.skip("PyYAML is not installed")
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')
    serialpack.pack(tmp_path / "a.json", tmp_path / "b.json.spk")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "serialpack", *args],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    text = "serialpack: standard output: cannot write: no space left on device\n"
    assert done.stderr.decode() == text


@needs_full
@pytest.mark.parametrize("names", [("b", "c"), ("none", "b", "c")], ids=["done", "failed"])
def test_a_log_that_is_full_does_not_end_the_work(tmp_path: Path, names: tuple[str, ...]) -> None:
    """It ended with the first line that was to be said."""
    for name in "bc":
        (tmp_path / name).write_bytes(b"text")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "serialpack", "pack", *names],
            stderr=full,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    assert {path.name for path in tmp_path.glob("*.spk")} == {"b.spk", "c.spk"}


@needs_full
def test_an_error_of_an_input_is_told_of_it_on_a_full_disk_too(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "serialpack", "inspect", "--json", "none", "other"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("serialpack: none: ")
    assert second.startswith("serialpack: standard output: ")


@pytest.fixture
def emptied(tmp_path: Path) -> Iterator[Path]:
    """A folder that is emptied by a program that knows no depth; pytest's own way fails on it."""
    yield tmp_path
    subprocess.run(["rm", "-rf", *tmp_path.iterdir()], check=True)


@pytest.mark.parametrize("depth", [1500, 4000])
def test_an_entry_in_thousands_of_folders(depth: int, emptied: Path, run: Run) -> None:
    """Unpacked if the system has room for its path, else refused; the next one is not lost."""
    deep, tmp_path = "d/" * depth + "file", emptied
    sources = {deep: io.BytesIO(b"deep"), "good": io.BytesIO(b"good")}
    serialpack.pack_archive(sources, tmp_path / "a.spk")
    fits = len(os.fsencode(tmp_path / "out" / deep)) + 40 < 4096
    done = run("unpack", "--json", "a.spk", "-o", "out", cwd=tmp_path, code=0 if fits else 1)
    assert (tmp_path / "out/good").read_bytes() == b"good"
    first, *rest = [json.loads(line) for line in done.stdout.splitlines()]
    assert first.get("entry") == deep
    if fits:
        assert Path(tmp_path / "out" / deep).read_bytes() == b"deep"
    else:
        assert "too long" in first["error"]
        assert rest
        assert not (tmp_path / "out/d").exists()


@needs_posix
def test_a_folder_whose_path_is_too_long_is_named_once(
    emptied: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was to become an entry, too, which failed once more."""
    for name in ["in", *["d" * 250] * 17]:
        monkeypatch.chdir(emptied if name == "in" else ".")
        Path(name).mkdir()
        monkeypatch.chdir(name)
        Path("file").touch()
    done = run("pack", "--archive", "-r", "in", "-o", "a.spk", cwd=emptied, code=1)
    (first, last) = done.stderr.decode().splitlines()
    assert first.endswith("d: cannot list: file name too long")
    assert last.startswith("17 packed, 1 failed")


def test_a_folder_in_thousands_of_folders(emptied: Path, run: Run) -> None:
    """As the user names it: it is made, or refused for its length."""
    tmp_path = emptied
    for name in "a", "b":
        (tmp_path / name).write_bytes(b"x")
    folder = "d/" * 1500
    run("pack", "a", "b", "-o", folder, cwd=tmp_path)
    assert (tmp_path / folder / "a.spk").exists()
    done = run("pack", "a", "b", "-o", "d/" * 4000, cwd=tmp_path, code=1)
    assert b"cannot make the folder: file name too long" in done.stderr


@needs_posix
@pytest.mark.parametrize("more", [(), ("--include", "*.json"), ("--skip-existing",), ("-f",)])
def test_names_that_the_locale_has_no_letters_for(
    run: Run, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """Their bytes are what they were: packing kept them, unpacking refused them, or failed with
    "internal error"."""
    e, u, o = (os.fsdecode(letter.encode()) for letter in "\xe9\xfc\xf6")  # where tests run so
    for path in (f"in/{e}/{u}/a.json", f"in/{e}/{o}.json"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("[1]")
    (tmp_path / "in/link").symlink_to(f"{e}/{o}.json")
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    run("pack", f"in/{e}/{o}.json", "-o", "one.spk")
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    if more[:1] in (("-f",), ("--skip-existing",)):
        run("unpack", "all.spk", "-o", "out")
    run("unpack", "all.spk", "-o", "out", *more, env=env)
    found = set((tmp_path / "out/in").rglob("*.json"))
    assert found == {tmp_path / f"out/in/{name}" for name in (f"{e}/{u}/a.json", f"{e}/{o}.json")}
    if more[:1] != ("--include",):
        assert (tmp_path / "out/in/link").readlink() == Path(f"{e}/{o}.json")
    run("unpack", "-N", "one.spk", env=env)
    assert (tmp_path / f"{o}.json").read_text() == "[1]"
    run("unpack", "--to", "yaml", "all.spk", "--include", "*a.json", "-o", "to/", env=env)
    assert (tmp_path / f"to/in/{e}/{u}/a.yaml").exists()


@needs_posix
@pytest.mark.parametrize("verb", ["unpack", "inspect", "bench"])
def test_nobody_is_waited_for_at_a_terminal(tmp_path: Path, verb: str) -> None:
    """Without a FILE unpack and bench waited in silence for what was never to be typed."""
    master, slave = os.openpty()
    command = [sys.executable, "-m", "serialpack", verb]
    try:
        done = subprocess.run(
            command,
            stdin=slave,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)
    assert done.returncode == 2
    assert done.stderr.startswith("serialpack: name a FILE, ")


def test_a_file_may_be_called_as_a_codec(run: Run, tmp_path: Path) -> None:
    """It was said to be given for one, by ``auto`` to each ``pack`` beside it."""
    for name in ("auto", "zstd", "a.json", "b.json"):
        (tmp_path / name).write_text("[1, 2]", "utf-8")
    for codec in ([], ["-c", "zstd"], ["-c", "zstd:5"]):
        assert b"exact bytes" in run("pack", "-f", *codec, "a.json", cwd=tmp_path).stderr
    done = run("pack", "-c", "b.json", cwd=tmp_path, code=2)
    assert b"-c is the codec, and b.json is a file; serialpack pack b.json -o -" in done.stderr


@needs_posix
def test_a_folder_where_a_link_is_to_be_is_told(run: Run, tmp_path: Path) -> None:
    """It was said that -f overwrites it, by -f too."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/link").symlink_to("a.json")
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    (tmp_path / "to/in/link").mkdir(parents=True)
    for options in ([], ["-f"]):
        said = run("unpack", "all.spk", "-o", "to", *options, code=1).stderr.decode()
        assert "serialpack: to/in/link: is a folder; -o names another folder\n" in said
