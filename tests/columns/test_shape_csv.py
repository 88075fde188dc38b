"""CSV text becomes columns and comes back."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serialpack
from serialpack.columns.parse.nodes import SCALAR
from serialpack.columns.parse.shape import join
from serialpack.columns.stored.structure import Column
from tests.columns.shapes import columns_of, there_and_back

fields = st.one_of(
    st.sampled_from(
        [b"", b"1", b"-2.50", b"abc", b'"a"', b'"a,b"', b'"a\nb"', b'"say ""hi"""', b'""']
    ),
    st.sampled_from(
        [b'5" pipe', b'"', b'a"b"', b'"a"b', b" ", b"\r", b"\xff", b"\xef\xbb\xbf", b'"a"\r']
    ),
)


@st.composite
def csv_texts(draw: st.DrawFn) -> bytes:
    delimiter = draw(st.sampled_from([b",", b"\t"]))
    width = draw(st.integers(1, 4))
    ragged = draw(st.booleans())
    rows = draw(
        st.lists(st.lists(fields, min_size=0 if ragged else width, max_size=width), max_size=8)
    )
    lines = [delimiter.join(row) for row in rows] * draw(st.sampled_from([1, 1, 30]))
    if draw(st.booleans()):
        lines.insert(0, b"name,what,when"[: draw(st.integers(0, 14))])
    ends = st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n", b"\n\n\n"])
    end = draw(ends)
    mixed = draw(st.booleans())
    text = b"".join(line + (draw(ends) if mixed else end) for line in lines[:50])
    return text[: len(text) - draw(st.integers(0, 2))]


@settings(max_examples=400, deadline=None)
@given(csv_texts(), st.sampled_from(["csv", "tsv"]))
def test_csv_texts_come_back(data: bytes, kind: str) -> None:
    there_and_back(data, kind)


def test_csv_fields_are_columns() -> None:
    rows = [b'%d,"n, ""%d""",x%d' % (n, n, n % 3) for n in range(50)]
    found = there_and_back(b"id,name,kind\r\n" + b"\r\n".join(rows) + b"\r\n", "csv")
    assert columns_of(found) == {
        Column((b"id",), SCALAR): [b"%d" % n for n in range(50)],
        Column((b"name",), SCALAR): [b'n, ""%d""' % n for n in range(50)],
        Column((b"kind",), SCALAR): [b"x%d" % (n % 3) for n in range(50)],
    }
    assert found is not None
    assert found.shape.records == 50
    assert join(*found, 7, 9) == b"\r\n".join(rows[7:9])
    found = there_and_back(b"1\ta\n2\tb\n" * 20, "tsv")
    assert columns_of(found) == {
        Column((0,), SCALAR): [b"1", b"2"] * 20,
        Column((1,), SCALAR): [b"a", b"b"] * 20,
    }


def test_a_field_that_is_sometimes_quoted_is_one_column() -> None:
    rows = [b'%d,"a, %d"' % (n, n) if n % 3 else b"%d,b %d" % (n, n) for n in range(30)]
    columns = columns_of(there_and_back(b"n,what\n" + b"\n".join(rows), "csv"))
    assert columns[Column((b"what",), SCALAR)] == [
        b"a, %d" % n if n % 3 else b"b %d" % n for n in range(30)
    ]


def test_csv_of_stray_quotes_has_no_quoted_fields() -> None:
    data = b"".join(b'%d,5" pipe,"all"\n' % n for n in range(20))
    columns = columns_of(there_and_back(data, "csv"))
    assert columns[Column((2,), SCALAR)] == [b'"all"'] * 20


@pytest.mark.parametrize("columns", [(1 << 14) - 1, 1 << 14, (1 << 14) + 1, 40_000])
def test_a_table_of_too_many_columns_is_none(columns: int) -> None:
    """Also where the first line may be names, more than are looked at."""
    names = ",".join(f"c{number}" for number in range(columns))
    source = f"{names}\n{','.join('1' * columns)}\n".encode() * 2
    packed = io.BytesIO()
    serialpack.pack(io.BytesIO(source), packed, serializer="columns", format="csv", threads=1)
    restored = io.BytesIO()
    serialpack.unpack(io.BytesIO(packed.getvalue()), restored)
    assert restored.getvalue() == source
