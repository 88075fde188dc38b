"""yaml, toml, csv and tsv: what their stored bytes are, who else reads them, what they refuse."""

from __future__ import annotations

import csv
import io
import json
import sys
import tomllib
from typing import Any

import pytest
import yaml

import serialpack
from serialpack.errors import MissingLibraryError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.values.equality import difference
from tests.serializers.chains import record_serializer


def _unpacked(source: bytes, fmt: str, serializer: str, to: str | None = None) -> bytes:
    packed, unpacked = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, serializer=serializer, format=fmt)
    packed.seek(0)
    if to is None:
        serialpack.unpack(packed, unpacked)
    else:
        serialpack.convert(packed, unpacked, to=to, lossy=["comments"])
    return unpacked.getvalue()


LINES = b'{"name":"no","time":"1:30"}\n{"name":"","time":"a,\\"b\\"\\r\\n"}\n'


@pytest.mark.parametrize(
    ("serializer", "stored"),
    [
        (
            "yaml",
            b"---\nname: 'no'\ntime: '1:30'\n...\n"
            b'---\nname: \'\'\ntime: "a,\\"b\\"\\r\\n"\n...\n',
        ),
        (
            "toml",
            b'#---\nname = "no"\ntime = "1:30"\n#---\nname = ""\ntime = "a,\\"b\\"\\r\\n"\n',
        ),
        ("csv", b'name,time\nno,1:30\n,"a,""b""\r\n"\n'),
        ("tsv", b'name\ttime\nno\t1:30\n\t"a,""b""\r\n"\n'),
    ],
)
def test_what_is_stored(serializer: str, stored: bytes) -> None:
    assert _unpacked(LINES, "ndjson", serializer) == LINES
    assert (
        record_serializer(serializer).dump([json.loads(line) for line in LINES.splitlines()])
        == stored
    )
    records = record_serializer(serializer).load(stored)
    assert records == [json.loads(line) for line in LINES.splitlines()]


