"""What the name after ``-o`` says: a format, a compression, a folder, a device."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import pytest
import zstandard

import serialpack
from tests.cli.conftest import Run, environment
from tests.cli.told import needs_posix

RECORDS = [{"n": n, "text": f"{n * 7919 % 1000:03}"} for n in range(5000)]
LINES = b"".join(json.dumps(r, separators=(",", ":")).encode() + b"\n" for r in RECORDS)


def _unzstd(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()


#: How each compression is undone by its own library.
UNDONE: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".zst": _unzstd,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".lz4": lz4.frame.decompress,
}


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "a.ndjson"
    path.write_bytes(LINES)
    return path


def test_the_name_of_the_output_is_the_target(run: Run, tmp_path: Path, lines: Path) -> None:
    """Of a file and of a pipe, with options of a conversion; --to goes before the name."""
    run("unpack", lines, "-o", "b.json")
    assert json.loads((tmp_path / "b.json").read_bytes()) == RECORDS
    run("unpack", "-o", "c.csv", stdin=b'[{"a":1}]')
    assert (tmp_path / "c.csv").read_bytes() == b"a\n1\n"
    run("unpack", "--indent", "2", "-o", "d.JSON", stdin=b'{"a":1}')
    assert (tmp_path / "d.JSON").read_bytes() == b'{\n  "a": 1\n}\n'
    run("unpack", "--to", "ndjson", lines, "-o", "e.json")
    assert (tmp_path / "e.json").read_bytes() == LINES
    done = run("unpack", lines, "-o", "f.nothing", code=3)
    assert b"--to FORMAT" in done.stderr
    assert not (tmp_path / "f.nothing").exists()


def test_a_name_that_is_only_read_is_no_target(run: Run, tmp_path: Path, lines: Path) -> None:
    assert b" --to json -o a.json" in run("unpack", lines, "-o", "a.nii", code=3).stderr
    assert not (tmp_path / "a.nii").exists()


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_of_a_container_the_name_says_the_format_too(
    run: Run, tmp_path: Path, lines: Path, way: str
) -> None:
    """The very bytes where it is the format, or the name, of what was packed; else converted."""
    run("pack", lines)
    container = lines.with_name("a.ndjson.spk").read_bytes()

    def unpack(output: str, *more: str) -> bytes:
        files, given = (["a.ndjson.spk"], b"") if way == "file" else ([], container)
        run("unpack", *more, *files, "-o", output, stdin=given)
        return (tmp_path / output).read_bytes()

    assert unpack("b.ndjson") == unpack("b.jsonl") == unpack("b.txt") == unpack("b") == LINES
    assert json.loads(unpack("b.json")) == RECORDS
    assert unpack("b.csv").startswith(b"n,text\n0,000\n") or b'"000"' in unpack("c.csv")
    assert unpack("d.json", "--records", "0:1").strip() == LINES.split(b"\n")[0]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b'{"a": 1}\n{"a" : 2}\n'),
        ("a.csv", b"a\tb\r\n1\t2\r\n"),
        ("a.csv", b"a;b\r\n1;2\r\n"),
        ("a.yaml", b"%YAML 1.1\n---\na:   1\n"),
        ("a.json", b"\x00\x01 none of it"),
        ("a.json", b"{broken"),
        ("a.csv", b""),
    ],
)
def test_what_was_packed_comes_back_under_its_ending(
    run: Run, tmp_path: Path, name: str, data: bytes
) -> None:
    """Whatever its content was taken for: nothing is converted under another name of the kind."""
    (tmp_path / name).write_bytes(data)
    run("pack", name)
    run("unpack", f"{name}.spk", "-o", f"again{name[1:]}")
    assert (tmp_path / f"again{name[1:]}").read_bytes() == data
    (tmp_path / f"{name}.spk").rename(tmp_path / "renamed.spk")
    run("unpack", "renamed.spk", "-o", f"other{name[1:]}")
    assert (tmp_path / f"other{name[1:]}").read_bytes() == data


@pytest.mark.parametrize("ending", UNDONE)
def test_compressed_where_the_name_says_so(
    run: Run, tmp_path: Path, lines: Path, ending: str
) -> None:
    """By conversions, of containers and of pipes; other tools read it, and so does serialpack."""
    undone = UNDONE[ending]
    run("unpack", lines, "-o", f"b.ndjson{ending}")
    written = (tmp_path / f"b.ndjson{ending}").read_bytes()
    assert len(written) < len(LINES) / 2
    assert undone(written) == LINES
    run("unpack", "--to", "msgpack", lines, "-o", f"b{ending}")
    run("unpack", "--to", "msgpack", lines)
    assert undone((tmp_path / f"b{ending}").read_bytes()) == (tmp_path / "a.msgpack").read_bytes()
    run("unpack", f"b.ndjson{ending}", "-o", f"c.json{ending}")
    assert json.loads(undone((tmp_path / f"c.json{ending}").read_bytes())) == RECORDS
    run("pack", lines)
    run("unpack", "a.ndjson.spk", "-o", f"d.ndjson{ending}")
    assert undone((tmp_path / f"d.ndjson{ending}").read_bytes()) == LINES
    container = (tmp_path / "a.ndjson.spk").read_bytes()
    run("unpack", "-o", f"e.txt{ending}", stdin=container)
    assert undone((tmp_path / f"e.txt{ending}").read_bytes()) == LINES
    run("unpack", "--to", "json", "-o", f"f.json{ending}", stdin=LINES)
    assert json.loads(undone((tmp_path / f"f.json{ending}").read_bytes())) == RECORDS


@pytest.mark.parametrize("ending", UNDONE)
def test_nothing_is_written_compressed_where_it_is_refused(
    run: Run, tmp_path: Path, ending: str
) -> None:
    data = LINES + b'{"n":NaN}\n'
    done = run("unpack", "-F", "ndjson", "-o", f"a.json{ending}", stdin=data, code=3)
    assert b"line 5001" in done.stderr
    assert not [p for p in tmp_path.iterdir() if p.name != "home"]
    run("unpack", "-F", "ndjson", "--to", "csv", "-o", f"a.csv{ending}", stdin=b"")
    assert UNDONE[ending]((tmp_path / f"a.csv{ending}").read_bytes()) == b""


def test_what_was_compressed_when_it_was_packed_is_not_compressed_again(
    run: Run, tmp_path: Path
) -> None:
    """By its name, and by its first bytes under any other; also what is only called so."""
    for name, data in (("a.json.gz", gzip.compress(LINES, mtime=0)), ("b.txt.gz", b"plain text")):
        (tmp_path / name).write_bytes(data)
        run("pack", name)
        run("unpack", f"{name}.spk", "-o", f"again-{name}")
        run("unpack", f"{name}.spk", "-o", "folder/")
        assert (tmp_path / "folder" / name).read_bytes() == data
        assert (tmp_path / f"again-{name}").read_bytes() == data
    zipped = gzip.compress(LINES, mtime=0)
    run("pack", "-o", "c.spk", stdin=zipped)
    run("unpack", "c.spk", "-o", "c.gz")
    assert (tmp_path / "c.gz").read_bytes() == zipped


def test_compressing_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that gives back other bytes is found, and no file is there."""
    from serialpack.compressed import write

    class Wrong:
        def decompress(self, data: bytes) -> bytes:
            return data[:1]

    real = write._gzip()
    monkeypatch.setitem(write._MAKERS, "gzip", lambda: real._replace(undo=Wrong()))
    with pytest.raises(serialpack.FileError, match="gzip would give back other bytes"):
        serialpack.convert(io.BytesIO(LINES), tmp_path / "a.json.gz", to="json", format="ndjson")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_there_takes_one_input_too(run: Run, tmp_path: Path, lines: Path) -> None:
    folder = tmp_path / "folder.json"  # whose name is none of a format
    folder.mkdir()
    run("pack", lines, "-o", folder)
    run("unpack", folder / "a.ndjson.spk", "-o", folder)
    assert (folder / "a.ndjson").read_bytes() == LINES
    run("unpack", "--to", "csv", lines, "-o", folder)
    assert {p.name for p in folder.iterdir()} == {"a.ndjson.spk", "a.ndjson", "a.csv"}
    assert b"exists already" in run("unpack", "--to", "csv", lines, "-o", folder, code=1).stderr
    done = run("unpack", "--to", "csv", "-o", folder, stdin=LINES, code=2)
    assert b"standard input: " in done.stderr
    assert b"-o FOLDER/NAME" in done.stderr


