"""``load`` of files that are one object to Python, arrays: packed or not, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import socket
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serialpack
from serialpack.errors import DamagedError, NotContainerError, RefusedError, UsageError
from serialpack.values.equality import difference
from tests.formats.test_arrays_layout import nifti
from tests.pipes import Pipe

ARRAYS: dict[str, Any] = {
    "float": np.cumsum(np.ones((300, 200, 5)), axis=1),
    "fortran": np.asfortranarray(np.arange(60_000, dtype=">i4").reshape(300, 200)),
    "structured": np.zeros((4, 3), [("a", "<i4"), ("b", "S3")]),
    "empty": np.zeros((0, 3), "u1"),
    "no dimensions": np.array(5.5),
}


def _packed(path: Path, *, effort: int = 3) -> Path:
    target = path.with_name(path.name + ".spk")
    serialpack.pack(path, target, effort=effort)
    return target


def _is(found: Any, array: Any) -> None:
    assert type(found) is np.ndarray
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()
    assert found.flags.f_contiguous == array.flags.f_contiguous
    assert found.flags.writeable


@pytest.mark.parametrize("name", ARRAYS)
def test_of_a_packed_npy_file_the_array_is_loaded(name: str, tmp_path: Path) -> None:
    """From a path, an open file, and a pipe alike."""
    np.save(tmp_path / "a.npy", ARRAYS[name])
    packed = _packed(tmp_path / "a.npy")
    _is(serialpack.load(packed), ARRAYS[name])
    _is(serialpack.load(Pipe(packed.read_bytes())), ARRAYS[name])
    with packed.open("rb") as file:
        _is(serialpack.load(file), ARRAYS[name])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_of_a_packed_npz_file_the_arrays_are_loaded_by_name(save: Any, tmp_path: Path) -> None:
    save(tmp_path / "a.npz", **ARRAYS)
    found = serialpack.load(_packed(tmp_path / "a.npz"))
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        _is(found[name], array)


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_python_objects_in_arrays_are_loaded_with_trust(ending: str, tmp_path: Path) -> None:
    objects, path = np.array([1, None, "x"], object), tmp_path / f"a.{ending}"
    if ending == "npy":
        np.save(path, objects, allow_pickle=True)
    else:
        np.savez(path, a=objects)
    packed = _packed(path)
    with pytest.raises(RefusedError, match="pickle that can run code; trust=True loads it"):
        serialpack.load(packed)
    found = serialpack.load(packed, trust=True)
    assert (found if ending == "npy" else found["a"]).tolist() == [1, None, "x"]


def test_a_damaged_block_of_a_packed_array_is_told(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(1).bytes(3000))
    packed = _packed(tmp_path / "a.npy")
    data = bytearray(packed.read_bytes())
    data[len(data) // 2] ^= 1
    packed.write_bytes(data)
    with pytest.raises(DamagedError, match=r"a\.npy\.spk: "):
        serialpack.load(packed)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_large_array_is_loaded_by_any_number_of_threads(threads: int, tmp_path: Path) -> None:
    array = np.arange(1_000_000.0).reshape(1000, 1000)
    np.save(tmp_path / "a.npy", array)
    serialpack.pack(tmp_path / "a.npy", tmp_path / "a.spk", block_size=1 << 20)
    _is(serialpack.load(tmp_path / "a.spk", threads=threads), array)


def test_an_array_without_bytes_is_loaded_whatever_its_shape_says(tmp_path: Path) -> None:
    array = np.zeros((3_000_000, 0), "<f4")
    np.save(tmp_path / "a.npy", array)
    _is(serialpack.load(_packed(tmp_path / "a.npy")), array)


def test_of_another_packed_file_is_said_what_reads_it(tmp_path: Path) -> None:
    """And what the message says does."""
    (tmp_path / "a.csv").write_text("a\n1\n")
    packed = _packed(tmp_path / "a.csv")
    with pytest.raises(UsageError, match=r"holds a csv file, not one object; open\(path\)"):
        serialpack.load(packed)
    with serialpack.open(packed) as records:
        assert list(records) == [{"a": "1"}]
    serialpack.unpack(packed, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_datasets_are_no_object(tmp_path: Path) -> None:
    """They were said to be damaged, as no zip."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(3)
    packed = _packed(tmp_path / "a.h5")
    with pytest.raises(UsageError, match=r"holds an hdf5 file, not one object; unpack\(path"):
        serialpack.load(packed)
    with pytest.raises(serialpack.NotContainerError, match=r"HDF5\); convert\(path, target\)"):
        serialpack.load(tmp_path / "a.h5")
    serialpack.convert(tmp_path / "a.h5", tmp_path / "a.npz")
    assert serialpack.load(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2]


