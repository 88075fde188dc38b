"""Lines of JSON that may be deep are told from the others, whatever their strings hold."""

from __future__ import annotations

import json

import pytest

from serialpack.depth import MAX_DEPTH, json_depth
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Unheld, ValueFormat

SHALLOW = b'{"a": [1, {"b": "\\"["}]}'
DEEPEST = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH


def read(*lines: bytes) -> list[object]:
    fmt = FORMATS.get("ndjson")
    assert isinstance(fmt, ValueFormat)
    return fmt.parse(SourceBlock(b"\n".join(lines), 0, 0, records=len(lines), last=True))


@pytest.mark.parametrize(
    "line",
    [
        b'["%b"]' % (b"[" * 4 * MAX_DEPTH),
        b'["%b"]' % (b'\\"[' * 4 * MAX_DEPTH),
        b"[%b]" % b",".join([b"[]"] * 4 * MAX_DEPTH),
        b"[%b]" % b",".join([b'"]"'] * 4 * MAX_DEPTH),
        DEEPEST,
    ],
    ids=["text", "escapes", "beside", "closing", "deepest"],
)
def test_a_line_that_is_not_too_deep_is_read(line: bytes) -> None:
    assert read(SHALLOW, line, SHALLOW) == [*map(json.loads, (SHALLOW, line, SHALLOW))]


@pytest.mark.parametrize("before", [b"", b'"]", ', b'"\\"]", ', b'"\\\\", '])
def test_a_line_that_is_too_deep_is_named(before: bytes) -> None:
    deep = b"[" + before + DEEPEST + b"]"
    with pytest.raises(Unheld) as caught:
        read(SHALLOW, SHALLOW, deep)
    assert caught.value.difference.record == 2
    assert caught.value.difference.kind == "depth"


@pytest.mark.parametrize("escapes", [0, 100, 40_000], ids=["none", "few", "many"])
@pytest.mark.parametrize("late", [False, True])
def test_escapes_hide_no_level(escapes: int, late: bool) -> None:
    """However many there are, and where: at the front of the text, or far behind it."""
    text = [b'"%b"' % (b'\\"]\\\\' * escapes), b'"%b"' % (b"x" * (1 << 17))]
    around = b",".join(text[::-1] if late else text)
    for levels in (MAX_DEPTH - 1, MAX_DEPTH):
        inner = b"[" * levels + b"]" * levels
        depth, _ = json_depth(b"[" + around + b"," + inner + b"]")
        assert (depth > MAX_DEPTH) == (levels + 1 > MAX_DEPTH)
