"""Parquet and Arrow files that are damaged or hostile: what is refused, and what is too much."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError
from serialpack.formats.base import Unheld
from serialpack.formats.shared.document import Malformed
from tests.formats.hostile import said
from tests.formats.table_files import NAMES, file_of, stream_of, table_format

pa = pytest.importorskip("pyarrow")


TABLE = pa.table({"a": [1, 2], "b": ["x", "y"]})


def _bad(name: str) -> list[tuple[bytes, str]]:
    good = file_of(name, TABLE)
    cases = [
        (b"", "begin"),
        (good[:-1], "does not end with"),
        (good[: len(good) // 2], "does not end with"),
        (good + b"x", "does not end with"),
        (b"x" + good, "begin"),
        (b"\xef\xbb\xbf" + good, "begin"),
        (good.decode("latin-1").encode("utf-16"), "begin"),
        (good[:4] + good[-4:], "begin|does not end with"),
    ]
    if name == "parquet":
        cases += [
            (good[:-8] + b"\xff\xff\xff\xff" + good[-4:], "4294967295 bytes is announced"),
            (good[:-8] + b"\0\0\0\0" + good[-4:], "no footer"),
            (b"PAR1" + b"\x19\xfc\xff\xff\xff\xff\x0f" + b"\x07\0\0\0PAR1", "items are announced"),
            (b"PAR1" + b"\x1c" * 100 + b"\x64\0\0\0PAR1", "too deeply"),
            # One group (field 4), in it one column (1), about which (3) there is a number.
            (b"PAR1\x49\x1c\x19\x1c\x35\x02\0\0\0\x09\0\0\0PAR1", "a field is missing"),
        ]
    else:
        stream = stream_of(TABLE)
        cases += [
            (good[:-10] + b"\xff\xff\xff\x7f" + good[-6:], "2147483647 bytes is announced"),
            (stream[:-20], "."),
            (stream + b"x", "more than a stream"),
            (b"FEA1" + good[4:], "begin"),
        ]
    return cases


@pytest.mark.parametrize(
    ("name", "data", "words"), [(name, *case) for name in NAMES for case in _bad(name)]
)
def test_bad_files_are_told(name: str, data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        table_format(name).read(data)
    error = said(data, name)
    assert isinstance(error, SyntaxInputError)
    assert 0 <= error.offset <= len(data)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_changed_bytes_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Were this to end the process: run it alone to see the bytes."""
    source = bytearray(file_of(name, TABLE))
    for _ in range(data.draw(st.integers(1, 4))):
        source[data.draw(st.integers(0, len(source) - 1))] = data.draw(st.integers(0, 255))
    try:
        table_format(name).read(bytes(source))
    except (Malformed, Unheld, RefusedError):
        return


def test_a_page_that_does_not_have_its_checksum_is_refused() -> None:
    """pyarrow looks at checksums only where it is asked to."""
    import pyarrow.parquet

    table, out = pa.table({"a": np.arange(0x61626364, 0x61626364 + 100)}), pa.BufferOutputStream()
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pyarrow.parquet.write_table(table, out, write_page_checksum=True, **plain)
    source = out.getvalue().to_pybytes()
    assert len(table_format("parquet").read(source)) == 100
    with pytest.raises(Malformed, match="checksum"):
        table_format("parquet").read(source.replace(b"dcba", b"dcbz", 1))


def test_a_footer_that_contradicts_itself_does_not_end_the_process() -> None:
    """pyarrow aborts where it is asked for the metadata of a column whose histograms are short."""
    source = file_of("parquet", pa.table({"a": [1.5, None], "l": [[1], []]}))
    footer = len(source) - 8 - int.from_bytes(source[-8:-4], "little")
    for at in range(footer, len(source) - 8):
        for byte in (0, 0x26, 0x36, 0x46):
            changed = source[:at] + bytes([byte]) + source[at + 1 :]
            try:
                table_format("parquet").read(changed)
            except (Malformed, Unheld, RefusedError):
                continue


def _nulls(count: int) -> Any:
    return pa.Array.from_buffers(pa.null(), count, [None])


def _views() -> Any:
    """Many views of the same megabyte."""
    one = pa.array(["x" * 1_000_000], pa.string_view()).buffers()
    heads = pa.py_buffer(one[1].to_pybytes()[:16] * 100_000)
    return pa.Array.from_buffers(pa.string_view(), 100_000, [None, heads, *one[2:]])


def _zeros() -> Any:
    return pa.array(np.zeros(20_000_000, "i8"))


def _list_views() -> Any:
    """Many lists of the same elements."""
    starts, sizes = ([each] * 10_000 for each in (0, 10_000))
    return pa.ListViewArray.from_arrays(
        pa.array(starts, pa.int32()), pa.array(sizes, pa.int32()), pa.array(range(10_000))
    )


def _dictionary() -> Any:
    return pa.DictionaryArray.from_arrays(np.zeros(100_000, "i1"), pa.array(["x" * 1_000_000]))


