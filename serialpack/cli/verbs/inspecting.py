"""``inspect`` of one file: a container, a store, a journal or anything else."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from serialpack import api
from serialpack.cli.files.standard_streams import data_of
from serialpack.cli.naming import STDIO
from serialpack.cli.options.chosen_entries import only_chosen
from serialpack.cli.reporting.bars import progress_bar
from serialpack.cli.reporting.inspected import line_of, show_found
from serialpack.cli.reporting.journal import is_journal
from serialpack.cli.reporting.say import named, say
from serialpack.cli.reporting.shapes import told_of_columns, told_of_containers
from serialpack.cli.words import complain
from serialpack.errors import DamagedError, UsageError
from serialpack.far import is_far, is_store
from serialpack.files.source import Source
from serialpack.stores.registry import store_in

if TYPE_CHECKING:
    from serialpack.cli.options.requests import InspectRequest

#: So many bytes show whether a file is a store, or a journal.
_BEGINNING = 32


def inspect_one(
    path: str, asked: InspectRequest, chosen: dict[str, Any], *, several: bool
) -> dict[str, Any]:
    """Tell what is in ``path``, of an archive the ``chosen`` entries; the line for ``--json``.

    A store, records (``--head``), a journal and any other file are told of each in its own way.
    """
    with _opened(path, asked) as source:
        begins = b""
        if isinstance(source, Source) and source.stat is not None:
            begins = source.peek(_BEGINNING)
        url = store_in(path, begins) or path
        if is_store(url) and not chosen:
            return _inspect_store(path, url, asked)
        if asked.head is not None:
            from serialpack.cli.verbs.heads import show_head

            show_head(source, asked)
            return {}
        if not chosen and is_journal(begins):
            return _inspect_journal(path, asked, several=several)
        return _inspect_file(source, path, asked, chosen, several=several)


def _opened(path: str, asked: InspectRequest) -> AbstractContextManager[str | IO[bytes] | Source]:
    """What ``path`` names, opened where it may be a store or a journal, which its first bytes tell:
    standard input, what has a URL and what is said to be of a format is neither."""
    if path == STDIO or asked.format is not None or is_store(path) or is_far(path):
        return nullcontext(data_of(path))
    return Source(path)


def _say_untold(path: str, asked: InspectRequest, what: str) -> None:
    """Say that ``--blocks`` and ``--columns`` tell nothing of ``path``, which is ``what``."""
    if said := told_of_containers(what, blocks=asked.blocks, columns=asked.columns):
        say(asked.manner, f"{named(path)}: {said}")


def _inspect_store(path: str, url: str, asked: InspectRequest) -> dict[str, Any]:
    from serialpack.cli.verbs.stores import inspect_store

    _say_untold(path, asked, "a store")
    line = inspect_store(url, asked)
    return line and {**line, "source": path}


def _inspect_journal(path: str, asked: InspectRequest, *, several: bool) -> dict[str, Any]:
    """Tell what the files of a journal sum up to; the line for ``--json``."""
    from serialpack.cli.reporting.journal_sums import show_sums, summed, sums_line

    _say_untold(path, asked, "a journal")
    sums = summed(path)
    if asked.manner.as_json:
        return sums_line(path, sums)
    show_sums(path, sums, several=several)
    return {}


def _inspect_file(
    source: str | IO[bytes] | Source,
    path: str,
    asked: InspectRequest,
    chosen: dict[str, Any],
    *,
    several: bool,
) -> dict[str, Any]:
    """As ``inspect_one``, of ``source``, a container or a file of any kind, named by ``path``.
    DamagedError where it is damaged, once what is left of it was told."""
    as_json, blocks, whole = asked.manner.as_json, asked.blocks, not chosen
    detailed = blocks or asked.columns or (asked.manner.verbose and whole)
    show = partial(show_found, path, several=several, detailed=detailed, whole=whole)
    try:
        with progress_bar(path, asked.manner):
            found = api.inspect(
                source, format=asked.format, table=asked.table, columns=asked.columns
            )
        if chosen:
            found = only_chosen(found, chosen)
    except DamagedError as error:
        from serialpack.cli.reporting.salvage import add_hint, left_of

        found = left_of(path, error)
        for place in found.damage:
            complain(str(place), named(path))
        if chosen:
            with suppress(UsageError):  # what is damaged may hide what was chosen
                found = only_chosen(found, chosen)
        if not as_json:
            show(found=found, blocks=blocks)
            raise
        add_hint(error, path)
        complain(error.said, named(path))
        return line_of(path, found, blocks)
    if found.shape is not None:
        _say_untold(path, asked, "none")
    elif said := told_of_columns(found, columns=asked.columns):
        say(asked.manner, f"{named(path)}: {said}")
    damage = found.damage_inside
    if as_json and damage is None:
        return line_of(path, found, blocks)
    if not as_json:
        show(found=found, blocks=blocks)
    if damage is not None:
        raise damage
    return {}
