"""What tokenises CSV agrees: fields, rows, columns, ends of records, and places found by NumPy."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from serialpack.columns.parse.csv import fields_of
from serialpack.formats.csv.tokens import (
    CsvField,
    counted_records,
    fields,
    fields_of_row,
    line_of_row,
    raw_columns,
    record_ends,
    rows_of,
    texts_of,
)
from serialpack.formats.shared.document import Malformed

_MARK = "\ufeff"
#: Fields that are whole, and pieces that are not; twice what a sound text has many of.
_PIECES = ["a", "", "\u00e9\\", '""', '"x"', '"{0}\n""y"', '"\r\n"', '"\0"', "\0", "'", '"\\"']
_ODD = ['"', '"z', 'b"c', '"x"y', "\r", '"\\"{0}"']
_ENDS = ["{0}", "{0}", "\n", "\n", "\r\n"]


def awkward(delimiter: str, count: int) -> Iterator[str]:
    """Texts of few fields, sound ones and others, with a byte-order mark or none."""
    drawn = random.Random(delimiter)
    for number in range(count):
        pieces = _PIECES + _ODD * (number % 2)
        parts = [drawn.choice(pieces) + drawn.choice(_ENDS) for _ in range(drawn.randrange(1, 9))]
        text = "".join(parts).format(delimiter)
        yield _MARK * drawn.randrange(2) + text[: len(text) - drawn.randrange(2)]


def sound_fields(text: str, delimiter: str) -> list[CsvField] | None:
    try:
        return list(fields(text, delimiter))
    except Malformed:
        return None


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_all_readings_of_a_text_agree(delimiter: str) -> None:
    sound = malformed = 0
    for text in awkward(delimiter, 500):
        body = text.removeprefix(_MARK)
        found = sound_fields(body, delimiter)
        if found is None:
            malformed += 1
            for read in (lambda: rows_of(body, delimiter), lambda: raw_columns(body, delimiter, 2)):  # noqa: B023
                with pytest.raises(Malformed):
                    read()
            continue
        sound += 1
        assert "".join(f.raw + f.end for f in found) == body
        rows = _rows(found, delimiter)
        assert rows_of(body, delimiter) == [texts_of(row) for row in rows]
        _columns_agree(body, rows, delimiter)
        _record_ends_agree(text, found, delimiter)
        _places_agree(text, found, delimiter)
        if found and len(rows) == 1 and not found[-1].end:
            assert list(fields_of_row(body, delimiter)) == [f.text for f in found]
    assert sound > 150
    assert malformed > 150


def test_malformed_text_is_gone_over_once() -> None:
    """Else each of these quotes would be held against all behind it: for minutes."""
    text = '"' * 1_000_001 + "x"
    for read in (lambda: rows_of(text, ","), lambda: raw_columns(text, ",", 1)):
        with pytest.raises(Malformed):
            read()


def _rows(found: list[CsvField], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    for field in found:
        rows[-1].append(field.raw)
        if field.end != delimiter:
            rows.append([])
    return [row if row != [""] else [] for row in rows[:-1]]


def _columns_agree(body: str, rows: list[list[str]], delimiter: str) -> None:
    filled = [row for row in rows if row]
    width = len(filled[0]) if filled else 3
    filled = rows if width == 1 else filled  # in one column a blank line may be an empty field
    if {width}.issuperset(map(len, filled)):
        columns = raw_columns(body, delimiter, width)
        assert [*map(list, columns)] == [[row[n] for row in filled] for n in range(width)]
    else:
        with pytest.raises(ValueError, match="different lengths"):
            raw_columns(body, delimiter, width)


def _record_ends_agree(text: str, found: list[CsvField], delimiter: str) -> None:
    """The mark before a quote opens the field as well, where a line end stands before it."""
    data = f"\n{text}".encode()
    ends, at = [], len(data) - len("".join(f.raw + f.end for f in found).encode())
    for field in found:
        at += len((field.raw + field.end).encode())
        if field.end.endswith("\n"):
            ends.append(at)
    assert list(record_ends(data, 1, len(data), delimiter.encode())) == ends
    for row, end in enumerate(ends):
        assert line_of_row(text.removeprefix(_MARK), delimiter, row + 1) == data.count(
            b"\n", 1, end
        )


def _places_agree(text: str, found: list[CsvField], delimiter: str) -> None:
    """But where a quote stands within a bare field: then all are characters as any other."""
    if any('"' in f.raw and not f.quoted for f in found) or not found:
        return
    if text.startswith(_MARK):
        found = [CsvField(_MARK + found[0].raw, found[0].end), *found[1:]]
    begins = [True, *(f.end != delimiter for f in found[:-1])]
    blank = [b and not f.raw and f.end != delimiter for f, b in zip(found, begins, strict=True)]
    data = text.encode()
    places = fields_of(np.frombuffer(data, np.uint8), ord(delimiter))
    spans = zip(places.starts.tolist(), places.ends.tolist(), strict=True)
    expected = [
        (f.raw.encode(), f.quoted, b)
        for f, b, is_blank in zip(found, begins, blank, strict=True)
        if not is_blank
    ]
    assert [
        (data[start:end], quoted, begin)
        for (start, end), quoted, begin in zip(
            spans, places.quoted.tolist(), places.begins.tolist(), strict=True
        )
    ] == expected


@pytest.mark.parametrize("at_once", [1, 3, 1 << 18])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_counting_records_at_once_finds_those_found_one_by_one(
    delimiter: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where pieces end in the midst of a record, or between two quotes."""
    monkeypatch.setattr("serialpack.formats.csv.tokens._AT_ONCE", at_once)
    counted = 0
    for text in awkward(delimiter, 4000):
        buf, mark = bytearray(b"\n" + text.encode()), delimiter.encode()
        found = counted_records(buf, 1, len(buf), mark)
        if found is None:
            continue
        counted += 1
        start, records = 1, 0
        for end in record_ends(buf, 1, len(buf), mark):
            records += bool(buf[start:end].strip(b"\r\n"))
            start = end
        assert found == (start, records), text
    assert counted > 1000


def test_quotes_within_fields_are_left_to_the_search_for_each_end() -> None:
    """They open nothing, so that what stands behind them is outside quotes, too."""
    text = bytearray(b'\n5" disk,1\n3" disk,2\n')
    assert counted_records(text, 1, len(text), b",") is None