MOST = (1 << 31) - 1
#: Files of some kilobytes that hold gigabytes: format, compression, and what makes the column.
BOMBS: dict[str, tuple[str, str | None, Callable[[], Any]]] = {
    "nulls": ("arrow", None, lambda: _nulls(MOST)),
    "a list of nulls": (
        "arrow",
        None,
        lambda: pa.ListArray.from_arrays(pa.array([0, MOST], pa.int32()), _nulls(MOST)),
    ),
    "a fixed list": ("arrow", None, lambda: pa.FixedSizeListArray.from_arrays(_nulls(MOST), MOST)),
    "a dictionary": ("arrow", "zstd", _dictionary),
    "views": ("arrow", "zstd", _views),
    "zeros": ("arrow", "zstd", _zeros),
    "views of lists": ("arrow", "zstd", _list_views),
    "runs": ("arrow", None, lambda: pa.RunEndEncodedArray.from_arrays([MOST], ["x"])),
    "nulls in pages": ("parquet", "zstd", lambda: _nulls(100_000_000)),
    "zeros in pages": ("parquet", "zstd", _zeros),
    "words in pages": ("parquet", "zstd", lambda: pa.array(["x" * 1_000_000] * 80)),
    "words in lists": ("parquet", "zstd", lambda: pa.array([["x" * 1_000_000] * 80])),
}

#: Packs, and says with which exit code it is refused, and how much memory that took.
PROGRAM = """
import io, sys, serialpack
from pathlib import Path
try:
    serialpack.pack(sys.argv[2], io.BytesIO(), serializer=sys.argv[1], threads=1)
except serialpack.SerialpackError as error:
    status = Path("/proc/self/status").read_text()
    print(error.exit_code, status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc says what it took")
@pytest.mark.parametrize("what", BOMBS)
def test_bombs_take_little_memory(tmp_path: Path, what: str) -> None:
    name, codec, make = BOMBS[what]
    data = file_of(name, pa.table({"a": make()}), compression=codec)
    assert len(data) < 300_000
    source = tmp_path / f"bomb.{name}"
    source.write_bytes(data)
    command = [sys.executable, "-c", PROGRAM, name, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    exit_code, kilobytes = done.stdout.split()
    assert exit_code == "4"
    assert int(kilobytes) < 200 << 10  # with Python and the libraries


@pytest.mark.parametrize("name", NAMES)
def test_columns_of_one_value_are_no_bomb(name: str) -> None:
    """What serializers wrote is read with more room than what comes from strangers."""
    fmt = table_format(name)
    records: list[dict[str, Any]] = [{"a": None, "b": False, "c": "word"}] * 600_000
    assert fmt.read_stored(fmt.write_stored(records)) == records


def test_feather_of_version_1_is_said_to_be_that() -> None:
    """It has the name of Arrow's files, and was said to begin wrongly."""
    with pytest.raises(Malformed, match=r"version 1, which pyarrow\.feather reads"):
        table_format("arrow").read(b"FEA1" + bytes(60) + b"FEA1")


def test_a_type_that_pyarrow_has_no_class_for_is_called_by_its_name() -> None:
    """It was no valid Arrow, and the message the number of the type alone."""
    durations = stream_of(pa.table({"i": pa.array([1], pa.duration("s"))}))
    duration, interval = 18, 11  # the numbers of these types in Schema.fbs
    for at, byte in enumerate(durations):
        data = durations[:at] + bytes([interval]) + durations[at + 1 :]
        try:
            if byte != duration or "interval" not in str(pa.ipc.open_stream(data).schema):
                continue
        except pa.ArrowException:
            continue
        error = said(data, "arrow")
        assert isinstance(error, RefusedError)
        assert "columns of the type month_interval are not read here" in str(error)
        return
    raise AssertionError("no such type was made")


def test_pages_that_are_written_have_checksums() -> None:
    """A bit that is another one in a double is another double, which nobody noticed."""
    fmt = table_format("parquet")
    values = np.random.default_rng(1).random(100).tolist()
    data = bytearray(fmt.write([{"x": value} for value in values]))
    data[data.index(struct.pack("<d", values[50])[:6])] ^= 1
    with pytest.raises(Malformed, match="CRC"):
        fmt.read(bytes(data))


def test_a_column_that_ends_before_the_others_is_damage(tmp_path: Path) -> None:
    """pyarrow ends a group there without a word, and its rows were gone."""
    pq = pytest.importorskip("pyarrow.parquet")
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3], "b": [4, 5, 6]}), path, **plain)
    values = b"\x2c\x15\x06"  # the header of a page of values, which are three
    head, middle, tail = path.read_bytes().split(values)
    path.write_bytes(head + values + middle + b"\x2c\x15\x00" + tail)
    with pytest.raises(SyntaxInputError, match="row group 0 has 3 rows, 0 of them in all its"):
        serialpack.convert(path, tmp_path / "a.ndjson")
    assert not (tmp_path / "a.ndjson").exists()
    serialpack.convert(path, tmp_path / "a.ndjson", fields=["a"])
    assert (tmp_path / "a.ndjson").read_text() == '{"a":1}\n{"a":2}\n{"a":3}\n'
