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


def chain_of(data: bytes) -> str:
    return str(serialpack.inspect(io.BytesIO(data)).members[0].chain)


@pytest.mark.parametrize("items", [2000, 8000])
def test_a_message_that_is_an_array_has_a_filter_where_that_pays(items: int) -> None:
    """Sorted keys took half as much again."""
    keys = np.sort(np.random.default_rng(1).integers(0, 1 << 24, items).astype("<i4"))
    value = {"name": "a", "keys": keys, "more": [keys[:100]]}
    data = serialpack.dumps(value)
    assert chain_of(data).startswith("objects+shuffle:4+zstd")
    assert len(data) < 0.75 * len(serialpack.dumps(value, "objects+zstd:3"))
    file = io.BytesIO()
    serialpack.dump(value, file)
    assert chain_of(file.getvalue()) == chain_of(data)
    assert len(file.getvalue()) < len(data) + 200
    for back in (serialpack.loads(data), serialpack.load(io.BytesIO(file.getvalue()))):
        assert (back["keys"] == keys).all()
        assert back["keys"].dtype == keys.dtype


@pytest.mark.parametrize(
    "value",
    [
        np.random.default_rng(1).normal(50, 5, 1000).round(2),
        np.zeros(3000, "u1"),
        {"array": walk(1, 400), "text": [f"{n}{n:x}" for n in range(2000)]},
        walk(1, 900),
        b"\x12\x95\xc5\x20\x00" + bytes(9000),
    ],
    ids=["prices", "bytes", "mostly text", "few", "bytes like an array"],
)
def test_others_have_none(value: object) -> None:
    data = serialpack.dumps([value, {1, 2}])
    assert "shuffle" not in chain_of(data)
    assert str(serialpack.loads(data)) == str([value, {1, 2}])


def test_a_named_chain_and_one_that_compresses_nothing_stay() -> None:
    for chain in ("objects+zstd:3", "auto+none", "objects+none"):
        data = serialpack.dumps(walk(1, 4000), chain)
        assert chain_of(data).replace("objects", "auto") == chain.replace("objects", "auto")
