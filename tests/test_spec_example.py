"""The worked examples and the numbers in man/spk.5 are those of the code."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from serialpack.codecs import CODECS
from serialpack.container.reader import read_members
from serialpack.container.seek import find_members
from serialpack.filters import FILTERS
from serialpack.formats import FORMATS
from serialpack.serializers import SERIALIZERS

ROOT = Path(__file__).parent.parent


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("spec_example", ROOT / "tools/spec_example.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _load()
EXAMPLES = [TOOL.own_example, TOOL.zstd_example, TOOL.short_example]


def _examples_in_page() -> list[list[str]]:
    """Runs of lines in the page between .EX and .EE that begin with an offset."""
    runs: list[list[str]] = []
    current: list[str] | None = None
    for line in (ROOT / "man/spk.5").read_text(encoding="utf-8").splitlines():
        if line == ".EX":
            current = []
        elif line == ".EE":
            if current and current[0].startswith("   0  "):
                runs.append(current)
            current = None
        elif current is not None:
            current.append(line)
    return runs


def test_the_page_shows_the_examples_line_by_line() -> None:
    """What the tool prints today stands in the page, both examples, in its order, and no other."""
    assert _examples_in_page() == [TOOL.annotate(make()) for make in EXAMPLES]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_bytes_in_the_page_are_the_file(number: int) -> None:
    """The middle column, taken alone, is the whole file, and each offset is right."""
    data = bytearray()
    for line in _examples_in_page()[number]:
        assert int(line[:4]) == len(data)
        data += bytes.fromhex(line[6:29])
    assert data == EXAMPLES[number]()


@pytest.mark.parametrize("make", EXAMPLES)
def test_the_reader_takes_the_example(make: Callable[[], bytes]) -> None:
    """The examples are whole containers, from the front and from the end."""
    data = make()
    members = read_members(io.BytesIO(data).read)
    member = next(members)
    (stored,) = member.blocks()
    assert next(members, None) is None
    assert stored.block.size == len(TOOL.CONTENT)
    assert bytes(stored.payload[0]).find(TOOL.CONTENT) >= 0
    (found,) = find_members(io.BytesIO(data))
    assert (found.start, found.length) == (0, len(data))
    assert found.index == member.index


def test_no_line_is_wider_than_the_page() -> None:
    """A manual page of 80 columns indents by 7 and leaves 71; nothing in it is special to roff."""
    for line in (line for make in EXAMPLES for line in TOOL.annotate(make())):
        assert len(line) <= 71, line
        assert not set(line) & set("\\-'`^~\""), line
        assert line[:4].strip(" 0123456789") == "", line


@pytest.mark.parametrize(
    ("section", "registry"),
    [
        ("SERIALIZERS", SERIALIZERS),
        ("FORMATS", FORMATS),
        ("CODECS", CODECS),
        ("FILTERS", FILTERS),
    ],
)
def test_the_page_lists_the_numbers_of_the_registries(
    section: str, registry: Iterable[Any]
) -> None:
    """A stage or a format that is added, or gets another number, must be in the page too."""
    page = (ROOT / "man/spk.5").read_text(encoding="utf-8")
    text = page.split(f"\n.SH {section}\n")[1].split("\n.SH ")[0]
    table = text.split("number|name|")[1].split("\n.TE")[0].replace("\\-", "-")
    rows = re.findall(r"^(\d+)\|([\w:.-]+)\|", table, re.MULTILINE)
    listed = [(int(number), name) for number, name in rows]
    assert listed == sorted((e.number, e.name) for e in registry)
