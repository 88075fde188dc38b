"""Completion scripts for bash, zsh and fish, from the declarations.

They are static: no shell starts serialpack to complete a word. All three offer the same: verbs,
options, names of stages and formats, the values after a stage's colon, and files.
"""

from __future__ import annotations

from collections.abc import Iterable

from tools._completion_bash import bash
from tools._completion_fish import fish
from tools._completion_zsh import zsh
from tools._facts import verbs, words


def scripts() -> dict[str, str]:
    """File name -> the script."""
    found, offered = verbs(), words()
    return {
        "serialpack.bash": _text(bash(found, offered)),
        "_serialpack": _text(zsh(found, offered)),
        "serialpack.fish": _text(fish(found, offered)),
    }


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
