"""Columns together: what they share, what is read alone, and bytes that nobody wrote."""

from __future__ import annotations

import contextlib
import inspect
import random
import sys
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack.columns.stored.read import StoredColumns
from serialpack.columns.stored.streams import LZMA, ZSTD, effort, recoded, unlzma, unzstd, zstd
from serialpack.columns.stored.wire import WireReader, varint
from serialpack.columns.stored.write import encode_all
from serialpack.columns.texts import Broken, Texts
from tests.columns.decoded import decode_all

R = random.Random(3)
NAMES = ["".join(R.choices("abcdefghijklmnop", k=R.randint(3, 9))).title() for _ in range(60)]


def columns_of(values: list[list[bytes]]) -> list[Texts]:
    return [Texts.from_list(column) for column in values]


def round_trip(values: list[list[bytes]], level: int = 3, names: list[str] | None = None) -> bytes:
    columns = columns_of(values)
    packed = encode_all(columns, level, names)
    assert packed == encode_all(columns, level, names), "not deterministic"
    number = sum(map(len, values))
    size = sum(len(value) for column in values for value in column)
    assert [texts.to_list() for texts in decode_all(packed, number, size)] == values
    return packed


def records(number: int) -> dict[str, list[bytes]]:
    """Columns of all kinds."""
    ids = [str(uuid.UUID(int=R.getrandbits(128), version=4)).encode() for _ in range(number)]
    users = [R.randint(0, 40) for _ in range(number)]
    return {
        "/id": ids,
        "/user/id": [b"%d" % (10**9 + user * 7919) for user in users],
        "/user/id_str": [b"%d" % (10**9 + user * 7919) for user in users],
        "/user/name": [f"{NAMES[user]} {NAMES[user // 2]}".encode() for user in users],
        "/first": [R.choice(NAMES).encode() for _ in range(number)],
        "/last": [R.choice(NAMES).encode() for _ in range(number)],
        "/age": [b"%d" % R.randint(18, 90) for _ in range(number)],
        "/balance": [b"%.2f" % R.uniform(0, 10**4) for _ in range(number)],
        "/address": [
            f"{R.randint(1, 99)} {R.choice(NAMES)} Road, {R.choice(NAMES)}".encode()
            for _ in range(number)
        ],
        "/when": [b"2024-05-%02dT%02d:00" % (i // 24 % 30 + 1, i % 24) for i in range(number)],
        "/active": [R.choice([b"true", b"false"]) for _ in range(number)],
        "/note": [b"null"] * number,
        "/text": [" ".join(R.choices(NAMES, k=R.randint(9, 30))).encode() for _ in range(number)],
        "/latitude": [repr(R.uniform(-90, 90)).encode() for _ in range(number)],
    }


@pytest.mark.parametrize("level", [1, 3, 6, 9])
@pytest.mark.parametrize("number", [1, 2, 5, 30, 700])
def test_records(number: int, level: int) -> None:
    columns = records(number)
    round_trip(list(columns.values()), level, list(columns))


def test_no_columns() -> None:
    assert decode_all(encode_all([])) == []


def test_empty_columns() -> None:
    round_trip([[], [b""], [b"", b""], []])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.binary(max_size=9), max_size=20), max_size=12),
    st.sampled_from([1, 3, 9]),
    st.booleans(),
)
def test_any_columns(values: list[list[bytes]], level: int, named: bool) -> None:
    names = [f"/{len(values) - at}/{at % 3}" for at in range(len(values))] if named else None
    round_trip(values, level, names)


def test_repeated_column_costs_nothing() -> None:
    """But for values that differ."""
    ids = [b"%d" % R.getrandbits(60) for _ in range(500)]
    once = len(round_trip([ids]))
    assert len(round_trip([ids, ids])) < once + 30
    odd = ids.copy()
    odd[77] = b"none"
    packed = round_trip([ids, odd])
    assert len(packed) < once + 60
    assert StoredColumns(packed).encoding(1) == "reference"


def test_column_that_follows_from_another() -> None:
    users = [R.randrange(50) for _ in range(900)]
    ids = [b"%d" % (user * 7919) for user in users]
    names = [NAMES[user].encode() for user in users]
    names[5] = b"odd"
    packed = round_trip([ids, names])
    assert StoredColumns(packed).encoding(1) == "follows"
    assert len(packed) < len(round_trip([ids])) + 400


def test_column_beside_much_longer_values() -> None:
    """What it might follow would take more to restore than may be restored for it."""
    users = [R.randrange(20) for _ in range(900)]
    texts = [bytes(R.choices(b"abcdefgh ", k=3000)) for _ in range(20)]
    round_trip([[texts[user] for user in users], [b"%c" % (97 + user) for user in users]])


