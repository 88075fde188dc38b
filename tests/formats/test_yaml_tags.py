"""Tags of YAML that have no type of Python's: CloudFormation's ``!Ref``, Home Assistant's
``!include``. They were refused, with no way out."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import serialpack
from serialpack.errors import SerialpackError
from serialpack.values.equality import difference
from serialpack.values.yaml_tags import YamlTag
from tests.conversion.converting import converted

pytest.importorskip("yaml")

TEXT = b"""\
name: !Sub "${Stack}-x"
zone: !Select [0, !GetAZs '']
size: !If [c, 1.5, 2001-01-01]
one: &r !Ref Other
two: *r
map: !Transform {Name: x, n: 2}
old: !!omap [a: 1]
far: !<tag:example.com,2000:x> y
none: !Null
"""
MAPS = {
    "name": {"!Sub": "${Stack}-x"},
    "zone": {"!Select": [0, {"!GetAZs": ""}]},
    "size": {"!If": ["c", 1.5, "2001-01-01"]},
    "one": {"!Ref": "Other"},
    "two": {"!Ref": "Other"},
    "map": {"!Transform": {"Name": "x", "n": 2}},
    "old": {"!!omap": [{"a": 1}]},
    "far": {"!<tag:example.com,2000:x>": "y"},
    "none": {"!Null": ""},
}


def read(text: bytes) -> list[object]:
    from serialpack.formats.yaml.read import read

    return read(text)


def test_they_are_maps_of_their_tag_and_told() -> None:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(TEXT), out, format="yaml", to="json")
    assert json.loads(out.getvalue()) == MAPS
    assert {loss.rule: loss.count for loss in report.carried} == {"tags": 10}
    with pytest.raises(SerialpackError, match="tagged"):
        converted(TEXT, "yaml", "json", strict=True)


@pytest.mark.parametrize("to", ["json", "ndjson"])
def test_tagged_keeps_them(to: str) -> None:
    tagged = converted(TEXT, "yaml", to, tagged=True)
    back = converted(tagged, to, "yaml", tagged=True)
    assert json.loads(tagged)["one"] == {"$yamlTag": ["!Ref", "Other"]}
    assert b"one: !Ref Other\n" in back
    assert difference(read(TEXT), read(back)) is None


@pytest.mark.parametrize("to", ["csv", "parquet", "sqlite", "toml", "msgpack", "bson", "avro"])
def test_every_target_gets_the_maps(to: str) -> None:
    text = b"a: !Ref x\nb: [1, !Sub y]\n"
    if to in ("parquet", "avro", "bson"):
        pytest.importorskip({"parquet": "pyarrow", "avro": "fastavro", "bson": "bson"}[to])
    assert b"!Ref" in converted(text, "yaml", to)


def test_yaml_has_them_itself() -> None:
    out = io.BytesIO()
    source = b"a: !Ref x\nb: 1\n---\na: !Sub [y, {z: !Ref w}]\nb: 2\n"
    report = serialpack.convert(io.BytesIO(source), out, format="yaml", to="yaml", fields=["a"])
    assert report.carried == []
    wanted = [{"a": YamlTag("!Ref", "x")}]
    wanted.append({"a": YamlTag("!Sub", ["y", {"z": YamlTag("!Ref", "w")}])})
    assert difference(read(out.getvalue()), wanted) is None


@pytest.mark.parametrize("serializer", ["raw", "yaml", "pickle"])
def test_they_are_packed(serializer: str, tmp_path: Path) -> None:
    packed, back = tmp_path / "a.spk", io.BytesIO()
    serialpack.pack(io.BytesIO(TEXT), packed, serializer=serializer, format="yaml", trust=True)
    serialpack.unpack(packed, back, trust=True)
    assert difference(read(TEXT), read(back.getvalue()), identity=True) is None


@pytest.mark.parametrize("serializer", ["msgpack", "cbor", "json", "marshal", "xml", "objects"])
def test_other_serializers_refuse_them(serializer: str) -> None:
    with pytest.raises(SerialpackError, match="cannot hold a tagged value"):
        serialpack.pack(io.BytesIO(TEXT), io.BytesIO(), serializer=serializer, format="yaml")


def test_what_stands_in_them_is_lost_as_elsewhere() -> None:
    """Digits, and keys that are there twice, also below a tag."""
    text = b"a: !x {b: 1.00000000000000000001, c: 1, c: 2}\n"
    lossy = ["digits", "duplicates"]
    made = converted(text, "yaml", "json", lossy=lossy)
    assert json.loads(made) == {"a": {"!x": {"b": 1.0, "c": 2}}}
    with pytest.raises(SerialpackError):
        converted(text, "yaml", "json")