def test_others_read_it() -> None:
    records = [json.loads(line) for line in LINES.splitlines()]
    assert list(yaml.safe_load_all(record_serializer("yaml").dump(records))) == records
    for record in records:
        assert tomllib.loads(record_serializer("toml").dump([record]).decode()) == record
    text = io.StringIO(record_serializer("csv").dump(records).decode(), newline="")
    assert list(csv.DictReader(text)) == records


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("yaml", b"a: 1\na: 2\n"),
        ("yaml", b"[1"),
        ("yaml", b"- !own a: b"),
        ("yaml", b"\xff"),
        ("yaml", b"[" * 100_000),
        ("yaml", b"a: &a [x]\nb: &b [" + b"*a," * 1000 + b"]\nc: [" + b"*b," * 1000 + b"]"),
        ("toml", b"a = 1\n"),
        ("toml", b"#---\na = 1\na = 2\n"),
        ("toml", b"#---\na = 9223372036854775808\n"),
        ("toml", b"#---\na = " + b"[" * 100_000),
        ("toml", b"#---\n" + b"a." * 100_000 + b"a = 1"),
        ("toml", b"\xff#---\n"),
        ("csv", b"a,b\n1\n"),
        ("csv", b"a,b\n1,2,3\n"),
        ("csv", b"a,b\n\n1,2\n"),
        ("csv", b"a,a\n1,2\n"),
        ("csv", b"\n"),
        ("csv", b'a\n"1'),
        ("csv", b"a\n\xff"),
        ("tsv", b"a\n1\t2\n"),
    ],
)
def test_bytes_that_no_serializer_wrote_are_refused(name: str, stored: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        record_serializer(name).load(stored)


@pytest.mark.parametrize("name", ["csv", "tsv"])
@pytest.mark.parametrize(
    "records",
    [
        [],
        [{"": ""}],
        [{"a": ""}, {"a": ""}],
        [{"\ufeffa": "\ufeff"}],
        [{"a": "\r", "b": "\n", "c": "\r\n", "d": '"', "e": " ", "f": "\t,;", "g": "\0\x85\u2028"}],
        [{"\n": "", '"': "x" * 200_000}],
    ],
)
def test_tables_of_text_are_held(name: str, records: list[Any]) -> None:
    assert record_serializer(name).load(record_serializer(name).dump(records)) == records
    assert serialpack.loads(serialpack.dumps(records, name)) == records


@pytest.mark.parametrize(
    ("records", "record", "path", "kind"),
    [
        ([{"a": "1"}, {"b": "1"}], 1, "$[1]", "mixed"),
        ([{"a": "1", "b": "2"}, {"b": "2", "a": "1"}], 1, "$[1]", "mixed"),
        ([{"a": "1"}, {"a": "1", "b": "2"}], 1, "$[1]", "mixed"),
        ([{"a": "1"}, {"a": 1}], 1, "$[1].a", "integer"),
        ([{"a": None}], 0, "$[0].a", "null"),
        ([{"a b": []}], 0, '$[0]["a b"]', "nested"),
        ([{"a": {"b": "c"}}], 0, "$[0].a", "nested"),
        ([{"a": "\ud800"}], 0, "$[0].a", "surrogates"),
        ([{1: "a"}], 0, "$[0]", "integer-key"),
        ([{None: "a"}], 0, "$[0]", "key"),
        ([{}], 0, "$[0]", "value"),
        ([{"a": "1"}, "b"], 1, "$[1]", "bare"),
    ],
)
def test_what_is_no_table_of_text_is_refused(
    records: list[Any], record: int, path: str, kind: str
) -> None:
    lost = record_serializer("csv").blame(records, ValueError())
    assert (lost.record, lost.kind) == (record, kind)
    with pytest.raises(ValueRefusedError) as caught:
        serialpack.dumps(records, "csv")
    assert (caught.value.value_path, caught.value.kind) == (path, kind)


def test_shared_references_and_cycles_in_yaml() -> None:
    inner: list[Any] = [1]
    value: dict[str, Any] = {"a": inner, "b": [inner], "c": {}}
    value["c"]["self"] = value
    again = serialpack.loads(serialpack.dumps(value, "yaml"))
    assert difference(value, again, identity=True) is None
    assert again["a"] is again["b"][0]
    assert again["c"]["self"] is again


def test_a_yaml_source_keeps_its_bytes_and_goes_elsewhere_by_value() -> None:
    source = b"# why\nyes: no\nat: 1:30\nday: 2001-12-14\n---\n&a [*a, 'no', 0777]\n"
    assert _unpacked(source, "yaml", "yaml") == source
    plain = b"- no\n- 'no'\n- 1:30\n- 0777\n- 1.5e+3\n- y\n- ~\n"
    assert json.loads(_unpacked(plain, "yaml", "json", to="json")) == [
        *("no", "no", "1:30", 777, 1500.0, "y", None)
    ]
    restored = _unpacked(plain, "yaml", "json")
    assert restored == b"- 'no'\n- 'no'\n- '1:30'\n- 777\n- 1500.0\n- 'y'\n- null\n"
    restored = _unpacked(plain, "yaml:1.1", "json")
    assert restored == b"- false\n- 'no'\n- 90\n- 511\n- 1500.0\n- 'y'\n- null\n"


def test_a_toml_source_keeps_its_bytes_and_goes_elsewhere_by_value() -> None:
    source = b"# why\na.b = 1_000\nc = 1\n[d]\ne = [1,\n2]\n"
    assert _unpacked(source, "toml", "toml") == source
    assert _unpacked(source, "toml", "json", to="ndjson") == (
        b'{"a":{"b":1000},"c":1,"d":{"e":[1,2]}}\n'
    )
    assert _unpacked(source, "toml", "json") == (
        b"a = { b = 1000 }\nc = 1\n\n[d]\ne = [\n    1,\n    2,\n]\n"
    )


@pytest.mark.parametrize(
    ("fmt", "library", "extra", "source"),
    [("yaml", "yaml", "yaml", b"a: 1\n"), ("toml", "tomli_w", "toml", b"a = 1\n")],
)
def test_a_missing_library_is_said(
    monkeypatch: pytest.MonkeyPatch, fmt: str, library: str, extra: str, source: bytes
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError, match=rf"{library} is not installed") as caught:
        serialpack.pack(io.BytesIO(source), io.BytesIO(), serializer="json", format=fmt)
    assert caught.value.hint == f"pip install 'serialpack[{extra}]'"


@pytest.mark.parametrize(
    ("name", "fmt"),
    [
        ("a.yaml", "yaml"),
        ("a.YML", "yaml"),
        ("a.toml", "toml"),
        ("a.csv", "csv"),
        ("a.tab", "tsv"),
    ],
)
def test_extensions(name: str, fmt: str) -> None:
    entry = FORMATS.by_extension(name)
    assert entry is not None
    assert entry.name == fmt
