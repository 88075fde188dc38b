"""Folders as inputs: which files of them are taken, and where what they become goes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import serialpack
from tests.cli.conftest import Run, environment
from tests.cli.told import needs_posix, not_root
from tests.injected import powerless


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder of JSON and YAML, two folders deep."""
    for path in ("in/a.json", "in/x/a.json", "in/x/y/b c.yaml", "in/z/a.json"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f'"{path}"\n')
    return tmp_path / "in"


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_tree_there_and_back(run: Run, tree: Path, tmp_path: Path) -> None:
    """Files of one name in several folders do not meet."""
    run("pack", "-r", tree, "-o", tmp_path / "out")
    assert list(files_in(tmp_path / "out")) == [f"{name}.spk" for name in files_in(tree)]
    run("unpack", "--test", "-r", tmp_path / "out")
    run("unpack", "-r", tmp_path / "out", "-o", tmp_path / "back")
    assert files_in(tmp_path / "back") == files_in(tree)
    found = run("inspect", "--json", "-r", tmp_path / "out").stdout.splitlines()
    assert [json.loads(line)["container"] for line in found] == [True] * 4
    run("unpack", "--to", "ndjson", "-r", tree, "-o", tmp_path / "to", "--include", "*.json")
    assert list(files_in(tmp_path / "to")) == ["a.ndjson", "x/a.ndjson", "z/a.ndjson"]


def test_beside_each_file_and_again(run: Run, tree: Path) -> None:
    """What is packed is left out, and nothing else is taken back."""
    before = files_in(tree)
    assert "no files to take" not in run("pack", "--dry-run", "-r", tree, tree).stderr.decode()
    run("pack", "--rm", "-r", tree)
    assert list(files_in(tree)) == [f"{name}.spk" for name in before]
    (tree / "new.json").write_text("1")
    assert "no files to take, 1 file" not in run("pack", "-r", tree).stderr.decode()
    (tree / "new.json").unlink()
    (tree / "new.json.spk").unlink()
    said = run("pack", "-r", tree).stderr.decode()
    assert f"{tree}: no files to take, 4 .spk files left out" in said
    run("unpack", "-r", tree, "--include", "q*", "-o", "out/")
    assert not (tree.parent / "out").exists()
    run("unpack", "--rm", "-r", tree)
    assert files_in(tree) == before
    assert "4 files that are not .spk left out" in run("unpack", "-r", tree).stderr.decode()


def _in(glob: str, folder: str) -> str:
    """``glob`` over paths below ``folder``, as one over paths with it."""
    inner = glob.removeprefix("./").removeprefix("/")
    return f"{folder}/{inner}" if "/" in glob.rstrip("/") else glob


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        (["--include", "*.json"], ["a.json", "x/a.json", "z/a.json"]),
        (["--include", "a.*", "--exclude", "/x"], ["a.json", "z/a.json"]),
        (["--exclude", "y/", "--exclude", "z/*"], ["a.json", "x/a.json"]),
        (["--include", "x/**/*.{yaml,yml}"], ["x/y/b c.yaml"]),
        (["--include", "y", "--include", "./z/"], ["x/y/b c.yaml", "z/a.json"]),
        (["--include", "x", "--exclude", "*.json"], ["x/y/b c.yaml"]),
    ],
)
def test_globs(run: Run, tree: Path, tmp_path: Path, options: list[str], taken: list[str]) -> None:
    """As ``unpack`` takes entries of an archive: a folder that is meant with all in it."""
    run("pack", "-r", tree, *options, "-o", tmp_path / "out")
    assert list(files_in(tmp_path / "out")) == [f"{name}.spk" for name in taken]
    globs = [word if word.startswith("--") else _in(word, tree.name) for word in options]
    run("pack", "-r", tree.name, "--archive", "-o", "all.spk")
    run("unpack", "all.spk", *globs, "-o", "back")
    assert list(files_in(tmp_path / "back" / tree.name)) == taken


