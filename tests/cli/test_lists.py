"""Lists of names: --files-from, with -0 and without."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines


@pytest.mark.parametrize("where", ["-", "list"])
@pytest.mark.parametrize("many", [1, 200])
def test_a_list_whose_names_end_in_the_other_way_is_told_of_in_a_line(
    run: Run, tmp_path: Path, many: int, where: str
) -> None:
    """All of it was taken for one name, which could not be read."""
    names = [f"{number:050}" for number in range(many)]
    for name in names:
        (tmp_path / name).write_bytes(b"[1]")
    for end, typed, said in (
        ("\n", ["-0"], "its names are lines; without -0 it is read so"),
        ("\0", [], "its names end with NULs; with -0 it is read so"),
    ):
        listed = "".join(name + end for name in names).encode()
        (tmp_path / "list").write_bytes(listed)
        command = ("pack", "--files-from", where, "-o", "out")
        (line,) = run(*command, *typed, stdin=listed, code=2).stderr.decode().splitlines()
        assert line == f"serialpack: --files-from {where}: {said}"
        other = [] if typed else ["-0"]
        run(*command, "-f", *other, stdin=listed)


def test_a_name_with_a_newline_needs_no_nul_behind_it(run: Run, tmp_path: Path) -> None:
    name = "a\nb.json"
    try:
        (tmp_path / name).write_bytes(b"[1]")
    except OSError:
        pytest.skip("no such name here")
    run("pack", "--files-from", "-", "-0", "-o", "out", stdin=name.encode())
    assert (tmp_path / f"out/{name}.spk").exists()


def test_a_file_that_a_list_names_again_is_taken_once(run: Run, tmp_path: Path) -> None:
    """One such line refused the whole list."""
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("[1]")
    (tmp_path / "list").write_text("a.json\nb.json\na.json\n.//a.json\n")
    for options in (("-o", "out"), ("--archive", "-o", "all.spk"), ("-r", "-o", "two")):
        said = run("pack", "--files-from", "list", *options).stderr.decode()
        assert "2 inputs are named again, and taken once (first a.json)\n" in said
        assert "2 packed" in said


@pytest.mark.parametrize("to", [("-o", "out"), ("--archive", "-o", "all.spk")])
def test_a_folder_that_is_named_again_in_another_spelling_is_taken_once(
    run: Run, tmp_path: Path, to: tuple[str, ...]
) -> None:
    """ "d/1.json has the same output; name it once": which only helped who had typed it."""
    (tmp_path / "d/e").mkdir(parents=True)
    for name in ("d/a.json", "d/e/b.json"):
        (tmp_path / name).write_text("[1]")
    said = run("pack", "-r", "d/", "./d", ".//d/e", "d", *to).stderr.decode()
    assert "2 packed" in said


def test_a_list_as_an_editor_of_windows_saves_it(run: Run, tmp_path: Path) -> None:
    """Its first name began with the mark of UTF-8, and was no file's; then so in ASCII alone."""
    (tmp_path / "a.json").write_text("[1]")
    call = ["pack", "--files-from", "-", "-o", "out", "-f"]
    for env in {}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}:
        run(*call, stdin=b"\xef\xbb\xbfa.json\r\n", env=env)
        assert (tmp_path / "out/a.json.spk").exists()


def test_a_folder_in_a_list_is_told_with_the_command_that_takes_the_list(
    run: Run, tmp_path: Path
) -> None:
    """As find prints it: the command that was named took the folder, and nothing else of what was
    asked for."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.json").write_text("[1]")
    (tmp_path / "list").write_text("in\nin/a.json\n")
    said = run("pack", "--files-from", "list", "--archive", "-o", "a.spk", code=1).stderr.decode()
    _, command = said.splitlines()[0].split("; serialpack ")
    assert command == "pack -r --files-from list --archive -o a.spk"
    run(*command.split())
    assert b"in/a.json" in run("inspect", "a.spk").stdout


@pytest.mark.parametrize(
    "words",
    [
        ["pack", "-r", "a", "b c", "-o", "out"],
        ["pack", "-o", "out", "a/x.json", "b c/x.json"],
        ["pack", "-r", "a", "b c", "--include", "*.json", "--exclude", "/gone", "-o", "out"],
        ["unpack", "--to", "json", "-o", "out", "-r", "--", "a", "b c"],
    ],
    ids=" ".join,
)
def test_a_list_keeps_apart_what_would_have_one_output(
    run: Run, tmp_path: Path, words: list[str]
) -> None:
    """What was named was no command, and with it the folders were to be walked that all are in."""
    for name in ("a", "b c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_text("[1]")
    (said,) = lines(run(*words, code=1).stderr)
    _, _, hint = said.partition("nothing was written; ")
    names, command = hint.removesuffix(" keeps them apart").split(" | ")
    printf, form, *files = shlex.split(names)
    assert (printf, form) == ("printf", r"%s\n")
    _, *args = shlex.split(command)
    run(*args, stdin="".join(f"{name}\n" for name in files).encode())
    found = sorted(path.relative_to(tmp_path) for path in tmp_path.glob("out/*/*"))
    ending = ".spk" if words[0] == "pack" else ""
    assert found == [Path(f"out/a/x.json{ending}"), Path(f"out/b c/x.json{ending}")]


def test_a_list_is_named_in_words_where_its_command_is_not_one_to_copy(
    run: Run, tmp_path: Path
) -> None:
    """Of a word that is a file and what an option takes, and of very many files."""
    folders = ["a", "b", *("long" * 10 + str(number) for number in range(3))]
    for name in folders:
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_text("[1]")
    for words in (["-r", "a", "b", "-o", "a"], ["-r", *folders, "-o", "out"]):
        said = run("pack", *words, code=1).stderr
        assert b"; nothing was written; --files-from, of a list of all, keeps them apart\n" in said


def test_the_command_of_a_hint_names_a_file_whose_name_is_no_text(run: Run, tmp_path: Path) -> None:
    """It had the name as lines show it, by which no shell finds the file."""
    folder = os.fsdecode(b"a\xff")
    try:
        (tmp_path / folder).mkdir()
    except OSError:
        pytest.skip("no such name here")
    (said,) = lines(run("pack", folder, code=1).stderr)
    assert said == r"serialpack: a\xff: is a folder; serialpack pack -r $'a\xff'"
    (tmp_path / f"{folder}.json").write_text("[1]")
    (said,) = lines(run(f"{folder}.json", code=2).stderr)
    assert said.startswith(r"serialpack: unknown verb 'a\xff.json'; serialpack ")
    (said,) = lines(run("pack", f"{folder}.json", "x", "-o", f"{folder}.csv", code=2).stderr)
    assert said.endswith(r"-o $'a\xff.csv/' is a folder")
