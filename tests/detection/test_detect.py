"""What a file is, by name and by content."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.detection.by_content import recognised
from serialpack.detection.detect import detect, looks_like
from serialpack.formats import FORMATS
from serialpack.formats.tables.flatbuffers import begins_stream
from tests.archives import a_tar, a_zip


@pytest.mark.parametrize(
    ("name", "head", "found"),
    [
        ("a.json", b'{"a": 1}', "json"),
        ("a.JSON", b"[1, 2", "json"),
        ("a.json", b"", "json"),
        ("a.json", b"not json", "json"),
        ("a.json", b'{"a": 1}\n{"a": 2}\n', "ndjson"),
        ("a.json", b'{"a": 1}\n\n[2]\n{"a": "cut o', "ndjson"),
        ("a.json", b"1\n2\n", "ndjson"),
        ("a.json", b'"a"\r\n\r\n{"b": 1}\r\n', "ndjson"),
        ("a.json", b"1\n", "json"),
        ("a.json", b'"a b"\n\n \n', "json"),
        ("a.json", b"12\n3x\n", "json"),
        ("a.json", b'{"a": ' + b"9" * 5000 + b"}", "json"),
        ("a.json", b"\x1f\x8b\x08\x00", "bytes"),
        ("a.geojson", b'{\n"type": "x"}', "json"),
        ("a.ndjson", b'{"a": 1}\n{"a": 2}\n', "ndjson"),
        ("a.jsonl", b'[\n {"a": 1},\n', "json"),
        ("a.jsonl", b'{"a": 1, "b": [' + b"1, " * 1000, "ndjson"),
        ("a.jsonl", b"1\n2\n", "ndjson"),
        ("a.csv", b"a,b\n1,2\n", "csv"),
        ("a.csv", b"[1]", "csv"),
        ("a.csv", b"\x00\x01", "bytes"),
        ("a.tsv", b"a\tb\n", "tsv"),
        ("a.msgpack", b"\x81\xa1a\x01", "msgpack"),
        ("a.pkl", pickle.dumps({"a": 1}, 2), "pickle"),
        ("a.PICKLE", pickle.dumps({"a": 1}, 0), "pickle"),
        ("a.pkl", gzip.compress(pickle.dumps(1), mtime=0), "bytes"),
        ("model.bin", pickle.dumps(["a framed one"], 4), "pickle"),
        (None, pickle.dumps({"a": 1}, 5), "pickle"),
        (None, pickle.dumps({"a": 1}, 2), "bytes"),
        ("a.json", pickle.dumps(["a framed one"], 4), "bytes"),
        ("a.cbor", b"\xa1\x61a\x01", "cbor"),
        ("a.bin", b"\xd9\xd9\xf7\xa1\x61a\x01", "cbor"),
        (None, b"\xa1\x61a\x01", "bytes"),
        ("a.bson", b"\x0c\0\0\0\x10a\0\1\0\0\0\0", "bson"),
        (None, b"\x0c\0\0\0\x10a\0\1\0\0\0\0", "bytes"),
        ("a.ser", b"\xac\xed\0\5w\2\0C", "java"),
        (None, b"\xac\xed\0\5w\2\0C", "java"),
        ("a.avro", b"Obj\x01\x04", "avro"),
        (None, b"Obj\x01\x04", "avro"),
        (None, b"Object", "bytes"),
        ("a.parquet", b"PAR1\x15\x04\x15", "parquet"),
        (None, b"PAR1\x15\x04\x15", "parquet"),
        (None, b"PAR1,PAR2\n", "bytes"),
        ("a.feather", b"ARROW1\0\0\xff\xff\xff\xff", "arrow"),
        (None, b"ARROW1\0\0\xff\xff\xff\xff", "arrow"),
        (None, b"ARROW1 is a file\n", "bytes"),
        ("a.pb", b"\x02\x20\x01", "protobuf"),
        (None, b"\x02\x20\x01", "bytes"),
        ("a.xml", b"<map></map>\n", "typed-xml"),
        ("a.xml", b"<?xml version='1.0'?>\n<!-- c -->\n<list><int>1</int>", "typed-xml"),
        ("a.xml", b'<map><int key="a">1</int></map>', "typed-xml"),
        ("a.xml", b"<string>" + b"x" * 5000, "typed-xml"),
        ("a.xml", b"<map version='2'><int key=\"a\">1</int></map>", "xml"),
        ("a.xml", b"<string xmlns='urn:x'>a</string>", "xml"),
        ("a.xml", b"<list><item/></list>", "xml"),
        ("a.db", b"SQLite format 3\0\x10", "sqlite"),
        ("a.sqlite3", b"", "sqlite"),
        (None, b"SQLite format 3\0\x10", "sqlite"),
        ("a.db", b"\0\x05\x31\x62", "bytes"),
        ("a.xml", b"\0\1\2", "bytes"),
        ("a.svg", b"<?xml version='1.0'?><svg/>", "xml"),
        (None, b"\xef\xbb\xbf<?xml version='1.0'?><svg/>", "xml"),
        (None, b"<svg/>", "bytes"),
        ("a.txt", b"a,b\n1,2\n", "bytes"),
        ("a.txt", b'{"a": 1}', "json"),
        (None, b'\xef\xbb\xbf [{"a": 1}, {"b"', "json"),
        (None, b'{"a": 1}\n{"a": 2}\n', "ndjson"),
        (None, b'{"a": 1}\r\n{"a": 2}\r\n', "ndjson"),
        (None, b"[network]\nkey = 1\n", "bytes"),
        (None, b"[2023-10-25 00:44] started\n", "bytes"),
        (None, b"{ return 1; }", "bytes"),
        (None, b"a,b\n1,2\n", "bytes"),
        (None, b"1\n2\n", "bytes"),
        (None, b"", "bytes"),
        ("README", b"hello", "bytes"),
        ("weird.name.", b"hello", "bytes"),
    ],
)
def test_detect(name: str | None, head: bytes, found: str) -> None:
    assert detect(name, head) == found
    assert found in FORMATS


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    return file.getvalue()


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"", "an empty file"),
        (gzip.compress(b"a", mtime=0), "gzip"),
        (bz2.compress(b"a"), "bzip2"),
        (lzma.compress(b"a"), "xz"),
        (b"\x28\xb5\x2f\xfd\x20", "zstd"),
        (b"\x50\x2a\x4d\x18", "zstd or lz4"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (a_zip(), "zip"),
        (a_tar(), "tar"),
        (_npy(), "a NumPy array: <f8, 3, C order"),
        (b"\x93NUMPY\x01\x00", "a NumPy array"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"GIF89a", "GIF"),
        (b"%PDF-1.7", "PDF"),
        (b"\x7fELF", "an ELF program"),
        (b"PAR1", "Parquet"),
        (b"ARROW1\0\0", "Arrow"),
        (b"Obj\x01", "Avro"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"\xac\xed\x00\x05", "Java serialization"),
        *[(pickle.dumps([{"a": 1}, 2.0], n), "a Python pickle") for n in (2, 3, 4, 5)],
        (b'{"a": [1, ', "JSON"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON"),
        (b'<?xml version="1.0"?><a/>', "XML"),
        (b"<a><b>", "XML"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"a,b\n1,2\n", "CSV"),
        (b"a\tb\n1\t2\n", "TSV"),
        (b"hello\nworld\n", "text"),
        ("\u00e9t\u00e9".encode(), "text"),
        (b"\xff\xfea\x00", "UTF-16 text"),
        (b"\x00\x01\x02", None),
    ],
)
def test_looks_like(head: bytes, words: str | None) -> None:
    assert looks_like(head) == words


def test_real_files(shared_data: Path) -> None:
    for folder, formats in (
        ("json", {"json"}),
        ("ndjson", {"ndjson"}),
        ("tabular", {"json", "csv", "tsv", "bytes"}),
        ("avro", {"avro"}),
        ("java-ser", {"java"}),
        ("pickle", {"pickle"}),
    ):
        for path in (shared_data / folder).iterdir():
            if path.is_file():
                head = path.read_bytes()[:65536]
                assert detect(path.name, head) in formats, path.name
                if folder in ("json", "avro", "java-ser", "pickle"):
                    words = {"avro": "Avro", "java-ser": "Java serialization", "json": "JSON"}
                    expected = words.get(folder, "a Python pickle")
                    assert looks_like(head) in (expected, "text"), path.name


def _stream(*, legacy: bool, columns: int) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({f"column {n}": [n, n + 1] for n in range(columns)})
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(use_legacy_format=legacy)
    with pa.ipc.new_stream(out, table.schema, options=options) as writer:
        writer.write_table(table)
    return out.getvalue()


@pytest.mark.parametrize("columns", [0, 1, 3, 500])
def test_a_stream_of_arrow_s_is_known_by_its_first_message(columns: int) -> None:
    """Also one from before version 0.15, which pack and inspect took for bytes."""
    for legacy in (False, True):
        head = _stream(legacy=legacy, columns=columns)[:4096]
        assert detect(None, head) == detect("a.dat", head) == "arrow"


@given(junk=st.binary(min_size=4, max_size=60), size=st.integers(0, 300), marked=st.booleans())
def test_other_bytes_are_no_stream_of_arrow_s(junk: bytes, size: int, marked: bool) -> None:
    """Also behind the mark, and a length that may be one."""
    head = b"\xff\xff\xff\xff" * marked + (8 * size + 4 * (not marked)).to_bytes(4, "little")
    assert detect(None, head + junk) == "bytes"
    assert recognised(head + junk, whole=True).format != "arrow"


def test_a_stream_begins_with_a_schema() -> None:
    """A batch of rows is a message too, and begins none."""
    data = _stream(legacy=False, columns=1)
    assert begins_stream(data)
    batch = data.index(b"\xff\xff\xff\xff", 4 + int.from_bytes(data[4:8], "little"))
    assert not begins_stream(data[batch:])
    assert not begins_stream(data[:12])


@pytest.mark.parametrize("odd", [b"\x0b", b"\x1c", b"\x1a", b"\x01"])
def test_a_control_character_makes_no_other_file_of_a_table(odd: bytes) -> None:
    """Behind the first kilobytes it did not either. NUL does: UTF-16 has it."""
    assert detect("a.tsv", b"a\tb\n1\tx" + odd + b"y\n") == "tsv"
    assert detect("a.tsv", b"a\tb\n1\tx" + odd + b"\xff\n") == "bytes"
    assert detect("a.tsv", b"a\tb\n1\tx" + odd + b"\0\n") == "bytes"
    assert detect("a.json", b'["x' + odd + b'"]') == "bytes"


def test_xml_is_not_typed_for_an_element_behind_a_later_comment() -> None:
    head = (
        b"<?xml version='1.0'?>\n<!-- a -->\n<config><!-- b -->\n<list><int>1</int></list></config>"
    )
    assert detect("a.xml", head) == "xml"
    assert detect("a.xml", b"<!-- a -->\n<!-- b -->\n<list><int>1</int></list>") == "typed-xml"


@pytest.mark.parametrize("first", [b"[Content_Types].xml", b"_rels/.rels", b"xl/workbook.xml"])
def test_an_office_document_is_known_by_any_of_its_first_files(first: bytes) -> None:
    assert looks_like(b"PK\x03\x04" + bytes(26) + first) == "an Office document"
    assert looks_like(b"PK\x03\x04" + bytes(26) + b"data/a.csv") == "zip"
