"""Arrays of records: the chain that auto takes for their bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
