"""Words for null in the cells of a table of text, as R and spreadsheets write them."""

from __future__ import annotations

import io
import json

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping

TEXT = b"x,y\n1,NA\n2,4.5\n"
RECORDS = [{"x": 1, "y": None}, {"x": 2, "y": 4.5}]


def converted(to: str, shaping: Shaping, data: bytes = TEXT) -> bytes:
    made = io.BytesIO()
    serialpack.convert(io.BytesIO(data), made, to=to, format="csv", shaping=shaping)
    return made.getvalue()


@pytest.mark.parametrize("word", ["NA", "N/A", "NULL", "None", "na"])
def test_what_reads_them_is_told_where_they_are_no_numbers(word: str) -> None:
    """The hint was to leave the column text, or its records out."""
    data = TEXT.replace(b"NA", word.encode())
    with pytest.raises(serialpack.ValueRefusedError, match="is no number") as refused:
        converted("json", Shaping(types=(("y", "number"),)), data)
    assert f"--null {word} takes it for null" in str(refused.value.hint)
    for how in ({"typed": True}, {"infer": True}, {"types": (("x", "integer"), ("y", "number"))}):
        shaping = Shaping(null=word, **how)
        assert json.loads(converted("json", shaping, data)) == RECORDS


def test_of_other_text_that_is_not_said() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="is no number") as refused:
        converted("json", Shaping(types=(("y", "number"),)), TEXT.replace(b"NA", b"many"))
    assert "--null" not in str(refused.value.hint)


@pytest.mark.parametrize("to", ["json", "ndjson", "parquet", "sqlite", "msgpack"])
def test_a_word_that_would_go_unheeded_is_refused(to: str) -> None:
    """It was taken, and the cells stayed text, without a word."""
    with pytest.raises(serialpack.UsageError, match="is for cells that") as refused:
        converted(to, Shaping(null="NA"))
    assert 'infer=True, null="NA"' in str(refused.value)
    assert 'typed=True, null="NA"' in str(refused.value)


@pytest.mark.parametrize("to", ["csv", "tsv"])
def test_a_word_that_is_written_needs_nothing_else(to: str) -> None:
    assert converted(to, Shaping(null="NA")).count(b"NA") == 1
