"""CSV and TSV as records: the very bytes come back in the source's style, or the same fields."""

from __future__ import annotations

import csv
import io
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import serialpack
from serialpack.errors import RefusedError, SyntaxInputError, ValueRefusedError
from serialpack.formats.base import SourceBlock
from serialpack.formats.csv.tokens import rows_of
from serialpack.formats.shared.document import Malformed
from tests.formats.hostile import on_the_command_line, said
from tests.formats.streams import value_format
from tests.serializers.chains import round_trip

DELIMITERS = {"csv": ",", "tsv": "\t"}


def _rows(text: str, delimiter: str = ",") -> list[list[str]]:
    """By Python's own reader."""
    file = io.StringIO(text.removeprefix("\ufeff"), newline="")
    return list(csv.reader(file, delimiter=delimiter, strict=True))


def _records(source: bytes, name: str = "csv", size: int = 1 << 20) -> list[Any]:
    fmt = value_format(name)
    blocks = fmt.split(io.BytesIO(source).read, size, for_values=True)
    return [record for block in blocks for record in fmt.parse(block)]


@pytest.mark.parametrize("size", [1, 8, 1000])
def test_records_are_maps_of_text(size: int) -> None:
    source = '\ufeff"a b",\u00e9\r\n1,"x ""y""\n"\r\n,\r\n'.encode()
    assert _records(source, size=size) == [
        {"a b": "1", "\u00e9": 'x "y"\n'},
        {"a b": "", "\u00e9": ""},
    ]
    assert _records(b"a,b\tc\n1\t2,3\n", "tsv", size) == [{"a,b": "1", "c": "2,3"}]
    for nothing in (b"", b"a,b\n", b"a,b", b"\n", b"\n\n"):
        assert _records(nothing, size=size) == []


_fields = st.one_of(
    st.text('ab ,;\t"\n\r\u00e9\ufeff\x00', max_size=6), st.sampled_from(["1", "2.5", "", "x y"])
)
_tables = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        st.lists(_fields, min_size=width, max_size=width, unique=True),
        st.lists(st.lists(_fields, min_size=width, max_size=width), max_size=8),
    )
)


@given(
    table=_tables,
    name=st.sampled_from(["csv", "tsv"]),
    end=st.sampled_from(["\n", "\r\n"]),
    quoted=st.one_of(st.just({0, 1, 2, 3}), st.just(set()), st.sets(st.integers(0, 3))),
    mark=st.sampled_from(["", "\ufeff"]),
    ended=st.booleans(),
    size=st.integers(1, 80),
    serializer=st.sampled_from(["json", "csv", "tsv"]),
)
def test_regular_tables_come_back_byte_by_byte(
    table: tuple[list[str], list[list[str]]],
    name: str,
    end: str,
    quoted: set[int],
    mark: str,
    ended: bool,
    size: int,
    serializer: str,
) -> None:
    delimiter = DELIMITERS[name]

    def spelled(column: int, field: str) -> str:
        needs = any(c in field for c in f'"\r\n{delimiter}')
        return f'"{field.replace(chr(34), chr(34) * 2)}"' if needs or column in quoted else field

    head, body = table
    assume(mark or not head[0].startswith("\ufeff"))  # which would be a mark
    lines = [delimiter.join(map(spelled, range(4), row)) or '""' for row in (head, *body)]
    text = mark + end.join(lines) + end * ended
    restored, exact = round_trip(serializer, name, text.encode(), size)
    assert (restored, exact) == (text.encode(), True)


