"""Every format cuts a source into blocks of whole records that are, together, the source."""

from __future__ import annotations

import io
import itertools
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock
from serialpack.formats.json import split as json_split
from serialpack.formats.shared import split as splitting
from serialpack.formats.tables.pieces import MARK
from tests.formats import texts
from tests.serializers.chains import writing

sizes = st.integers(1, 64)


@pytest.mark.parametrize("name", FORMATS.names())
def test_an_empty_source_is_one_empty_block(name: str) -> None:
    (block,) = texts.split(name, b"", 100)
    assert not block.data


@pytest.mark.parametrize("name", FORMATS.names())
@given(source=st.binary(max_size=200), size=sizes, lines=st.booleans())
@example(source=MARK, size=1, lines=True)  # as a piece of a table begins, and none
@example(source=MARK + b"\xff\xff\xff\xff\x10\x00", size=1, lines=True)
def test_any_bytes_can_be_cut(name: str, source: bytes, size: int, lines: bool) -> None:
    for_values = lines and name != "sqlite"  # whose rows are read by the library, or not at all
    texts.split(name, source, size, lines=for_values)


@pytest.mark.parametrize("name", FORMATS.names())
@given(source=st.text(' \n\t,:"\\[]{}1ea', max_size=120), size=sizes)
def test_any_text_that_looks_like_a_format_can_be_cut(name: str, source: str, size: int) -> None:
    texts.split(name, source.encode(), size)


@given(text=texts.arrays(), size=sizes, lines=st.booleans())
@example(text='[{},{"":0  },{},{},{}]', size=4, lines=False)  # a guess behind the limit
def test_arrays_are_cut_at_elements(text: str, size: int, lines: bool) -> None:
    _check_elements(text, size, lines=lines)


@given(text=texts.maps(), size=sizes, lines=st.booleans())
def test_large_objects_are_cut_at_members(text: str, size: int, lines: bool) -> None:
    if len(text.encode()) <= size:
        (block,) = texts.split("json", text.encode(), size)
        assert block.records == 1
    else:
        _check_elements(text, size, lines=lines)


def _check_elements(text: str, size: int, *, lines: bool) -> None:
    source = text.encode()
    blocks = texts.split("json", source, size, lines=lines)
    starts = [len(text[:at].encode()) for at in texts.element_starts(text)]
    if len(blocks) == 1 and text.lstrip().startswith("{"):
        assert blocks[0].records == 1
        return
    spans = [*itertools.pairwise(starts), (starts[-1], len(source))] if starts else []
    for block in blocks:
        end = block.offset + len(block.data)
        assert block.records == sum(block.offset <= start < end for start in starts)
        if block.records and block.index:
            assert block.offset in starts
        # A block is larger than asked for only where its one record is.
        assert len(block.data) <= size or block.records == 1 or block.index == 0
    kind = {"k": "m" if text.lstrip().startswith("{") else "a"}
    found = [
        bytes(block.data[start:end])
        for block in blocks
        for start, end in FORMATS.get("json").record_spans(block.data, kind, first=block.index == 0)
    ]
    assert len(found) == len(spans)
    for (start, end), record in zip(spans, found, strict=True):
        assert source[start:end].startswith(record)
        json.loads(record if kind["k"] == "a" else b"{" + record + b"}")


@given(text=texts.lines(), size=sizes, lines=st.booleans())
def test_ndjson_is_cut_at_line_ends(text: str, size: int, lines: bool) -> None:
    fmt = FORMATS.get("ndjson")
    found = []
    for block in texts.split("ndjson", text.encode(), size, lines=lines):
        data = bytes(block.data)
        records = [line for line in data.split(b"\n") if line.strip()]
        spans = [*fmt.record_spans(data, {}, first=block.index == 0)]
        assert block.records == len(records) == len(spans)
        assert block.last or data.endswith(b"\n")
        assert len(data) <= size or data.count(b"\n") <= 1
        found += [json.loads(data[start:end]) for start, end in spans]
    assert found == [json.loads(line) for line in text.split("\n") if line.strip()]


def test_blocks_are_as_large_as_asked_for() -> None:
    records = [{"id": i, "name": f"n{i}", "sub": [{"id": 1}, {"id": 2}]} for i in range(2000)]
    for separators in ((",", ":"), (", ", ": ")):
        source = json.dumps(records, separators=separators).encode()
        blocks = texts.split("json", source, 4096)
        assert sum(b.records or 0 for b in blocks) == 2000
        assert all(4000 < len(b.data) <= 4096 for b in blocks[:-1])


def test_white_space_behind_a_document_may_be_large() -> None:
    for text in ("[1, 2]", "[]", '{"a": 1, "b": 2}'):
        blocks = texts.split("json", text.encode() + b" \n" * 500, 64)
        assert all(b.records is not None for b in blocks)
        blocks = texts.split("json", text.encode() + b" \n" * 500 + b"x", 64)
        assert blocks[-1].records is None


