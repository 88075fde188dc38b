"""n - 1 of n blocks come back from every chain, and what is lost is listed exactly."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack import dictionaries
from serialpack.codecs import CODECS
from serialpack.container.scan import FoundEnd, FoundHeader, FoundIndex
from serialpack.errors import MissingFileError
from serialpack.filters import FILTERS
from serialpack.serializers import SERIALIZERS
from tests import bad
from tests.golden.make import HERE, listed, sources
from tests.golden.tables import KINDS
from tests.pipeline.damage import (
    Whole,
    blocks_of,
    flipped,
    found,
    packed,
    records_of,
    salvaged,
    unpacked,
)
from tests.pipes import Pipe

RECORDS: list[dict[str, Any]] = [
    {"id": str(n), "name": f"Zoë {n * 7919 % 1000}", "tags": f"t{n % 3}"} for n in range(60)
]
SOURCES = {
    "ndjson": ("ndjson", b"".join(json.dumps(r).encode() + b"\n" for r in RECORDS)),
    "crlf": ("ndjson", b"".join(json.dumps(r).encode() + b"\r\n" for r in RECORDS)),
    "array": ("json", json.dumps(RECORDS, indent=2).encode() + b"\n"),
    "compact": ("json", json.dumps(RECORDS, separators=(",", ":")).encode()),
    "map": ("json", json.dumps({f"k{n}": r for n, r in enumerate(RECORDS)}).encode()),
    "csv": ("csv", b"id,name\n" + b"".join(b'%d,"a ""q""\n, %d"\n' % (n, n) for n in range(150))),
    "msgpack": ("msgpack", b"".join(msgpack.packb(r) for r in RECORDS)),
    "bytes": ("bytes", bytes(n * n // 7 % 256 for n in range(3000))),
}
#: Names of chains: serializer, filters, codec, source.
CHAINS: dict[str, tuple[str, tuple[str, ...], str, str]] = {
    **{f"raw+{c.name}": ("raw", (), c.name, "ndjson") for c in CODECS},
    **{
        f"raw+{f.name}+{c}": ("raw", (f.name,), c, "bytes")
        for f in FILTERS
        for c in ("zstd", "none")
    },
    **{f"{s.name}": (s.name, (), "zstd", "ndjson") for s in SERIALIZERS if s.name != "java"},
    **{
        f"{serializer}-{source}": (serializer, (), codec, source)
        for serializer, codec in (("raw", "none"), ("columns", "none"), ("msgpack", "xz"))
        for source in SOURCES
        if serializer != "msgpack" or source != "bytes"
    },
    **{f"json-{s}": ("json", (), "zlib", s) for s in ("array", "compact", "map", "csv")},
}


@cache
def whole(name: str, block_size: int = 700) -> Whole:
    serializer, filters, codec, source = CHAINS[name]
    format, data = SOURCES[source]
    how = {"serializer": serializer, "filters": filters, "codec": codec, "block_size": block_size}
    try:
        return Whole.of(packed(data, format, **how), format)
    except serialpack.MissingLibraryError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", CHAINS)
def test_all_but_the_damaged_block_come_back(name: str) -> None:
    """Wherever it is damaged: the frame of its header, or its stored bytes."""
    file = whole(name)
    assert len(file.blocks) > 2
    for number, block in enumerate(file.blocks):
        for place in (block.start + 9, block.start + block.frame - 1, block.end - 1):
            output, report = salvaged(flipped(file.container, place))
            file.check(output, report, [number])
            assert [each.block for each in report.damage] == [number]
            assert not report.exact


@pytest.mark.parametrize("name", CHAINS)
def test_nothing_is_lost_with_the_header_the_index_or_the_end(name: str) -> None:
    file = whole(name)
    others = [
        f for f in found(file.container) if isinstance(f, FoundHeader | FoundIndex | FoundEnd)
    ]
    assert len(others) == 3
    for each in others:
        for place in (each.start, each.start + 20, each.end - 1):
            output, report = salvaged(flipped(file.container, place))
            assert output == file.source
            assert not report.lost
            assert report.damage


@pytest.mark.parametrize("name", CHAINS)
def test_what_stands_before_a_cut_comes_back(name: str) -> None:
    """At the end of every frame, and in the middle of each."""
    file = whole(name)
    every = found(file.container)
    for each in every:
        for cut in (each.start, (each.start + each.end) // 2, each.end):
            left = [n for n, block in enumerate(file.blocks) if block.end <= cut]
            lost = set(range(len(file.blocks))) - set(left)
            if cut == len(file.container):
                continue
            if not left:
                with pytest.raises(serialpack.InputError):
                    salvaged(file.container[:cut])
                continue
            output, report = salvaged(file.container[:cut])
            file.check(output, report, lost)
            assert report.damage
            listed_end = cut >= every[-2].end
            assert listed_end == (not report.lost or report.lost[-1].blocks is not None)


@pytest.mark.parametrize("name", CHAINS)
def test_damage_in_several_places(name: str) -> None:
    """Two blocks, neighbours too, with and without the index or the header."""
    file = whole(name)
    header, index = (
        next(each for each in found(file.container) if isinstance(each, kind))
        for kind in (FoundHeader, FoundIndex)
    )
    last = len(file.blocks) - 1
    for pair in ((0, 1), (0, last), (last - 1, last), (1, 2)):
        places = [file.blocks[n].end - 1 for n in pair]
        for more in ([], [header.end - 1], [index.end - 1]):
            if len(set(range(last + 1)) - {*pair}) == 0:
                continue
            output, report = salvaged(flipped(file.container, *places, *more))
            file.check(output, report, pair)


@pytest.mark.parametrize("name", ["raw+zstd", "json-array", "columns-csv", "msgpack-map"])
def test_salvaged_and_lost_ranges_are_the_source(name: str) -> None:
    """Bytes of the source: those that came back, and those that are listed."""
    file = whole(name)
    for number in range(len(file.blocks)):
        _, report = salvaged(flipped(file.container, file.blocks[number].start + 9))
        (lost,) = report.lost
        assert (lost.start, lost.end) == (file.places()[number], file.places()[number + 1])
        assert lost.start is not None
        assert lost.end is not None
        kept = sum(each.block.size for n, each in enumerate(file.blocks) if n != number)
        assert kept + lost.end - lost.start == file.places()[-1]


def test_what_is_not_known_is_not_said() -> None:
    """With a block's header and the index both lost, nobody knows how long the block was."""
    file = whole("raw+zstd")
    index = next(each for each in found(file.container) if isinstance(each, FoundIndex))
    output, report = salvaged(flipped(file.container, file.blocks[1].start + 9, index.end - 1))
    file.check(output, report, [1])
    (lost,) = report.lost
    assert (lost.block, lost.blocks, lost.start, lost.end) == (1, 1, file.places()[1], None)
    assert lost.records is None
    output, report = salvaged(flipped(file.container, file.blocks[1].start + 9)[: index.start])
    assert [each.blocks for each in report.lost] == [1, None]
    assert report.lost[-1].start is None


