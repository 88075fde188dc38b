"""Blocks for serializers that need memory for each value: no more values than they ask for."""

from __future__ import annotations

import io
import json
import random

import pytest

from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.pipeline.pack import pack_stream
from serialpack.pipeline.packing import Packing
from serialpack.serializers.columns import ColumnsSerializer
from tests.formats import texts

#: Records of several values each, their number, and how a block of them is counted.
DENSE = {
    "csv": (b",,,\n", b"a,b,c,d\n", b"", 4),
    "tsv": (b'1\t"\t"\n', b"a\tb\n", b"", 2),
    "ndjson": (b'{"a":[1,{}]}\n', b"", b"", 4),
    "json": (b"[[],[]],", b"[", b"1]", 3),
    "msgpack": (b"\x92\xa4[[[[\xa4\xdb\xff\xff\xff", b"", b"", 3),
}

MOST = 100


def cut(name: str, source: bytes, size: int, most: int) -> list[SourceBlock]:
    return list(FORMATS.get(name).split(io.BytesIO(source).read, size, most_values=most))


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("size", [1 << 20, 5 << 20])  # read at once, and in windows
def test_a_block_has_no_more_values_than_asked_for(name: str, size: int) -> None:
    record, before, behind, values = DENSE[name]
    source = before + record * 1000 + behind
    blocks = cut(name, source, size, MOST)
    assert b"".join(bytes(b.data) for b in blocks) == source
    assert [b.last for b in blocks] == [False] * (len(blocks) - 1) + [True]
    (whole,) = texts.split(name, source, size)
    assert sum(b.records or 0 for b in blocks) == whole.records
    most = max(b.records or 0 for b in blocks)
    assert most * values <= MOST
    assert most > 5  # and not far fewer


@pytest.mark.parametrize("name", DENSE)
def test_blocks_of_fewer_values_are_cut_as_ever(name: str) -> None:
    record, before, behind, _ = DENSE[name]
    source = before + record * 1000 + behind
    for size in (100, 1000, 1 << 20):
        assert cut(name, source, size, len(source)) == texts.split(name, source, size)


def test_a_record_of_more_values_is_one_block() -> None:
    record = json.dumps(list(range(1000))).encode() + b"\n"
    assert [b.data for b in cut("ndjson", record * 3, 1 << 20, MOST)] == [record] * 3
    source = b"[" + b",".join([record] * 3) + b"]"
    assert [b.records for b in cut("json", source, 1 << 20, MOST)] == [1, 1, 1]


def test_any_text_is_cut_into_the_same_bytes() -> None:
    rng = random.Random(5)
    for name in (each.name for each in FORMATS if each.columns):
        for _ in range(300):
            source = "".join(rng.choices(' \n\t,:"\\[]{}1ea', k=rng.randrange(120))).encode()
            blocks = cut(name, source, rng.randrange(1, 200), rng.randrange(1, 20))
            assert b"".join(bytes(b.data) for b in blocks) == source
            assert sum(b.last for b in blocks) == 1


@pytest.mark.parametrize("serializer", ["columns", "raw"])
def test_columns_are_packed_so_and_nothing_else(
    serializer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from serialpack.auto.choice import choose

    monkeypatch.setattr(ColumnsSerializer, "most_values", lambda _: MOST)
    source = DENSE["csv"][1] + DENSE["csv"][0] * 1000
    packing = Packing(choose(serializer).chain, "csv", 1 << 20)
    member = pack_stream(io.BytesIO(source).read, io.BytesIO().write, packing)
    assert (len(member.rows) > 40) == (serializer == "columns")


@pytest.mark.parametrize("name", ["cbor", "bson", *DENSE])
def test_blocks_that_are_read_have_the_records_of_any_others(name: str) -> None:
    """Whole, or by their values: the same records, whatever stands around them."""
    record, before, behind, _ = {
        **DENSE,
        "msgpack": (b"\x92\x90\x01", b"", b"", 3),
        "cbor": (b"\x82\x01\x80", b"", b"", 3),
        "bson": (b"\x05\0\0\0\0", b"", b"", 1),
    }[name]
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    source = before + record * 1000 + behind
    read = [
        list(fmt.split(io.BytesIO(source).read, 1 << 20, for_values=True, most_values=most))
        for most in (0, MOST)
    ]
    assert len(read[0]) == 1
    assert len(read[1]) > 5
    whole, parts = ([r for block in blocks for r in fmt.parse(block)] for blocks in read)
    assert parts == whole


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("json", json.dumps(dict.fromkeys(map(str, range(1000)))).encode()),
        ("msgpack", b"\xdc\x03\xe8" + bytes(1000)),
        ("cbor", b"\xb9\x03\xe8" + b"".join(b"\x19%b\0" % n.to_bytes(2) for n in range(1000))),
    ],
)
def test_one_value_that_fits_in_a_block_stays_one(name: str, source: bytes) -> None:
    one, other = (
        list(
            FORMATS.get(name).split(
                io.BytesIO(source).read, 1 << 20, for_values=True, most_values=most
            )
        )
        for most in (0, MOST)
    )
    assert one == other


def test_members_of_an_object_larger_than_a_block_are_cut_by_their_values() -> None:
    """Each is read as a map of its own: a block of 4 MiB of them took 250 MiB."""
    members = dict.fromkeys(map(str, range(1000)), 1)
    source = json.dumps(members).encode()
    fmt = FORMATS.get("json")
    assert isinstance(fmt, ValueFormat)
    for size in (len(source) - 1, 4000):
        blocks = list(
            fmt.split(io.BytesIO(source).read, size, for_values=True, most_values=3 * MOST)
        )
        assert b"".join(bytes(block.data) for block in blocks) == source
        assert all(len(block.data) <= size for block in blocks)
        assert max(len(fmt.parse(block)) for block in blocks) <= MOST
        assert len(blocks) < 2 * 2000 // MOST
        assert [r for block in blocks for r in fmt.parse(block)] == [{key: 1} for key in members]
