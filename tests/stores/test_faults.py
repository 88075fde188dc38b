"""What must not happen to a store: half a value, another program's file lost, a traceback."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest

import serialpack
from serialpack.pipeline.squeeze import Squeeze
from serialpack.stores.base import Change, KeyValueStore
from serialpack.stores.keys import encoded_key
from serialpack.stores.registry import opened_store, store_named
from serialpack.stores.values import _SmallZstd, trained
from tests.noise import noise
from tests.stores.child import child
from tests.stores.kinds import ON_DISK, url_of

_ROOT = Path(__file__).parents[2]


@ON_DISK
def test_what_another_process_is_writing_to_is_said_to_be_locked(
    tmp_path: Path, scheme: str, name: str
) -> None:
    url = url_of(tmp_path, scheme, name)
    serialpack.store(url).close()

    def hold() -> None:
        store = opened_store(store_named(url), "w")
        store.write([])

        class Waiting(list[Change]):
            def __iter__(self) -> Iterator[Change]:
                yield b"a", b"1"
                os.write(1, b".")
                signal.pause()

        store.write(Waiting([(b"a", b"1")]))

    with child(hold) as (number, front):
        assert os.read(front, 1) == b"."
        try:
            with (
                pytest.raises(serialpack.FileError, match="is locked by another process"),
                serialpack.store(url, timeout=0.05) as store,
            ):
                store["b"] = 2
        finally:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
    # Of LMDB a thread had been left waiting, which gives way as soon as it has what it waits for.
    while any(thread.daemon and "_wait" in thread.name for thread in threading.enumerate()):
        time.sleep(0.001)
    with serialpack.store(url) as store:
        assert dict(store) == {}
        store["b"] = 2
        assert store["b"] == 2


#: The first values of a store, which gain by a dictionary.
_FIRST = {f"key {n}": {"name": f"person {n}", "mail": f"p{n}@example.org"} for n in range(400)}


def test_a_dictionary_that_was_not_written_is_not_used(tmp_path: Path) -> None:
    """The store was locked once, and what was written then could not be read any more."""
    url = url_of(tmp_path, "sqlite-kv", "s.db")
    with serialpack.store(url, timeout=0.01) as store:
        with closing(sqlite3.connect(tmp_path / "s.db")) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(serialpack.FileError, match="is locked by another process"):
                store.update(_FIRST)
        assert not store.header.dictionary
        store.update(_FIRST)
        assert store.header.dictionary
    with serialpack.store(url, "r") as store:
        assert dict(store) == _FIRST


@ON_DISK
def test_a_dictionary_is_made_by_one_of_two(
    tmp_path: Path, scheme: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that wrote the first values at the same time, those of one were lost."""
    if scheme == "tokyocabinet":
        pytest.skip("nobody else can open one that is written to")
    url = url_of(tmp_path, scheme, name)
    code = (
        "import sys, serialpack; from tests.stores.test_faults import _FIRST\n"
        "with serialpack.store(sys.argv[1], 'w') as store: store.update(_FIRST)"
    )

    def beside(*args: Any) -> bytes:
        monkeypatch.undo()
        subprocess.run([sys.executable, "-c", code, url], check=True, cwd=_ROOT)
        return trained(*args)

    more = {f"more {n}": f"a text of many words, {n}" for n in range(400)}
    serialpack.store(url).close()
    with serialpack.store(url) as store:
        monkeypatch.setattr("serialpack.stores.mapping.trained", beside)
        store.update(more)
        assert dict(store) == _FIRST | more
    with serialpack.store(url, "r") as store:
        assert dict(store) == _FIRST | more


def test_a_store_that_is_read_learns_of_a_dictionary_of_others(tmp_path: Path) -> None:
    """It makes none, and said that values which were written with one are damaged."""
    url = url_of(tmp_path, "sqlite-kv", "s.db")
    serialpack.store(url).close()
    with serialpack.store(url, "r") as store:
        with pytest.raises(serialpack.UsageError, match="opened to be read"):
            store.update(_FIRST)
        assert not store.header.dictionary
        with serialpack.store(url) as other:
            other.update(_FIRST)
        assert store["key 7"] == _FIRST["key 7"]
        assert dict(store) == _FIRST


