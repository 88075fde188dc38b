"""What the completion scripts of all shells share."""

from __future__ import annotations

from tools._facts import OptionFacts, Word

HEADER = "completion for serialpack. Made by tools/generate.py; do not edit."


def with_levels(offered: dict[str, list[Word]]) -> dict[str, list[Word]]:
    """The kinds some of whose words take a value after a colon."""
    return {kind: found for kind, found in offered.items() if any(w.levels for w in found)}


def about_of(option: OptionFacts) -> str:
    return no_stop(option.about)


def no_stop(text: str) -> str:
    return text if text.endswith("..") else text.removesuffix(".")
