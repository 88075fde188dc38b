"""Tables in other encodings, with escaped quotes and without a header: blocks of their bytes."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.detection.detect import AsFound, told
from serialpack.errors import SyntaxInputError, UsageError
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.formats.csv.found import Dialect
from serialpack.formats.shared import split as splitting
from tests.formats import texts

ENCODINGS = ["", "cp1250", "utf-16-le", "utf-16-be", "utf-32-le", "gb18030", "shift-jis"]
dialects = st.builds(
    Dialect,
    st.sampled_from(",;\t|"),
    st.sampled_from(ENCODINGS),
    st.booleans(),
    st.booleans(),
)
cells = st.text("aé\\\"',;\t|\n\r ", max_size=5)
tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1)
)


def _format(dialect: Dialect) -> ValueFormat:
    fmt = FORMATS.get(dialect.name)
    assert isinstance(fmt, ValueFormat)
    return fmt


def _spelled(dialect: Dialect, rows: list[list[str]]) -> str:
    """The rows by the standard library, each field in quotes."""
    out = io.StringIO(newline="")
    how: dict[str, Any] = {"doublequote": False, "escapechar": "\\"} if dialect.escaped else {}
    writer = csv.writer(
        out, delimiter=dialect.delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n", **how
    )
    writer.writerows(rows)
    return out.getvalue()


def _can(dialect: Dialect, text: str) -> bool:
    try:
        return text.encode(dialect.encoding or "utf-8").decode(dialect.encoding or "utf-8") == text
    except UnicodeError:
        return False


@given(dialect=dialects, rows=tables, size=st.integers(1, 200), marked=st.booleans())
def test_blocks_and_records_are_those_of_the_table(
    dialect: Dialect, rows: list[list[str]], size: int, *, marked: bool
) -> None:
    rows = [[f"c{number}" for number in range(len(rows[0]))], *rows]
    text = _spelled(dialect, rows)
    mark = "\ufeff" if marked and dialect.encoding[:3] in ("", "utf", "gb1") else ""
    if not _can(dialect, text):
        return
    data = (mark + text).encode(dialect.encoding or "utf-8")
    fmt = _format(dialect)
    names = [f"column{n}" for n in range(1, len(rows[0]) + 1)] if dialect.headless else rows.pop(0)
    expected = [dict(zip(names, row, strict=True)) for row in rows]
    found: list[Any] = []
    spans: list[bytes] = []
    for block in fmt.split(io.BytesIO(data).read, size, for_values=True):
        assert block.offset == sum(map(len, spans))
        found += fmt.parse(block)
        spans.append(bytes(block.data))
    assert found == expected
    assert b"".join(spans) == data
    # Of plain blocks the same records are cut out.
    blocks = texts.split(dialect.name, data, size)
    assert sum(block.records or 0 for block in blocks) == len(rows)
    ends = fmt.slice_ends(blocks[0].data, {})
    for block in blocks:
        source = bytes(block.data)
        cuts = [*fmt.record_spans(source, {}, first=block.index == 0)]
        assert len(cuts) == block.records
        for at, (start, end) in enumerate(cuts):
            alone = ends[0] + source[start:end] + ends[1]
            (one,) = fmt.split(io.BytesIO(alone).read, 1 << 20, for_values=True)
            assert fmt.parse(one) == [expected[block.first_record + at]]


@given(dialect=dialects, rows=tables)
def test_values_become_the_text_again(dialect: Dialect, rows: list[list[str]]) -> None:
    text = _spelled(dialect, [[f"c{number}" for number in range(len(rows[0]))], *rows])
    if not _can(dialect, text):
        return
    data = text.encode(dialect.encoding or "utf-8")
    fmt = _format(dialect)
    (block,) = fmt.split(io.BytesIO(data).read, 1 << 20, for_values=True)
    style = fmt.detect_style(block)
    again = fmt.write_text(fmt.parse(block), style, first=True)
    assert again == data
    assert fmt.difference(block, again) is None


@given(dialects)
def test_a_name_and_a_style_say_the_dialect(dialect: Dialect) -> None:
    declared = FORMATS.declaration(dialect.name)
    assert declared.delimiter == dialect.delimiter.encode()
    assert FORMATS.get(dialect.name).name == dialect.name
    if declared.variants:
        assert FORMATS.by_number(declared.number, dialect.stored()) == declared


@pytest.mark.parametrize(
    "name",
    ["csv:", "csv:x", "csv:tab", "csv:utf8", "csv:no-header+tab", "csv:idna", "csv:base64",
     "csv:punycode+no-header", "csv:+no-header", "csv:utf-8+no-header", "csv:utf-16", "json:tab"],
)  # fmt: skip
def test_what_is_no_name_of_one(name: str) -> None:
    with pytest.raises(UsageError, match="unknown format"):
        FORMATS.declaration(name)


def test_what_a_container_cannot_say() -> None:
    number = FORMATS.declaration("csv:dialect").number
    for style in ({"c": "latin-99"}, {"d": "x"}, {"x": 2}, {"c": "punycode"}, {"c": "zip"}):
        assert FORMATS.by_number(number, style) is None
    for bad in ({"c": 1}, {"d": b","}, {"n": True}):
        with pytest.raises(ValueError, match="is "):
            FORMATS.by_number(number, bad)


@pytest.mark.parametrize("good", [0, 1, 300])
@pytest.mark.parametrize("size", [10, 1000, 1 << 20])
def test_bytes_in_no_encoding_are_kept(good: int, size: int) -> None:
    """Records are known up to the piece that is none; what is behind it stays as it is."""
    data = ("a;b\n" + "é;1\n" * good).encode("utf-16-le") + b"\x00\xd8\x00\x00x"
    blocks = texts.split("csv:semicolon+utf-16-le", data, size)
    assert blocks[-1].records is None
    fmt = FORMATS.get("csv:semicolon+utf-16-le")
    assert isinstance(fmt, ValueFormat)
    with pytest.raises(SyntaxInputError, match="UTF-16"):
        fmt.parse(blocks[-1])


def test_an_encoding_with_states_is_kept_as_bytes() -> None:
    """Its text may be encoded in several ways: then no place in it is known for sure."""
    data = "a,b\n日本,本\n".encode("iso2022_jp").replace(b"\x1b(B,", b"\x1b(B\x1b(B,", 1)
    blocks = texts.split("csv:iso2022-jp", data, 100)
    assert [block.records for block in blocks] == [None]


def test_a_record_that_is_larger_than_a_block_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (splitting, __import__("serialpack.formats.csv.translated", fromlist=["x"])):
        monkeypatch.setattr(module, "MAX_BLOCK", 2000)
    data = ("a,b\n1," + "x" * 9000 + "\n2,y\n").encode("utf-16-le")
    blocks = texts.split("csv:utf-16-le", data, 500)
    assert sum(block.records or 0 for block in blocks) == 2
    assert max(len(block.data) for block in blocks) <= 2000
    assert any(block.continued for block in blocks)


def test_places_are_those_in_the_file() -> None:
    for name, text, line in (
        ("csv:utf-16-le", 'é,b\n1,2\n"x"y,3\n', 3),
        ("csv:escaped", 'a,b\n"\\"\\\\",2\n"x"y,3\n', 3),
        ("csv:no-header+x".removesuffix("+x"), '1,2\n"x"y,3\n', 2),
    ):
        encoding = "utf-16-le" if "16" in name else "utf-8"
        fmt = FORMATS.get(name)
        assert isinstance(fmt, ValueFormat)
        (block,) = fmt.split(io.BytesIO(text.encode(encoding)).read, 999, for_values=True)
        with pytest.raises(SyntaxInputError) as caught:
            fmt.parse(block)
        at = text.index('"x"y') + (0 if "escaped" in name else 3)
        assert caught.value.offset == len(text[:at].encode(encoding))
        assert caught.value.line == line


def test_what_is_told_by_the_first_bytes() -> None:
    text = 'a;b\n1;"x"\n'
    assert told(None, "a.csv", text.encode("utf-16")) == "csv:semicolon+utf-16-le"
    assert told("csv", None, ("\ufeff" + text).encode("utf-32-be")) == "csv:semicolon+utf-32-be"
    assert told(None, "a.csv", text.replace('"x"', '"\\"x"').encode()) == "csv:semicolon+escaped"
    assert told(None, "a.csv", text.replace("x", "\\").encode()) == "csv:semicolon"
    assert told(None, "a.tsv", b"a\tb\n", AsFound(no_header=True)) == "csv:tab+no-header"
    assert (
        told(None, "a.csv", text.encode(), AsFound(encoding="latin1")) == "csv:semicolon+iso8859-1"
    )
    assert (
        told("csv:cp1252", None, b"", AsFound(";", None, True)) == "csv:semicolon+cp1252+no-header"
    )
    assert told(None, "a.csv", b"a,b\n", AsFound(encoding="utf-8")) == "csv"
    for name in ("a.json", None):
        with pytest.raises(UsageError, match="for CSV"):
            told(None, name, b"[1]", AsFound(no_header=True))
