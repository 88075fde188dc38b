"""MessagePack of any spelling becomes columns and comes back."""

from __future__ import annotations

import random
import struct
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack import msgpack_starts
from serialpack.columns.parse import msgpack, msgpack_numbers, msgpack_tokens
from serialpack.columns.parse.nodes import RAW, SCALAR, STRING, Mark
from serialpack.columns.parse.shape import join, split
from serialpack.columns.stored import structure
from serialpack.columns.stored.structure import Column
from serialpack.columns.texts import Broken, Texts
from tests.columns.shapes import columns_of, there_and_back


def whole(number: int) -> bytes:
    """The smallest form of an integer."""
    if -32 <= number < 128:
        return struct.pack(">b", number)
    for tag, form in enumerate("BHIQ" if number > 0 else "bhiq"):
        try:
            return bytes([(0xCC if number > 0 else 0xD0) + tag]) + struct.pack(">" + form, number)
        except struct.error:
            pass
    raise OverflowError


def text(value: bytes) -> bytes:
    size = len(value)
    if size < 32:
        return bytes([0xA0 + size]) + value
    return (b"\xd9%c" % size if size < 256 else b"\xda" + struct.pack(">H", size)) + value


def packed(value: Any) -> bytes:
    """As libraries write it."""
    match value:
        case None | False | True:
            return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
        case int():
            return whole(value)
        case float():
            return b"\xcb" + struct.pack(">d", value)
        case str():
            return text(value.encode())
        case list():
            return listed([packed(item) for item in value])
    return mapped([packed(key) + packed(item) for key, item in value.items()])


def listed(items: list[bytes]) -> bytes:
    size = len(items)
    return (bytes([0x90 + size]) if size < 16 else struct.pack(">BH", 0xDC, size)) + b"".join(items)


def mapped(pairs: list[bytes]) -> bytes:
    size = len(pairs)
    return (bytes([0x80 + size]) if size < 16 else struct.pack(">BH", 0xDE, size)) + b"".join(pairs)


ODD = [
    *(b"\xc0", b"\xc2", b"\xc3", b"\x80", b"\x90", b"\xdc\0\0", b"\xdd\0\0\0\0", b"\xde\0\0"),
    *(b"\xcc\x05", b"\xcd\0\x80", b"\xcf\0\0\0\0\0\0\0\x01", b"\xd0\xff", b"\xd0\x05"),
    *(b"\xd1\xff\x80", b"\xd3\0\0\0\0\0\0\0\x01", b"\xcf" + b"\xff" * 8, b"\xd3\x80" + bytes(7)),
    *(b"\xca\x3f\x80\0\0", b"\xcb\x7f\xf8\0\0\0\0\0\0", b"\xcb\xff\xf0\0\0\0\0\0\0"),
    *(b"\xcb\x80\0\0\0\0\0\0\0", b"\xd9\x01a", b"\xda\0\x02ab", b"\xdb\0\0\0\0", b"\xc4\x02\0\xff"),
    *(b"\xc5\0\x01a", b"\xd6\xff\0\0\0\x01", b"\xc7\x03\x05abc", b"\xd4\x01\xff"),
]
texts = st.one_of(st.text(max_size=40).map(str.encode), st.binary(max_size=3)).map(text)
scalars = st.one_of(
    st.sampled_from(ODD),
    st.integers(-(2**63), 2**64 - 1).map(whole),
    st.integers(-300, 300).map(whole),
    st.floats().map(packed),
    texts,
)
keys = st.one_of(st.sampled_from([b"\xa1a", b"\xa1b", b"\xa0", b"\xd9\x01a"]), scalars)
values = st.recursive(
    scalars,
    lambda items: st.one_of(
        st.lists(items, max_size=5).map(listed),
        st.lists(items, min_size=1, max_size=3).map(
            lambda found: struct.pack(">BI", 0xDD, len(found)) + b"".join(found)
        ),
        st.lists(st.tuples(keys, items).map(b"".join), max_size=5).map(mapped),
    ),
    max_leaves=20,
)


