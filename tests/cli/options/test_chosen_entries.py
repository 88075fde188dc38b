"""Which entries of an archive are meant: globs for ``inspect``, and names behind an archive."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    (tmp_path / "dir").mkdir()
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "dir/b.csv").write_text("id,name\n1,x\n")
    (tmp_path / "dir/noise").write_bytes(bytes(range(256)))
    return ["a.json", "dir/b.csv", "dir/noise"]


def test_inspect_lists_the_entries_that_globs_choose(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    run("pack", "--archive", *inputs, "-o", "all.spk")
    run("pack", "--archive", "-c", "xz", "a.json", "-o", "two.spk")
    said = run("inspect", "--include", "*.csv", "all.spk").stdout.decode()
    assert [line.split()[-1] for line in said.splitlines()] == ["entry", "dir/b.csv", "entry"]
    assert said.splitlines()[1].split()[0] == said.splitlines()[2].split()[0]
    for typed, packed in (("all.spk", b""), ("-", (tmp_path / "all.spk").read_bytes())):
        chosen = ("--include", "dir", "--exclude", "*.csv")
        (line,) = run("inspect", "--json", *chosen, typed, stdin=packed).stdout.splitlines()
        members = json.loads(line)["members"]
        listed = [entry["path"] for member in members for entry in member["entries"]]
        assert listed == [
            path for path in inputs if path.startswith("dir/") and path[-4:] != ".csv"
        ]
    done = run("inspect", "--include", "*.json", "all.spk", "two.spk", "-v")
    assert done.stdout.count(b"a.json") == 2
    assert b"no entry fits the globs" in run("inspect", "--include", "x", "all.spk", code=2).stderr
    for path in ("a.json", "two.spk"):
        code = 2 if path == "a.json" else 0
        said = run("inspect", "--include", "a.json", path, code=code).stderr.decode()
        assert ("choose in archives, and with -r in folders; it is none" in said) == bool(code)
    for option in ("--head=2", "--blocks", "--columns"):
        run("inspect", "--include", "a.json", option, "all.spk", code=2)
    assert b"format   json" in run("inspect", "-r", "--include", "a.json", ".").stdout


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (["in/a.json"], {"in/a.json"}),
        (["a.json"], {"a.json"}),
        (["./in/x/", "a.json"], {"a.json", "in/x/[b].json"}),
        (["in/x/[b].json"], {"in/x/[b].json"}),
        (["*.csv"], {"c.csv"}),
        (["in", "--rm"], {"in/a.json", "in/x/[b].json"}),
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_entries_behind_an_archive_are_taken_by_the_command_that_is_named(
    run: Run, tmp_path: Path, names: list[str], taken: set[str], there: bool
) -> None:
    """All of it was unpacked, and then they were said to be no files."""
    made = ["a.json", "c.csv", "in/a.json", "in/x/[b].json"]
    (tmp_path / "in/x").mkdir(parents=True)
    for name in made:
        (tmp_path / name).write_text("[1]")
    run("pack", "--archive", *made, "-o", "all.spk")
    if not there:
        for name in made:
            (tmp_path / name).unlink()
        (tmp_path / "in/x").rmdir()
        (tmp_path / "in").rmdir()
    (said,) = lines(run("unpack", "all.spk", *names, "-o", "out", code=2).stderr)
    what, hint = said.split("; nothing was written; ")
    assert what == "serialpack: --include takes entries of all.spk"
    assert not (tmp_path / "out").exists()
    run(*shlex.split(hint)[1:])
    found = (tmp_path / "out").rglob("*")
    assert {str(p.relative_to(tmp_path / "out")) for p in found if p.is_file()} == taken


def test_an_entry_that_no_archive_has_is_told_before_all_others_are_unpacked(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text("[1]")
    run("pack", "--archive", "a.json", "-o", "all.spk")
    assert lines(run("unpack", "all.spk", "b.json", "-o", "out", code=2).stderr) == [
        "serialpack: all.spk has no entry b.json; nothing was written; serialpack inspect all.spk"
    ]
    assert not (tmp_path / "out").exists()
    # What else may be a container is one.
    run("pack", "a.json", "-o", "packed")
    run("unpack", "-N", "all.spk", "packed", "-o", "out")
    assert (tmp_path / "out/a.json").is_file()
    run("unpack", "all.spk", "gone.spk", "-o", "two", code=1)
    assert (tmp_path / "two").exists()
    run("pack", "-f", "--archive", "all.spk", "-o", "more.spk")
    (tmp_path / "all.spk").unlink()
    said = run("unpack", "more.spk", "all.spk", code=2).stderr.decode()
    assert said.endswith("; serialpack unpack more.spk --include /all.spk\n")


def test_an_archive_of_another_name_says_what_names_its_folder(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    """With -N it was told to take -N."""
    run("pack", "--archive", *inputs, "-o", "all")
    for typed in ((), ("-N",), ("--include", "a.json", "--bytes", "0:1")):
        (said,) = lines(run("unpack", *typed, "all", code=1).stderr)
        assert said.endswith(".spk; -o names the folder that its entries go to")
    run("unpack", "all", "-o", "out")
    assert (tmp_path / "out/a.json").is_file()


def test_the_one_file_that_globs_find_in_a_folder_is_named(run: Run, inputs: list[str]) -> None:
    assert inputs
    said = run("inspect", "-r", ".", "--include", "*.csv").stdout.decode()
    assert said.split()[:2] == ["file", "./dir/b.csv"]
