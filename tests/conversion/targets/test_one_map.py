"""Records, and whatever else is no map, become TOML, of which a file is one."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from serialpack.conversion.tables.shaping import Shaping
from tests.formats.xml_documents import convert, refused


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("json", [{"a": 1, "b": [1, "x"]}, {"c": {"d": 2.5}}]),
        ("json", []),
        ("json", [1, [2, "x"], {"a": True}]),
        ("ndjson", [{"a": 1}, {"b": "x"}]),
        ("csv", [{"a": "x", "b": "y"}, {"a": "z", "b": ""}]),
        ("csv", [{"a": "x"}]),
        ("csv", []),
        ("msgpack", [{"a": 1}, 5]),
    ],
    ids=str,
)
def test_records_are_a_list_of_tables_and_come_back(source: str, value: Any) -> None:
    """They were refused, which was most of what is not made for TOML: it has ``[[item]]``."""
    data = b"" if source == "csv" and not value else convert(_json(value), "json", source)[0]
    written, report = convert(data, source, "toml")
    assert tomllib.loads(written.decode()) == {"item": value}
    assert {loss.rule for loss in report.carried} == {"root"}
    assert report.back == ("-F", "toml", "--at", "item")
    back, _ = convert(written, "toml", "json", shaping=Shaping(at="item"))
    assert json.loads(back) == value
    error = refused(data, source, "toml", strict=True)
    assert (error.exit_code, "of the key item" in str(error)) == (4, True)


@pytest.mark.parametrize(("source", "count"), [("json", 0), ("ndjson", 0), ("json", 1)])
def test_a_map_is_a_file_as_it_is(source: str, count: int) -> None:
    data, report = convert(b'[{"a": 1}]' if count else b'{"a": 1}\n', source, "toml")
    assert tomllib.loads(data.decode()) == ({"item": [{"a": 1}]} if count else {"a": 1})
    assert len(report.carried) == count


def test_a_scalar_is_the_value_of_the_key() -> None:
    data, report = convert(b"5", "json", "toml")
    assert (data, report.back) == (b"item = 5\n", ())


def test_what_toml_has_not_is_refused_where_it_stands() -> None:
    """With the place in what is written, and what lets it go."""
    error = refused(b'[{"a": 1}, {"a": null}]', "json", "toml")
    assert "$.item[1].a: toml cannot hold null" in str(error)
    data, _ = convert(b'[{"a": 1}, {"a": null}]', "json", "toml", lossy=["null"])
    assert tomllib.loads(data.decode()) == {"item": [{"a": 1}, {}]}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
