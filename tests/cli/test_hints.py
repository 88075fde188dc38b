"""What a refusal names as the way out is one: it is run here, and works."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """Two files of JSON in the folder of the calls."""
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_bytes(b'[{"a":1},{"a":2}]')
    return ["one.json", "two.json"]


@pytest.mark.parametrize(
    ("verb", "output"),
    [
        (["pack"], "both.spk"),
        (["unpack", "--to", "json"], "both.yaml"),
        (["unpack", "--to", "json"], "both.xlsx"),
    ],
)
def test_several_inputs_do_not_make_a_folder_called_like_a_file(
    run: Run, tmp_path: Path, two: list[str], verb: list[str], output: str
) -> None:
    (line,) = lines(run(*verb, *two, "-o", output, code=2).stderr)
    assert line.startswith(f"serialpack: several inputs cannot go to one file, {output}; ")
    assert not (tmp_path / output).exists()
    assert line.endswith(f"-o {output}/ is a folder")
    run(*verb, *two, "-o", f"{output}/")
    assert len(list((tmp_path / output).iterdir())) == 2
    run(*verb, *two, "-o", output, "-f")  # a folder that is there
    if "; --to yaml joins them" in line:
        run("unpack", "--to", "yaml", *two, "-o", "one.yaml")
    if output == "both.xlsx":  # each was told a command of its own, of which the second was refused
        assert "; --to csv -o both.csv writes a table that it opens; " in line
        run("unpack", *two, "--to", "csv", "-o", "both.csv")
    (tmp_path / f"file{Path(output).suffix}").touch()
    (line,) = lines(run(*verb, *two, "-o", f"file{Path(output).suffix}", code=2).stderr)
    assert line.endswith("; -o FOLDER takes each")


def test_parts_of_several_are_not_told_to_be_converted(run: Run, two: list[str]) -> None:
    """--to goes without --records, as it says then."""
    done = run("unpack", *two, "--records", "0:1", "-o", "both.json", code=2)
    assert b"one file, both.json; -o both.json/ is a folder" in done.stderr


@pytest.mark.parametrize("packed", [["-r", "data"], ["data/one.json", "data/two.json"]])
def test_a_dry_run_makes_no_more_of_a_missing_folder_than_the_run_itself(
    run: Run, tmp_path: Path, two: list[str], packed: list[str]
) -> None:
    (tmp_path / "data").mkdir()
    for name in two:
        (tmp_path / name).rename(tmp_path / "data" / name)
    for call in (["pack", *packed, "-o", "packed"], ["unpack", "-r", "packed", "-o", "back"]):
        assert run(*call, "--dry-run").stderr.count(b"would ") == 2
        assert not (tmp_path / call[-1]).exists()
        run(*call)
    run("pack", "--dry-run", "--archive", *packed, "-o", "gone/x.spk", code=1)
    run("pack", "--archive", *packed, "-o", "gone/x.spk", code=1)


def test_an_archive_counts_its_files_and_not_its_folders(run: Run, two: list[str]) -> None:
    done = run("pack", "--archive", "-r", ".", "--include", "*.json", "-o", "x.spk")
    assert len(two) == 2
    assert lines(done.stderr)[-1].startswith("2 packed, ")


def test_several_inputs_become_one_container_as_the_refusal_says(
    run: Run, tmp_path: Path, two: list[str]
) -> None:
    (line,) = lines(run("pack", "-r", ".", "-o", "both.spk", code=2).stderr)
    assert "; pack --archive makes one of them; " in line
    run("pack", "--archive", *two, "-o", "both.spk")
    assert (tmp_path / "both.spk").is_file()


@pytest.mark.parametrize(
    "part", [["--records", "0:1", "-o", "-"], ["--bytes", "0:4", "-o", "-"], ["--test"]]
)
def test_a_part_of_what_is_no_container_is_had_by_packing_it(
    run: Run, two: list[str], part: list[str]
) -> None:
    (line,) = lines(run("unpack", *part, two[0], code=3).stderr)
    assert "--to" not in line  # which does not go with a part
    hint = line.partition("; ")[2].removesuffix(" makes one of it")
    run(*shlex.split(hint)[1:])
    run("unpack", *part, f"{two[0]}.spk")


@pytest.mark.parametrize("name", ["plain", "plain.json", "plain.spk"])
def test_what_is_no_container_is_told_so_however_it_is_called(
    run: Run, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b'{"a":1}')
    (line,) = lines(run("unpack", name, code=3).stderr)
    assert line == (
        f"serialpack: {name}: not a serialpack file (looks like JSON); --to FORMAT converts it"
    )
    run("unpack", "--to", "ndjson", name)


def test_text_is_not_to_be_packed_again_where_it_seems_to_have_been(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "notes").write_bytes(b"some text\n")
    said = "not a serialpack file (looks like text)"
    told = run("unpack", "notes", code=3).stderr.decode()
    assert told == f"serialpack: notes: {said}; serialpack pack notes makes one of it\n"
    (tmp_path / "notes").rename(tmp_path / "a.spk")
    assert run("unpack", "a.spk", code=3).stderr.decode() == f"serialpack: a.spk: {said}\n"
    piped = run("unpack", stdin=b"some text\n", code=3).stderr.decode()
    assert piped == f"serialpack: standard input: {said}\n"
    run("pack", "a.spk", "-f", "-o", "a.spk.spk")
    (tmp_path / "a.spk").rename(tmp_path / "b")
    (tmp_path / "a.spk.spk").rename(tmp_path / "b.spk")
    assert run("unpack", "b", code=3).stderr.decode() == f"serialpack: b: {said}\n"


@pytest.mark.parametrize("output", ["x.mrc", "x.nii.gz", "x.xlsx", "x.ods"])
@pytest.mark.parametrize("name", ["plain", "a.npy", "a b.csv"])
def test_where_nothing_is_written_as_the_output_is_called_a_command_says_what_is(
    run: Run, tmp_path: Path, name: str, output: str
) -> None:
    """There was no hint for text, and of others one that does not go with that name."""
    (tmp_path / "plain").write_bytes(b"hello world\n")
    (tmp_path / "a b.csv").write_bytes(b"a,b\n1,2\n")
    np.save(tmp_path / "a.npy", np.eye(2))
    there = {path.name for path in tmp_path.iterdir()}
    (line,) = lines(run("unpack", name, "-o", output, code=3).stderr)
    hint = line.partition("; ")[2]
    command, _, why = hint.partition(" writes " if name != "plain" else " makes ")
    assert why == (
        "one of it"
        if name == "plain"
        else "a table that it opens"
        if output in ("x.xlsx", "x.ods")
        else f"that: {'mrc' if output == 'x.mrc' else 'nifti'} is only read"
    )
    run(*shlex.split(command)[1:])
    (made,) = {path.name for path in tmp_path.iterdir()} - there
    assert made.rpartition(".")[2] == ("spk" if name == "plain" else shlex.split(command)[4])


def test_who_unpacks_into_a_container_is_told_to_pack(run: Run, tmp_path: Path) -> None:
    """It was said that such a name says no format, --to FORMAT does."""
    (tmp_path / "a b.csv").write_bytes(b"a,b\n1,2\n")
    (line,) = lines(run("unpack", "a b.csv", "-o", "x.csv.spk", code=3).stderr)
    hint = line.partition("; ")[2].removesuffix(" makes one of it")
    run(*shlex.split(hint)[1:])
    assert run("unpack", "x.csv.spk", "-o", "-").stdout == b"a,b\n1,2\n"


def test_bytes_that_only_begin_with_a_length_are_not_taken_for_bson(
    run: Run, tmp_path: Path
) -> None:
    size = (9).to_bytes(4, "little")
    for content, is_said in (
        (size + b"\x0aa\0\0\0", True),  # a null called a, and bytes behind it
        (size + b"\x02\0\xff\xff\0", False),  # text longer than the document
        (size + b"\x77a\0\0\0", False),  # no type of BSON
    ):
        (tmp_path / "x").write_bytes(content + b"\xff")
        done = run("unpack", "--to", "json", "x", code=3)
        assert (b"--from bson" in done.stderr) == is_said


def test_toml_is_known_by_its_content_where_it_is_longer_than_what_is_looked_at(run: Run) -> None:
    text = "".join(f'[[package]]\nname = "p{n}"\n\n' for n in range(4000))
    assert len(text) > 64 << 10
    done = run("unpack", "--to", "json", stdin=text.encode())
    assert len(json.loads(done.stdout)["package"]) == 4000
    assert b"read as toml" in done.stderr


def test_a_list_in_one_row_is_taken_by_the_words_that_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'{"jobs":[{"a":1},{"a":2}],"at":0}')
    said = run("unpack", "--to", "csv", "x.json").stderr.decode()
    assert "--at jobs takes" in said
    assert "--lossy around lets go" in said
    words = ["--at", "jobs", "--lossy", "around", "-o", "-"]
    assert run("unpack", "--to", "csv", "x.json", *words).stdout == b"a\n1\n2\n"


@pytest.mark.parametrize("rows", [b"", b"1,2,3\n", b"1,2,3\n4,5,6\n"])
def test_a_name_twice_has_a_way_that_loses_nothing(run: Run, rows: bytes) -> None:
    """The first that is named, and it works; then the one that loses a column."""
    table = b"a,a,b\n" + rows
    words = ["unpack", "--strict", "-F", "csv", "--to", "json"]
    (line,) = run(*words, stdin=table, code=4).stderr.splitlines()
    assert b"key twice: the column 'a'; --no-header keeps each column" in line
    assert b"--lossy duplicates" in line
    done = run("unpack", "-F", "csv", "--no-header", "--to", "json", stdin=table)
    names = ["column1", "column2", "column3"]
    cells = [line.split(",") for line in table.decode().splitlines()]
    assert json.loads(done.stdout) == [dict(zip(names, row, strict=True)) for row in cells]


@pytest.mark.parametrize(
    ("output", "name"), [("./", "./NAME.spk"), ("in", "in/NAME.spk"), ("new/", "new.spk")]
)
def test_a_folder_for_an_archive_is_told_so(
    run: Run, tmp_path: Path, output: str, name: str
) -> None:
    """Its inputs were said to be folders, and -r to be missing."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.json").write_text("[1]")
    (said,) = run("pack", "in/a.json", "--archive", "-o", output, code=2).stderr.splitlines()
    words = f"--archive makes a file: {output} is a folder; -o {name}"
    assert said.decode() == f"serialpack: {words}"
    run("pack", "in/a.json", "--archive", "-o", name)


