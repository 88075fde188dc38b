"""What a reader checks, a writer is held to before it writes."""

from __future__ import annotations

import io
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest

import serialpack
from serialpack.container import writer as writing
from serialpack.container.block import Block, Part
from serialpack.container.frames import checksum
from serialpack.container.header import Header
from serialpack.container.index import Index
from serialpack.container.limits import MAX_RECORDS, MAX_SERIALIZED, max_stored
from serialpack.container.writer import MemberWriter
from serialpack.errors import DamagedError, InputError, RefusedError, UsageError
from serialpack.stages.stage import MAX_BLOCK
from tests.noise import noise

MIB = 1 << 20

HEADER = Header(((32,), (0,)), zstd_envelope=False, writer="0.1.0")
BLOCK = Block(0, 2, 1, 4, 1, None, (Part(4, 4, checksum(b"abcd")),))

#: Headers, each of which breaks one rule.
HEADERS: dict[str, dict[str, Any]] = {
    "no chain": {"chain": ()},
    "chain of no numbers": {"chain": (("raw",), (0,))},
    "negative stage": {"chain": ((-1,), (0,))},
    "time": {"mtime": 1.5},
    "time out of range": {"mtime": 1 << 64},
    "block size": {"block_size": 0},
    "block size too large": {"block_size": MAX_BLOCK + 1},
    "notes": {"meta": {"a": 1}},
    "notes that are no text": {"meta": {"a": "\ud800"}},
    "style": {"style": [1]},
    "style of tuples": {"style": {"s": (", ", ": ")}},
    "style of odd keys": {"style": {1: 2}},
    "name": {"name": "\ud800"},
    "path": {"entry": "../a"},
    "reason": {"why": 5},
    "too long": {"name": "a" * 40000},
}

#: Block headers, likewise.
BLOCKS: dict[str, dict[str, Any]] = {
    "records": {"records": MAX_RECORDS + 1},
    "records below none": {"records": -1},
    "records by half": {"records": 0.5},
    "size": {"size": MAX_BLOCK + 1},
    "flags": {"flags": 64},
    "check": {"check": -1},
    "source check": {"source_check": "x"},
    "no parts": {"parts": ()},
    "serialized": {"parts": (Part(4, MAX_SERIALIZED + 1, 1),)},
    "stored": {"parts": (Part(max_stored(4) + 1, 4, 1),)},
    "chain of a part": {"parts": (Part(4, 4, 1, ((-1,),)),)},
    "too many parts": {"parts": (Part(0, 0, 2**63),) * 100_000},
    "style of tuples": {"extras": {"s": {"s": (", ", ": ")}}},
    "style of odd keys": {"extras": {"s": {1: 2}}},
    "too long a spelling": {"extras": {"s": {"h": "x" * MIB}}},
}


@pytest.mark.parametrize("fault", HEADERS)
def test_a_header_that_no_reader_takes_is_not_written(fault: str) -> None:
    """Nor the first block, which a short member would say all of, before the second is there."""
    pieces: list[Any] = []
    member = MemberWriter(pieces.append, HEADER._replace(**HEADERS[fault]))
    with pytest.raises((RefusedError, UsageError)):
        member.block(BLOCK, [b"abcd"])
        member.block(BLOCK._replace(seq=1), [b"abcd"])
    assert not pieces


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("fault", BLOCKS)
def test_a_block_that_no_reader_takes_is_not_written(fault: str, first: bool) -> None:
    """As the one block of a short member, and as the second one of a member."""
    pieces: list[Any] = []
    member = MemberWriter(pieces.append, HEADER)
    if not first:
        member.block(BLOCK, [b"abcd"])
        member.block(BLOCK._replace(seq=1), [b"abcd"])
    before = len(pieces)
    assert before == (0 if first else 6)
    block = BLOCK._replace(**{"seq": 0 if first else 2, **BLOCKS[fault]})
    with pytest.raises(RefusedError, match="cannot be stored so"):
        member.block(block, [b""] * len(block.parts))
    assert len(pieces) == before


@pytest.mark.parametrize("digest", [b"", b"x" * 15, "x" * 16, None])
def test_an_index_that_no_reader_takes_is_not_written(digest: Any) -> None:
    pieces: list[Any] = []
    member = MemberWriter(pieces.append, HEADER)
    member.block(BLOCK, [b"abcd"])
    member.block(BLOCK._replace(seq=1), [b"abcd"])
    before = len(pieces)
    with pytest.raises(RefusedError, match="cannot be stored so"):
        member.finish(digest)
    assert len(pieces) == before


