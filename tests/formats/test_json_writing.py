"""The writers of JSON text: whichever is used, the text is the one that a style means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.depth import json_depth
from serialpack.formats.json import write as json_write
from serialpack.formats.json.style import ASCII, CAPITALS, HTML, SLASH, JsonStyle, detect_style
from serialpack.formats.json.values import check_json
from serialpack.values.structure import Structure

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=[]))
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def written(value: Any, **style: Any) -> bytes:
    return json_write.write([value], JsonStyle(Structure.DOCUMENT, **style), first=True)


@given(TREES)
def test_all_but_ascii_escaped_is_as_the_standard_library_writes_it(value: Any) -> None:
    compact = json.dumps(value, separators=(",", ":")).encode()
    assert written(value, escapes=ASCII) == compact
    indented = written(value, escapes=ASCII, separators=(",", ": "), indent="  ")
    assert indented == json.dumps(value, indent=2).encode()


@given(TREES)
def test_numbers_as_python_writes_them(value: Any) -> None:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert written(value, python_floats=True) == text.encode()


@pytest.mark.parametrize(
    "value",
    [1e-5, -9e-9, [1.5e-7, 2], {"a": 3e-6}, "1e-5,", 1e16, 1e22, 5e-324, "\x7f", "\ud800", 2**70],
)
def test_where_ujson_writes_otherwise(value: Any) -> None:
    assert written(value, escapes=ASCII) == json.dumps(value, separators=(",", ":")).encode()


@pytest.mark.parametrize("depth", [11, 250, 480])
def test_a_bound_of_depth_is_never_too_low(depth: int) -> None:
    assert json_depth(b"[1," * depth + b"[],{}" + b"]" * depth)[0] >= depth + 1


def test_what_indentation_would_make_too_long_is_refused() -> None:
    value: Any = [0] * 400_000
    for _ in range(250):
        value = [value]
    with pytest.raises(ValueError, match="longer than can be"):
        written(value, separators=(",", ": "), indent=" " * 8)


@pytest.mark.parametrize(
    ("text", "escapes"),
    [
        (b'["a/b"]', 0),
        (rb'["a\/b","c\/d"]', SLASH),
        (rb'["a\\/b"]', 0),
        (rb'["\u00e9","\n"]', ASCII),
        (rb'["\u00E9"]', ASCII | CAPITALS),
        (rb'["\u003cb"]', HTML),
        (rb'["\u003cb<"]', 0),
        (rb'["\u001f"]', 0),
        (rb'["\\"]', 0),
    ],
)
def test_escapes_are_told_by_the_first(text: bytes, escapes: int) -> None:
    assert detect_style(text, Structure.DOCUMENT, first=True, last=True).escapes == escapes


class Text(str):
    pass


@pytest.mark.parametrize(
    "value",
    [{1: 2}, {"a": [{None: 1}]}, [(1,)], [b"x"], [[float("nan")], "a"], {Text("a"): 1}, {"a": {1}}],
)
def test_what_is_not_json_is_found(value: Any) -> None:
    check_json([{"before": [1, 2.5, "x", None]}] * 1500)
    with pytest.raises(ValueError, match="JSON"):
        check_json([{"before": [1, 2.5]}] * 1500 + [value])
