"""Arrays of numbers: the chain that auto takes for them, from samples of all of the file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import serialpack
from serialpack.auto.cuts import whole
from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.reports import BlockInfo
from serialpack.stages.chain import parse_stage
from serialpack.stages.stage import Buffer
from tests.auto.conftest import DRAW


def foretold(*shape: int) -> np.ndarray:
    """Numbers that have no pattern along any dimension, and of which the neighbours in all of them
    together nearly foretell each: sums of noise that is the same all along one dimension."""
    found = DRAW.integers(0, 4, shape)
    for axis in range(len(shape)):
        one = tuple(1 if n == axis else length for n, length in enumerate(shape))
        found += DRAW.integers(0, 8000, one)
    return found


def packed(path: Path, **how: object) -> tuple[str, int]:
    """The chain, and the container's size; the bytes come back."""
    out, back = io.BytesIO(), io.BytesIO()
    serialpack.pack(path, out, **how)  # type: ignore[arg-type]
    serialpack.unpack(io.BytesIO(out.getvalue()), back)
    assert back.getvalue() == path.read_bytes()
    return str(serialpack.inspect(io.BytesIO(out.getvalue())).members[0].chain), len(out.getvalue())


def several(images: int) -> np.ndarray:
    """The same image, whose places foretell nothing, at times between which little changes."""
    image = DRAW.integers(0, 30_000, (60, 80))
    return image + DRAW.integers(0, 4, (images, 60, 80))


CHANNELS = np.stack([foretold(200, 300) % 251] * 3, axis=-1) + np.arange(3)


@pytest.mark.parametrize(
    ("values", "stages"),
    [
        (foretold(300, 400).astype("<i2"), ["delta:2@400"]),
        (foretold(40, 50, 60).astype("<i4"), ["delta:4@60", "delta:4@3000"]),
        (np.asfortranarray(foretold(40, 50, 60).astype("<i4")), ["delta:4@40", "delta:4@2000"]),
        (foretold(200, 300).astype(">i2"), ["byteswap:2", "delta:2@300"]),
        (
            1e9 * np.sqrt(2) + foretold(60, 60, 60).astype("<f8"),
            ["ordered:8", "delta:8@60", "delta:8@3600"],
        ),
        (CHANNELS.astype("u1"), ["delta:1@3"]),
        (several(40).astype("<i2"), ["raw+delta:2@4800+"]),
        (DRAW.integers(0, 900, 90_000).astype("<f8") * np.pi, ["raw+pcodec:9@f8"]),
        ((foretold(300, 400) % 251).astype("<f4") / 255, ["scaled:4@255+delta:4@400"]),
        (foretold(300, 400) * 0.01, ["raw+scaled:8@100/times+delta:8", "delta:8@400"]),
        (
            foretold(200, 300).astype(">f8") / 8,
            ["raw+byteswap:8+scaled:8@8+delta:8", "delta:8@300"],
        ),
        (
            (foretold(40, 50, 60) * 100 + DRAW.integers(0, 40, (40, 50, 60))).astype("<f4") / 65536,
            ["raw+scaled:4@65536+delta:4@60+delta:4@3000"],
        ),
    ],
    ids=[
        *("image", "volume", "fortran", "big-endian", "field", "channels", "times", "multiples"),
        *("shades", "prices", "eighths", "sums"),
    ],
)
def test_neighbours_foretell_each_other(
    tmp_path: Path, values: np.ndarray, stages: list[str]
) -> None:
    path = tmp_path / "a.npy"
    np.save(path, values)
    chain, size = packed(path)
    assert all(stage in chain for stage in stages), chain
    assert size < packed(path, serializer="raw")[1]


def test_what_stands_first_does_not_decide(tmp_path: Path) -> None:
    """A volume begins with air; the file is looked at farther on, a pipe cannot be."""
    volume = np.zeros((90, 256, 256), "<i2")
    volume[40:] = foretold(50, 256, 256)
    path = tmp_path / "a.npy"
    np.save(path, volume)
    assert "delta:2@256" in packed(path)[0]
    out = io.BytesIO()
    with path.open("rb") as file:
        serialpack.pack(io.BytesIO(file.read()), out)
    assert "delta" not in str(serialpack.inspect(io.BytesIO(out.getvalue())).members[0].chain)


