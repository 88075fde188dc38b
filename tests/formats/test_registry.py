"""The registry of formats finds them by name, number and extension."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from serialpack.columns.stored.structure import KINDS_OF_TEXT
from serialpack.errors import UsageError
from serialpack.formats import FORMATS, Declaration
from serialpack.formats.base import ValueFormat
from tests.structure import PACKAGE, Tree

#: What is no format, and what is one of a Python object: everyone may know these two.
NONE = {"bytes", "object"}

#: What may name a format, and why.
NAMED = {
    "serialpack.bench.reports": "reports of bench are JSON or CSV",
    "serialpack.detection.by_content": "it tells by content which of them text is",
    "serialpack.cli.verbs.benching": "so they are",
    "serialpack.conversion.losses.changes": "libraries have such names too",
    "serialpack.conversion.preparing": "one array of an .npz file is asked for, by name or alone",
    "serialpack.conversion.sources.datasets": "fields are chosen in what was made .npz of it",
    "serialpack.conversion.sources.objects": "arrays of objects stand in NumPy's files, or pickled",
    "serialpack.detection.detect": "--delimiter is for CSV, whatever has delimiters",
    "serialpack.objects.dumping": "the serializer json makes lists of tuples",
    "serialpack.far.systems": "URLs of databases begin so",
    "serialpack.values.kind_of": "libraries have such names too",
}


@pytest.mark.parametrize("entry", list(FORMATS), ids=lambda entry: entry.name)
def test_an_entry_and_its_class_agree(entry) -> None:  # type: ignore[no-untyped-def]
    fmt = FORMATS.get(entry.name)
    assert (fmt.name, fmt.number) == (entry.name, entry.number)
    # What has variants, says in a container which of them it is.
    assert FORMATS.by_number(entry.number) == entry or entry.variants
    assert fmt.about
    assert fmt.has_values == isinstance(fmt, ValueFormat)
    assert all(FORMATS.by_extension("A" + x.upper()) == entry for x in entry.extensions)


@pytest.mark.parametrize("entry", list(FORMATS), ids=lambda entry: entry.name)
def test_a_declaration_names_what_there_is(entry: Declaration) -> None:
    assert {entry.dialect_of, entry.version_of} - {""} <= set(FORMATS.names())
    assert not entry.columns or entry.columns in KINDS_OF_TEXT
    assert not entry.columns or KINDS_OF_TEXT[entry.columns] == entry.delimiter
    assert entry.one_schema or not entry.typed_columns


def test_what_is_not_there() -> None:
    assert FORMATS.by_number(99) is None
    assert FORMATS.by_extension("README") is None
    assert FORMATS.by_extension("a.xyz") is None
    with pytest.raises(UsageError, match="ndjson"):
        FORMATS.declaration("ndjsn")


def test_facts_are_asked_of_declarations() -> None:
    """What differs from format to format is asked of theirs, not told by a name elsewhere."""
    found = {place.partition(":")[0] for place in named_formats(PACKAGE)}
    assert not found - set(NAMED)
    assert not set(NAMED) - found, "no name any more: take it out of the list"


def named_formats(tree: Tree) -> Iterator[str]:
    """Where a module that is no stage compares something with the name of a format."""
    names = set(FORMATS.names()) - NONE
    stages = ("formats", "serializers", "columns")
    for module in tree.modules:
        if module.split(".")[1:2] and module.split(".")[1] in stages:
            continue
        for node in ast.walk(tree.parsed(module)):
            if isinstance(node, ast.Compare) and names & {
                each.value
                for side in (node.left, *node.comparators)
                for each in (side.elts if isinstance(side, ast.Tuple | ast.Set) else [side])
                if isinstance(each, ast.Constant)
            }:
                yield f"{module}:{node.lineno}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('a = b == "json"', 1),
        ('a = b.name in ("csv", "tsv")', 1),
        ('a = b != "bytes"', 0),
        ('a = "json"', 0),
    ],
)
def test_a_name_that_is_compared_is_found(tmp_path: Path, text: str, found: int) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "top.py").write_text(text, "utf-8")
    assert len([*named_formats(Tree(tmp_path / "house"))]) == found
