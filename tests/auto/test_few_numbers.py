"""Few numbers: arrays of 64 to 256 KiB in an object, for which a few filters are tried in the time
of half a zstd; and files of less than 10,000 bytes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.auto import extents
from serialpack.auto.choice import LEAST
from serialpack.auto.extents import LEAST_TRIED
from serialpack.values.equality import difference
from tests.formats.test_arrays_layout import npy

DRAW = np.random.default_rng(1)
_SORTED = np.sort(DRAW.integers(0, 10**6, size=40_000))
_FIELD = np.sin(np.arange(40_000) / 300) * 50 + DRAW.normal(0, 0.01, size=40_000)
_WAVE = np.sin(np.arange(120_000) / 90) * 60 + DRAW.normal(0, 2, size=120_000)

#: Name -> an array, and at most which share of what zstd alone leaves is left.
ARRAYS: dict[str, tuple[Any, float]] = {
    "sorted": (_SORTED.astype("<i4"), 0.3),
    "big-endian": (_SORTED.astype(">i4"), 0.45),
    "a walk": (np.cumsum(DRAW.integers(-3, 4, size=20_000)), 0.5),
    "a field": (_FIELD.astype("<f4"), 0.7),
    "bytes of a wave": (_WAVE.astype("i1").reshape(300, 400), 0.8),
    "moments": (np.datetime64("2020-01-01") + _SORTED[::2].astype("m8[s]"), 0.8),
    "records": (np.array([(n, n / 3) for n in range(12_000)], "<i4,<f8"), 0.1),
}


def _zstd_alone(value: Any) -> int:
    return len(serialpack.dumps(value, "auto+zstd:3"))


@pytest.mark.parametrize("name", ARRAYS)
def test_they_are_filtered(name: str) -> None:
    """Sorted numbers took twice what joblib leaves of them."""
    value, most = ARRAYS[name]
    assert value.nbytes < LEAST_TRIED
    data = serialpack.dumps(value)
    assert len(data) < most * _zstd_alone(value)
    assert difference(value, serialpack.loads(data)) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: DRAW.normal(size=20_000),
        lambda: np.round(100 + np.cumsum(DRAW.normal(0, 0.1, size=20_000)), 2),
        lambda: np.frombuffer(DRAW.bytes(100_000), "u1"),
    ],
    ids=["noise", "prices", "random bytes"],
)
def test_what_no_filter_makes_smaller_has_none(make: Callable[[], Any]) -> None:
    value = make()
    assert len(serialpack.dumps(value)) <= _zstd_alone(value)
    assert "shuffle" not in str(serialpack.inspect(io.BytesIO(serialpack.dumps(value))))


def test_each_type_in_an_object_has_filters_of_its_own() -> None:
    value = {"a": _SORTED[:10_000], "b": [_FIELD[:10_000].astype("<f4"), "text"], "c": {"d": 1}}
    value["e"] = _FIELD[10_000:30_000].astype("<f4")
    assert difference(value, serialpack.loads(serialpack.dumps(value))) is None
    small = [value["a"], value["e"]]
    assert len(serialpack.dumps(small)) < 0.8 * _zstd_alone(small)


@pytest.mark.parametrize("chain", ["auto+zstd", "auto+none", "objects+shuffle:4+zstd:3"])
def test_a_named_chain_is_taken_as_it_is(chain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extents, "for_few_numbers", lambda *_: pytest.fail("tried"))
    serialpack.dumps(_SORTED[:20_000], chain)


@pytest.mark.parametrize("effort", [1, 3, 6, 9])
@pytest.mark.parametrize("chain", ["auto", "pickle", "objects"])
def test_under_each_effort(chain: str, effort: int) -> None:
    value = [_SORTED[:20_000], _FIELD[:20_000]]
    data = serialpack.dumps(value, chain, effort=effort)
    assert difference(value, serialpack.loads(data, trust=True)) is None


#: Name -> the array of a small file, and at most which share of what zstd alone leaves is left.
LITTLE: dict[str, tuple[Any, float]] = {
    "latitudes": (np.linspace(48, 50.25, 91).astype("<f4"), 0.8),
    "a walk": (np.cumsum(DRAW.normal(size=300)), 0.95),
    "big-endian": (np.cumsum(DRAW.normal(size=300)).astype(">f8"), 0.95),
    "counts": (DRAW.integers(0, 5000, 400), 0.9),
    "a table": (np.round(DRAW.normal(size=(40, 7)) * 10, 2), 0.65),
    "moments": (np.datetime64("2020-01-01") + _SORTED[::100].astype("m8[s]"), 0.8),
    "records": (np.array([(n, n / 3) for n in range(300)], "<i4,<f8"), 0.4),
}


@pytest.mark.parametrize("effort", [3, 6, 9])
@pytest.mark.parametrize("name", LITTLE)
def test_a_small_file_of_an_array_is_looked_at(name: str, effort: int) -> None:
    """It was left to zstd alone."""
    value, most = LITTLE[name]
    source = npy(value)
    assert len(source) < LEAST
    packed = io.BytesIO()
    report = serialpack.pack(io.BytesIO(source), packed, effort=effort)
    by_zstd = io.BytesIO()
    serialpack.pack(io.BytesIO(source), by_zstd, codec="zstd", effort=effort)
    assert report.packed < most * len(by_zstd.getvalue())
    assert "any zstd tool" not in report.why
    again = io.BytesIO()
    serialpack.unpack(io.BytesIO(packed.getvalue()), again)
    assert again.getvalue() == source


@pytest.mark.parametrize("effort", [1, 3, 9])
def test_a_small_file_that_zstd_leaves_least_of_is_any_zstd_tools(effort: int) -> None:
    for value in (np.tile(DRAW.normal(size=20), 40), np.frombuffer(DRAW.bytes(3000), "<f4")):
        packed = io.BytesIO()
        report = serialpack.pack(io.BytesIO(npy(value)), packed, effort=effort)
        assert report.chain.startswith("raw+zstd:")
        assert packed.getvalue()[:4] == b"\x28\xb5\x2f\xfd" or packed.getvalue()[1:4] == b"*M\x18"
