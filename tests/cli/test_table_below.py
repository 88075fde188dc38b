"""A table of text below comments, as every verb sees it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

TABLE = "a,b,c\n1,2,3\n4,5,6\n"


def test_every_verb_sees_the_same_records(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("# made\n" + TABLE)
    shown = run("inspect", "--head", "1", "a.csv").stdout
    assert shown == b"a,b,c\n1,2,3\n"
    run("pack", "-s", "columns", "a.csv")
    assert run("unpack", "a.csv.spk", "-o", "-").stdout == b"# made\n" + TABLE.encode()
    again = run("unpack", "--to", "ndjson", "a.csv.spk", "-o", "-").stdout
    assert list(json.loads(again.splitlines()[1]).items()) == [("a", "4"), ("b", "5"), ("c", "6")]
    some = run("unpack", "--fields", "c,a", "--to", "ndjson", "a.csv.spk", "-o", "-").stdout
    assert json.loads(some.splitlines()[0]) == {"c": "3", "a": "1"}
    piped = run("unpack", "--to", "ndjson", stdin=(tmp_path / "a.csv").read_bytes()).stdout
    assert piped == again
    made = run("unpack", "--infer", "a.csv", "-o", "a.parquet")
    assert b"1 comment dropped" in made.stderr
    assert b"the same bytes" not in made.stderr
    assert run("unpack", "a.parquet", "--to", "csv", "-o", "-").stdout == TABLE.encode()
