"""Tables of numbers of one type: their columns apart, where these are unlike each other."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import serialpack
from serialpack.auto.arrays.trial import SampleTrial
from serialpack.codecs import CODECS
from serialpack.formats.shared.large import NumbersLayout
from serialpack.stages.chain import parse_stage
from tests.auto.test_arrays import packed

ROWS = 20_000


def edges() -> np.ndarray:
    """From where, in order, and to anywhere."""
    draw = np.random.default_rng(1)
    places = draw.integers(0, ROWS // 8, (ROWS, 2))
    places[:, 0].sort()
    return places


def ticks() -> np.ndarray:
    """Times, prices and amounts."""
    draw = np.random.default_rng(2)
    times = 1.7e9 + np.cumsum(draw.exponential(0.2, ROWS)).round(3)
    prices = (100 + np.cumsum(draw.normal(0, 0.02, ROWS))).round(2)
    return np.stack([times, prices, draw.zipf(1.5, ROWS) % 1000 * 100.0], axis=1)


def features() -> np.ndarray:
    draw = np.random.default_rng(3)
    columns = draw.normal(50, 12, ROWS).round(1), draw.integers(0, 2, ROWS), draw.random(ROWS)
    return np.column_stack([*columns, draw.lognormal(8, 2, ROWS), draw.integers(18, 90, ROWS)])


TABLES = {
    "edges": edges(),
    "ticks": ticks(),
    "features": features().astype("<f4"),
    "big-endian": features().astype(">f8"),
    "records": ticks().view([("time", "<f8"), ("price", "<f8"), ("amount", "<f8")]).ravel(),
}


@pytest.mark.parametrize("effort", [3, 9])
@pytest.mark.parametrize("rows", [ROWS // 20, ROWS])
@pytest.mark.parametrize("kind", TABLES)
def test_columns_that_are_unlike_are_packed_apart(
    tmp_path: Path, kind: str, rows: int, effort: int
) -> None:
    path = tmp_path / "a.npy"
    np.save(path, table := TABLES[kind][:rows])
    chain, size = packed(path, effort=effort)
    size_of = table[0].nbytes // (table.itemsize if table.dtype.names is None else 8)
    assert f"@{size_of}+pcodec" in chain, chain
    assert chain.endswith(f"={size_of}")
    codec = f"pcodec@{'<f8' if table.dtype.names else table.dtype.str}".replace("<", "")
    if ">" not in codec:
        assert size < 0.93 * packed(path, serializer="raw", codec=codec, effort=effort)[1]


@pytest.mark.parametrize("effort", [3, 9])
@pytest.mark.parametrize("rows", [ROWS // 20, ROWS])
@pytest.mark.parametrize("kind", ["edges", "ticks", "features", "big-endian"])
def test_columns_that_stand_one_after_another_are_packed_apart(
    tmp_path: Path, kind: str, rows: int, effort: int
) -> None:
    """In Fortran order, as pandas has them, and as rows; as small as in C order, and untransposed:
    samples are of all columns."""
    path = tmp_path / "a.npy"
    table = TABLES[kind][:rows]
    np.save(path, table)
    least = packed(path, effort=effort)[1]
    for stacked in (np.asfortranarray(table), np.ascontiguousarray(table.T)):
        np.save(path, stacked)
        chain, size = packed(path, effort=effort)
        assert size < 1.02 * least
        assert "transpose" not in chain
        assert effort > 3 or chain.endswith(f"={table.shape[1]}"), chain


def test_no_block_begins_within_a_column(tmp_path: Path) -> None:
    """So many columns as fit are in each; in blocks of a given size none are told apart."""
    source, path = tmp_path / "a.npy", tmp_path / "a.spk"
    table = np.tile(features().astype("<f4"), (10, 3))
    table[:, :5] += np.arange(len(table), dtype="<f4")[:, None]
    np.save(source, np.asfortranarray(table))
    serialpack.pack(source, path)
    member = serialpack.inspect(path).members[0]
    assert str(member.chain).endswith("=5"), member.chain
    first, *others = (block.size for block in member.blocks)
    assert others == [first - 128] * 2 == [5 * table[:, 0].nbytes] * 2
    assert np.array_equal(serialpack.load(path, mmap_mode="r")[::999], table[::999])
    serialpack.pack(source, path, block_size=1_000_000, force=True)
    member = serialpack.inspect(path).members[0]
    assert {block.size for block in member.blocks[:-1]} == {1_000_000}
    assert "=" not in str(member.chain)


def test_columns_of_an_array_in_an_archive_are_packed_apart(tmp_path: Path) -> None:
    """Where its block holds all of them."""
    source, npz = tmp_path / "a.npy", tmp_path / "a.npz"
    table = np.ascontiguousarray(np.tile(ticks(), (3, 1)).T)
    np.save(source, table)
    np.savez(npz, small=table, large=np.tile(table, (1, 4)))
    alone = packed(source)[1]
    assert packed(npz)[1] < 6 * alone
    np.savez(npz, table)
    assert packed(npz)[1] < 1.02 * alone + 500


@pytest.mark.parametrize("columns", [2, 3, 8, 64])
def test_columns_that_are_alike_are_not_tried(
    tmp_path: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in embeddings: a look at few numbers tells."""
    tried = []
    parse = CODECS.cls("pcodec").parse_params

    def told(name: str, text: str, effort: int) -> object:
        tried.append(text)
        return parse(name, text, effort)

    monkeypatch.setattr(CODECS.cls("pcodec"), "parse_params", told)
    path = tmp_path / "a.npy"
    draw = np.random.default_rng(4)
    noise = draw.normal(size=(9000, columns))
    for values in (noise.astype("<f4"), (1000 * noise).cumsum(0).astype("<i4")):
        for table in (values, np.asfortranarray(values)):
            np.save(path, table)
            packed(path)
    assert tried
    assert not any("=" in text for text in tried)