def test_of_a_file_without_records_none_are_promised(tmp_path: Path) -> None:
    """It was said that ``open`` has its records, which refused it."""
    (tmp_path / "a.bin").write_bytes(bytes(range(200)))
    packed = _packed(tmp_path / "a.bin")
    with pytest.raises(UsageError, match=r"a bytes file, not one object; unpack\(path, target\)"):
        serialpack.load(packed)
    with pytest.raises(UsageError, match="no records"), serialpack.open(packed) as records:
        list(records)


def test_an_archive_and_several_are_no_object(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ARRAYS["float"])
    one, archive = _packed(tmp_path / "a.npy"), tmp_path / "archive.spk"
    serialpack.pack_archive({"a.npy": tmp_path / "a.npy"}, archive)
    with pytest.raises(UsageError, match=r"is an archive, not one object; unpack_archive\(path"):
        serialpack.load(archive)
    two, data = tmp_path / "two.spk", one.read_bytes()
    for second in (data, serialpack.dumps([1], "msgpack+none", meta={"a": "b"})):
        two.write_bytes(data + second)
        with pytest.raises(UsageError, match=r"several, one after another, not one object; unpack"):
            serialpack.load(two)


OBJECTS: list[Any] = [[1], np.arange(50_000.0), {"a": np.zeros(3)}, [2] * 300]


@pytest.mark.parametrize("opener", [open, gzip.open])
@pytest.mark.parametrize("chain", ["auto", "auto+none", "pickle", "json+zlib"])
def test_of_an_open_file_one_object_is_loaded_after_another(
    tmp_path: Path, chain: str, opener: Any
) -> None:
    """As pickle does: all were read, and refused as several."""
    objects = [each for each in OBJECTS if chain != "json+zlib" or type(each) is list]
    with opener(tmp_path / "several", "wb") as file:
        file.write(b"before")
        for each in objects:
            serialpack.dump(each, file, chain)
        file.write(b"behind")
    with opener(tmp_path / "several", "rb") as file:
        assert file.read(6) == b"before"
        for each in objects:
            assert difference(each, serialpack.load(file, trust=True)) is None
        assert file.read() == b"behind"
        with pytest.raises(EOFError) as caught:
            serialpack.load(file)
        assert isinstance(caught.value, NotContainerError)


@pytest.mark.parametrize(
    ("opener", "extension"), [(gzip.open, "gz"), (bz2.open, "bz2"), (lzma.open, "xz")]
)
def test_of_a_file_that_undoes_its_compression_the_name_says_nothing(
    opener: Any, extension: str, tmp_path: Path
) -> None:
    """Its name said so, and it was refused as damaged, or at its end."""
    path = tmp_path / f"a.npy.{extension}"
    with opener(path, "wb") as file:
        np.save(file, ARRAYS["float"])
    with opener(path) as file:
        _is(serialpack.load(file), ARRAYS["float"])
        with pytest.raises(EOFError):
            serialpack.load(file)


def test_a_connection_that_stays_open_is_read_no_further_than_the_object() -> None:
    """It waited for more, or for the end."""
    here, there = socket.socketpair()
    for end in (here, there):
        end.settimeout(20)
    with here, there, here.makefile("rwb") as asks, there.makefile("rwb") as answers:
        for each in OBJECTS[:1] + OBJECTS[2:]:
            ways: list[tuple[Any, Any]] = [(asks, answers), (answers, asks)]
            for one, other in ways:
                serialpack.dump(each, one)
                one.flush()
                assert difference(each, serialpack.load(other)) is None


def test_bytes_are_one_object() -> None:
    data = serialpack.dumps(OBJECTS[1], "auto+none")
    for more in (data, b"behind"):
        with pytest.raises((UsageError, DamagedError)):
            serialpack.loads(data + more)


def test_of_another_file_only_the_header_is_read(tmp_path: Path) -> None:
    """A gigabyte of records was decoded to say that it is no object."""
    (tmp_path / "a.ndjson").write_text('{"a": 1}\n' * 1000)
    serialpack.pack(tmp_path / "a.ndjson", tmp_path / "a.spk", block_size=1 << 12)
    file = Pipe((tmp_path / "a.spk").read_bytes()[:-20])  # truncated, had it been read
    with pytest.raises(UsageError, match="an ndjson file"):
        serialpack.load(file)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_of_a_compressed_file_of_an_array_the_array_is_loaded(
    compress: Any, tmp_path: Path
) -> None:
    """Packed or not: it was said to hold bytes, or to be no serialpack file."""
    np.save(tmp_path / "a.npy", ARRAYS["fortran"])
    path = tmp_path / "a.npy.gz"  # by its first bytes, as tools do
    path.write_bytes(compress((tmp_path / "a.npy").read_bytes()))
    _is(serialpack.load(path), ARRAYS["fortran"])
    packed = _packed(path)
    _is(serialpack.load(packed), ARRAYS["fortran"])
    _is(serialpack.load(Pipe(packed.read_bytes())), ARRAYS["fortran"])
    _is(serialpack.load(packed, mmap_mode="r"), ARRAYS["fortran"])


