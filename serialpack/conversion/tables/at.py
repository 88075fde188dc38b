"""The list of records at a path within a document: ``statuses``, ``data.items``."""

from __future__ import annotations

from typing import Any

from serialpack.errors import UsageError, ValueRefusedError
from serialpack.values.kinds import AROUND, Loss, shown, value_step

#: So many keys of a map are named.
_FEW = 5


def records_at(document: Any, path: str, *, may_lose: bool) -> tuple[list[Any], list[Loss]]:
    """The list at ``path``, and what stands around it, which is lost.

    UsageError where there is none; ValueRefusedError where something stands around it and
    ``may_lose`` is not said.
    """
    value, steps, around = document, "$", list[str]()
    keys = [path] if type(document) is dict and path in document else path.split(".")
    for key in keys:
        around += [steps + other for other in _others(value, key)]
        value = _step(value, key, steps, path)
        steps += value_step(key)
    if type(value) is not list:
        raise UsageError(
            f"--at {path}: {steps} is {_named(value)}, and no list", hint=_lists(value, path)
        )
    if not around:
        return value, []
    told = ", ".join(around[:_FEW]) + (", ..." if len(around) > _FEW else "")
    if not may_lose:
        raise ValueRefusedError(
            f"around the records of --at {path} would be lost: {told}",
            kind=AROUND,
            hint=f"--lossy {AROUND} leaves it out",
        )
    return value, [Loss(AROUND, len(around), 0, around[0], told, "")]


def _step(value: Any, key: str, steps: str, path: str) -> Any:
    if type(value) is dict and key in value:
        return value[key]
    if type(value) is list and key.isdigit() and int(key) < len(value):
        return value[int(key)]
    raise UsageError(f"--at {path}: {steps} has no {key!r}", hint=_lists(value, ""))


def _others(value: Any, key: str) -> list[str]:
    """The steps to what is beside ``key``."""
    if type(value) is dict:
        return [value_step(other) for other in value if other != key]
    if type(value) is list:
        return [f"[{number}]" for number in range(len(value)) if str(number) != key]
    return []


def _lists(value: Any, path: str) -> str:
    """Which lists there are, and keys."""
    if type(value) is not dict:
        return "it names a list in a map"
    lists = lists_in(value)
    if lists:
        return "lists there: " + ", ".join(f"{path}.{key}".lstrip(".") for key in lists[:_FEW])
    names = ", ".join(map(str, list(value)[:_FEW]))
    return f"keys there: {names}"


def lists_in(document: dict[Any, Any]) -> list[str]:
    """The keys of a map under which there are lists of maps, or paths below its only key."""
    above = ""
    while len(document) == 1:
        ((key, inner),) = document.items()
        if type(inner) is not dict:
            break
        above, document = f"{above}{key}.", inner
    return [
        f"{above}{key}"
        for key, value in document.items()
        if type(value) is list and value and all(type(item) is dict for item in value)
    ]


def _named(value: Any) -> str:
    return "a map" if type(value) is dict else shown(value)
