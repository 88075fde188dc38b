"""Blocks in place: arrays that are mapped where they stand, of any size, and verified as ever."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import subprocess
import sys
import threading
import tracemalloc
import zlib
from mmap import mmap
from pathlib import Path
from typing import IO, Any, cast

import pytest

import serialpack
from serialpack.container.seek import find_members
from tests.container.mutants import mutants
from tests.container.test_mutants import harmless
from tests.golden import make
from tests.pipeline.damage import flipped

np = pytest.importorskip("numpy")

MIB = 1 << 20
#: 300 kB each, so that they stand beside their message.
ARRAYS: dict[str, Any] = {
    "numbers": np.arange(37_501, dtype="<f8"),
    "fortran": np.asfortranarray(np.arange(75_000, dtype=">i4").reshape(250, 300)),
    "table": np.array([("a", 1.5)] * 40_000, [("name", "S3"), ("x", "<f4")]),
    "dates": np.array(["2001-01-01"] * 40_000, "M8[ns]"),
    "texts": np.array(["é"] * 90_000),
    "flags": np.zeros(300_000, "?"),
    "nan": np.full(40_000, 0x7FF8000000000123, "<u8").view("<f8"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    serialpack.dump({"of": ARRAYS, "name": ("a", 1)}, tmp_path / "a.spk", "objects+none")
    return tmp_path / "a.spk"


@pytest.mark.parametrize("mode", ["r", "c"])
def test_arrays_are_mapped_where_they_stand(path: Path, mode: str) -> None:
    before = path.read_bytes()
    found = serialpack.load(path, mmap_mode=mode)
    assert found["name"] == ("a", 1)
    for name, array in ARRAYS.items():
        mapped = found["of"][name]
        assert type(mapped) is np.memmap
        assert (mapped.mode, mapped.offset % 64) == (mode, 0)
        assert (mapped.dtype, mapped.shape) == (array.dtype, array.shape)
        assert mapped.flags.f_contiguous == array.flags.f_contiguous
        assert mapped.tobytes() == array.tobytes()
        assert before[mapped.offset :][: array.nbytes] == array.tobytes(order="A")
        assert mapped.flags.writeable == (mode == "c")
    if mode == "c":
        mapped[0] = 0
        assert path.read_bytes() == before


def test_a_model_that_only_pickle_holds_is_mapped_on_trust(tmp_path: Path) -> None:
    path = tmp_path / "a.spk"
    model = {"weights": ARRAYS["numbers"], "kind": {frozenset: slice(3)}}
    serialpack.dump(model, path, "pickle+none")
    with pytest.raises(serialpack.RefusedError):
        serialpack.load(path, mmap_mode="r")
    found = serialpack.load(path, mmap_mode="r", trust=True)
    assert np.array_equal(found["weights"], ARRAYS["numbers"])
    assert type(_memory(found["weights"])) is mmap
    assert found["kind"] == model["kind"]


def _memory(array: Any) -> Any:
    """What the array lies in at last."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array.obj if isinstance(array, memoryview) else array


def test_a_pipe_and_memory_are_copied(path: Path) -> None:
    data = path.read_bytes()
    read, write = os.pipe()

    def feed() -> None:
        with os.fdopen(write, "wb") as pipe:
            pipe.write(data)

    thread = threading.Thread(target=feed)
    thread.start()
    with os.fdopen(read, "rb") as pipe:
        piped = serialpack.load(pipe)
    thread.join()
    for found in (piped, serialpack.loads(data), serialpack.load(io.BytesIO(data))):
        assert all(found["of"][name].tobytes() == each.tobytes() for name, each in ARRAYS.items())
        assert all(array.flags.writeable for array in found["of"].values())
    path.with_suffix(".gz").write_bytes(gzip.compress(data, 1))
    with gzip.open(path.with_suffix(".gz")) as opened:
        unzipped = cast("IO[bytes]", opened)
        for source in (io.BytesIO(data), unzipped):
            lazy = serialpack.load(source, mmap_mode="r")["of"]["fortran"]
            assert isinstance(lazy, serialpack.LazyArray)
            assert np.array_equal(lazy[3:9, ::7], ARRAYS["fortran"][3:9, ::7])
        unzipped.seek(0)
        assert np.array_equal(serialpack.load(unzipped)["of"]["fortran"], ARRAYS["fortran"])
    assert type(serialpack.load(io.BytesIO(data), mmap_mode="c")["of"]["nan"]) is np.ndarray


