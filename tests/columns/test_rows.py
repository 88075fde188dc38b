"""Some fields of a block's lines are those of the lines that it was made of."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serialpack.columns.fields.csv import Rows, UntoldError, select
from serialpack.columns.parse.shape import Split, split
from serialpack.columns.stored import structure
from serialpack.columns.texts import Broken, Texts
from tests.columns.projections import flipped

DELIMITERS = {"csv": b",", "tsv": b"\t"}


def chosen(found: Split, wanted: set[int], width: int) -> bytes:
    """Through the structure's bytes, and with the promised columns alone."""
    size = found.shape.size + sum(len(column.data) for column in found.columns)
    shape = structure.read(structure.write(found.shape, 3), size)
    rows = Rows(shape, wanted, width)

    def texts(number: int) -> Texts:
        assert number in rows.columns
        return found.columns[number]

    text = rows.text(texts)
    assert rows.count == len([line for line in plain(text).splitlines() if line])
    return text


def plain(text: bytes) -> bytes:
    """With nothing quoted that has the end of a line in it."""
    return b"".join(part if n % 2 == 0 else b"Q" * 2 for n, part in enumerate(text.split(b'"')))


plain_fields = st.sampled_from([b"", b"", b"1", b"-2.50", b"abc", b" x", b"\xff", b"'"])
fields = plain_fields | st.sampled_from(
    [b'"a"', b'"a,\tb"', b'"a\nb"', b'"say ""hi"""', b'""', b'"\r\n"']
)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(["csv", "tsv"]), st.integers(1, 4), st.booleans())
def test_lines_of_any_spelling(data: st.DataObject, kind: str, width: int, ragged: bool) -> None:
    lines = st.lists(fields, min_size=1 if ragged else width, max_size=width)
    rows = data.draw(st.lists(lines.filter(lambda row: row != [b""]), min_size=1, max_size=8))
    rows *= data.draw(st.sampled_from([1, 1, 30]))
    if data.draw(st.booleans()):
        rows.insert(0, [b"name", b'"what, then"', b"when", b"x"][:width])
    ends = [
        data.draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n", b"\r\n\n"])) for _ in rows[:20]
    ]
    ends = [*ends, *([b"\n"] * (len(rows) - len(ends)))]
    if data.draw(st.booleans()):
        ends[-1] = b""
    wanted = data.draw(st.sets(st.integers(0, width), max_size=3))
    before = data.draw(st.sampled_from([b"", b"", b"\n", b"\r\n\n"]))
    mark = DELIMITERS[kind]
    text = before + b"".join(mark.join(row) + end for row, end in zip(rows, ends, strict=True))
    expected = before + b"".join(
        (mark.join(field for n, field in enumerate(row) if n in wanted) or b'""') + end
        for row, end in zip(rows, ends, strict=True)
    )
    assert select(text, wanted, mark) == expected
    found = split(text, kind)
    if found is None:
        return
    try:
        assert chosen(found, wanted, width) == expected
    except UntoldError:
        # Without quotes lines are shorter only by mistake: it might be one of quotes.
        assert {len(row) for row in rows} != {width}


def test_the_columns_of_the_fields_alone_are_needed() -> None:
    text = b"id,what,when\r\n" + b"".join(b'%d,"a, %d",x\r\n' % (n, n % 3) for n in range(50))
    found = split(text, "csv")
    assert found is not None
    rows = Rows(found.shape, {1}, 3)
    assert rows.count == 51
    assert len(rows.columns) == 1
    written = rows.text(lambda number: found.columns[number])
    assert written == b"what\r\n" + b"".join(b'"a, %d"\r\n' % (n % 3) for n in range(50))
    with pytest.raises(Broken, match="length"):
        rows.text(lambda _: Texts.from_list([b"1"]))


def test_a_first_line_that_looks_like_names_is_a_line() -> None:
    """As it may be in a block that is not the first."""
    text = b"one,two\n" + b"".join(b"%d,%d\n" % (n, n) for n in range(9))
    found = split(text, "csv")
    assert found is not None
    assert chosen(found, {1}, 2) == b"two\n" + b"".join(b"%d\n" % n for n in range(9))


def test_fields_that_odd_quotes_hide_are_refused() -> None:
    """Where one quote stands alone, those around a comma say nothing to the structure."""
    lines = [b"n,what,when"] + [b'%d,5" pipe,x' % n for n in range(30)]
    for odd in (b'1,"a,b",x', b'1,"a\nb",x', b'1,"b"'):
        text = b"\n".join([*lines, odd, *lines[1:]])
        found = split(text, "csv")
        assert found is not None
        with pytest.raises(UntoldError):
            chosen(found, {2}, 3)
        with pytest.raises(UntoldError):
            select(text, {2}, b",")
    text = b"\n".join([*lines, b'1,"a",x'])
    found = split(text, "csv")
    assert found is not None
    assert chosen(found, {0, 2}, 3) == b"n,when\n" + b"\n".join(
        [*(b"%d,x" % n for n in range(30)), b"1,x"]
    )
    with pytest.raises(UntoldError):
        chosen(found, {1}, 3)


def test_flipped_structures_are_refused_or_harmless() -> None:
    text = b"n,what,when\n" + b"".join(
        b'%d,"n",x\n' % n if n % 3 else b"%d,n\n" % n for n in range(300)
    )
    found = split(text, "csv")
    assert found is not None
    read = 0
    for shape, columns in flipped(found, len(text), 12):
        read += 1
        if shape.text_kind not in DELIMITERS:
            continue
        try:
            rows = Rows(shape, {0, 2}, 3)
            assert len(rows.text(columns.__getitem__)) <= 3 * len(text)
        except (UntoldError, Broken):
            pass
    assert read > 20


def test_real_tables(shared_data: Path) -> None:
    paths = sorted((shared_data / "tabular").glob("*.[ct]sv"))
    compared = 0
    for path in paths:
        kind = path.suffix[1:]
        text = path.read_bytes()[: 1 << 20].rpartition(b"\n")[0]
        mark = DELIMITERS[kind]
        rows = list(
            csv.reader(io.StringIO(text.decode("latin-1"), newline=""), delimiter=mark.decode())
        )
        found = split(text, kind)
        assert found is not None
        width = len(rows[0])
        for wanted in ({0}, {width - 1}, {width // 2, width // 3, 0}):
            written = select(text, wanted, mark)
            if b'"' in text or {len(row) for row in rows} == {width}:
                assert chosen(found, wanted, width) == written
                compared += 1
            lines = io.StringIO(written.decode("latin-1"), newline="")
            assert list(csv.reader(lines, delimiter=mark.decode())) == [
                [field for n, field in enumerate(row) if n in wanted] or [""] for row in rows
            ]
    assert compared > 20
