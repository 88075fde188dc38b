"""Globs mean the paths that they mean to ripgrep and in .gitignore."""

from __future__ import annotations

import pytest

from serialpack.errors import UsageError
from serialpack.files.globs import glob_of, matches_any


@pytest.mark.parametrize(
    ("glob", "meant", "not_meant"),
    [
        ("*.json", ["a.json", "x/y/a.json", ".json"], ["a.jsonl", "a.json/x"]),
        ("x/*.json", ["x/a.json"], ["a.json", "y/x/a.json", "x/y/a.json"]),
        ("/a.json", ["a.json"], ["x/a.json"]),
        ("./a.json", ["a.json"], ["x/a.json"]),
        ("**/a", ["a", "x/a", "x/y/a"], ["xa", "a/x"]),
        ("x/**", ["x/a", "x/y/a"], ["x", "y/x/a"]),
        ("x/**/a", ["x/a", "x/y/z/a"], ["xa", "x/ya"]),
        ("[a-c]?.t", ["a1.t", "x/c_.t"], ["d1.t", "a.t", "a/.t"]),
        ("[!a]x", ["bx"], ["ax", "/x"]),
        ("[]^-]", ["]", "^", "-"], ["a"]),
        ("*.{json,y?ml}", ["a.json", "a.yaml"], ["a.yml", "a.json,yaml"]),
        ("a,b", ["a,b"], ["a", "b"]),
        ("\\*.(x)+", ["*.(x)+"], ["a.(x)+", "*.x"]),
        ("[.json", ["[.json"], [".json"]),
        ("n*e", ["n\ne", "n\udcffe"], ["n/e"]),
    ],
)
def test_glob(glob: str, meant: list[str], not_meant: list[str]) -> None:
    matches = matches_any([glob])
    assert [path for path in meant + not_meant if matches(path, False)] == meant


def test_a_slash_at_the_end_means_folders() -> None:
    matches = matches_any(["tmp/", "*.log"])
    assert matches("x/tmp", True)
    assert not matches("x/tmp", False)
    assert matches("a.log", False)


@pytest.mark.parametrize("glob", ["", "/", "{a", "a}", "[z-a]"])
def test_what_is_no_glob(glob: str) -> None:
    with pytest.raises(UsageError, match="is no glob"):
        matches_any([glob])


@pytest.mark.parametrize("path", ["a", "x/a", "x/[y].t", "a\\b", "{a,b}", "!a", "#a", "x/*?", " "])
def test_the_glob_of_a_path_means_that_alone(path: str) -> None:
    matches = matches_any([glob_of(path)])
    others = [f"y/{path}", f"{path}b", path.replace("*", "b"), path.replace("[y]", "y")]
    found = [each for each in {path, *others} if matches(each, False)]
    assert found == [path]
