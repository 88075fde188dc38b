"""Which part of a value is refused alone. Halves of many are tried together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from serialpack.values.kinds import Difference, value_step
from serialpack.values.models import is_model, model_state
from serialpack.values.pickled_state import kept_in_attributes


def first_refused(parts: Sequence[Any], refused: Callable[[Any], object]) -> int:
    """The number of the first of ``parts`` that is ``refused`` alone, -1 where none is.

    ``refused``: says whether some of them, together, are not held; what is held together is held
    alone, too.
    """
    if not parts or not refused(parts):
        return -1
    if len(parts) == 1:
        return 0
    half = len(parts) // 2
    if (at := first_refused(parts[:half], refused)) >= 0:
        return at
    at = first_refused(parts[half:], refused)
    return at if at < 0 else half + at


def with_reason(lost: Difference, why: str) -> Difference:
    """``lost``, with ``why`` the object there, or one in the array, is not held, where that says
    more than that it is not, and nothing else is said."""
    is_told = lost.because or lost.instead is not None or why.startswith("cannot hold ")
    if is_told or lost.kind not in ("object", "number-array"):
        return lost
    return lost._replace(because=why)


def innermost(
    record: Any, failure: Callable[[list[Any]], object], *, objects: bool
) -> tuple[str, Any, bool]:
    """The innermost part of ``record`` that is refused alone, its path, and whether it is a key.

    ``failure`` says whether some records, together, are not held. ``objects``: whether attributes
    of objects are such parts, too.
    """
    # Parts of a map are tried in a map: some formats take no other records.
    in_map = issubclass(type(record), dict)
    path, value, met = "$", record, set()
    while id(value) not in met and (found := _parts(value, objects=objects)):
        met.add(id(value))
        keys, parts = found
        if issubclass(type(value), dict):
            at = first_refused(keys, lambda some: failure([dict.fromkeys(some, "x")]))
            if at >= 0:
                return path, keys[at], True
        at = first_refused(parts, lambda some: failure(_in_map(some) if in_map else some))
        if at < 0:
            break
        path += value_step(keys[at]) if keys else f"[{at}]"
        value = parts[at]
    return path, value, False


def _parts(value: Any, *, objects: bool) -> tuple[list[Any], list[Any]] | None:
    """The keys and the parts of a value of which one may be refused alone; no keys of a list. A
    tuple with a name of its own is one value."""
    kind: Any = type(value)  # what stands for another object says that it is of its class
    if issubclass(kind, dict):  # whatever a class of somebody's makes of that
        return list(dict.keys(value)), list(dict.values(value))
    if issubclass(kind, list):
        return [], [*list.__iter__(value)]
    if kind is tuple:
        return [], list(value)
    held = _held(value) if objects else None
    return None if held is None else ([*held], [*held.values()])


def _held(value: Any) -> dict[str, Any] | None:
    """What an object has by names, where its class says nothing else of it to pickle."""
    cls: Any = type(value)
    if is_model(cls):
        fields: dict[str, Any] = model_state(value)[0]
        return fields
    # attrs itself gives classes with slots such a method.
    if getattr(getattr(cls, "__getstate__", None), "__name__", "") == "slots_getstate":
        names = [field.name for field in cls.__attrs_attrs__]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    return kept_in_attributes(value)


def _in_map(parts: list[Any]) -> list[Any]:
    return [{f"x{number}": part for number, part in enumerate(parts)}]
