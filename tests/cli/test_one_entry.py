"""``unpack --records``, ``--bytes``, ``--fields`` and ``--to`` of one entry of an archive."""

from __future__ import annotations

import json
import os
import shlex
import stat
from pathlib import Path

import pytest

import serialpack
from tests.cli.conftest import Run
from tests.noise import noise

NAMES = ("a.json", "dir/a.json", "dir/b.csv", "dir/large.ndjson", "dir/noise", "dir/[x].csv")


@pytest.fixture
def contents(tmp_path: Path) -> dict[str, bytes]:
    """What is in the archive all.spk: five files that share blocks, a large one that does not."""
    rows = [{"id": n, "name": f"n{n}", "x": n * 7919 % 1000} for n in range(2000)]
    given = {
        "a.json": b'[{"id": 1}, {"id": 2}, {"id": 3}]\n',
        "dir/a.json": b'[{"id": 4}, {"id": 5}]\n',
        "dir/b.csv": b"id,name\n" + b"".join(b"%d,n%d\n" % (n, n) for n in range(9)),
        "dir/large.ndjson": b"".join(json.dumps(row).encode() + b"\n" for row in rows),
        "dir/noise": noise(100),
        "dir/[x].csv": b"id;name\n1;x\n2;y\n",
    }
    assert tuple(given) == NAMES
    assert len(given["dir/large.ndjson"]) > 64 << 10
    (tmp_path / "in/dir").mkdir(parents=True)
    for name, data in given.items():
        (tmp_path / "in" / name).write_bytes(data)
    (tmp_path / "in/dir/b.csv").chmod(0o600)
    (tmp_path / "in/dir/link").symlink_to("b.csv")
    sources = {name: tmp_path / "in" / name for name in (*NAMES, "dir/link")}
    serialpack.pack_archive({**sources}, tmp_path / "all.spk", block_size=16 << 10)
    return given


def written(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_bytes_and_records_of_one_entry(
    run: Run, tmp_path: Path, contents: dict[str, bytes]
) -> None:
    packed = (tmp_path / "all.spk").read_bytes()
    for name in ("dir/b.csv", "dir/noise", "dir/large.ndjson"):
        args = ["--include", name, "--bytes", "7:60"]
        assert run("unpack", *args, "all.spk", "-o", "-").stdout == contents[name][7:60]
        assert run("unpack", *args, stdin=packed).stdout == contents[name][7:60]
    lines = contents["dir/large.ndjson"].splitlines(keepends=True)
    for include, records, expected in (
        ("b.csv", "1:3", b"id,name\n1,n1\n2,n2\n"),
        ("/a.json", "1:", b'[{"id": 2}, {"id": 3}]'),
        ("large*", "1500:1502", b"".join(lines[1500:1502])),
    ):
        args = ["--include", include, "--records", records, "all.spk", "-o", "-"]
        assert run("unpack", *args).stdout == expected


@pytest.mark.usefixtures("contents")
def test_only_the_blocks_of_the_range_are_read(run: Run) -> None:
    args = ["--include", "large*", "--records", "0:1", "--json", "all.spk", "-o", "one"]
    line = json.loads(run("unpack", *args).stdout)
    assert (line["entry"], line["blocks_read"]) == ("dir/large.ndjson", 1)
    assert line["blocks"] > 3


def test_where_the_part_goes(run: Run, tmp_path: Path, contents: dict[str, bytes]) -> None:
    """To the file that -o names, or to that of the entry below the folder; nothing else."""
    args = ["--include", "b.csv", "--bytes", "0:4", "all.spk"]
    run("unpack", "--dry-run", *args)
    assert not (tmp_path / "all").exists()
    for more, folder, name in (
        ([], "all", "dir/b.csv"),
        (["-o", "one"], "", "one"),
        (["-o", "to/"], "to", "dir/b.csv"),
    ):
        run("unpack", *args, *more)
        assert (tmp_path / folder / name).read_bytes() == contents["dir/b.csv"][:4]
        if os.name == "posix":
            assert stat.S_IMODE((tmp_path / folder / name).stat().st_mode) == 0o600
        assert not folder or list(written(tmp_path / folder)) == [name]
        assert b"exists already" in run("unpack", *args, *more, code=1).stderr
    (tmp_path / "out").mkdir()
    (tmp_path / "out/dir").symlink_to(tmp_path / "in")
    done = run("unpack", *args, "-o", "out", code=4)
    assert b"leads out of the folder" in done.stderr


def test_one_entry_to_standard_output(run: Run, tmp_path: Path, contents: dict[str, bytes]) -> None:
    """As tar xO gives it; there was only --bytes 0: for that."""
    packed = (tmp_path / "all.spk").read_bytes()
    for name, glob in (
        ("a.json", "/a.json"),
        ("dir/large.ndjson", "large*"),
        ("dir/noise", "noise"),
    ):
        assert run("unpack", "--include", glob, "all.spk", "-o", "-").stdout == contents[name]
        assert run("unpack", "--include", glob, stdin=packed).stdout == contents[name]
    said = run("unpack", "--include", "*.csv", "all.spk", "-o", "-", code=2).stderr.decode()
    assert "and -o - need one entry named, 2 are meant" in said
    said = run("unpack", "all.spk", "-o", "-", code=2).stderr.decode()
    assert said.endswith("; -o FOLDER; --include GLOB takes one file of it\n")


def test_fields_and_conversions_of_one_entry(
    run: Run, tmp_path: Path, contents: dict[str, bytes]
) -> None:
    done = run("unpack", "--include", "dir/[[]x].csv", "--fields", "name", "all.spk", "-o", "-")
    assert done.stdout == b"name\nx\ny\n"
    packed = (tmp_path / "all.spk").read_bytes()
    done = run("unpack", "--include", "/a.json", "--to", "ndjson", "-o", "-", stdin=packed)
    assert [json.loads(line) for line in done.stdout.splitlines()] == json.loads(contents["a.json"])
    run("unpack", "--include", "large*", "--fields", "id,x", "all.spk")
    found = (tmp_path / "all/dir/large.ndjson").read_bytes().splitlines()
    assert json.loads(found[1999]) == {"id": 1999, "x": 1999 * 7919 % 1000}
    run("unpack", "--include", "b.csv", "--to", "json", "all.spk")
    assert json.loads((tmp_path / "all/dir/b.json").read_bytes())[8] == {"id": "8", "name": "n8"}
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "all/dir/b.json").stat().st_mode) == 0o600
    done = run("unpack", "--include", "b.csv", "--fields", "no", "all.spk", "-o", "-", code=4)
    assert b"all.spk: dir/b.csv: $.no: no record" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--records", "0:1"], "need one entry named, 6 are meant"),
        (["--include", "a.json", "--records", "0:1"], "--include /a.json --records 0:1 all.spk"),
        (["--include", "*.csv", "--fields", "id"], "--include dir/b.csv --fields id all.spk"),
        (["--include", "none", "--fields", "id"], "no entry fits the globs"),
        (["--include", "link", "--bytes", "0:1"], "dir/link is no file"),
        (["--include", "noise", "--records", "0:1"], "--bytes A:B"),
        (["--fields", "id"], "--include PATH"),
        (["--include", "b.csv", "--to", "json", "--rm"], "--rm needs the whole archive"),
        (["--include", "b.csv", "--rm"], "--rm needs the whole archive"),
    ],
)
@pytest.mark.usefixtures("contents")
def test_what_is_refused_is_one_line(run: Run, tmp_path: Path, args: list[str], words: str) -> None:
    (line,) = run("unpack", *args, "all.spk", code=2).stderr.decode().splitlines()
    assert words in line
    assert not written(tmp_path / "all")
    assert (tmp_path / "all.spk").exists()