@pytest.mark.parametrize("unit", [5e-324, 2.0**-1050, 2.0**1000])
def test_numbers_next_to_zero_are_packed(tmp_path: Path, unit: float) -> None:
    """As gradients are that nearly vanish; one has more of their unit than there are floats."""
    path = tmp_path / "a.npy"
    np.save(path, foretold(100, 100) % 1000 * unit)
    assert "scaled" not in packed(path)[0]


@pytest.mark.parametrize(
    ("images", "stages"),
    [
        (DRAW.integers(0, 1 << 32, (40, 50, 60), "<u4"), ""),
        (DRAW.normal(1, 0.001, (40, 50, 60)), "shuffle:8+"),
    ],
    ids=["noise", "alike"],
)
def test_what_recurs_far_off_is_left_to_zstd(
    tmp_path: Path, images: np.ndarray, stages: str
) -> None:
    """Images of which some are the same: no sample is as long as from one to the next. Bytes of
    equal weight are put together where they are more alike than numbers are."""
    path = tmp_path / "a.npy"
    np.save(path, images[DRAW.integers(0, len(images), 150)])
    chain, size = packed(path)
    assert chain == f"raw+{stages}zstd:3"
    assert size < 1.1 * images.nbytes
    assert size < (0.95 if stages else 1.01) * packed(path, serializer="raw", codec="zstd:3")[1]
    np.save(path, DRAW.normal(size=(150, 50, 60)).astype("<f4"))
    assert "pcodec" in packed(path)[0]


def test_what_recurs_is_found_of_few_shades(tmp_path: Path) -> None:
    """No shade is chosen to be looked behind; a pair of them is."""
    images = DRAW.integers(0, 200, (40, 50, 60)).astype("<f4") / 200
    path = tmp_path / "a.npy"
    np.save(path, images[DRAW.integers(0, len(images), 100)])
    chain, size = packed(path)
    assert chain == "raw+zstd:3"
    assert size < 0.5 * images.nbytes


def test_numbers_that_change_their_ways_get_more_chunks() -> None:
    """From level 10 on; they are read as ever."""
    multiples = [DRAW.integers(0, 5000, 1 << 16) * each for each in (1009, 1013)]
    numbers = np.concatenate(multiples).astype("<i4").tobytes()
    quick, thorough = (CODECS.create(*parse_stage(CODECS, f"pcodec:{n}@i4")) for n in (9, 10))
    stored = thorough.compress(numbers)
    assert len(stored) < 0.99 * len(quick.compress(numbers))
    assert bytes(quick.decompress(stored, len(numbers))) == numbers


def test_few_matches_are_left_to_a_quick_level(tmp_path: Path) -> None:
    """What zstd finds more of at its own makes a grainy body in the air larger."""
    path = tmp_path / "a.npy"
    body = np.hypot(*np.mgrid[-100:100, -100:100]) < 70
    np.save(path, (DRAW.normal(200, 4, (8, 200, 200)) * body).astype("u1"))
    chain, size = packed(path)
    assert chain.endswith("+zstd:1")
    filters = tuple(chain.split("+")[1:-1])
    assert size < 0.97 * packed(path, serializer="raw", filters=filters, codec="zstd:3")[1]


def regions(*shape: int, seed: int = 1) -> np.ndarray:
    """The number of the nearest of some places, for each point."""
    places = np.random.default_rng(seed).random((len(shape), 60)) * np.array(shape)[:, None]
    points = np.indices(shape).reshape(len(shape), -1, 1)
    far = ((points - places[:, None]) ** 2).sum(axis=0)
    nearest: np.ndarray = far.argmin(axis=1).reshape(shape)
    return nearest


@pytest.mark.parametrize("kind", ["<i8", "<i4", "<u2", "u1", "<f8"])
def test_labels_of_regions_are_tried_on_more_and_at_a_higher_level(
    tmp_path: Path, kind: str
) -> None:
    """Bands of nothing stand where samples are taken; what stands between tells."""
    path = tmp_path / "a.npy"
    labels = np.zeros((600, 400), kind)
    labels[110:270] = regions(160, 400)
    labels[320:480] = regions(160, 400, seed=2)
    np.save(path, labels)
    size, item = packed(path)[1], labels.itemsize
    filters: list[tuple[str, ...]] = [(), (f"shuffle:{item}",)]
    others = [
        packed(path, serializer="raw", filters=each, codec=codec)[1]
        for each in filters[: 1 + (item > 1)]
        for codec in ("zstd:3", "zstd:6")
    ]
    assert size < 1.1 * min(others)


