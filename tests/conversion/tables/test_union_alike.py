"""Values that Avro writes as one type, in one place: one of them is text. They were an internal
error."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from datetime import UTC, datetime, time
from decimal import Decimal
from itertools import combinations
from typing import Any
from uuid import UUID

import pytest

import serialpack
from tests.conversion.converting import records_of

pytest.importorskip("fastavro")

GROUPS: list[list[Any]] = [
    [5, time(1, 2), datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1)],
    [b"x", Decimal("1.5")],
    ["t", UUID(int=5)],
]
#: What stays what it is beside others.
PLAIN = (int, bytes, str)


def _pairs() -> Iterator[tuple[Any, Any]]:
    for group in GROUPS:
        yield from combinations(group, 2)


def _said(value: Any) -> Any:
    if type(value) in PLAIN:
        return value
    return value.isoformat() if isinstance(value, datetime | time) else str(value)


@pytest.mark.parametrize("pair", [*_pairs()], ids=str)
def test_one_of_each_type_is_held_and_others_are_text(pair: tuple[Any, Any]) -> None:
    for values in (pair, pair[::-1], ([pair[0]], [pair[1]]), (*pair, None)):
        records = [{"v": value} for value in values]
        source, out = io.BytesIO(pickle.dumps(records)), io.BytesIO()
        report = serialpack.convert(source, out, format="pickle", to="avro", trust=True)
        found = [record["v"] for record in records_of(out.getvalue(), "avro")]
        flat = [v[0] if type(v) is list else v for v in found]
        assert flat[:2] == [_said(v[0] if type(v) is list else v) for v in values][:2]
        assert {loss.rule for loss in report.carried} & {"timestamps", "decimals"}
