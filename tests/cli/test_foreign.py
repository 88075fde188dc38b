"""What is known and not converted, names of formats, and words that other programs have."""

from __future__ import annotations

import gzip
import io
import json
import shlex
import sqlite3
import struct
import tarfile
import wave
from pathlib import Path

import pytest

from serialpack.detection.detect import not_converted
from serialpack.formats import FORMATS
from serialpack.formats.foreign import KNOWN, KnownFile, known_file, known_name
from tests.archives import a_tar, a_zip
from tests.cli.conftest import Run


def _of(signature: tuple[tuple[int, bytes], ...]) -> bytes:
    """A file with nothing but a signature in it."""
    data = bytearray(600)
    for offset, magic in signature:
        data[offset : offset + len(magic)] = magic
    return bytes(data)


SIGNED = [(known, _of(signature)) for known in KNOWN for signature in known.signatures]
NOT_CONVERTED = [(known, data) for known, data in SIGNED if known.cannot]


@pytest.mark.parametrize(("known", "data"), SIGNED)
def test_each_signature_tells_its_own(known: KnownFile, data: bytes) -> None:
    """None stands behind one that takes its files, and what is a format is not kept from it."""
    assert not_converted(data) == (known if known.cannot else None)
    assert bool(known.cannot) == bool(known.instead)


def test_no_name_is_also_one_of_a_format() -> None:
    words = {*FORMATS.names(), *(x[1:] for d in FORMATS for x in d.extensions)}
    names = [name for known in KNOWN for name in known.names]
    assert len(names) > 50
    assert len(set(names)) == len(names)
    assert not words & set(names)


def _wav() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(struct.pack("<4h", 1, 2, 3, 4))
    return file.getvalue()


def _check_line(line: str, name: str, words: str) -> None:
    assert line.startswith(f"serialpack: {name}: {words}: ")
    assert "--from" not in line
    assert ";" in line


@pytest.mark.parametrize(
    ("name", "words", "make"),
    [
        ("a.zip", "zip", a_zip),
        ("a.json", "zip", a_zip),
        ("a.tar", "tar", a_tar),
        ("a.tar.gz", "tar", lambda: gzip.compress(a_tar(), mtime=0)),
        ("a.gz", "gzip", lambda: gzip.compress(gzip.compress(b"[1]", mtime=0), mtime=0)),
        ("a.wav", "WAV", _wav),
        ("a.csv", "JPEG", lambda: b"\xff\xd8\xff\xe0\0\x10JFIF"),
        ("a.html", "HTML", lambda: b"<!DOCTYPE html>\n<html></html>"),
    ],
)  # fmt: skip
def test_real_files_say_what_helps(
    run: Run, tmp_path: Path, name: str, words: str, make: object
) -> None:
    """By the first bytes, whatever the file is called; --from is named where it can help only."""
    assert callable(make)
    (tmp_path / name).write_bytes(make())
    before = sorted(tmp_path.iterdir())
    (line,) = run("unpack", "--to", "ndjson", name, code=3).stderr.decode().splitlines()
    _check_line(line, name, words)
    with (tmp_path / name).open("rb") as file:
        data = file.read()
    (line,) = run("unpack", "--to", "ndjson", stdin=data, code=3).stderr.decode().splitlines()
    _check_line(line, "standard input", words)
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_packed_says_it_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(a_zip())
    run("pack", "a.zip")
    (line,) = run("unpack", "--to", "json", "a.zip.spk", code=3).stderr.decode().splitlines()
    _check_line(line, "a.zip.spk", "zip")


def test_every_known_kind_from_a_pipe(run: Run, tmp_path: Path) -> None:
    names = []
    for number, (_, data) in enumerate(NOT_CONVERTED):
        names.append(f"{number}.dat")
        (tmp_path / names[-1]).write_bytes(data)
    done = run("unpack", "--to", "ndjson", "-o", "out", *names, code=3)
    *lines, summed = done.stderr.decode().splitlines()
    assert summed.startswith(f"0 converted, {len(NOT_CONVERTED)} failed, ")
    compressed = {"gzip", "zstd", "xz", "bzip2", "lz4"}
    for line, name, (known, _) in zip(lines, names, NOT_CONVERTED, strict=True):
        if known.words not in compressed:  # of which the signature alone is a damaged file
            assert line == f"serialpack: {name}: {known.words}: {known.cannot}; {known.instead}"