def test_of_a_compressed_volume_too(tmp_path: Path) -> None:
    items = np.arange(24, dtype="<i2").reshape(2, 3, 4)
    data = nifti("<", items.shape, 4) + items.tobytes(order="F")
    (tmp_path / "scan.nii.gz").write_bytes(gzip.compress(data))
    for path in (tmp_path / "scan.nii.gz", _packed(tmp_path / "scan.nii.gz")):
        assert (serialpack.load(path) == items).all()


def test_a_file_of_arrays_that_is_not_packed_is_loaded_too(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ARRAYS["float"])
    np.savez(tmp_path / "a.npz", a=ARRAYS["float"])
    _is(serialpack.load(tmp_path / "a.npy"), ARRAYS["float"])
    _is(serialpack.load(tmp_path / "a.npz")["a"], ARRAYS["float"])
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-1])
    with pytest.raises(DamagedError, match=r"a\.npy: its arrays cannot be read"):
        serialpack.load(tmp_path / "a.npy")


@pytest.mark.parametrize("name", ["float", "fortran", "structured"])
def test_a_file_of_an_array_that_is_not_packed_is_mapped(name: str, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ARRAYS[name])
    for mode in ("r", "c"):
        found = serialpack.load(tmp_path / "a.npy", mmap_mode=mode)
        assert type(found) is np.memmap
        assert found.mode == mode
        assert found.dtype == ARRAYS[name].dtype
        assert found.tobytes() == ARRAYS[name].tobytes()
        assert found.flags.f_contiguous == ARRAYS[name].flags.f_contiguous
    with (tmp_path / "a.npy").open("rb") as file:
        _is(serialpack.load(file, mmap_mode="r"), ARRAYS[name])


def test_what_cannot_be_mapped_is_loaded(tmp_path: Path) -> None:
    for name in ("empty", "no dimensions"):
        np.save(tmp_path / "a.npy", ARRAYS[name])
        found = serialpack.load(tmp_path / "a.npy", mmap_mode="r")
        assert np.array_equal(found, ARRAYS[name])
    np.save(tmp_path / "b.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(RefusedError, match="trust=True loads it"):
        serialpack.load(tmp_path / "b.npy", mmap_mode="r")
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-1])
    with pytest.raises(DamagedError):
        serialpack.load(tmp_path / "a.npy", mmap_mode="r")


def test_a_container_that_is_compressed_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.spk.gz").write_bytes(gzip.compress(serialpack.dumps(["x"] * 9)))
    assert serialpack.load(tmp_path / "a.spk.gz") == ["x"] * 9
    big = gzip.compress(serialpack.dumps(ARRAYS["float"]))
    _is(serialpack.load(io.BytesIO(big)), ARRAYS["float"])


def test_of_other_compressed_files_is_said_what_reads_them(tmp_path: Path) -> None:
    """And what the messages say does."""
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n"))
    packed = _packed(path)
    for each, kind, said in (
        (path, serialpack.NotContainerError, r"\(looks like CSV\)"),
        (packed, UsageError, "holds CSV in gzip, not one object"),
    ):
        with pytest.raises(kind, match=rf"{said}; convert\(path, target\) reads it"):
            serialpack.load(each)
        target = tmp_path / f"{each.name}.ndjson"
        serialpack.convert(each, target)
        assert len(target.read_text().splitlines()) == 2
    with pytest.raises(UsageError, match=r'convert\(..., to="ndjson"\) writes those'):
        serialpack.open(packed)
    serialpack.convert(packed, tmp_path / "again", to="ndjson")
    assert len((tmp_path / "again").read_text().splitlines()) == 2


@pytest.mark.parametrize("name", ["a.pkl", "a.msgpack", "a.cbor", "a.yaml"])
def test_a_file_with_nothing_in_it_has_no_object(name: str, tmp_path: Path) -> None:
    """It "holds no document (pickle)", where pickle.load raises EOFError."""
    (tmp_path / name).touch()
    with pytest.raises(EOFError, match="empty file"):
        serialpack.load(tmp_path / name, trust=True)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (zlib.compress(pickle.dumps([1] * 99), 3), "zlib.; joblib.load reads it where joblib"),
        (b"MATLAB 5.0 MAT-file, by" + b" " * 101 + b"\x00\x01IM", "MATLAB data.; scipy reads it"),
    ],
)
def test_of_a_file_of_others_is_said_what_reads_it(data: bytes, said: str, tmp_path: Path) -> None:
    (path := tmp_path / "model.joblib").write_bytes(data)
    with pytest.raises(NotContainerError, match=said):
        serialpack.load(path)
