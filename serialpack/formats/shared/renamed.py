"""Columns of one name, which get names of their own where the rule ``renamed`` says so."""

from __future__ import annotations

from serialpack.text import unique_names
from serialpack.values.kinds import RENAMED, Loss, shown, value_step


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
