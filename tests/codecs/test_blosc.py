"""Blosc: its header is checked, its own filters are used, its settings do not race."""

from __future__ import annotations

import os
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import blosc
import numpy as np
import pytest

from serialpack.codecs import CODECS
from serialpack.codecs import blosc as module
from serialpack.codecs.blosc import Blosc
from serialpack.errors import CodecError, RefusedError

BUILT = [name for name in CODECS.names() if name.startswith("blosc-") and not Blosc.missing(name)]
DATA = np.arange(200_000, dtype="<u4").tobytes()
FILTERS = {"shuffle": blosc.SHUFFLE, "bitshuffle": blosc.BITSHUFFLE}


@pytest.fixture(autouse=True)
def plain_settings() -> None:
    """Those under which calls of the library itself, to compare with, give the same bytes."""
    blosc.set_blocksize(0)
    blosc.set_nthreads(1)


def test_the_wheel_has_these() -> None:
    assert set(BUILT) >= {f"blosc-{c}" for c in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")}


def test_missing_names_what_the_library_was_built_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blosc, "compressor_list", lambda: ["blosclz", "zlib"])
    assert Blosc.missing("blosc-zlib") is None
    assert "built without snappy" in (Blosc.missing("blosc-snappy") or "")


@pytest.mark.parametrize("level", [0, 1, 5, 9])
@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("name", BUILT)
def test_filter_handed_over_is_bloscs_own(name: str, kind: str, level: int) -> None:
    for itemsize in (1, 2, 4, 8, 16, 255):
        codec = Blosc(name, (level,))
        codec.with_filter(kind, itemsize)
        for data in (b"", b"abc", DATA[:1001], DATA[:100_003]):
            stored = codec.compress(data)
            assert stored == blosc.compress(
                data, itemsize, level, FILTERS[kind], name.removeprefix("blosc-")
            )
            assert codec.decompress(stored, len(data)) == data


def test_filter_makes_it_smaller() -> None:
    plain, shuffled = Blosc("blosc-zstd"), Blosc("blosc-zstd")
    shuffled.with_filter("bitshuffle", 4)
    assert len(shuffled.compress(DATA)) < len(plain.compress(DATA)) / 4


@pytest.mark.parametrize(
    ("kind", "itemsize"), [("delta", 4), ("", 1), ("shuffle", 0), ("bitshuffle", 256)]
)
def test_other_filters_are_not_taken(kind: str, itemsize: int) -> None:
    codec = Blosc("blosc-lz4")
    with pytest.raises(ValueError, match="no filter"):
        codec.with_filter(kind, itemsize)
    assert codec.compress(DATA) == Blosc("blosc-lz4").compress(DATA)


