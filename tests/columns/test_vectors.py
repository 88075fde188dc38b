"""The test vectors of man/spk-columns.5 are those of the code."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from serialpack.columns.encodings import NAMES
from serialpack.columns.parse.shape import join, split
from serialpack.columns.stored import structure
from serialpack.columns.stored.streams import PCO, PLAIN, array_stream, effort
from serialpack.columns.stored.write import BUNDLED, encode_all
from tests.columns import vectors
from tests.columns.decoded import decode_all

PAGE = Path(__file__).parents[2] / "man/spk-columns.5"


def blocks_in_page() -> list[list[str]]:
    """Examples in the page that begin with what is packed."""
    found = []
    for part in PAGE.read_text(encoding="utf-8").split("\n.EX\n")[1:]:
        shown = part.split("\n.EE\n")[0].split("\n")
        if re.match(r"(text     |values   |numbers  |column 0 )\S", shown[0]):
            found.append(shown)
    return found


def test_the_page_shows_the_vectors_line_by_line() -> None:
    shown = [[vectors.roff(line) for line in block] for block in vectors.blocks().values()]
    assert blocks_in_page() == shown


def test_the_page_renders() -> None:
    """groff has nothing to warn about."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed here")
    command = ["groff", "-t", "-man", "-ww", "-z", str(PAGE)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == ""


def test_the_page_lists_the_encodings() -> None:
    """One that is added, or gets another number, must be in the page too."""
    page = PAGE.read_text(encoding="utf-8")
    table = page.split("\n.SH ENCODINGS\n")[1].split("\n.TE")[0]
    listed = {int(n): name for n, name in re.findall(r"^(\d+)\|(\w+)\|", table, re.MULTILINE)}
    assert listed == {**NAMES, BUNDLED: "bundled"}
    parts = re.findall(r"^\.SS (\w+) \((\d+)\)$", page, re.MULTILINE)
    assert {int(n): name for name, n in parts} == NAMES


def test_no_line_is_wider_than_the_page() -> None:
    """A manual page of 80 columns indents by 7 and leaves 71."""
    for line in (line for block in vectors.blocks().values() for line in block):
        assert len(line) <= 71, line


#: Kinds of elements, and pcodec's numbers for them.
PCODEC_TYPES = {"u1": 10, "<u2": 7, "<u4": 1, "<u8": 2, "<f8": 6}


@pytest.mark.parametrize("dtype", PCODEC_TYPES)
def test_pcodec_writes_the_format_that_the_page_names(dtype: str) -> None:
    """Another one needs a reader that knows it: a new coder, or a new version."""
    scale = 1 if dtype == "u1" else 2.0 ** (8 * np.dtype(dtype).itemsize - 8)
    numbers = (np.random.default_rng(5).normal(100, 20, 4000) * scale).astype(dtype)
    layout, stream = array_stream(numbers, effort(3))
    assert (layout, stream.coder) == (PLAIN, PCO)
    assert stream.stored[:6] == b"pco!\x03\0"
    # Six bits say how many more hold how many numbers there are.
    hint = 6 + (stream.stored[6] & 63) + 1
    at = 6 + -(-hint // 8)
    assert list(stream.stored[at : at + 3]) == [4, 1, PCODEC_TYPES[dtype]]


@pytest.mark.parametrize("name", NAMES.values())
def test_each_encoding_has_a_vector_of_its_own(name: str) -> None:
    """The first encoding in its bytes is the one that it is for."""
    assert NAMES[vectors.coded(name).description[0]] in (name, "exceptions")


@pytest.mark.parametrize("title", vectors.TEXTS)
def test_the_text_comes_back(title: str) -> None:
    kind, text = vectors.TEXTS[title]
    found = split(text, kind)
    assert found is not None
    shape = structure.read(structure.write(found.shape, 3), len(text))
    assert join(shape, decode_all(encode_all(found.columns))) == text
