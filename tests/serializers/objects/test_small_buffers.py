"""Many small arrays in one object have filters, as one large array has."""

from __future__ import annotations

import io

import numpy as np
import pytest

import serialpack

COUNT = 100


def walk(seed: int, items: int, dtype: str = "<i4") -> np.ndarray:
    """Numbers that hardly differ from those before them."""
    return np.cumsum(np.random.default_rng(seed).integers(-3, 4, items)).astype(dtype)


def blocks_of(data: bytes) -> int:
    return len(serialpack.inspect(io.BytesIO(data)).members[0].blocks)


@pytest.mark.parametrize("items", [1000, 10_000])
def test_many_small_arrays_are_packed_as_one(items: int) -> None:
    value = {f"w{seed}": walk(seed, items) for seed in range(COUNT)}
    data = serialpack.dumps(value)
    joined = serialpack.dumps(np.concatenate([*value.values()]))
    assert len(data) < 1.1 * len(joined)
    back = serialpack.loads(data)
    assert list(back) == list(value)
    for name, array in value.items():
        assert back[name].dtype == array.dtype
        assert (back[name] == array).all()


def test_few_small_arrays_are_a_message() -> None:
    data = serialpack.dumps({f"w{seed}": walk(seed, 1000) for seed in range(COUNT // 2)})
    assert blocks_of(data) == 1


def test_arrays_whose_types_take_turns_are_no_blocks_each() -> None:
    value = [walk(seed, 1000, kind) for seed in range(COUNT) for kind in ("<i4", "<f8")]
    assert blocks_of(serialpack.dumps(value)) == 1
    value = [walk(seed, 1000, kind) for kind in ("<i4", "<f8") for seed in range(COUNT)]
    assert blocks_of(serialpack.dumps(value)) == 3


def test_one_array_in_two_places_stays_one() -> None:
    arrays = [walk(seed, 1000) for seed in range(COUNT)]
    back = serialpack.loads(serialpack.dumps([*arrays, *arrays]))
    assert all(one is other for one, other in zip(back[:COUNT], back[COUNT:], strict=True))


def test_they_are_no_lazy_arrays(tmp_path: object) -> None:
    """As where they stand in the message: to read a part of one is to read it."""
    value = [walk(seed, 1000) for seed in range(COUNT)]
    serialpack.dump(value, f"{tmp_path}/a.spk")
    back = serialpack.load(f"{tmp_path}/a.spk", mmap_mode="r")
    assert all(type(array) is np.ndarray for array in back)
    assert all((one == other).all() for one, other in zip(value, back, strict=True))
    assert back[0].flags.writeable


def test_they_are_mapped_where_nothing_is_compressed(tmp_path: object) -> None:
    path = f"{tmp_path}/plain.spk"
    value = [walk(seed, 1000) for seed in range(COUNT)]
    serialpack.dump(value, path, "auto+none")
    back = serialpack.load(path, mmap_mode="r")
    assert all(isinstance(array, np.memmap) for array in back)
    assert all((one == other).all() for one, other in zip(value, back, strict=True))