@given(
    text=st.text('ab,"\n\r\ufeff', max_size=24),
    size=st.integers(1, 30),
    serializer=st.sampled_from(["json", "csv"]),
)
def test_any_text_is_kept_or_refused(text: str, size: int, serializer: str) -> None:
    try:
        restored, exact = round_trip(serializer, "csv", text.encode(), size)
    except SyntaxInputError as error:
        if error.offset > len(text.encode()):
            raise
        return
    except RefusedError:
        return
    assert exact == (restored == text.encode())
    was, became = _rows(text), _rows(restored.decode())
    assert was[:1] == became[:1]
    assert [row for row in was[1:] if row] == [row for row in became[1:] if row]


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n"1",2\n3,"4"\n',  # quoted here and there
        'a,b\n5" disk,2\n',
        "a,b\n1,2\r\n3,4\n",
        "a,b\n\n1,2\n\n\n3,4\n",
        "a,b\r\n1,2\n3,4\n5,6\n",
    ],
)
@pytest.mark.parametrize("serializer", ["json", "tsv"])
def test_irregular_text_comes_back_as_the_same_fields(text: str, serializer: str) -> None:
    for size in (4, 1000):
        restored, _ = round_trip(serializer, "csv", text.encode(), size)
        assert [r for r in _rows(restored.decode()) if r] == [r for r in _rows(text) if r]


@pytest.mark.parametrize("serializer", ["json", "msgpack"])
def test_the_style_may_change_from_block_to_block(serializer: str) -> None:
    text = "a,b\n" + "1,2\n" * 50 + '"3","4"\r\n' * 50
    restored, _ = round_trip(serializer, "csv", text.encode(), 64)
    assert _rows(restored.decode()) == _rows(text)
    assert restored.startswith(b"a,b\n" + b"1,2\n" * 30)
    assert restored.endswith(b'"3","4"\r\n' * 30)


def test_a_long_header_is_not_stored_but_written() -> None:
    names = ",".join(f"column {i}" for i in range(4000))
    rows = f"{','.join('x' * 4000)}\n" * 3
    source = f"{names}\n{rows}".encode()
    assert "h" not in value_format("csv").detect_style(SourceBlock(source, 0, 0, records=3))
    assert round_trip("json", "csv", source) == (source, True)
    packed, unpacked = io.BytesIO(), io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, serializer="json", format="csv")
    packed.seek(0)
    assert serialpack.unpack(packed, unpacked).exact
    assert unpacked.getvalue() == source


@pytest.mark.parametrize("between", ["", "\n\n"])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_header_may_be_longer_than_a_block(rows: int, between: str) -> None:
    """A block of it alone had no record whose names would tell it again."""
    names = ",".join(f"column {i}" for i in range(4000))
    row = ",".join("x" * 4000)
    source = f"{names}\n{between}{f'{row}{chr(10)}' * rows}".encode()
    restored, exact = round_trip("json", "csv", source, 1 << 10)
    assert restored == source.replace(between.encode(), b"", bool(between))
    assert exact == (not between)


def test_a_long_header_without_records_is_refused_by_its_size() -> None:
    source = ",".join(f"column {i}" for i in range(4000)).encode() + b"\n"
    with pytest.raises(RefusedError, match="a header of 46890 bytes with no record"):
        round_trip("json", "csv", source)


def test_a_field_may_be_long() -> None:
    """Python's reader stops at 128 KiB, unless all programs of the process are told otherwise."""
    source = f'a,b\n"{"x," * 100_000}",1\n'.encode()
    assert round_trip("json", "csv", source) == (source, True)
    assert csv.field_size_limit() == 131072


