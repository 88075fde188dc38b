"""Which tables and views a database has, with their columns."""

from __future__ import annotations

import re
import sqlite3
from time import thread_time

#: Seconds of the processor in which views are looked at, all of them together.
_MOST_SECONDS = 1

#: A virtual table, with its module; and what SQLite's own modules keep beside such a table.
_VIRTUAL = re.compile(
    r"""\s*CREATE\s+VIRTUAL\b(?:.*?\bUSING\s+["'`\[]?(\w+))?""", re.IGNORECASE | re.DOTALL
)
_FULL_TEXT = ("content", "docsize", "segdir", "segments", "stat")
_BOXES = ("node", "parent", "rowid")
_SHADOWS = {
    **dict.fromkeys(("fts3", "fts4"), _FULL_TEXT),
    "fts5": ("config", "content", "data", "docsize", "idx"),
    **dict.fromkeys(("rtree", "rtree_i32", "geopoly"), _BOXES),
}

#: The mark of a column that ``SELECT *`` does not give.
_HIDDEN = 1


def tables_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Name -> ``table`` or ``view``, in order, without the tables that SQLite has for itself.

    DatabaseError where it is no database.
    """
    rows = connection.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    ).fetchall()
    made = {name: match for name, _, sql in rows if (match := _VIRTUAL.match(sql or ""))}
    shadows: set[str] = set()
    if made:  # PRAGMA table_list knows them too, and looks at each view for it
        here = {name for (name,) in connection.execute("PRAGMA module_list")}
        for name, match in made.items():
            module = (match[1] or "").lower()
            own = _SHADOWS.get(module, ()) if module in here else ()
            shadows |= {f"{name}_{ending}".lower() for ending in own}
    return {
        name: "view" if kind == "view" or name in made else "table"
        for name, kind, _ in rows
        if name.lower() not in shadows
    }


def columns_of(connection: sqlite3.Connection, name: str) -> dict[str, str]:
    """Name of a column -> its declared type."""
    found = connection.execute(f"PRAGMA table_xinfo({quoted(name)})").fetchall()
    return {column[1]: column[2] or "" for column in found if column[6] != _HIDDEN}


class Views:
    """Which views of a database, and which tables of modules, cannot be read."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._until = thread_time() + _MOST_SECONDS

    def wrong(self, view: str) -> str:
        """Why SQLite cannot read ``view``: it is of what is gone, say; empty where it can."""
        # Views that each join the one before twice take twice the time each: so there is a limit.
        if thread_time() > self._until:
            return "not looked at: those before it took too long"
        try:
            self._connection.execute(f"SELECT * FROM {quoted(view)} LIMIT 0").close()
        except sqlite3.OperationalError as error:
            return f"cannot be read: {error}"
        return ""


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
