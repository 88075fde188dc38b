"""The layers of the package point one way, and no modules import each other in a circle."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import structure
from tests.structure import PACKAGE, Tree

#: From the bottom up. A part is a module or folder of serialpack/. It may import the parts of
#: lower layers and itself; parts of one layer do not know each other.
LAYERS: list[set[str]] = [
    {
        "arguments",
        "csv_front",
        "imported",
        "libc",
        "sized_file",
        "text",
        "warned",
        "without_pandas",
    },
    {"_version", "errors", "hidden", "leb128", "literal", "msgpack_bytes", "threads"},
    {"broken", "checked", "depth", "far", "unstarted"},
    {"bounded", "collector", "msgpack_starts", "units", "values", "watch"},
    {"reports", "stages"},
    {"memory"},
    {"codecs", "columns", "container", "files", "filters", "formats"},
    {"compressed", "serializers", "spool"},
    {"detection", "serializers.objects"},
    {"auto", "dictionaries"},
    {"pipeline"},
    {"inspection", "stores"},
    {"api"},
    {"archive", "conversion"},
    {"records"},
    {"objects"},
    {"bench", "contrib"},
    {"cli"},
    {"__main__"},
]

#: The same within the command line.
CLI_LAYERS: list[set[str]] = [
    {"lines", "naming", "signals", "words"},
    {"guard", "options"},
    {"reporting"},
    {"files"},
    {"verbs"},
    {"app"},
]

#: The same within conversions. A plan holds what ``tables`` say of a table; those modules of it
#: that work by a plan have layers of their own.
CONVERSION_LAYERS: list[set[str]] = [
    {"tagging", "types"},
    {"losses"},
    {"tables"},
    {"options", "plan"},
    {"targets"},
    {"column_types"},
    {"tables.by_columns", "tables.to_database", "tables.from_database", "tables.from_text"},
    {"tables.own_types", "tables.writers"},
    {"tables.batches"},
    {"sources"},
    {"blocks", "tables.rewindable"},
    {"routes", "tables.survey"},
    {"preparing"},
    {"surveying"},
    {"one_pass", "preview", "refusals"},
    {"files"},
    {"stores"},
]

#: What a container must not know: it would have to change with every new stage.
STAGES = {"auto", "codecs", "filters", "formats", "pipeline", "serializers"}


def test_every_module_has_one_layer() -> None:
    """A new module or folder is placed in the table, once, before anything uses it."""
    assert not structure.misplaced(LAYERS, parts_in("", LAYERS) - {""})
    assert not structure.misplaced(CLI_LAYERS, parts_in("cli", CLI_LAYERS))
    assert not structure.misplaced(CONVERSION_LAYERS, parts_in("conversion", CONVERSION_LAYERS))


def test_imports_point_down() -> None:
    """A module imports its own part and lower layers only, also inside functions."""
    assert not structure.upward_imports(PACKAGE, LAYERS)
    assert not structure.upward_imports(PACKAGE, CLI_LAYERS, "cli")
    assert not structure.upward_imports(PACKAGE, CONVERSION_LAYERS, "conversion")


def parts_in(folder: str, layers: list[set[str]]) -> set[str]:
    """The parts of a folder of the package, with those that ``layers`` set apart; without
    ``folder``, of the package itself."""
    within = ".".join(["serialpack", *([folder] if folder else []), ""])
    inside = [module for module in PACKAGE.modules if module.startswith(within)]
    apart = structure.set_apart(layers)
    return {structure.part_of(module, folder, apart) for module in inside}


def test_container_knows_no_stage() -> None:
    """Nor does it come to know one through what it imports."""
    assert "errors" in structure.needed(PACKAGE, "container")
    assert not structure.needed(PACKAGE, "container") & STAGES


@pytest.mark.parametrize(
    ("layers", "found"),
    [
        ([{"low"}], ["high"]),
        ([{"low"}, {"high", "dead"}], ["dead"]),
        ([{"low"}, {"high", "low"}], ["low"]),
        ([{"low"}, {"high"}], []),
    ],
)
def test_a_part_without_its_one_place_is_found(layers: list[set[str]], found: list[str]) -> None:
    assert structure.misplaced(layers, {"low", "high"}) == found


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("low/base.py", "import house.high", ["house/low/base.py:1 imports house.high"]),
        ("low/base.py", "def f():\n    from ..high import top\n", ["house.high.top"]),
        ("low/base.py", "from house import low", []),
        ("low/base.py", "from house import beside", ["house.beside"]),
        ("low/base.py", "from house import thing", ["imports house"]),
        ("beside.py", "from house.low import base", ["house.low.base"]),
        ("high/top.py", "import house.low.base, house.beside", []),
        ("__init__.py", "import house.high.top", []),
    ],
)
def test_an_arrow_upward_is_found(tmp_path: Path, name: str, text: str, found: list[str]) -> None:
    tree = planted(tmp_path, **{name: text})
    faults = structure.upward_imports(tree, [{"low", "beside"}, {"high"}])
    assert len(faults) == len(found)
    assert all(words in fault for words, fault in zip(found, faults, strict=True))


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("high/top.py", "import house.high.under.base, house.low", 0),
        ("high/top.py", "import house.low.base, house.beside", 0),
        ("high/top.py", "import house.high", 1),
        ("high/under/base.py", "import house.low.base", 0),
        ("high/under/base.py", "def f():\n    import house.high.top", 1),
        ("low/base.py", "import house.high.top", 0),
    ],
)
def test_an_arrow_upward_in_a_folder_is_found(
    tmp_path: Path, name: str, text: str, found: int
) -> None:
    tree = planted(tmp_path, **{"high/under/__init__.py": "", "high/under/base.py": "", name: text})
    assert len(structure.upward_imports(tree, [{"under"}, {"top"}], "high")) == found


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ({"high/under/above.py": "import house.high.top"}, 0),
        ({"high/under/above.py": "import house.high.under.base"}, 0),
        ({"high/under/base.py": "import house.high.under.above"}, 1),
        ({"high/top.py": "import house.high.under.above"}, 1),
    ],
)
def test_a_module_set_apart_from_its_folder_has_a_layer_of_its_own(
    tmp_path: Path, texts: dict[str, str], found: int
) -> None:
    tree = planted(tmp_path, **{"high/under/__init__.py": "", "high/under/above.py": "", **texts})
    layers = [{"under"}, {"top"}, {"under.above"}]
    assert len(structure.upward_imports(tree, layers, "high")) == found


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ({"high/under/base.py": "import house.high.top, house.high.under.other"}, 0),
        ({"high/under/base.py": "import house.last"}, 1),
        ({"high/top.py": "import house.high.under.base"}, 1),
        ({"last.py": "import house.high.under.base, house.high.top"}, 0),
    ],
)
def test_a_folder_set_apart_from_its_folder_has_a_layer_of_its_own(
    tmp_path: Path, texts: dict[str, str], found: int
) -> None:
    files = ("high/under/__init__.py", "high/under/base.py", "high/under/other.py", "last.py")
    tree = planted(tmp_path, **{**dict.fromkeys(files, ""), **texts})
    assert len(structure.upward_imports(tree, [{"high"}, {"high.under"}, {"last"}])) == found


def test_what_is_needed_by_a_detour_is_found(tmp_path: Path) -> None:
    texts = {"high/top.py": "import house.beside", "beside.py": "def f():\n    import house.low"}
    assert structure.needed(planted(tmp_path, **texts), "high") == {"high", "beside", "low"}


def planted(folder: Path, **texts: str) -> Tree:
    """A package of two packages and a module, with ``texts`` in some of its files."""
    files = ("__init__.py", "beside.py", "low/__init__.py", "low/base.py")
    for name in {*files, "high/__init__.py", "high/top.py", *texts}:
        path = folder / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts.get(name, ""), "utf-8")
    return Tree(folder / "house")
