"""``Marks``: notes of what a reader changed, as it could not hold it and ``--lossy`` allows it.

A reader that is given marks notes in them which of its values is not what the source says, by the
value's id; where it stands is found later, in one walk of the records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from serialpack.formats.losses.changes import Changer
from serialpack.formats.losses.exact import Inexact
from serialpack.formats.losses.utf8 import is_marked, original, replaced, said
from serialpack.text import unique_names
from serialpack.values.equality import difference
from serialpack.values.kinds import (
    DIGITS,
    DUPLICATES,
    RENAMED,
    UTF8,
    Difference,
    Loss,
    Spelled,
    Unheld,
    shown,
    totals,
    value_step,
)

#: Types whose values are never marked.
_PLAIN = frozenset({type(None), bool, int, bytes})


class _Mark:
    """Why a value is not what the source says. ``rule``: the one that allows it, if any does.

    ``value``: the object that stands in the records until ``became`` takes its place. It is one of
    its own, so that its id tells it.
    """

    __slots__ = ("became", "kind", "rule", "value", "was")

    def __init__(self, value: Any, became: Any, rule: str, kind: str, was: str) -> None:
        self.value = value
        self.became = became
        self.rule = rule
        self.kind = kind
        self.was = was


class Marks:
    """What was lost in one block, of what the rules ``allowed`` say. Keeps the values alive."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self.allowed = allowed
        #: The character that stands for the byte 0x80 where text is no UTF-8; 0: all text is UTF-8.
        self.base = 0
        self.lost: dict[int, _Mark] = {}
        self.twice: dict[int, tuple[Any, list[tuple[Any, Any]]]] = {}
        self._keys: dict[int, dict[Any, Any]] = {}
        #: Losses whose place the reader knows itself; their records count from the block's first.
        self.placed: list[Loss] = []

    def allows(self, lost: Inexact) -> bool:
        """Whether the nearest value may stand for what was lost."""
        return lost.nearest is not None and DIGITS in self.allowed

    def lost_number(self, lost: Inexact) -> Any:
        """What stands for a number or time that was lost: the nearest one, once it is settled."""
        value = object() if lost.nearest is None or type(lost.nearest) is int else lost.nearest
        rule = "" if lost.nearest is None else DIGITS
        self.lost[id(value)] = _Mark(value, lost.nearest, rule, lost.kind, lost.text)
        return value

    def again(self, place: dict[Any, Any], key: Any) -> bool:
        """Note that ``key`` comes again in ``place``, whose value of it will be gone.

        False where it is another key, and only Python takes both for one: ``1`` and ``true``.
        """
        if not isinstance(key, str) and difference(self._first(place, key), key) is not None:
            return False
        self.twice.setdefault(id(place), (place, []))[1].append((key, place[key]))
        return True

    def _first(self, place: dict[Any, Any], key: Any) -> Any:
        """The key in ``place`` that is equal to ``key``. Each key of a map is gone over once
        only."""
        keys = self._keys.setdefault(id(place), {})
        if key not in keys:
            for before in reversed(place):  # those that came since the last time
                if before in keys:
                    break
                keys[before] = before
        return keys[key]

    def mended_names(self, names: list[str], base: int, *, count: bool) -> list[str]:
        """The names that all records have. ``count``: whether losses are noted: in the first block,
        so that each name counts once.

        Unheld where two would become one.
        """
        made = [replaced(name, base) for name in names]
        odd = [pair for pair in zip(names, made, strict=True) if pair[0] != pair[1]]
        if not odd:
            return names
        was, became = odd[0]
        path = "$" + value_step(became)
        if len(set(made)) < len(set(names)):
            raise Unheld(Difference(0, path, f"the column {shown(became)}", "", "duplicate-keys"))
        if count:
            was_shown = shown(original(was, base))
            self.placed.append(Loss(UTF8, len(odd), 0, path, was_shown, shown(became)))
        return made

    def pairs(self, pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
        """A dict of ``pairs`` whose keys are text, with the last value of each."""
        found = dict(pairs)
        if len(found) != len(pairs):
            made: dict[Any, Any] = {}
            for key, value in pairs:
                if key in made:
                    self.again(made, key)
                made[key] = value
            return made
        return found

    def settled(self, records: list[Any], first_record: int) -> tuple[list[Any], list[Loss]]:
        """The records, and what was lost in them, placed and counted.

        Unheld where it is lost and no rule of ``allowed`` says so.
        """
        losses = [loss._replace(record=first_record + loss.record) for loss in self.placed]
        if self.lost or self.twice or self.base:
            settler = _Settler(self, first_record)
            records = settler.changed(records, first_record)
            losses += settler.losses()
        return records, totals(losses)


class _Settler(Changer):
    """Finds the marked values, and puts U+FFFD where text is no UTF-8."""

    def __init__(self, marks: Marks, first_record: int) -> None:
        super().__init__()
        self._marks = marks
        self._first = first_record
        self._base = marks.base
        self.plain = _PLAIN if marks.base else _PLAIN | {str}
        self.plain_keys = self.plain

    def value(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(value)
        lost = self._marks.lost.get(id(value))
        if lost is not None:
            self._found(lost.rule, lost.kind, Spelled(lost.was), lost.became)
            return lost.became
        if kind.__name__ in ("CBORTag", "YamlTag"):
            content = self.walked(value.value)
            return value if content is value.value else kind(value.tag, content)
        if isinstance(value, Mapping):  # in a key
            parts = dict(value)
            made = self.walked(parts)
            return value if made is parts else kind(made)
        return value

    def key(self, key: Any) -> Any:
        return self.walked(key)

    def said(self, key: Any) -> Any:
        return said(key, self._base)

    def in_map(self, value: dict[Any, Any]) -> dict[Any, Any]:
        _, gone = self._marks.twice.get(id(value), (None, ()))
        for key, was in gone:
            with self.at(key):
                parts = self.said(was), self.said(value[key])
                self._found(DUPLICATES, "duplicate-keys", *parts, f"the key {shown(key)}")
        return super().in_map(value)

    def _found(self, rule: str, kind: str, was: Any, became: Any, what: str = "") -> None:
        if rule in self._marks.allowed:
            self.note(rule, was, became)
            return
        record = self.record - self._first
        instead = "" if what or not rule else shown(became)
        raise Unheld(Difference(record, self.path, what or shown(was), instead, kind))

    def _text(self, text: str) -> str:
        if not (self._base and is_marked(text, self._base)):
            return text
        became = replaced(text, self._base)
        self.note(UTF8, original(text, self._base), became)
        return became


def renamed(names: list[str], found: list[Loss], *, first: bool) -> list[str]:
    """``names``, each made one of its own; where it is the ``first`` block, ``found`` gets that
    loss."""
    unique = unique_names(names)
    changed = [pair for pair in zip(names, unique, strict=True) if pair[0] != pair[1]]
    if changed and first:
        was, became = changed[0]
        path = "$" + value_step(was)
        found.append(Loss(RENAMED, len(changed), 0, path, shown(was), shown(became)))
    return unique
