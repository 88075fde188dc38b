"""NumPy's .npy files: rows as records, else the very bytes; one line for a header that lies."""

from __future__ import annotations

import ast
import gzip
import io
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.api import first_records
from serialpack.detection.detect import detect, looks_like
from serialpack.errors import InputError, RefusedError, SerialpackError, UsageError
from serialpack.formats import FORMATS
from serialpack.formats.arrays import rows
from serialpack.formats.arrays.header import _said, read_header
from serialpack.formats.arrays.zipped import zip_of
from serialpack.formats.base import ValueFormat


def saved(array: Any, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), version)
    return file.getvalue()


def lying(header: str, data: bytes = b"", version: int = 1) -> bytes:
    text = header.encode("latin-1") + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


def converted(data: bytes, to: str = "json") -> bytes:
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, format="npy", to=to)
    return out.getvalue()


RECORDS = np.array(
    [(1, 2.5, "x", [1, 2]), (-1, 0.1, "", [3, 4])],
    [("a", "<i4"), ("b", ">f8"), ("c", "U3"), ("d", "u1", (2,))],
)
ARRAYS: dict[str, tuple[Any, Any]] = {
    "one dimension": (np.arange(3), [0, 1, 2]),
    "one item": (np.arange(1), [0]),
    "no dimension": (np.array(3), 3),
    "nothing": (np.zeros(0), []),
    "no rows": (np.zeros((0, 3)), []),
    "rows of nothing": (np.zeros((2, 0)), [[], []]),
    "two dimensions": (np.arange(6.0).reshape(2, 3), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
    "Fortran": (np.asfortranarray(np.arange(6).reshape(2, 3)), [[0, 1, 2], [3, 4, 5]]),
    "three dimensions": (np.arange(4).reshape(2, 1, 2), [[[0, 1]], [[2, 3]]]),
    "big-endian": (np.arange(3, dtype=">i2"), [0, 1, 2]),
    "unsigned": (np.array([2**64 - 1], "u8"), [2**64 - 1]),
    "half": (np.array([0.1], "f2"), [0.0999755859375]),
    "booleans": (np.array([True, False]), [True, False]),
    "texts": (np.array(["a", "\u00e9b"]), ["a", "\u00e9b"]),
    "records": (
        RECORDS,
        [{"a": 1, "b": 2.5, "c": "x", "d": [1, 2]}, {"a": -1, "b": 0.1, "c": "", "d": [3, 4]}],
    ),
    "table of records": (
        np.array([[(1,)]], [("a", "i1")]),
        [[{"a": 1}]],
    ),
    "one record": (np.array((1, 2), "i1,i1"), {"f0": 1, "f1": 2}),
}


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("name", ARRAYS)
def test_rows_are_records(name: str, version: tuple[int, int]) -> None:
    """``--to json`` of an array did not exist."""
    array, expected = ARRAYS[name]
    data = saved(array, version)
    assert json.loads(converted(data)) == expected
    again = [*msgpack.Unpacker(io.BytesIO(converted(data, "msgpack")))]
    assert again == (expected if array.shape else [expected]) or again == [expected]


@pytest.mark.parametrize("name", ARRAYS)
def test_the_very_bytes_come_back(name: str) -> None:
    data = saved(ARRAYS[name][0])
    packed, out = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(data), packed)
    packed.seek(0)
    assert serialpack.inspect(packed).members[0].format == "npy"
    serialpack.unpack(io.BytesIO(packed.getvalue()), out)
    assert out.getvalue() == data


def test_a_table_of_texts_is_csv() -> None:
    data = saved(np.array([("x", "1,2")], [("a", "U3"), ("b", "U3")]))
    assert converted(data, "csv") == b'a,b\nx,"1,2"\n'


def test_times_are_the_very_times_or_refused() -> None:
    out = io.BytesIO()
    for unit in ("D", "s", "us", "ns"):
        data = saved(np.array(["2020-01-02", "NaT"], f">M8[{unit}]"))
        out = io.BytesIO(converted(data, "yaml"))
        assert out.getvalue().startswith(b"- !!timestamp 2020-01-02")
    for times in (np.array([1], "m8[ps]"), np.array([10**6], "M8[Y]")):
        with pytest.raises(RefusedError, match="no value holds"):
            converted(saved(times), "yaml")


def test_no_bit_of_a_nan_is_lost_unsaid() -> None:
    """As a double a NaN that signals is another."""
    quiet = np.array([0x7FC00001, 0xFFC12345], ">u4").view(">f4")
    again = msgpack.unpackb(converted(saved(quiet), "msgpack"))
    assert np.array(again).astype(">f4").tobytes() == quiet.tobytes()
    for bits, kind in ((0x7F800001, ">f4"), (0x7F800001, ">c8")):
        signals = np.array([bits] * 2, ">u4").view(kind)
        with pytest.raises(RefusedError, match="NaN that signals"):
            converted(saved(signals), "pickle")


