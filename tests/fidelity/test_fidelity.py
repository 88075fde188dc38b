"""Every value through every serializer: the same comes back, or it is refused; as declared."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from serialpack.values.kinds import KINDS
from tests.fidelity.measure import WAYS, class_of, is_default, outcomes, spellings
from tests.fidelity.suites import SUITES
from tests.fidelity.values import CASES
from tools.fidelity import PAGE, README, kind_row, suite_row, summary_row, tried_with

#: What one process finds out of a spelling is not found out again by another.
SPELLINGS = [pytest.param(each, marks=pytest.mark.xdist_group(each)) for each in spellings()]
DEFAULTS = [each for each in SPELLINGS if is_default(str(each.values[0]))]


_outcomes = cache(outcomes)


def test_the_table_of_values() -> None:
    assert len(CASES) >= 130
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.kind for case in CASES} <= KINDS.keys()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_same_or_refused(spelling: str, way: str) -> None:
    found = _outcomes(spelling)[way]
    assert [outcome.name for outcome in found] == [case.name for case in CASES]
    faults = [outcome for outcome in found if outcome.what not in ("same", "refused")]
    assert not faults


@pytest.mark.parametrize("spelling", DEFAULTS)
def test_the_declaration_is_what_happens(spelling: str) -> None:
    """No kind is said to be held that is refused, nor the other way round."""
    cls = class_of(spelling)
    by_kind: dict[str, set[str]] = {}
    for case, outcome in zip(CASES, _outcomes(spelling)["api"], strict=True):
        by_kind.setdefault(case.kind, set()).add(outcome.what)
    never = {kind for kind, found in by_kind.items() if found == {"refused"}}
    partly = {kind for kind, found in by_kind.items() if len(found) > 1}
    assert never == cls.cannot & by_kind.keys()
    assert partly == cls.partly & by_kind.keys()
    assert not cls.cannot & cls.partly


@pytest.mark.parametrize("spelling", DEFAULTS)
def test_a_refusal_names_a_kind_that_is_declared(spelling: str) -> None:
    cls = class_of(spelling)
    refused = [o for o in _outcomes(spelling)["api"] if o.what == "refused"]
    undeclared = [o for o in refused if o.kind not in cls.cannot | cls.partly]
    assert not undeclared


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_page_says_what_happens(spelling: str) -> None:
    """docs/fidelity.md and the README: ``python -m tools.fidelity`` makes them."""
    tried = _outcomes(spelling)
    page, readme = PAGE.read_text("utf-8"), README.read_text("utf-8")
    assert kind_row(spelling, tried) in page
    assert summary_row(spelling, tried) in page
    assert summary_row(spelling, tried) in readme


@pytest.mark.parametrize("name", SUITES)
def test_the_page_says_what_becomes_of_the_suite(shared_data: Path, name: str) -> None:
    samples = list(SUITES[name](shared_data))
    assert samples
    page = PAGE.read_text("utf-8").partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    rows = [suite_row(spelling, samples) for spelling in tried_with(samples)]
    assert rows
    missing = [row for row in rows if row not in page]
    assert not missing
    assert all(row.endswith(" 0 |") for row in rows)  # none changed
