"""Writes SQLite databases: one table at a time, each written whole; several become one file."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from serialpack.errors import FileError
from serialpack.formats.sqlite.database import comment, error_code
from serialpack.formats.sqlite.schema import quoted

#: SQLite's own limit, unless somebody built it with another.
MOST_COLUMNS = 2000

#: How names begin that SQLite keeps for itself.
_RESERVED = re.compile("sqlite_", re.IGNORECASE)

#: Python type -> the declared type of a column that has only such values (and null). A column with
#: others too has none: SQLite would turn a ``"1"`` among integers into one of them.
DECLARED: dict[type, str] = {
    int: "INTEGER",
    float: "REAL",
    str: "TEXT",
    bytes: "BLOB",
    bool: "BOOLEAN",
}

#: The least and the greatest integer of SQLite.
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def is_name(name: str) -> bool:
    """Whether a table can have that name."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return bool(name) and "\0" not in name and not _RESERVED.match(name)


def same_names(names: Iterable[str]) -> tuple[str, str] | None:
    """Two of ``names`` that are one to SQLite, which takes ASCII letters for the same in either
    case; None where there are none."""
    seen: dict[str, str] = {}
    for name in names:
        lower = "".join(c.lower() if c.isascii() else c for c in name)
        if lower in seen:
            return seen[lower], name
        seen[lower] = name
    return None


class NewDatabase:
    """A new file with one table, to which rows are added. Nothing is safe on disk before
    ``close``."""

    def __init__(
        self, path: Path, table: str, columns: Sequence[tuple[str, str]], kept: bytes = b""
    ) -> None:
        """``columns``: their names, and declared types. ``kept``: JSON that is kept beside them.

        sqlite3.Error where SQLite has no such.
        """
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._connection.isolation_level = None
        # Nobody else has the file before it is whole: what a crash leaves is thrown away.
        for said in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
            self._connection.execute(f"PRAGMA {said}").close()
        self._connection.execute("BEGIN")
        parts = ", ".join(f"{quoted(name)} {declared}".rstrip() for name, declared in columns)
        self._connection.execute(f"CREATE TABLE {quoted(table)} ({parts}{comment(kept)})")
        marks = ", ".join("?" * len(columns))
        self._insert = f"INSERT INTO {quoted(table)} VALUES ({marks})"

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Put ``rows`` behind those before; sqlite3.Error, OverflowError or ValueError for a
        value."""
        with _room_told():
            self._connection.executemany(self._insert, rows)

    def close(self, *, keep: bool = True) -> None:
        """Write what is left; without ``keep`` the caller is going to remove the file."""
        try:
            if keep:
                with _room_told():
                    self._connection.execute("COMMIT")
        finally:
            self._connection.close()


def join_tables(path: Path, parts: Iterable[tuple[Path, str]]) -> None:
    """Make a database at ``path`` of the table that each file of ``parts`` has; sqlite3.Error."""
    with closing(sqlite3.connect(path)) as connection, _room_told():
        connection.isolation_level = None
        for said in ("journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA {said}").close()
        for part, name in parts:
            with closing(sqlite3.connect(part)) as source:
                sql = "SELECT sql FROM sqlite_master WHERE name = ?"
                (made,) = source.execute(sql, (name,)).fetchone()
                rows = source.execute(f"SELECT * FROM {quoted(name)} NOT INDEXED")
                marks = ", ".join("?" * len(rows.description))
                connection.execute("BEGIN")
                connection.execute(made)
                connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", rows)
                connection.execute("COMMIT")


@contextmanager
def _room_told() -> Iterator[None]:
    """Make a full disk a FileError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error_code(error) not in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise
        raise FileError(
            f"the temporary database cannot be written: {error}",
            hint="TMPDIR names a folder with more room",
        ) from None