def test_a_list_of_which_records_are_to_have_keys_becomes_records_as_told(
    run: Run, tmp_path: Path
) -> None:
    """It has a number as its key without --key, which nobody wanted who named one."""
    (tmp_path / "a.json").write_text('[{"a": "x"}, {"a": "y"}]')
    store = ("-o", "sqlite-kv://s.db", "--key", "a")
    (said,) = run("unpack", "a.json", *store, code=4).stderr.decode().splitlines()
    assert said.endswith("; it is a list: unpack --to ndjson makes a record of each in it")
    run("unpack", "--to", "ndjson", "a.json")
    run("unpack", "a.ndjson", *store)
    assert run("unpack", "--get", "y", "sqlite-kv://s.db").stdout == b'{"a":"y"}\n'


@pytest.mark.parametrize("kind", ["table", "array", "list"])
def test_names_that_are_to_be_typed_are_told_so(run: Run, tmp_path: Path, kind: str) -> None:
    """They stood there bare: with a comma or a blank in one, nobody knew which they were."""
    name = "a b,\nc"
    if kind == "table":
        with closing(sqlite3.connect(tmp_path / "a")) as made:
            made.execute(f'create table "{name}" (x)')
            made.execute("create table other (x)")
        option, to = "--table", "csv"
    elif kind == "array":
        arrays: dict[str, Any] = {name: np.arange(2), "other": np.arange(3)}
        np.savez(tmp_path / "a.npz", **arrays)
        (tmp_path / "a.npz").rename(tmp_path / "a")
        option, to = "--at", "npy"
    else:
        (tmp_path / "a").write_text(json.dumps({name: [{"x": 1}], "other": [{"x": 2}]}))
        option, to = "--at", "csv"
    how = ("unpack", "a", "--to", to, "-o", "out", "--lossy", "around")
    asked = run(*how, option, "none", code=3 if kind == "array" else 2).stderr.decode()
    typed = r"$'a b,\x0ac'"
    assert f" {typed}, other" in asked
    words = subprocess.run(["bash", "-c", f"printf %s {typed}"], capture_output=True, check=True)
    run(*how, option, words.stdout.decode())


def test_a_store_is_named_as_it_is_typed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    run("unpack", "a.json", "-o", "sqlite-kv://a b.db")
    said = run("unpack", "a b.db", "--to", "json", code=4).stderr.decode()
    assert "; 'sqlite-kv://a b.db' reads its values, --table records those rows" in said
    run("unpack", "sqlite-kv://a b.db", "--to", "json", "-o", "-")
    run("unpack", "a b.db", "--table", "records", "--to", "json", "-o", "-")


def test_numbers_that_are_no_array_yet_are_rounded_in_two_steps(run: Run, tmp_path: Path) -> None:
    """They were told to do what they did."""
    (tmp_path / "a.json").write_text("[1.126, 2.5]")
    rounding = ("--lossy", "fixed:0.01")
    said = run("unpack", "a.json", "-o", "b.npy", *rounding, code=2).stderr.decode()
    assert "; convert it without, and then what that wrote, with --lossy fixed:0.01" in said
    run("unpack", "a.json", "-o", "a.npy")
    run("unpack", "a.npy", "-o", "b.npy", *rounding)
