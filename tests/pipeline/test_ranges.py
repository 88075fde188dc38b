"""A range reads only the blocks it needs, and gives records as their format spells them."""

from __future__ import annotations

import io
import json
from random import Random

import pytest

import serialpack
from serialpack.codecs import CODECS
from tests.counting import Counting
from tests.pipes import Pipe

VALUES = [{"n": n, "s": "x" * (n % 50)} for n in range(2000)]
SOURCES = {
    "ndjson": b"".join(json.dumps(v).encode() + b"\n" for v in VALUES),
    "crlf": b"".join(json.dumps(v).encode() + b"\r\n" for v in VALUES),
    "array": json.dumps(VALUES).encode(),
    "indented": json.dumps(VALUES, indent=2).encode() + b"\n",
    "lists": json.dumps([[v["n"], [v["s"]]] for v in VALUES]).encode(),
    "map": json.dumps({f"k{n}": v for n, v in enumerate(VALUES)}).encode(),
}


def packed(name: str, serializer: str) -> bytes:
    out = io.BytesIO()
    format = "ndjson" if name in ("ndjson", "crlf") else "json"
    serialpack.pack(
        io.BytesIO(SOURCES[name]), out, serializer=serializer, format=format, block_size=4096
    )
    return out.getvalue()


def values(name: str) -> list[object]:
    if name == "lists":
        return [[v["n"], [v["s"]]] for v in VALUES]
    if name == "map":
        return [{f"k{n}": v} for n, v in enumerate(VALUES)]
    return list(VALUES)


def parsed(name: str, text: bytes) -> list[object]:
    if name in ("ndjson", "crlf"):
        return [json.loads(line) for line in text.splitlines()]
    whole = json.loads(text)
    return [{k: v} for k, v in whole.items()] if name == "map" else whole


@pytest.mark.parametrize("serializer", ["raw", "json", "msgpack"])
@pytest.mark.parametrize("name", SOURCES)
def test_slices_are_the_records_in_the_sources_format(name: str, serializer: str) -> None:
    container = packed(name, serializer)
    want = values(name)
    for start, stop in [(0, 1), (0, 5), (700, 1300), (1999, 2000), (1990, None), (0, None)]:
        for file in (io.BytesIO(container), Pipe(container)):
            out = io.BytesIO()
            report = serialpack.unpack(file, out, record_range=(start, stop))
            assert parsed(name, out.getvalue()) == want[start:stop]
            assert report.records == len(want[start:stop])


@pytest.mark.parametrize("name", SOURCES)
def test_an_empty_slice_is_an_empty_sequence(name: str) -> None:
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(packed(name, "raw")), out, record_range=(5000, 6000))
    assert parsed(name, out.getvalue()) == []


@pytest.mark.parametrize("name", SOURCES)
def test_bytes_are_the_sources(name: str) -> None:
    container = packed(name, "raw")
    for start, stop in [(0, 1), (4000, 4200), (10_000, 50_000), (100_000, None), (0, 0)]:
        for file in (io.BytesIO(container), Pipe(container)):
            out = io.BytesIO()
            serialpack.unpack(file, out, byte_range=(start, stop))
            assert out.getvalue() == SOURCES[name][start:stop]


@pytest.mark.parametrize("codec", CODECS.names())
def test_inner_records_and_bytes_are_the_same_with_every_codec(codec: str) -> None:
    """Of blocks of several pieces, which need not be decoded to their end."""
    if CODECS.cls(codec).missing(codec):
        pytest.skip("not installed")
    r = Random(1)
    lines = [b'{"n": %d, "s": "%s"}' % (n, r.randbytes(30).hex().encode()) for n in range(3000)]
    for begin, end in ((b"", b"\n"), (b"", b"\r\n"), (b"\xef\xbb\xbf", b"\n \t\n")):
        text = begin + b"".join(line + end for line in lines)
        packed = io.BytesIO()
        serialpack.pack(io.BytesIO(text), packed, format="ndjson", codec=codec, block_size=125_000)
        container = packed.getvalue()
        for start in (0, 1, *(r.randrange(2990) for _ in range(6)), 2998):
            out = io.BytesIO()
            serialpack.unpack(io.BytesIO(container), out, record_range=(start, start + 2))
            assert out.getvalue().split() == b" ".join(lines[start : start + 2]).split()
            out = io.BytesIO()
            report = serialpack.unpack(
                io.BytesIO(container), out, byte_range=(50 * start, 50 * start + 300)
            )
            assert out.getvalue() == text[50 * start : 50 * start + 300]
            assert report.blocks_read in (1, 2)


def test_only_the_blocks_needed_are_read() -> None:
    out = io.BytesIO()
    noise = b"".join(b'{"n": %d, "r": "%d"}\n' % (n, hash((n, 1))) for n in range(100_000))
    serialpack.pack(io.BytesIO(noise), out, format="ndjson", block_size=16_384)
    for range_ in ({"record_range": (50_000, 50_001)}, {"byte_range": (2_000_000, 2_000_010)}):
        file = Counting(out.getvalue())
        report = serialpack.unpack(file, io.BytesIO(), **range_)  # type: ignore[arg-type]
        assert report.blocks_read == 1
        assert file.total < len(out.getvalue()) / 8


def test_csv_slices_begin_with_the_header() -> None:
    text = b"id,name\r\n" + b"".join(b'%d,"a\r\n""b"""\r\n' % n for n in range(500))
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(text), out, format="csv", block_size=1000)
    sliced = io.BytesIO()
    serialpack.unpack(io.BytesIO(out.getvalue()), sliced, record_range=(300, 302))
    assert sliced.getvalue() == b'id,name\r\n300,"a\r\n""b"""\r\n301,"a\r\n""b"""\r\n'


def test_joined_members_are_one_sequence() -> None:
    container = packed("array", "raw") + packed("array", "json")
    out = io.BytesIO()
    serialpack.unpack(io.BytesIO(container), out, record_range=(1998, 2002))
    assert parsed("array", out.getvalue()) == [*VALUES[-2:], *VALUES[:2]]


def test_values_have_no_bytes_to_address() -> None:
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(b'{"a":  1.50}'), out, serializer="json", format="json")
    with pytest.raises(serialpack.UsageError, match="record_range"):
        serialpack.unpack(io.BytesIO(out.getvalue()), io.BytesIO(), byte_range=(0, 1))


def test_records_that_cannot_be_told_apart_are_no_damage_and_nothing_is_written() -> None:
    """Two commas are counted; one of them stands where a value should."""
    container, out = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(b'[   , "missing value"]'), container, format="json")
    with pytest.raises(serialpack.InputError, match="as in what is not valid json") as caught:
        serialpack.unpack(io.BytesIO(container.getvalue()), out, record_range=(0, 2))
    assert not isinstance(caught.value, serialpack.DamagedError)
    assert out.getvalue() == b""
