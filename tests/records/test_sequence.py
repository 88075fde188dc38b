"""A container as a sequence: the records that its source has, wherever one looks."""

from __future__ import annotations

import io
import itertools
import json
import os
import pickle
import tracemalloc
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.container.seek import find_members
from serialpack.conversion.targets import written
from serialpack.errors import (
    DamagedError,
    NotContainerError,
    RefusedError,
    SerialpackError,
    SyntaxInputError,
    UsageError,
    ValueRefusedError,
)
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.formats.shared import split as _cutting
from serialpack.serializers import SERIALIZERS
from serialpack.values.equality import difference
from tests.bad.make import HERE, listed
from tests.records.containers import Counting, lines, opened, packed

TABLE = [{"id": n, "name": f"Zoë {n % 7}\n", "f": n / 4 + 0.1} for n in range(30)]
#: Records of two shapes and of none, which columns keep as exceptions.
MIXED: list[Any] = [
    {"n": n, "s": "x" * (n % 50), "in": {"list": [n, {"d": None}]}} if n % 9 else [n, "odd"]
    for n in range(1000)
]
SLICES = [
    slice(3, 7),
    slice(None),
    slice(None, None, -7),
    slice(-4, None),
    slice(25, 2, -5),
    slice(5, 5),
    slice(-1000, 9999, 3),
]
#: What a file that is bad may raise.
SOUND = (serialpack.InputError, UsageError, RefusedError)
SERIALIZER_NAMES = [
    entry.name for entry in SERIALIZERS if SERIALIZERS.cls(entry.name).missing(entry.name) is None
]


def source_in(name: str) -> bytes:
    """A file in the format ``name``, of as many records as it takes."""
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    records: list[Any] = [{"a": TABLE}] if fmt.one_record else TABLE
    if name in ("xml", "csv", "tsv", "protobuf"):  # they take no numbers, or not these
        records = [{"id": f"{n}", "b": "<\u00e9>"} for n in range(1 if fmt.one_record else 30)]
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(lines(records)), out, to=name, format="ndjson")
    return out.getvalue()


def values_of(data: bytes, name: str) -> list[Any]:
    """What the format reads in one go."""
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    blocks = fmt.cut(io.BytesIO(data).read, 1 << 26, for_values=True)
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


@pytest.mark.parametrize("name", written())
def test_records_of_every_format_under_every_serializer(name: str) -> None:
    source = source_in(name)
    want = values_of(source, name)
    assert want
    done = set()
    for serializer, block_size in itertools.product(SERIALIZER_NAMES, (1, 300)):
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
    records = MIXED[:200] if block_size == 1 else MIXED
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
    parts = [TABLE[:3], [], TABLE[3:20], TABLE[20:]]
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
    monkeypatch.setattr(_cutting, "MAX_BLOCK", 2000)
    members = {f"k{n}": [n, "x" * (n % 30)] for n in range(400)}
    want: Any = [{k: v} for k, v in members.items()] if kind == "m" else [*members.values()]
    fmt: Any = FORMATS.get(name)
    source = fmt.write([members if kind == "m" else want])
    for serializer in ("raw", name, "json"):
        check(opened(packed(source, name, serializer=serializer, block_size=500)), want)


def test_what_has_no_records_is_a_usage_error(tmp_path: Path) -> None:
    archive = tmp_path / "all.spk"
    (tmp_path / "a.json").write_bytes(b"[1]")
    serialpack.pack_archive({"a.json": tmp_path / "a.json"}, archive)
    cases = [
        (archive.read_bytes(), "archive"),
        (serialpack.dumps({"a": 1}), "serialpack.load"),
        (serialpack.dumps(["x" * 100_000], "json"), "serialpack.load"),
        (packed(b"\0\1\2", "bytes"), "no records"),
    ]
    for data, words in cases:
        with pytest.raises(UsageError, match=words):
            opened(data)


def test_a_pipe_is_a_usage_error() -> None:
    read, write = os.pipe()
    os.write(write, packed(b"[1]", "json"))
    os.close(write)
    with os.fdopen(read, "rb") as pipe, pytest.raises(UsageError, match="unpack it"):
        serialpack.open(pipe)


def test_what_is_no_container_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "plain.json"
    path.write_bytes(b"[1, 2]")
    with pytest.raises(NotContainerError) as caught:
        serialpack.open(path)
    assert caught.value.path == str(path)
    with pytest.raises(serialpack.FileError):
        serialpack.open(tmp_path / "none.spk")


@pytest.mark.parametrize("serializer", ["raw", "pickle"])
def test_a_pickle_is_read_with_trust_only(serializer: str) -> None:
    data = packed(pickle.dumps({1, 2}), "pickle", serializer=serializer, trust=True)
    with pytest.raises(RefusedError, match="--trust"):
        opened(data)
    assert list(opened(data, trust=True)) == [{1, 2}]


