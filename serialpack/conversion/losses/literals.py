"""Numbers that keep the text by which the source has them (``serialpack.literal.Literal``).

A reader gives one where Python would write the number in another way. ``settled`` makes each what
the target has: the text where it writes numbers as text, else the value, if that is exact.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from serialpack.depth.values import by_level
from serialpack.formats.base import ValueFormat
from serialpack.formats.losses.changes import Changer
from serialpack.formats.losses.exact import Inexact, held
from serialpack.literal import Literal
from serialpack.values.kinds import DIGITS, Difference, Loss, Spelled, Unheld, shown

_PLAIN = frozenset({type(None), bool, int, str, bytes, date, datetime})


def has_literals(records: list[Any]) -> bool:
    """Whether there is a literal among what is in ``records``."""
    return any(Literal in kinds for _, _, kinds in by_level(records))


def settled(
    records: list[Any], target: ValueFormat, first_record: int, allowed: frozenset[str]
) -> tuple[list[Any], list[Loss]]:
    """The records with each literal as ``target`` has it, and what was lost of those.

    Where the target writes numbers as text: the text, or nearly that; else the value. Unheld,
    counted from the first of these records, where that is another number, and ``allowed`` does
    not name this loss.
    """
    settler = _LiteralSettler(target, first_record, allowed)
    made = settler.changed(records, first_record)
    return made, settler.losses()


class _LiteralSettler(Changer):
    """Makes each literal in records what ``target`` has for it."""

    def __init__(self, target: ValueFormat, first_record: int, allowed: frozenset[str]) -> None:
        super().__init__()
        self._target = target
        self._first = first_record
        self._allowed = allowed
        # Floats that Python writes with an exponent are spelled in the target's way, as the
        # literals among them: what reads them again takes them for such.
        self.plain = _PLAIN if target.keeps_literals else _PLAIN | {float}
        self.plain_keys = _PLAIN | {float}

    def value(self, value: Any) -> Any:
        if type(value) is float:
            text = repr(value)
            return (self._spelled(Literal(text, value)) or value) if "e" in text else value
        if type(value) is not Literal:
            return value
        return self._spelled(value) or self._held(value)

    def _spelled(self, literal: Literal) -> Literal | None:
        text = self._target.literal_of(literal.text)
        if text is None or text == literal.text:
            return None if text is None else literal
        return Literal(text, literal.value)

    def _held(self, literal: Literal) -> Any:
        """The value of a literal, or with the loss the nearest; Unheld where neither is allowed."""
        try:
            value = held(literal)
        except Inexact as lost:
            if lost.nearest is not None and DIGITS in self._allowed:
                self.note(DIGITS, Spelled(literal.text), lost.nearest)
                return lost.nearest
            became = "" if lost.nearest is None else shown(lost.nearest)
            raise Unheld(
                Difference(
                    self.record - self._first,
                    self.path,
                    shown(Spelled(literal.text)),
                    became,
                    lost.kind,
                )
            ) from None
        return self.value(value) if type(value) is float else value


def without_literals(records: list[Any]) -> list[Any]:
    """The records with the nearest value for each literal, for who only tries them out."""
    return _Nearest().changed(records, 0)


class _Nearest(Changer):
    plain = _PLAIN | {float}
    plain_keys = plain

    def value(self, value: Any) -> Any:
        return (value.value or 0.0) if type(value) is Literal else value