def test_its_own_output_is_no_input(run: Run, tree: Path) -> None:
    before = files_in(tree)
    for turn in range(2):
        done = run("pack", "-f", "-r", tree, "-o", tree / "packed")
        said = f"{tree}/packed: is written to, and left out\n".encode()
        assert (said in done.stderr) == bool(turn)
    assert list(files_in(tree / "packed")) == [f"{name}.spk" for name in before]


@needs_posix
def test_what_standard_output_leads_to_is_no_input(tree: Path, tmp_path: Path) -> None:
    """``pack -r . --archive -o - > all.spk`` held ``all.spk`` itself, of as many bytes as were
    written when it was looked at."""
    command = [sys.executable, "-m", "serialpack"]
    root = os.fspath(Path(serialpack.__file__).parents[1])
    for name, args in (
        ("all.spk", ["pack", "-r", ".", "--archive", "-o", "-"]),
        ("lines.json", ["pack", "-r", ".", "-o", tmp_path / "out", "--json"]),
    ):
        with (tree / name).open("wb") as out:
            done = subprocess.run(
                [*command, *args],
                cwd=tree,
                env=environment(tmp_path, PYTHONPATH=root),
                stdout=out,
                stderr=subprocess.PIPE,
                check=True,
            )
        assert f"./{name}: is written to, and left out" in done.stderr.decode()
    serialpack.unpack_archive(tree / "all.spk", tmp_path / "back")
    assert sorted(files_in(tmp_path / "back")) == ["a.json", "x/a.json", "x/y/b c.yaml", "z/a.json"]
    assert not (tmp_path / "out/lines.json.spk").exists()


def test_two_folders_with_one_name_are_refused_at_first(
    run: Run, tree: Path, tmp_path: Path
) -> None:
    done = run("pack", "-r", tree / "x", tree / "z", "-o", tmp_path / "out", code=1)
    assert b"has the same output" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_as_a_file_names_the_command(run: Run, tree: Path) -> None:
    spaced = tree.rename(tree.with_name("my data"))
    for verb in ("pack", "unpack", "inspect"):
        said = run(verb, spaced, code=1).stderr.decode()
        assert said == f"serialpack: {spaced}: is a folder; serialpack {verb} -r '{spaced}'\n"


@pytest.mark.usefixtures("tree")
def test_a_folder_where_a_file_is_meant_is_told_for_what(run: Run, tmp_path: Path) -> None:
    """ "name the files in it", said each: of a list, of a dictionary, and of an entry's place."""
    (tmp_path / "to/in/a.json").mkdir(parents=True)
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    for args, words in (
        (["pack", "--files-from", "in"], "in: is a folder; --files-from reads a file of names;"),
        (["pack", "-r", "in", "--shared-dict", "in/x"], "in/x: is a folder, and no dictionary; "),
        (["unpack", "all.spk", "-o", "to"], "to/in/a.json: is a folder; -o names another folder"),
    ):
        said = run(*args, code=1).stderr.decode()
        assert f"serialpack: {words}" in said
        assert "in it" not in said


