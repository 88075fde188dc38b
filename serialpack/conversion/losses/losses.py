"""``Losses`` applies the rules that are allowed to records, and counts what they changed.

Nothing is changed but what an allowed rule is about, and only where the target does not hold it.
Each change is counted, and of each rule the first is kept with its place. Losses that only the
source's text shows (``formats.losses.reading.parse_lossy``) are changed while it is read, and
merged here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from serialpack.conversion.losses.rules import EVERY, RULES
from serialpack.errors import UsageError, ValueRefusedError
from serialpack.values.kinds import DROPPED, Loss, totals

if TYPE_CHECKING:
    from serialpack.conversion.losses.by_columns import Columns


class Losses:
    """Counts what was changed on purpose, by rule."""

    def __init__(self, allowed: Collection[str], asked: Collection[str] | None = None) -> None:
        """``asked``: those of ``allowed`` that the user named; by others nothing is lost.

        UsageError for a rule that there is not.
        """
        for name in allowed:
            if name not in RULES and name != EVERY:
                raise UsageError(f"unknown loss {name!r}", hint=_suggest(name))
        self.allowed = frozenset(allowed)
        self.asked = self.allowed if asked is None else frozenset(asked)
        self._found: list[Loss] = []

    def apply(
        self,
        records: list[Any],
        refused: frozenset[str],
        holds: Callable[[Any], bool],
        first_record: int,
        never: frozenset[str] = frozenset(),
    ) -> list[Any]:
        """The records, with each value changed that the target refuses and a rule is about.

        ``refused``: the kinds that the target may refuse; of a value of such a kind, ``holds``
        says whether it takes this one, alone; of a key, ``{key: "x"}``. ``never``: those of which
        it takes none, so that ``holds`` is not asked. Where what becomes of a value is refused
        too, by whatever rules, the value stays what it was. All other values, and containers of
        such, stay the very same objects. ``first_record``: the number of the first, in the whole
        source.

        ValueRefusedError where two keys of a map, or elements of a set, would become one.
        """
        from serialpack.conversion.losses.changes import RuleApplier

        changer = RuleApplier(self.allowed, refused, holds, never, self.asked)
        if not changer.active:
            return records
        changed = changer.changed(records, first_record)
        self.merge(changer.losses())
        return changed

    def apply_to_columns(
        self,
        columns: Columns,
        refused: frozenset[str],
        holds: Callable[[Any], bool],
        first_record: int,
        never: frozenset[str] = frozenset(),
    ) -> Columns | None:
        """As ``apply``, of records that are their columns; None where that takes the records."""
        from serialpack.conversion.losses.changes import RuleApplier

        changer = RuleApplier(self.allowed, refused, holds, never, self.asked)
        if not changer.active:
            return columns
        changed = changer.changed_columns(columns, first_record)
        self.merge(changer.losses())
        return changed

    def merge(self, other: Losses | Iterable[Loss]) -> None:
        """Count what ``other`` counts too."""
        more = other._found if isinstance(other, Losses) else other
        self._found = totals([*self._found, *more])

    def carry(self, found: Losses | Iterable[Loss], target: str) -> None:
        """Count what was carried; ValueRefusedError where that is not allowed: then none of it."""
        told = Losses(self.allowed, self.asked)
        told.merge(found)
        told.check_carried(target)
        self.merge(told)

    def check_carried(self, target: str) -> None:
        """ValueRefusedError for what was carried where that is not allowed."""
        for loss in self.report():
            if loss.rule in self.allowed:
                continue
            raise ValueRefusedError(
                f"{target} holds it only in another shape ({RULES[loss.rule].what[0]}):"
                f" {loss.was} would be {loss.became or 'gone'}",
                record=loss.record,
                value_path=loss.value_path,
                kind=next(iter(RULES[loss.rule].kinds), "value"),
                hint=f"without --strict it is carried, or --lossy {loss.rule}",
            )

    def report(self) -> list[Loss]:
        """One for each rule that changed something, in the order of ``RULES``."""
        return sorted(self._found, key=lambda loss: list(RULES).index(loss.rule))


def check_dropped(found: Iterable[Loss], losses: Losses, target: str) -> None:
    """ValueRefusedError for what is dropped where that is not allowed."""
    for loss in found:
        if loss.rule in losses.allowed or loss.rule not in DROPPED:
            continue
        raise ValueRefusedError(
            f"{target} has no place for {DROPPED[loss.rule][1]}: {loss.was}",
            record=loss.record,
            value_path=loss.value_path,
            kind=loss.rule,
            hint="without --strict they are dropped, and counted",
        )


def _suggest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, RULES, n=3)
    if near:
        return "did you mean " + " or ".join(near) + "?"
    return "known: " + ", ".join([*(n for n, rule in RULES.items() if rule.is_loss), EVERY])