def test_columns_that_refer_to_one_another_in_a_long_chain() -> None:
    """The last is read alone, and says what else is read."""
    ids = [b"%d" % R.getrandbits(60) for _ in range(12)]
    calls = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        packed = round_trip([ids] * 300)
        assert StoredColumns(packed).encoding(299) == "reference"
        assert StoredColumns(packed).texts(299).to_list() == ids
        assert StoredColumns(packed).ranges(299) == StoredColumns(packed).ranges(1)
    finally:
        sys.setrecursionlimit(calls)


def columns_as_described(
    columns: list[tuple[int, int, int, bytes]], bundles: int, lines: bytes, body: bytes
) -> bytes:
    """Columns by hand: of each its values, their bytes, its streams, and its description."""
    header = varint(len(columns)) + varint(bundles)
    values, sizes, streams, descriptions = zip(*columns, strict=True)
    for number in (*values, *sizes, *streams, *map(len, descriptions)):
        header += varint(number)
    header += b"".join(descriptions) + b"\0\0" + lines
    return b"\1" + 2 * varint(len(header)) + header + body


@pytest.mark.parametrize(
    ("columns", "bundles", "lines", "body"),
    [
        pytest.param([(1, 1, 1, b"\1\1a")], 0, b"\0\1", b"x", id="stream-of-nothing"),
        pytest.param([(1, 1, 0, b"\x12\0"), (1, 1, 0, b"\x10\0\1\0")], 1, b"", b"", id="circle"),
        pytest.param([(1, 1, 0, b"\x10\0\1\0")], 0, b"", b"", id="itself"),
        pytest.param([(1, 1, 0, b"\x12\0\0"), (1, 1, 0, b"\1\1a")], 1, b"", b"", id="bundle-and"),
        pytest.param(
            [(1, 1, 0, b"\1\1a"), (1, 1, 0, b"\x0a\0\0\x10\0\1\0")], 0, b"", b"", id="part"
        ),
        pytest.param([(1, 1, 1, b"\0\0\1")], 0, b"\x50\1\1", b"x", id="coder"),
        pytest.param([(1, 1, 0, b"\1\x81\0a")], 0, b"", b"", id="long-number"),
        pytest.param([(1, 1, 0, b"\x13")], 0, b"", b"", id="encoding-of-later"),
    ],
)
def test_what_says_what_it_must_not(
    columns: list[tuple[int, int, int, bytes]], bundles: int, lines: bytes, body: bytes
) -> None:
    good = columns_as_described([(1, 1, 1, b"\0\0\1")], 0, b"\0\1", b"x")
    assert [texts.to_list() for texts in decode_all(good, 1, 1)] == [[b"x"]]
    with pytest.raises(Broken):
        decode_all(columns_as_described(columns, bundles, lines, body), 2, 2)


@pytest.mark.parametrize("level", [3, 9])
def test_nothing_stands_behind_a_stream(level: int) -> None:
    """Streams and frames end where their lines say that they do."""
    text = b" ".join(R.choices([name.encode() for name in NAMES], k=900))
    coder, stored = recoded(ZSTD, text, zstd(text, 3), effort(level))
    undo = {ZSTD: unzstd, LZMA: unlzma}[coder]
    assert undo(stored, len(text)) == text
    for wrong in (stored + b"\0", stored[:-1]):
        with pytest.raises(Broken):
            undo(wrong, len(text))


def test_small_columns_of_like_names_stand_together() -> None:
    """What they repeat from each other is found though others stand between them."""
    texts = [bytes(R.choices(b"abcdefgh ", k=3000)) for _ in range(3)]
    values = [[text[:at], text[at:]] for at in (100, 200) for text in texts]
    names = [f"/{at}/{part}" for at in ("x", "y") for part in "abc"]
    assert len(round_trip(values, 3, names)) < 0.7 * sum(len(round_trip([v])) for v in values)


def test_column_that_follows_but_for_long_values() -> None:
    """What would follow may be longer than what stands there."""
    # Of their own: with some draws a dictionary is a few bytes smaller.
    draw = random.Random(0)
    users = [draw.randrange(20) for _ in range(900)]
    ids = [b"%d" % (user * 7919) for user in users]
    texts = [b"a long text about user %d" % user * 40 for user in users]
    for place in range(100, 250):
        texts[place] = b""
    assert StoredColumns(round_trip([ids, texts])).encoding(1) == "follows"