@needs_posix
@pytest.mark.parametrize("output", ["/dev/null", "/dev/stdout", "/dev/fd/1"])
def test_devices_take_what_is_written(run: Run, tmp_path: Path, lines: Path, output: str) -> None:
    """Without -f, by each verb that writes; --rm is refused, since nothing is kept there."""
    before = Path(output).stat()
    packed = run("pack", lines, "-o", output).stdout
    container = tmp_path / "a.spk"
    run("pack", lines, "-o", container)
    raw = run("unpack", container, "-o", output).stdout
    converted = run("unpack", "--to", "json", "-f", lines, "-o", output).stdout
    if output == "/dev/null":
        assert not packed + raw + converted
    else:
        assert serialpack.inspect(io.BytesIO(packed)).members[0].size == len(LINES)
        assert raw == LINES
        assert json.loads(converted) == RECORDS
    for force in ([], ["-f"]):
        packed = run("pack", "--archive", *force, lines, "-o", output).stdout
        assert bool(packed) == (output != "/dev/null")
    for args in (["pack"], ["unpack", "--to", "json"]):
        assert b"--rm needs a file" in run(*args, "--rm", lines, "-o", output, code=2).stderr
    assert lines.read_bytes() == LINES
    assert stat.S_IFMT(Path(output).stat().st_mode) == stat.S_IFMT(before.st_mode)