@pytest.mark.parametrize("format", ["ndjson", "json"])
@pytest.mark.parametrize("serializer", ["raw", "columns"])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1, "b": 2, "a": 3}', "duplicate-keys"),
        ('{"a": 0.10000000000000000001}', "digits"),
        ('{"a": -0}', "negative-zero"),
        ('{"a": ' + "9" * 5000 + "}", "huge-integer"),
    ],
)
def test_what_python_cannot_hold_is_refused_alone(
    text: str, kind: str, serializer: str, format: str
) -> None:
    texts = [f'{{"a": {n}, "b": "x"}}' for n in range(40)]
    texts[17] = text
    source = "\n".join(texts) if format == "ndjson" else f"[{', '.join(texts)}]"
    before = packed(json.dumps([1, 2]).encode() if format == "json" else b"1\n2\n", format)
    data = before + packed(source.encode(), format, serializer=serializer)
    for touched in (1, 19):  # few are read one by one, many at once
        records = opened(data)
        for index in range(2, touched):
            assert records[index] == json.loads(texts[index - 2])
        with pytest.raises(ValueRefusedError) as caught:
            records[19]
        assert caught.value.record == 19
        assert str(caught.value).startswith("record 19, $.a" if kind != "duplicate-keys" else "rec")
        assert records[20] == {"a": 18, "b": "x"}
        read: list[Any] = []
        with pytest.raises(ValueRefusedError, match="record 19"):
            read.extend(iter_into(records, read))
        assert len(read) == 19


def iter_into(records: Sequence[Any], into: list[Any]) -> list[Any]:
    for record in records:
        into.append(record)
    return []


def test_what_is_not_valid_is_an_error_with_its_place() -> None:
    text = b'{"a": 1}\n{"a": 2}\n{"a": oops}\n{"a": 4}\n'
    for serializer in ("raw", "columns"):
        records = opened(packed(text, "ndjson", serializer=serializer))
        assert [records[0], records[1], records[3]] == [{"a": 1}, {"a": 2}, {"a": 4}]
        with pytest.raises(SyntaxInputError) as caught:
            records[2]
        assert caught.value.offset == text.index(b"oops")
        for _ in range(20):  # also once all of the block was tried
            assert records[3] == {"a": 4}
        with pytest.raises(SyntaxInputError):
            list(records)
    with pytest.raises(SyntaxInputError):
        opened(packed(b"a: [1\n", "yaml", serializer="raw"))
    table = opened(packed(b"a,b\n1,2\n3\n5,6\n", "csv"))
    assert [table[0], table[2]] == [{"a": "1", "b": "2"}, {"a": "5", "b": "6"}]
    with pytest.raises(RefusedError, match="1 fields, not 2"):
        table[1]
    # In one column a blank line may be an empty field: then there is one more than was counted.
    with pytest.raises(RefusedError, match="a blank line"):
        list(opened(packed(b"a\n1\n\n2\n", "csv", serializer="raw")))


def test_a_record_larger_than_a_block_can_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cutting, "MAX_BLOCK", 2000)
    data = packed(lines([1, "x" * 9000, 3]), "ndjson", serializer="raw", block_size=1000)
    records = opened(data)
    assert len(records) == 3
    assert (records[0], records[-1]) == (1, 3)
    with pytest.raises(RefusedError, match="record 1, at byte 2"):
        records[1]


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


@pytest.mark.parametrize("serializer", ["raw", "columns"])
def test_damage_is_told_of_the_block_that_has_it(serializer: str) -> None:
    data = bytearray(packed(lines(MIXED), "ndjson", serializer=serializer, block_size=5000))
    (member,) = find_members(io.BytesIO(data))
    number = len(member.index.rows) // 2
    data[member.offsets[number + 1] - 9] ^= 1
    records = opened(bytes(data))
    assert records[0] == MIXED[0]
    assert records[-1] == MIXED[-1]
    good, bad = 0, set()
    for index, want in enumerate(MIXED):
        try:
            assert records[index] == want
            good += 1
        except DamagedError as error:
            bad.add(error.block)
    assert bad == {number}
    assert good == len(MIXED) - (member.index.rows[number].records or 0)
    with pytest.raises(DamagedError):
        list(records)


def test_a_closed_container_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.spk"
    path.write_bytes(packed(b"[1, 2, 3]", "json"))
    with serialpack.open(path) as records:
        going = iter(records)
        assert next(going) == 1
        file = records._source.file
    assert file.closed
    for use in (
        lambda: len(records),
        lambda: records[0],
        lambda: records[:1],
        lambda: list(records),
        lambda: next(going),
        lambda: records.fields("a"),
        lambda: 1 in records,
        records.__enter__,
    ):
        with pytest.raises(ValueError, match="closed"):
            use()
    records.close()
    own = io.BytesIO(path.read_bytes())
    serialpack.open(own).close()
    assert not own.closed


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
    block_size = 100_000
    for serializer in ("raw", "columns"):
        data = packed(lines(MIXED * 60), "ndjson", serializer=serializer, block_size=block_size)
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


@pytest.mark.parametrize("name", listed())
def test_a_bad_file_is_refused_or_gives_what_is_sound(name: str) -> None:
    tracemalloc.start()
    try:
        with suppress(*SOUND), serialpack.open(HERE / name) as records:
            for index in (0, -1, len(records) // 2):
                with suppress(*SOUND, IndexError):
                    records[index]
            list(itertools.islice(records, 100))
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()
