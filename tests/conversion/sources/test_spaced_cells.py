"""CSV with spaces behind its delimiters, and quotes behind these."""

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

import pytest

import serialpack
from serialpack.api import first_records
from serialpack.formats.csv import spaces
from tests.conversion.converting import converted

WORDS = "cells behind spaces, which are no part of them"


def read(data: bytes, format: str = "csv", **how: Any) -> tuple[list[Any], str]:
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), out, format=format, to="json", **how)
    return json.loads(out.getvalue()), report.read_as


@pytest.mark.parametrize(("mark", "format"), [(",", "csv"), (";", "csv"), ("\t", "tsv")])
@pytest.mark.parametrize("names", ['a{} "b"', "a{}b", "a{}  b"])
def test_they_are_read_without(mark: str, format: str, names: str) -> None:
    """Such a cell fell apart at the delimiters in it, and another had its quotes in its value."""
    text = names.format(mark) + f'\n1{mark}  "x{mark} ""y\n z"""\n  "2"{mark}\n 3{mark} w\r\n'
    rows = [{"a": "1", "b": f'x{mark} "y\n z"'}, {"a": "2", "b": ""}, {"a": " 3", "b": "w"}]
    for data in (text.encode(), b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16")):
        assert read(data, format) == (rows, WORDS)
    packed = io.BytesIO()
    serialpack.pack(io.BytesIO(text.encode()), packed, format=format)
    assert read(packed.getvalue(), format) == (rows, WORDS)
    shape = serialpack.inspect(io.BytesIO(text.encode()), format=format).shape
    assert shape is not None
    assert shape.fields == {"a": ("string",), "b": ("string",)}
    out = io.BytesIO()
    first_records(io.BytesIO(text.encode()), out, 1, format=format)
    assert out.getvalue().endswith(f'\n1{mark}"x{mark} ""y\n z"""\n'.encode())


@pytest.mark.parametrize(
    "text",
    [
        "a, b\n1, 2\n",  # no quotes: nothing is hidden in them
        'a,b\n1, "x"\n',  # as many cells, of which some have no spaces
        'a, b\n1, "x" y\n',
        'a, b\n1, "x"\n1, 2, 3\n',
    ],
)
def test_what_may_be_meant_so_stays(text: str) -> None:
    assert read(text.encode())[1] == ""


def test_of_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever one ends it is read as by Python's csv module."""
    chance = random.Random(7)
    cells = ["x", "", ' "', '"y, z"', '"""', "  ", "\n", '"""""", ,\n"', "\r\n"]
    made = "a, b\n" + "".join(
        f'{n}, "{"".join(chance.choices(cells, k=3)).replace(chr(34), chr(34) * 2)}"\n'
        for n in range(300)
    )
    text = io.StringIO(made, newline="")
    rows = [*csv.reader(text, skipinitialspace=True)][1:]
    for size in (1, 2, 7, 1000):
        monkeypatch.setattr(spaces, "_PIECE", size)
        lines = converted(made.encode(), "csv", "ndjson").splitlines()
        assert [[*json.loads(line).values()] for line in lines] == rows


def test_fields_of_columns_are_called_as_without_spaces() -> None:
    """They were called `` name`` where only their columns are read."""
    text = "id, name\n" + "".join(f'{n}, "Smith {n % 7}"\n' for n in range(3000))
    packed = io.BytesIO()
    serialpack.pack(io.BytesIO(text.encode()), packed, format="csv", serializer="columns")
    rows = read(packed.getvalue(), "csv", fields=["name"])[0]
    assert rows[-1] == {"name": f"Smith {2999 % 7}"}