@pytest.mark.parametrize("name", [n for n in listed() if "," not in listed()[n][2]])
def test_golden_files(name: str) -> None:
    """Every golden file, each of its blocks damaged in turn."""
    data = (HERE / name).read_bytes()
    format, _ = sources()[listed()[name][2]]
    dictionaries.read(KINDS)  # what was read once is known, also to what comes from memory
    try:
        file = Whole.of(data, format)
    except serialpack.MissingLibraryError as missing:
        pytest.skip(str(missing))
    except serialpack.UnsupportedError as unsupported:
        # Marshal was written by one version of Python.
        if "is not installed" not in str(unsupported) and not name.startswith("marshal"):
            raise
        pytest.skip(str(unsupported))
    if name.startswith("small"):
        for place in (0, len(data) // 2, len(data) - 1):
            with pytest.raises(serialpack.InputError):
                salvaged(flipped(data, place))
        return
    assert salvaged(data)[0] == file.source
    for number, block in enumerate(file.blocks):
        damaged = flipped(data, block.start + block.frame - 1)
        if len(file.blocks) == 1 or format == "object":
            with pytest.raises(serialpack.DamagedError, match="nothing to salvage"):
                salvaged(damaged)
        else:
            output, report = salvaged(damaged)
            file.check(output, report, [number])


@pytest.mark.parametrize("codec", ["zstd", "none"])
def test_blocks_without_header_and_index(codec: str) -> None:
    """Their checksums say whether bytes are the source's: what zstd or nothing restores is."""
    data = SOURCES["ndjson"][1]
    container = packed(data, "ndjson", serializer="raw", codec=codec, block_size=700)
    blocks = blocks_of(container)
    bare = container[blocks[0].start : blocks[-1].end]
    output, report = salvaged(bare)
    assert output == data
    assert report.format == "bytes"
    assert [each.blocks for each in report.lost] == [None]
    output, _ = salvaged(flipped(bare, blocks[1].end - 1 - blocks[0].start))
    assert output == data[: blocks[0].block.size] + data[sum(b.block.size for b in blocks[:2]) :]


@pytest.mark.parametrize(
    "how", [{"codec": "xz"}, {"serializer": "msgpack"}, {"filters": ("delta:4",)}]
)
def test_blocks_of_an_unknown_chain_are_told(how: dict[str, Any]) -> None:
    container = packed(
        SOURCES["ndjson"][1], "ndjson", **{"serializer": "raw", **how}, block_size=700
    )
    blocks = blocks_of(container)
    with pytest.raises(serialpack.DamagedError, match="nothing to salvage"):
        salvaged(container[blocks[0].start : blocks[-1].end])


@pytest.mark.parametrize("kind", ["a", "m"])
@pytest.mark.parametrize("format", ["msgpack", "cbor"])
@pytest.mark.parametrize("serializer", ["own", "pickle"])
def test_one_large_array_says_how_many_are_left(format: str, kind: str, serializer: str) -> None:
    """Also where its own head is lost, or the break code at its end."""
    cbor2 = pytest.importorskip("cbor2")
    values: Any = RECORDS if kind == "a" else {f"k{n}": r for n, r in enumerate(RECORDS)}
    texts = [{"msgpack": msgpack.packb, "cbor": cbor2.dumps}[format](values)]
    if format == "cbor":
        inner = b"".join(map(cbor2.dumps, RECORDS)) if kind == "a" else cbor2.dumps(values)[2:]
        texts.append((b"\x9f" if kind == "a" else b"\xbf") + inner + b"\xff")
    for text in texts:
        name = format if serializer == "own" else serializer
        container = packed(text, format, serializer=name, block_size=700)
        blocks = blocks_of(container)
        assert len(blocks) > 2
        assert unpacked(container) == text
        for number, block in enumerate(blocks):
            output, report = salvaged(flipped(container, block.end - 1))
            (left,) = records_of(format, output)
            first = sum(b.block.records or 0 for b in blocks[:number])
            behind = first + (block.block.records or 0)
            if kind == "a":
                assert left == values[:first] + values[behind:]
            else:
                assert list(left) == [*list(values)[:first], *list(values)[behind:]]
            assert report.records == len(RECORDS) - behind + first


def test_a_pipe_goes_through_a_temporary_file() -> None:
    file = whole("raw+zstd")
    out = io.BytesIO()
    damaged = flipped(file.container, file.blocks[1].end - 1)
    report = serialpack.unpack(Pipe(damaged), out, salvage=True)
    file.check(out.getvalue(), report, [1])


def test_max_size_counts() -> None:
    file = whole("raw+zstd")
    damaged = flipped(file.container, file.blocks[1].end - 1)
    size = len(salvaged(damaged)[0])
    assert salvaged(damaged, max_size=size)[1].size == size
    with pytest.raises(serialpack.RefusedError, match="max_size"):
        salvaged(damaged, max_size=size - 1)


def test_pickles_need_trust() -> None:
    file = whole("pickle")
    with pytest.raises(serialpack.RefusedError, match="trust"):
        salvaged(flipped(file.container, file.blocks[1].end - 1), trust=False)


def test_ranges_do_not_go_with_it() -> None:
    for how in ({"record_range": (0, 1)}, {"byte_range": (0, 1)}):
        with pytest.raises(serialpack.UsageError, match="salvage=True"):
            salvaged(whole("raw+zstd").container, **how)


BAD = Path(bad.__file__).parent


@pytest.mark.parametrize("name", sorted(path.name for path in BAD.glob("*.spk")))
def test_bad_files_are_refused_or_told(name: str) -> None:
    """Files that somebody made to break a rule: never a traceback, never taken for whole."""
    try:
        _, report = salvaged((BAD / name).read_bytes())
    except (serialpack.InputError, serialpack.UsageError, serialpack.RefusedError):
        return
    except MissingFileError:  # the dictionary, unless somebody in this process has named it before
        return
    assert report.damage
