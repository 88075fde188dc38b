"""Pickles of Python 2, whose text is bytes: read where they are converted, and told."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

import serialpack

pytestmark = pytest.mark.filterwarnings("ignore:numpy.core:DeprecationWarning")

#: {"a": "\xc3\xa9", "b": "c"}, in protocol 2: U is text of up to 255 bytes.
TEXT = b"\x80\x02}(U\x01aU\x02\xc3\xa9U\x01bU\x01cu."


def _array(dtype: bytes, rest: bytes, count: int, memory: bytes) -> bytes:
    """An array of NumPy as Python 2 pickles it: ``memory`` is what pickle is to make of that."""
    return (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        # version, shape, dtype with its own state, order, memory
        b"(K\x01K" + bytes([count]) + b"\x85cnumpy\ndtype\nU\x02" + dtype + b"K\x00K\x01\x87R"
        b"(K\x03U\x01" + rest + b"tb\x89" + memory + b"tb."
    )


#: No names, fields, shape; sizes that the type has by itself; flags.
_STATE = b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK"
NUMBERS = [1.5, -2.25, 1e300]
DOUBLES = _array(b"f8", b"<" + _STATE + b"\0", 3, b"U\x18" + np.array(NUMBERS, "<f8").tobytes())
OBJECTS = _array(b"O8", b"|" + _STATE + b"?", 1, b"]U\x02\xc3\xa9a")


def converted(data: bytes, source: str, to: str) -> bytes:
    made = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), made, to=to, format=source, trust=True)
    assert [loss.count for loss in report.carried if loss.rule == "latin-1"] == [1]
    return made.getvalue()


def test_text_is_latin_1() -> None:
    assert json.loads(converted(TEXT, "pickle", "json")) == {"a": "\u00c3\u00a9", "b": "c"}


def test_arrays_are_read() -> None:
    """They were refused: their memory is text, which is seldom ASCII."""
    assert np.load(io.BytesIO(converted(DOUBLES, "pickle", "npy"))).tolist() == NUMBERS
    assert json.loads(converted(DOUBLES, "pickle", "json")) == NUMBERS


def test_arrays_of_objects_are_read() -> None:
    npy = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(np.empty(1, object))
    np.lib.format.write_array_header_1_0(npy, header)
    npy.write(OBJECTS)
    assert json.loads(converted(npy.getvalue(), "npy", "json")) == ["\u00c3\u00a9"]


@pytest.mark.parametrize("data", [TEXT, DOUBLES])
def test_strictly_they_are_refused(data: bytes) -> None:
    with pytest.raises(serialpack.SerialpackError, match="text of Python 2"):
        serialpack.convert(
            io.BytesIO(data), io.BytesIO(), to="json", format="pickle", trust=True, strict=True
        )


def test_one_of_ascii_is_told_nothing_of() -> None:
    made = io.BytesIO()
    data = TEXT.replace(b"\xc3\xa9", b"xy")
    report = serialpack.convert(io.BytesIO(data), made, to="json", format="pickle", trust=True)
    assert not report.carried


def test_a_real_one(shared_data: Path) -> None:
    data = (shared_data / "pickle" / "astype_copy.pkl").read_bytes()
    array = np.load(io.BytesIO(converted(data, "pickle", "npy")))
    assert array.dtype == np.float64
    assert len(array) > 50
