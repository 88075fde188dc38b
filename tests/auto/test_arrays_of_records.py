"""Arrays of records: the chain that auto takes for their bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.auto.conftest import DRAW
from tests.auto.test_arrays import packed

RECORD = [("at", "<f8"), ("id", "<i4"), ("side", "S1"), ("place", "<f4", 3)]


def records(length: int) -> np.ndarray:
    """With fields that differ in type, of which some rise."""
    found: np.ndarray = np.zeros(length, RECORD)
    found["at"] = 1.7e9 + np.cumsum(DRAW.exponential(0.1, length))
    found["id"] = np.arange(length)
    found["side"] = DRAW.choice([b"B", b"S"], length)
    found["place"] = np.cumsum(DRAW.normal(size=(length, 3)) * 0.01, axis=0)
    return found


def trades(length: int) -> np.ndarray:
    """With fields that have few values, and a price in cents."""
    found = np.zeros(length, [("price", "<f8"), ("size", "<i4"), ("side", "S1"), ("at", "S4")])
    found["price"] = np.round(100 + np.cumsum(DRAW.normal(size=length)) * 0.01, 2)
    found["size"] = DRAW.choice([50, 100, 200, 1000], length)
    found["side"] = DRAW.choice([b"B", b"S"], length)
    found["at"] = DRAW.choice([b"XNAS", b"ARCX", b"BATS"], length)
    return found


@pytest.mark.parametrize("length", [3_000, 30_000])
def test_bits_are_foretold_by_those_of_the_record_before(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.npy"
    np.save(path, trades(length))
    chain, size = packed(path)
    assert chain.startswith("raw+xor:1@17+bitshuffle:17+zstd:")
    assert size < 0.92 * packed(path, serializer="raw", codec="zstd:3")[1]
    bytewise = ("delta:1@17", "shuffle:17")
    assert size < 0.92 * packed(path, serializer="raw", filters=bytewise, codec="zstd:3")[1]


@pytest.mark.parametrize("effort", [3, 6])
def test_bytes_are_foretold_where_fields_rise(tmp_path: Path, effort: int) -> None:
    """Of what rises by little the differences are alike, and the bits that change are not."""
    found = np.zeros(30_000, [("place", "<i4", 3), ("class", "u1")])
    found["place"] = np.cumsum(DRAW.integers(-20, 22, (30_000, 3)), axis=0)
    found["class"] = DRAW.choice([1, 2, 5], 30_000)
    path = tmp_path / "a.npy"
    np.save(path, found)
    chain, size = packed(path, effort=effort)
    assert chain.startswith("raw+delta:1@13+shuffle:13+zstd:")
    assert size < 0.6 * packed(path, serializer="raw", codec=f"zstd:{effort}")[1]


@pytest.mark.parametrize("kind", ["S300", [("text", "S296"), ("id", "<i4")]])
def test_long_records_are_foretold_by_the_one_before(tmp_path: Path, kind: object) -> None:
    """Filters do not take items so long, but differences over such a distance."""
    found: np.ndarray = np.zeros(2_000, kind)  # type: ignore[call-overload]
    lines = [b"%06d: is as it was in %d words" % (17 * n, n % 7) for n in range(2_000)]
    if found.dtype.names:
        found["text"], found["id"] = lines, np.arange(2_000)
    else:
        found[:] = lines
    path = tmp_path / "a.npy"
    np.save(path, found)
    assert packed(path)[1] < 0.5 * packed(path, serializer="raw", codec="zstd:3")[1]


def test_numbers_in_long_records_are_guessed(tmp_path: Path) -> None:
    """Where a record is mostly an array, that counts."""
    found = np.zeros(800, [("wave", "<i2", 200), ("id", "<i4")])
    found["wave"] = np.cumsum(DRAW.integers(-30, 31, (800, 200)), axis=1)
    path, wave = tmp_path / "a.npy", tmp_path / "b.npy"
    np.save(path, found)
    np.save(wave, found["wave"])
    assert packed(path)[1] < 1.1 * packed(wave)[1]


@pytest.mark.parametrize("effort", [3, 6])
def test_a_rest_is_kept_of_a_guess(tmp_path: Path, effort: int) -> None:
    """Guessed numbers of few records are not all of them: what was made of these had no rest."""
    found = np.zeros(1, [("id", "<i4"), ("walk", "<f8", 8_749)])
    found["walk"] = np.cumsum(DRAW.normal(size=8_749))
    path = tmp_path / "a.npy"
    np.save(path, found)
    packed(path, effort=effort)


def test_characters_are_numbers(tmp_path: Path) -> None:
    """Text of a fixed length, of which a few were left to zstd as they are."""
    path = tmp_path / "a.npy"
    np.save(path, np.array([f"id-{7 * number:06d}" for number in range(500)]))
    assert packed(path)[1] < 0.6 * packed(path, serializer="raw", codec="zstd:3")[1]


@pytest.mark.parametrize("several", [False, True])
def test_arrays_of_an_archive_are_records_too(tmp_path: Path, several: bool) -> None:
    """Each by itself, or several small ones of a type together."""
    path = tmp_path / "a.npz"
    lengths = [9_000] * 5 if several else [60_000]
    np.savez(path, *(records(length) for length in lengths))
    size = packed(path)[1]
    assert size < 0.85 * packed(path, serializer="raw", codec="zstd:3")[1]


def test_a_higher_effort_keeps_to_bits(tmp_path: Path) -> None:
    """There are more planes of bits in a block than zstd tells apart: tried each by itself they
    seemed to leave more than bytes, and -6 took these."""
    found = np.zeros(110_000, [("class", "i1", 3), ("value", "<i4")])
    found["class"] = DRAW.integers(0, 3, (110_000, 3))
    found["value"] = np.where(DRAW.random(110_000) < 0.1, 900_000, 100)
    path = tmp_path / "a.npy"
    np.save(path, found)
    assert packed(path, effort=6)[1] < 1.01 * packed(path)[1]