@pytest.mark.parametrize("array", [np.array([1], "g"), np.array([1], "G")], ids=["g", "G"])
def test_long_floats_are_refused(array: Any) -> None:
    with pytest.raises(RefusedError, match="more than 64 bits"):
        converted(saved(array))


@pytest.mark.parametrize(
    "data",
    [
        saved(np.array([{}], object)),
        lying("{'descr':[('a','|O')],'fortran_order':False,'shape':(1,)}"),
    ],
    ids=["objects", "in a record"],
)
def test_objects_are_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(RefusedError, match="Python objects") as caught:
        converted(data)
    assert "\n" not in str(caught.value)


WHOLE = saved(np.arange(12.0).reshape(4, 3))
HEAD = "{'descr': '<f8', 'fortran_order': False, 'shape': "
BAD = {
    "cut in the magic": WHOLE[:4],
    "cut in the lead": WHOLE[:9],
    "cut in the header": WHOLE[:60],
    "cut in a row": WHOLE[:-5],
    "cut behind a row": WHOLE[:-24],
    "without items": WHOLE[:-96],
    "more behind": WHOLE + b"x",
    "version 9": WHOLE[:6] + b"\x09" + WHOLE[7:],
    "a long header": b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b" " * 99,
    "no literal": lying("os.abort()"),
    "deep": lying("[" * 9000),
    "no map": lying("[1]"),
    "no shape": lying("{'descr': '<f8', 'fortran_order': False}"),
    "a negative shape": lying(HEAD + "(-1, -1)}"),
    "a shape of text": lying(HEAD + "('1',)}"),
    "true for a shape": lying(HEAD + "(True,)}", bytes(8)),
    "a shape that overflows": lying(HEAD + f"({2**40}, {2**40})" + "}"),
    "a shape beyond the data": lying(HEAD + f"({2**60},)" + "}", bytes(8)),
    "many rows of nothing": lying(HEAD + f"({2**60}, 0)" + "}"),
    "an overflow of nothing": lying(HEAD + f"(0, {2**60}, {2**60})" + "}"),
    "order": lying("{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}", bytes(8)),
    "no type": lying("{'descr': '<q9', 'fortran_order': False, 'shape': (1,)}", bytes(8)),
    "a size that is none": lying(
        "{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}", bytes(3)
    ),
    "a wide item": lying(f"{{'descr': '|S{2**40}', 'fortran_order': False, 'shape': (1,)}}"),
    "more dimensions than any": lying(HEAD + f"{(1,) * 65}" + "}", bytes(8)),
    "a subarray of more than any memory": lying(
        "{'descr': ('<i4', (1099511627776, 99)), 'fortran_order': False, 'shape': (1,)}"
    ),
    "a subarray that is no field": lying(
        "{'descr': ('<i4', (2,)), 'fortran_order': False, 'shape': (1,)}", bytes(8)
    ),
    "a unit of no seconds": lying(
        "{'descr': '<M8[0s]', 'fortran_order': False, 'shape': (1,)}", bytes(8)
    ),
    "a subarray of a negative length": lying(
        "{'descr': [('a', '<i4', (-1,))], 'fortran_order': False, 'shape': (1,)}", bytes(4)
    ),
    "two fields of one name": lying(
        "{'descr': [('a', '<i4'), ('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", bytes(8)
    ),
    "no character": lying(
        "{'descr': '>U1', 'fortran_order': False, 'shape': (1,)}", b"\x00\x11\x00\x00"
    ),
    "no unit of time": lying(
        "{'descr': '<M8[foo]', 'fortran_order': False, 'shape': (1,)}", bytes(8)
    ),
    "times without a unit": lying(
        "{'descr': '<M8', 'fortran_order': False, 'shape': (1,)}", bytes(8)
    ),
    "a type of types": lying("{'descr': [[]], 'fortran_order': False, 'shape': (1,)}"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_lies_is_one_line_as_values_and_kept_as_bytes(name: str, tmp_path: Path) -> None:
    with pytest.raises(SerialpackError) as caught:
        converted(BAD[name])
    assert isinstance(caught.value, InputError | RefusedError)
    assert "\n" not in str(caught.value)
    (tmp_path / "a.npy").write_bytes(BAD[name])
    serialpack.inspect(tmp_path / "a.npy")
    serialpack.pack(tmp_path / "a.npy", tmp_path / "a.spk")
    serialpack.unpack(tmp_path / "a.spk", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == BAD[name]


def test_a_large_array_is_read_in_blocks_of_rows() -> None:
    array = np.arange(30_000.0).reshape(-1, 3)
    data = saved(array)
    fmt = FORMATS.get("npy")
    assert isinstance(fmt, ValueFormat)
    blocks = list(fmt.split(io.BytesIO(data).read, 10_000, for_values=True))
    assert len(blocks) == 25
    assert b"".join(bytes(block.data) for block in blocks) == data
    assert [row for block in blocks for row in fmt.parse(block)] == array.tolist()
    assert all(len(block.data) <= 10_000 + len(blocks[1].context) for block in blocks)


def test_other_serializers_are_refused_not_guessed() -> None:
    with pytest.raises(
        UsageError, match=r'is an array of them; convert\(\.\.\., to="ndjson"\) takes'
    ):
        serialpack.pack(io.BytesIO(WHOLE), io.BytesIO(), serializer="msgpack", format="npy")


def test_inspect_shows_type_shape_and_order(tmp_path: Path) -> None:
    assert detect("a.npy", WHOLE) == detect(None, WHOLE) == "npy"
    assert looks_like(WHOLE) == "a NumPy array: <f8, 4 x 3, C order"
    assert looks_like(saved(ARRAYS["Fortran"][0])) == "a NumPy array: <i8, 2 x 3, Fortran order"
    assert looks_like(saved(np.array(3))) == "a NumPy array: <i8, one item, C order"
    assert looks_like(saved(RECORDS)) == "a NumPy array: records, 2, C order"
    (tmp_path / "a.npy").write_bytes(saved(RECORDS))
    shape = serialpack.inspect(tmp_path / "a.npy").shape
    assert shape is not None
    assert list(shape.fields) == ["a", "b", "c", "d"]


def test_the_head_is_a_corner(tmp_path: Path) -> None:
    """The records were said not to be told apart."""
    (tmp_path / "a.npy").write_bytes(saved(np.arange(36).reshape(3, 12)))
    out = io.BytesIO()
    first_records(tmp_path / "a.npy", out, 2)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines == [[*range(10), "..."], [*range(12, 22), "..."]]
    with pytest.raises(SerialpackError, match="not valid npy"):
        first_records(io.BytesIO(BAD["cut in a row"][:140]), io.BytesIO(), 2, format="npy")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (30,), (0, 3), (3, 0), (1, 2), (40, 30), (5, 14, 3, 12)])
def test_a_corner_is_read_alone(shape: tuple[int, ...], order: Any) -> None:
    """Of an array in Fortran order all was, and of one of more than 64 MiB nothing."""
    whole = np.arange(np.prod(shape, dtype=int), dtype=">i2").reshape(shape, order=order)
    data, asked = io.BytesIO(saved(whole)), list[int]()

    def read(size: int) -> bytes:
        asked.append(size)
        return data.read(size)

    found = FORMATS.get("npy").corner(read, 2)  # type: ignore[attr-defined]
    most = tuple(slice(length) for length in (2, *[11] * len(shape))[: len(shape)])
    assert found == whole[most].tolist()
    if shape == (40, 30):
        assert data.tell() == 128 + 2 * (41 if order == "C" else 10 * 40 + 2)
    if whole.size:
        data = io.BytesIO(saved(whole)[: -whole.nbytes])
        with pytest.raises(SerialpackError, match="ends too early"):
            FORMATS.get("npy").look_at_head(data.read, 2)


@pytest.mark.parametrize("descr", ["f8", "=f8", "|S0"])
def test_types_that_numpy_reads_but_does_not_write(descr: str, tmp_path: Path) -> None:
    """Types without an order of bytes were refused; of texts without a character no corner was."""
    items = np.arange(3.0) if "f" in descr else np.ndarray(3, "S0")
    said = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': (3,)}}"
    (tmp_path / "a.npy").write_bytes(lying(said, items.tobytes()))
    out, corner = io.BytesIO(), io.BytesIO()
    serialpack.convert(tmp_path / "a.npy", out, to="pickle")
    assert pickle.loads(out.getvalue()) == items.tolist()
    first_records(tmp_path / "a.npy", corner, 3)
    assert len(corner.getvalue().splitlines()) == 3
    assert serialpack.inspect(tmp_path / "a.npy").shape is not None


def test_a_type_that_is_none_is_shown() -> None:
    """What NumPy raised for it was."""
    data = lying("{'descr': '<f7', 'fortran_order': False, 'shape': (1,)}", bytes(7))
    for to in ("json", "npy"):
        with pytest.raises(SerialpackError, match=r"not valid npy: .* no type of .*: '<f7'"):
            serialpack.convert(io.BytesIO(data), io.BytesIO(), format="npy", to=to)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An array in Fortran order that is more than is read at once."""
    monkeypatch.setattr(rows, "MAX_BLOCK", 2000)
    return np.asfortranarray(np.arange(3000, dtype="<i4").reshape(-1, 2, 3))


@pytest.mark.parametrize("seen", ["file", "pipe", "packed", "gz"])
def test_rows_of_a_large_array_are_gathered(tmp_path: Path, large: Any, seen: str) -> None:
    """It was refused; a file is read where it is, all else from a copy."""
    data = saved(large)
    (tmp_path / "a.npy").write_bytes(data)
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(data))
    serialpack.pack(tmp_path / "a.npy", tmp_path / "a.npy.spk")
    names = {"file": "a.npy", "packed": "a.npy.spk", "gz": "a.npy.gz"}
    source: Any = tmp_path / names[seen] if seen in names else io.BytesIO(data)
    out = io.BytesIO()
    serialpack.convert(source, out, to="json", block_size=500)
    assert json.loads(out.getvalue()) == large.tolist()


@pytest.mark.parametrize(
    ("cut", "more", "words"),
    [
        (-1, b"", "its items take 12000 bytes, 11999 are there"),
        (None, b"x", "byte 12128: not valid npy: 1 byte is behind the array"),
    ],
)
def test_a_large_array_has_all_its_items_and_no_more(
    tmp_path: Path, large: Any, cut: int | None, more: bytes, words: str
) -> None:
    (tmp_path / "a.npy").write_bytes(saved(large)[:cut] + more)
    with pytest.raises(InputError, match=words):
        serialpack.convert(tmp_path / "a.npy", io.BytesIO(), to="json")


@pytest.mark.parametrize(
    "descr", ["'<f8'", "'a\\x62'", "'\n'", "'\0'", "[('a', '<i4')]", "'é'", "'\"'", "''", "'a''b'"]
)
@pytest.mark.parametrize(
    "shape", ["()", "(3,)", "(3)", "(2, 3)", "(2,3)", "(0, 4)", "(007,)", "(-1,)", "(٣,)", "(2, )"]
)
def test_a_header_as_usual_says_what_any_does(descr: str, shape: str) -> None:
    """One as NumPy writes it is not read as an expression of Python, and says or lacks the same."""
    text = f"{{'descr': {descr}, 'fortran_order': True, 'shape': {shape}, }}"
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        with pytest.raises((ValueError, SyntaxError)):
            _said(text)
    else:
        assert _said(text) == (found["descr"], found["fortran_order"], found["shape"])


@pytest.mark.parametrize("version", [1, 2])
def test_a_shape_that_python_2_wrote(version: int) -> None:
    said = b"{'descr': [('3L', '<i4')], 'fortran_order': False, 'shape': (2L, 1L), }\n"
    lead = b"\x93NUMPY" + bytes([version, 0]) + len(said).to_bytes(2 * version, "little")
    header = read_header(lead + said)
    assert (header.shape, header.descr) == ((2, 1), [("3L", "<i4")])
    with pytest.warns(UserWarning, match="Python 2"):
        assert np.load(io.BytesIO(lead + said + bytes(8))).shape == (2, 1)


@pytest.mark.parametrize("descr", ["'<i4'", "[('a', '<i4')]"])
@pytest.mark.parametrize("shape", [(2, 1 << 40, 0), (1 << 40, 0), (1, 1 << 30, 0, 1 << 20)])
def test_lists_that_take_no_bytes_are_counted(descr: str, shape: tuple[int, ...]) -> None:
    """Of a header of 100 bytes as many were made as it said, in any memory."""
    data = lying(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}")
    for what in (data, zip_of({"a": data})):
        found = serialpack.inspect(io.BytesIO(what)).shape
        assert found is not None
    with pytest.raises(InputError, match="rows of no bytes"):
        converted(data)
    with pytest.raises(InputError, match="rows of no bytes"):
        serialpack.convert(io.BytesIO(zip_of({"a": data})), io.BytesIO(), format="npz", to="json")
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(data), out, format="npy", to="npz")
    assert np.load(io.BytesIO(out.getvalue()))["arr_0"].shape == shape


def test_the_head_of_a_header_that_lies_takes_no_memory() -> None:
    """All that it asked for was taken before anything was read, and so there was none left."""
    said = f"{{'descr': '|V{(1 << 31) - 1}', 'fortran_order': False, 'shape': {(9,) * 6}}}"
    data = lying(said, bytes(99))
    with pytest.raises(InputError, match="it ends too early"):
        first_records(io.BytesIO(data), io.BytesIO(), 3, format="npy")
