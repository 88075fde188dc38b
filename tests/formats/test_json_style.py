"""Text that common programs write comes back byte for byte, from values and a small spelling."""

from __future__ import annotations

import io
import json
from typing import Any

import msgpack
import pytest

from serialpack.formats.base import Style
from serialpack.formats.json.join import IndentedJoin
from serialpack.formats.json.style import MOST_AROUND, MOST_WITHIN, floats_differ, style_of
from serialpack.formats.pieces.join import Piece
from serialpack.values.structure import Structure
from tests.formats import texts
from tests.formats.streams import value_format

RECORDS: list[Any] = [
    {
        "id": i,
        "name": f"Zo\u00eb {i}",
        "tags": ["a", "b/c"],
        "sub": {"x": i / 4, "e": []},
        "n": None,
    }
    for i in range(40)
]


def _come_back(name: str, source: bytes, size: int) -> tuple[bool, Style]:
    """Whether the spelling of the first block, and the ends of blocks, are all that it takes."""
    fmt = value_format(name)
    style: Style | None = None
    exact = True
    for block in fmt.split(io.BytesIO(source).read, size):
        style = fmt.detect_style(block) if style is None else style
        whole = {**style, **fmt.style_changes(block, style)}
        text = fmt.write_text(fmt.parse(block), whole, first=block.index == 0)
        exact = exact and text == bytes(block.data)
    assert style is not None
    return exact, style


STYLES: list[dict[str, Any]] = [
    {},
    {"ensure_ascii": False},
    {"separators": (",", ":")},
    {"separators": (",", ": ")},
    {"separators": (", ", " : ")},
    {"indent": 2},
    {"indent": 4, "ensure_ascii": False},
    {"indent": "\t"},
    {"indent": 1, "separators": (",", " : ")},
]


@pytest.mark.parametrize("written", STYLES, ids=str)
@pytest.mark.parametrize("end", ["", "\n", "\r\n "])
@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("shape", ["array", "map", "scalars"])
def test_what_python_writes(written: dict[str, Any], end: str, size: int, shape: str) -> None:
    values: Any = RECORDS
    if shape == "map":
        values = {f"key {record['id']}": record for record in RECORDS}
    if shape == "scalars":
        values = list(range(1000, 2000))
    source = (json.dumps(values, **written) + end).encode()
    exact, style = _come_back("json", source, size)
    assert exact, style
    assert len(msgpack.packb(style)) < 40


@pytest.mark.parametrize("style", STYLES[:5], ids=str)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [700, 1 << 20])
def test_lines_that_python_writes(style: dict[str, Any], end: str, size: int) -> None:
    for last in ("", end):
        source = (end.join(json.dumps(r, **style) for r in RECORDS) + last).encode()
        assert _come_back("ndjson", source, size)[0]


@pytest.mark.parametrize(
    ("name", "source", "style"),
    [
        ("json", b"[]", {"k": "a"}),
        ("json", b'{"a":1}', {}),
        ("json", b'{"a": 1}', {"s": 1}),
        ("json", b'[{"a":1},{"a":2}]', {"k": "a"}),
        ("json", b'[\n  {\n    "a": 1\n  }\n]\n', {"k": "a", "n": 2, "t": "\n]\n"}),
        ("json", b'[\n{"a":1},\n{"a":2}\n]', {"k": "a", "h": "[\n", "j": ",\n", "t": "\n]"}),
        ("json", b"\xef\xbb\xbf[1]", {"k": "a", "h": "\ufeff["}),
        ("ndjson", b'{"a":1}\n{"a":2}\n', {}),
        ("ndjson", b'{"a": 1}\n{"a": 2}', {"s": 1, "t": ""}),
        ("ndjson", b"\xef\xbb\xbf1\n", {"h": "\ufeff"}),
    ],
)
def test_the_commonest_spellings_cost_least(name: str, source: bytes, style: Style) -> None:
    assert _come_back(name, source, 1000) == (True, style)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":"\\u00e9\\u20ac"}',
        '{"a":"\\u00E9\\u20AC"}',
        '{"a":"http:\\/\\/x"}',
        '{"a":"\\u003cb\\u003e \\u0026"}',
        '{"a":"\\ud800"}',
        '{"a": "\\uD800", "b": ["\\\\u00e9"]}',
        "[\n\t1e-05,\n\t1e+16\n]",
        '[\n    {"a": 1, "b": 2},\n    {"a": 3, "b": 4}\n]',
        '{\n  "a" : [ ],\n  "b" : 1\n}',
    ],
)
def test_escapes_and_layouts(text: str) -> None:
    fmt = value_format("json")
    (block,) = texts.split("json", text.encode(), 1000)
    style = fmt.detect_style(block)
    records = fmt.parse(block)
    found = [fmt.write_text(records, style, first=True).decode()]
    found += [
        fmt.write_text(records, {**style, **guess}, first=True).decode()
        for guess in fmt.style_guesses(block, style)
    ]
    # Spaces within empty brackets are the one thing here that has no word.
    assert text.replace("[ ]", "[]") in found


