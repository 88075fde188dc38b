"""What is told of columns that got a type or none, and integers that become decimals."""

from __future__ import annotations

from decimal import Decimal

import pytest

from serialpack.conversion.tables.shaping import Shaping
from tests.conversion.test_types import INFER, by_hand, converted, values

pytest.importorskip("pyarrow")


def test_columns_that_stay_text_are_named() -> None:
    """They were counted, and nobody was told which."""
    from serialpack.cli.reporting.converted import told_of

    source = b"a,b,c\n1,x,00123\n2,y,7\n"
    _, report = converted(source, "parquet", shaping=INFER)
    assert (report.types, report.text) == ({"a": "integer"}, ("b", "c"))
    wanted = "  text as before: b, c; --types NAME=TYPE gives a column a type"
    assert told_of(report, verbose=False) == [wanted]
    # Of records of other formats, numbers are no text.
    _, report = converted(b'{"n":1,"s":"x","t":"2024-01-02"}\n', "parquet", "ndjson", shaping=INFER)
    assert (report.types, report.text) == ({"t": "date"}, ("s",))
    many = ",".join(f"c{n}" for n in range(9)).encode()
    _, report = converted(many + b"\n" + b",".join([b"x"] * 9) + b"\n", "parquet", shaping=INFER)
    (line,) = told_of(report, verbose=False)
    assert line.startswith("  text as before: c0, c1, c2, c3, c4 and 4 more; ")
    for asked, to in (Shaping(), "parquet"), (by_hand(a="integer"), "parquet"), (INFER, "tsv"):
        assert converted(source, to, shaping=asked)[1].text == ()


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_integers_may_be_decimals(to: str) -> None:
    """Those beyond 64 bits had no way into a table but as text."""
    source = b'[{"a":12345678901234567890123},{"a":-1},{"a":null}]'
    made, _ = converted(source, to, "json", shaping=by_hand(a="decimal"))
    assert [row["a"] for row in values(made, to)] == [Decimal(12345678901234567890123), -1, None]
