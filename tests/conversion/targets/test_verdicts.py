"""Every kind of value has a verdict in every target, and every rule is one of a table."""

from __future__ import annotations

import pytest

from serialpack.conversion.losses.rules import RULES, TABLES, allowed_for, carried_to
from serialpack.conversion.targets.verdicts import verdict
from serialpack.conversion.targets.writers import written
from serialpack.values.kinds import KINDS


@pytest.mark.parametrize("target", written())
def test_every_kind_has_a_verdict(target: str) -> None:
    found = {kind: verdict(kind, target) for kind in KINDS}
    assert {each.word for each in found.values()} <= {"same", "carried", "lost", "refused"}
    for kind, each in found.items():
        assert bool(each.rules) == (each.word in ("carried", "lost")), kind
        for name in each.rules:
            assert kind in RULES[name].kinds
            assert RULES[name].is_for(target)
    carried = {rule for each in found.values() if each.word == "carried" for rule in each.rules}
    assert carried <= carried_to(target)


def test_people_get_what_they_come_for() -> None:
    for target in TABLES:
        for kind in ("integer", "float", "boolean", "nested", "array", "mixed", "null"):
            assert verdict(kind, target).word in ("same", "carried"), (kind, target)
    for kind in ("bytes", "date", "utc-datetime", "decimal", "integer-key", "tuple"):
        assert verdict(kind, "json").word == "carried", kind
    assert verdict("null", "toml") == ("lost", ("null", "types"), False)
    assert verdict("non-finite", "json").rules == ("nan",)


def test_what_is_allowed() -> None:
    assert "nan" not in allowed_for("json", [], strict=False)
    assert "bytes" in allowed_for("json", [], strict=False)
    assert allowed_for("json", [], strict=True) == ()
    assert allowed_for("json", ["nan", "bytes"], strict=True) == ("bytes", "nan")
    assert {"nan", "types"} <= set(allowed_for("json", ["all"], strict=False))


def test_the_words_of_what_is_carried() -> None:
    for name, rule in RULES.items():
        assert bool(rule.what) == bool(rule.carried), name
        assert rule.carried <= rule.only or "*" in rule.only
