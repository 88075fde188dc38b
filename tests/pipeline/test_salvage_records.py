"""A record that is cut over several blocks comes back whole, or not at all."""

from __future__ import annotations

import csv
import io
import itertools
import json
from typing import Any

import pytest

import serialpack
from serialpack.codecs.zlib import Zlib
from serialpack.container.scan import FoundBlock, FoundIndex
from serialpack.formats.shared import split as splitting
from serialpack.stages.stage import Buffer
from tests.pipeline.damage import blocks_of, flipped, found, packed, salvaged

SMALL = [{"id": n, "name": "x" * (n % 9)} for n in range(30)]
LARGE = {"id": -1, "name": 'a "q", [b], {c}\n' * 60}
VALUES = [*SMALL[:20], LARGE, *SMALL[20:], {**LARGE, "id": -2}, SMALL[0]]


def table(values: list[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "name"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(values)
    return out.getvalue().encode()


SOURCES = {
    "ndjson": b"".join(json.dumps(value).encode() + b"\n" for value in VALUES),
    "json": json.dumps(VALUES, indent=1).encode(),
    "csv": table(VALUES),
}


def ids(format: str, data: bytes, *, headless: bool = False) -> list[int]:
    """The ids of the records, which are all whole."""
    text = data.decode()
    rows: list[Any]
    if format == "ndjson":
        rows = [json.loads(line) for line in text.splitlines()]
    elif format == "json":
        rows = json.loads(text)
    else:
        names = ["id", "name"] if headless else None
        rows = list(csv.DictReader(io.StringIO(text, newline=""), names))
    known = {value["id"]: value["name"] for value in VALUES}
    assert all(row["name"] == known[int(row["id"])] for row in rows)
    return [int(row["id"]) for row in rows]


@pytest.fixture(params=SOURCES)
def format(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(splitting, "MAX_BLOCK", 400)
    return str(request.param)


@pytest.fixture(params=["raw+zstd", "raw+none", "columns+none"])
def container(request: pytest.FixtureRequest, format: str) -> bytes:
    serializer, codec = request.param.split("+")
    return packed(SOURCES[format], format, serializer=serializer, codec=codec, block_size=300)


def begins(blocks: list[FoundBlock]) -> list[range]:
    """Which records begin in each block; of one within a record, that record."""
    found: list[range] = []
    at = 0
    for block in blocks:
        count = block.block.records
        assert count is not None
        found.append(range(at - 1, at) if block.block.continued else range(at, at + count))
        at += count
    return found


def wanted(records: list[range], lost: int) -> list[int]:
    every = [int(str(value["id"])) for value in VALUES]
    return [each for n, each in enumerate(every) if n not in records[lost]]


def test_a_damaged_piece_costs_its_record(format: str, container: bytes) -> None:
    blocks = blocks_of(container)
    records = begins(blocks)
    assert sum(block.block.continued for block in blocks) > 4
    assert salvaged(container)[0] == SOURCES[format]
    for number, block in enumerate(blocks):
        output, report = salvaged(flipped(container, block.end - 1))
        assert ids(format, output, headless=number == 0) == wanted(records, number)
        (lost,) = report.lost
        assert lost.record == records[number].start
        assert lost.records == len(records[number])
        pieces = [n for n, each in enumerate(records) if each == records[number]]
        assert (lost.block, lost.blocks) == (pieces[0], len(pieces))
        sizes = [each.block.size for each in blocks]
        assert lost.start == sum(sizes[: pieces[0]])
        assert lost.end == sum(sizes[: pieces[-1] + 1])


def test_also_where_nothing_tells_that_it_went_on(format: str, container: bytes) -> None:
    """The block's header and the index are both gone: what may be a piece is not given back."""
    blocks = blocks_of(container)
    records = begins(blocks)
    index = next(each for each in found(container) if isinstance(each, FoundIndex))
    for number, block in enumerate(blocks):
        output, report = salvaged(flipped(container, block.start + 20, index.end - 1))
        assert ids(format, output, headless=number == 0) == wanted(records, number)
        assert len(report.lost) == 1


def test_a_piece_that_is_stored_as_it_was_and_restores_to_something_else_costs_its_record(
    format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which shows only when it is restored: by then no piece before it may be written."""
    good = packed(SOURCES[format], format, serializer="raw", codec="zlib", block_size=300)
    blocks = blocks_of(good)
    records = begins(blocks)
    last = max(n for n, block in enumerate(blocks) if block.block.continued)
    compress, made = Zlib.compress, itertools.count()

    def wrong(self: Zlib, data: Buffer) -> Buffer:
        return compress(self, bytes(len(data)) if next(made) == last else data)

    monkeypatch.setattr(Zlib, "compress", wrong)
    how: dict[str, Any] = {"serializer": "raw", "codec": "zlib", "block_size": 300}
    output, report = salvaged(packed(SOURCES[format], format, verify=False, **how))
    assert ids(format, output) == wanted(records, last)
    assert len(report.lost) == 1


def test_a_cut_leaves_only_whole_records(format: str, container: bytes) -> None:
    blocks = blocks_of(container)
    for number, block in enumerate(blocks[:-1]):
        try:
            output, report = salvaged(container[: block.end])
        except serialpack.DamagedError:
            assert number == 0
            continue
        got = ids(format, output)
        assert got == [value["id"] for value in VALUES][: len(got)]
        assert report.lost[-1].blocks is None
        # A record whose last piece is as long as a block may have gone on: it is left out.
        count = sum(each.block.records or 0 for each in blocks[: number + 1])
        assert len(got) in (count, count - 1)


@pytest.mark.parametrize("chain", ["pickle:5+zstd:3", "json+zlib:1", "msgpack+xz:1"])
def test_an_object_comes_back_whole_or_not_at_all(chain: str) -> None:
    data = serialpack.dumps({"a": "some text" * 1_200_000}, chain)
    blocks = blocks_of(data)
    assert len(blocks) > 2
    serialized, report = salvaged(data)
    assert not report.lost
    for block in blocks:
        with pytest.raises(serialpack.DamagedError, match="nothing to salvage"):
            salvaged(flipped(data, block.end - 1))
    index = next(each for each in found(data) if isinstance(each, FoundIndex))
    assert salvaged(flipped(data, index.end - 1))[0] == serialized
    with pytest.raises(serialpack.DamagedError, match="nothing to salvage"):
        salvaged(data[: blocks[-1].end])
