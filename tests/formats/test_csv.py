"""CSV is cut where Python's csv module ends a record."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.formats import FORMATS
from tests.formats import texts

fields = st.text('ab ,;\t"\n\u00e9', max_size=6)


@given(
    rows=st.lists(st.lists(fields, min_size=1, max_size=4), min_size=1, max_size=12),
    size=st.integers(1, 64),
    dialect=st.sampled_from([("csv", "excel"), ("tsv", "excel-tab")]),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_records_are_those_of_the_csv_module(
    rows: list[list[str]],
    size: int,
    dialect: tuple[str, str],
    end: str,
    quoting: int,
) -> None:
    name, python = dialect
    text = io.StringIO(newline="")
    csv.writer(text, python, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    source = text.getvalue().encode()
    blocks = texts.split(name, source, size)
    fmt = FORMATS.get(name)
    found = []
    for block in blocks:
        spans = [*fmt.record_spans(block.data, {}, first=block.index == 0)]
        assert block.records == len(spans)
        for start, stop in spans:
            record = bytes(block.data[start:stop]).decode()
            found += list(csv.reader(io.StringIO(record, newline=""), python))
    assert found == rows[1:]
    before, behind = fmt.slice_ends(blocks[0].data if len(blocks) == 1 else source, {})
    assert next(iter(csv.reader(io.StringIO(before.decode(), newline=""), python))) == rows[0]
    assert behind in (b"\n", b"\r\n")


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('a,b\n1,5" disk\n2,6" disk\n', 2),
        ('a,b\n1,x"y\n2,"q\nr"\n', 2),
        ('\ufeff"a\n",b\n1,2\n', 1),
        ('a\n"open\nto the end\n', 1),
        ("a,b\n\n1,2\n\n", 1),
        ("a,b", 0),
        ("", 0),
        ('a,b\n"x"y"z\n1,2\n', 2),
    ],
)
@pytest.mark.parametrize("size", [8, 1000])
def test_odd_quotes(text: str, records: int, size: int) -> None:
    blocks = texts.split("csv", text.encode(), size)
    assert sum(b.records or 0 for b in blocks) == records