@pytest.mark.parametrize("said", ["jsonl", ".jsonl", "JSONL", "NDJSON", ".ndjson", "ldjson"])
def test_formats_by_name_and_extension(run: Run, tmp_path: Path, said: str) -> None:
    """Alike in --to and --from, and the output is called as ever."""
    (tmp_path / "a.json").write_bytes(b'[{"a":1}]')
    run("unpack", "--to", said, "a.json")
    assert (tmp_path / "a.ndjson").read_bytes() == b'{"a":1}\n'
    done = run("unpack", "--from", said, "--to", "json", "-", stdin=b'{"a":1}\n{"a":2}\n')
    assert json.loads(done.stdout) == [{"a": 1}, {"a": 2}]
    run("pack", "--from", said, "a.ndjson")
    done = run("inspect", "--from", said, "--json", "a.ndjson")
    assert json.loads(done.stdout)["format"] == "ndjson"
    (line,) = run("inspect", "--json", "a.ndjson.spk").stdout.splitlines()
    assert json.loads(line)["members"][0]["format"] == "ndjson"


def test_every_extension_is_a_name() -> None:
    found = [(d, x) for d in FORMATS for x in d.extensions]
    assert len(found) > 20
    for declared, extension in found:
        assert FORMATS.spelled(extension) == FORMATS.spelled(extension[1:].upper()) == declared.name
    assert {d.name for d in FORMATS} == {FORMATS.spelled(d.name) for d in FORMATS}


@pytest.mark.parametrize("option", ["--to", "--from"])
@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("jsn", "did you mean json"),
        ("jsonn", "did you mean json"),
        ("messagepack", "did you mean msgpack"),
        ("parket", "did you mean parquet"),
        ("xyzzy", "unknown format 'xyzzy'; serialpack unpack --help lists all"),
        ("jsn", "serialpack unpack --help lists all"),
        ("zip", "unzip unpacks it"),
        ("pdf", "not a data format"),
    ],
)
def test_an_unknown_format_is_answered_with_the_nearest(
    run: Run, tmp_path: Path, option: str, said: str, words: str
) -> None:
    (tmp_path / "a.json").write_bytes(b"[1]")
    args = ["--to", "yaml"] if option == "--from" else []
    (line,) = run("unpack", option, said, *args, "a.json", code=2).stderr.decode().splitlines()
    assert line.startswith(f"serialpack: {option}: ")
    assert words in line


def test_a_spreadsheet_is_answered_by_the_direction(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"a":1}]')
    said = run("unpack", "--from", "xlsx", "--to", "csv", "a.json", code=2).stderr
    assert b"save its table as CSV" in said
    assert b"; --to csv writes" in run("unpack", "--to", "xlsx", "a.json", code=2).stderr
    assert run("unpack", "--to", "csv", "a.json", "-o", "-").stdout == b"a\n1\n"


@pytest.mark.parametrize(
    ("words", "command", "code"),
    [
        ("convert a.json b.yaml", "serialpack unpack a.json -o b.yaml", 0),
        ("convert --to cbor a.json", "serialpack unpack --to cbor a.json", 0),
        ("convert 'with space.yaml'", "serialpack unpack --to json 'with space.yaml'", 0),
        ("compress -9 a.json", "serialpack pack -9 a.json", 0),
        ("decompress b.json.spk", "serialpack unpack b.json.spk", 0),
        ("extract b.json.spk -o c.json", "serialpack unpack b.json.spk -o c.json", 0),
        ("cat b.json.spk", "serialpack unpack b.json.spk -o -", 0),
        ("cat a.json", "serialpack unpack --to ndjson a.json -o -", 0),
        ("list b.json.spk", "serialpack inspect b.json.spk", 0),
        ("ls b.json.spk", "serialpack inspect b.json.spk", 0),
        ("info a.json", "serialpack inspect a.json", 0),
        ("test b.json.spk", "serialpack unpack --test b.json.spk", 0),
        ("decompress a.json", "serialpack inspect a.json", 0),
        ("test a.json", "serialpack inspect a.json", 0),
        ("decompress c.json.gz", "serialpack unpack c.json.gz --to json -o c.json", 0),
        ("decompress a.json.gz", "serialpack unpack a.json.gz --to json -o -", 0),
        ("a.json", "serialpack pack a.json", 0),
        ("b.json.spk", "serialpack unpack b.json.spk", 0),
    ],
)
def test_words_of_other_programs_name_the_command(
    run: Run, tmp_path: Path, words: str, command: str, code: int
) -> None:
    """The command that is shown is run, as it is shown, and works."""
    (tmp_path / "a.json").write_bytes(b'{"a":1}')
    (tmp_path / "with space.yaml").write_bytes(b"a: 1\n")
    for name in "a.json.gz", "c.json.gz":
        (tmp_path / name).write_bytes(gzip.compress(b'{"a":1}'))
    run("pack", "a.json", "-o", "b.json.spk")
    called = shlex.split(words)
    (line,) = run(*called, code=2).stderr.decode().splitlines()
    assert line == f"serialpack: unknown verb {called[0]!r}; {command}"
    run(*shlex.split(command)[1:], code=code)


