"""Labels of regions, and masks: arrays that are nearly all runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.auto.conftest import DRAW
from tests.auto.test_arrays import Counted, packed


def regions(count: int, *shape: int) -> np.ndarray:
    """Which of ``count`` points is the nearest."""
    places = np.indices(shape, "f4").reshape(len(shape), -1)
    best, found = np.full(places.shape[1], np.inf, "f4"), np.zeros(places.shape[1], "i4")
    for number, point in enumerate(DRAW.random((count, len(shape))) * shape):
        apart = ((places - point[:, None].astype("f4")) ** 2).sum(axis=0)
        found[apart < best] = number
        np.minimum(best, apart, out=best)
    return found.reshape(shape)


@pytest.mark.parametrize("kind", ["volume", "plane", "mask"])
def test_the_smallest_effort_leaves_little_of_regions(tmp_path: Path, kind: str) -> None:
    """Hardly more than the best of LZMA and a high level of zstd behind any filter that brings
    together what has equal weight."""
    makers: dict[str, Callable[[], np.ndarray]] = {
        "volume": lambda: regions(120, 48, 100, 100),
        "plane": lambda: regions(100, 400, 450).astype("<i8"),
        "mask": lambda: np.isin(regions(75, 20, 160, 160), range(0, 150, 3)),
    }
    values = makers[kind]()
    path = tmp_path / "a.npy"
    np.save(path, values)
    _, size = packed(path, effort=9)
    item = values.itemsize
    filters = [[], [f"shuffle:{item}"], [f"bitshuffle:{item}"]]
    others = [
        packed(path, serializer="raw", filters=each, codec=codec, block_size=16 << 20)[1]
        for each in (filters if item > 1 else [[], filters[2]])
        for codec in ("xz:6@1", "zstd:19")
    ]
    assert size < 1.02 * min(others)


def test_of_nearly_empty_arrays_no_filter_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick level leaves next to nothing of a sample, then of all, which is packed then."""
    values = np.zeros(500_000)
    values[123_456] = 7
    path = tmp_path / "a.npy"
    np.save(path, values)
    counted = Counted(monkeypatch)
    _, size = packed(path)
    assert size < 900
    assert len(counted.calls) < 6


@pytest.mark.parametrize("kind", ["<i4", "<i8", "<f8"])
def test_what_is_counted_up_is_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Its bytes of equal weight are, its numbers all differ: pcodec leaves next to nothing."""
    path = tmp_path / "a.npy"
    np.save(path, np.arange(300_000, dtype=kind))
    counted = Counted(monkeypatch)
    chain, size = packed(path)
    assert "pcodec" in chain
    assert size < 500
    assert not [spec for spec, _ in counted.calls if spec[:2] == ("zstd", 7)]
