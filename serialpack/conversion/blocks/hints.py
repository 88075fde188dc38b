"""Finds how to get on with a value that the target refuses, by trying each way with its record.

``hint`` takes the record and what of it is lost, and gives the ways as ``errors.Ways``: rules of
``--lossy`` that let it go, options that keep it, and other formats that hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import MORE, RULES, TABLES, carried_to
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.targets.writers import TargetWriter, others, writers
from serialpack.conversion.types.spelling import types_option
from serialpack.errors import LETS_GO, WRITES_NULL, SerialpackError, Ways
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.formats.shared.document import compared
from serialpack.serializers.base import FAILURES
from serialpack.values.kinds import DIGITS, NAN, TEXT_KINDS, Difference, steps_of
from serialpack.values.structure import Structure

#: So many formats are named; of a record that takes so many bytes in one of them, that one: to try
#: the others may take ten times as long as all else.
_MOST, _LARGE = 3, 1 << 20

#: What keeps all columns of a table whose line of names has one twice.
WITHOUT_NAMES = "--no-header keeps each column, with the names as the first row"

#: Writes a record with losses: what the target still refuses of it, by these rules; None: nothing.
Attempt = Callable[[frozenset[str]], Difference | None]

#: What of records is lost as they are, where the user names these rules.
LostOf = Callable[[list[Any], Collection[str]], Difference | None]


def lost_by(writer: TargetWriter, records: list[Any]) -> Difference | None:
    """What of ``records`` does not come back from ``writer``."""
    try:
        return _changed(writer, records, writer.dump(records))
    except FAILURES as error:
        return writer.serializer.blame(records, error)


def _changed(writer: TargetWriter, records: list[Any], data: bytes) -> Difference | None:
    """What comes back of ``data``, in which they were written, as another value; one of
    ``FAILURES`` for what is not read."""
    return compared(records, writer.load(data, len(records)))


def hint(
    plan: ConversionPlan, lost: Difference, record: Any, attempt: Attempt | None
) -> Ways | None:
    """What to say to the conversion so that this record goes through; None where it cannot.

    ``record``: the one that is refused, and ``attempt`` writes it; None where it was not read.
    """
    if lost.kind in TEXT_KINDS:
        attempt = None  # what was read of it is another value, which others would hold
    keeps = [WITHOUT_NAMES] if _is_of_names(plan, lost) else []
    if name := _decimal_column(plan, lost):
        keeps.append(f"{types_option(name, 'decimal')} holds it")
    rules = _rules(plan, lost, attempt)
    others: list[str] = []
    if (
        attempt is not None
        and FORMATS.declaration(plan.target).is_json
        and not plan.tagged
        and _has_tags(plan, record)
    ):
        others.append("--tagged writes its type")
    names = [] if attempt is None else _formats(plan, record)
    if names:
        several = ", ".join(names[:-1]) + " or " if len(names) > 1 else ""
        others.append(f"--to {several}{names[-1]} can")
    if not (keeps or rules or others):
        return None
    is_null = rules == [NAN] and lost.kind == "non-finite"
    effect = WRITES_NULL if is_null else LETS_GO
    return Ways(tuple(rules), effect, tuple(keeps), tuple(others))


def _is_of_names(plan: ConversionPlan, lost: Difference) -> bool:
    """Whether the line of names above a table of text is what is lost."""
    declared = FORMATS.declaration(plan.source)
    named = bool(declared.delimiter) and not declared.headless
    return named and lost.kind == "duplicate-keys" and lost.record == 0


def hint_for(
    plan: ConversionPlan,
    lost: Difference,
    record: Any,
    lost_of: LostOf,
    changed: Callable[[list[Any], Losses], list[Any]],
    *,
    read: bool,
    part: bool,
    beside: Sequence[Any] = (),
) -> Ways | None:
    """As ``hint``; ``read``: whether ``record`` was; ``part``: rules are tried with what is lost,
    and what it stands in, alone; ``beside``: records without which it is not refused."""
    tried = on_path(record, lost.value_path) if part else record
    attempt = attempt_with(tried, lost_of, changed, beside) if read else None
    return hint(plan, lost, record, attempt)


def _rules(plan: ConversionPlan, lost: Difference, attempt: Attempt | None) -> list[str]:
    """The rules with which the record is written, those given among them; none: there are none."""
    if attempt is None:
        source = FORMATS.get(plan.source)
        heeds = source.heeds if isinstance(source, ValueFormat) else frozenset[str]()
        heeds |= {DIGITS} if plan.shaping.typed else frozenset()
        found = [name for name in _about(plan, lost.kind) if name in heeds]
        found = [name for name in found if name not in plan.lossy]
        return [*_asked(plan), *found[:1]] if found else []
    if plan.tagged and FORMATS.declaration(plan.target).is_json:
        return []
    rules = frozenset(plan.lossy)
    left: Difference | None = lost
    while left is not None and not (rules > set(plan.lossy) and _is_laid_out(plan, left.kind)):
        more = next((name for name in _about(plan, left.kind) if name not in rules), None)
        if more is None:
            return []
        rules |= {more}
        left = attempt(rules)
    asked = rules.difference(plan.lossy).union(_asked(plan))
    return [name for name in RULES if name in asked]


def _asked(plan: ConversionPlan) -> list[str]:
    """The rules that the user named, of those that must be."""
    carried = frozenset() if plan.strict else carried_to(plan.target)
    return [name for name in plan.asked if name not in carried]


def _about(plan: ConversionPlan, kind: str) -> Iterator[str]:
    """The rules that may let values of a kind go, as ``RULES`` has them in order."""
    for name, rule in RULES.items():
        fits = kind in rule.kinds or (name, kind) in MORE
        if fits and rule.is_for(plan.target):
            yield name


def _is_laid_out(plan: ConversionPlan, kind: str) -> bool:
    """Whether a table has columns, or JSON text, for what a cell of it does not hold as it is."""
    return plan.target in TABLES and kind in _LAID_OUT and "mixed" in plan.lossy


#: Kinds of maps and lists in a record, and what a rule makes of numbers; ``depth`` is what a cell
#: of text calls a map.
_LAID_OUT = RULES["nested"].kinds | RULES["mixed"].kinds | {"depth", "text"}


def _decimal_column(plan: ConversionPlan, lost: Difference) -> str:
    """The name under which ``--types`` makes decimals of integers that are too large for a table
    with types; empty: there is none."""
    layout = plan.layout
    if lost.kind not in ("uint64", "bigint") or layout is None or layout.schema is None:
        return ""
    from serialpack.conversion.tables.layout import schema_of
    from serialpack.formats.tables.records import arrow

    steps, is_a = steps_of(lost.value_path), arrow().types
    keys = [step for step in steps or () if type(step) is str]
    if layout.rows != "maps" or not keys or any("." in key for key in keys[1:]):
        return ""
    column = next((c for c in layout.columns if c.path == tuple(keys[: len(c.path)])), None)
    if column is None:
        return ""
    kind = schema_of(layout).field(column.name).type
    for key in keys[len(column.path) :]:
        while is_a.is_list(kind):
            kind = kind.value_type
        if not is_a.is_struct(kind):  # of maps whose keys are data, one type holds all values
            return ""
        kind = kind.field(key).type
    return ".".join(keys)


def _has_tags(plan: ConversionPlan, record: Any) -> bool:
    """Whether ``--tagged`` can write the record."""
    from serialpack.conversion.tagging.extended_json import TagFailure, tag

    try:
        tag([record], decimal128=FORMATS.declaration(plan.source).decimal128)
    except (TagFailure, SerialpackError, *FAILURES):
        return False
    return True


def _formats(plan: ConversionPlan, record: Any) -> list[str]:
    """The first formats that hold the record, and not only what is refused of it."""
    found: list[str] = []
    for name in others(plan.target):
        fmt = FORMATS.get(name)
        if name == plan.source:
            continue  # it is read as that: what is lost, is lost there
        several = (
            isinstance(fmt, ValueFormat) and fmt.one_record and plan.structure != Structure.DOCUMENT
        )
        if several and not plan.alone:
            continue
        try:
            # What it does not hold is not asked: to find that takes more than all of this.
            writer = writers(name, {})[-1]
            data = writer.dump([record])
            if _changed(writer, [record], data) is None:
                found.append(name)
        except (SerialpackError, *FAILURES):
            continue
        if found and (len(found) == _MOST or len(data) > _LARGE):
            break
    return found


def on_path(record: Any, path: str) -> Any:
    """``record`` with nothing in it but what stands at ``path``; itself where that leads to
    nothing in it."""
    steps = steps_of(path)
    if steps is None:
        return record
    now: Any = record
    for step in steps:
        if isinstance(step, int):
            there = type(now) is list and step < len(now)
        else:
            there = type(now) is dict and step in now
        if not there:
            return record
        now = now[step]
    for step in reversed(steps):
        now = [now] if type(step) is int else {step: now}
    return now


def attempt_with(
    record: Any,
    lost_of: LostOf,
    changed: Callable[[list[Any], Losses], list[Any]],
    beside: Sequence[Any] = (),
) -> Attempt:
    """What writes ``record`` behind those ``beside``; ``changed`` does what the rules say."""

    def attempt(rules: frozenset[str]) -> Difference | None:
        try:
            records = changed([*beside, record], Losses(rules, rules))
        except SerialpackError:  # two keys would become one
            return Difference(0, "$", "", "", "value")
        return lost_of(records, rules)

    return attempt
