"""Sources of any length: cut into blocks they are what they are when read whole, or refused."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.values.equality import difference
from tests.formats import streams
from tests.formats.streams import BAD, LOST, STREAMS, WHOLE, Stream, sizes, there_and_back

each_stream = pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)


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
    back = there_and_back(source, stream.name, serializer, size)
    assert difference(records, streams.parsed(stream.name, back, WHOLE)) is None


@each_stream
@pytest.mark.parametrize("size", [1, 20, 200, WHOLE])
def test_its_own_serializer_keeps_the_bytes(stream: Stream, size: int) -> None:
    records = [{"a": number, "b": "x" * (number % 9)} for number in range(50)]
    source = stream.write(records)
    assert there_and_back(source, stream.name, stream.name, size) == source


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


@pytest.mark.parametrize("name", LOST)
def test_refusals_name_the_record_in_the_source(name: str) -> None:
    good = streams.written(name, [{"a": number} for number in range(40)])
    for size in (16, WHOLE):
        with pytest.raises(ValueRefusedError) as caught:
            there_and_back(good + LOST[name], name, "json", size)
        assert caught.value.record == 40
        assert caught.value.value_path in ("$.k", "$")


def test_lines_in_refusals_are_those_of_the_source() -> None:
    good = b"---\na: 1\n" * 40
    for size in (16, WHOLE):
        with pytest.raises(RefusedError, match="line 83: libyaml"):
            streams.parsed("yaml", good + b"...\n%YAML 1.2\n--- &a:b no\n", size)
        with pytest.raises(RefusedError, match="line 83: libyaml"):
            streams.parsed("yaml", good + b"...\n---\n&a:b no\n", size)


@pytest.mark.parametrize("name", ["msgpack", "cbor", "bson", "protobuf"])
def test_a_range_of_records_of_a_packed_sequence(name: str) -> None:
    records = [{"a": number} for number in range(100)]
    packed, part = io.BytesIO(), io.BytesIO()
    source = io.BytesIO(streams.written(name, records))
    serialpack.pack(source, packed, serializer="json", format=name, block_size=64)
    packed.seek(0)
    serialpack.unpack(packed, part, record_range=(7, 50))
    assert streams.parsed(name, part.getvalue(), WHOLE) == records[7:50]


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
            back = there_and_back(file.getvalue(), "avro", "json", size)
            reader = fastavro.reader(io.BytesIO(back))
            assert list(reader) == records
            assert reader.writer_schema["doc"] == doc


@pytest.mark.slow
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
    size = (24 if name == "yaml" else 64) << 20  # libyaml takes long
    done = subprocess.run(
        [sys.executable, "-m", "tests.formats.endless", name, kind, str(size)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert not done.returncode, done.stderr
    assert int(done.stdout) < 150 << 10
