"""Time is proportional to the bytes, whatever they are: no scanner looks at one again and again."""

from __future__ import annotations

import io
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from serialpack.detection.detect import detect, looks_like
from serialpack.errors import SerialpackError
from serialpack.formats import FORMATS
from serialpack.formats.base import Unheld, ValueFormat
from serialpack.formats.shared import split as splitting
from tests.formats.shapes import BYTES_ONLY, SHAPES
from tests.formats.work import Counted, bearable, lines_run

# Of work and memory: the same under every Python.
pytestmark = pytest.mark.slow

#: What four times the bytes may cost, four times and a little more; and what comes once.
MOST, ONCE = 5, 3000

CASES = [(name, shape) for name, shapes in SHAPES.items() for shape in shapes]


def _cut(name: str, data: bytes, block_size: int, *, for_values: bool) -> list[Any]:
    try:
        return [*FORMATS.get(name).split(io.BytesIO(data).read, block_size, for_values=for_values)]
    except SerialpackError:  # a limit
        return []


def _parse(name: str, data: bytes, block_size: int) -> None:
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    with suppress(SerialpackError, Unheld):
        for block in _cut(name, data, block_size, for_values=True):
            fmt.comments(block)
            fmt.parse(block)


def test_every_format_has_hostile_shapes() -> None:
    assert SHAPES.keys() | BYTES_ONLY == {*FORMATS.names()}
    assert not SHAPES.keys() & BYTES_ONLY


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_lines_that_run_grow_with_the_bytes(name: str, shape: str) -> None:
    """As blocks smaller than the source, and as values."""
    make = SHAPES[name][shape]
    for work in (
        partial(_cut, name, block_size=500, for_values=False),
        partial(_cut, name, block_size=500, for_values=True),
        partial(_parse, name, block_size=1 << 20),
    ):
        work(make(4000))  # what is imported and made once
        few, many = (lines_run(work, make(size)) for size in (4000, 16_000))
        assert many <= MOST * few + ONCE


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_bytes_that_are_searched_grow_with_the_bytes(
    monkeypatch: pytest.MonkeyPatch, name: str, shape: str
) -> None:
    monkeypatch.setattr(splitting, "bytearray", Counted, raising=False)
    make = SHAPES[name][shape]
    for for_values in (False, True):
        seen = []
        for size in (40_000, 160_000):
            Counted.seen = 0
            _cut(name, make(size), 3000, for_values=for_values)
            seen.append(Counted.seen)
        assert seen[1] <= MOST * seen[0] + 40 * 3000
        assert seen[1] <= 40 * 160_000


@pytest.mark.slow
@pytest.mark.parametrize("for_values", [False, True])
@pytest.mark.parametrize("name", FORMATS.names())
def test_any_byte_again_and_again(name: str, *, for_values: bool) -> None:
    work = partial(_cut, name, block_size=300, for_values=for_values)
    for value in range(256):
        few, many = (lines_run(work, bytes([value]) * size) for size in (1000, 4000))
        assert many <= MOST * few + ONCE, value


def test_any_byte_is_told_from_the_start() -> None:
    def look(data: bytes) -> None:
        detect(None, data)
        detect("a.json", data)
        looks_like(data)

    for value in range(256):
        # Each line of the table of known files is one that runs, once for each look.
        assert lines_run(look, bytes([value]) * 20_000) < ONCE + 1000, value


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_patterns_look_through_a_source_once(name: str, shape: str) -> None:
    """Of half a megabyte, the square would take minutes."""
    if name in ("pickle", "marshal", "java", "bson", "protobuf"):
        pytest.skip("no patterns")
    data = SHAPES[name][shape](400_000)
    fmt: Any = FORMATS.get(name)
    with bearable():
        for block in _cut(name, data, 1 << 20, for_values=True):
            fmt.comments(block)
            fmt.detect_style(block)
