"""SQLite as a key-value store: one table of keys and values, by the module of the standard
library."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from urllib.parse import quote

from serialpack.errors import FileError
from serialpack.stores.base import Change, KeyValueStore, Mode, foreign, locked
from serialpack.stores.keys import HEADER_KEY

_TABLE = "records"

#: The settings for a new database while it is written: as fast as can be, for nothing need survive
#: a crash.
_NEW = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    # 64 MiB (a negative number counts KiB): keys in no order each change another page of the index.
    "PRAGMA cache_size = -65536",
    f"CREATE TABLE {_TABLE} (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL)",
)

_INSERT = f"INSERT INTO {_TABLE} VALUES (?, ?)"
_UPSERT = f"{_INSERT} ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_DELETE = f"DELETE FROM {_TABLE} WHERE key = ?"


class SqliteStore(KeyValueStore):
    """One table, ``records``: ``key`` and ``value``, in the order in which they were written."""

    title = "SQLite"
    about = "the embedded default; needs nothing installed"
    beside = ("-journal", "-wal", "-shm")

    def __init__(self, path: str, mode: Mode, timeout: float, ending: str = "") -> None:  # noqa: ARG002
        # Readers, too, have to undo what a killed writer has left, for which they must be able to
        # write.
        allowed = mode != "r" or os.access(path, os.W_OK)
        if mode != "n":
            _check_tables(path)
        url = f"file:{quote(os.path.abspath(path))}?mode={'rw' if allowed else 'ro'}"
        with _translated():
            self._connection = sqlite3.connect(
                url, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False
            )
        try:
            with _translated():
                for statement in _NEW if mode == "n" else ("PRAGMA synchronous = FULL",):
                    self._connection.execute(statement)
                self._connection.execute(f"SELECT key, value FROM {_TABLE} LIMIT 0")
                if mode == "r":
                    self._connection.execute("PRAGMA query_only = 1")
        except BaseException:
            self._connection.close()
            raise

    def __len__(self) -> int:
        with _translated():
            (count,) = self._connection.execute(f"SELECT count(*) FROM {_TABLE}").fetchone()
        return int(count)

    def get(self, key: bytes) -> bytes | None:
        with _translated():
            found = self._connection.execute(
                f"SELECT value FROM {_TABLE} WHERE key = ?", (key,)
            ).fetchone()
        return None if found is None else found[0]

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        with _translated():
            yield from self._connection.execute(f"SELECT key, value FROM {_TABLE} ORDER BY rowid")

    def keys(self) -> Iterator[bytes]:
        with _translated():
            for (key,) in self._connection.execute(f"SELECT key FROM {_TABLE} ORDER BY rowid"):
                yield key

    def write(
        self, changes: Sequence[Change], *, new: bool = False, where: Change | None = None
    ) -> None:
        with _translated():
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._check(where)
            with _translated():
                for gone, some in groupby(changes, lambda change: change[1] is None):
                    if gone:
                        self._connection.executemany(_DELETE, ((key,) for key, _ in some))
                    else:
                        self._connection.executemany(_INSERT if new else _UPSERT, some)
                self._connection.execute("COMMIT")
        except sqlite3.IntegrityError:
            self._undo()
            raise self._duplicate(changes) from None
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        if self._connection.in_transaction:  # a full disk ends the transaction itself
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        with _translated():
            self._connection.close()


def _check_tables(path: str) -> None:
    """InputError where the database at ``path`` has other tables than a store.

    It is looked at as it is: what another program has not written into it yet, or has to take back,
    is that one's to do.
    """
    with _translated():
        try:
            with closing(_as_it_is(path)) as connection:
                connection.execute(f"SELECT key, value FROM {_TABLE} LIMIT 0")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_ERROR":
                raise
            # All else is said, or mended where a writer was killed, as it is opened.


def _as_it_is(path: str) -> sqlite3.Connection:
    """Open the database at ``path`` only to read, and no file beside it."""
    return sqlite3.connect(f"file:{quote(os.path.abspath(path))}?immutable=1", uri=True)


def is_store_file(path: str) -> bool:
    """Whether the database at ``path`` is a store that serialpack has written."""
    try:
        with closing(_as_it_is(path)) as connection:
            query = f"SELECT 1 FROM {_TABLE} WHERE key = ?"
            return connection.execute(query, (HEADER_KEY,)).fetchone() is not None
    except sqlite3.Error:
        return False


@contextmanager
def _translated() -> Iterator[None]:
    """Within this block, SQLite's errors become ours; only IntegrityError, for a key that is not
    new, is left as it is."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise locked() from None
        if name == "SQLITE_ERROR":  # a database with other tables
            hint = "unpack FILE --to json reads the tables of a database"
            raise foreign(SqliteStore.title, hint) from None
        if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
            raise foreign(SqliteStore.title) from None
        raise FileError(f"SQLite: {error}") from None
