"""Which numbers lie beside which, as the headers of NumPy, NIfTI-1 and MRC say."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from serialpack.formats.arrays.layout import numbers_in
from serialpack.formats.arrays.volumes import read_mrc
from serialpack.formats.shared.large import NumbersLayout


def npy(values: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def nifti(order: str, dims: tuple[int, ...], kind: int, start: float = 352.0) -> bytes:
    head = bytearray(352)
    struct.pack_into(order + "i", head, 0, 348)
    struct.pack_into(order + "8h", head, 40, len(dims), *dims, *([1] * (7 - len(dims))))
    struct.pack_into(order + "h", head, 70, kind)
    struct.pack_into(order + "f", head, 108, start)
    head[344:348] = b"n+1\0"
    return bytes(head)


def mrc(order: str, shape: tuple[int, int, int], mode: int, extra: int = 0) -> bytes:
    head = bytearray(1024)
    struct.pack_into(order + "4i", head, 0, *shape, mode)
    struct.pack_into(order + "i", head, 92, extra)
    head[208:212] = b"MAP "
    head[212:214] = b"\x44\x44" if order == "<" else b"\x11\x11"
    return bytes(head)


def test_a_map_whose_mark_ends_with_nul_is_one() -> None:
    """As some programs write it."""
    head = mrc("<", (6, 5, 4), 2)
    assert read_mrc(head[:211] + b"\0" + head[212:]) == read_mrc(head)


@pytest.mark.parametrize(
    ("values", "kind", "size", "big", "lags"),
    [
        (np.zeros((4, 5, 6), "<f4"), "f", 4, False, (1, 6, 30)),
        (np.zeros((4, 5, 6), ">i2"), "i", 2, True, (1, 6, 30)),
        (np.zeros((7, 5, 6), "<u2", order="F"), "u", 2, False, (1, 7, 35)),
        (np.zeros((2, 7, 5, 6), "u1"), "u", 1, False, (1, 6, 30, 210)),
        (np.zeros((40, 50, 3), "u1"), "u", 1, False, (3, 150)),
        (np.zeros((40, 50), "<c16"), "f", 8, False, (2, 100)),
        (np.zeros((40, 1, 50), "?"), "u", 1, False, (1, 50)),
        (np.zeros(40, "<M8[s]"), "i", 8, False, (1,)),
        (np.zeros((), "<f8"), "f", 8, False, (1,)),
    ],
    ids=str,
)
def test_arrays_of_numpy(
    values: np.ndarray, kind: str, size: int, big: bool, lags: tuple[int, ...]
) -> None:
    data = npy(values)
    start = len(data) - values.nbytes
    assert numbers_in(data) == NumbersLayout(start, kind, size, big, lags)


@pytest.mark.parametrize(
    ("values", "columns"),
    [
        (np.zeros((3, 80)), 3),
        (np.zeros((80, 64), order="F"), 64),
        (np.zeros((80, 3)), 0),
        (np.zeros((80, 256), order="F"), 0),
        (np.zeros((256, 300)), 256),
        (np.zeros((257, 300)), 0),
        (np.zeros((9, 9)), 0),
        (np.zeros((3, 80), "u1"), 0),
        (np.zeros((3, 80, 2)), 0),
        (np.zeros((3, 80), "<c16"), 0),
    ],
    ids=str,
)
def test_columns_one_after_another(values: np.ndarray, columns: int) -> None:
    """Those of a part of the array, or of several, are not."""
    data = npy(values)
    found = numbers_in(data)
    assert found is not None
    assert found.of_length(len(data)).stacked == columns
    for length in (len(data) - 8, len(data) + values.nbytes):
        assert not found.of_length(length).stacked


def test_objects_are_no_numbers() -> None:
    out = io.BytesIO()
    np.save(out, np.array([None, "x"], object), allow_pickle=True)
    assert numbers_in(out.getvalue()) is None


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize != 16, reason="this machine has none so long")
@pytest.mark.parametrize(("kind", "lags"), [(np.longdouble, (2,)), (np.clongdouble, (2, 4))])
def test_long_floats_are_two_numbers_each(kind: type, lags: tuple[int, ...]) -> None:
    values: NDArray[Any] = np.zeros(9, kind)
    data = npy(values)
    start = len(data) - values.nbytes
    assert numbers_in(data) == NumbersLayout(start, "u", 8, False, lags)


RECORD = [("at", "<f8"), ("id", "<i4"), ("side", "S1"), ("place", "<f4", 3)]


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (RECORD, (1, (25,), 25)),
        (np.dtype(RECORD, align=True), (1, (32,), 32)),
        ([("x", "<f4"), ("y", "<f4")], (4, (2,), 0)),
        ([("x", "<f4", 5)], (4, (1, 5), 0)),
        ([(("title", "x"), "<f4"), ("y", "<f4", 4)], (4, (1, 5), 0)),
        ([("at", [("x", "<i2"), ("y", "<i2", (2, 2))])], (2, (1, 5), 0)),
        ([(("title", "x"), "<f4"), ("y", "<i4")], (1, (8,), 8)),
        ("S9", (1, (9,), 9)),
        ("<U9", (4, (1, 9), 0)),
        (">U1", (4, (1,), 0)),
        ([("name", "<U9"), ("n", "<i4")], (1, (40,), 40)),
        ([("x", "<f8", 400)], (8, (1, 400), 0)),
        ([("x", "<f8", 40), ("y", "<i4")], (1, (324,), 324)),
        ("S300", (1, (300,), 300)),
        ([("x", "V1", 1 << 20), ("y", "<u2")], (1, ((1 << 20) + 2,), (1 << 20) + 2)),
        ([("x", "O"), ("y", "<f8")], None),
        ([], None),
    ],
    ids=str,
)
def test_what_records_are(kind: object, found: tuple[int, tuple[int, ...], int] | None) -> None:
    """Of fields of one type, or characters, they are an array of those; objects are left alone."""
    head = io.BytesIO()
    np.save(head, np.zeros(10, np.dtype(kind)))  # type: ignore[call-overload]
    layout = numbers_in(head.getvalue())
    assert (layout and (layout.size, layout.lags, layout.record)) == found


@pytest.mark.parametrize(("kind", "lags"), [("<c16", (2, 8)), ("<f8", (4,))])
def test_one_field_is_no_dimension(kind: str, lags: tuple[int, ...]) -> None:
    """Complex ones had their neighbours twice, by which auto failed."""
    assert numbers_in(npy(np.zeros((9, 4), [("x", kind)]))) == NumbersLayout(
        128, "f", 8, False, lags
    )


@pytest.mark.parametrize("order", ["<", ">"])
def test_volumes(order: str) -> None:
    big = order == ">"
    found = numbers_in(nifti(order, (20, 30, 40, 2), 4))
    assert found == NumbersLayout(352, "i", 2, big, (1, 20, 600, 24000))
    assert numbers_in(nifti(order, (20, 30, 40), 2)) == NumbersLayout(
        352, "u", 1, False, (1, 20, 600)
    )
    assert numbers_in(mrc(order, (20, 30, 40), 2, 80)) == NumbersLayout(
        1104, "f", 4, big, (1, 20, 600)
    )


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'}",
        npy(np.zeros(3)).replace(b"'<f8'", b"'<f7'"),
        nifti("<", (20, 30), 77),
        nifti("<", (20, -30), 4),
        nifti("<", (20, 30), 4, float("nan")),
        nifti("<", (20, 30), 4, float("inf")),
        nifti("<", (20, 30), 4, -5.0),
        nifti("<", (20, 30), 4, 353.0),
        mrc("<", (20, 30, 40), 3),
        mrc("<", (20, -30, 40), 2),
        mrc("<", (20, 30, 40), 2, -2000),
        b"\0" * 344 + b"n+1\0",
    ],
    ids=range(14),
)
def test_headers_that_lie_are_of_bytes(head: bytes) -> None:
    assert numbers_in(head) is None


def test_an_array_is_taken_as_a_row_of_numbers_or_of_records() -> None:
    layout = NumbersLayout(128, "f", 8, big=False, lags=(1, 6, 30), stacked=2)
    assert layout.in_a_row() == NumbersLayout(128, "f", 8, big=False, lags=(1,))
    records = layout._replace(record=20)
    assert records.in_a_row().lags == (20,)
