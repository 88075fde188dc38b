"""The entries of tars and zips, of those that mean no good too."""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import struct
import tarfile
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.files.source import Source
from serialpack.formats.sqlite import schema
from serialpack.inspection import datasets, tar_zip
from serialpack.inspection.listed import ListedDataset, Listing
from tests.pipes import Pipe


def tar(names: list[str], format: int = tarfile.PAX_FORMAT, size: int = 100) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as packed:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size, info.mtime = size, 1_500_000_000
            packed.addfile(info, io.BytesIO(bytes(size)))
        for name, kind in (("a folder", tarfile.DIRTYPE), ("a link", tarfile.SYMTYPE)):
            info = tarfile.TarInfo(name)
            info.type = kind
            packed.addfile(info)
    return out.getvalue()


def zipped(names: list[str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            info = zipfile.ZipInfo(name, (2017, 7, 14, 2, 40, 0))
            packed.writestr(info, bytes(100), zipfile.ZIP_DEFLATED)
        packed.mkdir("a folder") if hasattr(packed, "mkdir") else packed.writestr("a folder/", b"")
    return out.getvalue()


def of(data: bytes, source: Any = None) -> Listing:
    with Source(source if source is not None else io.BytesIO(data)) as opened:
        found = tar_zip.listing_of(opened, opened.peek(512))
    assert found is not None
    return found


NAMES = ["a.json", "sub/b.csv", "n" * 180 + "/ä.txt"]


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar(format: int) -> None:
    names = NAMES[:2] if format == tarfile.USTAR_FORMAT else NAMES
    for source in (None, Pipe(tar(names, format))):
        found = of(tar(names, format), source)
        assert [entry.name for entry in found.entries] == [*names, "a folder", "a link"]
        assert [entry.type for entry in found.entries[-3:]] == ["file", "folder", "link"]
        assert found.entries[0][:5] == ("a.json", 100, None, "2017-07-14T02:40:00Z", "file")
        assert (found.kind, found.count, found.whole) == ("tar", len(names) + 2, True)
        assert (found.size, found.packed, found.damage) == (100 * len(names), None, None)


def test_a_zip() -> None:
    found = of(zipped(NAMES))
    assert [entry.name for entry in found.entries] == [*NAMES, "a folder/"]
    entry = found.entries[0]
    assert (entry.size, entry.modified, entry.type) == (100, "2017-07-14T02:40:00", "file")
    assert entry.packed is not None
    assert entry.packed < 100
    assert found.entries[-1].type == "folder"
    assert found.packed == sum(entry.packed or 0 for entry in found.entries)
    assert (found.count, found.whole) == (4, True)
    piped = of(zipped(NAMES), Pipe(zipped(NAMES)))
    assert (piped.entries, piped.damage) == ((), None)
    assert "pipe" in piped.why


def arrays(**arrays: Any) -> bytes:
    np = pytest.importorskip("numpy")
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def test_the_range_of_each_array(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    data = arrays(
        a=np.array([[1.5, np.nan], [-2, 0]]),
        t=np.array(["2020-01-01", "NaT"], "M8[D]"),
        text=np.array(["a"]),
        big=np.arange(5000),
    )
    monkeypatch.setattr(tar_zip, "_MOST_NUMBERS", 30_000)
    found = {entry.name: entry.dataset for entry in of(data).entries}
    assert found["a.npy"] == ListedDataset(None, (), 0, -2.0, 1.5, 1)
    assert found["t.npy"] == ListedDataset(None, (), 0, "2020-01-01", "2020-01-01", 1)
    assert found["text.npy"] is not None
    assert found["text.npy"].why == "its items are no numbers"
    assert found["big.npy"] is not None
    assert found["big.npy"].why.startswith("only 0 MiB of all numbers")
    (tmp_path / "a.npz.gz").write_bytes(gzip.compress(data))
    shape = serialpack.inspect(tmp_path / "a.npz.gz").shape
    assert shape is not None  # of a zip in a small compressed file the end is at hand
    assert shape.listing is not None
    assert len(shape.listing.entries) == 4


def test_the_range_of_each_array_is_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    np = pytest.importorskip("numpy")
    made = {"a": np.array([1.5, np.nan]), "t": np.array(["2020-01-01", "NaT"], "M8[D]")}
    (tmp_path / "a.npz").write_bytes(arrays(**made, text=np.array(["a"])))
    assert run(["inspect", str(tmp_path / "a.npz")]) == 0
    lines = capfd.readouterr().out.splitlines()
    cells = (line.rpartition("  ") for line in lines if line.endswith(".npy"))
    shown = {name.removesuffix(".npy"): about.rstrip() for about, _, name in cells}
    assert shown["a"].endswith("<f8, 2, C order, 1.5 to 1.5, 1 NaN")
    assert shown["t"].endswith("<M8[D], 2, C order, 2020-01-01 to 2020-01-01, 1 NaT")
    assert shown["text"].endswith("<U1, 1, C order")


def test_more_entries_than_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar_zip, "MOST_ENTRIES", 50)
    names = [f"f{n}" for n in range(80)]
    for data in (tar(names), zipped(names)):
        found = of(data)
        assert len(found.entries) == 50
        assert (found.count, found.whole, found.damage) == (None, False, None)
        assert "50" in found.why


def test_no_more_of_a_stream_is_read_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar_zip, "MOST_BYTES", 1 << 20)
    data = tar([f"f{n}" for n in range(9)], size=300 << 10)
    found = of(data, Pipe(data))
    assert 0 < len(found.entries) < 9
    assert "1 MiB" in found.why
    assert found.damage is None


def test_what_is_cut_or_damaged_tells_the_entries_before_it() -> None:
    data = tar([f"f{n}" for n in range(9)])
    for cut in (data[:3000], data[:3072] + bytes(range(256)) * 2 + data[3584:]):
        for source in (None, Pipe(cut)):
            found = of(cut, source)
            assert found.damage is not None
            assert 0 < len(found.entries) < 9
            assert not found.whole
            assert "\n" not in str(found.damage)
    packed = zipped([f"f{n}" for n in range(9)])
    for cut in (packed[:-30], packed[:200], packed[:-200] + bytes(100) + packed[-100:]):
        assert of(cut).damage is not None


def test_nothing_that_is_changed_in_them_breaks_the_listing() -> None:
    random = Random(1)
    for whole in (tar(NAMES), tar(NAMES, tarfile.GNU_FORMAT), zipped(NAMES)):
        for _ in range(300):
            data = bytearray(whole)
            for _ in range(random.choice((1, 3, 30))):
                data[random.randrange(len(data))] = random.choice((0, 0x30, 0x37, 0x80, 0xFF))
            if tar_zip.listing_of(Source(io.BytesIO(data)), bytes(data[:512])) is not None:
                found = of(bytes(data))
                assert len(found.entries) <= 20
                assert all(entry.size >= 0 for entry in found.entries)


def test_a_long_name_that_says_it_has_gigabytes_takes_no_memory(tmp_path: Path) -> None:
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 4 << 30
    data = header.tobuf(tarfile.GNU_FORMAT)
    path = tmp_path / "a.tar"
    with path.open("wb") as file:
        file.write(data)
        file.truncate(len(data) + (4 << 30))
    packed = gzip.compress(data + bytes(300 << 20), 1)
    tracemalloc.start()
    try:
        assert of(b"", path).entries == ()
        shape = serialpack.inspect(io.BytesIO(packed)).shape
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert shape is not None
    assert shape.listing is not None
    assert shape.listing.entries == ()
    assert peak < 200 << 20


def test_a_directory_that_says_it_has_gigabytes_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    size = (1 << 31) + 5
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(size + 100)
        file.seek(0, os.SEEK_END)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 9, 9, size, 100, 0))
    found = of(b"", path)
    assert found.entries == ()
    assert "too large" in found.why


