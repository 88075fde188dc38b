"""Documents of YAML in which nothing stands, beside others."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import pytest
import yaml

import serialpack
from serialpack.formats.yaml.empty import NoEmptyDocuments


def converted(data: bytes, to: str = "ndjson", **how: Any) -> tuple[bytes, Any]:
    made = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), made, to=to, format="yaml", **how)
    return made.getvalue(), report


@pytest.mark.parametrize(
    ("text", "records", "count", "line"),
    [
        ("a: 1\n---\na: 2\n---\n", [{"a": 1}, {"a": 2}], 1, 4),
        ("a: 1\r\n---\r\n# end\r\n", [{"a": 1}], 1, 2),
        ("a: 1\n---", [{"a": 1}], 1, 2),
        (
            "---\n# of a\n---\n# of b\na: 1\n--- # c\n\n---\nb: 2\n",
            [{"a": 1}, {"b": 2}],
            2,
            1,
        ),
        ("a: 1\n...\n---\n", [{"a": 1}], 1, 3),
        ("a: |+\n  x\n\n---\n", [{"a": "x\n\n"}], 1, 4),
        ("a: 1\n---\nnull\n--- ~\n--- ''\n", [{"a": 1}, None, None, ""], 0, 0),
        ("%YAML 1.2\n---\n---\na: 1\n", [None, {"a": 1}], 0, 0),
        ("---\n", [None], 0, 0),
    ],
)
def test_they_are_dropped_and_told(text: str, records: list[Any], count: int, line: int) -> None:
    """They were nulls, beside which maps are no rows: all was one column of JSON text."""
    data, report = converted(text.encode())
    assert list(map(json.loads, data.splitlines())) == records
    told = [(loss.count, loss.value_path) for loss in report.carried if loss.rule == "empty"]
    assert told == ([(count, f"line {line}")] if count else [])
    if count and "#" not in text:
        with pytest.raises(serialpack.ValueRefusedError, match="no place for empty documents"):
            converted(text.encode(), strict=True)


def test_rows_of_a_table_are_those_of_the_others() -> None:
    assert converted(b"a: 1\nb: x\n---\na: 2\n---\n", "csv")[0] == b"a,b\n1,x\n2,\n"


def test_a_container_of_them_is_read_alike() -> None:
    data = b"a: 1\n---\n"
    packed = io.BytesIO()
    serialpack.pack(io.BytesIO(data), packed, format="yaml")
    back, made = io.BytesIO(), io.BytesIO()
    serialpack.unpack(io.BytesIO(packed.getvalue()), back)
    assert back.getvalue() == data
    serialpack.convert(io.BytesIO(packed.getvalue()), made, to="json")
    assert json.loads(made.getvalue()) == {"a": 1}


def test_places_of_pieces_change_nothing() -> None:
    parts = [
        "---\n",
        "--- \n",
        "a: 1\n",
        "# c\n",
        "\n",
        "--- b\n",
        "...\n",
        "- |\n  x\n",
        "--- # d\n",
    ]
    draw = random.Random(5)
    for _ in range(300):
        text = "".join(draw.choices(parts, k=draw.randrange(1, 9))).encode()
        whole = NoEmptyDocuments()
        expected = whole.made(text, last=True)
        assert len(expected) == len(text)
        pieces, made = NoEmptyDocuments(), b""
        for at in range(len(text)):
            made += pieces.made(text[at : at + 1], last=False)
        made += pieces.made(b"", last=True)
        assert (made, pieces.losses) == (expected, whole.losses)
        try:
            before = list(yaml.safe_load_all(text))
        except yaml.YAMLError:
            continue
        after = list(yaml.safe_load_all(expected))
        count = sum(loss.count for loss in whole.losses)
        assert [v for v in after if v is not None] == [v for v in before if v is not None]
        assert len(after) == len(before) - count
