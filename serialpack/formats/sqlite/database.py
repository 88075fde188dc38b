"""Opens an existing SQLite database, read-only, and reads the rows of its tables and views."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from serialpack.errors import (
    FileError,
    InputError,
    RefusedError,
    SeveralTablesError,
    UnreadableTableError,
    UsageError,
)
from serialpack.formats.base import MAX_BLOCK
from serialpack.formats.shared.random_access import FileRead
from serialpack.formats.sqlite.rows import RowHead, bad_text, joined, row_encoder
from serialpack.formats.sqlite.schema import Views, columns_of, quoted, tables_of
from serialpack.formats.sqlite.unwritten import unwritten
from serialpack.text import quoted as typed

#: The most tables that a message names.
_FEW = 12

#: Around what is kept beside the columns of a table: a comment behind them in its SQL, which SQLite
#: keeps as it was written, and other tools do not see.
_COMMENT, _COMMENT_END = " /* serialpack: ", " */"

#: What Python's module says of text that is not UTF-8: it has a code for none of its own errors.
_NO_UTF8 = "decode to UTF-8"

_JSON = re.compile(r"JSON\b", re.IGNORECASE)
_BOOLEAN = re.compile(r"BOOL(?:EAN)?", re.IGNORECASE)


class RowPiece(NamedTuple):
    """Rows of a table as bytes, and how many they are."""

    data: bytes
    count: int  # type: ignore[assignment]  # a method of tuple, which nobody needs here


class TableFacts(NamedTuple):
    """A table or view (``kind``), and its columns with their declared types.

    ``rows``: how many there are; None where nobody counted, as of a view. ``wrong``: why a view
    cannot be read (it is of tables that are gone, say); empty where it can.
    """

    name: str
    kind: str
    columns: dict[str, str]
    rows: int | None
    wrong: str = ""


def tables_in(path: Path, *, counted: bool) -> Iterator[TableFacts]:
    """The tables and views of the database at ``path``, in order.

    ``counted``: with their rows, which takes as long as reading all of it. FileError, InputError
    where it cannot be read.
    """
    path = path.resolve()
    _check_quiet(path)
    with connected(path, "immutable=1") as connection:
        try:
            _check_length(path)
            wrong_with = Views(connection).wrong
            for name, kind in tables_of(connection).items():
                rows = None
                if counted and kind == "table":
                    select = f"SELECT count(*) FROM {quoted(name)}"
                    (rows,) = connection.execute(select).fetchone()
                wrong = wrong_with(name) if kind == "view" else ""
                columns = {} if wrong else columns_of(connection, name)
                yield TableFacts(name, kind, columns, rows, wrong)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _unsound(error) from None


def error_code(error: sqlite3.Error) -> int:
    """The primary result code of SQLite; 0 of an error that Python's module made itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def check_pages(path: Path) -> None:
    """InputError where a page of the database at ``path`` is damaged; all of it is read."""
    with connected(path.resolve(), "immutable=1") as connection:
        try:
            found = [said for (said,) in connection.execute("PRAGMA quick_check")]
        except sqlite3.OperationalError:  # a CHECK by a function that is not here
            return
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _unsound(error) from None
        # All else that it finds are whole rows that break a rule of their table.
        damage = [said for said in found if said.startswith("*** in database")]
    if damage:
        raise _unsound(" ".join(damage[0].split("\n")[:2]))


#: The marks of columns that are computed from others.
_GENERATED = (2, 3)

#: What of a table only its SQL tells, and no PRAGMA; and strings, names and comments, which may
#: have the same words.
_ONLY_IN_SQL = re.compile(
    r"""'[^']*'?|"[^"]*"?|`[^`]*`?|\[[^]]*]?|--[^\n]*|/\*.*?(?:\*/|$)"""
    r"""|\b(CHECK|COLLATE|AUTOINCREMENT|STRICT(?=[\s\w,]{,40}$))\b""",
    re.IGNORECASE | re.DOTALL,
)


