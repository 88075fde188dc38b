"""The rough shape of files: keys of large objects, and what is in compressed ones."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zstandard

import serialpack
from serialpack.formats.json import keys as jsonkeys
from serialpack.inspection.info import Shape
from serialpack.inspection.look import LARGE_SAMPLE, SAMPLE

LONG = "x" * (SAMPLE + 1000)


def shape(data: bytes, name: str = "a.json", folder: Path | None = None) -> Shape:
    source: Any = io.BytesIO(data)
    if folder is not None:
        source = folder / name
        source.write_bytes(data)
    found = serialpack.inspect(source).shape
    assert found is not None
    return found


LARGE: list[Any] = [
    {"first": LONG, "n": 1, "x": 1.5, "b": True, "no": None, "list": [1], "map": {"inner": 2}},
    {"first": [{"deep": LONG, "other": [1, 2]}], "n": -1, "last": "a"},
    {f"k{n}": {"a": list(range(40))} for n in range(3000)},
    {'q"\\': LONG, "ä": '"}],{', "after": "\\"},
]


def types_of(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return {
        key: (names.get(type(value), "null" if value is None else "object"),)
        for key, value in document.items()
    }


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("document", LARGE, ids=range(len(LARGE)))
def test_the_keys_of_a_large_object_are_found_wherever_they_stand(
    document: dict[str, Any], indent: int | None
) -> None:
    for ascii in (True, False):
        data = json.dumps(document, indent=indent, ensure_ascii=ascii).encode()
        assert len(data) > SAMPLE
        found = shape(data)
        assert found.fields == types_of(document)
        assert (found.records_seen, found.whole) == (1, True)
        assert found.looked_at == len(data)


def test_the_keys_of_a_first_record_that_is_large_are_found() -> None:
    record = {"a": LONG, "b": 1}
    for data in (json.dumps([record, {"c": 1}]), json.dumps(record) + '\n{"c": 1}\n'):
        found = shape(data.encode())
        assert found.fields == {"a": ("string",), "b": ("integer",)}
        assert not found.whole


def test_many_small_records_are_told_as_before() -> None:
    lines = b'{"a": 1}\n' * 60_000
    array = json.dumps([{"a": 1}] * 60_000).encode()
    for data in (lines, array):
        found = shape(data)
        assert found.fields == {"a": ("integer",)}
        assert found.records_seen > 1000
        assert found.looked_at < SAMPLE
        assert not found.whole


@pytest.mark.parametrize(
    ("data", "types"),
    [
        (b"[1, 2.5, 3]", ("integer", "number")),
        (b'["a", {"b": 1}]', ("string", "object")),
        (b"[1, 2]\n[3]\n", ("array",)),
        (b'{"a": 1}', ("object",)),
        (b"nothing of that", ()),
    ],
)
def test_what_records_are_is_told(data: bytes, types: tuple[str, ...]) -> None:
    assert shape(data).record_types == types


@pytest.mark.parametrize("size", [SAMPLE, LARGE_SAMPLE])
@pytest.mark.parametrize("format", ["msgpack", "cbor"])
def test_the_fields_of_a_large_array_of_messages_are_found(format: str, size: int) -> None:
    """It was taken for a message that is cut, and explained value by value, in seconds."""
    records = [{"id": n, "name": "x" * 20, "at": [n, 1.5]} for n in range(size // 30)]
    pack = msgpack.packb if format == "msgpack" else pytest.importorskip("cbor2").dumps
    found = serialpack.inspect(io.BytesIO(pack(records)), format=format).shape
    assert found is not None
    assert found.fields == {"id": ("integer",), "name": ("string",), "at": ("array",)}
    assert found.record_types == ("object",)
    assert 0 < found.looked_at <= SAMPLE
    assert not found.whole


def test_the_keys_of_a_large_map_of_msgpack_are_found() -> None:
    document = {"first": LONG, "list": [1] * 9, "n": 1}
    found = serialpack.inspect(io.BytesIO(msgpack.packb(document)), format="msgpack").shape
    assert found is not None
    assert found.fields == types_of(document)


def test_a_document_of_any_size_is_looked_at_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its keys are told as far as was looked, and how far that was."""
    monkeypatch.setattr("serialpack.inspection.look.MOST_READ", 24 << 20)
    row = b'{"k": [1, 2, {"x": 3}], "t": "text"},'
    values = b"[" + row * ((10 << 20) // len(row)) + b"{}]"
    data = b'{"a": %b, "b": %b, "late": 1, "c": %b, "too late": 1}' % (values, values, values)
    (tmp_path / "a.json").write_bytes(data)
    tracemalloc.start()
    try:
        found = shape(data, folder=tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert list(found.fields) == ["a", "b", "late", "c"]
    assert (found.looked_at, found.whole) == (24 << 20, False)
    assert peak < 100 << 20
    # No more of a pipe is waited for than a block.
    assert shape(data).looked_at <= LARGE_SAMPLE + 1


def test_keys_without_end_are_bounded() -> None:
    data = b"{" + b",".join(b'"k%d":%d' % (n, n) for n in range(60_000)) + b"}"
    found = shape(data)
    assert len(found.fields) == jsonkeys.MOST_KEYS
    assert not found.whole


@pytest.mark.parametrize("piece", [1, 2, 7, 100, 1 << 20])
def test_keys_are_found_across_the_bounds_of_pieces(piece: int) -> None:
    text = json.dumps(
        {'a\\"b': "\\", "c": [{"d": "}"}, "]"], "e" * 300: -1, "f": 1e5, "g": {}}, indent=1
    ).encode()
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
    start = jsonkeys.object_start(text)
    assert start is not None
    if len(pieces[0]) < start.offset:
        pieces = [
            text[: start.offset],
            *(bytes([byte]) for byte in text[start.offset :]),
        ]
    keys = jsonkeys.keys_of(pieces, start.offset)
    assert keys.types == {
        'a\\"b': "string", "c": "array", "e" * 300: "integer", "f": "number", "g": "object",
    }  # fmt: skip
    assert keys.ended
    assert keys.alone
    assert keys.looked_at == len(text)


@pytest.mark.parametrize("end", range(0, 60, 3))
def test_broken_text_tells_the_keys_before_it(end: int) -> None:
    text = b'{"a": 1, "b": [1, {"c": 2}], "d": nonsense, "e": "open, "f": 1}'[:end]
    keys = jsonkeys.keys_of([text], 1)
    assert set(keys.types) <= {"a", "b", "d", "e"}


CSV = b"id,name\n" + b"".join(b"%d,n%d\n" % (n, n) for n in range(500))
PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gz", gzip.compress),
    "bzip2": ("bz2", bz2.compress),
    "xz": ("xz", lzma.compress),
    "zstd": ("zst", zstandard.ZstdCompressor().compress),
}


@pytest.mark.parametrize("compression", [*PACKED, "LZ4"])
def test_what_is_in_a_compressed_file_is_told(tmp_path: Path, compression: str) -> None:
    if compression == "LZ4":
        frame = pytest.importorskip("lz4.frame", reason="the extra lz4 is not installed")
        extension, compress = "lz4", frame.compress
    else:
        extension, compress = PACKED[compression]
    found = shape(compress(CSV), f"rows.csv.{extension}", tmp_path)
    assert found.format == "bytes"  # what pack takes it for
    inside = found.inside
    assert inside is not None
    assert inside.look is not None
    assert (inside.compression, inside.look.format) == (compression, "csv")
    assert inside.look.fields == {"id": ("string",), "name": ("string",)}
    assert (inside.look.records_seen, inside.look.whole) == (500, True)
    assert found.damage is None
    # Without a name, by what is in it.
    piped = shape(compress(b'{"a": 1}\n{"a": 2}\n'), "pipe").inside
    assert piped is not None
    assert piped.look is not None
    assert piped.look.format == "ndjson"


@pytest.mark.parametrize("compression", PACKED)
def test_a_compressed_file_that_is_damaged_tells_what_is_before_it(
    tmp_path: Path, compression: str
) -> None:
    extension, compress = PACKED[compression]
    whole = compress(CSV)
    behind = shape(whole + b"behind it", f"a.csv.{extension}", tmp_path)
    assert behind.damage is not None
    assert behind.inside is not None
    assert behind.inside.look is not None
    assert behind.inside.look.records_seen == 500
    cut = shape(whole[: len(whole) // 2], f"b.csv.{extension}", tmp_path)
    assert cut.damage is not None


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(200 << 20), 1)
    tracemalloc.start()
    try:
        found = shape(bomb, "a.gz", tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.inside is not None
    assert found.inside.look is not None
    assert peak < 60 << 20


def test_a_name_that_says_more_than_the_content_is_no_error(tmp_path: Path) -> None:
    found = shape(b"a,b\n1,2\n", "rows.csv.gz", tmp_path)
    assert found.inside is None
    assert found.damage is None


def test_what_is_compressed_is_told_of_what_is_packed_too(tmp_path: Path) -> None:
    """Of a packed volume.nii.gz, as such files are, nothing was told but that it is bytes."""
    np = pytest.importorskip("numpy")
    npy, rows = io.BytesIO(), np.arange(6.0).reshape(2, 3)
    np.save(npy, rows)
    cut = gzip.compress(npy.getvalue())[:60]
    files = {"a.npy.gz": gzip.compress(npy.getvalue()), "b.json.gz": gzip.compress(b"[1]")}
    for name, data in (files | {"cut.npy.gz": cut, "no.npy.gz": b"no gzip"}).items():
        (tmp_path / name).write_bytes(data)
        serialpack.pack(tmp_path / name, tmp_path / f"{name}.spk")
    (array,) = serialpack.inspect(tmp_path / "a.npy.gz.spk").members
    assert (array.format, array.holds) == ("bytes", "npy in gzip")
    assert array.array is not None
    assert (array.array.words, array.array.maximum) == ("<f8, 2 x 3, C order", 5.0)
    (other,) = serialpack.inspect(tmp_path / "b.json.gz.spk").members
    assert (other.holds, other.array) == ("json in gzip", None)
    for name in ("cut", "no"):
        (none,) = serialpack.inspect(tmp_path / f"{name}.npy.gz.spk").members
        assert none.array is None