def test_bits_of_labels_are_tried_at_a_higher_level(tmp_path: Path) -> None:
    """What a quick level leaves of little does not tell that they are smallest."""
    labels = np.kron(np.random.default_rng(0).integers(0, 10, (40, 40)), np.ones((18, 18), int))
    path = tmp_path / "a.npy"
    np.save(path, 1000 * labels.reshape(-1, 64))
    bits = packed(path, serializer="raw", filters=("bitshuffle:8",), codec="zstd:3")[1]
    assert packed(path)[1] < 1.02 * bits


@pytest.mark.parametrize("effort", [1, 3, 6])
def test_planes_that_are_alike_are_not_left_to_a_quick_level(tmp_path: Path, effort: int) -> None:
    """All bits of 0 and 255 are the same, but in a block too far apart for it to see that."""
    path = tmp_path / "a.npy"
    black = DRAW.random((160, 110, 110)) < 0.1
    np.save(path, black.astype("u1") * 255)
    size = packed(path, effort=effort)[1]
    assert size < 1.01 * packed(path, serializer="raw", codec=f"zstd:{effort}")[1]
    np.save(path, black)
    assert effort == 1 or size < 1.2 * packed(path, effort=effort)[1]


def test_noise_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, DRAW.integers(-(1 << 63), (1 << 63) - 1, 50_000))
    chain, size = packed(path)
    assert chain == "raw+zstd:3"
    assert size < path.stat().st_size + 500


@pytest.mark.parametrize("effort", range(1, 10))
def test_every_effort(tmp_path: Path, effort: int) -> None:
    path = tmp_path / "a.npy"
    np.save(path, foretold(100, 120).astype("<i2"))
    chain, _ = packed(path, effort=effort)
    assert "delta:2" in chain
    assert effort > 2 or "pcodec" not in chain


def test_every_float_keeps_its_bits(tmp_path: Path) -> None:
    """NaN with a payload, both zeros, infinities, what is denormal."""
    odd = np.array([0x7FF8000000000123, 0xFFF0000000000001, 1 << 63, 0, 1, 0x7FF << 52], "<u8")
    values = np.concatenate([odd, np.cumsum(DRAW.normal(size=5000)).view("<u8"), odd]).view("<f8")
    path = tmp_path / "a.npy"
    np.save(path, values)
    for chain in ("pcodec@f8", "zstd:3"):
        for filters in ((), ("ordered:8", "delta:8", "zigzag:8")):
            packed(path, serializer="raw", filters=filters, codec=chain)


def test_a_header_is_kept_apart_from_the_numbers(tmp_path: Path) -> None:
    """It spoils the bins of pcodec, whatever is in it."""
    path = tmp_path / "a.npy"
    np.save(path, DRAW.normal(size=90_000))
    chain, size = packed(path)
    assert chain == "raw+pcodec:9@f8/128"
    assert size < packed(path, serializer="raw", codec="pcodec@f8")[1]


@pytest.mark.parametrize("start", [8, 64, 799, 800, 4096])
def test_a_start_of_any_length(start: int) -> None:
    """Of less than a number, of all numbers and more."""
    data, out, back = DRAW.bytes(801), io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, serializer="raw", codec=f"pcodec@f8/{start}")
    serialpack.unpack(io.BytesIO(out.getvalue()), back)
    assert back.getvalue() == data


WALK = np.cumsum(DRAW.normal(size=600_000)).astype("<f4")


def blocks(path: Path, **how: object) -> tuple[tuple[BlockInfo, ...], bytes]:
    """The blocks, and all of the container."""
    out = io.BytesIO()
    serialpack.pack(path, out, **how)  # type: ignore[arg-type]
    return serialpack.inspect(io.BytesIO(out.getvalue())).members[0].blocks, out.getvalue()


def test_threads_have_a_block_each(tmp_path: Path) -> None:
    """An array that would be one block is cut into even ones, by its size alone: the bytes are the
    same whoever packs it. A size that was asked for stays."""
    path = tmp_path / "a.npy"
    np.save(path, WALK)
    found, data = blocks(path)
    sizes = [block.size for block in found]
    assert len(sizes) > 1
    assert max(sizes) < 1.05 * min(sizes)
    assert len(data) < 1.002 * len(blocks(path, block_size=4 << 20)[1])
    assert blocks(path, threads=1)[1] == blocks(path, threads=3)[1] == data
    assert blocks(path, block_size=2 << 20)[0][0].size == 2 << 20


