"""Texts for the tests of formats: JSON built with any spelling, and independent readers."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import strategies as st

from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock


def split(name: str, source: bytes, block_size: int, *, lines: bool = False) -> list[SourceBlock]:
    """The blocks of a source, after checking what every format promises of them."""
    read = io.BytesIO(source).read
    blocks = list(FORMATS.get(name).split(read, block_size, for_values=lines))
    assert b"".join(bytes(b.data) for b in blocks) == source
    assert [b.index for b in blocks] == list(range(len(blocks)))
    assert [b.last for b in blocks] == [False] * (len(blocks) - 1) + [True]
    offset = record = 0
    for block in blocks:
        assert block.offset == offset
        assert block.first_record == record
        assert block.data or not source
        before = source[:offset]
        if lines:
            assert block.line == before.count(b"\n")
            line = before[before.rfind(b"\n") + 1 :]
            assert block.column == sum(byte & 0xC0 != 0x80 for byte in line)
        offset += len(block.data)
        record += block.records or 0
    return blocks


#: Between tokens of JSON; never a newline, so that it serves NDJSON too.
blank = st.sampled_from(["", "", "", " ", "  ", "\t", " \r"])
white = st.one_of(blank, st.sampled_from(["\n", "\n  ", "\r\n\t"]))

numbers = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,4})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)
_pieces = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\'), max_size=6),
    st.sampled_from(
        ['\\"', "\\\\", "\\/", "\\n", "\\u0000", "\\u00e9", "\\u00E9", "\\ud83d\\ude00"]
    ),
    st.sampled_from(["[", "]", "{", "}", ",", ":", '\\\\\\"', ", {", "}, {", "],["]),
)
strings = st.lists(_pieces, max_size=4).map(lambda pieces: '"' + "".join(pieces) + '"')
scalars = st.one_of(numbers, strings, st.sampled_from(["null", "true", "false"]))


@st.composite
def _array(draw: st.DrawFn, inner: st.SearchStrategy[str], space: st.SearchStrategy[str]) -> str:
    parts = draw(st.lists(inner, max_size=4))
    padded = [draw(space) + part + draw(space) for part in parts]
    return "[" + (",".join(padded) if parts else draw(space)) + "]"


@st.composite
def _object(draw: st.DrawFn, inner: st.SearchStrategy[str], space: st.SearchStrategy[str]) -> str:
    parts = draw(st.dictionaries(strings, inner, max_size=4))
    padded = [
        draw(space) + key + draw(space) + ":" + draw(space) + value + draw(space)
        for key, value in parts.items()
    ]
    return "{" + (",".join(padded) if parts else draw(space)) + "}"


def values(space: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The texts of JSON values, with ``space`` between their tokens."""
    return st.recursive(
        scalars, lambda inner: st.one_of(_array(inner, space), _object(inner, space)), max_leaves=8
    )


@st.composite
def arrays(draw: st.DrawFn) -> str:
    """The text of an array of likely or unlikely records."""
    record = draw(st.sampled_from([values(white), scalars, _object(values(blank), blank), numbers]))
    parts = draw(st.lists(record, max_size=12))
    space = draw(st.sampled_from([st.just(""), st.just(" "), white]))
    joined = ",".join(draw(space) + part + draw(space) for part in parts)
    return draw(white) + "[" + joined + (draw(white) if not parts else "") + "]" + draw(white)


@st.composite
def maps(draw: st.DrawFn) -> str:
    """The text of an object of some members."""
    parts = draw(st.lists(st.tuples(strings, values(white)), max_size=12))
    joined = ",".join(
        draw(white) + key + draw(white) + ":" + draw(white) + value + draw(white)
        for key, value in parts
    )
    return draw(white) + "{" + joined + (draw(white) if not parts else "") + "}" + draw(white)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """NDJSON text, with blank lines and any line ends."""
    parts = draw(st.lists(st.one_of(values(blank), st.sampled_from(["", " "])), max_size=12))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(parts) + (end if draw(st.booleans()) else "")


_SPACE = " \t\r\n"


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def element_starts(text: str) -> list[int]:
    """Where the elements (or members) of a container begin, by the standard library's scanner."""
    decoder = json.JSONDecoder()
    at = _skip(text, 0)
    is_map = text[at] == "{"
    at = _skip(text, at + 1)
    starts = []
    while text[at] not in "]}":
        starts.append(at)
        _, at = decoder.raw_decode(text, at)
        if is_map:
            at = _skip(text, at)
            assert text[at] == ":"
            _, at = decoder.raw_decode(text, _skip(text, at + 1))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return starts


def plain(text: str) -> Any:
    """The values of a text as the standard library gives them, objects as pairs, numbers whole."""
    return json.loads(
        text,
        parse_int=lambda digits: ("integer", digits),
        parse_float=lambda digits: ("float", digits),
        object_pairs_hook=lambda pairs: ("object", pairs),
    )