def test_what_is_sound_is_written() -> None:
    out = io.BytesIO()
    member = MemberWriter(out.write, HEADER._replace(writer="1.2.3.dev4", name="\udcff"))
    block = BLOCK._replace(records=MAX_RECORDS, extras={"s": {"t": "]"}})
    member.block(block, [b"abcd"])
    member.block(BLOCK._replace(seq=1), [b"abcd"])
    assert isinstance(member.finish(b"x" * 16), Index)
    assert len(out.getvalue()) == member.length


def test_the_rules_are_those_of_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that readers get one day binds writers the same day."""

    def decode(*_: Any, **__: Any) -> Any:
        raise DamagedError("a rule of tomorrow")

    for cls, name in (
        (Header, "decode"),
        (Header, "of_values"),
        (Block, "decode"),
        (Index, "decode"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(getattr(writing, cls.__name__), name, decode)
            short = name == "of_values"
            with pytest.raises(RefusedError, match="a rule of tomorrow"):
                serialpack.pack(io.BytesIO(b"[1, 2]"), io.BytesIO(), block_size=100 if short else 1)


def test_more_serialized_bytes_than_a_block_may_have() -> None:
    """14 MiB of JSON that are 70 MiB of XML: told when they are packed, not when they are read."""
    source = b'["%b"]' % (b"&" * 14 * MIB)
    out = io.BytesIO()
    with pytest.raises(RefusedError, match=r'serialized bytes, the most is .*; serializer="raw"'):
        serialpack.pack(io.BytesIO(source), out, serializer="xml", format="json", codec="none")
    assert len(out.getvalue()) < 1 << 10  # the header


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_noise_as_columns_in_the_largest_blocks(codec: str) -> None:
    """Text that does not shrink takes a little more than itself, which may be as much as it may."""
    source = noise(MAX_BLOCK)
    out, back = io.BytesIO(), io.BytesIO()
    how: dict[str, Any] = {"serializer": "columns", "format": "bytes", "block_size": MAX_BLOCK}
    serialpack.pack(io.BytesIO(source), out, codec=codec, effort=1, **how)
    out.seek(0)
    serialpack.unpack(out, back)
    assert back.getvalue() == source


@pytest.mark.parametrize("name", ["ndjson", "json", "csv", "yaml", "toml", "msgpack"])
@pytest.mark.parametrize("serializer", ["raw", "columns", "json"])
def test_no_memory_is_taken_for_records_on_their_word(name: str, serializer: str) -> None:
    """A block of a few bytes that says it has as many records as a block may have."""
    out = io.BytesIO()
    sources = {"csv": b"a\n1\n", "msgpack": b"\x81\xa1a\x01", "toml": b"a = 1\n", "yaml": b"a: 1\n"}
    data = sources.get(name, b'{"a":1}\n')
    serialpack.pack(io.BytesIO(data), out, serializer=serializer, format=name, codec="none")
    out.seek(0)
    lying = _with_records(out.getvalue(), MAX_RECORDS)

    def opened(file: io.BytesIO) -> None:
        records = serialpack.open(file)
        assert len(records) == MAX_RECORDS
        assert records[MAX_RECORDS // 2] is not None

    looks: list[Any] = [
        lambda file: serialpack.unpack(file, io.BytesIO()),
        lambda file: serialpack.unpack(file, io.BytesIO(), record_range=(5, 1000)),
        lambda file: serialpack.unpack(file, io.BytesIO(), record_range=(0, None)),
        lambda file: serialpack.convert(file, io.BytesIO(), to="msgpack"),
        lambda file: serialpack.convert(file, io.BytesIO(), to="ndjson", fields=["a"]),
        serialpack.inspect,
        opened,
        lambda file: [None for _ in serialpack.open(file)],
        lambda file: serialpack.open(file).fields("a"),
    ]
    for look in looks:
        tracemalloc.start()
        try:
            with suppress(InputError, RefusedError, UsageError):
                look(io.BytesIO(lying))
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 20 * MIB


def _with_records(container: bytes, records: int) -> bytes:
    """A container of one block, which says that it has so many records."""
    from serialpack.container.reader import read_members

    (member,) = list(_read(read_members(io.BytesIO(container).read)))
    header, stored, index = member
    out = io.BytesIO()
    again = MemberWriter(out.write, header)
    again.block(stored.block._replace(records=records), stored.payload)
    again.finish(index.digest)
    return out.getvalue()


def _read(members: Any) -> Any:
    for member in members:
        (stored,) = member.blocks()
        yield member.header, stored, member.index
