"""JSON as people write it is converted, and what it was is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.told import lines


@pytest.mark.parametrize("packed", [False, True])
def test_a_conversion_tells_what_it_read(run: Run, tmp_path: Path, packed: bool) -> None:
    name = "a.json"
    (tmp_path / name).write_text('{\n  // of whom\n  "a": [1, 2,],\n}\n')
    if packed:
        run("pack", name)
        name = "a.json.spk"
    done = run("unpack", "--to", "yaml", name, "-o", "-")
    assert done.stdout == b"a:\n- 1\n- 2\n"
    assert lines(done.stderr) == ["  1 carried: 1 comment dropped", "  it was read as JSON5"]
    done = run("unpack", "--to", "yaml", name, "-o", "-", "--strict", code=4)
    assert not done.stdout
    assert b"line 2: yaml has no place for comments: // of whom" in done.stderr


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.dat"])
def test_values_on_several_lines_are_a_list(run: Run, tmp_path: Path, name: str) -> None:
    """As ``jq`` and most loggers write them: they were refused."""
    (tmp_path / name).write_bytes(b'{\n  "a": 1\n}\n{\n  "a": 12345678901234567890\n}\n')
    for to, was in (("json", b'[\n{"a":1},\n{"a":%d}\n]\n'), ("csv", b"a\n1\n%d\n")):
        done = run("unpack", "--to", to, name, "-o", "-")
        assert done.stdout == was % 12345678901234567890
        assert "read as a list of JSON values one after another" in done.stderr.decode()


def test_comments_behind_what_is_looked_at_are_refused_too(run: Run, tmp_path: Path) -> None:
    """What is in a file that is not looked at is said by who reads it, and by --strict."""
    text = "[" + "1,\n" * 40_000 + "2 /* the last */]"
    (tmp_path / "a.json").write_text(text)
    done = run("unpack", "--to", "ndjson", "a.json", code=3)
    assert "a comment, which JSON5 has and JSON has not; pyjson5" in done.stderr.decode()
    (tmp_path / "b.json").write_text(text.replace("[1", "[+1", 1))
    done = run("unpack", "--to", "ndjson", "b.json", "--strict", code=4)
    assert "line 40001: ndjson has no place for comments: /* the last */" in done.stderr.decode()
    assert not (tmp_path / "b.ndjson").exists()
    run("unpack", "--to", "ndjson", "b.json")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"a": 1} {"a": 2}{"a": 3}'),
        ("a.json", '[{"a": 1}, {"a": 2}, {"a": 3},]'),
        ("a.json", "// three\n[{a: 1}, {a: 2}, {a: 3}]"),
        ("a.ndjson", "{a: 1}\n{a: 2}\n{a: 3}\n"),
        ("a.txt", '{\n"a": 1}\n{"a": 2}\n{"a": 3}\n'),
    ],
)
def test_the_first_records_are_cut_out_of_what_is_made_json(
    run: Run, tmp_path: Path, name: str, text: str
) -> None:
    """They could not be told apart, or were all of them."""
    (tmp_path / name).write_text(text)
    shown = run("inspect", "--head", "2", name).stdout
    assert json.loads(shown) == [{"a": 1}, {"a": 2}]
