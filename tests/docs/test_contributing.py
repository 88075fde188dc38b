"""What CONTRIBUTING says of adding a stage is so. ``test_added_stages`` adds one of each kind."""

from __future__ import annotations

import importlib
import re
from inspect import get_annotations
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

#: Title -> text.
SECTIONS = {
    title: text
    for section in (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("\n## ")[1:]
    for title, _, text in [section.partition("\n")]
}

#: What to add -> where a class is written, from what, and where a line.
ROWS = {
    cells[0]: cells[1:]
    for line in SECTIONS["Add a stage"].splitlines()
    if line.startswith("| a ")
    for cells in [line.strip("| ").split(" | ")]
}


def module(path: str) -> ModuleType:
    return importlib.import_module(f"serialpack.{path.removesuffix('.py').replace('/', '.')}")


def names_by_file(words: str) -> dict[str, set[str]]:
    """File of a base class -> what is named of it."""
    found: dict[str, set[str]] = {}
    for word in re.findall(r"`([^`]+)`", words):
        if "/" in word:
            names = found.setdefault(word, set())
        else:
            names.add(word)
    return found


def test_every_kind_has_a_row() -> None:
    assert set(ROWS) == {"a codec", "a filter", "a serializer", "a format"}


@pytest.mark.parametrize("kind", ROWS)
def test_a_row_is_true(kind: str) -> None:
    where, base, line = ROWS[kind]
    folder, _, file = re.findall(r"`([^`]+)`", where)[0].rpartition("/")
    assert (ROOT / folder).is_dir()
    assert file == "NAME.py"
    registry, registry_file = re.findall(r"`([^`]+)`", line)
    assert hasattr(module(registry_file.removesuffix("/__init__.py")), registry)
    for path, named in names_by_file(base).items():
        classes = {
            name: cls
            for name, cls in vars(module(path)).items()
            if isinstance(cls, type) and cls.__module__ == module(path).__name__
        }
        known = {name for cls in classes.values() for name in (*dir(cls), *get_annotations(cls))}
        assert named <= {*classes, *known}, "named, and not there"
        needed = {name for cls in classes.values() for name in abstract(cls)}
        assert not named or needed <= named, "must be written, and is not named"


def abstract(cls: type) -> frozenset[str]:
    return getattr(cls, "__abstractmethods__", frozenset())


def test_the_way_leads_to_files_that_are_there() -> None:
    """Each file named in what leads through the code exists, and what is named as in it is
    defined there."""
    way = SECTIONS["Find your way"] + SECTIONS["Add something else"]
    paths = set(re.findall(r"`([\w/]+(?:/\w+\.(?:py|md)|/\w+))`", way))
    assert len(paths) > 15
    for path in paths - {"serialpack/cli/verbs/VERB.py"}:
        assert (ROOT / path).exists() or (ROOT / "serialpack" / path).exists(), path
    within = re.findall(r"`(\w+)` in\s`([\w/]+\.py)`", way)
    assert len(within) > 3
    for name, path in within:
        found = next(each for each in (ROOT / path, ROOT / "serialpack" / path) if each.exists())
        defined = rf"^\s*(?:def|class) {name}\b|^{name}\b.* = "
        assert re.search(defined, found.read_text("utf-8"), re.MULTILINE), name