def _database(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a INTEGER, b, c AS (a + 1))")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, "x") for n in range(1200)])
    connection.execute("CREATE VIEW v AS SELECT a FROM t")
    connection.execute("CREATE VIEW broken AS SELECT a FROM nowhere")
    connection.commit()
    connection.close()
    return path


def test_the_tables_of_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _database(tmp_path / "a.db")
    found = of(b"", path)
    assert (found.kind, found.count, found.whole) == ("sqlite", 3, True)
    assert [(entry.name, entry.type, entry.about) for entry in found.entries] == [
        ("t", "table", "1,200 rows: a INTEGER, b, c"),
        ("v", "view", "a INTEGER"),
        ("broken", "view", "cannot be read: no such table: main.nowhere"),
    ]
    assert of(path.read_bytes()).entries == found.entries
    monkeypatch.setattr(datasets, "MOST_BYTES", 1000)
    assert of(b"", path).entries[0].about == "a INTEGER, b, c"
    assert of(path.read_bytes()).why.endswith(
        "only a file here is listed: save it as NAME.db, then serialpack inspect that"
    )


def test_the_tables_of_what_cannot_be_read(tmp_path: Path) -> None:
    path = _database(tmp_path / "a.db")
    beside = tmp_path / "a.db-wal"
    beside.write_bytes(b"changes")
    assert "a.db-wal has changes" in of(b"", path).why
    beside.unlink()
    path.write_bytes(path.read_bytes()[:5000])
    assert "no sound SQLite database" in of(b"", path).why


def test_tables_are_shown_without_sizes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", str(_database(tmp_path / "a.db"))]) == 0
    lines = capfd.readouterr().out.splitlines()
    table = lines[lines.index("") + 1 :]
    assert [line.split()[0] for line in table] == ["entry", "t", "v", "broken", "3"]
    assert table[1].split(maxsplit=1)[1] == "table, 1,200 rows: a INTEGER, b, c"


def test_what_is_damaged_before_it_is_packed_is_told_of_both(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of the container, which is whole, it was 0; of a database also without one."""
    path = _database(tmp_path / "a.db")
    data = bytearray(path.read_bytes())
    data[4096:4104] = b"\xff" * 8
    path.write_bytes(data)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["g/x"] = [1, 2]
    data = bytearray((tmp_path / "a.h5").read_bytes())
    (tmp_path / "a.h5").write_bytes(data.replace(b"SNOD", b"xxxx"))
    for name in ("a.db", "a.h5"):
        assert run(["pack", str(tmp_path / name)]) == 0
        capfd.readouterr()
        for each in (name, f"{name}.spk"):
            assert run(["inspect", str(tmp_path / each)]) == 3
            (said,) = capfd.readouterr().err.splitlines()
            assert f"{each}: no sound " in said
            assert "--salvage" not in said


def test_views_that_take_too_long_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 40, each of which joined the one before twice, it took minutes."""
    monkeypatch.setattr(schema, "_MOST_SECONDS", -1)
    found = of(b"", _database(tmp_path / "a.db"))
    assert (found.count, found.whole) == (3, True)
    assert [entry.about for entry in found.entries] == [
        "1,200 rows: a INTEGER, b, c",
        *["not looked at: those before it took too long"] * 2,
    ]


def test_what_full_text_search_keeps_is_not_listed(tmp_path: Path) -> None:
    """What else is called so is; SQLite's own list of them reads each view."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no full-text search")
        connection.execute("CREATE TABLE T_other (a)")
        connection.execute("CREATE TABLE u_content (a)")
    found = of(b"", tmp_path / "a.db")
    assert [entry.name for entry in found.entries] == ["t", "T_other", "u_content"]
