"""Arrays of records: the chain that auto takes for their bytes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from serialpack.formats.arrays.layout import numbers_in
from tests.auto.test_arrays import packed

DRAW = np.random.default_rng(1)

RECORD = [("at", "<f8"), ("id", "<i4"), ("side", "S1"), ("place", "<f4", 3)]


def records(length: int) -> np.ndarray:
    """With fields that differ in type, of which some rise."""
    found: np.ndarray = np.zeros(length, RECORD)
    found["at"] = 1.7e9 + np.cumsum(DRAW.exponential(0.1, length))
    found["id"] = np.arange(length)
    found["side"] = DRAW.choice([b"B", b"S"], length)
    found["place"] = np.cumsum(DRAW.normal(size=(length, 3)) * 0.01, axis=0)
    return found


@pytest.mark.parametrize("length", [3_000, 30_000])
def test_bytes_are_foretold_by_those_of_the_record_before(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.npy"
    np.save(path, records(length))
    chain, size = packed(path)
    assert chain.startswith("raw+delta:1@25+shuffle:25+zstd:")
    assert size < 0.8 * packed(path, serializer="raw", codec="zstd:3")[1]


@pytest.mark.parametrize("several", [False, True])
def test_arrays_of_an_archive_are_records_too(tmp_path: Path, several: bool) -> None:
    """Each by itself, or several small ones of a type together."""
    path = tmp_path / "a.npz"
    lengths = [9_000] * 5 if several else [60_000]
    np.savez(path, *(records(length) for length in lengths))
    size = packed(path)[1]
    assert size < 0.85 * packed(path, serializer="raw", codec="zstd:3")[1]


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (RECORD, (1, (25,), 25)),
        (np.dtype(RECORD, align=True), (1, (32,), 32)),
        ([("x", "<f4"), ("y", "<f4")], (4, (2,), 0)),
        ([("x", "<f4", 5)], (4, (1, 5), 0)),
        ([("at", [("x", "<i2"), ("y", "<i2", (2, 2))])], (2, (1, 5), 0)),
        ([(("title", "x"), "<f4"), ("y", "<i4")], (1, (8,), 8)),
        ("S9", (1, (9,), 9)),
        ("U9", None),
        ([("x", "<f8", 40)], None),
        ([("x", "S0", 1 << 20), ("y", "u1")], None),
        ([("x", "O"), ("y", "<f8")], None),
        ([], None),
    ],
    ids=str,
)
def test_what_records_are(kind: object, found: tuple[int, tuple[int, ...], int] | None) -> None:
    """Of fields of one type they are an array of those; long ones and objects are left alone."""
    head = io.BytesIO()
    np.save(head, np.zeros(10, np.dtype(kind)))  # type: ignore[call-overload]
    layout = numbers_in(head.getvalue())
    assert (layout and (layout.size, layout.lags, layout.record)) == found
