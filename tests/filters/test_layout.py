"""The byte layout of each filter, as the specification has it: vectors, and the plain formula."""

from __future__ import annotations

import itertools
import random
import struct
from fractions import Fraction

import blosc
import numpy as np
import pytest

from serialpack.errors import UsageError
from serialpack.filters import FILTERS
from serialpack.stages.stage import Buffer

VECTORS = [
    ("shuffle", 1, "0102030405", "0102030405"),
    ("shuffle", 2, "a0a1 b0b1 c0c1", "a0b0c0 a1b1c1"),
    ("shuffle", 4, "a0a1a2a3 b0b1b2b3 e0e1e2", "a0b0 a1b1 a2b2 a3b3 e0e1e2"),
    ("shuffle", 3, "a0a1a2", "a0a1a2"),
    # One bit for each item: bit 0 of items 0, 1 and 7, then bit 7 of item 2.
    ("bitshuffle", 1, "01 01 80 00 00 00 00 01", "83 00 00 00 00 00 00 04"),
    ("bitshuffle", 1, "ff" + "00" * 7 + "e0e1", "01" * 8 + "e0e1"),
    # Two groups: each row has a byte for either.
    ("bitshuffle", 1, "01" * 8 + "03" * 8, "ffff 00ff" + "0000" * 6),
    # Bytes 0 of the items make the first eight rows, bytes 1 the next.
    ("bitshuffle", 2, "0180" + "0000" * 7, "01" + "00" * 7 + "00" * 7 + "01"),
    ("bitshuffle", 2, "01" * 15, "01" * 15),
    ("delta", 1, "01 03 02 ff 00", "01 02 ff fd 01"),
    ("delta", 2, "0001 0101 0000 ee", "0001 0100 fffe ee"),
    ("delta", 4, "ffffffff 00000000 05000000", "ffffffff 01000000 05000000"),
    (
        "delta",
        8,
        "0100000000000000 0000000000000080 aabb",
        "0100000000000000 ffffffffffffff7f aabb",
    ),
    ("delta", 8, "01020304050607", "01020304050607"),
    # Two rows of three, and the beginning of a third.
    ("delta", (1, 3), "010203 111213 2122", "010203 101010 1010"),
    ("delta", (2, 2), "0100 0200 0000 0400 ff", "0100 0200 ffff 0200 ff"),
    ("xor", 1, "01 03 03 ff", "01 02 00 fc"),
    ("xor", 2, "0102 0103 ee", "0102 0001 ee"),
    ("xor", (1, 2), "0102 0103", "0102 0001"),
    ("zigzag", 1, "00 ff 01 fe 02 7f 80", "00 01 02 03 04 fe ff"),
    ("zigzag", 4, "ffffffff 00000080 aa", "01000000 ffffffff aa"),
    # -1.0, 0.0, 1.0 and -0.0, in order as unsigned integers.
    (
        "ordered",
        4,
        "000080bf 00000000 0000803f 00000080 aa",
        "ffff7f40 00000080 000080bf ffffff7f aa",
    ),
    ("ordered", 1, "ff 00 80 7f", "00 80 7f ff"),
    ("byteswap", 4, "01020304 aabb", "04030201 aabb"),
    ("byteswap", 1, "0102", "0102"),
    ("transpose", (1, 3), "010203 111213 2122", "0111 0212 0313 2122"),
    ("transpose", (2, 2), "a0a1 b0b1 c0c1 d0d1 ee", "a0a1 c0c1 b0b1 d0d1 ee"),
    ("transpose", 2, "a0a1 b0b1", "a0a1 b0b1"),
    # 1.0, -2.5 and 0.0 in tenths; -0.0, pi, NaN and what is beyond the limit stay.
    (
        "scaled",
        (4, 10),
        "0000803f 000020c0 00000000 00000080 db0f4940 0000c07f 2433cd48 ee",
        "0a000000 e7ffffff 00000000 00000080 db0f4940 0000c07f 2433cd48 ee",
    ),
    # Where an item is such an integer, it becomes the float.
    ("scaled", (4, 10), "0a000000 e7ffffff", "0000803f 000020c0"),
    ("scaled", (8, 100), "7b14ae47e17a843f 9a9999999999b93f", "01" + "00" * 7 + "0a" + "00" * 7),
    # 0.3 as the product of 3 and a tenth, which is no third part of anything.
    ("scaled", (8, 10, 1), "343333333333d33f", "03" + "00" * 7),
    ("scaled", (8, 10), "343333333333d33f", "343333333333d33f"),
    ("scaled", 8, "0000000000003440", "14" + "00" * 7),
]