@ON_DISK
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, scheme: str, name: str) -> None:
    url = url_of(tmp_path, scheme, name)
    with serialpack.store(url, chain="msgpack+none") as store:
        store["a"] = 1
    size = (tmp_path / name).stat().st_size

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 65536, size + 65536))
        with serialpack.store(url) as store:
            try:
                store.update({n: noise(4000, n) for n in range(200)})
            except serialpack.FileError as error:
                os.write(1, str(error).encode())

    with child(fill) as (number, front):
        said = os.read(front, 4096).decode()
        _, status = os.waitpid(number, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert said.startswith(url)
    assert "\n" not in said
    with serialpack.store(url) as store:
        assert dict(store) == {"a": 1}


def test_lmdb_is_read_where_there_is_no_room_for_its_lock_file(tmp_path: Path) -> None:
    """Of a disk that is full its library hears by a signal, which kills."""
    pytest.importorskip("lmdb")
    url = url_of(tmp_path, "lmdb", "s.lmdb")
    with serialpack.store(url) as store:
        store["a"] = 1
    (tmp_path / "s.lmdb-lock").unlink()

    def read() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        with serialpack.store(url, "r") as store:
            os.write(1, str(store["a"]).encode())

    with child(read) as (number, front):
        assert os.read(front, 4096) == b"1"
        _, status = os.waitpid(number, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["s.lmdb"]


@ON_DISK
@pytest.mark.parametrize("data", [b"", b"no store\n" * 999], ids=["empty", "text"])
def test_a_file_of_another_kind_is_named(
    tmp_path: Path, scheme: str, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    for flag in ("r", "c"):
        with pytest.raises(serialpack.InputError, match=r"is no .* store of serialpack"):
            serialpack.store(url_of(tmp_path, scheme, name), flag)
    assert (tmp_path / name).read_bytes() == data
    assert [each.name for each in tmp_path.iterdir()] == [name]


@ON_DISK
def test_a_store_of_another_program_is_named(tmp_path: Path, scheme: str, name: str) -> None:
    url = url_of(tmp_path, scheme, name)
    serialpack.store(url).close()
    store = opened_store(store_named(url), "w")
    store.write([(key, None) for key in [*store.keys()]] + [(b"theirs", b"1")])
    store.close()
    before = _open_files()
    with pytest.raises(serialpack.InputError, match=r"is no .* store") as kept:  # and its frames
        serialpack.store(url)
    assert kept.value.path == url
    assert _open_files() == before


def _open_files() -> int:
    """How many files this process has open; 0 where the system does not tell."""
    return len([*Path("/proc/self/fd").glob("*")])


def test_a_database_with_other_tables_is_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "s.db") as connection:
        connection.execute("CREATE TABLE records (a)")
    connection.close()
    with pytest.raises(serialpack.InputError, match="is no SQLite store of serialpack") as refused:
        serialpack.store(f"sqlite-kv://{tmp_path}/s.db")
    assert "--to json" in (refused.value.hint or "")


@pytest.mark.parametrize("mode", ["r", "w"])
def test_a_database_of_others_is_left_as_it_is(tmp_path: Path, mode: Literal["r", "w"]) -> None:
    """What its writer had not brought into it was, where it was taken for a store."""
    with closing(sqlite3.connect(tmp_path / "open.db", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE t (a)")
        for path in [*tmp_path.iterdir()]:  # as its writer leaves them where it is killed
            path.with_name(path.name.replace("open", "left")).write_bytes(path.read_bytes())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert "left.db-wal" in before
    with pytest.raises(serialpack.InputError, match="is no SQLite store of serialpack"):
        serialpack.store(f"sqlite-kv://{tmp_path / 'left.db'}", mode)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("chain", ["json+zstd:3", "json+zlib:1"])
def test_a_value_that_its_codec_does_not_give_back_is_not_stored(
    tmp_path: Path, chain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other bytes came back, and no error."""
    for coder in (_SmallZstd, Squeeze):
        monkeypatch.setattr(coder, "backward", lambda *given: bytes(given[-1]))
    url = f"sqlite-kv://{tmp_path}/s.db"
    with serialpack.store(url, chain=chain) as store:
        with pytest.raises(serialpack.SerialpackError, match=r"did not give back .*other bytes"):
            store["a"] = ["text"] * 100
        assert "a" not in store


@pytest.mark.parametrize("chain", ["msgpack+zstd", "msgpack+none", "json+lz4"])
def test_every_bit_of_a_value_counts(tmp_path: Path, chain: str) -> None:
    """A bit that is not as it was, a value that is cut, and one under another's key: all named."""
    url = f"sqlite-kv://{tmp_path}/s.db"
    with serialpack.store(url, chain=chain) as store:
        store.update({"a": {"text": "x" * 99}, "b": {"text": "y" * 99}})
    raw = opened_store(store_named(url), "w")
    key, whole = encoded_key("a"), raw.get(encoded_key("a")) or b""
    other = raw.get(encoded_key("b"))
    broken = [_flipped(whole, bit) for bit in range(len(whole) * 8)]
    broken += [whole[:size] for size in range(len(whole))] + [whole + b"\0", other or b""]
    with serialpack.store(url, "r") as store:
        for data in broken:
            with pytest.raises(serialpack.DamagedError, match="the value of the key 'a'"):
                store._coder.load(key, data)
        raw.write([(key, broken[0])])
        with pytest.raises(serialpack.DamagedError, match=r"s\.db: the value of the key 'a'"):
            store["a"]
        assert store["b"] == {"text": "y" * 99}
    raw.close()


def _flipped(data: bytes, bit: int) -> bytes:
    found = bytearray(data)
    found[bit // 8] ^= 1 << bit % 8
    return bytes(found)


def test_a_damaged_header_is_said(tmp_path: Path) -> None:
    from serialpack.stores.keys import HEADER_KEY

    url = f"sqlite-kv://{tmp_path}/s.db"
    serialpack.store(url).close()
    raw: KeyValueStore = opened_store(store_named(url), "w")
    header = raw.get(HEADER_KEY) or b""
    for data in [_flipped(header, 9), header[:5], b""]:
        raw.write([(HEADER_KEY, data)])
        with pytest.raises(serialpack.DamagedError, match="header record"):
            serialpack.store(url)
    raw.close()


def test_a_store_of_a_later_version_is_told_from_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite-kv://{tmp_path}/s.db"
    with monkeypatch.context() as later:
        later.setattr("serialpack.stores.header.VERSION", 99)
        serialpack.store(url).close()
    with pytest.raises(serialpack.UnsupportedError, match="needs version 99 of stores"):
        serialpack.store(url)


if sys.platform == "win32":
    pytest.skip("no fork there", allow_module_level=True)


@ON_DISK
def test_a_store_that_nobody_may_write_to_is_read(scheme: str, name: str) -> None:
    """Of LMDB that was refused: its lock file cannot be made."""
    with tempfile.TemporaryDirectory(prefix="serialpack-") as there:
        folder = Path(there)
        url = url_of(folder, scheme, name)
        with serialpack.store(url) as store:
            store["a"] = 1
        for each in folder.iterdir():
            each.unlink() if each.name.endswith("-lock") else each.chmod(0o444)
        folder.chmod(0o555)

        def read() -> None:
            with serialpack.store(url, "r") as store:  # with all that it imports
                assert store["a"] == 1
            for each in folder.glob("*-lock"):
                each.unlink()
            if not os.geteuid():  # to root nothing is forbidden
                os.seteuid(65534)
            with serialpack.store(url, "r") as store:
                os.write(1, b"%d" % store["a"])

        with child(read) as (number, front):
            assert os.read(front, 9) == b"1"
            assert os.waitpid(number, 0)[1] == 0
        folder.chmod(0o755)