@pytest.mark.parametrize("bad", ["[1,2}", '["a', "[1,2]]", "[1] [2]", "{", '{"a":1'])
def test_a_document_that_is_no_json_has_no_records_at_its_end(bad: str) -> None:
    assert texts.split("json", bad.encode(), 1000)[-1].records is None


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": NaN}',
        b"[NaN, -Infinity, 1]",
        b"[%s]" % (b"9" * 5000),
        b'{"a": "\xff\xfe", "b": "\x01"}',
        b'["\\ud800", "\\q"]',
        b'[1,, 2] {"a" 1}',
        b"[" * 3000 + b"]" * 3000,
        b'{"a": 1}, {"b": 2}',
        b"[01, 1.]",
        b'{"a": 1, "a": 2}\n',
    ],
)
def test_records_are_as_many_whoever_counts_them(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many small files the first are counted by another parser than the rest."""
    found = []
    for parsed in (0, 1 << 30):
        monkeypatch.setattr(json_split._Parsed, "so_far", parsed)
        blocks = FORMATS.get("json").split(io.BytesIO(text).read, 4096)
        found.append([block.records for block in blocks])
    assert found[0] == found[1]


def test_depth_beyond_every_parser_can_be_cut() -> None:
    deep = b"[" * 5000 + b"]" * 5000
    source = b"[" + b",".join([deep] * 5) + b"]"
    blocks = texts.split("json", source, 12_000)
    assert [b.records for b in blocks] == [1] * 5


@pytest.mark.parametrize("size", [7, 64, 1000])
@pytest.mark.parametrize(
    ("name", "source", "records"),
    [
        ("ndjson", b'"' + b"a" * 5000 + b'"\n1\n2\n', [1, 1, 1]),
        ("ndjson", b"1\n" + b"7" * 5000, [1, 1]),
        ("json", b'[1, "' + b'a],{\\"' * 1000 + b'", 2, 3]', [1, 1, 1, 1]),
        ("json", b"[" + b"[1,[2]]," * 3 + b"[" + b'{"a": "]"},' * 900 + b"1], 5]", [1] * 5),
        ("json", b'{"a":[' + b"1," * 4000 + b'1],"b":2}', [1, 1]),
        ("json", b'["' + b"\\\\" * 3000 + b'"]', [1]),
        ("csv", b'a,b\n1,"' + b'x,""\n' * 1000 + b'"\n2,3\n', [1, 1]),
    ],
)
def test_a_record_larger_than_the_limit_comes_in_pieces(
    monkeypatch: pytest.MonkeyPatch, name: str, source: bytes, records: list[int], size: int
) -> None:
    monkeypatch.setattr(splitting, "MAX_BLOCK", 2000)
    blocks = texts.split(name, source, size)
    pieces = [b for b in blocks if b.partial]
    assert pieces
    assert not pieces[0].continued
    assert all(b.continued and b.records == 0 for b in pieces[1:])
    assert sum(b.records or 0 for b in blocks) == len(records)
    assert all(len(b.data) <= 2000 for b in blocks)


@pytest.mark.parametrize("name", ["json", "ndjson", "csv", "msgpack"])
def test_the_place_of_a_record_larger_than_the_limit(name: str) -> None:
    half = writing("cbor", name)
    first = SourceBlock(b"[", 1, 7000, records=1, first_record=12, partial=True)
    second = first._replace(offset=9000, first_record=13, continued=True)
    for block, place in (first, "record 12, at byte 7000,"), (second, "record 12, at byte 9000,"):
        with pytest.raises(
            RefusedError, match=f'{place} is larger than 64 MiB; pack.*serializer="raw"'
        ):
            half.encode(block)


def test_a_reader_is_asked_for_no_more_than_needed() -> None:
    source = io.BytesIO(b"1\n" * 50_000)
    most = 0
    for block in FORMATS.get("ndjson").split(source.read, 1000):
        most = max(most, source.tell() - block.offset)
    assert most <= 2001


@pytest.mark.parametrize("folder", ["json", "ndjson", "tabular", "conformance"])
@pytest.mark.parametrize("size", [1 << 10, 1 << 16])
def test_real_files_are_cut(shared_data: Path, folder: str, size: int) -> None:
    cut = 0
    for path in (shared_data / folder).rglob("*"):
        entry = FORMATS.by_extension(path.name)
        if entry is not None and path.is_file():
            texts.split(entry.name, path.read_bytes(), size)
            cut += 1
    assert cut


def test_a_frame_that_somebody_holds_is_in_nobodys_way() -> None:
    """As dask's profiler does, with the view in it that was read into: it was a BufferError."""
    frames: list[FrameType] = []

    class Held(io.BytesIO):
        def readinto(self, view: Any) -> int:
            frames.append(sys._getframe())
            return super().readinto(view)

    source, packed, back = b'{"n": 1}\n' * 99, io.BytesIO(), io.BytesIO()
    serialpack.pack(Held(source), packed, format="ndjson", block_size=256)
    packed.seek(0)
    serialpack.unpack(packed, back)
    assert frames
    assert back.getvalue() == source
