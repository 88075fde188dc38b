"""``Changer``: walks records and makes others of them in which some values are changed, counted.

What is not changed stays the very same object, and nothing that was given is written to. What
stands in several places is changed once, stays shared, and counts in each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from typing import Any

from serialpack.errors import ValueRefusedError
from serialpack.formats.shared.recursion import frames_for
from serialpack.values.kind_of import kind_of
from serialpack.values.kinds import Loss, Spelled, key_kind, shown, value_step
from serialpack.values.sets import in_order

#: Calls that each level of containers takes here.
_CALLS = 2

#: Stands for a container whose end has not come yet: met again, it holds itself.
_OPEN: Any = object()


#: What ``value`` gives for a value of a map that is to be left out, with its key.
OMITTED: Any = type("Omitted", (), {"__repr__": lambda _: "nothing"})()


class _Endless(Exception):
    """A container that holds itself."""


class Changer:
    """Walks records. A subclass says what becomes of a value that is no container, and of a key."""

    #: Types of values, and of keys, that stay as they are: they are not asked about.
    plain: frozenset[type] = frozenset()
    plain_keys: frozenset[type] = frozenset()
    #: Types of sequences that become lists.
    as_lists: frozenset[type] = frozenset()

    def __init__(self) -> None:
        self.record = 0
        self._counts: dict[str, int] = {}
        self._firsts: dict[str, Loss] = {}
        self._steps: list[tuple[Callable[[Any], str], Any]] = []
        #: By the id of a container: what became of it, how often each rule changed some of it, and
        #: itself, so that nothing else gets its id.
        self._met: dict[int, tuple[Any, dict[str, int], Any]] = {}
        self._walks: dict[type, Callable[[Any], Any]] = {
            dict: self.in_map,
            **dict.fromkeys((list, tuple), self._in_list),
            **dict.fromkeys((set, frozenset), self._in_set),
        }

    def changed(self, records: list[Any], first_record: int) -> list[Any]:
        """The records, the very same list where nothing is changed.

        One that holds itself, or is nested more deeply than anything is read, stays as it is.
        ValueRefusedError where two keys of a map, or elements of a set, would become one.
        """
        made = []
        with frames_for(_CALLS):
            for self.record, record in enumerate(records, first_record):
                before = dict(self._counts), dict(self._firsts)
                try:
                    made.append(self.walked(record))
                except (_Endless, RecursionError):
                    made.append(record)
                    self._counts, self._firsts = before
                    self._met.clear()
                    self._steps.clear()
        self._met.clear()
        same = all(new is old for new, old in zip(made, records, strict=True))
        return records if same else made

    def losses(self) -> list[Loss]:
        """What was changed, by rule, in no order."""
        return [first._replace(count=self._counts[rule]) for rule, first in self._firsts.items()]

    def value(self, value: Any) -> Any:
        """What becomes of ``value``, which is no container; of a change, ``note`` is told."""
        return value

    def key(self, key: Any) -> Any:
        """What becomes of ``key``, of a map; of a change, ``note`` is told."""
        return key

    def said(self, key: Any) -> Any:
        """What messages and paths say for a key, the number of an element, or an element."""
        return key

    def note(self, rule: str, was: Any, became: Any) -> None:
        """Note that ``was`` becomes ``became``, at the place where the walk is now."""
        count = self._counts.get(rule, 0)
        self._counts[rule] = count + 1
        if not count:
            parts = shown(_told(was)), shown(_told(became))
            self._firsts[rule] = Loss(rule, 1, self.record, self.path, *parts)

    @contextmanager
    def at(self, key: Any) -> Iterator[None]:
        """Walk within ``key`` of a map."""
        self._steps.append((value_step, key))
        yield
        self._steps.pop()

    @property
    def path(self) -> str:
        """Where the walk is, by the keys that the records had."""
        return "$" + "".join(spelled(self.said(step)) for spelled, step in self._steps)

    def walked(self, value: Any) -> Any:
        """What becomes of a value, and of all that is in it."""
        walk = self._walks.get(type(value))
        if walk is None:
            return self.value(value)
        known = self._met.get(id(value))
        if known is not None:
            if known[0] is _OPEN:
                raise _Endless
            for rule, count in known[1].items():
                self._counts[rule] += count
            return known[0]
        self._met[id(value)] = (_OPEN, {}, value)
        before = dict(self._counts)
        became = walk(value)
        more = {} if before == self._counts else _more(before, self._counts)
        self._met[id(value)] = (became, more, value)
        return became

    def in_map(self, value: dict[Any, Any]) -> dict[Any, Any]:
        keys: dict[Any, Any] = {}
        parts: dict[Any, Any] = {}
        for key, part in value.items():
            plain_key, plain = type(key) in self.plain_keys, type(part) in self.plain
            if plain_key and plain:
                continue
            self._steps.append((value_step, key))
            if not plain_key and (other := self.key(key)) is not key:
                keys[key] = other
            if not plain and (became := self.walked(part)) is not part:
                parts[key] = became
            self._steps.pop()
        if not keys:
            return _without_omitted({**value, **parts}, parts) if parts else value
        made: dict[Any, Any] = {}
        for key, part in value.items():
            other = keys.get(key, key)
            if other in made:
                first = next(before for before in value if keys.get(before, before) == other)
                raise self._merged("keys", first, key, other)
            made[other] = parts.get(key, part)
        return _without_omitted(made, parts)

    def _in_list(self, values: Any) -> Any:
        made, same, plain = list(values), True, self.plain
        for number, value in enumerate(values):
            if type(value) not in plain:
                self._steps.append((_numbered, number))
                became = self.walked(value)
                self._steps.pop()
                if became is not value and became is not OMITTED:
                    made[number], same = became, False
        kind = type(values)
        if kind in self.as_lists:
            self.note("sequences", values, "a list")
            return made
        return values if same else kind(made)

    def _in_set(self, values: Any) -> Any:
        made: list[Any] = []
        hashed: dict[Any, Any] = {}
        same, in_list = True, type(values) in self.as_lists
        for value in in_order(values) if in_list else values:
            self._steps.append((_braced, value))
            became = self.walked(value)
            self._steps.pop()
            if not is_hashable(became):
                became = became if in_list else value
            elif became in hashed:
                raise self._merged("elements", hashed[became], value, became)
            else:
                hashed[became] = value
            made.append(became)
            same = same and became is value
        if in_list:
            self.note("sequences", values, "a list")
            return made
        return values if same else type(values)(made)

    def _merged(self, what: str, first: Any, second: Any, became: Any) -> ValueRefusedError:
        both = f"{shown(self.said(first))} and {shown(self.said(second))}"
        return ValueRefusedError(
            f"the {what} {both} would both become {shown(became)}",
            record=self.record,
            value_path=self.path,
            kind=key_kind(second) or kind_of(second),
            hint="--to cbor, yaml or pickle can",
        )


def is_hashable(value: Any) -> bool:
    """Whether ``value`` may be a key of a map, or an element of a set."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _without_omitted(made: dict[Any, Any], parts: dict[Any, Any]) -> dict[Any, Any]:
    if OMITTED not in parts.values():
        return made
    return {key: part for key, part in made.items() if part is not OMITTED}


def _told(value: Any) -> Any:
    """What a message says for a value: of dates and times the part that tells them apart."""
    if isinstance(value, timedelta):
        return Spelled(value)
    return Spelled(value.isoformat()) if isinstance(value, date | time) else value


def _more(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {rule: n - before.get(rule, 0) for rule, n in after.items() if n > before.get(rule, 0)}


def _numbered(number: int) -> str:
    return f"[{number}]"


def _braced(element: Any) -> str:
    return f"{{{shown(element)}}}"