def test_slices_of_columns_apart_are_read(tmp_path: Path) -> None:
    """Rows that no block begins with, too."""
    source, path = tmp_path / "a.npy", tmp_path / "a.spk"
    table = np.tile(ticks(), (5, 1))
    table[:, 0] += np.arange(len(table))
    np.save(source, table)
    serialpack.pack(source, path, block_size=1_000_000)
    member = serialpack.inspect(path).members[0]
    assert len(member.blocks) > 1
    assert "transpose:8@3" in str(member.chain)
    lazy = serialpack.load(path, mmap_mode="r")
    for rows in (slice(0, 3), slice(41_000, 43_000), slice(-2, None), slice(7, 99_000, 1001)):
        assert np.array_equal(lazy[rows], table[rows])
    assert np.array_equal(lazy[:, 1], table[:, 1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_columns_are_packed_apart(tmp_path: Path, order: Literal["C", "F"]) -> None:
    draw = np.random.default_rng(4)
    columns = [draw.integers(0, 10 ** (number % 7), 3000) for number in range(100)]
    path = tmp_path / "a.npy"
    np.save(path, np.array(np.stack(columns, axis=1), "<i4", order=order))
    chain, size = packed(path)
    assert chain.endswith(("=100", "=50"))  # in one block, or two
    rows = tmp_path / "rows.npy"
    np.save(rows, np.stack(columns, axis=1).astype("<i4"))
    assert size < 0.9 * packed(rows, serializer="raw", codec="pcodec@i4")[1]


def test_which_arrays_have_columns() -> None:
    """Neither an image of bytes, nor records of several types, nor what is longer than a table."""

    def columns(size: int, *lags: int, record: int = 0) -> int:
        return NumbersLayout(0, "f", size, False, lags, record).columns

    assert [columns(8, 2), columns(8, 1, 256), columns(1, 5), columns(4, 3, 900)] == [2, 256, 5, 3]
    assert not any((columns(8, 1), columns(8, 1, 257), columns(1, 3, 900)))
    assert not columns(1, 12, record=12)


@pytest.mark.parametrize("level", [4, 9, 12])
@pytest.mark.parametrize("more", ["", "/256"])
@pytest.mark.parametrize("count", [2, 7, 1000])
def test_columns_have_chunks_of_their_own(level: int, more: str, count: int) -> None:
    """Whatever is left behind the last row; the reader does not know of them."""
    numbers = np.ascontiguousarray(features().T).ravel()[: 5 * ROWS - 3].astype("<f4")
    codec = CODECS.create(*parse_stage(CODECS, f"pcodec:{level}@f4{more}={count}"))
    reader = CODECS.create(*parse_stage(CODECS, "pcodec@f4"))
    for some in (numbers, numbers[:count], numbers[: 2 * count + 1], numbers[:1], numbers[:0]):
        data = some.tobytes() + b"end"
        told = codec.estimated(data)
        stored = codec.compress(data)
        assert bytes(reader.decompress(stored, len(data))) == data
        assert count > 7 or abs(told - len(stored)) < 0.05 * len(stored) + 64 * count
    codec.begins(source=False)
    whole = len(
        CODECS.create(*parse_stage(CODECS, f"pcodec:{level}@f4")).compress(numbers.tobytes())
    )
    apart = parse_stage(CODECS, f"pcodec:{level}@f4=5")
    assert len(CODECS.create(*apart).compress(numbers.tobytes())) < whole


def test_a_stream_of_columns_says_how_many_numbers_it_has() -> None:
    """As one of pcodec's own does, which readers make room by."""
    numbers = np.arange(30_000, dtype="<i8")
    stored = {}
    for text in ("pcodec:9@i8", "pcodec:9@i8=3"):
        stored[text] = CODECS.create(*parse_stage(CODECS, text)).compress(numbers.tobytes())
    whole, apart = (bytes(each) for each in stored.values())
    start = whole.index(b"pco!")
    assert whole[start : start + 11] == apart[apart.index(b"pco!") :][:11]


def test_a_container_of_columns_is_read_back(tmp_path: Path) -> None:
    out, back = io.BytesIO(), io.BytesIO()
    path = tmp_path / "a.bin"
    path.write_bytes(edges().astype("<u2").tobytes() + b"!")
    serialpack.pack(path, out, serializer="raw", filters=("transpose:2@2",), codec="pcodec@u2=2")
    serialpack.unpack(io.BytesIO(out.getvalue()), back)
    assert back.getvalue() == path.read_bytes()
    assert str(serialpack.inspect(io.BytesIO(out.getvalue())).members[0].chain).endswith("@u2=2")


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_the_least_number_of_a_size_is_a_difference(size: int) -> None:
    """Its absolute one has no place in signed numbers of that size: the logarithm of what was
    taken for it printed a warning to the terminal."""
    table = np.random.default_rng(1).integers(0, 2, (20_000, 4)).astype(f"<u{size}")
    data = (table << np.array(8 * size - 1, table.dtype)).tobytes()
    trial = SampleTrial(NumbersLayout(0, "u", size, False, (1, 4)), [data], 80_000, {})
    assert np.isfinite(trial.told_by_columns())