@pytest.mark.parametrize(("name", "values", "data", "arranged"), VECTORS)
def test_vectors(name: str, values: int | tuple[int, ...], data: str, arranged: str) -> None:
    stage = FILTERS.create(name, values if isinstance(values, tuple) else (values,))
    assert bytes(stage.forward(bytes.fromhex(data))) == bytes.fromhex(arranged)
    assert bytes(stage.backward(bytes.fromhex(arranged))) == bytes.fromhex(data)


def shuffle(data: bytes, k: int) -> bytes:
    n = len(data) // k
    out = bytearray(data)
    for i in range(n):
        for j in range(k):
            out[j * n + i] = data[i * k + j]
    return bytes(out)


def bitshuffle(data: bytes, k: int) -> bytes:
    g = len(data) // (8 * k)
    out = bytearray(g * 8 * k) + data[g * 8 * k :]
    for i in range(8 * g):
        for j in range(k):
            for b in range(8):
                bit = data[i * k + j] >> b & 1
                out[(8 * j + b) * g + i // 8] |= bit << i % 8
    return bytes(out)


def delta(data: bytes, k: int) -> bytes:
    n = len(data) // k
    numbers = struct.unpack_from(f"<{n}{'BHxIxxxQ'[k - 1]}", data)
    before = (0, *numbers)
    moved = [(x - y) % 2 ** (8 * k) for x, y in zip(numbers, before, strict=False)]
    return b"".join(x.to_bytes(k, "little") for x in moved) + data[n * k :]


@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 7, 8, 16, 100, 255])
@pytest.mark.parametrize("plain", [shuffle, bitshuffle, delta])
def test_is_the_formula_of_the_specification(plain: object, itemsize: int) -> None:
    name = plain.__name__  # type: ignore[attr-defined]
    if not FILTERS.cls(name).check_params((itemsize,)):
        return
    stage = FILTERS.create(name, (itemsize,))
    for length in (0, 1, 63, 64, 65, 500, 5003):
        data = random.Random(length).randbytes(length)
        assert bytes(stage.forward(data)) == plain(data, itemsize)  # type: ignore[operator]


@pytest.mark.parametrize("itemsize", [2, 4, 8, 16])
@pytest.mark.parametrize(
    ("name", "kind"), [("shuffle", blosc.SHUFFLE), ("bitshuffle", blosc.BITSHUFFLE)]
)
def test_is_what_blosc_does_in_one_block(name: str, kind: int, itemsize: int) -> None:
    draw = random.Random(4)
    data = draw.randbytes(64 * itemsize)
    # LZ4 gives up on the first block, of noise, so blosc copies it, filtered, behind its length;
    # the second, of zeros, makes room for that.
    blosc.set_nthreads(1)
    blosc.set_blocksize(len(data))
    try:
        chunk = blosc.compress(data + bytes(len(data)), itemsize, 5, kind, "lz4")
    finally:
        blosc.set_blocksize(0)
    (start,) = struct.unpack_from("<I", chunk, 16)
    (length,) = struct.unpack_from("<I", chunk, start)
    assert length == len(data)
    stage = FILTERS.create(name, (itemsize,))
    assert chunk[start + 4 : start + 4 + length] == bytes(stage.forward(data))


