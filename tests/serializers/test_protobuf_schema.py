"""The schema of protobuf: older and newer ones, compiled ones, and what is wrong with one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.errors import DamagedError, FileError, UnsupportedError, UsageError
from serialpack.serializers import SERIALIZERS
from tests.serializers.shop import LISTS

pytest.importorskip("google.protobuf")
pytest.importorskip("grpc_tools")


OLD = 'syntax = "proto3"; package a; message Item { int32 id = 1; string name = 2; }'
NEW = (
    'syntax = "proto3"; package a; message Item { int32 id = 1; string name = 2;'
    " double price = 3; repeated string tags = 4; }"
)


def test_an_older_and_a_newer_schema(tmp_path: Path) -> None:
    options = {}
    for name, text in (("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.proto").write_text(text)
        options[name] = {"schema": tmp_path / f"{name}.proto", "message": "a.Item"}
    old = serialpack.dumps({"id": 1, "name": "x"}, "protobuf", options=options["old"])
    read = serialpack.loads(old, options=options["new"])
    assert read == {"id": 1, "name": "x", "tags": []}
    record = {"id": 1, "name": "x", "price": 0.5, "tags": []}
    new = serialpack.dumps(record, "protobuf", options=options["new"])
    assert serialpack.loads(new) == record
    with pytest.raises(DamagedError, match=r"field 3 of a\.Item is not in this schema"):
        serialpack.loads(new, options=options["old"])


def test_a_compiled_schema_and_short_names(shop: dict[str, Any], tmp_path: Path) -> None:
    settings = SERIALIZERS.cls("protobuf").settings({**shop, "message": "Order"})
    compiled = tmp_path / "shop.binpb"
    compiled.write_bytes(settings["schema"])
    options = {"schema": compiled, "message": "Price"}
    record = {"currency": "EUR"}
    assert serialpack.loads(serialpack.dumps(record, "protobuf", options=options)) == record
    assert settings["message"] == "shop.Order"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"schema": "gone.proto", "message": "A"}, FileError, "no such file"),
        ({"schema": "shop.proto", "message": "Ordr"}, UsageError, "no message Ordr.*shop.Order"),
        ({"schema": "shop.proto"}, UsageError, "takes a schema and the name of a message"),
        ({"message": "A"}, UsageError, "takes a schema and the name of a message"),
        ({"schema": "shop.proto", "message": "A", "x": 1}, UsageError, "and no x"),
        ({"schema": "shop.proto", "message": 5}, UsageError, "by its name"),
        ({"schema": 5, "message": "A"}, UsageError, "path of its file"),
        ({"schema": "junk.binpb", "message": "A"}, UsageError, "neither a .proto file nor"),
        ({"schema": "bad.proto", "message": "A"}, UsageError, "bad.proto:1:"),
        ({"schema": "group.proto", "message": "A"}, UsageError, "is a group"),
        ({"schema": "large.proto", "message": "A"}, UsageError, r"takes \d+ bytes in the header"),
        ({"schema": "twins.proto", "message": "C"}, UsageError, "more than one message C"),
    ],
)
def test_options_that_are_wrong(
    shop: dict[str, Any],
    tmp_path: Path,
    options: dict[str, Any],
    error: type[Exception],
    words: str,
) -> None:
    many = " ".join(f"string a_field_of_a_long_name_{i} = {i};" for i in range(1, 2000))
    files = {
        "junk.binpb": "no schema",
        "bad.proto": "message A { int64 a }",
        "group.proto": 'syntax = "proto2"; message A { optional group B = 1 {} }',
        "large.proto": f'syntax = "proto3"; message A {{ {many} }}',
        "twins.proto": 'syntax = "proto3"; message A { message C {} } message B { message C {} }',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    if options.get("schema") == "shop.proto":
        options = {**options, "schema": shop["schema"]}
    elif isinstance(options.get("schema"), str):
        options = {**options, "schema": tmp_path / options["schema"]}
    with pytest.raises(error, match=words):
        serialpack.dumps({}, "protobuf", options=options)


@pytest.mark.parametrize(
    "settings",
    [
        {"schema": b"\xff", "message": "A"},
        {"schema": b"", "message": "A"},
        {"schema": "text", "message": "A"},
        {"message": "A"},
        {"schema": b""},
        {"x": 1},
    ],
)
def test_settings_that_no_header_has(settings: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match="protobuf schema"):
        SERIALIZERS.create("protobuf").configure(settings)


def test_no_module_comes_from_the_current_folder(shop: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "grpc_tools.py").write_text("raise SystemExit('taken from here')")
    program = f"import serialpack; serialpack.dumps({LISTS}, 'protobuf', options={shop})"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