@needs_posix
def test_a_socket_is_told_as_one(run: Run, tmp_path: Path) -> None:
    """ "cannot read: no such device or address"."""
    (tmp_path / "s").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        folder = os.open(tmp_path / "s", os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{folder}/here")
        os.close(folder)
        for options in ([], ["--archive", "-o", "x.spk"]):
            said = run("pack", "s/here", *options, code=1).stderr.decode()
            assert said.startswith("serialpack: s/here: is a socket, which nothing is read from\n")
        said = run("pack", "-r", "s").stderr.decode()
        assert "s: no files to take, 1 that is no file (a pipe, a socket, a device)" in said


def test_what_goes_with_folders_only(run: Run, sample: Path) -> None:
    run("pack", "--include", "*", sample, code=2)
    run("pack", "-r", code=2)


@needs_posix
def test_any_names_and_links(run: Run, tmp_path: Path) -> None:
    """Bytes that are no UTF-8; links to files are files, links to folders no way round."""
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for name in (b"\xff\xfe", b"new\nline", b" -o"):
        (folder / "sub" / os.fsdecode(name)).write_bytes(b"data")
    (folder / "sub" / "up").symlink_to("..")
    (folder / "link").symlink_to(os.fsdecode(b"sub/\xff\xfe"))
    (folder / "gone").symlink_to("nothing")
    os.mkfifo(folder / "pipe")
    done = run("pack", "-r", folder, "-o", tmp_path / "out", code=1)
    assert b"left out: 1 link to a folder, 1 that is no file" in done.stderr
    assert b"in: 1 link becomes a file (--archive keeps them)\n" in done.stderr
    assert b"gone: cannot read: it is a link to" in done.stderr
    hint = b"; --exclude leaves it out, and --archive keeps it\n"
    assert done.stderr.count(hint) == 1
    (folder / "gone").unlink()
    (folder / "loop").symlink_to("loop")
    said = run("pack", "-r", folder, "-o", tmp_path / "out", "-f", code=1).stderr
    assert b"loop: cannot read: too many levels of symbolic links" + hint in said
    assert set(files_in(tmp_path / "out")) == {
        os.fsdecode(name)
        for name in (b"link.spk", b"sub/\xff\xfe.spk", b"sub/new\nline.spk", b"sub/ -o.spk")
    }
    names = b"\0".join(os.fsencode(f"{folder}/") + name for name in (b"sub", b"link"))
    run("pack", "-r", "--files-from", "-", "-0", "-o", tmp_path / "two", stdin=names)
    assert len(files_in(tmp_path / "two")) == 4


@needs_posix
def test_links_stay_where_the_files_are_removed(run: Run, tmp_path: Path) -> None:
    """Each such run failed: "is a symbolic link, which --rm does not remove"."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.json").write_text("[1]")
    (tmp_path / "other").write_text("[2]")
    for name, target in (("link", "a.json"), ("out", "../other"), ("gone", "nothing")):
        (folder / name).symlink_to(target)
    (folder / "loop").symlink_to("loop")
    before = files_in(folder)
    said = run("pack", "-r", "--rm", "in").stderr.decode()
    assert "in: left out: 4 links (--rm removes none)\n" in said
    assert {each.name for each in folder.iterdir()} == {"a.json.spk", "gone", "link", "loop", "out"}
    said = run("pack", "-r", "--rm", "in").stderr.decode()
    assert "in: no files to take, 1 .spk file, 4 links (--rm removes none) left out\n" in said
    run("unpack", "-r", "--rm", "in")
    assert files_in(folder) == before
    assert (tmp_path / "other").read_text() == "[2]"


@needs_posix
def test_a_link_that_is_named_is_the_folder_behind_it(run: Run, tree: Path, tmp_path: Path) -> None:
    """Also in an archive, where links below it stay links."""
    (tmp_path / "link").symlink_to("in")
    (tree / "z/link").symlink_to("../x")
    run("pack", "-r", "link", "--archive", "-o", "all.spk")
    run("unpack", "all.spk", "-o", "out")
    assert not (tmp_path / "out/link").is_symlink()
    assert files_in(tmp_path / "out/link") == files_in(tree)
    assert (tmp_path / "out/link/z/link").readlink() == Path("../x")


@needs_posix
@not_root
def test_a_folder_that_may_not_be_read(run: Run, tree: Path, tmp_path: Path) -> None:
    """It was named, and counted, by each of two inputs that it is in, or is."""
    (tree / "x").chmod(0)
    try:
        env = powerless(tmp_path / "site")
        done = run("pack", "-r", tree, "-o", tmp_path / "out", env=env, code=1)
        both = run("pack", "-r", tree, tree / "x", "--archive", "-o", "all.spk", env=env, code=1)
    finally:
        (tree / "x").chmod(0o700)
    for said in done.stderr, both.stderr:
        assert said.count(b"cannot list: permission denied") == 1
        assert b", 1 failed" in said
    assert list(files_in(tmp_path / "out")) == ["a.json.spk", "z/a.json.spk"]


@needs_posix
@not_root
def test_folders_that_may_not_be_written_to(run: Run, tree: Path, tmp_path: Path) -> None:
    """One of outputs costs its files and no others; one of sources keeps them, with --rm."""
    env, out = powerless(tmp_path / "site"), tmp_path / "out"
    (out / "x/y").mkdir(parents=True)
    for folder in (out / "x", tree / "z"):
        folder.chmod(0o500)
    try:
        said = run("pack", "-r", tree, "-o", out, "--rm", env=env, code=1).stderr.decode()
    finally:
        for folder in (out / "x", tree / "z"):
            folder.chmod(0o700)
    assert f"serialpack: {out}/x/a.json.spk: cannot write: permission denied\n" in said
    assert f"serialpack: {tree}/z/a.json: cannot remove: permission denied\n" in said
    assert list(files_in(tree)) == ["x/a.json", "z/a.json"]
    assert list(files_in(out)) == ["a.json.spk", "x/y/b c.yaml.spk", "z/a.json.spk"]


@pytest.mark.peers
@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_gitignore_is_heeded_when_asked_for_as_git_does(run: Run, tmp_path: Path) -> None:
    repository = tmp_path / "in"
    subprocess.run(["git", "init", "-q", repository], check=True)
    ignored = {
        ".gitignore": "*.log\n!keep.log\n/top.json\nbuild/\n# no rule\n\\#a\ndeep/**/x?.json\n"
        "note/*\n!note/*/\nnote/*/**\n!note/*/kept.txt\n",
        "sub/.gitignore": "!top.log\n*.json\n!/wanted.json\n!again/\n",
    }
    names = [
        *("a.log", "keep.log", "top.json", "a.json", "#a", "build/a.json", "build/keep.log"),
        *("sub/build/b.txt", "sub/top.json", "sub/top.log", "sub/wanted.json", "sub/c/d.txt"),
        *("note/a.txt", "note/b/a.txt", "note/b/kept.txt", "sub/again/a.json", "sub/again/a.txt"),
        *("sub/c/wanted.json", "deep/x1.json", "deep/a/b/x2.json", "deep/a/y2.json"),
    ]
    for name in (*ignored, *names):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(ignored.get(name, "1"))
    listing = ["git", "ls-files", "-o", "--exclude-standard", "-z"]
    listed = subprocess.run(listing, cwd=repository, check=True, capture_output=True).stdout
    wanted = listed.decode().split("\0")
    said = run("pack", "-r", repository, "--gitignore", "-o", "out").stderr.decode()
    assert "that .gitignore names" in said
    assert sorted(f"{name}.spk" for name in wanted if name) == list(files_in(tmp_path / "out"))
    run("pack", "-r", repository / "sub", "--gitignore", "-o", "sub")  # and those above
    below = [name.removeprefix("sub/") for name in wanted if name.startswith("sub/")]
    assert sorted(f"{name}.spk" for name in below) == list(files_in(tmp_path / "sub"))
    run("pack", "-r", repository, "--exclude", ".git", "-o", "all")
    assert len(files_in(tmp_path / "all")) == len(names) + len(ignored)
    run("pack", "--gitignore", repository / "a.json", code=2)
    far = run("pack", "-r", repository.as_uri(), "--gitignore", "-o", "far", code=2)
    assert b"--gitignore is for folders of this machine" in far.stderr


def test_empty_folders_are_told_of(run: Run, tree: Path, tmp_path: Path) -> None:
    """They have no file that would bring them back; in an archive they are."""
    for name in ("none", "x/deep/none"):
        (tree / name).mkdir(parents=True)
    said = run("pack", "-r", tree, "-o", tmp_path / "out").stderr.decode()
    assert f"{tree}: left out: 2 empty folders (--archive keeps them)" in said
    (tree / "none").rmdir()
    said = run("pack", "-r", tree, "-o", tmp_path / "one").stderr.decode()
    assert "1 empty folder (" in said
    for words in (("--include", "*.json", "-o", "two"), ("--archive", "-o", "a.spk")):
        assert "empty folder" not in run("pack", "-r", tree, *words).stderr.decode()
    assert "empty folder" not in run("unpack", "-r", tmp_path / "out").stderr.decode()
    run("unpack", "a.spk", "-o", tmp_path / "back")
    assert [path.is_dir() for path in (tmp_path / "back").rglob("none")] == [True]


def test_a_list_keeps_the_folders_that_it_names(run: Run, tree: Path, tmp_path: Path) -> None:
    """As rsync has it: what find lists in two folders does not collide, and one name alone is not
    that of the output."""
    listed = b"in/a.json\nin/z/a.json\n" + os.fsencode(tree / "x/a.json")
    run("pack", "--files-from", "-", "-o", "out", stdin=listed)
    absolute = f"{tree}/x/a.json.spk".removeprefix("/")
    assert list(files_in(tmp_path / "out")) == sorted(
        ["in/a.json.spk", "in/z/a.json.spk", absolute]
    )
    run("pack", "--files-from", "-", "-o", "one", stdin=b"./in/a.json")
    assert list(files_in(tmp_path / "one")) == ["in/a.json.spk"]
    run("pack", "-r", "--files-from", "-", "-o", "two", stdin=b"in/x\nin/../in/a.json\n")
    assert set(files_in(tmp_path / "two")) > {"in/a.json.spk", "in/x/y/b c.yaml.spk"}
    run("unpack", "-r", "two", "-o", "back")
    assert (tmp_path / "back/in/x/a.json").read_bytes() == (tree / "x/a.json").read_bytes()


def test_an_empty_list_is_no_input(run: Run, tmp_path: Path) -> None:
    """Standard input was packed in its place."""
    for verb in ("pack", "unpack", "inspect"):
        done = run(verb, "--files-from", "-", *(["-o", "out"] * (verb != "inspect")))
        assert b"standard input: the list names nothing\n" in done.stderr
        assert not done.stdout
    assert not (tmp_path / "out").exists()
    (tmp_path / "list").touch()
    run("pack", "--files-from", "list", "--archive", "-o", "a.spk", code=2)
    run("bench", "--files-from", "list", code=1)


def test_what_a_folder_has_besides_is_counted_in_words(run: Run, tree: Path) -> None:
    """Of one it said \"1 .spk files\", and not that --include is about paths below the folder."""
    run("pack", "--rm", tree / "a.json")
    assert f"{tree}: left out: 1 .spk file\n" in run("pack", "-r", tree).stderr.decode()
    run("pack", "-r", "in", "--include", "x/", "--exclude", "y", "-o", "x")
    assert list(files_in(tree.parent / "x")) == ["x/a.json.spk"]
    said = run("pack", "-r", "in", "--include", "in/x/*.json", "-o", "out").stderr.decode()
    assert said.startswith(
        "in: no files to take that fit --include, which is about paths below it\n"
    )


@needs_posix
def test_a_dry_run_tells_of_links_as_of_what_they_lead_to(run: Run, tree: Path) -> None:
    """It said \"as as it is\"; and a link to nothing was one more file that is not there."""
    (tree / "link.json").symlink_to("a.json")
    (tree / "nothing.json").symlink_to("no.json")
    said = run("pack", "--dry-run", "-r", "in", "-o", "out", code=1).stderr.decode()
    assert "would pack in/link.json to out/link.json.spk as raw+zstd:3\n" in said
    where = "it is a link to no.json, where nothing is"
    assert f"serialpack: in/nothing.json: cannot read: {where}; --exclude leaves it out" in said


@pytest.mark.usefixtures("tree")
def test_an_archive_of_nothing_but_folders_is_told(run: Run) -> None:
    """Where the globs leave out all files of a folder, it was packed without a word."""
    for name in ("all", "txt"):
        exclude = ("--exclude", "*") if name == "all" else ("--exclude", "*.*")
        done = run("pack", "-r", "in", *exclude, "--archive", "-o", f"{name}.spk")
        assert done.stderr.decode().startswith("in: no files to take\n0 packed")
    done = run("pack", "-r", "in", "--exclude", "a.json", "--archive", "-o", "some.spk")
    assert b"no files" not in done.stderr
