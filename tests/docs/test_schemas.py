"""What ``--json`` prints, held to the schemas in docs/schemas/."""

from __future__ import annotations

import json
import lzma
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from jsonschema import Draft202012Validator

from serialpack.errors import WORST_FIRST
from serialpack.stages.catalog import StageInfo
from tests.docs.commands import run_command

ROOT = Path(__file__).parents[2]
SCHEMAS: dict[str, Any] = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((ROOT / "docs/schemas").glob("*.json"))
}

#: Without settings of whoever runs the tests.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("SERIALPACK_")}

DOCUMENT = b'[{"id": 1, "name": "Ada", "tags": []}, {"id": 2.5, "name": null}]\n'


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema, itself included."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


def check(name: str, value: Any) -> None:
    Draft202012Validator(SCHEMAS[name]).validate(value)


def run(folder: Path, *args: str, exit_code: int = 0, stdin: bytes = b"") -> list[Any]:
    """The lines that the real command prints."""
    env = {**ENVIRONMENT, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    done = run_command([*args], folder, stdin, env)
    assert done.returncode == exit_code, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.json").write_bytes(DOCUMENT)
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    (tmp_path / "empty").touch()
    return tmp_path


def test_there_is_a_schema_for_each_output() -> None:
    assert set(SCHEMAS) == {
        "pack", "unpack", "convert", "inspect", "stages", "bench", "error", "left", "journal",
    }  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_valid_and_strict(name: str) -> None:
    """Every key is described, and a key that is not described is refused."""
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    for node in nodes(schema):
        if node.get("type") == "object":
            extra = node["additionalProperties"]
            assert extra is False or extra["description"].endswith(".")
        if "properties" in node and "required" in node:
            assert all(p["description"].endswith(".") for p in node["properties"].values())


def test_schema_of_stages_knows_every_key() -> None:
    """What a stage tells about itself, in the same order."""
    assert tuple(SCHEMAS["stages"]["items"]["properties"]) == StageInfo._fields


def test_schema_of_errors_knows_every_code() -> None:
    """Those that a file can fail with; a signal ends without a line."""
    assert sorted(SCHEMAS["error"]["properties"]["exit"]["enum"]) == sorted(
        {*WORST_FIRST} - {0, 130}
    )


def test_validation_refuses_what_is_wrong() -> None:
    """The check that all others here rest on finds a missing, an extra and a false key."""
    line = {"source": "x", "error": "is missing", "exit": 1}
    validator = Draft202012Validator(SCHEMAS["error"])
    assert validator.is_valid(line)
    assert not validator.is_valid({**line, "more": 1})
    assert not validator.is_valid({**line, "exit": 0})
    assert not validator.is_valid({"source": "x", "exit": 1})


@pytest.mark.parametrize(
    "options",
    [[], ["-s", "msgpack"], ["-c", "none"], ["-9", "--no-verify"], ["--filter", "shuffle:4"]],
    ids=" ".join,
)
def test_pack(folder: Path, options: list[str]) -> None:
    (line,) = run(folder, "pack", "--json", *options, "a.json")
    check("pack", line)
    assert line["size"] == len(DOCUMENT)
    assert line["packed"] == (folder / "a.json.spk").stat().st_size


def test_pack_several_and_empty(folder: Path) -> None:
    """A line a file, in order; bytes have no records."""
    lines = run(folder, "pack", "--json", "noise", "empty", "a.json")
    for line in lines:
        check("pack", line)
    assert [line["source"] for line in lines] == ["noise", "empty", "a.json"]
    assert lines[0]["records"] is None


@pytest.mark.parametrize("options", [[], ["--test"], ["--bytes", "2:9"], ["--records", "1:"]])
def test_unpack(folder: Path, options: list[str]) -> None:
    run(folder, "pack", "a.json")
    (line,) = run(folder, "unpack", "--json", "-f", *options, "a.json.spk")
    check("unpack", line)
    assert (line["target"] is None) == ("--test" in options)


def test_convert(folder: Path) -> None:
    """With something lost, something left out, and neither."""
    (folder / "b.ndjson").write_bytes(b'{"a":1}\n{"a":\n{"a":%d}\n' % (1 << 70))
    options = ["--skip-bad", "--lossy", "bigint"]
    (line,) = run(folder, "unpack", "--json", "--to", "msgpack", *options, "b.ndjson")
    check("convert", line)
    assert len(line["losses"]) == len(line["places"]) == 1
    (line,) = run(folder, "unpack", "--json", "--to", "csv", "--skip-bad", "b.ndjson")
    check("convert", line)
    assert len(line["carried"]) == 1
    run(folder, "pack", "a.json")
    for source in ("a.json", "a.json.spk"):
        (line,) = run(folder, "unpack", "-f", "--json", "--to", "yaml", source)
        check("convert", line)
        assert line["records"] == 2
    (line,) = run(folder, "unpack", "--json", "--to", "json", "a.json.spk", "-o", "again.json")
    check("convert", line)
    assert line["exact"]
    run(folder, "pack", "--json", "--archive", "a.json", "b.ndjson", "-o", "all.spk")
    one = ["--include", "a.json", "all.spk", "-o", "entry.yaml"]
    (line,) = run(folder, "unpack", "--json", "--to", "yaml", *one)
    check("convert", line)
    assert line["entry"] == "a.json"


@pytest.mark.parametrize("blocks", [True, False])
def test_inspect_container(folder: Path, blocks: bool) -> None:
    """With --blocks there is an entry a block, else none."""
    data = b'{"id": 1, "price": 2.5}\n' * 100
    (folder / "b.ndjson").write_bytes(data)
    run(folder, "pack", "--block-size", "1K", "--meta", "from=test", "b.ndjson")
    (line,) = run(folder, "inspect", "--json", *["--blocks"] * blocks, "b.ndjson.spk")
    check("inspect", line)
    (member,) = line["members"]
    assert member["meta"] == {"from": "test"}
    assert member["blocks"] > 1
    assert len(member.get("block_list", [])) == (member["blocks"] if blocks else 0)


def test_inspect_a_packed_database(folder: Path) -> None:
    """Its tables are told as those of one that is not packed."""
    run(folder, "unpack", "--json", "--to", "sqlite", "a.json")
    run(folder, "pack", "--json", "a.db")
    plain, packed = run(folder, "inspect", "--json", "a.db", "a.db.spk")
    for line in (plain, packed):
        check("inspect", line)
    assert packed["members"][0]["listing"] == plain["listing"]
    assert plain["listing"]["entries"]


def test_inspect_columns(folder: Path) -> None:
    data = b"".join(b'{"id": %d, "a": {"b": [%d]}, "c": null}\n' % (n, n % 7) for n in range(900))
    (folder / "c.ndjson").write_bytes(data)
    run(folder, "pack", "c.ndjson")
    (line,) = run(folder, "inspect", "--json", "--columns", "c.ndjson.spk")
    check("inspect", line)
    (member,) = line["members"]
    assert member["forms"] == {"columns": 1}
    found = {column["path"]: column for column in member["columns"]["columns"]}
    assert {path: column["type"] for path, column in found.items()} == {
        "id": "number",
        "a.b[]": "number",
        "c": "null",
    }
    assert all(column["values"] == 900 for column in found.values())
    assert found["id"]["size"] == len("".join(map(str, range(900))))
    told = sum(column["packed"] for column in found.values()) + member["columns"]["structure"]
    assert 0 < told <= member["packed"] - member["container"]


def test_inspect_members(folder: Path) -> None:
    """Containers one after another are one file of two members; a stream has no size."""
    run(folder, "pack", "a.json", "noise")
    data = (folder / "a.json.spk").read_bytes() + (folder / "noise.spk").read_bytes()
    (line,) = run(folder, "inspect", "--json", "-", stdin=data)
    check("inspect", line)
    assert len(line["members"]) == 2


def test_archive(folder: Path) -> None:
    """A line an entry; one that failed has a line too, and so has then the archive."""
    packed = run(folder, "pack", "--json", "--archive", "a.json", "noise", "-o", "x.spk")
    (line,) = run(folder, "inspect", "--json", "x.spk")
    check("inspect", line)
    assert [e["path"] for m in line["members"] for e in m["entries"]] == ["a.json", "noise"]
    (folder / "x").mkdir()
    (folder / "x/noise").touch()
    good, bad, whole = run(folder, "unpack", "--json", "x.spk", exit_code=1)
    for schema, lines in (("pack", packed), ("unpack", [good]), ("error", [bad, whole])):
        for each in lines:
            check(schema, each)
    assert [each["entry"] for each in (*packed, good, bad)] == ["a.json", "noise"] * 2
    assert (whole["source"], "entry" in whole) == ("x.spk", False)
    failed, done, whole = run(
        folder, "pack", "--json", "--archive", "noise", "gone", "-o", "y.spk", exit_code=1
    )
    check("pack", done)
    for each in (failed, whole):
        check("error", each)
    assert (failed["source"], failed["entry"], whole["source"]) == ("gone", "gone", "y.spk")


@pytest.mark.parametrize("name", ["a.json", "noise", "empty"])
def test_inspect_any_other_file(folder: Path, name: str) -> None:
    (line,) = run(folder, "inspect", "--json", name)
    check("inspect", line)
    assert line["container"] is False
    if name == "a.json":
        assert set(line["fields"]) <= {"id", "name", "tags"}


def test_inspect_what_others_packed(folder: Path) -> None:
    """What is in a compressed file, and the entries of a tar and of a zip."""
    with tarfile.open(folder / "x.tar.gz", "w:gz") as tar, ZipFile(folder / "x.zip", "w") as packed:
        for name in ("a.json", "noise"):
            tar.add(folder / name, name)
            packed.write(folder / name, name)
    (folder / "a.json.xz").write_bytes(lzma.compress(DOCUMENT))
    (tar_line, zip_line, xz_line) = run(
        folder, "inspect", "--json", "x.tar.gz", "x.zip", "a.json.xz"
    )
    for line in (tar_line, zip_line, xz_line):
        check("inspect", line)
    for line in (tar_line, zip_line):
        assert [entry["name"] for entry in line["listing"]["entries"]] == ["a.json", "noise"]
    assert xz_line["inside"]["look"]["fields"]["id"] == ["integer", "number"]
    (folder / "cut.xz").write_bytes(lzma.compress(DOCUMENT)[:-9])
    (line,) = run(folder, "inspect", "--json", "cut.xz", exit_code=3)
    check("error", line)


def test_inspect_stages(folder: Path) -> None:
    (stages,) = run(folder, "inspect", "--stages", "--json")
    check("stages", stages)
    assert {stage["kind"] for stage in stages} == {"serializer", "filter", "codec"}


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["pack", "missing"], 1),
        (["pack", "-s", "json", "noise"], 3),
        (["pack", "-s", "msgpack", "big.json"], 4),
        (["unpack", "-o", "out", "noise"], 3),
        (["unpack", "a.json"], 3),
        (["inspect", "missing"], 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_errors(folder: Path, args: list[str], code: int) -> None:
    """A file that failed has a line too, and it names the exit code."""
    (folder / "big.json").write_bytes(b"[123456789012345678901234567890]")
    verb, *rest = args
    (line,) = run(folder, verb, "--json", *rest, exit_code=code)
    check("error", line)
    assert line["source"] == rest[-1]
    assert line["exit"] == code


def test_errors_stand_between_results(folder: Path) -> None:
    """The lines are in the order of the files, whatever became of each."""
    good, bad = run(folder, "inspect", "--json", "a.json", "missing", exit_code=1)
    check("inspect", good)
    check("error", bad)