@pytest.mark.parametrize(
    ("text", "kind", "record", "words"),
    [
        ("a,b\n1,2\n3\n", "mixed", 1, "1 field, not 2"),
        ("a,b\n1,2\n3,4,5\n", "mixed", 1, "3 fields, not 2"),
        ("\n1\n", "mixed", 0, "1 field, not 0"),
        ("a\n1\n\n2\n", "mixed", 1, "a blank line"),
        ("a,b,a\n1,2,3\n", "duplicate-keys", 0, "the column 'a'"),
    ],
)
@pytest.mark.parametrize("serializer", ["json", "csv", "tsv"])
def test_what_is_no_table_is_refused(
    text: str, kind: str, record: int, words: str, serializer: str
) -> None:
    for size in (1, 1000):
        with pytest.raises(ValueRefusedError) as caught:
            round_trip(serializer, "csv", text.encode(), size)
        assert (caught.value.kind, caught.value.record) == (kind, record)
        assert words in str(caught.value)
        assert "json" not in str(caught.value.hint)


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        (b'a,b\n1,"2\n3,4\n', (2, 3, 6), "a quote that is not closed"),
        (b'a,b\n1,2\n3,"x"y\n', (3, 6, 13), "text behind the quote"),
        ('\ufeffa,b\n\u00e9,"x" \n'.encode(), (2, 6, 13), "text behind the quote"),
        (b"a,b\n1,2\r3,4\n", (2, 4, 7), "a carriage return"),
        (b"a,b\r1,2\r", (1, 4, 3), "a carriage return"),
        (b'a,b\n"1",2\r3,4\n', (2, 6, 9), "a carriage return"),
        (b"a,b\n1,\xe9\n", (2, 3, 6), "not UTF-8"),
        (b"\xff\xfea\x00,\x00", (1, 1, 0), "not UTF-8"),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_malformed_text_gets_its_place(
    data: bytes, place: tuple[int, int, int], words: str, size: int
) -> None:
    with pytest.raises(SyntaxInputError, match=words) as caught:
        round_trip("json", "csv", data, size)
    assert (caught.value.line, caught.value.column, caught.value.offset) == place


@pytest.mark.parametrize(
    ("data", "exit_code", "words"),
    [
        (b'a,b\n"' + b"x" * 3_000_000, 3, "line 2, column 1 (byte 4)"),
        (b'"' * 1_000_001, 3, "not closed"),
        (b"," * 100_000 + b"\n", 4, "twice"),
        (b"a,b\n" + b"1,2\n" * 1000 + b"3\n", 4, "record 1000"),
    ],
    ids=range(4),
)
def test_hostile_text(tmp_path: Path, data: bytes, exit_code: int, words: str) -> None:
    error = said(data, "csv")
    assert (error.exit_code, words in str(error)) == (exit_code, True)
    code, message = on_the_command_line(tmp_path, data, "csv")
    assert (code, words in message, message.count("\n")) == (exit_code, True, 1)


@given(st.text('ab,"\n\r\x85\u2028', max_size=30))
def test_rows_are_those_of_pythons_reader_or_an_error(text: str) -> None:
    """But for lone carriage returns, which end a line for Python."""
    bare = text.replace("\r\n", "")
    try:
        rows = rows_of(text, ",")
    except Malformed:
        if "\r" not in bare:
            with pytest.raises(csv.Error):
                _rows(text)
        return
    assert rows == _rows(text)


def test_a_block_keeps_its_header_on_the_way_to_a_process() -> None:
    fmt = value_format("csv")
    first, second = fmt.split(io.BytesIO(b"a,b\n1,2\n3,4\n").read, 8, for_values=True)
    again = pickle.loads(pickle.dumps(second._replace(data=bytes(second.data))))
    assert (again, again.context) == (second, b"a,b\n")
    assert fmt.parse(again) == [{"a": "3", "b": "4"}]
    assert fmt.parse(first) == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    "style", [{"e": "x"}, {"e": 1}, {"q": "1"}, {"q": ["a"]}, {"h": 1}, {"t": b"\n"}]
)
def test_a_spelling_that_is_none_is_refused(style: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="style"):
        value_format("csv").write_text([{"a": "1"}], style, first=True)


@pytest.mark.parametrize(
    "records", [[1], [{}], [{"a": 1}], [{1: "a"}], [{"a": "1"}, {"b": "1"}], [{"a": "1"}, []]]
)
def test_records_that_are_no_table_are_refused(records: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"a record|records|a name|a field"):
        value_format("csv").write_text(records, {}, first=True)


def test_slices_of_records_have_the_header() -> None:
    packed, part = io.BytesIO(), io.BytesIO()
    text = b"a,b\n" + b"".join(b'%d,"x"\n' % i for i in range(100))
    serialpack.pack(io.BytesIO(text), packed, serializer="json", format="csv", block_size=64)
    packed.seek(0)
    serialpack.unpack(packed, part, record_range=(40, 42))
    assert part.getvalue() == b'a,b\n40,"x"\n41,"x"\n'