def test_header_is_checked_before_anything_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    codec = Blosc("blosc-zstd")
    stored = codec.compress(DATA)

    def edited(at: int, form: str, value: int) -> bytes:
        bad = bytearray(stored)
        struct.pack_into(form, bad, at, value)
        return bytes(bad)

    def never(*_: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(blosc, "decompress", never)
    monkeypatch.setattr(blosc, "decompress_ptr", never)
    bad = {
        "format 3": edited(0, "<B", 3),
        "not written by": edited(2, "<B", stored[2] & 0x1F | 1 << 5),
        "another way": edited(2, "<B", stored[2] | 1),
        "filtered": edited(3, "<B", 4),
        "restores to 4,294,967,295": edited(4, "<I", 2**32 - 1),
        "says it takes": edited(12, "<I", len(stored) - 1),
        "too short": stored[:15],
    }
    for says, chunk in bad.items():
        with pytest.raises(CodecError, match=says):
            codec.decompress(chunk, len(DATA))
        with pytest.raises(CodecError, match=says):
            codec.decompress_into(chunk, memoryview(bytearray(len(DATA))))
    stored = codec.compress(bytes(100))
    with pytest.raises(CodecError, match="cannot restore"):
        codec.decompress(edited(4, "<I", 2**31 - 17), 2**31 - 17)
    with pytest.raises(CodecError, match="says it takes"):
        codec.decompress(edited(4, "<I", 0), 0)


@pytest.mark.parametrize("name", BUILT)
def test_it_restores_in_memory_that_is_there(name: str) -> None:
    """And in no other, also what is damaged: the library would write where it is told to."""
    codec = Blosc(name)
    codec.with_filter("shuffle", 4)
    stored = codec.compress(DATA)
    around = bytearray(b"\xaa" * (len(DATA) + 128))
    room = memoryview(around)[64 : 64 + len(DATA)]
    assert codec.decompress_into(memoryview(stored), room) is room
    assert room == DATA
    for at in range(16, len(stored), max(len(stored) // 200, 1)):
        damaged = bytearray(stored)
        damaged[at] ^= 0x55
        with suppress(CodecError):
            codec.decompress_into(damaged, room)
        assert around[:64] == around[-64:] == b"\xaa" * 64


def test_what_one_codec_wrote_another_refuses() -> None:
    stored = Blosc("blosc-zlib").compress(DATA)
    with pytest.raises(CodecError, match="not written by blosc-zstd"):
        Blosc("blosc-zstd").decompress(stored, len(DATA))
    shuffled = Blosc("blosc-zlib")
    shuffled.with_filter("shuffle", 4)
    with pytest.raises(CodecError, match="filtered"):
        shuffled.decompress(stored, len(DATA))


def test_parameters_reach_the_library() -> None:
    values = Blosc.parse_params("blosc-zstd", ":1@256K/2")
    assert values == (1, 256 << 10, 2)
    codec = Blosc("blosc-zstd", values)
    stored = codec.compress(bytes(1 << 20))
    assert struct.unpack_from("<I", stored, 8)[0] == 256 << 10
    assert codec.decompress(stored, 1 << 20) == bytes(1 << 20)
    assert Blosc("blosc-zstd").threads == 1
    assert Blosc("blosc-zstd", (5, 0, 256)).threads <= (os.cpu_count() or 1)


def test_settings_of_the_process_are_put_back() -> None:
    blosc.set_releasegil(False)
    blosc.set_blocksize(12345)
    blosc.set_nthreads(2)
    try:
        codec = Blosc("blosc-lz4", (5, 64 << 10, 0))
        codec.decompress(codec.compress(DATA), len(DATA))
        found = blosc.set_releasegil(False), blosc.get_blocksize(), blosc.set_nthreads(1)
        assert found == (False, 12345, 2)
    finally:
        blosc.set_blocksize(0)


def test_too_much_for_one_chunk_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST", 1000)
    with pytest.raises(RefusedError, match="blosc-lz4 holds at most 1,000 bytes"):
        Blosc("blosc-lz4").compress(bytes(1001))


def test_threads_with_different_settings_do_not_disturb_each_other() -> None:
    """Blosc's block size belongs to the process; each chunk must get the one of its own codec."""
    cases = [(name, (3, block, 0)) for name in BUILT for block in (0, 16 << 10, 64 << 10)]
    alone = {case: Blosc(*case).compress(DATA) for case in cases}
    assert len(set(alone.values())) > len(BUILT)

    def work(start: int) -> None:
        for i in range(60):
            case = cases[(start + i) % len(cases)]
            codec = Blosc(*case)
            assert codec.compress(DATA) == alone[case]
            assert codec.decompress(alone[case], len(DATA)) == DATA

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, 7 * i) for i in range(4)]:
            done.result()


def test_settings_wait_for_calls_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, made certain: while one call runs, another with a different block size waits."""
    inside, other = threading.Event(), threading.Event()
    seen: list[int] = []

    def compress(data: bytes, *_: object) -> bytes:
        if data == b"other":
            other.set()
            return data
        inside.set()
        other.wait(0.3)
        seen.append(blosc.get_blocksize())
        return data

    monkeypatch.setattr(blosc, "compress", compress)
    first, second = (Blosc("blosc-lz4", (5, block << 10, 0)) for block in (16, 64))
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(first.compress, b"first")
        assert inside.wait(60)
        waiting = pool.submit(second.compress, b"other")
        running.result()
        waiting.result()
    assert seen == [16 << 10]
