"""The commands that join files in one of a format that has no way to be written on."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from itertools import islice

import click

from serialpack.cli.naming import STDIO, typed_words
from serialpack.conversion.losses.rules import DATABASES, TEXT_TABLES

#: A hint of commands is no longer.
_LONGEST = 200

#: Options that say where to, which is said anew.
_WHERE = frozenset({"-o", "--output", "-t", "--to"})

#: Those that a pipe has no use for, or that do not go with one.
_OF_FILES = frozenset({"--rm", "-k", "--keep", "--skip-existing", "--dry-run", "-N", "--name"})
_OF_FILES |= {"--json"}

#: Those that say what columns of text become, and what is written.
_OF_TARGETS = frozenset({"--infer", "--types", "--flatten", "--indent", "--ascii", "-f", "--force"})

#: Those that both commands need.
_OF_BOTH = frozenset({"--lossy", "--strict", "--separator"})


def joining_command(output: str, to: str, formats: set[str]) -> str:
    """The commands by which what was typed becomes the one file ``output``, in the format ``to``:
    with all else that was typed, where that is one line to read.

    ``formats``: of the inputs, as their names say. The rows of tables of text pass as such a table,
    so that their columns get types together; if not, their cells are values then.
    """
    context = click.get_current_context()
    typed = typed_words()
    typed = typed[typed.index(str(context.command.name)) + 1 :]
    before, end = list[str](), list[str]()
    values = False
    for option, words in _options(context, typed):
        values = values or option in ("--typed", "--nest")
        of_target = option in _OF_TARGETS or (option == "--table" and to in DATABASES)
        of_source = not of_target or (option == "--table" and not formats.isdisjoint(DATABASES))
        if option in _WHERE or option in _OF_FILES:
            continue
        if of_source:
            before += words
        if of_target or option in _OF_BOTH:
            end += words
    through = "csv" if formats <= TEXT_TABLES and not values else "ndjson"
    start = ["--to", through, "-o", STDIO]
    into = shlex.join(["serialpack", "unpack", "-F", through, *end, "-o", output])
    whole = f"{shlex.join(['serialpack', 'unpack', *start, *before])} | {into}"
    return whole if len(whole) <= _LONGEST else f"{shlex.join(start)} | {into}"


def _options(context: click.Context, typed: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Each option that was typed, with all its words, and each other word, whose option is empty.

    ``--nest`` may have a value, which is taken for another word: it stands behind it again.
    """
    options = [each for each in context.command.params if isinstance(each, click.Option)]
    flags = [{*each.opts, *each.secondary_opts} for each in options if each.is_flag]
    may_stand_alone = {"--nest"}.union(*flags)
    words = iter(typed)
    for word in words:
        if word == "--":
            yield "", [word, *words]
        elif word.startswith("--"):
            option, is_set, _ = word.partition("=")
            alone = is_set or option in may_stand_alone
            yield option, [word] if alone else [word, *islice(words, 1)]
        elif word.startswith("-") and word != STDIO:
            yield from _short(word[1:], words, may_stand_alone)
        else:
            yield "", [word]


def _short(
    letters: str, words: Iterator[str], may_stand_alone: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """The options of one letter that stand in a word: ``-qfo``, ``-oNAME``."""
    while letters:
        option, letters = f"-{letters[0]}", letters[1:]
        if option not in may_stand_alone:
            yield option, [option, *([letters] if letters else islice(words, 1))]
            return
        yield option, [option]
