"""Of many files some fail: each is named with its reason, and the rest goes on."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import needs_posix
from tests.injected import HIDDEN, injected
from tests.noise import noise


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A file, and two in a folder."""
    (tmp_path / "in/x").mkdir(parents=True)
    for path in ("in/a.json", "in/x/b.json", "in/x/c.json"):
        (tmp_path / path).write_text("[1]\n")
    return tmp_path / "in"


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("ranges", [(), ("--records", "0:1")], ids=["groups", "one by one"])
def test_a_folder_that_cannot_be_made_names_each_source(
    run: Run, tmp_path: Path, ranges: tuple[str, ...]
) -> None:
    run("pack", "-q", "-r", "in", "-o", "packed")
    for verb, source, ending in (("pack", "in", ""), ("unpack", "packed", ".spk")):
        out = tmp_path / verb
        out.mkdir()
        (out / "x").touch()
        options = ranges if verb == "unpack" else ()
        said = run(verb, "-q", "-r", source, *options, "-o", verb, code=1).stderr.decode()
        assert said.splitlines() == [
            f"serialpack: {source}/x/{name}.json{ending}: {verb}/x: is no folder" for name in "bc"
        ]
        assert len([*out.iterdir()]) == 2


@pytest.mark.usefixtures("tree")
def test_an_archive_names_each_entry_whose_folder_cannot_be_made(run: Run, tmp_path: Path) -> None:
    run("pack", "-q", "-r", "in", "--archive", "-o", "all.spk")
    (tmp_path / "out/in").mkdir(parents=True)
    (tmp_path / "out/in/x").touch()
    (tmp_path / "out/in/.serialpack-0123abcd.tmp").touch()
    said = run("unpack", "all.spk", "-o", "out", code=1).stderr.decode()
    assert "serialpack: all.spk: in/x/b.json: out/in/x: is no folder" in said
    assert "serialpack: all.spk: in/x/c.json: out/in/x: is no folder" in said
    assert str(tmp_path) not in said
    assert (tmp_path / "out/in/a.json").exists()
    assert said.splitlines()[-2:] == [
        "all.spk: out/in: removed 1 hidden file of a killed run",
        "serialpack: all.spk: 3 of 5 entries (files, folders and links) could not be unpacked",
    ]
    (tmp_path / "out/in/a.json").unlink()
    options = ("-r", ".", "--include", "all.spk", "-o", "out", "--rm")
    said = run("unpack", *options, code=1).stderr.decode()
    assert re.search(r"\n1 unpacked, 3 failed, [1-9]\d\d B -> 4 B", said)
    assert (tmp_path / "all.spk").exists()
    # Where there is no folder for any of them, that is one line.
    for chosen in ((), ("--include", "*.json")):
        said = run("unpack", "all.spk", *chosen, "-o", "in/a.json/out", code=1).stderr.decode()
        assert said == "serialpack: in/a.json/out: cannot make the folder: not a directory\n"


def test_of_an_archive_that_is_cut_off_what_was_unpacked_counts(
    run: Run, tree: Path, tmp_path: Path
) -> None:
    (tree / "large").write_bytes(noise(200_000))
    (tmp_path / "cut").mkdir()
    run("pack", "-q", "-r", "in", "--archive", "-o", "cut/all.spk")
    os.truncate(tmp_path / "cut/all.spk", 100_000)
    (tmp_path / "cut/all").mkdir()
    (tmp_path / "cut/all/.serialpack-0123abcd.tmp").touch()
    said = run("unpack", "--rm", "-r", "cut", code=3).stderr.decode().splitlines()
    assert said[3] == "cut/all.spk: cut/all: removed 1 hidden file of a killed run"
    assert said[4].startswith("serialpack: cut/all.spk: truncated: ends at byte 100000")
    assert re.match(r"3 unpacked, 1 failed, [1-9]\d\d B -> 12 B", said[5])
    assert (tmp_path / "cut/all.spk").exists()


@pytest.mark.usefixtures("tree")
def test_sources_of_an_archive_are_removed_but_for_those_that_cannot_be(
    run: Run, tmp_path: Path
) -> None:
    env = injected(
        tmp_path / "site",
        "import os\n"
        "real = os.unlink\n"
        "def unlink(path, *args, **named):\n"
        "    if str(path) in ('in/a.json', 'in/x/b.json'):\n"
        "        raise PermissionError(13, 'Permission denied', path)\n"
        "    return real(path, *args, **named)\n"
        "os.unlink = unlink\n",
    )
    options = ("--archive", "--rm", "-q", "-o", "all.spk")
    said = run("pack", "-r", "in", *options, env=env, code=1).stderr.decode()
    assert said.splitlines() == [
        "serialpack: in/a.json: cannot remove: permission denied",
        "serialpack: in/x/b.json: cannot remove: permission denied",
        "serialpack: all.spk: 2 of 5 entries (files, folders and links)"
        " could not be packed and removed",
    ]
    assert not (tmp_path / "in/x/c.json").exists()


