"""Every value through every serializer: the same comes back, or it is refused; as declared."""

from __future__ import annotations

from functools import cache

import pytest

from serialpack.kinds import KINDS
from tests.fidelity.measure import WAYS, Outcome, class_of, outcomes, spellings
from tests.fidelity.values import CASES

SPELLINGS = spellings()


@cache
def _outcomes(spelling: str, way: str) -> tuple[Outcome, ...]:
    return tuple(outcomes(spelling, way))


def test_the_table_of_values() -> None:
    assert len(CASES) >= 130
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.kind for case in CASES} <= KINDS.keys()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_same_or_refused(spelling: str, way: str) -> None:
    found = _outcomes(spelling, way)
    assert [outcome.name for outcome in found] == [case.name for case in CASES]
    faults = [outcome for outcome in found if outcome.what not in ("same", "refused")]
    assert not faults


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_declaration_is_what_happens(spelling: str) -> None:
    """No kind is said to be held that is refused, nor the other way round."""
    cls = class_of(spelling)
    by_kind: dict[str, set[str]] = {}
    for case, outcome in zip(CASES, _outcomes(spelling, "api"), strict=True):
        by_kind.setdefault(case.kind, set()).add(outcome.what)
    never = {kind for kind, found in by_kind.items() if found == {"refused"}}
    partly = {kind for kind, found in by_kind.items() if len(found) > 1}
    assert never == cls.cannot & by_kind.keys()
    assert partly == cls.partly & by_kind.keys()
    assert not cls.cannot & cls.partly


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_refusal_names_a_kind_that_is_declared(spelling: str) -> None:
    cls = class_of(spelling)
    refused = [o for o in _outcomes(spelling, "api") if o.what == "refused"]
    undeclared = [o for o in refused if o.kind not in cls.cannot | cls.partly]
    assert not undeclared