@needs_posix
def test_standard_output_that_is_a_file_is_written_to(tmp_path: Path, lines: Path) -> None:
    """By its name under /dev it is not replaced, nor is it said to be there already."""
    unpack = ["unpack", "--to", "ndjson", str(lines)]
    with (tmp_path / "out").open("wb") as out:
        subprocess.run(
            [sys.executable, "-m", "serialpack", *unpack, "-o", "/dev/stdout"],
            stdout=out,
            env=environment(tmp_path),
            check=True,
            timeout=60,
        )
    assert (tmp_path / "out").read_bytes() == LINES


@needs_posix
def test_a_named_pipe_takes_what_is_written(run: Run, tmp_path: Path, lines: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    for args in (["unpack", "--to", "ndjson", lines], ["unpack", "-f", "--to", "json", lines]):
        reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
        reader.start()
        run(*args, "-o", pipe)
        reader.join(60)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert found[0] == LINES
    assert json.loads(found[1]) == RECORDS


@pytest.mark.parametrize(
    "words",
    [
        *(("pack", f"--{name}") for name in ("profile", "journal", "shared-dict")),
        *(("bench", f"--{name}") for name in ("plot", "html", "save")),
    ],
)
def test_what_is_a_file_is_no_standard_output(
    run: Run, tmp_path: Path, lines: Path, words: tuple[str, str]
) -> None:
    """A file of the name ``-`` was written, which no shell removes lightly."""
    done = run(*words, "-", lines, code=2)
    wanted = f"{words[1]} is a file, and cannot be standard output; name it; ./- is"
    assert wanted in done.stderr.decode()
    assert not (tmp_path / "-").exists()
