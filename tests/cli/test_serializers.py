"""The serializers on the command line: chosen, refused with reason, listed with what they hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer
from serialpack.values.kinds import KINDS
from tests.cli.conftest import Run

#: What every serializer of values holds, in as many records as asked for.
ROWS = [{"id": str(n), "name": f"Zoë {n % 7}"} for n in range(300)]

VALUE = [e.name for e in SERIALIZERS if issubclass(SERIALIZERS.cls(e.name), RecordSerializer)]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in ROWS))
    return path


@pytest.mark.parametrize("name", [name for name in VALUE if name != "java"])
def test_every_serializer_packs_records_and_gives_them_back(
    run: Run, rows: Path, tmp_path: Path, name: str
) -> None:
    cls = SERIALIZERS.cls(name)
    if (install := cls.missing(name)) is not None:
        done = run("pack", "-s", name, rows, code=1)
        assert f"serializer {name} is not installed; {install}" in done.stderr.decode()
        return
    packed = tmp_path / "rows.spk"
    run("pack", "-s", name, "--block-size", "4K", rows, "-o", packed)
    done = run("unpack", packed, "-o", "-", *([] if cls.safe else ["--trust"]))
    assert done.stdout == rows.read_bytes()


@pytest.mark.parametrize("name", ["csv", "avro", "parquet", "arrow", "cbor", "bson"])
def test_what_is_stored_in_a_format_is_one_file_of_it(
    run: Run, rows: Path, tmp_path: Path, name: str
) -> None:
    """Whatever the blocks are, and the same file for all block sizes."""
    files = []
    for size in ("1M", "4K"):
        packed, out = tmp_path / f"{size}.spk", tmp_path / f"{size}.{name}"
        run("pack", "-s", name, "--block-size", size, rows, "-o", packed)
        run("unpack", "--to", name, packed, "-o", out)
        files.append(out.read_bytes())
        again = tmp_path / f"{size}.again.spk"
        run("pack", "-s", "pickle", "-F", name, out, "-o", again)
    assert files[0] == files[1]


def test_several_records_are_a_list_in_a_format_of_one(run: Run, rows: Path) -> None:
    packed = rows.with_suffix(".spk")
    run("pack", "-s", "toml", rows, "-o", packed)
    done = run("unpack", "--to", "toml", packed, "-o", rows.with_suffix(".toml"))
    assert b"(back: -F toml --at item)" in done.stderr
    back = run("unpack", "--to", "ndjson", "--at", "item", rows.with_suffix(".toml"), "-o", "-")
    assert list(map(json.loads, back.stdout.splitlines())) == list(
        map(json.loads, rows.read_text().splitlines())
    )
    rows.write_text('{"a": 1}\n')
    run("pack", "-f", "-s", "toml", rows, "-o", packed)
    assert run("unpack", "--to", "toml", packed, "-o", "-").stdout == b"a = 1\n"


def test_java_is_read_only(run: Run, rows: Path) -> None:
    done = run("pack", "-s", "java", rows, code=4)
    assert b"java" in done.stderr


def test_a_schema(run: Run, rows: Path, tmp_path: Path) -> None:
    schema = tmp_path / "rows.proto"
    schema.write_text(
        'syntax = "proto3";\npackage rows;\n'
        "message Row { optional string id = 1; optional string name = 2; }\n"
    )
    packed = tmp_path / "rows.spk"
    run("pack", "-s", "protobuf", "--schema", schema, "--message", "rows.Row", rows, "-o", packed)
    assert run("unpack", packed, "-o", "-").stdout == rows.read_bytes()
    run("pack", "-s", "protobuf", "--schema", schema, rows, "-o", tmp_path / "x.spk", code=2)
    done = run("pack", "-s", "json", "--schema", schema, rows, "-o", tmp_path / "x.spk", code=2)
    assert b"schema" in done.stderr
    rows.write_text('{"id": "1", "other": 2}\n')
    how = ["-s", "protobuf", "--schema", schema, "--message", "rows.Row"]
    done = run("pack", *how, rows, "-o", tmp_path / "x.spk", code=4)
    assert b"other" in done.stderr
    assert not (tmp_path / "x.spk").exists()


def test_the_table_of_fidelity(run: Run) -> None:
    lines = run("inspect", "--stages", "--fidelity").stdout.decode().splitlines()
    rows = {line[: line.rindex("  ")].strip(): line.split()[-1] for line in lines if "  " in line}
    letters = next(line.strip() for line in lines if line.startswith("    "))
    assert len(letters) == len(VALUE)
    names = dict(line.split() for line in lines[-len(VALUE) :])
    assert list(names.values()) == VALUE
    for kind, words in KINDS.items():
        for letter, mark in zip(letters, rows[words], strict=True):
            cls = SERIALIZERS.cls(names[letter])
            assert mark == ("-" if kind in cls.cannot else "~" if kind in cls.partly else "+")
    run("inspect", "--fidelity", code=2)
