"""How a verb says something of a file: a line for people, one of ``--json``, an error in that."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from serialpack.cli.lines import pieces_of
from serialpack.cli.naming import STDIO
from serialpack.cli.options.requests import Manner
from serialpack.cli.words import note, screen
from serialpack.errors import ArchiveError, DamagedError, SerialpackError

#: Where what is said waits, if it does.
_waiting: list[Callable[[], object]] | None = None


@contextmanager
def said_later(waiting: list[Callable[[], object]]) -> Iterator[None]:
    """What is said meanwhile is not, but put into ``waiting``, to be called once it is true: of an
    output that several inputs become nothing is done before all of it stands."""
    global _waiting
    before, _waiting = _waiting, waiting
    try:
        yield
    finally:
        _waiting = before


def in_time(act: Callable[[], object]) -> None:
    """Do ``act``, by which something is said, now or later."""
    if _waiting is None:
        act()
    else:
        _waiting.append(act)


def say(manner: Manner, line: str, *, verbose_only: bool = False) -> None:
    """A closing line, unless quiet."""
    if not manner.quiet and (manner.verbose or not verbose_only):
        in_time(partial(note, line))


def print_line(manner: Manner, line: dict[str, Any]) -> None:
    """A line of ``--json``, where it is asked for and there is something to say."""
    if manner.as_json and line:
        in_time(partial(_print, line))


def _print(line: dict[str, Any]) -> None:
    with screen.free():
        sys.stdout.writelines(pieces_of(line))
        print(flush=True)


def error_line(error: SerialpackError) -> dict[str, Any]:
    """What a line of ``--json`` says of ``error``."""
    line: dict[str, Any] = {"error": error.said, "exit": error.exit_code}
    if isinstance(error, DamagedError) and error.damage:
        line["damage"] = [each._asdict() for each in error.damage]
    if isinstance(error, ArchiveError):
        line["entries"] = len(error.failures)
    return line


def named(path: str) -> str:
    """``path`` as people call it."""
    return "standard input" if path in (STDIO, "<stdin>") else path


def rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {stage: round(spent, 6) for stage, spent in seconds.items()}
