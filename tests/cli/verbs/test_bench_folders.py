"""``bench`` of folders and of several files."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import needs_posix
from tests.cli.verbs.test_bench import PLENTY, bench

#: So that it ends soon.
FEW = ("--budget", PLENTY, "-j", "1", "-s", "raw", "-c", "zstd:1", "-c", "none")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of one kind in two folders, and one of another."""
    made = tmp_path / "in"
    (made / "below").mkdir(parents=True)
    for name in (b"a b.json", b"below/\xff.json", b"below/new\nline.json"):
        (made / os.fsdecode(name)).write_text(json.dumps([{"id": n} for n in range(300)]))
    (made / "notes.txt").write_text("left out\n")
    return made


def test_a_folder_is_measured_and_the_command_packs_it(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    """Also with results in the folder itself, which are no inputs; and compared with them."""
    options = (*FEW, "-r", "--include", "*.json", "in")
    outputs = ("--save", "in/results.json", "--html", "page.html")
    found = bench(run, *options, *outputs, "-f")
    assert found["source"] == "in"
    assert found["format"] == "json"
    files = found["files"]
    assert isinstance(files, dict)
    assert files["total"] == len(files["measured"]) == 3
    assert "3 of 3 files, " in (tmp_path / "page.html").read_text()
    assert "3 of 3 files, " in run("bench", *options, "--exclude", "results.json").stdout.decode()
    recommended = found["recommendations"]
    assert isinstance(recommended, list)
    (best,) = [each for each in recommended if each["kind"] == "smallest"]
    run(*shlex.split(best["command"])[1:], "--exclude", "results.json")
    assert sum(path.stat().st_size for path in folder.rglob("*.spk")) == best["size"]
    done = run("bench", *options, "--exclude", "results.json", "--compare", "in/results.json")
    assert done.stdout.startswith(b"in: ")
    refused = run("bench", "--compare", "in/results.json", code=2)
    assert b"name them again, a folder with -r" in refused.stderr


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_measured_is_named_and_the_rest_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in" / "gone.json").symlink_to("nothing")
    done = run("bench", *FEW, "--format", "json", "-r", "in", code=1)
    assert b"in/gone.json: cannot read: it is a link to nothing, where" in done.stderr
    assert b'"recommendations"' in done.stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["in"], 1, b"serialpack bench -r in"),
        (["-r", "in", "--include", "*.xml"], 1, b"no file to measure"),
        (["-r", "in", "--disk"], 2, b"measure one file, not several"),
        (["in/notes.txt", "-"], 2, b"standard input is measured alone"),
        (["in/notes.txt", "in/a b.json", "--save", "in/a b.json", "-f"], 1, b"is the input itself"),
        (["-r", "in", "--sample", "contacts"], 2, b"FILE and --sample exclude each other"),
    ],
)
def test_wrong_calls(run: Run, args: list[str], code: int, words: bytes) -> None:
    done = run("bench", *args, code=code)
    assert words in done.stderr, done.stderr
    assert not done.stdout


@needs_posix
def test_a_link_to_nothing_is_told_with_what_leaves_it_out(run: Run, folder: Path) -> None:
    (folder / "dead").symlink_to("nowhere")
    said = run("bench", *FEW, "-r", "in", code=1).stderr.decode()
    assert (
        "in/dead: cannot read: it is a link to nowhere, where nothing is; --exclude leaves" in said
    )
    run("bench", *FEW, "-r", "in", "--exclude", "dead")
