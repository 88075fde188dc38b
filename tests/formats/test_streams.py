"""Sources of any length: cut into blocks they are what they are when read whole, or refused."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats.base import Unheld
from serialpack.formats.shared import split as _cutting
from serialpack.formats.shared.members import key_digests, repeated
from serialpack.values.equality import difference
from tests.formats import streams
from tests.formats.streams import REFUSED, STREAMS, Stream

WHOLE = 1 << 20

each_stream = pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
sizes = st.integers(1, 64)


@each_stream
@given(data=st.data(), size=sizes)
def test_blocks_hold_the_records_of_the_whole(
    stream: Stream, data: st.DataObject, size: int
) -> None:
    records = data.draw(stream.records)
    source = stream.write(records)
    assert difference(records, streams.parsed(stream.name, source, WHOLE)) is None
    assert difference(records, streams.parsed(stream.name, source, size)) is None


@each_stream
def test_a_long_source_has_many_blocks(stream: Stream) -> None:
    records = [{"a": number, "b": "x" * (number % 9)} for number in range(200)]
    source = stream.write(records)
    blocks = streams.blocks_of(stream.name, source, 128)
    assert len(blocks) > 10
    assert sum(block.records or 0 for block in blocks) == 200
    assert stream.format.structure(blocks[0], blocks[0].records or 0) == "n"
    assert streams.parsed(stream.name, source, 128) == records


@each_stream
@given(data=st.data(), size=sizes)
def test_what_is_cut_short_is_refused_as_it_is_when_read_whole(
    stream: Stream, data: st.DataObject, size: int
) -> None:
    records = data.draw(stream.records)
    source = stream.write(records)
    cut = source[: data.draw(st.integers(0, max(len(source) - 1, 0)))]
    expected = streams.outcome(stream.name, cut, WHOLE)
    found = streams.outcome(stream.name, cut, size)
    assert (found is None) == (expected is None)
    assert found is None or difference(expected, found) is None


@each_stream
@given(data=st.data(), size=sizes)
def test_changed_bytes_are_never_read_as_something_else(
    stream: Stream, data: st.DataObject, size: int
) -> None:
    """Than when they are read whole; in blocks they may be refused where they are valid."""
    source = bytearray(stream.write(data.draw(stream.records)))
    for _ in range(data.draw(st.integers(0, 2)) if source else 0):
        source[data.draw(st.integers(0, len(source) - 1))] = data.draw(st.integers(0, 255))
    found = streams.outcome(stream.name, bytes(source), size)
    assert found is None or (
        difference(streams.outcome(stream.name, bytes(source), WHOLE), found) is None
    )


@pytest.mark.parametrize("name", sorted({stream.name for stream in STREAMS}))
@given(source=st.binary(max_size=60), size=st.integers(1, 30))
def test_any_bytes_are_read_as_when_read_whole(name: str, source: bytes, size: int) -> None:
    found = streams.outcome(name, source, size)
    assert found is None or difference(streams.outcome(name, source, WHOLE), found) is None


@each_stream
@pytest.mark.parametrize("serializer", ["pickle", "json", "yaml"])
@given(data=st.data(), size=st.integers(1, 200))
def test_other_serializers_give_the_values_back(
    stream: Stream, serializer: str, data: st.DataObject, size: int
) -> None:
    records = data.draw(stream.records)
    source = stream.write(records)
    back = _there_and_back(source, stream.name, serializer, size)
    assert difference(records, streams.parsed(stream.name, back, WHOLE)) is None


@each_stream
@pytest.mark.parametrize("size", [1, 20, 200, WHOLE])
def test_its_own_serializer_keeps_the_bytes(stream: Stream, size: int) -> None:
    records = [{"a": number, "b": "x" * (number % 9)} for number in range(50)]
    source = stream.write(records)
    assert _there_and_back(source, stream.name, stream.name, size) == source


def _there_and_back(source: bytes, name: str, serializer: str, size: int) -> bytes:
    packed, back = io.BytesIO(), io.BytesIO()
    serialpack.pack(
        io.BytesIO(source), packed, serializer=serializer, format=name, block_size=size, threads=1
    )
    packed.seek(0)
    serialpack.unpack(packed, back, trust=True)
    return back.getvalue()


#: Bad records behind good ones: where the error is, from their first byte on.
BAD = {
    "msgpack": (b"\x91\xc1", 1),
    "cbor": (b"\x82\x01\x1c", 3),
    "bson": (b"\x04\x00\x00\x00", 0),
    "protobuf": (b"\x02\x7f\x00", 1),
    "yaml": (b"---\n\xc3\xa9: [1,\n}\n", 12),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("size", [16, WHOLE])
def test_errors_have_their_place_in_the_source(name: str, size: int) -> None:
    good = streams.written(name, [{"a": number} for number in range(40)])
    bad, at = BAD[name]
    with pytest.raises(SyntaxInputError) as caught:
        streams.parsed(name, good + bad, size)
    assert caught.value.offset == len(good) + at
    if name == "yaml":
        assert (caught.value.line, caught.value.column) == (good.count(b"\n") + 3, 1)


def test_errors_in_avro_have_their_place() -> None:
    source = streams.avro_blocks([{"a": number, "b": "x"} for number in range(40)])
    bad = source[:-1] + b"?"
    for size in (16, 64, WHOLE):
        with pytest.raises(SyntaxInputError, match="no sync marker") as caught:
            streams.parsed("avro", bad, size)
        assert caught.value.offset == len(source) - 16
    text = source.replace(b"\x48\x02x", b"\x48\x02\xff")  # of record 36
    for size in (16, 64, WHOLE):
        with pytest.raises(SyntaxInputError, match="not UTF-8") as caught:
            streams.parsed("avro", text, size)
        assert text[caught.value.offset] == 0xFF


#: Records that Python does not hold, behind good ones.
LOST = {
    "msgpack": b"\x82\xa1k\x01\xa1k\x02",
    "cbor": b"\xa2\x61k\x01\x61k\x02",
    "bson": b"\x08\x00\x00\x00\x06k\x00\x00",
    "yaml": b"---\n{k: 1, k: 2}\n",
}


@pytest.mark.parametrize("name", LOST)
def test_refusals_name_the_record_in_the_source(name: str) -> None:
    good = streams.written(name, [{"a": number} for number in range(40)])
    for size in (16, WHOLE):
        with pytest.raises(ValueRefusedError) as caught:
            _there_and_back(good + LOST[name], name, "json", size)
        assert caught.value.record == 40
        assert caught.value.value_path in ("$.k", "$")


def test_lines_in_refusals_are_those_of_the_source() -> None:
    good = b"---\na: 1\n" * 40
    for size in (16, WHOLE):
        with pytest.raises(RefusedError, match="line 83: YAML 1"):
            streams.parsed("yaml", good + b"...\n%YAML 1.2\n--- no\n", size)
        with pytest.raises(RefusedError, match="line 83: YAML 1"):
            streams.parsed("yaml", good + b"%YAML 1.2\n---\nno\n", size)


# One array, or one map.

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
        back = _there_and_back(source, name, serializer, size)
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
    monkeypatch.setattr(_cutting, "MAX_BLOCK", 2000)
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


@pytest.mark.parametrize("name", ["msgpack", "cbor", "bson", "protobuf"])
def test_a_range_of_records_of_a_packed_sequence(name: str) -> None:
    records = [{"a": number} for number in range(100)]
    packed, part = io.BytesIO(), io.BytesIO()
    source = io.BytesIO(streams.written(name, records))
    serialpack.pack(source, packed, serializer="json", format=name, block_size=64)
    packed.seek(0)
    serialpack.unpack(packed, part, record_range=(7, 50))
    assert streams.parsed(name, part.getvalue(), WHOLE) == records[7:50]


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


def test_yaml_is_cut_only_where_a_document_begins() -> None:
    source = (
        b"\xef\xbb\xbf# first\n--- |\n  ---\n  text\n--- >-\n  a\n\n  ---\n...\n"
        b"%TAG !e! tag:yaml.org,2002:\n# note\n\n---\n!e!int '12'\n--- 'a\n  --- b'\n"
        b"---\n---\n# c\n--- {a: ---}\n"
    )
    expected = ["---\ntext\n", "a\n---", 12, "a --- b", None, None, {"a": "---"}]
    for size in range(1, len(source)):
        assert streams.parsed("yaml", source, size) == expected
        for block in streams.blocks_of("yaml", source, size)[1:]:
            assert bytes(block.data[:3]) in (b"---", b"%TA")
    crlf = source.replace(b"\n", b"\r\n")
    for size in (1, 40):
        assert streams.parsed("yaml", crlf, size) == expected


@pytest.mark.parametrize("text", ["'a\n---\nb'\n--- c\n", "[a,\n---\nb]\n", '"a\n---\nb"\n'])
def test_a_marker_inside_a_text_is_an_error(text: str) -> None:
    for size in (1, WHOLE):
        with pytest.raises(SyntaxInputError):
            streams.parsed("yaml", text.encode(), size)


def test_avro_writes_its_blocks_under_one_header() -> None:
    """Also where the schema is too long for the header of the container."""
    fastavro = pytest.importorskip("fastavro")
    for doc, codec in (("", "null"), ("long " * 4000, "null"), ("", "deflate"), ("", "xz")):
        fields = [{"name": "a", "type": "int"}, {"name": "b", "type": ["null", "string"]}]
        schema = {"type": "record", "name": "R", "doc": doc, "fields": fields}
        records = [{"a": number, "b": None if number % 3 else "x"} for number in range(500)]
        file = io.BytesIO()
        fastavro.writer(file, schema, records, codec=codec, sync_interval=100)
        for size in (64, 2000):
            back = _there_and_back(file.getvalue(), "avro", "json", size)
            reader = fastavro.reader(io.BytesIO(back))
            assert list(reader) == records
            assert reader.writer_schema["doc"] == doc


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


@pytest.mark.skipif(sys.platform != "linux", reason="VmHWM is Linux's")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("msgpack", "sequence"),
        ("msgpack", "array"),
        ("cbor", "sequence"),
        ("cbor", "array"),
        ("cbor", "endless"),
        ("avro", "sequence"),
        ("yaml", "sequence"),
        ("bson", "sequence"),
        ("protobuf", "sequence"),
    ],
)
def test_memory_does_not_grow_with_the_source(name: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.formats.endless", name, kind, str(200 << 20)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert not done.returncode, done.stderr
    assert int(done.stdout) < 150 << 10
