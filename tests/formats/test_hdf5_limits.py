"""HDF5 that leads elsewhere, is damaged, or compressed by what is not here."""

from __future__ import annotations

import io
import os
import zlib
from pathlib import Path

import numpy as np
import pytest

import serialpack
from serialpack.api import first_records
from serialpack.errors import (
    InputError,
    MissingLibraryError,
    RefusedError,
    SerialpackError,
    ValueRefusedError,
)
from serialpack.formats.arrays.hdf5 import reader
from serialpack.formats.shared.random_access import FileRead
from serialpack.inspection import datasets
from tests.formats.hdf5_files import (
    MAGIC,
    array_of,
    converted,
    listed,
    made_with,
    values,
)

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.usefixtures("hdf5_here")


def test_other_files_are_never_opened(tmp_path: Path) -> None:
    """Whatever of the ways out of a file there are."""
    (tmp_path / "secret").write_bytes(bytes(range(16)))
    made_with(tmp_path / "other.h5", x=np.arange(4))
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as made:
        made.create_dataset("far", (16,), "u1", external=[(tmp_path / "secret", 0, 16)])
        made["out"] = h5py.ExternalLink("other.h5", "x")
        for name, source, inner in (("v", "other.h5", "x"), ("w", ".", "out"), ("u", ".", "v")):
            layout = h5py.VirtualLayout((4,), "<i8")
            layout[:] = h5py.VirtualSource(source, inner, (4,))
            made.create_virtual_dataset(name, layout)
        made["x"] = np.arange(4)
        layout = h5py.VirtualLayout((8,), "<i8")
        layout[:4] = layout[4:] = h5py.VirtualSource(".", "x", (4,))
        made.create_virtual_dataset("inside", layout)
    assert values(path, "inside") == [0, 1, 2, 3, 0, 1, 2, 3]
    for name in ("far", "out", "v", "w", "u"):
        with pytest.raises(RefusedError, match="not opened"):
            values(path, name)
    with pytest.raises(ValueRefusedError, match=r"far \(the numbers of /far are in other files"):
        serialpack.convert(path, io.BytesIO(), to="npz")  # of which no word said how to go on
    out = io.BytesIO()
    serialpack.convert(path, out, to="npz", lossy=["around"])
    assert {name.partition("@")[0] for name in np.load(io.BytesIO(out.getvalue())).files} == {
        "x",
        "inside",
    }
    found = {entry.name: entry.dataset for entry in listed(path).entries}
    assert found["far"] is not None
    assert found["far"].why == "it cannot be read here"


