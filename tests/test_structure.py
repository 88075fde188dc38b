"""The house stays as it is built: rules about modules, each shown to find a planted fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import structure
from tests.structure import PACKAGE, Tree

ROOT = Path(__file__).parents[1]

#: Circles that stay, by the modules in them, each with its reason.
CIRCLES: dict[frozenset[str], str] = {}


def test_there_is_something_to_look_at() -> None:
    assert len(PACKAGE.modules) > 200
    assert len(PACKAGE.packages) > 20
    assert sum(len(PACKAGE.imports(module)) for module in PACKAGE.modules) > 1000


def test_private_modules_are_private() -> None:
    assert not structure.private_imports(PACKAGE)


@pytest.mark.parametrize("folder", ["tools", "benchmarks"])
def test_what_is_no_part_of_the_package_uses_nothing_private_of_it(folder: str) -> None:
    private = re.compile(
        r"^\s*(?:from|import) serialpack\b.*(?:\.|\bimport |, )_[a-z].*", re.MULTILINE
    )
    files = [*(ROOT / folder).rglob("*.py")]
    assert len(files) > 10
    assert not [line for file in files for line in private.findall(file.read_text("utf-8"))]


def test_no_circles() -> None:
    """No module needs one that needs it, also where that is imported late or for its types."""
    found = set(structure.circles(PACKAGE))
    assert not found - set(CIRCLES)
    assert not set(CIRCLES) - found, "no circle any more: take it out of the list"


def test_every_package_says_what_it_is() -> None:
    assert not structure.wordless_packages(PACKAGE)


def test_what_packages_say_of_their_modules_is_there() -> None:
    """One named an entrance that had moved into another package."""
    assert not structure.absent_names(PACKAGE)


@pytest.mark.parametrize("folder", ["serialpack", "tests", "tools", "benchmarks"])
def test_no_file_is_long(folder: str) -> None:
    assert (ROOT / folder).is_dir()
    assert not structure.long_files(ROOT / folder)


@pytest.mark.parametrize("folder", ["serialpack", "tests", "tools", "benchmarks"])
def test_no_comment_is_a_banner(folder: str) -> None:
    assert not structure.banners(ROOT / folder)


def test_a_class_has_a_name_of_its_own() -> None:
    assert not structure.repeated_names(PACKAGE)


DOCSTRING = '"""One.\n\nTwo.\n\nThree.\n"""\n'


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A package without faults: two packages, of which one imports the other."""
    for name, text in {
        "house/__init__.py": DOCSTRING,
        "house/low/__init__.py": DOCSTRING,
        "house/low/_private.py": "class Hidden: ...\n",
        "house/low/base.py": "from house.low._private import Hidden\n",
        "house/low/circle.py": "",
        "house/high/__init__.py": DOCSTRING,
        "house/high/top.py": "from house.low import base\n\n\nclass Top: ...\n",
        "house/high/round.py": "from house.low import circle\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "house"


def faults(folder: Path) -> list[object]:
    tree = Tree(folder)
    return [
        *structure.private_imports(tree),
        *structure.circles(tree),
        *structure.wordless_packages(tree),
        *structure.absent_names(tree),
        *structure.long_files(folder),
        *structure.banners(folder),
        *structure.repeated_names(tree),
    ]


def test_a_tree_without_faults_has_none(planted: Path) -> None:
    assert not faults(planted)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("high/other.py", "from house.low._private import Hidden\n", "_private"),
        ("high/other.py", "def f():\n    from house.low import _private\n", "_private"),
        ("high/other.py", "from ..low import _private\n", "_private"),
        ("low/circle.py", "import house.high.round\n", "house.high.round"),
        ("low/circle.py", "def f():\n    from house.high import round\n", "house.high.round"),
        (
            "low/circle.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.high.round\n",
            "house.high.round",
        ),
        ("high/__init__.py", '"""Too short."""\n', "a docstring of 1 lines"),
        ("high/__init__.py", "", "a docstring of 0 lines"),
        ("low/__init__.py", '"""One.\n\nEnter at ``base.gone``.\n\nTwo.\n"""\n', "base.gone"),
        ("high/__init__.py", '"""One.\n' + "More.\n" * 40 + '"""\n', "a docstring of 41 lines"),
        ("high/other.py", "x = 1\n" * 401, "401 lines"),
        ("high/other.py", "class Hidden: ...\n", "Hidden: "),
        ("high/other.py", f"# --- parts {'-' * 20}\nx = 1\n", "line 1 is a banner"),
    ],
)
def test_a_planted_fault_is_found(planted: Path, name: str, text: str, found: str) -> None:
    (planted / name).write_text(text, "utf-8")
    (fault,) = faults(planted)
    assert found in str(fault)