@pytest.mark.parametrize("to", [("-o", "out"), ("--archive", "-o", "all.spk")])
def test_a_source_that_stays_is_no_file_that_failed(
    run: Run, tmp_path: Path, to: tuple[str, ...]
) -> None:
    """It counted as packed, and as failed."""
    (tmp_path / "in").mkdir()
    for name in "abc":
        (tmp_path / f"in/{name}.json").write_text("[1]")
    env = injected(
        tmp_path / "site",
        "import os\n"
        "real = os.unlink\n"
        "def unlink(path, *args, **named):\n"
        "    if str(path) == 'in/b.json':\n"
        "        raise PermissionError(13, 'Permission denied', path)\n"
        "    return real(path, *args, **named)\n"
        "os.unlink = unlink\n",
    )
    done = run("pack", "-r", "in", "--rm", *to, env=env, code=1)
    said = done.stderr.decode()
    assert "serialpack: in/b.json: cannot remove: permission denied\n" in said
    line = said.splitlines()[-1]
    assert line.startswith("3 packed, 1 source not removed, ")
    assert line.endswith("; why is above")


def test_skip_existing_says_what_is_wrong_with_what_is_there(run: Run, tmp_path: Path) -> None:
    """A folder, which -f does not overwrite either, and what may not be read."""
    for name in "abc":
        (tmp_path / f"{name}.json").write_text("[1]")
    run("pack", "b.json", "c.json")
    (tmp_path / "a.json.spk").mkdir()
    env = injected(
        tmp_path / "site",
        "import builtins\n"
        "real = builtins.open\n"
        "def opening(path, *args, **named):\n"
        "    if path == 'b.json.spk':\n"
        "        raise PermissionError(13, 'Permission denied', path)\n"
        "    return real(path, *args, **named)\n"
        "builtins.open = opening\n",
    )
    names = ("a.json", "b.json", "c.json")
    said = run("pack", "-q", "--skip-existing", *names, env=env, code=1).stderr.decode()
    assert said.splitlines() == [
        "serialpack: a.json.spk: is a folder; name a file in it",
        "serialpack: b.json.spk: exists already, and cannot be read; -f overwrites it",
    ]


@needs_posix
@pytest.mark.usefixtures("tree")
def test_a_pipe_where_an_output_is_to_be_is_named_and_the_rest_goes_on(
    run: Run, tmp_path: Path
) -> None:
    """It is not written to, which would wait for who reads it."""
    (tmp_path / "out/x").mkdir(parents=True)
    os.mkfifo(tmp_path / "out/x/b.json.spk")
    for force in ((), ("-f",)):
        said = run("pack", "-q", *force, "-r", "in", "-o", "out", code=1).stderr.decode()
        assert "out/x/b.json.spk: is not a regular file; -o writes to it\n" in said
    assert said.count("\n") == 1
    assert (tmp_path / "out/x/c.json.spk").exists()


