"""Numbers beyond all doubles, below them, and an integer -0: lost by ``digits``, and only then."""

from __future__ import annotations

import io
from math import inf
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping
from serialpack.formats.base import Unheld
from serialpack.values.equality import difference
from serialpack.values.kinds import Loss, Spelled, shown
from tests.conversion.converting import converted
from tests.conversion.losses.test_literals import BINARY
from tests.conversion.losses.test_source_losses import ALL, read


@pytest.mark.parametrize(
    ("format", "data", "records", "loss"),
    [
        (
            *("json", b"[1e400, -0, 0, -1e400, [1e-400]]"),
            [inf, 0, 0, -inf, [0.0]],
            Loss("digits", 4, 0, "$", "1e400", "inf"),
        ),
        (
            *("ndjson", b'{"a": 0}\n{"a": -0}\n'),
            [{"a": 0}, {"a": 0}],
            Loss("digits", 1, 1, "$.a", "-0", "0"),
        ),
        (
            *("yaml", b"- -1.0e+400\n- 1.0e-400\n"),
            [[-inf, 0.0]],
            Loss("digits", 2, 0, "$[0]", "-1.0e+400", "-inf"),
        ),
        (
            *("yaml", b"%YAML 1.1\n---\n- -" + b"9" * 400 + b":30.0\n"),
            [[-inf]],
            Loss("digits", 1, 0, "$[0]", shown(Spelled(f"-{'9' * 400}:30.0")), "-inf"),
        ),
        (
            *("toml", b"a = 1e400\nb = 1e-400\n"),
            [{"a": inf, "b": 0.0}],
            Loss("digits", 2, 0, "$.a", "1e400", "inf"),
        ),
        (
            *("typed-xml", b"<float>-1e400</float>"),
            [-inf],
            Loss("digits", 1, 0, "$", "-1e400", "-inf"),
        ),
    ],
)
def test_a_reader_takes_the_nearest(
    format: str, data: bytes, records: list[Any], loss: Loss
) -> None:
    found, losses = read(format, data, "digits")
    assert difference(records, found) is None
    assert losses == {"digits": loss}
    with pytest.raises(Unheld):
        read(format, data, *(ALL - {"digits"}))


#: What a source says, in its words, and the nearest numbers.
BEYOND = '{"a":1e999,"b":-1e999,"c":1e-400,"d":0.1}'
NEAREST = {"a": inf, "b": -inf, "c": 0.0, "d": 0.1}
SOURCES: dict[str, tuple[bytes, dict[str, float]]] = {
    "ndjson": (f'{BEYOND[:-1]},"e":-0}}\n'.encode(), NEAREST | {"e": 0}),
    "json": (f'{BEYOND[:-1]},"e":-0}}'.encode(), NEAREST | {"e": 0}),
    "yaml": (b"a: 1.0e+999\nb: -1.0e+999\nc: 1.0e-400\nd: 0.1\n", NEAREST),
    "toml": (b"a = 1e999\nb = -1e999\nc = 1e-400\nd = 0.1\n", NEAREST),
    "csv": (b"a,b,c,d,e\n1e999,-1e999,1e-400,0.1,-0\n", NEAREST | {"e": 0}),
}


@pytest.mark.parametrize("target", [*BINARY, "typed-xml"])
@pytest.mark.parametrize("source", SOURCES)
def test_beyond_all_doubles_is_the_nearest_where_that_is_said(source: str, target: str) -> None:
    """Lost by ``digits``: overflow, underflow and an integer -0, each told."""
    data, nearest = SOURCES[source]
    how: dict[str, Any] = {"shaping": Shaping(typed=True)} if source == "csv" else {}
    with pytest.raises(serialpack.ValueRefusedError) as refused:
        converted(data, source, target, **how)
    assert "--lossy digits lets" in (refused.value.hint or "")
    out = io.BytesIO()
    report = serialpack.convert(
        io.BytesIO(data), out, format=source, to=target, lossy=["digits"], **how
    )
    assert {loss.rule: loss.count for loss in report.losses} == {"digits": len(nearest) - 1}
    back = converted(out.getvalue(), target, "msgpack")
    assert msgpack.unpackb(back) in (nearest, [nearest])
    assert repr(sorted(msgpack.unpackb(back).items())) == repr(sorted(nearest.items()))


@pytest.mark.parametrize("source", SOURCES)
def test_beyond_all_doubles_is_a_cell_as_it_stands(source: str) -> None:
    """What writes numbers as text has them all, and gives them back where it is read by type."""
    data, nearest = SOURCES[source]
    typed: dict[str, Any] = {"shaping": Shaping(typed=True)}
    cells = converted(data, source, "csv", strict=False, **(typed if source == "csv" else {}))
    again = converted(cells, "csv", "ndjson", **typed)
    texts = again.decode().strip("{}\n").split(",")
    kept = ["1e999", "-1e999", "1e-400", "0.1", "-0"][: len(nearest)]
    if source == "yaml":
        kept[:3] = ["1.0e+999", "-1.0e+999", "1.0e-400"]
    assert [text.split(":")[1] for text in texts] == kept


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_columns_of_cells_have_types_however_their_numbers_are_spelled(target: str) -> None:
    data = b"v,n,w\n1.10,1e2,1\n2.5,0.50,-2\n"
    out = io.BytesIO()
    typed = Shaping(typed=True)
    report = serialpack.convert(io.BytesIO(data), out, format="csv", to=target, shaping=typed)
    assert not report.carried
    back = converted(out.getvalue(), target, "msgpack")
    rows = [{"v": 1.1, "n": 100.0, "w": 1}, {"v": 2.5, "n": 0.5, "w": -2}]
    assert list(msgpack.Unpacker(io.BytesIO(back))) == rows
