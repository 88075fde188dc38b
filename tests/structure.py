"""What the tree of modules looks like, and the rules that it keeps: each rule a list of faults.

A rule takes the folder of a package, so that the tests can plant a fault and see it found.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

#: How long a file may be before it is asked why, in lines.
MOST_LINES = 400

#: A line of marks across a file, with words in it or without.
_BANNER = re.compile(r"\s*#.*(-{4}|={4}|\*{4}|#{4})$")

#: How long the docstring of a package is, in lines.
DOCSTRING_LINES = range(5, 31)


class Import(NamedTuple):
    """That a module imports another, on a line. ``late``: not when it is imported itself."""

    name: str
    line: int
    late: bool


class Tree:
    """The modules of the package in a folder, by dotted name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules = {self._name(path): path for path in sorted(folder.rglob("*.py"))}
        self.packages = {m for m, path in self.modules.items() if path.name == "__init__.py"}

    def _name(self, path: Path) -> str:
        parts = path.relative_to(self.folder.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def place(self, module: str) -> str:
        return str(self.modules[module].relative_to(self.folder.parent))

    def package_of(self, module: str) -> str:
        return module if module in self.packages else module.rpartition(".")[0]

    @cache  # noqa: B019 (a tree lives as long as the tests)
    def parsed(self, module: str) -> ast.Module:
        return ast.parse(self.modules[module].read_text("utf-8"))

    @cache  # noqa: B019
    def imports(self, module: str) -> tuple[Import, ...]:
        """What of the package ``module`` imports; in functions and for types too."""
        found = []
        for node, late in _statements(self.parsed(module), late=False):
            for name in self._names(module, node):
                if name.split(".")[0] == self.folder.name:
                    found.append(Import(name, node.lineno, late))
        return tuple(found)

    def _names(self, module: str, node: ast.Import | ast.ImportFrom) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        above = self.package_of(module).split(".")
        above = above[: len(above) - node.level + 1]
        base = ".".join([*above, *([node.module] if node.module else [])])
        source = base if node.level else node.module or ""
        # ``from package import name``: name is a module, or something in the package.
        return [
            f"{source}.{alias.name}" if f"{source}.{alias.name}" in self.modules else source
            for alias in node.names
        ]


#: The package itself, each of its modules parsed once.
PACKAGE = Tree(Path(__file__).parents[1] / "serialpack")


def _statements(tree: ast.AST, *, late: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, late
        elif not isinstance(node, ast.expr):  # which holds no statement
            yield from _statements(node, late=late or _runs_later(node))


def _runs_later(node: ast.AST) -> bool:
    """Whether what stands inside ``node`` is run after the import, or never."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def private_imports(tree: Tree) -> list[str]:
    """Imports of a module whose name begins with an underscore, by another package than its own."""
    return [
        f"{tree.place(module)}:{line} imports {name}"
        for module in tree.modules
        for name, line, _ in tree.imports(module)
        for at, part in enumerate(name.split("."))
        if part.startswith("_") and not part.endswith("__")
        if not f"{tree.package_of(module)}.".startswith(".".join(name.split(".")[:at]) + ".")
    ]


def circles(tree: Tree) -> list[frozenset[str]]:
    """Modules that need each other, as sets; also by imports in functions and for types."""
    needs = {
        m: {i.name for i in tree.imports(m) if i.name in tree.modules and i.name != m}
        for m in tree.modules
    }
    return [frozenset(group) for group in _components(needs) if len(group) > 1]


def _components(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of a graph (Tarjan 1972), without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    waiting: list[str] = []
    found: list[list[str]] = []
    for start in needs:
        if start in index:
            continue
        work = [(start, iter(sorted(needs[start])))]
        index[start] = low[start] = len(index)
        waiting.append(start)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = waiting.index(node)
                    found.append(waiting[at:])
                    del waiting[at:]
            elif following not in index:
                index[following] = low[following] = len(index)
                waiting.append(following)
                work.append((following, iter(sorted(needs[following]))))
            elif following in waiting:
                low[node] = min(low[node], index[following])
    return found


def wordless_packages(tree: Tree) -> list[str]:
    """Packages whose docstring does not say in 5 to 30 lines what they do and where one enters."""
    found = []
    for package in sorted(tree.packages):
        lines = len((ast.get_docstring(tree.parsed(package)) or "").splitlines())
        if lines not in DOCSTRING_LINES:
            found.append(f"{tree.place(package)}: a docstring of {lines} lines")
    return found


def absent_names(tree: Tree) -> list[str]:
    """``module.name`` in a package's docstring, where that module has no such name."""
    found = []
    for package in sorted(tree.packages):
        words = ast.get_docstring(tree.parsed(package)) or ""
        for module, name in re.findall(r"``(\w+)\.(\w+)", words):
            inside = f"{package}.{module}"
            if name != "py" and inside in tree.modules and name not in _defined(tree, inside):
                found.append(f"{tree.place(package)}: {module}.{name}")
    return found


def _defined(tree: Tree, module: str) -> set[str]:
    """What stands in a module or, of a package, below it too."""
    below = {each.removeprefix(f"{module}.").split(".")[0] for each in tree.modules}
    named = {node.name for node in tree.parsed(module).body if hasattr(node, "name")}
    text = tree.modules[module].read_text("utf-8")
    return below | named | {*re.findall(r"^(\w+)\b.*=", text, re.MULTILINE)}


def long_files(folder: Path) -> list[str]:
    """Files of more than ``MOST_LINES`` lines."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        lines = len(path.read_text("utf-8").splitlines())
        if lines > MOST_LINES:
            found.append(f"{path.relative_to(folder.parent)}: {lines} lines")
    return found


def banners(folder: Path) -> list[str]:
    """Comments that draw a line across a file: its parts have names, or files of their own."""
    return [
        f"{path.relative_to(folder.parent)}: line {number} is a banner"
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if _BANNER.match(line)
    ]


def repeated_names(tree: Tree) -> list[str]:
    """Names of classes that stand in several modules of the whole package."""
    where: dict[str, list[str]] = {}
    for module in tree.modules:
        for node in tree.parsed(module).body:
            if isinstance(node, ast.ClassDef):
                where.setdefault(node.name, []).append(tree.place(module))
    return [f"{name}: {', '.join(places)}" for name, places in where.items() if len(places) > 1]


def part_of(module: str, inside: str = "", apart: Collection[str] = ()) -> str:
    """The module or folder of the package, or of the folder ``inside`` it, that ``module`` is or is
    in; empty: the package, or that folder, itself.

    ``apart``: modules and folders in a folder (``tables.writers``) that are parts of their own.
    """
    below = module.partition(".")[2].removeprefix(inside).removeprefix(".")
    own = next((part for part in apart if f"{below}.".startswith(f"{part}.")), None)
    return own or below.partition(".")[0]


def set_apart(layers: Sequence[Collection[str]]) -> set[str]:
    """The modules and folders in a folder that have a layer other than that of their folder."""
    return {part for layer in layers for part in layer if "." in part}


def misplaced(layers: Sequence[Collection[str]], parts: Collection[str]) -> list[str]:
    """The parts that do not stand in just one layer, and the names in the table of no part."""
    placed = Counter(part for layer in layers for part in layer)
    return sorted(part for part in {*parts, *placed} if placed[part] != 1 or part not in parts)


def upward_imports(tree: Tree, layers: Sequence[Collection[str]], inside: str = "") -> list[str]:
    """Imports of another part than a module's own that is not in a lower layer, and of the package
    by a module in it: its face may name everything, and nothing imports that.

    ``inside``: the layers are of this folder, and nothing else is looked at.
    """
    apart = set_apart(layers)
    rank = {part: number for number, parts in enumerate(layers) for part in parts}
    house = ".".join([tree.folder.name, inside] if inside else [tree.folder.name])
    return [
        f"{tree.place(module)}:{line} imports {name}"
        for module in tree.modules
        if module.startswith(f"{house}.")
        for name, line, _ in tree.imports(module)
        if name == house or name.startswith(f"{house}.")
        if (part := part_of(name, inside, apart)) != (own := part_of(module, inside, apart))
        if rank.get(part, len(layers)) >= rank[own]
    ]


def needed(tree: Tree, part: str) -> set[str]:
    """The parts that a part needs, itself among them, also through what it imports."""
    found = {module for module in tree.modules if part_of(module) == part}
    waiting = list(found)
    while waiting:
        new = {i.name for i in tree.imports(waiting.pop()) if i.name in tree.modules} - found
        found |= new
        waiting += new
    return {part_of(module) for module in found}
