"""Sources that are one array or one map: cut at its elements, they are read as when whole."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError
from serialpack.formats.base import Unheld
from serialpack.formats.pieces.keys import key_digests, repeated
from serialpack.formats.shared import split as splitting
from serialpack.values.equality import difference
from tests.formats import streams
from tests.formats.streams import BAD, LOST, REFUSED, WHOLE, sizes, there_and_back

MESSAGES = ["msgpack", "cbor"]
both = pytest.mark.parametrize("name", MESSAGES)


def _endless(source: bytes) -> bytes:
    """An array or map of CBOR of up to 23 elements, up to a break code."""
    return bytes([source[0] | 31]) + source[1:] + b"\xff"


giants = st.one_of(
    st.lists(streams.values(), max_size=20),
    st.dictionaries(st.text(), streams.values(), max_size=20),
)


@both
@given(giant=giants, size=sizes, data=st.data())
def test_one_array_is_cut_at_its_elements(
    name: str, giant: Any, size: int, data: st.DataObject
) -> None:
    source = streams.written(name, [giant])
    if name == "cbor" and data.draw(st.booleans()):
        source = _endless(source)
    if name == "cbor" and data.draw(st.booleans()):
        source = b"\xd9\xd9\xf7" + source
    blocks = streams.blocks_of(name, source, size)
    fmt = streams.value_format(name)
    if len(source) > max(size, 12):  # in less, not even its head may be seen
        kind = "a" if isinstance(giant, list) else "m"
        assert {block.inside for block in blocks} == {kind}
        assert fmt.structure(blocks[0], 1) == kind
        assert sum(block.records or 0 for block in blocks) == len(giant)
        assert all(len(block.data) <= size or (block.records or 0) < 2 for block in blocks)
    elif len(source) <= size:
        assert fmt.structure(blocks[0], 1) == "d"
    assert difference([giant], streams.parsed(name, source, size)) is None
    for serializer in ("pickle", name):
        back = there_and_back(source, name, serializer, size)
        assert back == source or difference([giant], streams.parsed(name, back, WHOLE)) is None


@both
@given(giant=giants, size=sizes, data=st.data())
def test_an_array_cut_short_is_refused(
    name: str, giant: Any, size: int, data: st.DataObject
) -> None:
    source = streams.written(name, [giant])
    if name == "cbor" and data.draw(st.booleans()):
        source = _endless(source)
    for end in range(1, len(source)):
        with pytest.raises(REFUSED):
            streams.parsed(name, source[:end], size)


@both
@pytest.mark.parametrize("follows", [b"\x01", b"\xc1\x1c", b"\x81", b"\xff"])
@pytest.mark.parametrize("size", [8, 64])
def test_others_behind_an_array_that_fits_in_memory(name: str, follows: bytes, size: int) -> None:
    """It is a record among others, as it always was."""
    array = streams.written(name, [list(range(100))])
    for source in (array + follows, array + array, array * 3 + follows):
        expected = streams.outcome(name, source, WHOLE)
        found = streams.outcome(name, source, size)
        assert (found is None) == (expected is None)
        assert found is None or difference(expected, found) is None
    assert streams.parsed(name, array * 3, size) == [list(range(100))] * 3


@both
@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("kind", ["a", "m"])
def test_an_array_larger_than_a_record_may_be(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: str, *, endless: bool
) -> None:
    """It is read element by element; nothing may stand behind it, and nothing be missing."""
    monkeypatch.setattr(splitting, "MAX_BLOCK", 2000)
    texts_of = [f"{number:04}" + "x" * (number % 7) for number in range(1000)]
    giant: Any = texts_of if kind == "a" else dict.fromkeys(texts_of, 1.5)
    source = streams.written(name, [giant])
    if endless and name == "msgpack":
        pytest.skip("all arrays of MessagePack say their length")
    if endless:
        source = b"\x9f\xbf"[kind == "m" :][:1] + source[3:] + b"\xff"
    for size in (64, 1000, 2000):
        assert difference([giant], streams.parsed(name, source, size)) is None
        for end in (len(source) - 1, len(source) - 20, 3000):
            with pytest.raises(SyntaxInputError) as short:
                streams.parsed(name, source[:end], size)
            assert short.value.offset <= end
        for follows in (b"\x01", b"\xff", source):
            with pytest.raises(RefusedError, match=f"byte {len(source)}, and others follow"):
                streams.parsed(name, source + follows, size)
    few = b"\x9a\x00\x00\x04\x00" if name == "cbor" else b"\xdd\x00\x00\x04\x00"
    if kind == "a" and not endless:
        with pytest.raises(SyntaxInputError, match="an array of 1024, with 1000 of them"):
            streams.parsed(name, few + source[3:], 64)
    large = streams.written(name, [["x" * 3000, 1]])
    with pytest.raises(RefusedError, match="larger than 64 MiB"):
        streams.parsed(name, large, 64)


@both
def test_an_element_may_be_larger_than_a_block(name: str) -> None:
    giant = ["x" * 500, 1, {"a": "y" * 300}, [], "z" * 100]
    source = streams.written(name, [giant])
    assert streams.parsed(name, source, 50) == [giant]
    assert {block.inside for block in streams.blocks_of(name, source, 50)} == {"a"}


@both
def test_errors_inside_an_array_have_their_place(name: str) -> None:
    elements = streams.written(name, [{"a": number} for number in range(40)])
    head = b"\xdc\x00\x29" if name == "msgpack" else b"\x98\x29"
    bad, at = BAD[name]
    for source in (head + elements + bad,):
        with pytest.raises(SyntaxInputError) as caught:
            streams.parsed(name, source, 16)
        assert caught.value.offset == len(head + elements) + at
    with pytest.raises(Unheld) as lost:
        streams.parsed(name, head + elements + LOST[name], 16)
    assert lost.value.difference.value_path in ("$.k", "$")
    members = streams.written(name, [{f"k{n}": n for n in range(40)}])[3 - (name == "cbor") :]
    head = b"\xde\x00\x29" if name == "msgpack" else b"\xb8\x29"
    key = b"\xa1k" if name == "msgpack" else b"\x61k"
    with pytest.raises(SyntaxInputError) as caught:
        streams.parsed(name, head + members + key + bad, 16)
    assert caught.value.offset == len(head + members + key) + at


@both
def test_a_range_of_records_of_a_packed_array(name: str) -> None:
    source = streams.written(name, [list(range(1000, 1100))])
    packed = io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, serializer=name, format=name, block_size=32)
    packed.seek(0)
    assert serialpack.inspect(packed).members[0].records == 100
    part = io.BytesIO()
    packed.seek(0)
    serialpack.unpack(packed, part, record_range=(7, 50))
    assert streams.parsed(name, part.getvalue(), WHOLE) == list(range(1007, 1050))


def test_references_between_elements_are_refused() -> None:
    """Each item of a sequence has its own; those between elements are not followed."""
    shared = bytes.fromhex("82d81c8101d81d00")
    other = bytes.fromhex("82d81c8102d81d00")
    for size in (4, WHOLE):
        assert streams.parsed("cbor", shared + other, size) == [[[1], [1]], [[2], [2]]]
    array = b"\x82" + shared + b"\xd8\x1d\x00"
    assert streams.parsed("cbor", array, WHOLE) == [[[[1], [1]], [1]]]
    with pytest.raises(RefusedError, match="references between"):
        streams.parsed("cbor", array, 4)


def test_keys_of_a_map_in_pieces() -> None:
    keys: list[Any] = [
        "a",
        b"a",
        1,
        "1",
        (1, 2),
        (1, "2"),
        1.5,
        -1,
        -2,
        None,
        "None",
        (),
        2**61,
        0.0,
    ]
    assert repeated(key_digests([{key: 0} for key in keys])) is None
    for again in ("a", True, 1.0, (1.0, 2), -2.0, 0, (), None, float(2**61)):
        digests = key_digests([{key: 0} for key in [*keys, again, "z", "a"]])
        assert repeated(digests) == (keys.index(again), len(keys))
    assert repeated(b"") is None
