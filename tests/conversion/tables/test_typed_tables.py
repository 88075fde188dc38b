"""Records of any shape as Parquet and Arrow, and back."""

from __future__ import annotations

import io
import json
import math
import pickle
from decimal import Decimal
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.errors import ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.tables.table import TableFormat

pytest.importorskip("pyarrow")


def written(records: list[Any], to: str, **how: Any) -> tuple[bytes, Any]:
    out = io.BytesIO()
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    report = serialpack.convert(io.BytesIO(text), out, format="ndjson", to=to, **how)
    return out.getvalue(), report


def back(data: bytes, source: str, words: tuple[str, ...]) -> list[Any]:
    out = io.BytesIO()
    separator = words[words.index("--separator") + 1] if "--separator" in words else "."
    shaping = Shaping(nest=() if "--nest" in words else None, separator=separator)
    serialpack.convert(io.BytesIO(data), out, format=source, to="json", shaping=shaping)
    found: list[Any] = json.loads(out.getvalue())
    return found


def without_null(value: Any) -> Any:
    """Null is what stands for what is missing."""
    if isinstance(value, dict):
        return {k: without_null(v) for k, v in sorted(value.items()) if v is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


RECORDS: dict[str, tuple[list[Any], set[str]]] = {
    "alike": ([{"a": 1, "b": "x"}, {"a": 2, "b": None}], set()),
    "other keys": ([{"a": 1}, {"b": "x"}], {"missing"}),
    "numbers": ([{"v": 1.0}, {"v": 2}], {"numbers"}),
    "numbers in lists": ([{"v": [1, 2.5]}, {"v": []}, {"v": None}], {"numbers"}),
    "several types": ([{"v": 1}, {"v": "1"}, {"v": [1]}, {"v": None}], {"mixed"}),
    "integers that no double holds": ([{"v": 2**53 + 1}, {"v": 0.5}], {"mixed"}),
    "other keys in maps": ([{"m": {"a": 1}}, {"m": {"b": [{"c": 1}]}}], {"missing"}),
    "a map beside text": ([{"m": {"a": 1}}, {"m": "x"}], {"mixed"}),
    "maps without keys": ([{"m": {}}], {"mixed"}),
    "dots": ([{"a.b": 1, "m": {}}], {"mixed"}),
    "no map": ([1, 2], {"shapes"}),
}


@pytest.mark.parametrize("target", ["parquet", "arrow"])
@pytest.mark.parametrize("name", RECORDS)
def test_there_and_back(name: str, target: str) -> None:
    records, rules = RECORDS[name]
    data, report = written(records, target)
    assert {loss.rule for loss in report.carried} == rules
    assert not report.losses
    found = back(data, target, report.back)
    wanted = records if "shapes" not in rules else [{"value": record} for record in records]
    assert without_null(found) == without_null(wanted)
    if rules and rules != {"shapes"}:
        with pytest.raises(serialpack.ValueRefusedError):
            written(records, target, strict=True)


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_blocks_are_one_table(target: str) -> None:
    records = [{"n": n, "late": None if n < 900 else [str(n)]} for n in range(1000)]
    data, report = written(records, target, block_size=2000)
    assert report.records == 1000
    assert back(data, target, report.back) == records
    if target == "parquet":
        import pyarrow.parquet

        assert pyarrow.parquet.ParquetFile(io.BytesIO(data)).num_row_groups > 5


def test_a_column_of_json_is_marked() -> None:
    import pyarrow.parquet

    data, _ = written([{"v": 1}, {"v": "x"}], "parquet")
    assert "JSON" in str(pyarrow.parquet.ParquetFile(io.BytesIO(data)).schema)


def test_maps_are_columns_where_that_is_asked() -> None:
    records: list[Any] = [{"m": {"a": 1, "b": {"c": "x"}}}, {"m": {"a": 2, "b": {"c": "y"}}}]
    data, report = written(records, "parquet", shaping=Shaping(flatten=True))
    assert list(back(data, "parquet", ())[0]) == ["m.a", "m.b.c"]
    assert back(data, "parquet", report.back) == records
    records.insert(1, {"n": 1})
    data, report = written(records, "parquet", shaping=Shaping(flatten=True))
    again = back(data, "parquet", report.back)
    assert again == [{**records[0], "n": None}, {"n": 1}, {**records[2], "n": None}]


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_what_no_column_holds_is_refused_with_its_place(target: str) -> None:
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        written([{"v": 1}, {"v": 1 << 70}], target)
    assert (refused.value.record, refused.value.kind) == (1, "bigint")


def of_python(records: list[Any], to: str, **how: Any) -> tuple[list[Any], Any]:
    """What comes back of Python's values, and the report."""
    out, again = io.BytesIO(), io.BytesIO()
    source = io.BytesIO(pickle.dumps(records))
    report = serialpack.convert(source, out, format="pickle", to=to, trust=True, **how)
    nest = Shaping(nest=()) if "--nest" in report.back else None
    out.seek(0)
    serialpack.convert(out, again, format=to, to="pickle", shaping=nest)
    size = again.tell()
    again.seek(0)
    found = []
    while again.tell() < size:
        found.append(pickle.load(again))
    return found, report


D = Decimal
DECIMALS: dict[str, list[Any]] = {
    "one": [{"v": D("1.50")}],
    "several and null": [{"v": D("1.50")}, {"v": None}, {"v": D("-12345.25")}],
    "without a fraction": [{"v": D(7)}, {"v": D(-70)}],
    "38 digits": [{"v": D("1" * 36 + ".25")}],
    "76 digits": [{"v": D("1" * 70 + ".123456")}, {"v": D("0.000001")}],
    "in a list": [{"v": [D("1.5"), D("2.5")]}, {"v": []}],
    "in a map": [{"v": {"x": D("0.001"), "y": 1}}],
}


@pytest.mark.parametrize("target", ["parquet", "arrow"])
@pytest.mark.parametrize("name", DECIMALS)
def test_decimals_of_a_fixed_point_are_decimals(name: str, target: str) -> None:
    """They are the target's own, and so nothing is carried."""
    found, report = of_python(DECIMALS[name], target, strict=True)
    assert not report.carried
    assert repr(found) == repr(DECIMALS[name])


@pytest.mark.parametrize("target", ["parquet", "arrow"])
@pytest.mark.parametrize("text", ["1E+5", "NaN", "-0.0", "1" * 77, "-Infinity", "1E-80"])
def test_other_decimals_are_their_digits(text: str, target: str) -> None:
    found, report = of_python([{"v": D(text)}, {"v": None}], target)
    assert found == [{"v": text}, {"v": None}]
    assert {loss.rule: loss.count for loss in report.carried} == {"decimals": 1}


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_decimals_of_several_places_are_their_digits(target: str) -> None:
    """No column has both, and to give one of them more places would change it."""
    found, report = of_python([{"v": D("1.5")}, {"v": D("2.25")}], target)
    assert found == [{"v": "1.5"}, {"v": "2.25"}]
    assert {loss.rule: loss.count for loss in report.carried} == {"decimals": 2, "mixed": 2}


@pytest.mark.parametrize(
    "records",
    [*(records for records, _ in RECORDS.values()), [{"m": {"a": 1, "b": 2}}, {"m": {"b": 1}}]],
)
def test_what_is_carried_is_told_without_the_proof_too(records: list[Any]) -> None:
    told = [written(records, "parquet", verify=proved)[1].carried for proved in (True, False)]
    assert told[0] == told[1]


def test_decimals_in_several_scales_are_told_without_the_proof_too() -> None:
    source = pickle.dumps([{"v": Decimal("1.5")}, {"v": Decimal("2")}])
    told = [
        serialpack.convert(
            io.BytesIO(source),
            io.BytesIO(),
            format="pickle",
            to="arrow",
            verify=proved,
            trust=True,
        ).carried
        for proved in (True, False)
    ]
    assert told[0] == told[1] != []


#: What msgspec and Python spell with an exponent, each in its own way, or one of them alone.
FLOATS = [1e-10, 1.5e-7, 0.00001, 1e16, 123456789012345680.0, 1.23e34, 1e300, 5e-324, -1e22]


@pytest.mark.parametrize("target", ["parquet", "arrow", "sqlite", "csv"])
def test_floats_with_an_exponent_stand_in_json_text(target: str) -> None:
    """They were refused, as nested too deeply: the proof read them as literals."""
    records = [{"v": [*FLOATS, "x"], "w": 1}, {"v": {"a": 1e-10}, "w": 2}]
    for source, data in (
        ("msgpack", msgpack.packb(records)),
        ("json", json.dumps(records).encode()),
    ):
        out = io.BytesIO()
        report = serialpack.convert(io.BytesIO(data), out, format=source, to=target)
        assert "mixed" in {loss.rule for loss in report.carried}
        back, shaping = io.BytesIO(), Shaping(nest=(), typed=target == "csv")
        out.seek(0)
        serialpack.convert(out, back, format=target, to="json", shaping=shaping)
        assert json.loads(back.getvalue()) == records


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("target", ["parquet", "arrow", "sqlite", "csv", "tsv"])
@pytest.mark.parametrize("value", [[math.nan, "x"], {"a": [math.inf]}, [[-math.inf]]])
def test_no_nan_becomes_null_in_json_text_unsaid(value: Any, target: str, verify: bool) -> None:
    """Without the proof it did; in a table of text --lossy nan was no way out."""
    data = msgpack.packb([{"v": 1}, {"v": value}])
    how: dict[str, Any] = {"format": "msgpack", "to": target, "verify": verify}
    with pytest.raises(serialpack.ValueRefusedError, match=r'lossy=\["nan"\]'):
        serialpack.convert(io.BytesIO(data), io.BytesIO(), **how)
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, lossy=["nan"], **how)
    (loss,) = report.losses
    assert (loss.rule, loss.count, loss.record) == ("nan", 1, 1)
    assert loss.value_path.startswith("$.v")
    assert b"null" in out.getvalue()


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_a_group_that_has_other_rows_is_found(to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block is proved as a file of its own; the file of all has to have the same bytes."""
    fmt = FORMATS.get(to)
    assert isinstance(fmt, TableFormat)
    open_writer = fmt.open_writer

    class Shorter:
        def __init__(self, *given: Any) -> None:
            self._writer = open_writer(*given)

        def write_table(self, table: Any) -> None:
            self._writer.write_table(table.slice(1))

        def close(self) -> None:
            self._writer.close()

    records = [{"n": n} for n in range(4000)]
    assert written(records, to, block_size=8 << 10)[1].records == 4000
    monkeypatch.setattr(fmt, "open_writer", Shorter)
    with pytest.raises(ValueRefusedError, match="not those that were proved"):
        written(records, to, block_size=8 << 10)
