"""``pack --archive``, and what the other verbs make of it."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.noise import noise

needs_posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file modes and links")

CSV = b"id,name\n" + b"".join(b"%d,n%d\n" % (n, n) for n in range(2000))


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """Three files below the folder that the command runs in, as they are named from there."""
    (tmp_path / "dir").mkdir()
    (tmp_path / "a.json").write_bytes(b'{"a": 1}\n')
    (tmp_path / "dir/b.csv").write_bytes(CSV)
    (tmp_path / "dir/noise").write_bytes(noise(3000))
    return ["a.json", "dir/b.csv", "dir/noise"]


def contents(folder: Path, names: list[str]) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


def files(folder: Path) -> set[str]:
    """All files below, but for those of the command's own home."""
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    return {name for name in found if not name.startswith("home/")}


def entries(run: Run, path: Path | str) -> list[str]:
    found = json.loads(run("inspect", "--json", path).stdout)
    return sorted(entry["path"] for member in found["members"] for entry in member["entries"])


def test_pack_inspect_unpack(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    os.utime(tmp_path / "dir/b.csv", ns=(1, 1_500_000_000_123_456_789))
    (tmp_path / "a.json").chmod(0o600)
    done = run("pack", "--archive", *inputs, "-o", "all.spk")
    assert done.stdout == b""
    told = done.stderr.decode().splitlines()
    assert sorted(line.split(":")[0] for line in told) == inputs
    assert all("exact bytes" in line for line in told)
    assert entries(run, "all.spk") == inputs
    shown = run("inspect", "all.spk").stdout.decode()
    lines = {line.split()[-1]: line.split() for line in shown.splitlines()}
    assert sorted(lines) == sorted(["entry", *inputs, "entries"])
    assert lines["dir/b.csv"][3:-1] == ["csv", "columns:6+none", "2017-07-14", "02:40:00"]
    total = sum((tmp_path / name).stat().st_size for name in inputs)
    assert lines["entries"][:2] == [f"{total:,}", f"{(tmp_path / 'all.spk').stat().st_size:,}"]
    shown = run("inspect", "-v", "all.spk").stdout.decode()
    assert "member      2 of 4\nentries     1\n" in shown
    done = run("unpack", "all.spk")
    assert contents(tmp_path / "all", inputs) == contents(tmp_path, inputs)
    assert "all.spk -> all/dir/b.csv" in done.stderr.decode()
    unpacked = (tmp_path / "all/dir/b.csv").stat()
    assert unpacked.st_mtime_ns // 1000 == 1_500_000_000_123_456_789 // 1000
    if os.name == "posix":
        umask = os.umask(0)
        os.umask(umask)
        assert stat.S_IMODE((tmp_path / "all.spk").stat().st_mode) == 0o666 & ~umask
        assert stat.S_IMODE((tmp_path / "all/a.json").stat().st_mode) == 0o600


def test_a_pipe_on_both_sides(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    packed = run("pack", "--archive", *inputs, "-o", "-").stdout
    for folder in ("out", "deep/er", "slash/"):
        run("unpack", "-o", folder, stdin=packed)
        assert contents(tmp_path / folder, inputs) == contents(tmp_path, inputs)
    run("pack", "-q", "--archive", *inputs, "-o", "all.spk")
    assert (tmp_path / "all.spk").read_bytes() == packed
    assert "all is well" in run("unpack", "--test", stdin=packed).stderr.decode()


def test_each_entry_has_a_choice_and_a_proof_of_its_own(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    done = run("pack", "--archive", "--json", "--meta", "k=v", *inputs, "-o", "all.spk")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    lines.sort(key=lambda line: str(line["entry"]))
    assert [(line["source"], line["entry"], line["target"]) for line in lines] == [
        (name, name, "all.spk") for name in inputs
    ]
    assert [line["format"] for line in lines] == ["json", "csv", "bytes"]
    assert [line["stored_blocks"] for line in lines] == [1, 0, 1]
    assert sum(line["packed"] for line in lines) < (tmp_path / "all.spk").stat().st_size
    done = run("pack", "--archive", "-f", "-s", "json", *inputs, "-o", "all.spk", code=3)
    assert "serialpack: dir/" in done.stderr.decode()
    assert entries(run, "all.spk") == ["a.json", "dir/b.csv"]


def test_cat_joins_archives(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    run("pack", "--archive", *inputs[:2], "-o", "one.spk")
    run("pack", "--archive", *inputs[2:], "-c", "xz", "-o", "two.spk")
    joined = (tmp_path / "one.spk").read_bytes() + (tmp_path / "two.spk").read_bytes()
    run("unpack", "-o", "out", stdin=joined)
    assert contents(tmp_path / "out", inputs) == contents(tmp_path, inputs)
    (tmp_path / "twice.spk").write_bytes(joined + joined)
    done = run("unpack", "-f", "twice.spk", "-o", "out", code=1)
    assert done.stderr.decode().count("another entry has the same path") == 3
    run("pack", "a.json")
    mixed = joined + (tmp_path / "a.json.spk").read_bytes()
    done = run("unpack", "-o", "mixed", stdin=mixed, code=3)
    assert "among members that are none" in done.stderr.decode()


@pytest.mark.usefixtures("inputs")
def test_what_is_left_out_of_a_path_is_said(run: Run, tmp_path: Path) -> None:
    top, *rest = Path(tmp_path / "a.json").relative_to("/").parts
    done = run(
        "pack",
        "--archive",
        *(tmp_path / "a.json", "../b.csv", ".//noise", "../../" + tmp_path.name + "/a.json"),
        *("-o", tmp_path / "all.spk"),
        cwd=tmp_path / "dir",
        code=1,
    )
    assert "../b.csv: cannot read" in done.stderr.decode()
    (tmp_path / "all.spk").unlink()
    (tmp_path / "b.csv").write_bytes(CSV)
    done = run(
        "pack",
        "--archive",
        *(tmp_path / "a.json", tmp_path / "dir/noise", "../b.csv", ".//noise"),
        *("-o", tmp_path / "all.spk"),
        cwd=tmp_path / "dir",
    )
    told = done.stderr.decode().splitlines()
    assert [line for line in told if "left out" in line] == [
        "/ is left out of paths in the archive",
        "../ is left out of paths in the archive",
    ]
    assert entries(run, "all.spk") == sorted(
        ["/".join([top, *rest]), "/".join([top, *rest[:-1], "dir/noise"]), "b.csv", "noise"]
    )


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["a.json"], 2, "-o FILE.spk"),
        (["a.json", "-", "-o", "x.spk"], 2, "standard input has no name"),
        (["-o", "x.spk"], 2, "standard input has no name"),
        (["a.json", "./a.json", "-o", "x.spk"], 1, "./a.json: another input has the same path"),
        (["a.json", "dir/../a.json", "-o", "x.spk"], 1, "another input has the same path"),
        (["dir/b.csv", "a.json", "-f", "-o", "a.json"], 1, "a.json: is the input itself"),
        (["a.json", "-o", "dir/noise"], 1, "dir/noise: exists already"),
        (["a.json", "-o", "dir"], 2, "dir is a folder; -o dir/NAME.spk"),
        (["a.json", "-o", "no/x.spk"], 1, "no/x.spk: its folder does not exist"),
        (["a.json", "dir", "-o", "x.spk"], 1, "dir: is a folder; serialpack pack -r --archive"),
        (["a.json", "--rm", "-o", "-"], 2, "--rm needs a file on both sides"),
        (["a.json", "--json", "-o", "-"], 2, "--json and the data"),
        (["a.json", "-c", "zsdt", "-o", "x.spk"], 2, "did you mean zstd"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_is_one_line_and_leaves_nothing(
    run: Run, tmp_path: Path, inputs: list[str], args: list[str], code: int, words: str
) -> None:
    before = contents(tmp_path, inputs)
    done = run("pack", "--archive", *args, code=code)
    (line,) = [x for x in done.stderr.decode().splitlines() if "left out" not in x]
    assert words in line
    assert files(tmp_path) == set(inputs)
    assert contents(tmp_path, inputs) == before


@needs_posix
def test_a_name_that_no_archive_can_hold(run: Run) -> None:
    done = run("pack", "--archive", "--files-from", "-", "-o", "x.spk", stdin=b"a\0b\n", code=1)
    assert "is no name of a file" in done.stderr.decode()


@pytest.mark.usefixtures("inputs")
def test_one_failing_input_is_named_and_the_rest_goes_on(run: Run, tmp_path: Path) -> None:
    """--rm removes what was packed; where nothing was, what is there stays."""
    (tmp_path / "bad.json").write_bytes(b'{"a": ')
    (tmp_path / "all.spk").write_bytes(b"precious")
    args = ["--archive", "-f", "--rm", "-s", "json", "-o", "all.spk", "bad.json", "gone"]
    told = run("pack", *args, code=3).stderr.decode().splitlines()
    assert "serialpack: gone: cannot read: no such file or directory" in told
    assert told[-1] == "serialpack: all.spk: 2 of 2 entries could not be packed"
    assert (tmp_path / "all.spk").read_bytes() == b"precious"
    told = run("pack", *args, "-r", "a.json", code=3).stderr.decode().splitlines()
    assert any(line.startswith("serialpack: bad.json: line 1") for line in told)
    assert "2 of 3 entries could not be packed 1 packed, 2 failed, " in " ".join(told)
    assert entries(run, "all.spk") == ["a.json"]
    assert files(tmp_path) == {"all.spk", "bad.json", "dir/b.csv", "dir/noise"}


def test_rm_removes_the_inputs_once_all_are_packed(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    before = contents(tmp_path, inputs)
    run("pack", "--archive", "--rm", *inputs, "-o", "all.spk")
    assert files(tmp_path) == {"all.spk"}
    run("unpack", "--rm", "all.spk", "-o", ".")
    assert files(tmp_path) == set(inputs)
    assert contents(tmp_path, inputs) == before
    run("pack", "--archive", *inputs, "-o", "all.spk")
    run("unpack", "--rm", "all.spk", "-o", ".", code=1)
    assert (tmp_path / "all.spk").exists()
    run("unpack", "--rm", stdin=(tmp_path / "all.spk").read_bytes(), code=2)


def test_dry_run_does_nothing(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    done = run("pack", "--archive", "--dry-run", *inputs, "-o", "all.spk")
    assert "would pack dir/b.csv into all.spk as dir/b.csv" in done.stderr.decode()
    run("pack", "--archive", "--dry-run", *inputs, "gone", "-o", "all.spk", code=1)
    assert files(tmp_path) == set(inputs)
    run("pack", "--archive", *inputs, "-o", "all.spk")
    done = run("unpack", "--dry-run", "all.spk")
    assert "would unpack the entries of all.spk below all" in done.stderr.decode()
    assert (
        "is no folder"
        in run("unpack", "--dry-run", "all.spk", "-o", "a.json", code=1).stderr.decode()
    )
    assert not (tmp_path / "all").exists()


def test_stats_and_profile(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    done = run("pack", "--archive", "--stats", "--profile", "p.html", *inputs, "-o", "all.spk")
    assert done.stderr.decode().count("compress") == 1
    assert "all.spk" in (tmp_path / "p.html").read_text()
    for taken in ("a.json", "all.spk"):
        args = ["--archive", "-f", "--profile", taken, *inputs, "-o", "all.spk"]
        assert "an input or an output" in run("pack", *args, code=1).stderr.decode()
    assert "decompress" in run("unpack", "--stats", "all.spk").stderr.decode()
    args = ["-f", "all.spk", "--profile", "all/a.json"]
    assert "an input or an output" in run("unpack", *args, code=1).stderr.decode()


def test_entries_that_are_there_are_named_and_the_rest_goes_on(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    run("pack", "--archive", *inputs, "-o", "all.spk")
    (tmp_path / "all/dir").mkdir(parents=True)
    (tmp_path / "all/dir/b.csv").write_bytes(b"mine")
    packed = (tmp_path / "all.spk").read_bytes()
    done = run("unpack", "all.spk", code=1)
    told = done.stderr.decode()
    assert "serialpack: all/dir/b.csv: exists already; -f overwrites it" in told
    assert "serialpack: all.spk: 1 of 3 entries could not be unpacked" in told
    told = run("unpack", "all.spk", "--skip-existing", code=1).stderr.decode()
    assert "all/dir/b.csv: exists already, and is not what its source becomes now; -f" in told
    assert (tmp_path / "all/dir/b.csv").read_bytes() == b"mine"
    assert files(tmp_path / "all") == set(inputs)
    (tmp_path / "all/dir/noise").unlink()
    run("unpack", "-o", "all", stdin=packed, code=1)
    assert files(tmp_path / "all") == set(inputs)
    run("unpack", "-f", "all.spk")
    assert contents(tmp_path / "all", inputs) == contents(tmp_path, inputs)
    (tmp_path / "all/a.json").unlink()
    (tmp_path / "all/a.json").mkdir()
    assert "a.json: is a folder" in run("unpack", "-f", "all.spk", code=1).stderr.decode()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-o", "-"], "-o FOLDER"),
        (["--records", "0:1"], "need one entry named"),
        (["--bytes", "0:1", "-o", "-"], "need one entry named"),
        (["--to", "json"], "an archive is unpacked first"),
    ],
)
def test_what_an_archive_cannot_do(
    run: Run, tmp_path: Path, inputs: list[str], args: list[str], words: str
) -> None:
    run("pack", "--archive", *inputs, "-o", "all.spk")
    assert words in run("unpack", "all.spk", *args, code=2).stderr.decode()
    assert (
        words
        in run("unpack", *args, stdin=(tmp_path / "all.spk").read_bytes(), code=2).stderr.decode()
    )
    assert files(tmp_path) == {*inputs, "all.spk"}
    assert b"unpack -o FOLDER" in run("inspect", "--head", "1", "all.spk", code=2).stderr
    assert (
        "-o FOLDER"
        in run("unpack", stdin=(tmp_path / "all.spk").read_bytes(), code=2).stderr.decode()
    )


def test_some_entries_are_had_alone(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    run("pack", "--archive", *inputs, "-o", "all.spk")
    done = run("unpack", "--include", "*.csv", "all.spk", "-o", "out")
    assert files(tmp_path / "out") == {"dir/b.csv"}
    assert done.stderr.decode().count("->") == 1
    run("unpack", "--exclude", "dir/", "all.spk", "-o", "rest")
    assert files(tmp_path / "rest") == {"a.json"}
    for args in (["--include", "x"], ["--include", "*.csv", "--rm"], ["--include", "a*", "--test"]):
        assert run("unpack", *args, "all.spk", "-o", "no", code=2).stderr
    run("pack", "a.json")
    assert b"it is none" in run("unpack", "--include", "*", "a.json.spk", code=2).stderr


@needs_posix
def test_a_folder_goes_in_with_all_that_is_in_it(
    run: Run, tmp_path: Path, inputs: list[str]
) -> None:
    """Empty folders, links, and containers too; the archive itself is left out."""
    (tmp_path / "dir/empty").mkdir()
    (tmp_path / "dir/link").symlink_to("b.csv")
    (tmp_path / "dir/x.spk").write_bytes(b"x")
    args = ["-r", "dir", "--archive", "--owner", "-o", "dir/all.spk"]
    run("pack", *args)
    done = run("pack", "-f", *args)
    assert "dir/all.spk: is written to, and left out" in done.stderr.decode()
    names = {"dir", "dir/empty", "dir/link", "dir/x.spk", "dir/b.csv", "dir/noise"}
    assert set(entries(run, "dir/all.spk")) == names
    run("unpack", "dir/all.spk", "-o", "out")
    assert (tmp_path / "out/dir/empty").is_dir()
    assert (tmp_path / "out/dir/link").read_bytes() == CSV
    assert "6 entries" in run("unpack", "--test", "dir/all.spk").stderr.decode()
    assert b"--archive" in run("pack", "--owner", inputs[0], code=2).stderr


def test_where_the_entries_go(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    """Beside the archive, below -o, or of several archives below folders of their own in -o."""
    run("pack", "--archive", *inputs[:1], "-o", "dir/one.spk")
    run("pack", "--archive", *inputs[1:], "-o", "two.spk")
    run("unpack", "-N", "dir/one.spk")
    assert (tmp_path / "dir/one/a.json").exists()
    run("unpack", "two.spk", "-o", "below/")
    assert files(tmp_path / "below") == set(inputs[1:])
    run("pack", "a.json")
    run("unpack", "dir/one.spk", "two.spk", "a.json.spk", "-o", "several")
    several = {"one/a.json", "two/dir/b.csv", "two/dir/noise", "a.json"}
    assert files(tmp_path / "several") == several
    done = run("unpack", "two.spk", "-o", "a.json", code=1)
    assert "a.json: is no folder" in done.stderr.decode()
    (tmp_path / "two.spk").rename(tmp_path / "two")
    assert "does not end in .spk" in run("unpack", "two", code=1).stderr.decode()
    run("unpack", "two", "-o", "again")


def test_damage_is_named_with_its_entry(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    run("pack", "--archive", *inputs, "-o", "all.spk")
    packed = bytearray((tmp_path / "all.spk").read_bytes())
    at = packed.index((tmp_path / "dir/noise").read_bytes()[:100])
    packed[at] ^= 1
    (tmp_path / "all.spk").write_bytes(packed)
    done = run("unpack", "all.spk", code=3)
    # One checksum is of all that a short member says.
    entry = "member 2, and perhaps its 1 entry, dir/noise"
    assert f"serialpack: all.spk: {entry}: block 0, bytes " in done.stderr.decode()
    assert files(tmp_path / "all") == set(inputs[:2])
    run("unpack", "--test", "all.spk", code=3)
    assert (
        b"standard input: member 2, and perhaps its 1 entry"
        in run("unpack", "-o", "b", stdin=bytes(packed), code=3).stderr
    )


def test_max_size_is_that_of_all(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    run("pack", "--archive", *inputs, "-o", "all.spk")
    assert "--max-size" in run("unpack", "--max-size", "1K", "all.spk", code=4).stderr.decode()
    assert files(tmp_path / "all") == {"a.json"}


def test_names_come_from_a_list(run: Run, inputs: list[str]) -> None:
    listed = "".join(f"{name}\n" for name in inputs).encode()
    run("pack", "--archive", "--files-from", "-", "-o", "all.spk", stdin=listed)
    assert entries(run, "all.spk") == inputs


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/fd and names of any bytes")
def test_odd_names_and_pipes_that_have_names(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    odd = os.fsdecode(b"\xff esc\xc2\x9b\xe9")
    (tmp_path / odd).write_bytes(b"odd")
    run("pack", "--archive", odd, *inputs, "-o", "all.spk")
    assert b"\xff" not in run("inspect", "all.spk").stdout
    done = run("unpack", "/dev/stdin", "-o", "out", stdin=(tmp_path / "all.spk").read_bytes())
    assert b"\xff" not in done.stderr
    assert (tmp_path / "out" / odd).read_bytes() == b"odd"
    assert contents(tmp_path / "out", inputs) == contents(tmp_path, inputs)


@needs_posix
def test_a_link_leads_nothing_out(run: Run, tmp_path: Path, inputs: list[str]) -> None:
    run("pack", "--archive", *inputs, "-o", "all.spk")
    (tmp_path / "all").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "all/dir").symlink_to(tmp_path / "elsewhere")
    done = run("unpack", "-f", "all.spk", code=4)
    assert done.stderr.decode().count("a symbolic link leads out of the folder") == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (tmp_path / "all/a.json").exists()
