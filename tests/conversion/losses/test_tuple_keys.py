"""Keys that are tuples become the text that JSON has for them, as those that are numbers do."""

from __future__ import annotations

import io
import pickle
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

import serialpack

KEYS = [
    ((1, 2), "[1,2]"),
    ((None, True, 1.5, 'é"'), '[null,true,1.5,"é\\""]'),
    (((1,), date(2020, 1, 1), b"ab", Decimal("1.10")), '[[1],"2020-01-01","YWI=","1.10"]'),
    ((), "[]"),
    ((float("inf"),), '["Infinity"]'),
]


def converted(value: Any, to: str) -> tuple[bytes, Any]:
    out = io.BytesIO()
    data = io.BytesIO(pickle.dumps(value))
    report = serialpack.convert(data, out, to=to, format="pickle", trust=True, threads=1)
    return out.getvalue(), report


@pytest.mark.parametrize("to", ["json", "ndjson", "toml", "yaml"])
@pytest.mark.parametrize(("key", "text"), KEYS, ids=[text for _, text in KEYS])
def test_they_are_told(key: Any, text: str, to: str) -> None:
    """They were refused, though the documentation said that such keys are carried."""
    if to in ("yaml", "toml"):
        pytest.importorskip("yaml" if to == "yaml" else "tomlkit")
    data, report = converted({key: "x"}, to)
    assert {loss.rule: loss.count for loss in report.carried} == {"keys": 1}
    again = io.BytesIO()
    serialpack.convert(io.BytesIO(data), again, to="msgpack", format=to)
    import msgpack

    assert msgpack.unpackb(again.getvalue()) == {text: "x"}


def test_two_that_would_be_one_are_refused() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="would both become"):
        converted({(1, 2): "x", "[1,2]": "y"}, "json")


def test_one_with_what_has_no_text_is_refused() -> None:
    with pytest.raises(serialpack.ValueRefusedError, match="neither text nor an integer"):
        converted({(1, object): "x"}, "json")