def test_many_small_columns_stand_in_bundles() -> None:
    """As of records with ever different keys: they cost little more than their values."""
    values = [
        [b"%d" % R.getrandbits(16) if at % 2 else R.choice(NAMES).encode() for _ in range(at % 5)]
        for at in range(800)
    ]
    names = [f"/k{at}" for at in range(800)]
    packed = round_trip(values, 3, names)
    assert len(packed) < sum(len(value) for column in values for value in column)
    reader = StoredColumns(packed)
    assert len(reader) == 800
    assert reader.texts(799).to_list() == values[799]
    assert reader.ranges(799) == reader.ranges(797)
    assert 0 < sum(reader.stored_size(at) for at in range(800)) < len(packed)
    for _ in range(100):
        wrong = bytearray(packed)
        wrong[R.randrange(len(wrong))] ^= 1 << R.randrange(8)
        with contextlib.suppress(Broken):
            decode_all(bytes(wrong), 4000, 30_000)


def test_one_column_alone() -> None:
    """Only what it needs is decoded: the bytes of others may be anything."""
    columns = records(700)
    names = list(columns)
    packed = bytearray(encode_all(columns_of(list(columns.values())), 3, names))
    at = names.index("/id")
    reader = StoredColumns(bytes(packed))
    ranges = reader.ranges(names.index("/balance"))
    assert sum(stop - start for start, stop in ranges) < len(packed) / 4
    kept = {place for start, stop in ranges for place in range(start, stop)}
    for place in range(len(packed)):
        if place not in kept:
            packed[place] ^= 0x55
    reader = StoredColumns(bytes(packed))
    assert reader.texts(names.index("/balance")).to_list() == columns["/balance"]
    assert reader.number(at) == 700
    assert reader.text_size(at) == 700 * 36
    assert reader.encoding(at) == "fixed"


def test_sizes_of_columns_add_up() -> None:
    columns = records(700)
    packed = encode_all(columns_of(list(columns.values())))
    reader = StoredColumns(packed)
    total = sum(reader.stored_size(at) for at in range(len(reader)))
    assert 0.8 * len(packed) < total < 1.2 * len(packed)


def test_limits_are_kept() -> None:
    packed = encode_all([Texts.from_list([b"a"] * 1000)])
    assert decode_all(packed, 1000, 1000)
    with pytest.raises(Broken):
        decode_all(packed, 999, 1000)
    with pytest.raises(Broken):
        decode_all(packed, 1000, 999)


@pytest.mark.parametrize("number", [3, 60, 400])
@pytest.mark.parametrize("level", [1, 9])
def test_broken_bytes(number: int, level: int) -> None:
    """Bytes changed, cut, doubled: other values, or Broken, but nothing else."""
    columns = records(number)
    values = list(columns.values())
    size = sum(len(value) for column in values for value in column)
    most = sum(map(len, values))
    packed = encode_all(columns_of(values), level, list(columns))
    tried = broken = 0
    for turn in range(400):
        wrong = bytearray(packed)
        for _ in range(R.randint(1, 3)):
            # The header, where most can go wrong, is at the start.
            wrong[R.randrange(min(len(wrong), 400) if turn % 2 else len(wrong))] = R.randrange(256)
        if turn % 5 == 0:
            del wrong[R.randrange(len(wrong)) :]
        if turn % 7 == 0:
            at = R.randrange(len(wrong) + 1)
            wrong[at:at] = wrong[at : at + R.randint(1, 9)]
        tried += 1
        try:
            back = decode_all(bytes(wrong), most, size)
        except Broken:
            broken += 1
        else:
            assert sum(len(texts.data) for texts in back) <= size
    assert broken > tried / 20


def test_broken_descriptions() -> None:
    """As above, with a header that is not compressed, so that each byte of it is reached."""

    columns = records(120)
    values = list(columns.values())
    size = sum(len(value) for column in values for value in column)
    most = sum(map(len, values))
    packed = encode_all(columns_of(values), 3, list(columns))
    start = WireReader(packed[:32], 1)
    raw_size, stored_size = start.varint(1 << 30), start.varint(1 << 30)
    end = start.position + stored_size
    stored = packed[start.position : end]
    header = stored if raw_size == stored_size else unzstd(stored, raw_size)
    for _ in range(2500):
        wrong = bytearray(header)
        for _ in range(R.randint(1, 2)):
            wrong[R.randrange(len(wrong))] = R.choice([0, 1, 2, 7, 127, 128, 255, R.randrange(256)])
        sizes = varint(len(wrong))
        try:
            back = decode_all(packed[:1] + sizes + sizes + wrong + packed[end:], most, size)
        except Broken:
            continue
        assert sum(len(texts.data) for texts in back) <= size
