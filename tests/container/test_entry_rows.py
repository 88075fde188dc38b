"""Rows of entries: they come back, take few bytes, and what they say is bounded."""

from __future__ import annotations

import os
import random
import stat
import struct
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from serialpack.container.entries import EntryRow, fault_of, path_bytes
from serialpack.container.patterns import parsed, patterns_of
from serialpack.container.rows import MOST_ROOM, decode_rows, encode_rows
from serialpack.container.rows_first import decode_first
from serialpack.container.series import Reader, series
from serialpack.errors import DamagedError, UsageError
from tests.first_rows import encode_first
from tests.spec_rows import read_entries

parts = st.one_of(
    st.text(st.characters(blacklist_characters="\0/", blacklist_categories=["Cs"]), min_size=1),
    st.from_regex(r"(img-|x%)?[0-9]{1,25}(\.jpg)?", fullmatch=True),
    st.from_regex(r"[0-9a-f]{1,40}", fullmatch=True),
    st.from_regex(r"[0-9A-F]{4,18}\.[a-z]{1,3}", fullmatch=True),
    st.from_regex(r"[\x01-\x05\x7f%]{1,4}", fullmatch=True),
    st.uuids().map(str),
    st.binary(min_size=1, max_size=5).map(
        lambda data: os.fsdecode(data.replace(b"\0", b"0").replace(b"/", b"0"))
    ),
)
paths = st.lists(parts, min_size=1, max_size=3).map("/".join).filter(lambda p: not fault_of(p))
times = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**31).map(lambda second: second * 10**9)
)
owners = st.tuples(*[st.integers(0, 2**32 - 1)] * 2)


@st.composite
def entries(draw: st.DrawFn) -> list[EntryRow]:
    owned = draw(st.booleans())
    found = []
    for path in draw(st.lists(paths, max_size=30)):
        kind = draw(st.sampled_from([stat.S_IFREG, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK]))
        found.append(
            EntryRow(
                path,
                kind | draw(st.integers(0, 0o7777)),
                draw(times),
                draw(st.integers(0, 2**40)) if kind == stat.S_IFREG else 0,
                draw(parts) if kind == stat.S_IFLNK else None,
                draw(owners) if owned else None,
            )
        )
    return found


@settings(max_examples=50, deadline=None)
@given(entries())
@example([EntryRow("a", 0o100644, 0)])
@example([EntryRow(f"{n:019}", 0o100644, 7) for n in (0, 10**18, 10**19 - 1)])
def test_rows_come_back_and_the_second_decoder_reads_the_same(rows: list[EntryRow]) -> None:
    data = encode_rows(rows)
    assert decode_rows(data) == rows
    said = read_entries(data, sum(row.size for row in rows), None)
    for row, (path, mode, time, size, owner, target) in zip(rows, said, strict=True):
        assert (path_bytes(row.path), row.mode, row.mtime, row.size) == (path, mode, time, size)
        assert (path_bytes(row.target or ""), [*(row.owner or ())]) == (target or b"", owner)