def scaled(data: bytes, k: int, scale: int, by: int) -> bytes:
    """By exact numbers, each rounded once; of a float each integer near to it is tried."""
    kind, limit = {4: ("f", 1 << 22), 8: ("d", 1 << 50)}[k]

    def rounded(number: Fraction) -> Fraction:
        return Fraction(struct.unpack(f"<{kind}", struct.pack(f"<{kind}", float(number)))[0])

    def counted(m: int) -> bytes:
        s = rounded(Fraction(scale or 1))
        exact = Fraction(m) * rounded(1 / s) if by else Fraction(m) / s
        return struct.pack(f"<{kind}", float(exact))

    out = b""
    for at in range(0, len(data) // k * k, k):
        item = data[at : at + k]
        (number,), m = struct.unpack(f"<{kind}", item), int.from_bytes(item, "little", signed=True)
        if abs(m) < limit:
            out += counted(m)
            continue
        near = round(number * (scale or 1)) if abs(number * (scale or 1)) < 2 * limit else limit
        found = [n for n in (near - 1, near, near + 1) if abs(n) < limit and counted(n) == item]
        out += found[0].to_bytes(k, "little", signed=True) if found else item
    return out + data[len(data) // k * k :]


@pytest.mark.parametrize("by", [0, 1])
@pytest.mark.parametrize("scale", [0, 3, 100, 255, 1 << 24, (1 << 30) - 3, 1 << 30])
@pytest.mark.parametrize("k", [4, 8])
def test_scaled_is_the_formula_of_the_specification(k: int, scale: int, by: int) -> None:
    draw, limit, kind = np.random.default_rng(scale), {4: 1 << 22, 8: 1 << 50}[k], f"<f{k}"
    one, s = np.dtype(kind).type(1), np.dtype(kind).type(scale or 1)
    ends = [limit - 1, limit, limit + 1]
    counts = np.concatenate([draw.integers(-limit, limit, 200), np.arange(-9, 9), ends])
    floats = (counts.astype(kind) * (one / s) if by else counts.astype(kind) / s).astype(kind)
    bits = floats.view(f"<u{k}")
    some = [bits, bits + bits.dtype.type(1), bits - bits.dtype.type(1), counts.astype(f"<i{k}")]
    some += [np.frombuffer(draw.bytes(400 * k), bits.dtype), np.array([np.inf, -0.0], kind)]
    items = np.unique(np.concatenate([each.view(bits.dtype) for each in some]))
    data, stage = draw.permutation(items).tobytes() + b"e", FILTERS.create("scaled", (k, scale, by))
    found = bytes(stage.forward(data))
    assert found == scaled(data, k, scale, by)
    assert bytes(stage.backward(found)) == data
    # No two become one, and each alone becomes what it becomes beside others.
    assert len(np.unique(np.frombuffer(found[:-1], bits.dtype))) == len(items)
    for at in range(0, 90 * k, k):
        assert bytes(stage.forward(data[at : at + k])) == found[at : at + k]


@pytest.mark.parametrize("itemsize", [3, 5, 6, 7])
def test_delta_takes_whole_integers_only(itemsize: int) -> None:
    cls = FILTERS.cls("delta")
    with pytest.raises(UsageError, match=r"itemsize must be 1\|2\|4\|8"):
        cls.parse_params("delta", f":{itemsize}")
    assert not cls.check_params((itemsize,))


def test_lorenzo_is_deltas_one_after_another() -> None:
    """Each item less what its seven neighbours in three dimensions foretell."""
    planes, rows, row = 5, 7, 11
    field = np.random.default_rng(1).integers(0, 1 << 16, (planes, rows, row), np.uint16)
    data: Buffer = field.tobytes()
    for lag in (0, row, rows * row):
        data = FILTERS.create("delta", (2, lag)).forward(data)
    found = np.frombuffer(data, "<u2").reshape(field.shape)
    inner = sum(
        (-1) ** (k + j + i)
        * field[1 - k : planes - k, 1 - j : rows - j, 1 - i : row - i].astype(int)
        for k, j, i in itertools.product((0, 1), repeat=3)
    )
    assert np.array_equal(found[1:, 1:, 1:], inner % (1 << 16))


@pytest.mark.parametrize("lag", [0, 1, 2, 3, 16, 17, 700, 2047, 2048, 5000])
@pytest.mark.parametrize("size", [1, 8])
def test_each_lag_is_undone(size: int, lag: int) -> None:
    """Short lags are doubled before rows are added up, and long ones are rows already."""
    draw = np.random.default_rng(lag)
    for name, undo in (("delta", np.add), ("xor", np.bitwise_xor)):
        for count in (0, 1, 17, 4500):
            numbers = draw.integers(0, 1 << 8 * size, count, f"<u{size}")
            plain = numbers.copy()
            step = lag or 1
            for at in range(0, count, step):
                if at:
                    stop = min(at + step, count)
                    plain[at:stop] = undo(plain[at - step : stop - step], plain[at:stop])
            stage = FILTERS.create(name, (size, lag))
            found = stage.backward(numbers.tobytes() + b"e"[: size - 1])
            assert bytes(found) == plain.tobytes() + b"e"[: size - 1]


def test_floats_are_in_order() -> None:
    draw = np.random.default_rng(2)
    for kind in ("<f2", "<f4", "<f8"):
        numbers = np.sort(draw.normal(size=500).astype(kind) * 100)
        whole = FILTERS.create("ordered", (numbers.itemsize,)).forward(numbers.tobytes())
        found = np.frombuffer(whole, f"<u{numbers.itemsize}")
        assert (found[1:] >= found[:-1]).all()
