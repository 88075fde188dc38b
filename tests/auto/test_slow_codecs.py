"""What -9 tries beside zstd for what has neither records nor numbers."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest

import serialpack
from serialpack.auto import slow_codecs
from serialpack.auto.choice import LEAST, choose
from serialpack.auto.slow_codecs import smallest
from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.reports import PackReport
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer

HIGHEST = max(EFFORTS)
SLOW = EFFORTS[HIGHEST].slow


def prose(size: int) -> bytes:
    """Words, a few of them often: what bzip2 sorts well."""
    r = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(r.choices(letters, k=r.randint(2, 9))) for _ in range(2000)]
    weights = [*accumulate(1 / rank for rank in range(1, 2001))]
    return " ".join(r.choices(words, cum_weights=weights, k=size // 5)).encode()[:size]


def index(size: int) -> bytes:
    """Offsets that grow, each behind a few small numbers: LZMA tells these and those apart."""
    r = random.Random(2)
    out, offset = bytearray(), 0
    while len(out) < size:
        offset += r.randint(1, 9)
        out += offset.to_bytes(3, "big")
        out += bytes(r.choices((0, 1, 2), weights=(9, 3, 1), k=r.randint(1, 4))) + b"\xff"
    return bytes(out[:size])


def noise(size: int) -> bytes:
    return random.Random(3).randbytes(size)


def packed(data: bytes, effort: int = HIGHEST, codec: str = "auto") -> PackReport:
    """The report of packing ``data``, which comes back."""
    out, again = io.BytesIO(), io.BytesIO()
    report = serialpack.pack(io.BytesIO(data), out, effort=effort, codec=codec)
    out.seek(0)
    serialpack.unpack(out, again)
    assert again.getvalue() == data
    return report


@pytest.mark.parametrize(
    ("make", "codec"), [(prose, "bz2:9"), (index, "xz:9@1"), (noise, "zstd:22")]
)
@pytest.mark.parametrize(("size", "sample"), [(LEAST, LEAST), (200_000, 100_000)])
def test_it_leaves_no_more_than_any_of_them(
    make: Callable[[int], bytes],
    codec: str,
    size: int,
    sample: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slow_codecs, "_SAMPLE", sample)
    data = make(size)
    found = packed(data)
    assert str(found.chain) == f"raw+{codec}"
    least = min(packed(data, codec=each).packed for each in ("zstd:22", *SLOW))
    # Where it is not zstd, the container says why.
    assert found.packed <= least * 1.01 + len(found.why) + 8
    assert (codec.partition(":")[0] in found.why) == (make is not noise)


def test_no_other_effort_tries_them() -> None:
    data = prose(100_000)
    for effort in EFFORTS:
        assert (packed(data, effort).chain == "raw+bz2:9") == (effort == HIGHEST), effort


def test_of_what_comes_again_far_off_a_sample_tells_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a sample bzip2 is the smallest; of all of it codecs are that look far."""
    sample = 1_000_000
    monkeypatch.setattr(slow_codecs, "_SAMPLE", sample)
    data = prose(sample) * 2
    zstd = choose(effort=HIGHEST).chain.codec
    by_sample = smallest(zstd, SLOW, data[:sample])
    assert by_sample.codec.name == "bz2"
    found = smallest(zstd, SLOW, data)
    assert found.codec.name != "bz2"
    assert found.payload is not None
    assert len(found.payload) < 0.7 * len(CODECS.create(*by_sample.codec).compress(data))


def test_what_was_tried_whole_is_not_packed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    size, compressed = 100_000, []

    def noting(self: Codec, data: Buffer) -> Buffer:
        if len(data) == size:
            compressed.append(self.name)
        return real(self, data)

    real = Codec.compress
    monkeypatch.setattr(Codec, "compress", noting)
    assert packed(prose(size)).chain == "raw+bz2:9"
    assert sorted(compressed) == ["bz2", "xz", "zstd"]


def test_nothing_is_tried_of_few_bytes_or_where_a_codec_is_named() -> None:
    assert packed(prose(LEAST - 1)).chain == "raw+zstd:22"
    assert packed(prose(100_000), codec="zstd").chain == "raw+zstd:22"


def test_small_files_of_an_archive_are_tried_together(tmp_path: Path) -> None:
    data, sizes = prose(60_000), {}
    sources = {}
    for at in range(0, len(data), 3000):
        path = tmp_path / f"{at}.txt"
        path.write_bytes(data[at : at + 3000])
        sources[path.name] = path
    for codec in ("auto", "zstd"):
        archive, again = tmp_path / f"{codec}.spk", tmp_path / f"again-{codec}"
        serialpack.pack_archive(sources, archive, effort=HIGHEST, codec=codec)
        sizes[codec] = archive.stat().st_size
        serialpack.unpack_archive(archive, again)
        assert all((again / n).read_bytes() == path.read_bytes() for n, path in sources.items())
    assert sizes["auto"] < 0.9 * sizes["zstd"]
