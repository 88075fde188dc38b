"""What SQLite keeps beside a database while it is written, or after a writer broke off: without it
the file alone is not the database."""

from __future__ import annotations

from pathlib import Path

#: How the names of such files end, and what is in them.
_BESIDE = {"-wal": "changes that are not in it yet", "-journal": "a change"}

_MAGIC = b"SQLite format 3\0"


def unwritten(database: Path) -> str | None:
    """Why the file ``database`` is not all of the database, whatever it is; None where it is."""
    for ending, what in _BESIDE.items():
        beside = database.with_name(database.name + ending)
        if _size(beside):
            return f"it is being written, or was not closed: {beside.name} has {what}"
    return None


def kept_open(path: Path) -> str | None:
    """As ``unwritten``, of a file of any kind at ``path``, also one beside such a database; None
    for what is neither."""
    for ending in (*_BESIDE, "-shm"):
        name = path.name.removesuffix(ending)
        if name not in ("", path.name) and _is_unwritten(path.with_name(name)):
            return f"{name}, which it belongs to, is being written, or was not closed"
    return unwritten(path) if _is_unwritten(path) else None


def _is_unwritten(path: Path) -> bool:
    return unwritten(path) is not None and _is_database(path)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False
