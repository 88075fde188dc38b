"""The records at a path within a document: ``statuses``, ``data.items``.

They are those of the list that is there; a map is one document. Elements of XML are a list where
there are several: at a path below the root they are the records, however many there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from serialpack.errors import UsageError, ValueRefusedError, Ways
from serialpack.text import quoted
from serialpack.values.kinds import AROUND, Loss, shown, value_step

#: So many keys of a map are named.
_FEW = 5

#: Lists are looked for in so many maps, which may be one and the same, down to so many levels.
_MOST_MAPS, _DEEPEST = 1000, 8
_WITH_KEYS = frozenset({dict, list})


class Lists(NamedTuple):
    """The lists of maps that a document is made of alone, two or more of which one is not empty:
    their ``names``, those of the ``empty`` ones, and the path ``above`` them, none or with a dot
    behind it."""

    above: str = ""
    names: tuple[str, ...] = ()
    empty: frozenset[str] = frozenset()

    def place(self, name: str = "") -> str:
        """The place of that list in the document; without a name that of the map."""
        steps = [*self.above.split(".")[:-1], *([name] if name else [])]
        return "$" + "".join(map(value_step, steps))


def value_at(
    document: Any, path: str, *, may_lose: bool, elements: bool
) -> tuple[list[Any] | dict[Any, Any], str, list[Loss]]:
    """The list or the map at ``path``, its place, and what stands around it, which is lost.
    ``elements``: of XML.

    UsageError where there is none; ValueRefusedError where something stands around it and
    ``may_lose`` is not said.
    """
    value, steps, around = document, "$", list[str]()
    keys = [path] if type(document) is dict and path in document else path.split(".")
    for number, key in enumerate(keys):
        around += [steps + other for other in _others(value, key)]
        below = elements and number > 0
        step = f"[{key}]" if type(value) is list else value_step(key)
        if below and value is None and number == len(keys) - 1:
            value = []  # an element without any in it
        else:
            value = _step(value, key, steps, path)
        steps += step
    if below and type(value) is not list:
        value = [value]
    if type(value) not in (dict, list):
        raise UsageError(
            f"--at {path}: {steps} is {shown(value)}, no list and no map", hint=_lists(value)
        )
    if not around:
        return value, steps, []
    told = ", ".join(around[:_FEW]) + (", ..." if len(around) > _FEW else "")
    if not may_lose:
        raise ValueRefusedError(
            f"around the records of --at {path} would be lost: {told}",
            kind=AROUND,
            hint=Ways((AROUND,), "leaves it out"),
        )
    return value, steps, [Loss(AROUND, len(around), 0, around[0], told, "")]


def _step(value: Any, key: str, steps: str, path: str) -> Any:
    if type(value) is dict and key in value:
        return value[key]
    if type(value) is list and key.isdigit() and int(key) < len(value):
        return value[int(key)]
    raise UsageError(f"--at {path}: {steps} has no {key!r}", hint=_lists(value))


def _others(value: Any, key: str) -> list[str]:
    """The steps to what is beside ``key``."""
    if type(value) is dict:
        return [value_step(other) for other in value if other != key]
    if type(value) is list:
        return [f"[{number}]" for number in range(len(value)) if str(number) != key]
    return []


def _lists(value: Any) -> str:
    """Which lists there are, and keys."""
    if type(value) is not dict:
        return "it names a list, or a map, in a map"
    lists = lists_in(value)
    if lists:
        return "lists there: " + ", ".join(map(quoted, lists[:_FEW]))
    names = ", ".join(map(str, list(value)[:_FEW]))
    return f"keys there: {names}" if names else "it is empty"


def lists_in(document: dict[Any, Any]) -> list[str]:
    """The keys of a map under which there are lists of maps; where there are none, paths to those
    in the maps below it, of the level at which there are some first, if they are few."""
    level = [("", document)]
    for _ in range(_DEEPEST):
        steps = [
            (above, key, value)
            for above, parts in level
            for key, value in parts.items()
            if type(value) in _WITH_KEYS and type(key) is str and not (above and "." in key)
        ]
        found = [
            above + key
            for above, key, value in steps
            if type(value) is list and value and all(type(item) is dict for item in value)
        ]
        if found:
            return found if len(level) == 1 or len(found) <= _FEW else []
        level = [
            (f"{above}{key}.", value)
            for above, key, value in steps
            if type(value) is dict and "." not in key
        ]
        if len(level) > _MOST_MAPS:
            break
    return []


def only_lists(document: dict[Any, Any], *, elements: bool) -> Lists:
    """The lists that a map, or one in a root element, is made of alone; without names where it is
    more. ``elements``: of XML, of which some may be lists of one or none, if others are lists."""
    above = ""
    if elements and len(document) == 1:
        ((key, inner),) = document.items()
        if type(inner) is dict:
            above, document = f"{key}.", inner
    lists = {key for key, value in document.items() if type(value) is list}
    filled = {key for key in lists if document[key]}
    for key, value in document.items():
        inside = value if key in lists else [value] if elements and value is not None else []
        known = key in lists or elements
        if not (known and type(key) is str and all(type(item) is dict for item in inside)):
            return Lists()
    if len(document) < 2 or not filled:
        return Lists()
    empty = frozenset(key for key, value in document.items() if value is None or value == [])
    return Lists(above, tuple(document), empty)