@settings(max_examples=75)
@given(st.lists(values, max_size=8), st.integers(1, 30))
def test_any_messages_come_back(messages: list[bytes], times: int) -> None:
    there_and_back(b"".join(messages) * times, "msgpack")
    if messages:
        there_and_back(listed(messages[:15]), "msgpack")


@pytest.mark.parametrize(
    ("module", "limit", "value"), [(msgpack, "_SPACE", -1 << 40), (msgpack_numbers, "_STEP", 3)]
)
def test_many_messages_are_worked_on_otherwise(
    module: ModuleType, limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of few, the pairs that are numbered fit into a table, and all texts into one step."""
    usual = split(STREAM, "msgpack")
    assert usual is not None
    monkeypatch.setattr(module, limit, value)
    there_and_back(STREAM, "msgpack")
    other = split(STREAM, "msgpack")
    assert other is not None
    assert structure.write(other.shape, 3) == structure.write(usual.shape, 3)


R = random.Random(8)
RECORDS: list[dict[str, Any]] = [
    {
        "id": number,
        "name": {"first": R.choice(["Ann", "Bo", "Cy"]), "last": "x" * R.randint(0, 300)},
        "score": R.choice([R.uniform(-9, 9), 1.0, R.randint(-(10**17), 10**17)]),
        "tags": [R.choice("abc") for _ in range(R.randint(0, 5))],
        "at": [R.uniform(-90, 90), R.uniform(-180, 180)],
        "more": [[R.randint(0, 300), R.randint(0, 9)] for _ in range(R.randint(1, 30))],
        "note": R.choice([None, "later", True]),
    }
    for number in range(300)
]
STREAM = b"".join(map(packed, RECORDS))


def test_records_are_columns() -> None:
    columns = columns_of(there_and_back(STREAM, "msgpack"))
    assert columns[Column((b"id",), SCALAR)] == [b"%d" % n for n in range(300)]
    assert columns[Column((b"name", b"first"), STRING)] == [
        record["name"]["first"].encode() for record in RECORDS
    ]
    assert columns[Column((b"score",), SCALAR)] == [
        repr(record["score"]).encode() for record in RECORDS
    ]
    tags = [tag.encode() for record in RECORDS for tag in record["tags"]]
    assert columns[Column((b"tags", Mark.ITEM), STRING)] == tags
    assert len(columns[Column((b"at", 1), SCALAR)]) == 300
    assert (b"more", Mark.ITEM, 1) in {column.path for column in columns}


@pytest.mark.parametrize("whole_list", [False, True])
def test_a_record_is_read_alone(whole_list: bool) -> None:
    data = b"\xdc\x01\x2c" + STREAM if whole_list else STREAM
    found = there_and_back(data, "msgpack")
    assert found is not None
    assert found.shape.records == len(RECORDS)
    assert Column((b"id",), SCALAR) in found.shape.columns
    for number in (0, 1, 150, 299):
        assert join(*found, number, number + 1) == packed(RECORDS[number])
    assert join(*found, 7, 20) == b"".join(map(packed, RECORDS[7:20]))


def test_the_length_of_a_list_is_told_once() -> None:
    """What follows an element of a short list is told by how the list begins."""
    shape = columns_shape(b"".join(packed({"tags": ["x"] * R.randint(1, 5)}) for _ in range(999)))
    follows: dict[int, set[int]] = {}
    for node, following in zip(shape.walk[:-1].tolist(), shape.walk[1:].tolist(), strict=True):
        follows.setdefault(node, set()).add(following)
    branching = {node for node, targets in follows.items() if len(targets) > 1}
    assert all(shape.nodes[last].text in (b"", b"\x81\xa4tags\x91") for last in branching)
    assert len(branching) == 2


def columns_shape(data: bytes) -> structure.TextShape:
    found = there_and_back(data, "msgpack")
    assert found is not None
    return found.shape


def test_keys_that_are_data_are_a_column() -> None:
    record = {f"key{number:03}": number for number in range(500)}
    columns = columns_of(there_and_back(packed(record), "msgpack"))
    assert columns == {
        Column((Mark.KEY,), STRING): [key.encode() for key in record],
        Column((Mark.VALUE,), SCALAR): [b"%d" % number for number in range(500)],
    }


POWERS = [sign * (1 << bits) for sign in (-1, 1) for bits in range(60)]
NUMBERS = sorted({power + more for power in POWERS for more in (-1, 0)} | {10**18 - 1, 1 - 10**18})
EDGES = b"".join(map(whole, NUMBERS)) + b"".join(text(b"x" * n) for n in (31, 32, 255, 256, 65535))


def test_each_integer_has_one_form_that_is_a_number() -> None:
    columns = columns_of(there_and_back(EDGES, "msgpack"))
    assert columns[Column((), SCALAR)] == [b"%d" % number for number in NUMBERS]
    assert len(columns[Column((), STRING)]) == 5
    beyond = [10**18, -(10**18), 2**63, 2**64 - 1]
    found = there_and_back(b"".join(map(whole, beyond)), "msgpack")
    assert columns_of(found) == {Column((), RAW): list(map(whole, beyond))}
    longer = b"".join(b"\xd3" + struct.pack(">q", n) for n in NUMBERS if n >= -(1 << 31))
    assert all(column.kind == RAW for column in columns_of(there_and_back(longer, "msgpack")))


@pytest.mark.parametrize(
    "data",
    [
        b"\xc1",
        b"\x81\xa1a",
        b"\x92\x01",
        b"\xdd\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xffa",
        b"\xc7",
    ],
)
def test_what_is_no_whole_value_is_left_alone(data: bytes) -> None:
    assert split(data, "msgpack") is None
    assert split(STREAM + data, "msgpack") is None


def test_many_levels_are_left_alone() -> None:
    assert split(b"\x91" * 100_000 + b"\x01", "msgpack") is None


@pytest.mark.parametrize("seed", range(40))
def test_changed_data_comes_back_or_is_left_alone(seed: int) -> None:
    r = random.Random(seed)
    data = bytearray(STREAM[: r.randint(1, len(STREAM))] if seed % 2 else STREAM)
    for _ in range(r.randint(1, 3)):
        data[r.randrange(len(data))] = r.choice([0xC1, 0xDD, 0x93, r.randrange(256)])
    there_and_back(bytes(data), "msgpack")


@pytest.mark.parametrize("seed", range(60))
def test_changed_structure_is_broken_or_harmless(seed: int) -> None:
    r = random.Random(seed)
    found = split(STREAM, "msgpack")
    assert found is not None
    stored = bytearray(structure.write(found.shape, 1))
    for _ in range(r.randint(1, 4)):
        stored[r.randrange(len(stored))] = r.randrange(256)
    try:
        shape = structure.read(bytes(stored), len(STREAM))
        columns = [Texts.from_list([b"7"] * number) for number in shape.numbers]
        assert len(join(shape, columns)) <= 10 * len(STREAM)
        assert len(shape.outline.paths) == len(shape.nodes)
    except Broken:
        pass


def test_numbers_that_are_none_are_broken() -> None:
    found = split(packed([1, 2, 3]), "msgpack")
    assert found is not None
    for odd in (b"", b"x", b"nan", b"1e999", b"1,2"):
        with pytest.raises(Broken):
            join(found.shape, [Texts.from_list([b"1", odd, b"3"])])


#: Strings of any length; some full of bytes that look like strings of one byte, where who once
#: went wrong never meets the right places again.
strings = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.integers(0, 3000).map(lambda size: b"\xa1" * size),
        st.integers(200, 60_000).map(lambda size: b"\xdb" * size),
    ),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(strings, st.integers(1, 7))
def test_tokens_begin_where_others_end(values: list[bytes], rounds: int) -> None:
    data = b"".join(map(text, values))
    sizes = [len(text(value)) for value in values]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(msgpack_starts, "_ROUNDS", rounds)
        patch.setattr(msgpack_starts, "DENSE", 1)
        found = msgpack_tokens.tokens(data)
        cut_off = msgpack_tokens.tokens(data[:-1])
    assert cut_off is None or len(values[-1]) == 0
    if values:
        assert found is not None
        assert found.starts.tolist() == [sum(sizes[:place]) for place in range(len(sizes))]
