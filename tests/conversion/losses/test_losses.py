"""Losses that the user names: each rule changes what it is about, counts it, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import RULES
from serialpack.errors import UsageError, ValueRefusedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.values.equality import difference
from serialpack.values.kinds import KINDS, Loss
from tests.fidelity.values import CASES, USUAL
from tests.formats.work import lines_run

ALL = frozenset(RULES)


def holder(serializer: RecordSerializer) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        record = {"x": value} if "bare" in serializer.cannot else value
        try:
            (again,) = serializer.load(serializer.dump([record]))
        except FAILURES:
            return False
        return difference(record, again) is None

    return holds


def applied(
    target: str, records: list[Any], *allowed: str, first_record: int = 0
) -> tuple[list[Any], dict[str, Loss]]:
    """What becomes of the records for ``target``, and the losses by rule."""
    serializer = SERIALIZERS.create(target)
    assert isinstance(serializer, RecordSerializer)
    losses = Losses(allowed)
    refused = serializer.cannot | serializer.partly
    changed = losses.apply(records, refused, holder(serializer), first_record)
    return changed, {loss.rule: loss for loss in losses.report()}


@pytest.mark.parametrize(
    ("rule", "target", "was", "became", "shown"),
    [
        ("bytes", "json", b"\xff\xfe", "//4=", (r"b'\xff\xfe'", "'//4='")),
        ("bytes", "json", b"", "", ("b''", "''")),
        ("bytes", "msgpack", bytearray(b"ab"), "YWI=", ("bytearray(b'ab')", "'YWI='")),
        (
            *("timestamps", "json", datetime(2020, 1, 2, 3, 4, 5, 60, UTC)),
            *("2020-01-02T03:04:05.000060+00:00",),
            ("2020-01-02T03:04:05.000060+00:00", "'2020-01-02T03:04:05.000060+00:00'"),
        ),
        (
            *("timestamps", "msgpack", datetime(2020, 1, 2, 3, 4)),
            *("2020-01-02T03:04:00", ("2020-01-02T03:04:00", "'2020-01-02T03:04:00'")),
        ),
        (
            *("timestamps", "json", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=-5)))),
            *("0001-01-01T00:00:00-05:00",),
            ("0001-01-01T00:00:00-05:00", "'0001-01-01T00:00:00-05:00'"),
        ),
        ("timestamps", "json", date(2020, 1, 2), "2020-01-02", ("2020-01-02", "'2020-01-02'")),
        ("timestamps", "yaml", time(1, 2, 3), "01:02:03", ("01:02:03", "'01:02:03'")),
        ("nan", "json", math.nan, None, ("nan", "null")),
        ("nan", "json", -math.inf, None, ("-inf", "null")),
        ("bigint", "msgpack", 1 << 64, str(1 << 64), ("18446744073709551616",) * 2),
        ("bigint", "toml", 1 << 63, str(1 << 63), ("9223372036854775808",) * 2),
        ("utf8", "msgpack", "a\ud83d", "a\ufffd", (r"'a\ud83d'", r"'a\ufffd'")),
        ("types", "csv", None, "null", ("null", "'null'")),
        ("types", "csv", True, "true", ("True", "'true'")),
        ("types", "csv", 12, "12", ("12", "'12'")),
        ("types", "csv", 1 << 70, str(1 << 70), (str(1 << 70),) * 2),
        ("types", "csv", 1.50, "1.5", ("1.5", "'1.5'")),
        ("types", "csv", 1e22, "1e+22", ("1e+22", "'1e+22'")),
    ],
)
def test_a_rule_changes_what_the_target_refuses(
    rule: str, target: str, was: Any, became: Any, shown: tuple[str, str]
) -> None:
    records = [{"a": "kept"}, {"a": was}]
    changed, losses = applied(target, records, rule, first_record=7)
    assert difference([{"a": "kept"}, {"a": became}], changed) is None
    assert changed[0] is records[0]
    assert difference([{"a": "kept"}, {"a": was}], records) is None
    loss = losses.pop(rule)
    assert loss[:4] == (rule, 1, 8, "$.a")
    assert [loss.was.strip("'"), loss.became.strip("'")] == [text.strip("'") for text in shown]
    assert not losses


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (timedelta(0), "PT0S"),
        (timedelta(milliseconds=1500), "PT1.5S"),
        (timedelta(days=3, minutes=1), "P3DT1M"),
        (timedelta(days=10), "P10D"),
        (timedelta(days=-1, hours=2), "-PT22H"),
        (timedelta(microseconds=-1), "-PT0.000001S"),
        (timedelta(days=1, hours=2, minutes=3, seconds=40), "P1DT2H3M40S"),
    ],
)
def test_a_duration_is_iso_8601(value: timedelta, text: str) -> None:
    assert applied("json", [value], "timestamps")[0] == [text]


def test_a_timestamp_of_nanoseconds_is_iso_8601() -> None:
    """MessagePack's own type, where Python's holds no nanoseconds; of any other tag, nothing."""
    import msgpack

    others = [msgpack.ExtType(5, b"x"), msgpack.Timestamp(1 << 50, 0)]
    changed, losses = applied("json", [msgpack.Timestamp(1, 5), *others], "timestamps")
    assert changed == ["1970-01-01T00:00:01.000000005+00:00", *others]
    assert losses["timestamps"].count == 1


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (1, "1"),
        (-(1 << 70), str(-(1 << 70))),
        (True, "true"),
        (None, "null"),
        (1.5, "1.5"),
        (math.nan, "NaN"),
        (b"\xff", "/w=="),
        (date(2020, 1, 2), "2020-01-02"),
        (Decimal("1.50"), "1.50"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ((1, (None, "a")), '[1,[null,"a"]]'),
    ],
)
def test_a_key_becomes_text(key: Any, text: str) -> None:
    """In its place, and with its value."""
    changed, losses = applied("json", [[{"a": 0, key: [1], "z": 2}]], "keys")
    assert difference([[{"a": 0, text: [1], "z": 2}]], changed) is None
    assert losses["keys"].count == 1
    assert losses["keys"].value_path.startswith("$[0][")


def test_a_key_without_text_stays() -> None:
    records = [{(1, object): 3}]
    changed, losses = applied("json", records, "keys")
    assert changed is records
    assert not losses


@pytest.mark.parametrize(
    ("target", "value", "rules"),
    [
        ("json", {1: 0, "1": 1}, ["keys"]),
        ("json", {"a": {True: 0, "x": 5, "true": 1}}, ["keys"]),
        ("msgpack", dict.fromkeys(["\ud800", "\udfff"]), ["utf8"]),
        ("marshal", {date(2020, 1, 2), "2020-01-02"}, ["timestamps"]),
    ],
)
def test_two_that_would_become_one_are_refused(target: str, value: Any, rules: list[str]) -> None:
    with pytest.raises(ValueRefusedError, match="would both become") as refused:
        applied(target, [0, value], *rules, first_record=10)
    assert refused.value.record == 11
    assert refused.value.value_path == ("$.a" if "a" in value else "$")


def test_only_the_last_of_several_rules_counts_if_the_target_takes_it() -> None:
    """NaN is null for CSV, and null is text; one rule alone leaves both as they are."""
    records = [{"a": math.nan}]
    assert applied("csv", records, "nan") == (records, {})
    changed, losses = applied("csv", records, "nan", "types")
    assert changed == [{"a": "null"}]
    assert {rule: (loss.was, loss.became) for rule, loss in losses.items()} == {
        "nan": ("nan", "null"),
        "types": ("null", "'null'"),
    }
    assert applied("csv", records, "types") == (records, {})


def test_what_the_target_holds_stays_the_very_same() -> None:
    inner = [b"x", datetime(2020, 1, 1, tzinfo=UTC), math.nan, {True: 3}, 1 << 63]
    records = [{"a": inner}, b"y"]
    changed, losses = applied("msgpack", records, *ALL)
    assert changed is records
    assert not losses


def test_partly_held_kinds_are_asked_about() -> None:
    """YAML has words for an offset of whole minutes only."""
    held = datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    not_held = datetime(2020, 1, 1, tzinfo=timezone(timedelta(seconds=1)))
    changed, losses = applied("yaml", [[held, not_held]], "timestamps")
    assert changed == [[held, "2020-01-01T00:00:00+00:00:01"]]
    assert changed[0][0] is held
    assert losses["timestamps"][:4] == ("timestamps", 1, 0, "$[1]")


def test_nested_values_and_their_paths() -> None:
    value = {"a": [0, ({"odd key": {b"x"}},)], 1: b"later"}
    changed, losses = applied("json", [value], "bytes", first_record=3)
    assert changed == [{"a": [0, ({"odd key": {"eA=="}},)], 1: "bGF0ZXI="}]
    assert losses["bytes"] == Loss(
        "bytes", 2, 3, """$.a[1][0]["odd key"]{b'x'}""", "b'x'", "'eA=='"
    )


def test_what_is_shared_stays_shared_and_counts_in_each_place() -> None:
    shared = [b"x"]
    value = {"before": b"x", "a": shared, "b": [shared, shared]}
    (changed,), losses = applied("json", [value], "bytes")
    assert changed == {"before": "eA==", "a": ["eA=="], "b": [["eA=="], ["eA=="]]}
    assert changed["a"] is changed["b"][0] is changed["b"][1]
    assert losses["bytes"].count == 4


def test_sharing_costs_no_time_without_end() -> None:
    """2^60 places, 60 containers."""
    value: list[Any] = [b"x"]
    for _ in range(60):
        value = [value, value]
    changed, losses = applied("json", [value], "bytes")
    assert losses["bytes"].count == 1 << 60
    assert changed[0] is not value


def test_what_holds_itself_stays_as_it_is() -> None:
    value: list[Any] = [b"x"]
    value.append(value)
    changed, losses = applied("json", [[b"a"], value, b"z"], "bytes")
    assert changed[0] == ["YQ=="]
    assert changed[1] is value
    assert changed[2] == "eg=="
    assert losses["bytes"].count == 2


def test_as_deep_as_anything_is_read() -> None:
    value: Any = b"x"
    for i in range(500):
        value = [value] if i % 2 else {"k": value}
    changed, losses = applied("json", [value], "bytes")
    assert losses["bytes"].count == 1
    assert losses["bytes"].value_path.endswith("[0].k")
    assert changed[0] is not value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_without_a_rule_nothing_changes(case: Any) -> None:
    records = [case.make()]
    losses = Losses(())
    refused = frozenset(KINDS)
    assert losses.apply(records, refused, lambda _: False, 0) is records
    assert not losses.report()


@pytest.mark.parametrize("case", USUAL, ids=lambda case: case.name)
def test_all_values_are_changed_or_left_alone(case: Any) -> None:
    """Under all rules: never an error of Python, and what was given is not written to."""
    value, like = case.make(), case.make()
    losses = Losses(ALL)
    try:
        (changed,) = losses.apply([value], frozenset(KINDS), lambda _: False, 0)
    except ValueRefusedError:
        return
    if not losses.report():
        assert changed is value
    if difference(like, case.make()) is None:  # objects are equal to themselves only
        assert difference(like, value) is None


@pytest.mark.parametrize("target", ["json", "msgpack", "toml", "bson", "cbor", "yaml"])
def test_what_is_never_held_need_not_be_asked_about(target: str) -> None:
    """The same comes of it: of each value, and of each that can be a key."""
    serializer = SERIALIZERS.create(target)
    assert isinstance(serializer, RecordSerializer)
    holds, refused = holder(serializer), serializer.cannot | serializer.partly
    asked: list[Any] = []
    changes = 0

    def noted(value: Any) -> bool:
        asked.append(value)
        return holds(value)

    def outcome(record: Any, never: frozenset[str]) -> tuple[Any, Any]:
        losses = Losses(ALL)
        try:
            return losses.apply([record], refused, noted, 0, never), losses.report()
        except ValueRefusedError as error:
            return str(error), None

    for case in USUAL:
        value = case.make()
        records = [{"v": value}]
        with suppress(TypeError):
            records.append({value: "v"})
        for record in records:
            became, told = outcome(record, frozenset())
            again, told_again = outcome(record, serializer.cannot)
            assert difference(became, again) is None, record
            assert told == told_again
            changes += bool(told)
    assert changes > 5
    asked.clear()
    Losses(ALL).apply([{1: b"", 2: None}] * 3, refused, noted, 0, refused)
    assert not asked


leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary(max_size=4)
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
)
keys = st.text(max_size=3) | st.integers(0, 5) | st.booleans() | st.none() | st.dates()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(values, max_size=4), st.sets(st.sampled_from(sorted(KINDS))))
def test_no_rule_is_the_identity(records: list[Any], refused: set[str]) -> None:
    assert Losses(()).apply(records, frozenset(refused), lambda _: False, 0) is records


@given(st.lists(values, max_size=4), st.sets(st.sampled_from(sorted(RULES))))
def test_what_json_then_holds_is_all_but_other_rules(records: list[Any], rules: set[str]) -> None:
    """With all rules that JSON needs, it holds everything; with fewer, no others are reported."""
    try:
        changed, losses = applied("json", records, *rules)
    except ValueRefusedError:  # two keys that would become one
        return
    assert set(losses) <= rules
    if {"bytes", "timestamps", "keys", "nan"} <= rules:
        assert all(map(holder(SERIALIZERS.create("json")), changed))  # type: ignore[arg-type]
    again, more = applied("json", changed, *rules)
    assert again is changed
    assert not more


def test_an_unknown_rule_is_named_with_its_neighbours() -> None:
    with pytest.raises(UsageError, match="did you mean bytes"):
        Losses(["byte"])
    with pytest.raises(UsageError, match=r"known: null, nan, bigint, digits.*, all"):
        Losses(["nothing"])


def test_the_report_is_in_the_order_of_the_rules() -> None:
    losses = Losses(ALL)
    losses.merge([Loss("utf8", 1, 5, "$.u", "a", "b"), Loss("bytes", 2, 9, "$.late", "x", "y")])
    more = Losses(())
    more.merge([Loss("bytes", 3, 4, "$.early", "v", "w")])
    losses.merge(more)
    assert losses.report() == [
        Loss("bytes", 5, 4, "$.early", "v", "w"),
        Loss("utf8", 1, 5, "$.u", "a", "b"),
    ]


def test_every_kind_of_a_rule_is_one() -> None:
    for name, rule in RULES.items():
        assert rule.kinds <= set(KINDS), name
        assert rule.about


def test_what_has_nothing_to_change_is_not_gone_through_value_by_value() -> None:
    records = [{"n": n, "x": n / 7, "s": "é", "l": [n, None, {"y": 0.5}]} for n in range(3000)]
    work = lines_run(lambda: applied("json", records, *ALL - {"types", "utf8"}))
    assert work < 10 * len(records)


@pytest.mark.parametrize("odd", [math.inf, b"x", {3: "x"}, (), {"l": [math.nan]}, [[{b"k": 1}]]])
def test_one_odd_value_among_many_is_found(odd: Any) -> None:
    records: list[Any] = [{"x": n / 7} for n in range(2000)]
    records[1234] = {"x": 1.5, "y": [odd]}
    changed, losses = applied("json", records, "nan", "bytes", "keys", "sequences")
    assert changed[1234] != records[1234]
    assert {loss.record for loss in losses.values()} == {1234}