@pytest.mark.parametrize(
    "values",
    [WALK[:90_000], (WALK[:600] + WALK[:1000, None]) // 4e5, several(100).astype("<i4")],
    ids=["few", "small", "far"],
)
def test_blocks_lose_nothing(tmp_path: Path, values: np.ndarray) -> None:
    """What is packed into little, or foretold by what is far off, is not cut."""
    path = tmp_path / "a.npy"
    np.save(path, values)
    assert len(blocks(path)[0]) == 1


def test_a_header_is_kept_apart_in_its_block_alone(tmp_path: Path) -> None:
    """It stands in the first; later ones begin with numbers."""
    path = tmp_path / "a.npy"
    np.save(path, WALK)
    how = {"serializer": "raw", "block_size": 1 << 20}
    whole, apart = (
        [block.end - block.start for block in blocks(path, codec=codec, **how)[0]]
        for codec in ("pcodec@f4", "pcodec@f4/128")
    )
    assert whole[0] != apart[0]
    assert whole[1:] == apart[1:]


def test_the_smallest_effort_tells_lzma_of_the_items(tmp_path: Path) -> None:
    """Numbers that come again at a distance, of which each byte has bits of its own."""
    few = DRAW.integers(0, 1 << 40, 3000) * np.array([1, 1 << 20]).repeat(1500)
    path = tmp_path / "a.npy"
    np.save(path, DRAW.choice(few, 30_000))
    chain, size = packed(path, effort=9)
    assert chain == "raw+xz:6@8"
    assert size < packed(path, serializer="raw", codec="xz:6")[1]


#: Of a field, an image and times: few enough to be tried whole.
SMALL = {
    "field": foretold(20, 20, 20).astype("<f4"),
    "image": foretold(120, 160).astype(">i2"),
    "walk": np.cumsum(DRAW.normal(size=6_000)),
    "times": 1_700_000_000_000 + np.cumsum(DRAW.integers(900, 1100, 8_000)),
    "text": np.frombuffer(b"of which much comes again; " * 1_200, "u1"),
}


class Counted:
    """What every codec compressed: its name and level, and the bytes."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[tuple[object, ...], bytes]] = []
        compress = Codec.compress

        def counted(codec: Codec, data: Buffer) -> Buffer:
            self.calls.append(((codec.name, *codec.values), bytes(data)))
            return compress(codec, data)

        patch.setattr(Codec, "compress", counted)


@pytest.mark.parametrize("effort", [3, 9])
@pytest.mark.parametrize("kind", SMALL)
def test_what_was_triedwhole_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, effort: int
) -> None:
    """A small array goes through the codec that is chosen once, for the trial and for good."""
    path = tmp_path / "a.npy"
    np.save(path, SMALL[kind])
    counted = Counted(monkeypatch)
    packed(path, effort=effort)
    assert len(counted.calls) == len(set(counted.calls))


@pytest.mark.parametrize("kind", SMALL)
def test_a_small_array_takes_few_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """At the default effort no more is compressed for the choice than so many times the array."""
    path = tmp_path / "a.npy"
    np.save(path, SMALL[kind])
    counted = Counted(monkeypatch)
    packed(path)
    assert sum(len(data) for _, data in counted.calls) < 11 * path.stat().st_size


def test_what_was_made_is_of_those_bytes_alone() -> None:
    """A source that is not what was looked at, as it changed since, is packed as it is now."""
    data = SMALL["walk"].tobytes()
    for source, known in ((data, b"made"), (data[:-1] + b"!", None)):
        (block,) = whole("bytes", data, b"made", io.BytesIO(source).read, 1 << 20)
        assert (block.data, block.payload) == (source, known)


def test_differences_to_rows_are_tried_without_those_to_planes(tmp_path: Path) -> None:
    """Of a volume that is smooth in all directions only those of both were tried before pcodec,
    which left 5 % more at effort 6 than at the usual one."""
    plane, row, number = np.ix_(np.arange(75), np.arange(50), np.arange(60))
    smooth = np.sin(plane / 3) + np.cos(row / 8) + np.sin(number / 9)
    noise = np.random.default_rng(9).normal(0, 8, smooth.shape)
    np.save(tmp_path / "a.npy", (smooth * 500 + noise).astype("i2"))
    sizes = [
        serialpack.pack(tmp_path / "a.npy", tmp_path / "a.spk", effort=effort, force=True).packed
        for effort in (3, 6)
    ]
    assert sizes[1] <= sizes[0]
