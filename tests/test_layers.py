"""The layers of the package point one way, and no modules import each other in a circle."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "serialpack"

#: From the bottom up. A part is a module or folder of serialpack/. It may import the parts of
#: lower layers and itself; parts of one layer do not know each other.
LAYERS: list[set[str]] = [
    {"_version", "errors", "first_bytes", "known", "literal"},
    {"depth"},
    {"binary", "collector", "globs", "hidden", "text", "tokens", "units", "values", "watch"},
    {"reports", "stages"},
    {"codecs", "columns", "container", "files", "filters", "formats"},
    {"compressed", "detect", "disk", "folders", "listing", "paths", "serializers"},
    {"array_chains", "look", "output", "recognise"},
    {"auto", "targets"},
    {"pipeline"},
    {"inspection"},
    {"api"},
    {"archive", "conversion", "objects"},
    {"records"},
    {"bench"},
    {"cli"},
    {"__main__"},
]

#: The package's own __init__: it may name everything, and nothing imports it.
FACE = "serialpack"

#: What a container must not know: it would have to change with every new stage.
STAGES = {"auto", "codecs", "filters", "formats", "pipeline", "serializers"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else FACE


def rank(part: str) -> int:
    if part == FACE:
        return len(LAYERS)
    return next(number for number, parts in enumerate(LAYERS) if part in parts)


def imports(module: str, *, at_import: bool = False) -> Iterator[tuple[str, int]]:
    """Modules of ours that ``module`` imports, with the line; functions and type checks too.

    ``at_import``: only what is imported when the module is.
    """
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in statements(ast.parse(path.read_text("utf-8")), at_import=at_import):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *([node.module] if node.module else [])])
            source = base if node.level else node.module or ""
            # ``from package import name``: name is a module, or something in the package.
            names = [
                f"{source}.{alias.name}" if f"{source}.{alias.name}" in MODULES else source
                for alias in node.names
            ]
        for name in names:
            if name.split(".")[0] == FACE:
                yield name, node.lineno


def statements(tree: ast.AST, *, at_import: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not (at_import and runs_later(node)):
            yield from statements(node, at_import=at_import)


def runs_later(node: ast.AST) -> bool:
    """Whether what stands inside ``node`` is run after the import, or never."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def misplaced(layers: list[set[str]], parts: set[str]) -> list[str]:
    """The parts that do not stand in just one layer, and the names in the table of no part."""
    placed = Counter(part for layer in layers for part in layer)
    return sorted(part for part in {*parts, *placed} if placed[part] != 1 or part not in parts)


def test_every_module_has_one_layer() -> None:
    """A new module or folder is placed in the table, once, before anything uses it."""
    assert len(MODULES) > 20, f"found too little under {PACKAGE}: {sorted(MODULES)}"
    assert not misplaced(LAYERS, {part_of(m) for m in MODULES} - {FACE})


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
    assert misplaced(layers, {"low", "high"}) == found


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module: str) -> None:
    """A module imports its own part and lower layers only, also inside functions."""
    part = part_of(module)
    wrong = [
        f"{MODULES[module].relative_to(PACKAGE.parent)}:{line} imports {name}"
        for name, line in imports(module)
        if part_of(name) != part and rank(part_of(name)) >= rank(part)
    ]
    assert not wrong


def test_container_knows_no_stage() -> None:
    """Nor does it come to know one through what it imports."""
    seen = {m for m in MODULES if part_of(m) == "container"}
    assert seen
    todo = list(seen)
    while todo:
        for name, _ in imports(todo.pop()):
            if name in MODULES and name not in seen:
                seen.add(name)
                todo.append(name)
    assert not {part_of(m) for m in seen} & STAGES
