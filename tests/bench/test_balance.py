"""What is balanced: the least time to pack, send and unpack; never what stores the most."""

from __future__ import annotations

import pytest

from serialpack.bench.recommend import LINE, Weighing, recommendations, roles
from serialpack.bench.results import Row, cost
from tests.bench.found import SIZE, row


def of(chain: str, ratio: float, seconds: float, **changes: object) -> Row:
    return row(
        chain,
        size=round(SIZE / ratio),
        ratio=ratio,
        pack_seconds=seconds / 2,
        unpack_seconds=seconds / 2,
        traits=["portable", "safe"],
        **changes,
    )


STORED = of("raw+none", 0.999, 0.01)
HARDLY = of("raw+lz4", 1.05, 0.02)
QUICK = of("raw+lz4:1", 1.8, 0.05)
ROWS = [STORED, HARDLY, QUICK, of("raw+zstd:3", 3.0, 0.2), of("raw+xz:6", 4.5, 15.0)]

LINES = [1e3, 1e5, 1e6, LINE, 1e8, 1e9, 1e10, 1e12]


@pytest.mark.parametrize("line", LINES)
def test_what_shrinks_to_a_half_is_never_stored(line: float) -> None:
    best = roles(ROWS, Weighing(given=line))
    for kind in ("balanced", "portable"):
        found = best[kind]
        assert found is not None
        assert found not in (STORED, HARDLY)
    # Where nothing shrinks so far, storing may be best.
    few = [STORED, HARDLY, QUICK]
    assert (roles(few, Weighing(given=line))["balanced"] is STORED) == (line >= 1e9)


@pytest.mark.parametrize("line", LINES)
def test_balanced_is_the_least_journey(line: float) -> None:
    rows = [each for each in ROWS if each not in (STORED, HARDLY)]
    best = roles(rows, Weighing(given=line))["balanced"]
    assert best is min(rows, key=lambda r: cost(r) + (r.size or 0) / line)


def test_the_line_is_ten_megabytes_a_second_or_the_one_named() -> None:
    assert Weighing().line == LINE == 10e6
    assert Weighing("size").line < LINE < Weighing("speed").line
    assert Weighing("speed", given=5e6).line == 5e6


def told(rows: list[Row]) -> str:
    found = recommendations(rows, Weighing(), inputs=["x"], objects=False, name_threads=False)
    (why,) = (each.why for each in found if each.kind == "balanced")
    return why


def test_autos_own_choice_is_named_beside_it() -> None:
    best = roles(ROWS, Weighing())["balanced"]
    for each in ROWS:
        why = told([r._replace(auto=r is each) for r in ROWS])
        if each is best:
            assert why.endswith("; auto, the default, chooses it too")
        else:
            assert f"; auto, the default, chooses {each.chain}: {each.size:,} bytes, " in why
    assert "auto" not in told(ROWS)
    # A row of it on another number of threads is none to hold it against.
    assert "auto" not in told([*ROWS, ROWS[0]._replace(auto=True, threads=2)])
