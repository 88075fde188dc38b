"""What a writer that is killed leaves: what was there before, or what is there after."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.stores.registry import opened_store, store_kind, store_named
from tests.noise import noise
from tests.stores.child import child
from tests.stores.kinds import ON_DISK, url_of

if sys.platform == "win32":
    pytest.skip("no fork there", allow_module_level=True)

#: Keys that each transaction changes.
_KEYS = 20


@ON_DISK
def test_a_killed_writer_leaves_whole_transactions(tmp_path: Path, scheme: str, name: str) -> None:
    url = url_of(tmp_path, scheme, name)
    keys = [f"key {n}" for n in range(_KEYS)]
    with serialpack.store(url) as store:
        store.update(dict.fromkeys(keys, (0, "")))

    def write() -> None:
        with serialpack.store(url) as store:
            number = store[keys[0]][0]
            while True:
                number += 1
                store.update(dict.fromkeys(keys, (number, "x" * (number % 97 * 50))))
                os.write(1, b".")

    last = 0
    for delay in (0, 0.001, 0.003, 0.006):
        with child(write) as (number, front):
            assert os.read(front, 1) == b"."
            time.sleep(delay)
            os.kill(number, signal.SIGKILL)
            _, status = os.waitpid(number, 0)
            assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        with serialpack.store(url, "r") as store:
            found = {value[0] for value in store.values()}
            assert len(store) == _KEYS
        assert len(found) == 1
        assert found > {last} or last < found.pop()
        with serialpack.store(url) as store:
            last = store[keys[0]][0]


@pytest.mark.skipif(bool(store_kind("tokyocabinet").missing()), reason="Tokyo Cabinet")
@pytest.mark.parametrize("call", ["tranbegin", "close"])
def test_a_writer_killed_between_transactions_leaves_a_tree(tmp_path: Path, call: str) -> None:
    """The library clears what the header says of a tree, and writes it anew, while its own log is
    empty."""
    name = store_named(f"tokyocabinet://{tmp_path}/s.tcb")
    serialpack.store(name.url).close()

    def write() -> None:
        store: Any = opened_store(name, "w")
        store.write([(b"a", b"1")])
        store._calls = store._calls._replace(**{call: killed_in})
        if call == "tranbegin":
            store.write([(b"b", b"2")])
        store.close()

    def killed_in(_: object) -> None:
        with (tmp_path / "s.tcb").open("r+b") as file:
            file.seek(128)
            file.write(bytes(64))
        os.kill(os.getpid(), signal.SIGKILL)

    with child(write) as (number, _):
        _, status = os.waitpid(number, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    with closing(opened_store(name, "r")) as store:
        assert store.get(b"a") == b"1"
    assert [each.name for each in tmp_path.iterdir()] == ["s.tcb"]


@ON_DISK
def test_a_new_store_appears_whole_or_not_at_all(tmp_path: Path, scheme: str, name: str) -> None:
    """Its maker is killed while it writes: nothing has the name, and the next one gets it."""
    from serialpack.stores.header import new_header
    from serialpack.stores.new import NewStore

    url = url_of(tmp_path, scheme, name)
    header = new_header("auto", 3, {}, trust=False)

    def make() -> None:
        with NewStore(store_named(url), header) as new:
            new.write([(b"a", b"1")], new=True)
            os.write(1, b".")
            signal.pause()

    with child(make) as (number, front):
        assert os.read(front, 1) == b"."
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
    assert not (tmp_path / name).exists()
    serialpack.store(url, "n").close()
    with serialpack.store(url, "r") as store:
        assert not store


def test_what_a_killed_writer_left_is_not_taken_for_the_new_ones(tmp_path: Path) -> None:
    """The journal of a database that is replaced would be played back into the one in its place."""
    url = f"sqlite-kv://{tmp_path}/s.db"
    with serialpack.store(url) as store:
        store.update({n: noise(1000, n) for n in range(300)})

    def write() -> None:
        connection = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("BEGIN")
        connection.execute("UPDATE records SET value = zeroblob(1000)")
        os.write(1, b".")
        signal.pause()

    with child(write) as (number, front):
        assert os.read(front, 1) == b"."
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
    assert (tmp_path / "s.db-journal").exists()
    with serialpack.store(url, "n", force=True) as store:
        store["a"] = 1
    with serialpack.store(url, "r") as store:
        assert dict(store) == {"a": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["s.db"]
