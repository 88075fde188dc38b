"""Columns that become text at once: as if each value were walked to, and proved alone."""

import random
import struct
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from unittest.mock import patch
from uuid import UUID, SafeUUID

import pytest

from serialpack.conversion.losses import by_columns, changes
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import RULES
from serialpack.conversion.tables.carrier import Carrier
from serialpack.values.kinds import Loss

_DRAWS: list[list[Any]] = [
    [date(1, 1, 1), date(2024, 2, 29), date(9999, 12, 31)],
    [datetime(2024, 2, 29, 1, 2, 3, 4), datetime(1, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)],
    [datetime(2024, 1, 1, tzinfo=UTC), datetime(1, 1, 1, 0, 0, 0, 1, UTC)],
    [datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1))), datetime(2024, 1, 1)],
    [datetime(2024, 10, 27, 2, 30, fold=1), datetime(2024, 10, 27, 2, 30)],
    [time(1, 2, 3), time(0), time(23, 59, 59, 999999), time(1, fold=1), time(1, tzinfo=UTC)],
    [timedelta(0), timedelta(days=-1, microseconds=1), timedelta.max],
    [Decimal("1.50"), Decimal("1.5"), Decimal("-0"), Decimal("1E+9"), Decimal("NaN")],
    [UUID(int=0), UUID(int=(1 << 128) - 1), UUID(int=1, is_safe=SafeUUID.safe)],
    [b"", b"\0\xff", b"plain"],
    [0, 1 << 80, -1, True, 0.0, -0.0, 1.5],
    [float("nan"), float("inf"), struct.unpack("<d", b"\x01" + b"\0" * 5 + b"\xf8\x7f")[0], 2.0],
    ["", "text", "caf\xe9", "\0", "a\nb", "\ud800"],
    [date(2024, 1, 1), "2024-01-01", 5],
    [[1, "x"], {"a": [None, "y"]}, [], {}, 5],
    [[date(2024, 1, 1)], {"x": Decimal(1)}, (1,)],
]


def _drawn(draw: random.Random) -> list[Any]:
    names = draw.sample(["a", "b", "c d", "\xe9", "a.b", "", "\ud800"], draw.randint(1, 4))
    columns = []
    for _ in names:
        values = draw.choice(_DRAWS)
        some = values if draw.random() < 0.6 else values[:1]
        columns.append([*some, None] if draw.random() < 0.4 else some)
    rows = draw.choice([0, 1, 2, 30])
    return [{n: draw.choice(c) for n, c in zip(names, columns, strict=True)} for _ in range(rows)]


def _carried(records: list[Any], like: str, losses: Losses) -> tuple[str, list[Loss]]:
    beside = frozenset({"non-finite"} if like == "json" else ())
    made = Carrier(like, beside, utf8=True).carried(records, losses, 7)
    return repr(made), losses.report()


@pytest.mark.parametrize("like", ["json", "yaml", "msgpack", "cbor"])
@pytest.mark.parametrize("lossy", [False, True])
def test_columns_are_carried_as_their_values_are(like: str, lossy: bool) -> None:
    draw = random.Random(f"{like}{lossy}")
    allowed = frozenset(RULES if lossy else (n for n, r in RULES.items() if r.is_carried(like)))
    at_once = 0
    for _ in range(400):
        records = _drawn(draw)
        before = repr(records)
        # What was not asked for must be read again.
        asked = (allowed,) if lossy else (allowed, frozenset[str]())
        with patch.object(by_columns, "columns_of", return_value=None):
            walked = _carried(records, like, Losses(*asked))
        assert _carried(records, like, Losses(*asked)) == walked
        assert repr(records) == before
        at_once += walked[0] != before
    assert at_once > 50


def test_a_record_that_stands_twice_stays_one() -> None:
    record = {"day": date(2024, 1, 1)}
    made = Carrier("json", frozenset()).carried([record, record], Losses(("timestamps",)), 0)
    assert made[0] is made[1]


def test_a_record_that_holds_itself_stays_what_it_is() -> None:
    record: dict[str, Any] = {"day": date(2024, 1, 1), "inner": []}
    record["inner"].append(record)
    (made,) = Carrier("json", frozenset()).carried([record], Losses(("timestamps",)), 0)
    assert made is record


def test_what_is_not_read_again_stays() -> None:
    fold = datetime(2024, 10, 27, 2, 30, fold=1)
    records = [{"at": datetime(2024, 1, 1)}, {"at": fold}]
    losses = Losses(("timestamps",), ())
    made = Carrier("json", frozenset()).carried(records, losses, 0)
    assert made == [{"at": "2024-01-01T00:00:00"}, {"at": fold}]
    assert [loss.count for loss in losses.report()] == [1]


def test_values_are_tried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(changes.RuleApplier, "walked", walked)
    records = [{"day": date(2024, 1, n), "price": Decimal(n), "n": None} for n in range(1, 9)]
    losses = Losses(("timestamps", "decimals"))
    made = Carrier("json", frozenset()).carried(records, losses, 0)
    assert made[7] == {"day": "2024-01-08", "price": "8", "n": None}
    assert [loss.count for loss in losses.report()] == [8, 8]
