"""``unpack --to``: conversions from the command line, in real processes."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path

import msgpack
import pytest

import serialpack
from tests.cli.conftest import Run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text("name: site\nports: [80, 443]\ndebug: false\n")
    return path


SITE = {"name": "site", "ports": [80, 443], "debug": False}


def test_the_readme_examples(run: Run, config: Path, tmp_path: Path) -> None:
    done = run("unpack", "--to", "json", config)
    assert json.loads((tmp_path / "config.json").read_bytes()) == SITE
    size = (tmp_path / "config.json").stat().st_size
    told = done.stderr.decode()
    assert told == f"{config} -> {tmp_path / 'config.json'}, {size} B, same values\n"
    done = run("unpack", "--from", "yaml", "--to", "json", config, "-o", "-")
    assert json.loads(done.stdout) == SITE
    messages = msgpack.packb({"a": 1}) + msgpack.packb([2])
    done = run("unpack", "--from", "msgpack", "--to", "ndjson", "-", stdin=messages)
    assert done.stdout == b'{"a":1}\n[2]\n'


def test_outputs_are_named_after_what_they_are(run: Run, config: Path, tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"[1]"))
    (tmp_path / "odd.txt").write_bytes(b"[1]")
    run("pack", config)
    run("unpack", "--to", "msgpack", "config.yaml.spk", "a.json.gz")
    assert msgpack.unpackb((tmp_path / "config.msgpack").read_bytes()) == SITE
    assert (tmp_path / "a.msgpack").read_bytes() == b"\x91\x01"
    run("unpack", "--from", "json", "--to", "yaml", "odd.txt")
    assert (tmp_path / "odd.txt.yaml").read_bytes() == b"- 1\n"
    assert b"--to FORMAT" in run("unpack", config, code=3).stderr
    run("unpack", "--to", "yaml", config, code=1)
    assert "name: site" in config.read_text()


def test_losses_are_refused_named_and_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.msgpack"
    path.write_bytes(b"".join(msgpack.packb({"n": n, "b": b"\xff"}) for n in range(3)))
    done = run("unpack", "--strict", "--to", "json", path, code=4)
    assert b"record 0, $.b" in done.stderr
    assert b"--lossy bytes" in done.stderr
    assert not (tmp_path / "a.json").exists()
    done = run("unpack", "-v", "--to", "json", path)
    assert json.loads((tmp_path / "a.json").read_bytes())[2] == {"n": 2, "b": "/w=="}
    told = done.stderr.decode()
    assert "3 carried: 3 values of bytes as base64" in told
    assert "bytes: 3 carried, first in record 0, $.b: b'\\xff' became '/w=='" in told
    done = run("unpack", "-f", "--json", "--to", "json", path)
    (line,) = map(json.loads, done.stdout.splitlines())
    assert line["losses"] == []
    assert line["carried"] == [
        {
            "rule": "bytes",
            "count": 3,
            "record": 0,
            "value_path": "$.b",
            "was": "b'\\xff'",
            "became": "'/w=='",
        }
    ]
    path.write_bytes(msgpack.packb({"x": [float("nan")] * 2}))
    done = run("unpack", "-f", "--to", "json", path, code=4)
    assert b"--lossy nan writes null" in done.stderr
    done = run("unpack", "-f", "--to", "json", "--lossy", "nan", path)
    assert b"nan: 2 changed, first in record 0, $.x[0]: nan became null" in done.stderr
    path.write_bytes(b"".join(msgpack.packb({"n": n, "b": b"\xff"}) for n in range(3)))
    run("unpack", "--to", "json", "--lossy", "byte", path, code=2)
    done = run("unpack", "-f", "--to", "json", "--tagged", path)
    text = (tmp_path / "a.json").read_bytes()
    assert json.loads(text)[0]["b"] == {"$binary": {"base64": "/w==", "subType": "00"}}
    back = run(
        "unpack", "--from", "json", "--to", "msgpack", "--tagged", "a.json", "-o", "-"
    ).stdout
    assert msgpack.unpackb(back) == msgpack.unpackb(b"\x93" + path.read_bytes())


def test_bad_records_are_left_out_and_placed(run: Run, tmp_path: Path) -> None:
    lines = [b'{"n":%d}' % n for n in range(2000)]
    lines[7] = b'{"n":'
    lines[1500] = b'{"n":1,"n":2}'
    path = tmp_path / "a.ndjson"
    path.write_bytes(b"\n".join(lines) + b"\n")
    done = run("unpack", "--to", "msgpack", path, code=3)
    assert b"line 8" in done.stderr
    done = run("unpack", "--json", "--skip-bad", "--to", "msgpack", path)
    (line,) = map(json.loads, done.stdout.splitlines())
    assert (line["records"], line["left_out"]) == (1998, 2)
    assert [place["record"] for place in line["places"]] == [7, 1500]
    assert line["places"][0]["offset"] == path.read_bytes().index(b'{"n":\n')
    assert b"left out: record 1500" in done.stderr
    with (tmp_path / "a.msgpack").open("rb") as file:
        kept = list(msgpack.Unpacker(file))
    assert kept == [{"n": n} for n in range(2000) if n not in (7, 1500)]


def test_bad_elements_of_an_array(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'[1,\n{"a":},\n[2, 3],\n"x"]')
    done = run("unpack", "--skip-bad", "--to", "ndjson", path, "-o", "-")
    assert done.stdout == b'1\n[2,3]\n"x"\n'
    assert b"left out: record 1" in done.stderr


def test_several_inputs_are_whole_or_not_at_all(run: Run, tmp_path: Path) -> None:
    for n in range(100):
        (tmp_path / f"{n}.json").write_bytes(b'{"n":%d}' % n if n != 50 else b'{"n":')
    names = [f"{n}.json" for n in range(100)]
    done = run("unpack", "--json", "--to", "yaml", *names, "missing.json", "-o", "out", code=3)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["source"] for line in lines] == [*names, "missing.json"]
    assert lines[50]["exit"] == 3
    assert lines[-1]["exit"] == 1
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        f"{n}.yaml" for n in range(100) if n != 50
    }
    assert (tmp_path / "out/99.yaml").read_bytes() == b"'n': 99\n"
    run(
        "unpack", "--to", "yaml", *names[:50], *names[51:70], "-o", "out", code=1
    )  # they are there already
    run("unpack", "-f", "--rm", "--to", "yaml", *names[:50], *names[51:], "-o", "out")
    assert [n for n in names if (tmp_path / n).exists()] == ["50.json"]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_batch_removes_only_what_was_converted(run: Run, tmp_path: Path) -> None:
    names = [f"{n}.json" for n in range(100, 180)]
    for name in names:
        (tmp_path / name).write_bytes(b"1")
    (tmp_path / "elsewhere").write_bytes(b"2")
    (tmp_path / names[10]).unlink()
    (tmp_path / names[10]).symlink_to("elsewhere")
    (tmp_path / names[20]).write_bytes(b"{bad")
    done = run("unpack", "--rm", "--to", "yaml", *names, code=3)
    assert [
        line.split(": ")[1]
        for line in done.stderr.decode().splitlines()
        if "error" not in line and line.startswith("serialpack: ")
    ] == [names[10], names[20]]
    left = {p.name for p in tmp_path.glob("*.json")}
    assert left == {names[10], names[20]}
    made = {p.stem for p in tmp_path.glob("*.yaml")}
    assert made == {Path(name).stem for name in names} - {Path(name).stem for name in left}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--lossy", "bytes"], "--to"),
        (["--tagged"], "--to"),
        (["--from", "json"], "--to"),
        (["--to", "nonsense"], "unknown format"),
        (["--to", "java"], "read, not written"),
        (["--to", "bytes"], "read, not written"),
        (["--to", "json", "--records", "0:1"], "do not go with --to"),
        (["--to", "json", "--test"], "do not go with --to"),
        (["--to", "json", "--schema", "x.proto"], "yaml and json take no schema"),
        (["--to", "json", "--rm", "--lossy", "nan"], "--rm"),
    ],
)
def test_wrong_usage(run: Run, config: Path, args: list[str], words: str) -> None:
    assert words in run("unpack", *args, config, code=2).stderr.decode()
    assert config.exists()


@pytest.mark.parametrize(
    ("name", "data", "code", "words"),
    [
        ("a.json", b'{"a": [1, 2', 3, "line 1"),
        ("a.json", b'{"a": 1} x', 3, "line 1"),
        ("a.yaml", b"a: [1\n", 3, "line"),
        ("a.msgpack", b"\x92\x01", 3, "byte"),
        ("a.csv", b"a,b\r\n1,2,3\r\n", 4, "record 0"),
        ("a.bin", b"\x00\x01\x02", 3, "--from"),
        ("a.pickle", b"I1\n.", 4, "--trust"),
        ("a.json.gz", gzip.compress(b'{"a": 1}', mtime=0)[:-9], 3, "ends too early"),
        ("a.parquet", b"PAR1", 3, "Parquet"),
    ],
)
def test_bad_input_is_one_line(
    run: Run, tmp_path: Path, name: str, data: bytes, code: int, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    done = run("unpack", "--to", "ndjson", name, code=code)
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"serialpack: {name}: ")
    assert words in line
    assert not (tmp_path / "a.ndjson").exists()


def test_the_library_takes_the_format_from_the_name_of_the_target(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_bytes(b'[{"a": 1}]')
    for name, to in (("b.csv", "csv"), ("b.jsonl.gz", "ndjson")):
        assert serialpack.convert(source, tmp_path / name).to == to
    assert gzip.decompress((tmp_path / "b.jsonl.gz").read_bytes()) == b'{"a":1}\n'
    for target in (tmp_path / "b", io.BytesIO()):
        with pytest.raises(serialpack.UsageError, match="name says no format"):
            serialpack.convert(source, target)
    with pytest.raises(serialpack.UsageError, match=r"no format; pack\(source, target\) makes"):
        serialpack.convert(source, tmp_path / "b.spk")