@pytest.mark.parametrize("args", ["", "-N", "--test", "--records 0:1"])
@pytest.mark.parametrize("name", ["t.csv.gz", "odd", "there.csv.gz"])
def test_what_is_compressed_names_the_command_that_gives_what_is_in_it(
    run: Run, tmp_path: Path, name: str, args: str
) -> None:
    """It said to decompress it first."""
    (tmp_path / "there.csv").touch()
    (tmp_path / name).write_bytes(gzip.compress(b"a,b\n1,2\n"))
    (line,) = run("unpack", *args.split(), name, code=3).stderr.decode().splitlines()
    said, _, command = line.partition("; ")
    assert said == f"serialpack: {name}: not a serialpack file (looks like gzip)"
    done = run(*shlex.split(command)[1:])
    assert (done.stdout or (tmp_path / "t.csv").read_bytes()) == b"a,b\n1,2\n"


@pytest.mark.parametrize("inside", [b"Prose.\n", b"\0\1\2", b""])
def test_what_is_no_data_in_it_names_its_own_tool(run: Run, tmp_path: Path, inside: bytes) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(inside))
    assert b"; gzip -dc unpacks it" in run("unpack", "x.gz", code=3).stderr


def test_a_compressed_tar_is_named_by_the_tool_that_takes_both_off(
    run: Run, tmp_path: Path
) -> None:
    """It named gzip -dc, which leaves a tar."""
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("a"))
    assert b"; tar -xf unpacks it" in run("unpack", "x.tar.gz", code=3).stderr


def test_the_first_records_of_what_is_compressed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n"))
    assert run("inspect", "--head", "1", "t.csv.gz").stdout == b"a,b\n1,2\n"


@pytest.mark.parametrize(
    ("text", "hint", "works"),
    [
        ("Some prose.\nIt has lines.\n", "--from csv reads its lines as one column", "--from csv"),
        ("Prose, too.\n\nIt has, well, commas.\n", "pack keeps its bytes", ""),
        ("\0\1\2", "pack keeps its bytes", ""),
    ],
)
def test_what_is_no_known_format_is_told_what_can_be_done_with_it(
    run: Run, tmp_path: Path, text: str, hint: str, works: str
) -> None:
    (tmp_path / "odd").write_text(text)
    (line,) = run("unpack", "--to", "json", "odd", code=3).stderr.decode().splitlines()
    assert f"; {hint}" in line
    if works:
        run("unpack", "--to", "json", "odd", *works.split())
    run("pack", "odd")


def test_without_a_file_the_verb_is_named(run: Run) -> None:
    for word, verb in [("convert", "unpack --to"), ("compress", "pack"), ("ls", "inspect")]:
        assert f"; serialpack {verb} " in run(word, code=2).stderr.decode()