numbers = st.lists(
    st.one_of(
        st.integers(0, 2**64 - 1), st.integers(0, 3), st.integers(2**40, 2**40 + 300),
        st.sampled_from([7, 2**50, 2**64 - 1]),
    ),
    max_size=60,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(numbers, st.sampled_from([list, sorted]))
@example([2**64 - 1] * 50, list)
@example([5, 2**63, 5, 2**63] * 30, list)
def test_a_series_comes_back_whichever_way_it_is_stored(
    found: list[int], ordered: Callable[[list[int]], list[int]]
) -> None:
    data = series(ordered(found))
    reader = Reader(data + b"x")
    assert [*reader.series(len(found))] == ordered(found)
    assert reader.take(1) == b"x"
    reader.end()
    with pytest.raises(ValueError, match="break off"):
        Reader(data[:-1]).series(len(found))


def test_each_way_is_taken_where_it_is_the_shortest() -> None:
    draw = random.Random(1)
    far = [draw.getrandbits(64) for _ in range(4)]
    for way, found in enumerate(
        (
            [draw.getrandbits(32) for _ in range(99)],
            [2**50 + 3 * n for n in range(99)],
            [draw.choice(far) for _ in range(99)],
            sorted(draw.getrandbits(64) for _ in range(50)) * 8,
        )
    ):
        assert series(found)[0] == way


def test_names_of_a_kind_are_one_pattern() -> None:
    """And numbers; also where all are digits in one name and letters in another."""
    names = [b"2025-03-%02d/IMG_%04d.jpg.json" % (n % 28 + 1, n * 7) for n in range(50)]
    assert len(patterns_of(names).patterns) == 1
    ids = [str(uuid.UUID(int=n * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 2**128)) for n in range(50)]
    found = patterns_of([each.encode() for each in ids])
    assert (len(found.patterns), len(found.fields)) == (1, 5)
    hashes = [b"%040x" % (n**30 % 16**40) for n in range(3, 50)]
    assert len(patterns_of(hashes).fields) == 3
    assert patterns_of([b"face", b"added.py", b"x1"]).patterns == [*(b"face", b"added.py", b"x\1")]
    padded = [b"%03d-%d" % (n, n) for n in range(50)]
    assert patterns_of(padded).patterns == [b"\2\3-\1"]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        (lambda _, n: f"item-{n:06}.json", 9.5),
        (lambda _, n: f"a/b/item-{n}.json", 9.5),
        (lambda _, n: f"{datetime(2025, 1, 1) + timedelta(hours=n):%Y/%m/%d/%H%M%S}.log", 9.5),
        (lambda draw, n: f"{draw.randrange(100):02}/{n}.csv", 10.5),
        (lambda draw, _: f"{uuid.UUID(int=draw.getrandbits(128), version=4)}.json", 24.0),
        (lambda draw, _: f"{draw.getrandbits(160):040x}", 28.0),
    ],
)
def test_a_file_takes_few_bytes(name: Callable[[random.Random, int], str], most: float) -> None:
    """Of them 6.7 are a time that is as random, and 1.3 a size. They were 15 and more beside the
    name, and stood twice: a checksum, steps of nanoseconds from a time to another, and digits."""
    draw = random.Random(2)
    start = int(datetime(2025, 3, 1, tzinfo=UTC).timestamp()) * 10**9
    rows = [
        EntryRow(
            name(draw, n),
            0o100644,
            start + draw.randrange(90 * 86_400 * 10**9),
            draw.randrange(500, 3000),
        )
        for n in range(2000)
    ]
    rows.sort()
    data = encode_rows(rows)
    assert decode_rows(data) == rows
    assert len(data) <= most * len(rows)


def test_times_of_whole_seconds_take_less() -> None:
    draw = random.Random(3)
    rows = [EntryRow(f"{n}", 0o100644, draw.randrange(10**6) * 10**9, 1) for n in range(2000)]
    assert len(encode_rows(rows)) <= 3 * len(rows)


def test_what_no_archive_holds_is_not_written() -> None:
    for row in (
        EntryRow("../a", 0o100644, 1),
        EntryRow("a\0b", 0o100644, 1),
        EntryRow("a", 0o60644, 1),
        EntryRow("a", 0o40755, 1, 5),
        EntryRow("a", 0o120777, 1),
    ):
        with pytest.raises(UsageError):
            encode_rows([row])


def test_many_long_paths_take_no_memory_from_few_bytes() -> None:
    """Each shares half a megabyte with the one before."""
    long = "x" * (MOST_ROOM // 2)
    rows = [EntryRow(f"{long}{n}", 0o100644, 1) for n in range(20)]
    data = encode_rows(rows)
    assert len(data) < 1000
    with pytest.raises(DamagedError, match="longer paths"):
        decode_rows(data)


def test_first_rows_are_no_more_than_there_are_bytes_for() -> None:
    """Before any memory is taken for them."""
    row = EntryRow("", 0o100644, 1)
    whole = zstandard.ZstdDecompressor().decompress(encode_first([row]))
    assert decode_first(zstandard.compress(whole)) == [row._replace(check=0)]
    for count, rows in ((1, whole[:-2]), (2, whole)):
        data = struct.pack("<I", count) + rows[4:]
        with pytest.raises(ValueError, match="their head"):
            decode_first(zstandard.compress(data))


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_what_is_cut_or_changed_is_refused_or_read(cut: int) -> None:
    """Whatever the pieces become, no other error comes of it."""
    rows = [EntryRow(f"d/{n:03}-{n * 77:x}ab12cd", 0o100644, n * 10**9, n) for n in range(9)]
    whole = zstandard.ZstdDecompressor().decompress(encode_rows(rows)[1:])
    draw = random.Random(cut)
    for content in (
        whole[: cut % len(whole)],
        *(
            whole[:at] + bytes([draw.randrange(256)]) + whole[at + 1 :]
            for at in draw.sample(range(len(whole)), 20)
        ),
    ):
        packed = b"\2" + zstandard.ZstdCompressor().compress(content)
        try:
            read = decode_rows(packed)
        except DamagedError:
            continue
        assert all(isinstance(row, EntryRow) for row in read)


def test_a_pattern_is_filled_as_it_was_taken_apart() -> None:
    for path in (b"100%/%d-7", b"\1\2\3\4\5", b"%", b"0", b"00", b"007%%", b"12" * 30):
        found = patterns_of([path])
        (pattern,) = found.patterns
        assert parsed(pattern).filled([field[0] for field in found.fields]) == path