def test_without_the_library(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serialpack.formats.arrays.hdf5.reader.is_installed", lambda _: False)
    with pytest.raises(MissingLibraryError, match=r"pip install 'serialpack\[hdf5\]'"):
        values(file)
    assert "pip install" in listed(file).why
    serialpack.pack(file, tmp_path / "a.spk")


def test_what_is_too_large_as_a_whole_is_taken_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said to be an npz file, whose bytes could be kept."""
    monkeypatch.setattr("serialpack.formats.shared.document.MAX_BLOCK", 1000)
    path = tmp_path / "a.h5"
    made_with(path, a=np.arange(1000), b=np.arange(2))
    with pytest.raises(RefusedError, match=r"arrays of more than 64 MiB .* takes one of them"):
        values(path)
    assert values(path, "b") == [0, 1]


def test_a_large_stream_is_not_listed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "MOST_BYTES", 1000)
    shape = serialpack.inspect(io.BytesIO(file.read_bytes())).shape
    assert shape is not None
    assert shape.listing is not None
    assert not shape.listing.entries
    assert shape.listing.why.endswith("save it as NAME.h5, then serialpack inspect that")


def said_to_be(data: bytes, number: int) -> bytes:
    """A file in which the filter gzip has another number: it stands 8 bytes before its name."""
    at = data.index(b"deflate\0") - 8
    return data[:at] + number.to_bytes(2, "little") + data[at + 2 :]


def test_a_filter_that_is_not_here(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as made:
        made.create_dataset("x", data=np.arange(100), chunks=(10,), compression="gzip")
    data = path.read_bytes()
    path.write_bytes(said_to_be(data, 557))
    with pytest.raises(SerialpackError, match=r"filter 557.*not here"):
        values(path, "x")


@pytest.mark.usefixtures("own_process")
def test_blosc(tmp_path: Path) -> None:
    """As PyTables has it."""
    plugin = pytest.importorskip("hdf5plugin")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as made:
        made.create_dataset("x", data=np.arange(1000), **plugin.Blosc("lz4"))
    (entry,) = listed(path).entries
    assert entry.dataset is not None
    assert entry.dataset.filters == ("blosc",)
    assert values(path, "x") == [*range(1000)]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("summed", [False, True])
def test_lzo(tmp_path: Path, shuffle: bool, summed: bool) -> None:
    """As PyTables has it, which old tables without checksums are of too; one chunk is not there."""
    lzo = pytest.importorskip("lzallright").LZOCompressor()
    wanted = np.arange(77, dtype=">i4").reshape(11, 7)
    wanted[4:8, :4] = -1
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as made:
        how = {"chunks": (4, 4), "compression": "gzip", "shuffle": shuffle, "fillvalue": -1}
        dataset = made.create_dataset("x", (11, 7), ">i4", **how)
        for row, column in ((0, 0), (0, 4), (4, 4), (8, 0), (8, 4)):
            chunk = np.zeros((4, 4), ">i4")
            part = wanted[row : row + 4, column : column + 4]
            chunk[: part.shape[0], : part.shape[1]] = part
            plain = chunk.tobytes()
            if shuffle:
                plain = np.frombuffer(plain, "u1").reshape(-1, 4).T.tobytes()
            packed = lzo.compress(plain)
            if summed:
                packed += zlib.adler32(plain).to_bytes(4, "little") + (64).to_bytes(4, "little")
            dataset.id.write_direct_chunk((row, column), packed)
    data = said_to_be(path.read_bytes(), 305)
    path.write_bytes(data)
    assert array_of(converted(path, "npy")).tobytes() == wanted.tobytes()
    if summed:
        path.write_bytes(data.replace(packed[-8:], bytes(4) + packed[-4:]))
        with pytest.raises(InputError, match="a chunk does not have its checksum"):
            converted(path, "npy")


@pytest.mark.usefixtures("own_process")
def test_damaged_files_are_told(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    for name, broken in {"cut": data[:3000], "empty": MAGIC, "none": b"x" * 5000}.items():
        path = tmp_path / f"{name}.h5"
        path.write_bytes(broken)
        with pytest.raises(InputError, match="no sound HDF5 file"):
            values(path, "big")


def test_a_corner_of_what_is_damaged_is_told_beside_others(tmp_path: Path) -> None:
    """Nothing of the file was shown."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as made:
        made.create_dataset("a", data=np.arange(1000), chunks=(1000,), compression="gzip")
        made["b"] = np.arange(3)
        chunk = made["a"].id.get_chunk_info(0)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    path.write_bytes(data)
    shown = io.BytesIO()
    first_records(path, shown, 2)
    first, second = shown.getvalue().splitlines()
    assert first.startswith(b'{"a": "(damaged: ')
    assert second == b'{"b": [0, 1]}'


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.usefixtures("own_process")
def test_a_library_that_breaks_down_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is one that works without end: a signal ends it."""
    child = "serialpack.formats.arrays.hdf5.reader._CHILD"
    for end, words in (("SIGSEGV", "SIGSEGV"), ("SIGPROF", "a minute without an end")):
        monkeypatch.setattr(child, f"import os, signal; os.kill(os.getpid(), signal.{end})")
        with pytest.raises(InputError, match=f"broke down over it .*{words}"):
            values(file, "big")


@pytest.mark.usefixtures("own_process")
def test_a_mistake_of_ours_is_told_as_one(file: Path) -> None:
    """And not as one of the file."""
    with pytest.raises(reader.MistakenError, match="AttributeError") as caught:
        list(reader.asked(FileRead(lambda _: b"", str(file)), "one", at=5, as_array=True))
    assert "in found_at" in caught.value.__notes__[0]