@pytest.mark.usefixtures("contents")
def test_of_an_archive_no_first_records_are_shown(run: Run) -> None:
    """ "a range does not reach into an archive", it said, and nobody had asked for one."""
    said = run("inspect", "--head", "2", "all.spk", code=2).stderr.decode()
    assert said.startswith("serialpack: all.spk: is an archive, whose files have records and ")
    assert "range" not in said


@pytest.mark.parametrize("args", [[], ["--salvage"], ["-o", "all/"]])
@pytest.mark.usefixtures("contents")
def test_globs_that_fit_nothing_make_nothing(run: Run, tmp_path: Path, args: list[str]) -> None:
    """It made an empty folder, and with --salvage ended in an internal error."""
    (line,) = run("unpack", *args, "--include", "z*", "all.spk", code=2).stderr.splitlines()
    assert line == b"serialpack: all.spk: no entry fits the globs; serialpack inspect lists them"
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(("include", "name"), [("[[n]*", "dir/[x].csv"), ("a.json", "a.json")])
def test_the_command_that_is_named_works(
    run: Run, contents: dict[str, bytes], include: str, name: str
) -> None:
    """Also for a path that is a glob itself, or a name that is in other folders too."""
    args = ["--include", include, "--bytes", "3:", "all.spk", "-o", "-"]
    told = run("unpack", *args, code=2).stderr.decode().strip()
    _, verb, *words = shlex.split(told.split("; ")[-1])
    assert run(verb, *words).stdout == contents[name][3:]


def test_damage_elsewhere_is_not_met(run: Run, tmp_path: Path, contents: dict[str, bytes]) -> None:
    packed = bytearray((tmp_path / "all.spk").read_bytes())
    packed[packed.index(contents["dir/noise"])] ^= 1
    (tmp_path / "all.spk").write_bytes(packed)
    args = ["--bytes", "0:5", "all.spk", "-o", "-"]
    assert run("unpack", "--include", "b.csv", *args).stdout == contents["dir/b.csv"][:5]
    done = run("unpack", "--include", "noise", *args, code=3)
    assert done.stdout == b""
    assert b"all.spk: block 0" in done.stderr
    run("unpack", "--include", "[bn]*", "all.spk", code=3)
    assert list(written(tmp_path / "all")) == ["dir/b.csv"]


@pytest.mark.usefixtures("contents")
def test_two_entries_of_one_path_have_no_command_that_tells_them_apart(
    run: Run, tmp_path: Path
) -> None:
    """The one that was hinted at failed the same way."""
    (tmp_path / "twice.spk").write_bytes((tmp_path / "all.spk").read_bytes() * 2)
    said = run("unpack", "--include", "/a.json", "twice.spk", "-o", "-", code=2).stderr.decode()
    assert said.endswith("2 are meant: a.json, a.json\n")


def test_an_entry_is_named_in_the_c_locale_too(run: Run, tmp_path: Path) -> None:
    """What was typed were bytes there, the paths of the archive text, and nothing fitted."""
    folder = tmp_path / os.fsdecode("dü".encode())
    folder.mkdir()
    (folder / os.fsdecode("ä.json".encode())).write_bytes(b"[1]")
    run("pack", "-r", folder.name, "--archive", "-o", "all.spk")
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    one, none = (os.fsdecode(glob.encode()) for glob in ("dü/ä*", "dü/o*"))
    assert run("unpack", "all.spk", "--include", one, "-o", "-", env=env).stdout == b"[1]"
    assert run("unpack", "all.spk", "--include", none, "-o", "-", env=env, code=2).stderr
