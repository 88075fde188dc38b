"""What a person reads of files that serialpack did not make, and of archives."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
import zipfile
from locale import getpreferredencoding
from pathlib import Path

import pytest

from serialpack.cli import app
from tests.cli.conftest import Run
from tests.cli.told import lines

EVIL = ["t\x1b]0;owned\x07", "n\nserialpack: forged", "b\u202egnp.exe", "c\u009b31m"]


def words(shown: bytes) -> list[list[str]]:
    return [line.split() for line in shown.decode().splitlines()]


def test_a_compressed_file_is_said_as_what_it_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"id,name\n1,a\n2,b\n"))
    lines = words(run("inspect", "rows.csv.gz").stdout)
    assert ["format", "csv", "in", "gzip"] in lines
    assert ["records", "2"] in lines
    assert ["id", "string"] in lines


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_entries_are_a_line_each_with_a_total(run: Run, tmp_path: Path, kind: str) -> None:
    """One long name made all lines as long."""
    path = tmp_path / f"x.{kind}"
    names = ["a.json", *EVIL, "x" * 90]
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as packed:
            for name in names:
                packed.writestr(name, bytes(1500))
    else:
        with tarfile.open(path, "w:gz" if kind == "tar.gz" else "w") as tar:
            for name in names:
                info = tarfile.TarInfo(name)
                info.size = 1500
                tar.addfile(info, io.BytesIO(bytes(1500)))
    done = run("inspect", path.name)
    shown = done.stdout.decode()
    lines = shown.splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith(" entry"))
    assert len(lines) == at + 1 + len(names) + 1
    assert lines[at + 1].endswith("a.json")
    assert len(lines[at + 1]) < 70
    assert "1,500" in lines[at + 1]
    assert lines[-1].endswith("6 entries")
    assert "9,000" in lines[-1]
    assert not set("\x1b\x07\u202e\u009b") & set(shown)
    assert [
        e["name"]
        for e in json.loads(run("inspect", "--json", path.name).stdout)["listing"]["entries"]
    ] == names


def test_what_has_no_blocks_or_columns_is_told(run: Run, tmp_path: Path) -> None:
    """It was shown as if that had not been asked for."""
    (tmp_path / "a.json").write_bytes(b"[1, 2]")
    run("pack", "-s", "raw", "a.json")
    for options, name, told in (
        (["--blocks"], "a.json", "--blocks tells of containers; this is none"),
        (["--blocks", "--columns"], "a.json", "--blocks and --columns tell of containers; this is"),
        (["--columns"], "a.json.spk", "no columns, but raw; pack -s columns makes them"),
    ):
        for more in ([], ["--json"]):
            done = run("inspect", *options, *more, name)
            assert done.stderr.decode().startswith(f"{name}: {told}")
            assert done.stdout
    assert not run("inspect", "--blocks", "a.json.spk").stderr


@pytest.mark.parametrize("as_json", [True, False])
def test_a_damaged_one_has_one_line_and_its_exit_code(
    run: Run, tmp_path: Path, as_json: bool
) -> None:
    """A person reads what is known of it all the same."""
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr("a", bytes(1500))
    data = (tmp_path / "x.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(data[:-30])
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"text\n" * 99)[:-5])
    for name in ("x.zip", "x.gz"):
        done = run("inspect", *["--json"] * as_json, name, code=3)
        (said,) = done.stderr.decode().splitlines()
        assert said.startswith(f"serialpack: {name}: ")
        if as_json:
            assert set(json.loads(done.stdout)) == {"source", "error", "exit"}
        else:
            assert b"format" in done.stdout


@pytest.mark.parametrize(("size", "said"), [(0, "0 bytes"), (1, "1 byte"), (40, "40 bytes")])
def test_a_few_bytes_are_no_per_cent_of_what_is_around_them(
    run: Run, tmp_path: Path, size: int, said: str
) -> None:
    (tmp_path / "x").write_bytes(b"x" * size)
    closing = run("pack", "x").stderr.decode()
    shown = run("inspect", "x.spk").stdout.decode()
    packed = (tmp_path / "x.spk").stat().st_size
    assert packed > 2 * size
    for text in (closing, shown):
        assert "%" not in text
        assert f"{packed - size} bytes more, around the data" in text
    assert f"size        {said}\n" in shown
    assert f"packed      {packed} bytes" in shown
    if size == 1:
        blocks = run("inspect", "--blocks", "x.spk").stdout.decode()
        assert "%" not in blocks  # 7100.0 % of one byte
        assert " more " in blocks
    (tmp_path / "y").write_bytes(bytes(5000))
    assert "%" in run("pack", "y").stderr.decode()


def test_without_a_file_a_pipe_is_read(run: Run, tmp_path: Path) -> None:
    """It asked for a name; so it does still on a terminal."""
    assert b"format   ndjson\n" in run("inspect", stdin=b'{"a":1}\n{"a":2}\n').stdout
    (tmp_path / "x.csv").write_bytes(b"a,b\n" + b"1,2\n" * 2000)
    run("pack", "x.csv")
    blocks = run("inspect", "--blocks", stdin=(tmp_path / "x.csv.spk").read_bytes()).stdout
    assert b"  8,004  " in blocks
    assert b"  2,000  " in blocks


def test_the_first_records_of_packed_bytes(run: Run, tmp_path: Path) -> None:
    """It was no serialpack file, whose rest --salvage was to give back."""
    (tmp_path / "a.bin").write_bytes(b"\x00\x01\x02")
    run("pack", "a.bin")
    said = run("inspect", "--head", "1", "a.bin.spk", code=2).stderr
    assert b"a.bin.spk: the records of this source (bytes) cannot be told apart" in said


def test_each_member_of_an_archive_says_what_it_is_of(run: Run, tmp_path: Path) -> None:
    """A file that is larger than a block is one by itself; small ones share another."""
    (tmp_path / "large").write_bytes(b"a line of text\n" * 10_000)
    (tmp_path / "small").write_bytes(b"a line of text\n")
    run("pack", "--archive", "large", "small", "--block-size", "64K", "-o", "all.spk")
    shown = run("inspect", "-v", "all.spk").stdout.decode().splitlines()
    heads = [shown[at + 1].split() for at, line in enumerate(shown) if line.startswith("member ")]
    assert ["entry", "large"] in heads
    assert ["entries", "1"] in heads


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.gz.spk"])
def test_a_table_is_read_as_it_is_said_to_be_written(run: Run, tmp_path: Path, name: str) -> None:
    """As pack and unpack take it; only -F csv:semicolon+cp1252 did that."""
    (tmp_path / "a.csv").write_bytes("Straße;Größe\nÄ;1\n".encode("cp1252"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    run("pack", "a.csv.gz")
    said = ("--encoding", "cp1252", "--delimiter", ";")
    assert run("inspect", "--head", "1", *said, name).stdout.decode() == "Straße;Größe\nÄ;1\n"
    if not name.endswith(".spk"):
        here = getpreferredencoding(False)
        shown = run("inspect", *said, name).stdout.decode(here)
        assert " csv:semicolon+cp1252" in shown
        # Of letters that the encoding of what is shown lacks escapes are shown.
        letters = "  Größe   string".encode(here, "backslashreplace")
        assert letters.decode(here) in shown
        assert "column1" in run("inspect", *said, "--no-header", name).stdout.decode()


def test_no_header_is_for_tables(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"[1, 2]")
    said = run("inspect", "--no-header", "--encoding", "cp1252", "a.json", code=2).stderr
    assert b"a.json: --encoding and --no-header are for CSV, not for json" in said


@pytest.mark.parametrize(
    ("name", "encoding", "said"),
    [
        ("a.json", "cp1252", "cp1252"),
        ("a.json.gz", "cp1252", "cp1252"),
        ("a.ndjson", "latin-1", "latin-1"),
        ("a.json", "utf-16", None),
        ("a.yaml", "cp1252", "cp1252"),
    ],
)
def test_what_a_conversion_reads_in_another_encoding_is_looked_at_in_it(
    run: Run, tmp_path: Path, name: str, encoding: str, said: str | None
) -> None:
    """An encoding was refused but for CSV, and JSON in UTF-16 was a text of which nothing is told,
    though conversion read both."""
    text = '{"name": "Zo\u00eb"}\n'.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    options = ["--encoding", said] if said else []
    (line,) = map(json.loads, lines(run("inspect", "--json", *options, name).stdout))
    found = line["inside"]["look"] if name.endswith(".gz") else line
    assert found["fields"] == {"name": ["string"]}
    if "yaml" not in name:
        head = run("inspect", "--head", "1", *options, name).stdout
        assert json.loads(head) == {"name": "Zo\u00eb"}


def test_a_journal_has_no_blocks(run: Run, tmp_path: Path) -> None:
    """It was summed up as if nobody had asked."""
    (tmp_path / "a.json").write_bytes(b"[1, 2]")
    run("pack", "--journal", "x.log", "a.json")
    done = run("inspect", "--blocks", "x.log")
    assert done.stderr == b"x.log: --blocks tells of containers; this is a journal\n"
    assert done.stdout


def test_what_is_said_of_a_table_is_looked_at_before_any_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"[1, 2]")
    run("pack", "a.json")
    for option, said in (("--encoding", "the encoding 'zzz' is not"), ("--delimiter", "'zzz' is")):
        assert said in run("inspect", option, "zzz", "a.json.spk", code=2).stderr.decode()


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.bin"])
def test_an_encoding_without_a_name_is_none(run: Run, tmp_path: Path, name: str) -> None:
    """It was taken as if nothing had been said, of what is no table."""
    (tmp_path / name).write_bytes({"a.csv": b"a,b\n1,2\n", "a.json": b"[1]"}.get(name, b"\0\1\2"))
    (said,) = lines(run("pack", "--encoding", "", name, code=2).stderr)
    assert "encoding" in said
    assert not (tmp_path / f"{name}.spk").exists()


def test_a_file_is_opened_once(tmp_path: Path) -> None:
    """It was opened for a store, for a journal, and to be looked at."""
    path = tmp_path / "a.json"
    path.write_bytes(b"[1, 2]")
    modes: list[object] = []

    def counted(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and counting and arguments[0] == str(path):
            modes.append(arguments[1])

    counting = True
    sys.addaudithook(counted)  # it stays until the process ends, and looks no more
    assert app.run(["inspect", str(path)]) == 0
    counting = False
    assert modes == ["r", None]  # by the built-in open, and by os.open, which that calls
