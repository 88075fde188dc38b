"""Values to TOML text, by tomli-w; in the order of the keys, and only what reads back.

tomli-w writes a table's plain values before its tables. Where a table stands before a plain
value, it is written inline here, so that the order is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

from serialpack.depth import TooDeep
from serialpack.formats.losses.changes import Changer
from serialpack.formats.losses.exact import check_zone
from serialpack.formats.toml.read import ARRAY, MAX_CALLS, TABLE
from serialpack.literal import Literal
from serialpack.text import with_article

#: The most levels of a document that tomli-w writes, which makes three calls within each other for
#: each.
_SHALLOW = 30


def write(document: Any) -> str:
    """A map as a TOML document; ValueError, TypeError, OverflowError or RecursionError."""
    import tomli_w

    if type(document) is not dict:
        raise TypeError("a TOML document is a map")
    ordered, levels, spelled = _check(document)
    if spelled:
        (document,) = _SpelledFloats().changed([document], 0)
    shallow = levels <= _SHALLOW
    if ordered and shallow:
        return tomli_w.dumps(document)
    out: list[str] = []
    _Writer(tomli_w.dumps, out, shallow=shallow).table(document, "")
    return "".join(out).removeprefix("\n")


def _check(document: dict[str, Any]) -> tuple[bool, int, bool]:
    """Whether tomli-w keeps the order of its keys, how many levels ``document`` has, and whether
    there are literals in it.

    ValueError, TypeError or OverflowError for what TOML has no words for.
    """
    ordered, deepest, spelled = True, 1, False
    stack: list[tuple[Any, int, int]] = [(document, 1, TABLE)]
    while stack:
        value, level, calls = stack.pop()
        if calls > MAX_CALLS:
            raise TooDeep
        deepest = max(deepest, level)
        parts = value.values() if type(value) is dict else value
        if parts is not value and not _TEXT.issuperset(map(type, value)):
            raise TypeError("a key that is no text")
        inner = len(stack)
        for part in () if _PLAIN.issuperset(map(type, parts)) else parts:
            kind = type(part)
            if kind is int:
                if not -(1 << 63) <= part < 1 << 63:
                    raise OverflowError("an integer of more than 64 bits")
            elif kind is dict or kind is list:
                stack.append((part, level + 1, calls + (TABLE if kind is dict else ARRAY)))
            elif kind is Literal:
                spelled = True
            elif kind not in _PLAIN:
                _CHECKS.get(kind, _refuse)(part)
        if ordered and parts is not value and len(stack) > inner:
            ordered = _keeps_order(value)
    return ordered, deepest, spelled


class _SpelledFloat(float):
    """A float that tomli-w, which writes what ``str`` says, spells as a source did."""

    def __new__(cls, literal: Literal) -> _SpelledFloat:
        made = super().__new__(cls, literal.value or 0.0)
        made.text = literal.text
        return made

    text: str

    def __str__(self) -> str:
        return self.text


class _SpelledFloats(Changer):
    """Makes literals floats that tomli-w spells as the source did."""

    plain = frozenset({type(None), bool, int, float, str, date, datetime, time})
    plain_keys = frozenset({str})

    def value(self, value: Any) -> Any:
        return _SpelledFloat(value) if type(value) is Literal else value


def _keeps_order(table: dict[str, Any]) -> bool:
    """Whether tomli-w writes the keys as they come, which it does not where a table stands before a
    plain value. A list of small maps it writes as a plain value."""
    met = False
    for value in table.values():
        is_map = type(value) is dict
        if met and not is_map:
            return False
        met = met or is_map or _is_tables(value)
    return True


def _is_tables(value: Any) -> bool:
    """Whether tomli-w may write a value as sections: a map, or a list of maps alone."""
    if type(value) is list:
        return bool(value) and all(type(part) is dict for part in value)
    return type(value) is dict


def _refuse(value: Any) -> None:
    raise TypeError(f"TOML has no words for {with_article(type(value).__name__)}")


def _check_time(value: time) -> None:
    if value.fold or value.tzinfo is not None:
        raise ValueError("there are no words for a fold or an offset")


#: Types whose values TOML has words for, whatever they are; and those whose values are looked at.
_TEXT = {str}
_PLAIN = {str, bool, float, date}
_CHECKS: dict[type, Callable[[Any], None]] = {
    datetime: check_zone,
    time: _check_time,
}


class _Writer:
    """Writes tables in the order of their keys: sections only behind the last plain value."""

    def __init__(
        self, dumps: Callable[[dict[str, Any]], str], out: list[str], *, shallow: bool
    ) -> None:
        self._dumps = dumps
        self._out = out
        self._shallow = shallow
        self._keys: dict[str, str] = {}

    def table(self, table: dict[str, Any], name: str) -> None:
        keys = list(table)
        plain = [i for i, key in enumerate(keys) if not _is_tables(table[key])]
        behind = plain[-1] + 1 if plain else 0
        together: dict[str, Any] = {}
        for key in keys[:behind]:
            value = table[key]
            if type(value) is not dict and self._shallow and not _is_tables(value):
                together[key] = value
                continue
            if together:
                self._out.append(self._dumps(together))
                together = {}
            self._out.append(f"{self._key(key)} = ")
            self._inline(value)
            self._out.append("\n")
        if together:
            self._out.append(self._dumps(together))
        for key in keys[behind:]:
            below = f"{name}.{self._key(key)}" if name else self._key(key)
            value = table[key]
            if type(value) is dict:
                # A table that holds only tables needs no header: theirs make it.
                if not value or not all(map(_is_tables, value.values())):
                    self._out.append(f"\n[{below}]\n")
                self.table(value, below)
                continue
            for part in value:
                self._out.append(f"\n[[{below}]]\n")
                self.table(part, below)

    def _key(self, key: str) -> str:
        written = self._keys.get(key)
        if written is None:
            written = self._keys[key] = self._dumps({key: 0})[: -len(" = 0\n")]
        return written

    def _inline(self, value: Any) -> None:
        out = self._out
        if type(value) is list:
            out.append("[")
            for i, part in enumerate(value):
                out.append(", " if i else "")
                self._inline(part)
            out.append("]")
        elif type(value) is dict:
            out.append("{ " if value else "{")
            for i, (key, part) in enumerate(value.items()):
                out.append(f"{', ' if i else ''}{self._key(key)} = ")
                self._inline(part)
            out.append(" }" if value else "}")
        else:
            out.append(self._dumps({"": value})[len('"" = ') : -1])
