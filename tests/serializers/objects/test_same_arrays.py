"""Arrays, and what libraries make of them, that an object holds more than once."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError
from serialpack.values import equality
from serialpack.values.equality import difference
from tests.serializers.objects.test_array_types import _array
from tests.serializers.objects.test_own_objects import made_of


class Held(NamedTuple):
    """Where an array is held once more."""

    array: Any


def test_the_very_same_array_is_stored_once_and_stays_one(tmp_path: Path) -> None:
    """It was stored as often as it was held, and became as many arrays."""
    large, small = np.arange(20_000.0), np.arange(3)
    value: dict[str, Any] = {
        "a": large,
        "b": [large, small],
        "c": (Held(small), Held(large)),
        "d": large.copy(),
    }
    data = serialpack.dumps(value, "objects+none")
    assert len(data) < 2 * large.nbytes + 2000
    path = tmp_path / "a.spk"
    path.write_bytes(data)
    for mode in (None, "r", "c"):
        found = serialpack.load(path, mmap_mode=mode)
        assert np.array_equal(found["d"], value["d"])
        assert found["a"] is found["b"][0] is found["c"][1].array
        assert found["b"][1] is found["c"][0].array
        assert found["d"] is not found["a"]
    mixed = [np.ma.masked_array(small, small > 1), small, large, np.float64(1), small, large]
    again = serialpack.loads(serialpack.dumps(mixed, "objects"))
    assert difference(mixed, again) is None
    assert again[1] is again[4] is not again[0].data
    assert again[2] is again[5]


def test_arrays_that_only_a_library_shares_stay_apart() -> None:
    """Two series on one memory may be two to pandas, which copies before it writes to one."""
    pd = pytest.importorskip("pandas")
    one = pd.Series(np.arange(20_000.0))
    found = serialpack.loads(serialpack.dumps([one, one.copy(deep=False)], "objects"))
    found[0][0] = 5.0
    assert found[1][0] == 0.0


@pytest.mark.parametrize("parts", [[0], [1], [-1], [True], ["0"], [], [0, 0]])
def test_an_array_before_that_is_not_there_is_one_error(parts: list[Any]) -> None:
    data = made_of([msgpack.ExtType(35, msgpack.packb(parts)), _array(b"ab", "|u1", 2)])
    with pytest.raises(DamagedError):
        serialpack.loads(data)
    with contextlib.suppress(serialpack.SerialpackError):
        serialpack.inspect(io.BytesIO(data))


def test_what_a_library_makes_of_arrays_stays_one_too() -> None:
    """A frame was stored as often as it was held, and became as many frames."""
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": np.arange(20_000), "b": ["x", "y"] * 10_000})
    items = np.arange(6).reshape(2, 3)
    each: dict[str, Any] = {
        "frame": frame,
        "series": frame["a"] * 2,
        "within": pd.Series([frame["a"] + 1, "x"]),
        "masked": np.ma.masked_array(items, items > 3),
        "records": np.rec.array(np.zeros(3, "i4,f8")),
        "table": pa.table({"x": [1, 2]}),
        "schema": pa.schema({"x": pa.int8()}),
    }
    value = {"once": each, "again": [Held(one) for one in reversed(each.values())]}
    data = serialpack.dumps(value, "objects+none")
    assert len(data) < len(serialpack.dumps(each, "objects+none")) + 1000
    found = serialpack.loads(data)
    assert difference(value, found) is None
    for one, again in zip(reversed(found["once"].values()), found["again"], strict=True):
        assert again.array is one
    assert "once" in repr(serialpack.inspect(io.BytesIO(data)))
    apart = serialpack.loads(serialpack.dumps([frame, frame.copy()], "objects"))
    assert apart[0] is not apart[1]


@pytest.mark.parametrize("parts", [[0], [-1], [True], ["0"], [], [0, 0]])
def test_what_was_before_and_is_not_there_is_one_error(parts: list[Any]) -> None:
    data = made_of([_array(b"ab", "|u1", 2), msgpack.ExtType(36, msgpack.packb(parts))])
    with pytest.raises(DamagedError):
        serialpack.loads(data)
    with contextlib.suppress(serialpack.SerialpackError):
        serialpack.inspect(io.BytesIO(data))


def test_an_index_that_several_share_is_stored_once() -> None:
    """Two series over one index took twice as much as in a pickle, and had two."""
    pd = pytest.importorskip("pandas")
    for index in (pd.Index(np.arange(20_000)), pd.date_range("2020", periods=20_000, tz="UTC")):
        each = [pd.Series(np.ones(len(index)), index=index, name=name) for name in "ab"]
        value = [*each, index, index, index.copy()]
        data = serialpack.dumps(value, "objects+none")
        found = serialpack.loads(data)
        assert difference(value, found) is None
        assert len(data) < 4 * len(index) * 8 + 2000
        assert found[0].index is found[1].index
        assert found[2] is found[3]
        assert found[3] is not found[4]
        assert "Series" in repr(serialpack.inspect(io.BytesIO(data)))
    with pytest.raises(DamagedError):
        serialpack.loads(made_of([msgpack.ExtType(43, msgpack.packb([0]))]))


@pytest.mark.parametrize("size", [3, 30_000])
@pytest.mark.parametrize("chain", ["objects", "pickle"])
def test_many_arrays_are_proved_without_a_walk(
    chain: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To walk through a map of 20,000 small ones took longer than to write and read them."""
    monkeypatch.setattr(equality, "_Walk", None)
    one = np.arange(size)
    value = {"a": {str(n): one + n for n in range(9000 if size == 3 else 2)}, "b": [one, one]}
    again = serialpack.loads(serialpack.dumps(value, chain), trust=True)
    assert again["a"]["1"].tolist() == (one + 1).tolist()


@pytest.mark.parametrize("size", [3, 30_000])
def test_arrays_that_differ_are_not_written_alike(size: int) -> None:
    one = np.arange(size)
    last, locked = one.copy(), one.copy()
    last[-1] += 1
    locked.flags.writeable = False
    for other in (last, locked, one.astype(">i8"), one.astype("f8"), one[:, None], one[:-1]):
        assert difference([one], [other]) is not None
    assert difference([one[::-1]], [one[::-1].copy()]) is None
    apart = [one.copy(), one.copy()]
    assert difference([one, one], apart) is None
    assert difference([one, one], apart, identity=True) is not None
    assert difference(apart, [one, one], identity=True) is not None


def test_types_that_are_not_told_are_refused_where_nobody_proves() -> None:
    pd = pytest.importorskip("pandas")
    offsets = pd.offsets.DateOffset(months=1), pd.offsets.MonthEnd(normalize=True)
    for value in (pd.CategoricalDtype(), pd.IntervalDtype(), *offsets):
        with pytest.raises(serialpack.ValueRefusedError):
            serialpack.dumps([value], "objects", verify=False)
