"""A container as a sequence, where there are no records, or bad ones: what it says of which."""

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

import serialpack
from serialpack.container.seek import find_members
from serialpack.errors import (
    DamagedError,
    NotContainerError,
    RefusedError,
    SyntaxInputError,
    UsageError,
    ValueRefusedError,
)
from serialpack.formats.shared import split as splitting
from tests.bad.make import HERE, listed
from tests.records.containers import MIXED, lines, opened, packed

#: What a file that is bad may raise.
SOUND = (serialpack.InputError, UsageError, RefusedError)


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
    with pytest.raises(RefusedError, match="trust=True"):
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
        assert caught.value.said.startswith("record 19, $.a" if kind != "duplicate-keys" else "rec")
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
    with pytest.raises(RefusedError, match="1 field, not 2"):
        table[1]
    # In one column a blank line may be an empty field: then there is one more than was counted.
    with pytest.raises(RefusedError, match="a blank line"):
        list(opened(packed(b"a\n1\n\n2\n", "csv", serializer="raw")))


def test_a_record_larger_than_a_block_can_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "MAX_BLOCK", 2000)
    data = packed(lines([1, "x" * 9000, 3]), "ndjson", serializer="raw", block_size=1000)
    records = opened(data)
    assert len(records) == 3
    assert (records[0], records[-1]) == (1, 3)
    with pytest.raises(RefusedError, match="record 1, at byte 2"):
        records[1]


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
