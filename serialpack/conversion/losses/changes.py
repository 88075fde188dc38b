"""What each rule makes of a value: ``RuleApplier`` goes through records and changes what it must.

A value that the target refuses is given to the rules that are about its kind, one after another,
until the target holds what came of it. What was carried is proved to be readable again
(``reversal``).
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial
from itertools import compress
from operator import is_
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from serialpack.conversion.losses import by_columns
from serialpack.conversion.losses.by_columns import OFTEN, Columns, TextColumn
from serialpack.conversion.losses.reversal import can_be_read_back
from serialpack.conversion.losses.rules import MORE, RULES
from serialpack.depth.values import CONTAINERS, by_level
from serialpack.errors import RefusedError
from serialpack.formats.losses.changes import OMITTED, Changer, is_hashable
from serialpack.text import complex_text
from serialpack.values.durations import duration_text, nanoseconds_text
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import UTF8, key_kind
from serialpack.values.nanoseconds import (
    DURATION,
    LOCAL_TIME,
    UTC_TIME,
    fine_kind,
    nanoseconds_of,
)
from serialpack.values.parts import NOTHING, WITH_CONTENTS, attributes, plain, whole
from serialpack.values.yaml_tags import YamlTag, as_map


class RuleApplier(Changer):
    """The rules ``allowed``, for a target that refuses some kinds of values."""

    def __init__(
        self,
        allowed: frozenset[str],
        refused: frozenset[str],
        holds: Callable[[Any], bool],
        never: frozenset[str],
        asked: frozenset[str],
    ) -> None:
        super().__init__()
        self._asked = asked
        self._refused = refused
        self._holds = holds
        self._never = never
        self._rules = _rules_for(allowed, refused)
        if "sequences" in allowed:
            self.as_lists = frozenset(
                kind
                for kind in (tuple, set, frozenset)
                if kind.__name__ in refused and (kind.__name__ in never or not holds(kind()))
            )
        #: Kinds of which some values are to be changed.
        self.active = set(self._rules)
        self.active |= {kind.__name__ for kind in self.as_lists}
        self.plain = frozenset(t for t, kinds in _TYPES.items() if not self.active & kinds)
        keys = self.active & RULES["keys"].kinds
        self.plain_keys = frozenset({str} & self.plain) if keys else self.plain

        self._stays = (self.plain | CONTAINERS) - self.as_lists
        self._finite_stay = not self.active & {"float", "integral-float"}
        moments_stay = not self.active & {"local-datetime", "utc-datetime"}
        #: Types of which most values stay, as ``OFTEN`` says of some.
        self._often_stay: set[type] = {float} if self._finite_stay else set()
        if moments_stay:
            self._often_stay.add(datetime)

    def changed(self, records: list[Any], first_record: int) -> list[Any]:
        if self._all_stay(records):
            return records
        made = self._by_columns(records, first_record)
        return super().changed(records, first_record) if made is None else made

    def _by_columns(self, records: list[Any], first_record: int) -> list[Any] | None:
        """The records, whose columns stay or become text as a whole; None where some do not."""
        columns = by_columns.columns_of(records)
        made = columns and self.changed_columns(columns, first_record)
        if not made or made is columns:
            return records if made else None
        return by_columns.records_of(made)

    def changed_columns(self, columns: Columns, first_record: int) -> Columns | None:
        """As ``changed``, of records as their columns; None where it takes the records."""
        if str not in self.plain_keys:
            return None
        rules = by_columns.ColumnRules(self._rules, self._refused, self._never, _CHANGES)
        found: dict[str, TextColumn] = {}
        for name, values in columns.items():
            kinds = set(map(type, values))
            stays = kinds <= self.plain or self._all_stay([*values])
            if stays and by_columns.are_shallow(values, kinds):
                continue
            became = rules.text_of(values)
            if became is None:
                return None
            found[name] = became
        for name, became in sorted(found.items(), key=lambda item: item[1].first):
            self.record = first_record + became.first
            with self.at(name):
                self.note(became.rule, columns[name][became.first], became.values[became.first])
            self._counts[became.rule] += became.changed - 1
        return {**columns, **{n: each.values for n, each in found.items()}} if found else columns

    def _all_stay(self, records: list[Any]) -> bool:
        """Whether nothing can be changed, as the types of all values say, looked at by C code."""
        if str not in self.plain_keys:
            return False
        for containers, values, kinds in by_level(records):
            if len(values) != sum(map(len, containers)):
                return False  # there are keys among them, which are no text
            if odd := kinds - self._stays:
                if not odd <= self._often_stay:
                    return False
                for kind in odd:
                    of_kind = map(partial(is_, kind), map(type, values))
                    if not OFTEN[kind](compress(values, of_kind)):
                        return False
        return True

    def value(self, value: Any) -> Any:
        """What a value becomes that holds no others; itself where it stays."""
        if type(value) is str and value.isascii():
            return value
        if type(value) is float and self._finite_stay and math.isfinite(value):
            return value
        kind = kind_of(value)
        if kind not in self.active or (kind not in self._never and self._holds(value)):
            return value
        return self._by_rules(value, kind)

    def key(self, key: Any) -> Any:
        """What a key becomes; itself where it stays."""
        if type(key) is str and key.isascii():
            return key
        kinds = key_kind(key), kind_of(key)
        kind = next((kind for kind in kinds if kind in self.active), None)
        # What is never held as a value may be held as a key.
        never = kind == kinds[0] and kind in self._never
        if kind is None or (not never and self._holds({key: "x"})):
            return key
        became = self._by_rules(key, kind, is_key=True)
        return became if is_hashable(became) else key

    def _by_rules(self, value: Any, kind: str, *, is_key: bool = False) -> Any:
        """What the first of the rules that fit makes of a value of ``kind``, and others of that."""
        steps: list[tuple[str, Any, Any]] = []
        now = value
        while kind in self._refused:
            rule, became = next(self._tries(now, kind), ("", now))
            if became is now:
                break
            if steps and steps[-1][0] == rule:  # of a NaN its bits, and then itself
                now = steps.pop()[1]
            steps.append((rule, now, became))
            if became is OMITTED or type(became) in _CONTAINERS:
                self.note(*steps[-1])
                return became if became is OMITTED else self.walked(became)
            now, kind = became, (is_key and key_kind(became)) or kind_of(became)
        if not steps:
            return value
        if kind in self._refused and (
            kind in self._never or not self._holds({now: "x"} if is_key else now)
        ):
            return value
        for step in steps:
            self.note(*step)
        return now

    def _tries(self, value: Any, kind: str) -> Iterator[tuple[str, Any]]:
        """What each of the rules for ``kind`` makes of a value, where it makes anything of it."""
        for rule in self._rules.get(kind, ()):
            became = _CHANGES[rule](value)
            if became is not value and (
                rule in self._asked or can_be_read_back(rule, value, became)
            ):
                yield rule, became


# Kept: it takes more than a column of few values does, of which a table may have very many.
@lru_cache(maxsize=64)
def _rules_for(allowed: frozenset[str], refused: frozenset[str]) -> dict[str, list[str]]:
    """The rules of ``allowed`` for each kind of ``refused`` that has any, in their order."""
    found: dict[str, list[str]] = {}
    for name in _CHANGES:
        if name in allowed:
            for kind in refused:
                if kind in RULES[name].kinds or (name, kind) in MORE:
                    found.setdefault(kind, []).append(name)
    return found


#: Types of values that hold no others, and the kinds that theirs may be.
_TYPES: dict[type, frozenset[str]] = {
    type(None): frozenset({"null"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "inexact-integer", "uint64", "bigint"}),
    float: frozenset({"float", "integral-float", "non-finite", "nan-bits"}),
    str: frozenset({"surrogates"}),
    bytes: frozenset({"bytes"}),
    bytearray: frozenset({"bytearray"}),
    datetime: RULES["timestamps"].kinds | RULES["zones"].kinds,
    date: frozenset({"date"}),
    time: frozenset({"time"}),
    timedelta: frozenset({"timedelta"}),
    Decimal: frozenset({"decimal"}),
    complex: frozenset({"complex"}),
}


def _base64(value: bytes | bytearray) -> str:
    return b64encode(value).decode()


def _moment(value: Any) -> Any:
    """ISO 8601 for a date, a time or a duration; the value itself where that has no words."""
    if isinstance(value, timedelta):
        return duration_text(value)
    if isinstance(value, date | time):
        return value.isoformat()
    fine = fine_kind(type(value))
    if fine == UTC_TIME:
        try:
            whole = type(value)(value.seconds).to_datetime()
        except OverflowError:
            return value
        return whole.strftime("%Y-%m-%dT%H:%M:%S") + f".{value.nanoseconds:09}+00:00"
    if fine == LOCAL_TIME:
        return str(value)
    if fine == DURATION:
        try:
            return nanoseconds_text(nanoseconds_of(value))
        except ValueError:  # of another unit, or none
            return value
    return value


_WORDS = {None: "null", True: "true", False: "false"}


def _json_text(value: Any) -> str:
    """The text that JSON has for null, a boolean or a number; for others what Python has."""
    if value is None or type(value) is bool:
        return _WORDS[value]
    if type(value) is float and value - value != 0:
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return str(value)


def _key_text(key: Any) -> Any:
    """The text that a key becomes; the key itself where JSON has none for it."""
    if type(key) in (bytes, bytearray):
        return _base64(key)
    if type(key) in (type(None), bool, float, Decimal, Fraction, UUID):
        return _json_text(key)
    if type(key) is complex:
        return complex_text(key)
    if type(key) is tuple:
        try:
            return json.dumps(_key_parts(key), ensure_ascii=False, separators=(",", ":"))
        except TypeError:  # of what is in it JSON has no words for, either
            return key
    if type(key) is int:
        return key if key.bit_length() > 14280 else str(key)  # beyond Python's limit of digits
    return _moment(key)


def _key_parts(key: Any) -> Any:
    """What JSON holds of a tuple that is a key: a list, and in it others as if they were keys."""
    if type(key) is tuple:
        return [_key_parts(part) for part in key]
    if key is None or type(key) in (str, bool, int) or (type(key) is float and math.isfinite(key)):
        return key
    return _key_text(key)


_SURROGATES = re.compile("[\ud800-\udfff]")


def _digits(value: Any) -> Any:
    return str(value) if type(value) in (Decimal, Fraction, UUID) else value


def _extended(value: Any) -> Any:
    """MongoDB's Extended JSON of a value of BSON's own types, relaxed; others stay."""
    if type(value).__module__.partition(".")[0] != "bson":
        return value
    from bson.json_util import RELAXED_JSON_OPTIONS, dumps

    try:
        return json.loads(dumps(value, json_options=RELAXED_JSON_OPTIONS))
    except (TypeError, ValueError, OverflowError):
        return value


def _of_tag(value: Any) -> Any:
    """A map of one key, the tag: of YAML as it is written, of others as ``--tagged`` has it."""
    if type(value) is YamlTag or type(value).__module__.partition(".")[0] not in _TAGGING:
        return as_map(value)
    # What it takes to know libraries is loaded for such values alone.
    from serialpack.conversion.tagging.library_tags import shallow_tag

    try:
        return shallow_tag(value)
    except (ValueError, TypeError, OverflowError):
        return value


#: Libraries with tags and extension types, of which no value has a spelling but by its number.
_TAGGING = frozenset({"cbor2", "msgpack"})


def _of_library(value: Any) -> Any:
    """An array, a scalar or a table of a library as plain values; the value itself where it is
    none, holds what no value is, or would lose what nobody is told of here."""
    # What it takes to know libraries is loaded for such values alone.
    from serialpack.conversion.losses.library_values import ARRAY_RULE, PlainMaker

    maker = PlainMaker()
    try:
        (became,) = maker.changed([value], 0)
    except RefusedError:
        return value
    return became if all(loss.rule == ARRAY_RULE for loss in maker.losses()) else value


def _of_class(value: Any) -> Any:
    """What an object says without its class; the value itself where that is not all of it."""
    kind = type(value)
    if kind_of(value) != "object":
        return value
    if (became := _of_library(value)) is not value:
        return became
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, deque | range):
        return list(value)
    base = next((each for each in kind.__mro__ if each in WITH_CONTENTS), None)
    try:
        found = attributes(value)
        if base is None:
            is_all = kind is SimpleNamespace or whole(value) is NOTHING
            return found if is_all and {*map(type, found)} <= {str} else value
        if found:
            return value
        if hasattr(value, "_asdict"):
            return value._asdict()
        return base(value) if base in _CONTAINERS else plain(value)
    except Exception:  # whatever a class of somebody's raises
        return value


#: Types of what ``_of_class`` makes that holds other values.
_CONTAINERS = frozenset({dict, list, tuple, set, frozenset})

#: What becomes of a value by a rule; the value itself where there is nothing. In the order in
#: which they are tried.
_CHANGES: dict[str, Callable[[Any], Any]] = {
    "null": lambda _: OMITTED,
    "bson": _extended,
    "bytes": _base64,
    "timestamps": _moment,
    "tags": _of_tag,
    "zones": _moment,
    "decimals": _digits,
    "complex": complex_text,
    "keys": _key_text,
    "signs": lambda value: -value if kind_of(-value) == "non-finite" else value,
    "nan": lambda value: math.nan if kind_of(value) == "nan-bits" else None,
    "bigint": str,
    UTF8: lambda text: _SURROGATES.sub("\ufffd", text),
    "arrays": _of_library,
    "objects": _of_class,
    "types": _json_text,
}
