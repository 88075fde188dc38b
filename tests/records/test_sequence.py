"""A container as a sequence: the records that its source has, wherever one looks."""

from __future__ import annotations

import io
import itertools
import json
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.conversion.targets.writers import written
from serialpack.errors import SerialpackError, UsageError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.formats.shared import split as splitting
from serialpack.serializers import SERIALIZERS
from serialpack.values.equality import difference
from tests.counting import Counting
from tests.records.containers import MIXED, lines, opened, packed

TABLE = [{"id": n, "name": f"Zoë {n % 7}\n", "f": n / 4 + 0.1} for n in range(18)]


SLICES = [
    slice(3, 7),
    slice(None),
    slice(None, None, -7),
    slice(-4, None),
    slice(15, 2, -5),
    slice(5, 5),
    slice(-1000, 9999, 3),
]


SERIALIZER_NAMES = [
    entry.name for entry in SERIALIZERS if SERIALIZERS.cls(entry.name).missing(entry.name) is None
]


def source_in(name: str) -> bytes:
    """A file in the format ``name``, of as many records as it takes."""
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    records: list[Any] = [{"a": TABLE}] if fmt.one_record else TABLE
    if name in ("xml", "csv", "tsv", "protobuf"):  # they take no numbers, or not these
        records = [{"id": f"{n}", "b": "<\u00e9>"} for n in range(18)]
        records = [{"a": {"b": records}}] if fmt.one_record else records
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(lines(records)), out, to=name, format="ndjson")
    return out.getvalue()


def values_of(data: bytes, name: str) -> list[Any]:
    """What the format reads in one go."""
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    blocks = fmt.split(io.BytesIO(data).read, 1 << 26, for_values=True)
    return [record for block in blocks for record in fmt.parse(block)]


def check(records: Sequence[Any], want: list[Any]) -> None:
    """Every way of looking at ``records`` gives ``want``."""
    count = len(want)
    assert len(records) == count
    for index in {0, count // 3, count // 2, count - 1, -1, -count}:
        assert difference(want[index], records[index]) is None
    for index in (count, -count - 1):
        with pytest.raises(IndexError):
            records[index]
    for part in SLICES:
        assert records[part] == want[part]
    assert difference(want, list(records)) is None
    assert difference(want[::-1], list(reversed(records))) is None


def holds_others(name: str) -> bool:
    """Whether files in the format ``name`` are no records, but hold arrays or tables of them."""
    fmt = FORMATS.get(name)
    return isinstance(fmt, ValueFormat) and bool(fmt.unpacked)


HOLDERS = [name for name in sorted(written()) if holds_others(name)]


@pytest.mark.parametrize("name", [n for n in HOLDERS if not FORMATS.declaration(n).is_array])
def test_what_holds_several_is_no_sequence(name: str) -> None:
    data = packed(source_in(name), name)
    with pytest.raises(serialpack.UsageError, match="no records in it that are known"):
        opened(data)


def test_the_rows_of_an_array_are_records() -> None:
    data = packed(source_in("npy"), "npy")
    assert list(opened(data)) == values_of(source_in("npy"), "npy")


@pytest.mark.parametrize("name", sorted(set(written()) - {*HOLDERS}))
def test_records_of_every_format_under_every_serializer(name: str) -> None:
    source = source_in(name)
    want = values_of(source, name)
    assert want
    done = set()
    for serializer, block_size in itertools.product(SERIALIZER_NAMES, (1, 300)):
        if block_size == 1 and serializer not in ("raw", "columns", "json", "msgpack"):
            continue  # each of their blocks is read alone, whatever its size
        try:
            data = packed(
                source, name, serializer=serializer, block_size=block_size, trust=True, codec="none"
            )
        except SerialpackError:  # it holds no such values, or wants a schema
            continue
        with opened(data, trust=True) as records:
            assert records.format == name
            check(records, want)
        done.add(serializer)
    assert {"raw", "columns"} < done


@pytest.mark.parametrize("serializer", ["raw", "columns", "json", "msgpack"])
@pytest.mark.parametrize("block_size", [1, 700, 1 << 20])
@pytest.mark.parametrize("kind", ["lines", "array", "spaced", "map"])
def test_json_of_every_kind(kind: str, block_size: int, serializer: str) -> None:
    records = MIXED[:30] if block_size == 1 else MIXED[:150]
    members = {f'"k{n}\u00e9': record for n, record in enumerate(records)}
    source = {
        "lines": lines(records).replace(b"\n", b"\n \r\n", 3),
        "array": json.dumps(records).encode(),
        "spaced": b"\xef\xbb\xbf \n" + json.dumps(records, indent=2).encode() + b"\n ",
        "map": json.dumps(members).encode(),
    }[kind]
    want: list[Any] = records
    if kind == "map":
        want = [members] if block_size > len(source) else [{k: v} for k, v in members.items()]
    data = packed(
        source,
        "ndjson" if kind == "lines" else "json",
        serializer=serializer,
        block_size=block_size,
    )
    check(opened(data), want)


@given(st.data())
def test_any_index_and_slice_is_that_of_a_list(data: st.DataObject) -> None:
    want = MIXED[:100]
    serializer = data.draw(st.sampled_from(["raw", "columns"]))
    records = opened(CONTAINERS[serializer])
    for _ in range(12):
        part = data.draw(st.one_of(st.integers(-100, 99), st.slices(100)))
        assert records[part] == want[part]


CONTAINERS = {
    serializer: packed(lines(MIXED[:100]), "ndjson", serializer=serializer, block_size=900)
    for serializer in ("raw", "columns")
}


@pytest.mark.parametrize("serializer", ["raw", "columns", "cbor"])
@pytest.mark.parametrize(
    ("source", "format", "want"),
    [
        (b"", "ndjson", []),
        (b"[]", "json", []),
        (b" {} ", "json", [{}]),
        (b'"x"', "json", ["x"]),
        (b"a,b\r\n", "csv", []),
        (b"a,b\n1,2\n\n3,4\n\n", "csv", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]),
        (b"- 1\n- b: 2 # two\n", "yaml", [[1, {"b": 2}]]),
    ],
)
def test_small_sources(source: bytes, format: str, want: list[Any], serializer: str) -> None:
    try:
        data = packed(source, format, serializer=serializer)
    except ValueRefusedError:  # a table without rows, comments
        pytest.skip("its serializer does not take it")
    records = opened(data)
    assert list(records) == want
    assert len(records) == len(want)