def test_packing_by_values_names_from_only_where_it_helps(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(a_zip())
    (tmp_path / "a.dat").write_bytes(b"\0\1\2")
    assert b"--from" not in run("pack", "-s", "json", "a.zip", code=3).stderr
    assert b"--from" in run("pack", "-s", "json", "a.dat", code=3).stderr


@pytest.mark.parametrize("level", [1, 3, 6, 9])
@pytest.mark.parametrize("name", ["a.joblib", "a.pkl", "a.json"])
def test_what_zlib_compressed_is_told(name: str, level: int, run: Run, tmp_path: Path) -> None:
    """Of files that joblib compresses it was said that there is no opcode b'x'."""
    import pickle
    import zlib

    path = tmp_path / name
    path.write_bytes(zlib.compress(pickle.dumps(list(range(99))), level))
    done = run("unpack", "--trust", "--to", "ndjson", path, code=3)
    assert b"zlib: not a data format; joblib.load reads it" in done.stderr


def test_text_that_begins_like_it_is_text() -> None:
    for text in (b"x^2,y\n1,2\n", "x^2,\u00e9\n1,2\n".encode(), b"x", b"x\x01"):
        assert known_file(text) is None


SQL = b"""-- a dump
/*!40101 SET NAMES utf8 */;

CREATE TABLE t (a, b);
INSERT INTO t VALUES (1,2);
"""


def test_sql_is_told_with_what_makes_a_database_of_it(run: Run, tmp_path: Path) -> None:
    """The hint was that --from csv says what it is."""
    (tmp_path / "dump.sql").write_bytes(SQL)
    for sql in (SQL, b"drop table if exists t;\n", b"PRAGMA x=OFF;\n"):
        assert not_converted(sql) is known_name("sql")
    line = run("unpack", "--to", "json", "dump.sql", code=3).stderr.decode()
    assert "SQL: not a data format; sqlite3 NEW.sqlite <FILE makes a database" in line
    with sqlite3.connect(tmp_path / "NEW.sqlite") as made:
        made.executescript(SQL.decode())
    made.close()
    done = run("unpack", "--to", "ndjson", "NEW.sqlite", "-o", "-")
    assert done.stdout == b'{"a":1,"b":2}\n'
    assert b"--to sqlite writes a database" in run("unpack", "--to", "sql", "-", code=2).stderr


OTHERS = {
    "SQL: not a data format; sqlite3": SQL,
    "SQL: not a data format": b"INSERT INTO t VALUES (1,2);\nINSERT INTO t VALUES (3,4);\n",
    "a pointer of Git LFS: it stands for a file that is not here; git lfs pull brings that": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    ),
    "PDF: not a data format": b"%PDF-1.4\n1 0 obj\n",
    "HTML: not a data format": b"\xef\xbb\xbf\n<HTML>\n<p>a,b</p>\n</HTML>\n",
}


@pytest.mark.parametrize("words", OTHERS)
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_what_is_no_table_is_not_read_as_one(
    run: Run, tmp_path: Path, name: str, words: str
) -> None:
    """Any text is a table: it was one of rows of SQL, without a word."""
    (tmp_path / name).write_bytes(OTHERS[words])
    assert words in run("unpack", "--to", "json", name, code=3).stderr.decode()
    run("pack", name)
    # A command that reads the file is given what is in the container.
    again = run("unpack", "--to", "json", f"{name}.spk", code=3).stderr.decode()
    assert all(part in again for part in words.split("; "))
    assert run("unpack", f"{name}.spk", "-o", "-").stdout == OTHERS[words]


def test_whoever_says_that_it_is_a_table_gets_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"PRAGMA x = 1\nPRAGMA x = 2\n")
    done = run("unpack", "--from", "csv", "--to", "ndjson", "a.csv", "-o", "-")
    assert json.loads(done.stdout) == {"PRAGMA x = 1": "PRAGMA x = 2"}


@pytest.mark.parametrize(
    "text", [b"%,a\n1,2\n", b"SET,x\n1,2\n", b"version,https\n1,2\n", b"--,x\n1,2\n"]
)
def test_a_table_may_begin_so(run: Run, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.csv").write_bytes(text)
    done = run("unpack", "--to", "csv", "a.csv", "-o", "-")
    assert done.stdout == text


def test_gron_is_told_with_what_makes_json_of_it(run: Run) -> None:
    lines = b'json = {};\njson.a = [];\njson.a[0] = "x,y";\n'
    line = run("unpack", "--to", "json", "-", stdin=lines, code=3).stderr.decode()
    assert "gron's lines: not a data format; gron --ungron <FILE makes JSON of it" in line


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.spk"])
def test_a_table_with_a_nul_is_told_as_what_its_name_says(
    run: Run, tmp_path: Path, name: str
) -> None:
    """No format was named that reads it, though its name does."""
    plain, kind = name.removesuffix(".spk"), name[2:5]
    (tmp_path / plain).write_bytes(b"a,b\n1,x\0y\n".replace(b",", b"\t" if kind == "tsv" else b","))
    if plain != name:
        run("pack", plain)
    done = run("unpack", "--to", "json", name, "-o", "-", code=3)
    assert f"--from {kind} reads it, where it is that: there are NULs in it" in done.stderr.decode()
    made = run("unpack", "--to", "json", "--from", kind, name, "-o", "-").stdout
    assert json.loads(made) == [{"a": "1", "b": "x\0y"}]
    (tmp_path / plain).write_bytes(b"\0\xff\xfe,\n")
    assert b"--from csv" not in run("unpack", "--to", "json", plain, code=3).stderr


def test_text_that_may_be_a_table_is_told_so(run: Run) -> None:
    """It was said that --from csv says what it is."""
    for text in (
        b"a note, of things\nthat are, today\n",
        b"Select one, or\nset two, from it\n",
    ):
        done = run("unpack", "--to", "json", "-", stdin=text, code=3)
        assert b"; --from csv reads it, where it is that" in done.stderr