class OpenTable(NamedTuple):
    """A table or view whose rows can be read."""

    connection: sqlite3.Connection
    name: str
    select: str
    head: RowHead

    def pieces(self, block_size: int, most_values: int = 0) -> Iterator[tuple[RowHead, RowPiece]]:
        """All rows, of about ``block_size`` bytes at a time, and ``most_values`` values.

        InputError where they cannot be read, RefusedError for a row that is too large.
        """
        count = 0
        head = self.head
        while True:
            try:
                for rows in self._from(count, block_size, most_values):
                    yield head, rows
                    count += rows.count
                return
            except sqlite3.OperationalError as error:
                if _NO_UTF8 not in str(error) or head.odd:
                    raise _unreadable(self.name, error) from None
            except sqlite3.DataError as error:
                if error_code(error) != sqlite3.SQLITE_TOOBIG:
                    raise _unreadable(self.name, error) from None
                raise RefusedError(f"a value in {self.name} is larger than 64 MiB") from None
            except sqlite3.DatabaseError as error:
                raise _unreadable(self.name, error) from None
            # To look at each text is slow: only where one was found to be no UTF-8.
            self.connection.text_factory = bad_text()
            head = head._replace(odd=True)

    def _from(self, first: int, block_size: int, most_values: int) -> Iterator[RowPiece]:
        encode, most_rows = row_encoder(), max(1, most_values // max(1, len(self.head.names)))
        parts: list[bytes] = []
        size = 0
        with closing(self.connection.execute(self.select)) as cursor:
            for number, row in enumerate(cursor):
                if number < first:
                    continue
                data = encode(row)
                parts.append(data)
                size += len(data)
                if size >= block_size or (most_values and len(parts) >= most_rows):
                    yield RowPiece(joined(parts), len(parts))
                    parts, size = [], 0
        yield RowPiece(joined(parts), len(parts))


@contextmanager
def opened(read: FileRead) -> Iterator[OpenTable]:
    """The table that is wanted of the database whose bytes ``read`` gives; FileError, InputError,
    UsageError."""
    with read.file() as path:
        if not read.kept:
            path = path.resolve()  # by which SQLite names what is beside it
            _check_quiet(path)
        with open_table(path, read.table) as found:
            read.table, read.beside = found.name, _beside(found)
            yield found


@contextmanager
def open_table(path: Path, name: str | None) -> Iterator[OpenTable]:
    """The table or view ``name`` of the database at ``path``, or the only one that there is.

    InputError where it is no sound database, or has no table; UsageError where it has several, or
    not that one.
    """
    with connected(path, "immutable=1") as connection:
        try:
            _check_length(path)
            kinds = tables_of(connection)
            table = _chosen(connection, kinds, name)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _unsound(error) from None
        try:
            yield _opened(connection, table, kinds[table])
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _unreadable(table, error) from None


@contextmanager
def connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection to the file at ``path``, read-only, that believes nothing it says of itself."""
    uri = f"file:{quote(str(path.resolve()))}?mode=ro&{mode}"
    # Another thread may read its last rows than the one that opened it.
    with closing(sqlite3.connect(uri, uri=True, timeout=0, check_same_thread=False)) as connection:
        connection.isolation_level = None
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BLOCK)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        yield connection


def _check_quiet(path: Path) -> None:
    """FileError where the file is not all of the database: it is being written, or a writer broke
    off."""
    if (why := unwritten(path)) is not None:
        raise FileError(
            why,
            hint=f"close it first, or copy it: sqlite3 {typed(str(path))}"
            " \"VACUUM INTO 'copy.db'\"",
        )
    if _head(path)[18:20] != b"\1\1":  # with a log beside it, readers and writers do not meet
        return
    with connected(path, "cache=private") as connection:
        try:
            connection.execute("SELECT 1 FROM sqlite_master").close()
        except sqlite3.OperationalError as error:
            if error_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise FileError(
                    "it is locked: another program writes it", hint="try again later"
                ) from None
        except sqlite3.DatabaseError:  # which is said where it is read
            return


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)


def _check_length(path: Path) -> None:
    """DatabaseError where the file is shorter than it says."""
    head = _head(path)
    if len(head) < 100 or head[24:28] != head[92:96]:
        return
    page = int.from_bytes(head[16:18])
    expected = (65536 if page == 1 else page) * int.from_bytes(head[28:32])
    size = path.stat().st_size
    if size < expected:
        raise sqlite3.DatabaseError(f"it has {size:,} bytes, and should have {expected:,}")


def _chosen(connection: sqlite3.Connection, kinds: dict[str, str], name: str | None) -> str:
    if not kinds:
        raise InputError("the database has no table")
    names = ", ".join(map(typed, list(kinds)[:_FEW])) + (", ..." if len(kinds) > _FEW else "")
    if name is None:
        if len(kinds) == 1:
            return next(iter(kinds))
        several = SeveralTablesError(
            f"the database has {len(kinds)} tables: {names}",
            hint="--table NAME takes one of them, --to json takes all",
        )
        several.tables = (*kinds,)
        wrong_with = Views(connection).wrong
        wrong = {view: wrong_with(view) for view in kinds if kinds[view] == "view"}
        several.unread = {view: why for view, why in wrong.items() if why}
        raise several
    found = next((n for n in kinds if n == name), None)
    found = found or next((n for n in kinds if n.lower() == name.lower()), None)
    if found is None:
        raise UsageError(
            f"the database has no table {name!r}", hint=f"--table takes one of: {names}"
        )
    return found


def _opened(connection: sqlite3.Connection, name: str, kind: str) -> OpenTable:
    """The table ``name``, with its rows in the order of their keys: an index has an order of its
    own."""
    select = f"SELECT * FROM {quoted(name)}" + (" NOT INDEXED" if kind == "table" else "")
    with closing(connection.execute(f"{select} LIMIT 0")) as cursor:
        names = [column[0] for column in cursor.description]
    found = connection.execute(f"PRAGMA table_xinfo({quoted(name)})")
    declared = {row[1]: row[2] or "" for row in found}
    types = [declared.get(column, "") for column in names]
    boolean = [n for n, said in enumerate(types) if _BOOLEAN.fullmatch(said)]
    json = [n for n, said in enumerate(types) if _JSON.match(said)]
    json = [n for n in json if _all_json(connection, name, names[n])]
    head = RowHead(names, json, boolean, False, _kept(connection, name), types)
    return OpenTable(connection, name, select, head)


def _beside(table: OpenTable) -> list[str]:
    """What the database has of a table beside its columns and rows, in words."""
    name, ask = quoted(table.name), table.connection.execute
    columns = ask(f"PRAGMA table_xinfo({name})").fetchall()
    found = ["PRIMARY KEY"] if any(column[5] for column in columns) else []
    sql = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    for (text,) in ask(sql, (table.name,)):
        found += [word.upper() for word in _ONLY_IN_SQL.findall(text) if word]
    found += [f"GENERATED {column[1]}" for column in columns if column[6] in _GENERATED]
    found += [f"NOT NULL of {column[1]}" for column in columns if column[3]]
    found += [f"DEFAULT of {column[1]}" for column in columns if column[4] is not None]
    indexes = ask(f"PRAGMA index_list({name})").fetchall()
    found += [f"index {i[1]}" if i[3] == "c" else "UNIQUE" for i in indexes if i[3] != "pk"]
    keys = {row[0]: row[2] for row in ask(f"PRAGMA foreign_key_list({name})")}
    found += [f"FOREIGN KEY to {other}" for other in keys.values()]
    select = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
    return found + [f"trigger {trigger}" for (trigger,) in ask(select, (table.name,))]


def comment(kept: bytes) -> str:
    """``kept``, JSON or nothing, as a comment of SQL behind the columns of a table."""
    # JSON may write a solidus as \/, and the end of a comment must not stand in it.
    text = kept.decode().replace("*/", "*\\/")
    return f"{_COMMENT}{text}{_COMMENT_END}" if text else ""


def _kept(connection: sqlite3.Connection, table: str) -> bytes:
    """What ``comment`` was given for ``table``; empty where there is no such comment."""
    said = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    text = ((said[0] or "") if said else "").rpartition(_COMMENT)[2]
    end = _COMMENT_END + ")"
    return text.removesuffix(end).encode() if text.endswith(end) else b""


def _all_json(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether all texts in a column that is declared JSON are JSON: some columns are only called
    so."""
    value = quoted(column)
    try:
        found = connection.execute(
            f"SELECT 1 FROM {quoted(table)}"
            f" WHERE typeof({value}) = 'text' AND NOT json_valid({value}) LIMIT 1"
        ).fetchone()
    except sqlite3.OperationalError:  # an SQLite that was built without JSON
        return False
    return found is None


def _unsound(error: Exception | str) -> InputError:
    return InputError(
        f"no sound SQLite database: {error}", hint="sqlite3 FILE .recover shows what is left of it"
    )


def _unreadable(name: str, error: Exception) -> UnreadableTableError:
    return UnreadableTableError(
        f"the table {name} cannot be read: {error}",
        hint="sqlite3 FILE .recover shows what is left of it",
    )
