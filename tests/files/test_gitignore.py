"""What files .gitignore mean is what they mean to git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from serialpack.files.gitignore import GitIgnore


@pytest.mark.parametrize(
    ("rule", "meant", "not_meant"),
    [
        ("*.log", ["a.log", "x/.log"], ["a.log2"]),
        ("/a", ["a"], ["x/a"]),
        ("x/a", ["x/a"], ["y/x/a", "x/a/b"]),
        ("x/*", ["x/a"], ["x", "x/y/a"]),
        ("x/**", ["x/a", "x/y/a"], ["x"]),
        ("x/*/**", ["x/y/a"], ["x", "x/y"]),
        ("**/a", ["a", "x/y/a"], ["a/b"]),
        ("x/**/a", ["x/a", "x/y/z/a"], ["x/ya"]),
        ("x**a", ["xya"], ["xy"]),
        ("tmp/", [], ["tmp"]),  # this one is a file
        ("a  ", ["a"], ["a  "]),
        ("a\\ ", ["a "], ["a"]),
        ("a\r", ["a"], ["a\r"]),
        ("\\#a", ["#a"], ["\\#a"]),
        ("#a", [], ["#a"]),
        ("\\!a", ["!a"], ["a"]),
        ("[!a-c]x", ["dx"], ["ax", "x"]),
        ("[]-]", ["]", "-"], ["a"]),
        ("[[:digit:]\\]]", ["7", "]"], ["a", ":"]),
        ("[[:no:]]", [], ["n", "7"]),
        ("[[:alpha:]", [], ["[", "a", ":"]),
        ("[z-a]", ["z"], ["a", "-"]),
        ("a[/]b", [], ["a/b"]),
        ("[a", [], ["[a", "a"]),
        ("a\\", [], ["a", "a\\"]),
        ("\ufeffa", ["a"], ["\ufeffa"]),
        ("??", ["\xe9", "ab"], ["a", "e\xe9"]),  # of the two bytes that é is
        ("\udcff*", ["\udcffa"], ["a"]),
        ("", [], ["a"]),
        ("/", [], ["a"]),
    ],
)
def test_a_rule(tmp_path: Path, rule: str, meant: list[str], not_meant: list[str]) -> None:
    (tmp_path / ".gitignore").write_bytes(os.fsencode(rule))
    ignored = GitIgnore(str(tmp_path))
    assert [path for path in meant + not_meant if ignored(path, False)] == meant


def test_the_last_rule_of_the_nearest_file_counts(tmp_path: Path) -> None:
    """What is below a folder that was taken again is held against the rules by itself."""
    (tmp_path / "x/build").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("*.o\nbuild/\n!keep.o\n", "utf-8")
    (tmp_path / "x/.gitignore").write_text("keep.o\n!build/\n", "utf-8")
    ignored = GitIgnore(str(tmp_path))
    assert ignored("build", True)
    assert not ignored("x/build", True)
    assert ignored("x/build/a.o", False)
    assert not ignored("keep.o", False)
    assert ignored("x/keep.o", False)
    assert ignored("x/.git", True)


def test_a_link_is_not_followed_to_rules(tmp_path: Path) -> None:
    """Nor by git: it could lead anywhere."""
    (tmp_path / "rules").write_text("*\n", "utf-8")
    (tmp_path / ".gitignore").symlink_to("rules")
    assert not GitIgnore(str(tmp_path))("a", False)
