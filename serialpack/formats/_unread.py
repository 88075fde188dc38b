"""Refusals of what a source says and no value of Python holds, or only at the cost of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.kinds import Difference

#: What each source may unfold to, beside twice its own size: values, and bytes of text.
_UNFOLDED = 1_000_000


def not_held(lost: Difference, message: str = "") -> ValueRefusedError:
    """The error for a value that is in the source and can be in no serializer."""
    return ValueRefusedError(
        message or f"Python has no value for {lost.was}",
        record=lost.record,
        value_path=lost.value_path,
        kind=lost.kind,
        hint="pack -s raw keeps the bytes",
    )


def check_unfolded(
    records: list[Any], size: int, inside: Callable[[Any], Iterable[Any]] | None = None
) -> None:
    """RefusedError where values that stand in many places of ``records`` would be, written out,
    far larger than their source of ``size`` bytes; without end where they hold themselves.

    ``inside``: the values in one of a type that is not Python's own.
    """
    left = 2 * size + _UNFOLDED
    stack: list[Any] = [records]
    while stack:
        value = stack.pop()
        parts: Iterable[Any] = ()
        if isinstance(value, str | bytes):
            left -= len(value)
        elif isinstance(value, list | tuple | set | frozenset):
            left -= len(value)
            parts = value
        elif isinstance(value, dict):
            left -= 2 * len(value)
            parts = (part for item in value.items() for part in item)
        elif inside is not None:
            parts = inside(value)
        if left < 0:
            raise RefusedError(
                "values that it refers to hold themselves, or unfold to far more than the file",
                hint="pack -s raw keeps the bytes",
            )
        stack.extend(parts)