def test_a_block_spelled_differently_is_learned_anew() -> None:
    fmt = value_format("ndjson")
    first, second = b'{"a":1}\n' * 4, b'{"b": [1, 2]}\n' * 3
    blocks = texts.split("ndjson", first + second, len(second))
    style = fmt.detect_style(blocks[0])
    assert fmt.style_changes(blocks[-1], style) == {}
    (guess, *_) = fmt.style_guesses(blocks[-1], style)
    text = fmt.write_text(fmt.parse(blocks[-1]), {**style, **guess}, first=False)
    assert text == bytes(blocks[-1].data)


def test_a_spelling_can_be_taken_back() -> None:
    """Every key of a header's spelling can be overruled, also by its default."""
    fmt = value_format("json")
    indented = json.dumps(RECORDS, indent="\t").encode()
    compact = json.dumps(RECORDS, ensure_ascii=False, separators=(",", ":")).encode()
    (one,), (other,) = texts.split("json", indented, 1 << 20), texts.split("json", compact, 1 << 20)
    for block, style in ((one, fmt.detect_style(other)), (other, fmt.detect_style(one))):
        guesses = [{**style, **guess} for guess in fmt.style_guesses(block, style)]
        assert bytes(block.data) in [fmt.write_text(RECORDS, g, first=True) for g in guesses]


def test_what_is_no_json_is_never_written() -> None:
    fmt = value_format("json")
    for style in ({"k": "a", "x": 1}, {"k": "a", "f": 1}, {"k": "a", "s": [",", "  :"]}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            fmt.write_text([float("nan")], style, first=True)
    with pytest.raises(ValueError):  # noqa: PT011
        fmt.write_text([object()], {"k": "a"}, first=True)


@pytest.mark.parametrize("name", ["json", "ndjson"])
def test_slices_have_the_ends_of_their_source(name: str) -> None:
    for written in STYLES[:1] if name == "ndjson" else STYLES:
        if name == "json":
            source = json.dumps(RECORDS, **written).encode()
        else:
            source = b"".join(json.dumps(record).encode() + b"\n" for record in RECORDS)
        fmt = value_format(name)
        blocks = texts.split(name, source, 900)
        style = fmt.detect_style(blocks[0])
        before, behind = fmt.slice_ends(b"", style)
        block = blocks[1]
        spans = [*fmt.record_spans(block.data, style, first=False)]
        text = before + bytes(block.data)[spans[0][0] : spans[1][1]] + behind
        found = json.loads(text) if name == "json" else [json.loads(x) for x in text.splitlines()]
        assert found == RECORDS[block.first_record :][:2]


@pytest.mark.parametrize(
    ("text", "may"),
    [
        *(("0.00001", True), ("[-0.00001]", True), ("1e5", True), ('{"a":1.5e-07,"b":2}', True)),
        *(("[1e+16 ]", True), ("10000000000000000.0", True), ("10.00001", False)),
        *(("3.00001", False), ("0.0000", False), ("1.5", False), ("123456.0", False)),
        ('"70a0f2d8-d246-42e3-9951-19b766387f91"', False),  # hexadecimal is no exponent
    ],
)
def test_numbers_that_are_spelled_in_two_ways_are_seen(text: str, may: bool) -> None:
    assert floats_differ(text.encode()) is may


@pytest.mark.parametrize(
    ("key", "most"),
    [*dict.fromkeys("nb", MOST_WITHIN).items(), *dict.fromkeys("hjt", MOST_AROUND).items()],
)
def test_a_stored_style_writes_little_around_values(key: str, most: int) -> None:
    """A container may say anything: few bytes of it must not become many."""
    style_of({key: " " * most}, Structure.ARRAY)
    with pytest.raises(ValueError, match="not a JSON style: too long"):
        style_of({key: " " * (most + 1)}, Structure.ARRAY)
    with pytest.raises(ValueError, match="not a JSON style"):
        style_of({"s": [",", ":" + " " * MOST_WITHIN]}, Structure.ARRAY)


def test_only_white_space_is_put_into_what_is_indented() -> None:
    join = IndentedJoin(2)
    assert join.body(Piece(b"1,\n2", 2), Structure.ARRAY) == b"  1,\n  2"
    with pytest.raises(ValueError, match="another text"):
        join.body(Piece(b"1, 2", 2), Structure.ARRAY)


def test_a_document_is_one_record() -> None:
    fmt = value_format("json")
    assert fmt.write_text([1], {}, first=True) == b"1"
    with pytest.raises(ValueError, match="2 records for one document"):
        fmt.write_text([1, 2], {}, first=True)