@pytest.mark.skipif(not hasattr(os, "preadv"), reason="this system does not read at a place")
def test_two_threads_read_what_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same object, and the same words where it is damaged or cut; the two read at once."""
    monkeypatch.setattr("serialpack.pipeline.in_place._PART", 200_000)
    monkeypatch.setattr("serialpack.container.frames._FOR_THREADS", 1)
    path = tmp_path / "a.spk"
    path.write_bytes(b"before" + serialpack.dumps(ARRAYS, "objects+none"))
    calls, both, preadv = itertools.count(), threading.Barrier(2, timeout=60), os.preadv

    def waiting(fd: int, views: list[memoryview], at: int) -> int:
        if next(calls) < 2:
            both.wait()
        return preadv(fd, views, at)

    def load(threads: int) -> Any:
        with path.open("rb") as file:
            file.seek(len(b"before"))
            try:
                found = serialpack.load(file, threads=threads)
            except serialpack.SerialpackError as error:
                return type(error), str(error)
        return {name: array.tobytes() for name, array in found.items()}

    with monkeypatch.context() as patch:
        patch.setattr(os, "preadv", waiting)
        assert load(2) == {name: array.tobytes() for name, array in ARRAYS.items()}
        assert next(calls) > 2
    data = path.read_bytes()
    for at in range(7, len(data), len(data) // 20):
        for broken in (flipped(data, at), data[:at]):
            path.write_bytes(broken)
            assert load(2) == load(1)
            assert isinstance(load(2), tuple)


def test_one_block_larger_than_any_other_may_be(tmp_path: Path) -> None:
    array = np.zeros(72 * MIB, "u1")
    array[::4096] = 7
    serialpack.dump(array, tmp_path / "a.spk", "objects+none")
    (member,) = serialpack.inspect(tmp_path / "a.spk").members
    (block,) = member.blocks
    assert block.size > 72 * MIB
    assert member.exact
    serialpack.unpack(tmp_path / "a.spk", None)
    assert np.array_equal(serialpack.load(tmp_path / "a.spk"), array)


def test_no_second_array_is_allocated(tmp_path: Path) -> None:
    """Neither to pack one nor to unpack one, by NumPy's, Python's and the system's count."""
    array, path = np.random.default_rng(1).random(2 * MIB), tmp_path / "a.spk"
    serialpack.load(make.HERE / "object-in-place.spk", trust=True)
    chains = "objects+none", "auto"
    for chain in chains:  # what is imported for it is no array
        serialpack.dump(array, path, chain, force=True)
    for chain in chains:
        tracemalloc.start()
        try:
            serialpack.dump(array, path, chain, threads=1, force=True)
            packing = tracemalloc.get_traced_memory()[1]
            tracemalloc.reset_peak()
            back = serialpack.load(path, threads=1)
            unpacking = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert np.array_equal(back, array)
        if chain == "auto":
            assert packing < array.nbytes + MIB  # blocks under way
        else:
            assert packing < MIB
            assert array.nbytes <= unpacking < array.nbytes + MIB
    code = (
        "import resource, sys, numpy, serialpack\n"
        "array = numpy.ones(8 << 20)\n"
        "def rss(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10\n"
        "serialpack.dump(numpy.ones(1 << 16), sys.argv[1], 'objects+none', force=True)\n"
        "serialpack.load(sys.argv[1])\n"
        "first = rss()\n"
        "serialpack.dump(array, sys.argv[1], 'objects+none', force=True)\n"
        "packed = rss()\n"
        "array = serialpack.load(sys.argv[1])\n"
        "print(packed - first, rss() - packed, array.nbytes)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=True)
    packing, unpacking, size = map(int, done.stdout.split())
    assert packing < size // 8
    assert unpacking < size + size // 8


def test_inspect_and_what_is_mapped_read_no_array(path: Path) -> None:
    class Counted(io.FileIO):
        count = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(-1 if size is None else size)
            self.count += len(data)
            return data

    with Counted(path) as file:
        assert serialpack.inspect(file).members[0].records == 1
        # The last 64 KiB have the index in them, and what the block's head says begins another.
        assert file.count < 140_000
        file.seek(0)
        serialpack.load(file, mmap_mode="r")
        assert file.count < 220_000 < path.stat().st_size / 7


def test_behind_another_object_its_place_counts_in_its_own_member(path: Path) -> None:
    whole, file, part = io.BytesIO(), io.BytesIO(), io.BytesIO()
    serialpack.unpack(path, whole)
    serialpack.dump(["before"], file, "objects+zstd")
    assert file.tell() % 32
    file.write(path.read_bytes())
    first, second = serialpack.inspect(io.BytesIO(file.getvalue())).members
    start = first.size + second.size // 2
    serialpack.unpack(io.BytesIO(file.getvalue()), part, byte_range=(start, start + 99))
    assert part.getvalue() == whole.getvalue()[second.size // 2 :][:99]


def test_every_damage_is_found(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    (member,) = find_members(io.BytesIO(data))
    first, head = member.first, member.first + member.index.rows[0].frame
    places = [
        *range(0, head, 7),
        head,
        head + 200,
        head + 400_000,
        *range(len(data) - 90, len(data)),
    ]
    for at in places:
        with pytest.raises(serialpack.SerialpackError) as caught:
            serialpack.load(io.BytesIO(flipped(data, at)))
        assert caught.value.exit_code == 3
    for size in (first + 5, head + 5, len(data) // 2, len(data) - 1):
        with pytest.raises(serialpack.TruncatedError):
            serialpack.load(io.BytesIO(data[:size]))
        (tmp_path / "cut.spk").write_bytes(data[:size])
        with pytest.raises(serialpack.TruncatedError):
            serialpack.load(tmp_path / "cut.spk")
    # What is mapped is not read; its description is.
    path.write_bytes(flipped(data, head + 100))
    with pytest.raises(serialpack.DamagedError):
        serialpack.load(path, mmap_mode="r")


def test_salvage_finds_it_without_header_or_index(path: Path, tmp_path: Path) -> None:
    whole = path.read_bytes()
    serialpack.unpack(path, tmp_path / "whole")
    (member,) = find_members(io.BytesIO(whole))
    for at in (12, len(whole) - 40):
        path.write_bytes(flipped(whole, at))
        report = serialpack.unpack(path, tmp_path / "left", salvage=True, force=True)
        assert (tmp_path / "left").read_bytes() == (tmp_path / "whole").read_bytes()
        assert report.damage
    path.write_bytes(flipped(whole, member.first + 500_000))
    with pytest.raises(serialpack.DamagedError):
        serialpack.unpack(path, tmp_path / "left", salvage=True, force=True)


def test_a_golden_one_and_its_mutants(tmp_path: Path) -> None:
    golden = make.HERE / "object-in-place.spk"
    assert serialpack.load(golden, trust=True) == make.FEW
    source = make.sources()["object-in-place"][1]
    for what, mutant in mutants(golden.read_bytes(), 40, zlib.crc32(b"in place")):
        harmless(mutant, source, what)
        (tmp_path / "a.spk").write_bytes(mutant)
        try:
            serialpack.load(tmp_path / "a.spk", mmap_mode="r", trust=True)
        except serialpack.SerialpackError:
            continue
