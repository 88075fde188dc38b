"""Records of any shape as Avro: one record for all of them, which every reader of Avro takes."""

from __future__ import annotations

import io
import json
import pickle
from decimal import Decimal
from typing import Any

import pytest

import serialpack
from tests.conversion.tables.test_typed_tables import RECORDS, without_null, written

fastavro = pytest.importorskip("fastavro")


def read(data: bytes) -> tuple[Any, list[Any]]:
    """The schema and the records of a file, by fastavro itself."""
    reader = fastavro.reader(io.BytesIO(data))
    return reader.writer_schema, list(reader)


@pytest.mark.parametrize("block_size", [None, 20])
@pytest.mark.parametrize("name", [name for name in RECORDS if name != "no map"])
def test_what_is_carried_and_what_is_the_same(name: str, block_size: int | None) -> None:
    """Unions hold several types; records of differing keys, and numbers, have one type."""
    records, rules = RECORDS[name]
    data, report = written(records, "avro", block_size=block_size)
    assert {loss.rule for loss in report.carried} == rules & {"missing", "numbers"}
    schema, found = read(data)
    assert without_null(found) == without_null(records)
    if not report.carried:
        assert json.dumps(found) == json.dumps(records)
        assert written(records, "avro", block_size=block_size, strict=True)[0] == data
        return
    assert schema["type"] == "record"
    with pytest.raises(serialpack.ValueRefusedError, match="without strict=True"):
        written(records, "avro", block_size=block_size, strict=True)


@pytest.mark.parametrize("block_size", [None, 500])
@pytest.mark.parametrize("verify", [True, False])
def test_each_change_is_told_and_each_field_is_null_or_of_one_type(
    block_size: int | None, verify: bool
) -> None:
    usual = {"a": 1, "m": {"x": 1, "y": [{"p": 1}]}, "i": 2**60}
    late = {"i": 3, "m": {"y": [{"p": 0.5, "q": "z"}, {"q": None}]}, "s": "only here"}
    data, report = written([usual] * 100 + [late], "avro", block_size=block_size, verify=verify)
    assert {loss.rule: (loss.count, loss.value_path) for loss in report.carried} == {
        "missing": (100 * 2 + 3, "$.m"),
        "numbers": (100, "$.m"),
        "key-order": (1, "$"),
    }
    schema, found = read(data)
    types = {field["name"]: field["type"] for field in schema["fields"]}
    assert types["a"] == ["null", "long"]
    assert types["i"] == "long"
    inner = {field["name"]: field["type"] for field in types["m"]["fields"]}
    assert inner["x"] == ["null", "long"]
    parts = {field["name"]: field["type"] for field in inner["y"]["items"]["fields"]}
    assert parts == {"p": ["null", "double"], "q": ["null", "string"]}
    assert found[0] == {"a": 1, "m": {"x": 1, "y": [{"p": 1.0, "q": None}]}, "i": 2**60, "s": None}
    assert type(found[0]["m"]["y"][0]["p"]) is float
    assert found[-1] == {
        "a": None,
        "i": 3,
        "s": "only here",
        "m": {"x": None, "y": [{"p": 0.5, "q": "z"}, {"p": None, "q": None}]},
    }


def test_numbers_beside_text_stay_what_they_are() -> None:
    records = [{"v": 1}, {"v": 0.5}, {"v": "x"}, {"v": [2, 2.5, None, True]}]
    data, report = written(records, "avro", strict=True)
    assert (repr(read(data)[1]), report.carried) == (repr(records), [])


def test_maps_whose_keys_are_data_stay_maps() -> None:
    records = [{"m": {f"key{n}": n}, "o": {"a b": [n]}, "e": {}} for n in range(40)]
    data, report = written(records, "avro", strict=True)
    schema, found = read(data)
    assert [field["type"]["type"] for field in schema["fields"]] == ["map", "map", "map"]
    assert (found, report.carried) == (records, [])


def test_unions_for_what_comes_later() -> None:
    records = [{"n": n} for n in range(500)] + [{"n": "x", "late": [1]}]
    data, report = written(records, "avro", block_size=500)
    assert [(loss.rule, loss.count) for loss in report.carried] == [("missing", 500)]
    schema, found = read(data)
    assert [field["type"] for field in schema["fields"]] == [
        ["long", "string"],
        ["null", {"type": "array", "items": "long"}],
    ]
    assert without_null(found) == records


@pytest.mark.parametrize(
    "values", [["1.5", "2.25"], ["1E+5", "1"], ["NaN", "2.5"], ["-0.0", "-Infinity"]]
)
def test_decimals_of_no_one_scale_are_their_digits(values: list[str]) -> None:
    records = [{"d": Decimal(value)} for value in values]
    out = io.BytesIO()
    report = serialpack.convert(
        *(io.BytesIO(b"".join(map(pickle.dumps, records))), out),
        format="pickle",
        to="avro",
        trust=True,
    )
    assert read(out.getvalue())[1] == [{"d": value} for value in values]
    assert [(loss.rule, loss.count) for loss in report.carried] == [("decimals", 2)]


def test_an_avro_file_stays_as_it_is() -> None:
    """Its unions are its own: nothing is made one."""
    schema = {"type": "record", "name": "R", "fields": [{"name": "v", "type": ["long", "double"]}]}
    source, out = io.BytesIO(), io.BytesIO()
    fastavro.writer(source, fastavro.parse_schema(schema), [{"v": 1}, {"v": 2.5}])
    source.seek(0)
    report = serialpack.convert(source, out, format="avro", to="avro", strict=True)
    assert not report.carried
    assert repr(read(out.getvalue())[1]) == "[{'v': 1}, {'v': 2.5}]"


def test_what_is_beyond_its_types_is_refused_with_its_place() -> None:
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        written([{"v": 1}, {"w": 1 << 70}], "avro")
    assert (refused.value.record, refused.value.kind) == (1, "bigint")