_ONE_BY_ONE = "-o names it, one by one"


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["pack", "a/x.json", "b/../a/x.json"], "name it once"),
        (["pack", "a/x.json", "a/x.json"], "name it once"),
        (["unpack", "--to", "yaml", "a/x.json", "a/x.json.spk"], _ONE_BY_ONE),
    ],
)
def test_inputs_of_one_output_are_refused_before_anything_is_written(
    run: Run, tmp_path: Path, args: list[str], hint: str
) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.json").write_text('{"n": 1}')
    run("pack", "a/x.json")
    run("pack", "b/x.json", "-o", "b/y.spk")
    said = run(*args, "-o", "out", code=1).stderr.decode()
    assert said.startswith(f"serialpack: {args[-1]}: ")
    assert said.endswith(f"; nothing was written; {hint}\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("to", [(), ("--to", "yaml")])
def test_inputs_of_one_stored_name_are_refused_and_the_rest_goes_on(
    run: Run, tmp_path: Path, to: tuple[str, ...]
) -> None:
    """One such pair refused the whole batch."""
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_text(f'"{name}"')
        run("pack", f"{name}/x.json", "-o", f"{name}.spk")
    (tmp_path / "y.json").write_text('"y"')
    run("pack", "y.json")
    command = ("unpack", *to, "-N", "-f", "--rm", "a.spk", "b.spk", "y.json.spk", "c.spk")
    ending = "yaml" if to else "json"
    for dry in (("--dry-run",), ()):
        said = run(*command, "-o", "out/", *dry, code=1).stderr.decode()
        for one, other in ("ab", "ba", "ca"):
            refused = f"{one}.spk: {other}.spk has the same output, out/x.{ending}"
            assert f"serialpack: {refused}; -o in place of -N names it\n" in said
    assert [each.name for each in (tmp_path / "out").iterdir()] == [f"y.{ending}"]
    assert {each.name for each in tmp_path.glob("*.spk")} == {"a.spk", "b.spk", "c.spk"}
    run("unpack", *to, "b.spk", "-o", f"out/b.{ending}")


@needs_posix
def test_inputs_of_one_output_are_refused_where_case_does_not_count(
    run: Run, tmp_path: Path
) -> None:
    """With -f the one took the place of the other, and with --rm both were removed then; and then
    one such pair refused all the others."""
    names = ["in/a.json", "in/x/A.json", "in/X/a.json"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'"{name}"')
    env = injected(
        tmp_path / "site",
        "import os\n"
        "real = os.path.lexists\n"
        "os.path.lexists = lambda path: real(path) or real(path.lower())\n",
    )
    command = ("pack", "-r", "in", "-o", "out", "-f", "--rm")
    said = run(*command, env=env, code=1).stderr.decode()
    assert (
        "serialpack: in/x/A.json: in/X/a.json has the same output, out/x/A.json.spk, where case"
        " does not count; -o names a folder where it does\n"
    ) in said
    assert "1 packed, 2 failed" in said
    assert [name for name in names if (tmp_path / name).exists()] == names[1:]
    assert b"2 packed" in run(*command).stderr


@needs_posix
def test_inputs_of_one_output_are_refused_where_the_form_of_accents_does_not_count(
    run: Run, tmp_path: Path
) -> None:
    """As where case does not: of two names, one in NFC and one in NFD, one file was left."""
    names = ["in/caf\u00e9.json", "in/cafe\u0301.json", "in/CAFE\u0301.json"]
    names = [os.fsdecode(name.encode()) for name in names]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[1]")
    env = injected(
        tmp_path / "site",
        "import os, unicodedata\n"
        "real = os.path.lexists\n"
        "def lexists(path):\n"
        "    name = unicodedata.normalize('NFC', os.fsencode(path).decode())\n"
        "    return real(path) or real(name.encode())\n"
        "os.path.lexists = lexists\n",
    )
    command = ("pack", "-r", "in", "-o", "out", "-f", "--rm")
    said = run(*command, env=env, code=1).stderr.decode()
    assert " has the same output, out/caf" in said
    assert ", where NFC and NFD of a name are one; -o names a folder" in said
    assert sum((tmp_path / name).exists() for name in names) == 2
    assert b"2 packed" in run(*command).stderr


def test_where_no_process_can_be_started_it_is_done_in_this_one(run: Run, tmp_path: Path) -> None:
    """Each file was said to be one that may not be read."""
    env = injected(tmp_path / "site", "import sys\nsys.executable = '/dev/null'\n")
    (tmp_path / "in").mkdir()
    for number in range(1001):
        (tmp_path / f"in/{number}.json").write_text("[1]\n")
    said = run("pack", "-r", "in", "-o", "out", "-j", "2", env=env).stderr.decode()
    assert said.startswith("1,001 packed, ")
    large = tmp_path / "large.json"
    large.write_bytes(b"[%s]" % b",".join(b'{"a":%d}' % number for number in range(900_000)))
    run("pack", "-s", "msgpack", "large.json", "-j", "2", env=env)
    said = run("bench", "--budget", "0.1", "in/1.json", env=env, code=1).stderr.decode()
    assert "no worker process can be started: /dev/null: permission denied" in said


def test_a_journal_that_takes_no_more_is_told_of_and_the_files_go_on(
    run: Run, tree: Path, tmp_path: Path
) -> None:
    """It was told of as the file's error, and ended the run."""
    env = injected(
        tmp_path / "site",
        "import os\n"
        "real, left = os.write, [2]\n"
        "def write(fd, data):\n"
        "    left[0] -= bytes(data[:2]) == b'{\"'\n"
        "    if left[0] < 0 and bytes(data[:2]) == b'{\"':\n"
        "        raise OSError(28, 'No space left on device')\n"
        "    return real(fd, data)\n"
        "os.write = write\n",
    )
    options = ("-o", "out", "--journal", "kept.log")
    said = run("pack", "-r", "in", *options, env=env, code=1).stderr.decode().splitlines()
    assert said[2].startswith("serialpack: kept.log: cannot write: no space left on device; what")
    assert said[-1].startswith("3 packed, ")
    assert len(said) == 5
    assert len([*(tmp_path / "out").rglob("*.spk")]) == len([*tree.rglob("*.json")])
    assert len((tmp_path / "kept.log").read_bytes().splitlines()) == 2


@needs_posix
@pytest.mark.usefixtures("tree")
def test_what_another_run_does_meanwhile_is_left_where_that_is_asked_for(
    run: Run, tmp_path: Path
) -> None:
    """A nightly job met the one of the night before, and had failed for all that this one did."""
    env = injected(
        tmp_path / "site",
        "import os, shutil\n"
        "real = os.link\n"
        "def link(temp, path, **named):\n"
        "    if not os.path.exists(path):\n"
        "        shutil.copy2(temp, path)\n"
        "    return real(temp, path, **named)\n"
        "os.link = link\n",
    )
    said = run("pack", "-r", "in", "-o", "out", "--skip-existing", env=env).stderr.decode()
    assert "in/a.json: out/a.json.spk is whole and no older, left as it is\n" in said
    assert "0 packed, 3 left as they were, " in said
    said = run("pack", "-r", "in", "-o", "new", env=env, code=1).stderr.decode()
    assert "0 packed, 3 failed, " in said
    # Small files that were not there at first were not overwritten with -f: "-f overwrites it".
    run("pack", "-r", "in", "-o", "forced", "-f", env=env)
    run("unpack", "-r", "forced", "-o", "back", "-f", env=env)


def test_what_failed_is_counted_with_folders_and_only_where_it_is_known(
    run: Run, tmp_path: Path
) -> None:
    """Of 12 files and their folder, 1 of 13 entries was said to fail; also where the header was
    lost of a member that held any number of them."""
    (tmp_path / "in").mkdir()
    for number in range(12):
        (tmp_path / f"in/{number:02}.csv").write_bytes(bytes(range(10)) + b"%d,\n" % number)
    run("pack", "-r", "in", "--archive", "-o", "all.spk")
    (tmp_path / "out/in").mkdir(parents=True)
    (tmp_path / "out/in/03.csv").write_bytes(b"mine")
    told = run("unpack", "all.spk", "-o", "out", code=1).stderr.decode()
    assert "all.spk: 1 of 13 entries (files, folders and links) could not be unpacked" in told
    data = bytearray((tmp_path / "all.spk").read_bytes())
    data[40] ^= 0xFF
    (tmp_path / "all.spk").write_bytes(data)
    told = run("unpack", "all.spk", "-o", "again", code=3).stderr.decode()
    assert "all.spk: at least 1 entry, of a number unknown, could not be unpacked" in told


def test_of_many_that_lack_a_dictionary_twenty_are_named(run: Run, tmp_path: Path) -> None:
    """Each of them said the same."""
    (tmp_path / "in").mkdir()
    for number in range(60):
        record = {"user": f"name{number}", "action": "login", "at": "2024", "n": number * 7919}
        (tmp_path / f"in/{number}.json").write_text(json.dumps(record))
    run("pack", "-r", "in", "-o", "out", "--shared-dict", "out/kinds.dict")
    (tmp_path / "out/kinds.dict").unlink()
    need = "needs the dictionary kinds.dict ("
    said = run("unpack", "-r", "out", "-o", "back", code=1).stderr.decode()
    assert said.count(need) == 20
    assert said.endswith(": 40 more files need a dictionary that is not found; -v names them\n")
    assert run("unpack", "-v", "-r", "out", "-o", "back", code=1).stderr.decode().count(need) == 60


def test_of_many_that_a_disk_does_not_take_twenty_are_named(run: Run, tmp_path: Path) -> None:
    """And a source that it does not let go is named in any case."""
    (tmp_path / "in").mkdir()
    for number in range(30):
        (tmp_path / f"in/{number}.json").write_text("[1]")
    only_read = (
        "import os\n"
        "real = os.{0}\n"
        "def refused(path, *args, **named):\n"
        "    if {1} in str(path):\n"
        "        raise OSError(30, 'Read-only file system', path)\n"
        "    return real(path, *args, **named)\n"
        "os.{0} = refused\n"
    )
    env = injected(tmp_path / "site", HIDDEN + only_read.format("open", "'out/.serialpack'"))
    said = run("pack", "-r", "in", "-o", "out", env=env, code=1).stderr.decode()
    assert said.count(": cannot write: read-only file system\n") == 20
    assert ": 10 more outputs cannot be written: read-only file system; -v names them\n" in said
    env = injected(tmp_path / "site", only_read.format("unlink", "'.json'"))
    said = run("pack", "-r", "in", "-o", "out", "--rm", env=env, code=1).stderr.decode()
    assert said.count(": cannot remove: read-only file system\n") == 30