def test_containers_one_after_another_are_one_sequence() -> None:
    parts = [TABLE[:3], [], TABLE[3:12], TABLE[12:]]
    data = b"".join(
        packed(json.dumps(part).encode(), "json", serializer=name, block_size=200)
        for part, name in zip(parts, ["raw", "columns", "msgpack", "columns"], strict=True)
    )
    check(opened(data), TABLE)
    tables = packed(b"a,b\n1,2\n", "csv") + packed(b"b\n3\n4\n", "csv", block_size=1)
    check(opened(tables), [{"a": "1", "b": "2"}, {"b": "3"}, {"b": "4"}])
    with pytest.raises(UsageError, match="different formats"):
        opened(packed(b"[]", "json") + packed(b"a\n", "csv"))


@pytest.mark.parametrize("name", ["msgpack", "cbor"])
@pytest.mark.parametrize("kind", ["a", "m"])
def test_elements_of_an_array_larger_than_a_block(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splitting, "MAX_BLOCK", 2000)
    members = {f"k{n}": [n, "x" * (n % 30)] for n in range(400)}
    want: Any = [{k: v} for k, v in members.items()] if kind == "m" else [*members.values()]
    fmt: Any = FORMATS.get(name)
    source = fmt.write([members if kind == "m" else want])
    for serializer in ("raw", name, "json"):
        check(opened(packed(source, name, serializer=serializer, block_size=500)), want)


@pytest.mark.parametrize("serializer", ["raw", "columns", "msgpack"])
def test_a_record_is_read_from_its_block_alone(serializer: str) -> None:
    data = packed(lines(MIXED * 8), "ndjson", serializer=serializer, block_size=20_000)
    file = Counting(data)
    records = serialpack.open(file)
    file.total = 0
    assert records[5000] == MIXED[0]
    blocks = len(serialpack.inspect(io.BytesIO(data)).members[0].blocks)
    assert blocks > 15
    assert 0 < file.total < 3 * len(data) / blocks
    file.total = 0
    assert records[4999:5002] == (MIXED * 8)[4999:5002]
    assert file.total < 3 * len(data) / blocks


def test_it_is_a_sequence() -> None:
    records = opened(CONTAINERS["columns"])
    assert isinstance(records, Sequence)
    assert MIXED[3] in records
    assert {"no": "such"} not in records
    assert records.index(MIXED[70]) == 70
    assert records.count(MIXED[9]) == 1
    with pytest.raises(TypeError):
        records["a"]  # type: ignore[call-overload]


def test_memory_is_that_of_a_few_blocks() -> None:
    block_size = 50_000
    for serializer in ("raw", "columns"):
        data = packed(lines(MIXED * 30), "ndjson", serializer=serializer, block_size=block_size)
        records = opened(data)
        list(itertools.islice(records, 10))  # imports, decoders
        tracemalloc.start()
        try:
            for record in records:
                assert record
            for index in range(0, len(records), 500):
                assert records[index] is not None
            assert tracemalloc.get_traced_memory()[1] < 30 * block_size  # of 60 blocks
        finally:
            tracemalloc.stop()
