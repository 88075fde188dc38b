"""Databases that are packed while they are written: the file alone is not the database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.conftest import Start, finish

NAMES = {"d.db", "d.db-shm", "d.db-wal"}


@pytest.mark.parametrize("more", [["-o", "out"], ["--archive", "-o", "out.spk"]], ids=" ".join)
def test_a_database_is_not_removed_without_what_is_not_in_it_yet(
    start: Start, tmp_path: Path, more: list[str]
) -> None:
    """It was, and the rows in the log beside it were nowhere that SQLite finds them."""
    folder = tmp_path / "in"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "d.db")) as made:
        made.execute("PRAGMA journal_mode = wal")
        made.execute("CREATE TABLE t (a)")
        said = finish(start("pack", "-q", "--rm", "in/d.db", "-o", "one.spk"), 1)
        assert said == (
            "serialpack: in/d.db: it is being written, or was not closed:"
            " d.db-wal has changes that are not in it yet; not removed\n"
        )
        said = finish(start("pack", "-q", "-r", "--rm", "in", *more), 1, most=9)
        assert "d.db-wal: d.db, which it belongs to, is being written, or was not closed" in said
        assert {path.name for path in folder.iterdir()} == NAMES
    finish(start("pack", "-q", "--rm", "in/d.db", "-o", "closed.spk"), 0)
    assert not [*folder.iterdir()]
