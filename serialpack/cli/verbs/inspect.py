"""``serialpack inspect``."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from serialpack.cli.options.declared import (
    Size,
    Verb,
    Without,
    common_options,
    files_argument,
    from_option,
    input_options,
    is_given,
    shared_dict_option,
    table_options,
)
from serialpack.cli.options.requests import InspectRequest, request
from serialpack.far import is_store

if TYPE_CHECKING:
    pass

#: Options about files and what is in them, of which --stages takes none.
_OF_FILES = (
    *("blocks", "columns", "head", "max_size", "shared_dict", "format"),
    *("delimiter", "encoding", "no_header"),
    *("recursive", "include", "exclude", "gitignore", "files_from", "nul"),
)


@click.command(
    "inspect",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Tell what is in each FILE, of any kind, without unpacking it; no FILE: a pipe.",
    examples=(
        ("serialpack inspect data.json.spk", "stages, sizes, records, exactness"),
        ("serialpack inspect data.json", "its format, what auto would do"),
        ("serialpack inspect --head 3 data.json.spk", "its first records"),
        ("serialpack inspect --stages", "every serializer, filter and codec"),
    ),
    without=(
        Without("stages", "--stages lists what there is", _OF_FILES),
        Without("head", "--head shows records", ("blocks", "columns", "as_json"), is_given),
    ),
)
@click.option("--stages", is_flag=True, help="List serializers, filters and codecs.")
@click.option("--fidelity", is_flag=True, help="With --stages: which values each holds.")
@click.option("--blocks", is_flag=True, help="A line for each block.")
@click.option("--columns", is_flag=True, help="A line for each column: where the bytes are.")
@click.option("--head", type=click.IntRange(0), metavar="N", help="The first N records.")
@click.option("--max-size", type=Size(), metavar="SIZE", help="With --head: refuse to write more.")
@shared_dict_option
@from_option
@table_options("text")
@input_options
@common_options
@files_argument
@request(InspectRequest)
def command(asked: InspectRequest) -> int:
    from serialpack.cli.files.inputs import Takes, input_files
    from serialpack.cli.files.run import each_file, tell_found
    from serialpack.cli.files.workers import know
    from serialpack.cli.options.chosen import in_archives
    from serialpack.cli.reporting.far import hear_of_far
    from serialpack.detection.detect import check_table
    from serialpack.errors import WORST_FIRST, UsageError
    from serialpack.formats import FORMATS

    as_json = asked.manner.as_json
    if asked.fidelity and not asked.stages:
        raise UsageError("--fidelity goes with --stages")
    if asked.stages:
        from serialpack.cli.verbs.stage_list import show_fidelity, show_stages

        if asked.files:
            raise UsageError("--stages takes no FILE")
        if asked.fidelity and not as_json:
            show_fidelity()
        else:
            show_stages(as_json)
        return 0
    if asked.max_size is not None and asked.head is None:
        raise UsageError("--max-size goes with --head")
    nothing = not asked.files and asked.sources.files_from is None
    if nothing and (asked.sources.recursive or sys.stdin.isatty()):
        raise UsageError("name a FILE, - for standard input, or --stages")
    if asked.format is not None:
        FORMATS.source(asked.format)
    check_table(asked.table)  # of a container, which says it itself, nobody else looks at it
    know(asked.shared_dict)
    sources, chosen = in_archives(asked.sources)
    if chosen and (asked.head is not None or asked.blocks or asked.columns):
        hint = None
        if asked.head is not None:
            hint = f"unpack --records 0:{asked.head} --include GLOB -o - shows those of an entry"
        said = "--include lists entries of archives: it goes without --head, --blocks and --columns"
        raise UsageError(said, hint=hint)
    inputs = input_files(asked.files, sources, Takes())
    hear_of_far(inputs.paths, asked.manner)
    several = len(inputs.paths) > 1 or inputs.gathered
    codes = [
        tell_found(inputs, asked.manner),
        each_file(
            inputs.paths,
            asked.manner,
            lambda path: _inspect(path, asked, chosen, several=several),
        ),
    ]
    return min(codes, key=WORST_FIRST.index)


#: So many bytes show whether a file is a store, or a journal.
_BEGINNING = 32


def _inspect(
    path: str, asked: InspectRequest, chosen: dict[str, Any], *, several: bool
) -> dict[str, Any]:
    """Tell what is in ``path``, of an archive the ``chosen`` entries; the line for ``--json``.

    A store, records (``--head``), a journal and any other file are told of each in its own way.
    """
    from serialpack.cli.naming import STDIO
    from serialpack.cli.reporting.journal import is_journal
    from serialpack.files.regular import beginning_of
    from serialpack.stores.registry import store_in

    told = path == STDIO or asked.format is not None or is_store(path)
    begins = b"" if told else beginning_of(path, _BEGINNING)
    url = store_in(path, begins) or path
    if is_store(url) and not chosen:
        return _inspect_store(path, url, asked)
    if asked.head is not None:
        from serialpack.cli.verbs.heads import show_head

        show_head(path, asked)
        return {}
    if not chosen and is_journal(begins):
        return _inspect_journal(path, asked, several=several)
    return _inspect_file(path, asked, chosen, several=several)


def _say_untold(path: str, asked: InspectRequest, what: str) -> None:
    """Say that ``--blocks`` and ``--columns`` tell nothing of ``path``, which is ``what``."""
    from serialpack.cli.files.run import named, say
    from serialpack.cli.reporting.shapes import told_of_containers

    if said := told_of_containers(what, blocks=asked.blocks, columns=asked.columns):
        say(asked.manner, f"{named(path)}: {said}")


def _inspect_store(path: str, url: str, asked: InspectRequest) -> dict[str, Any]:
    from serialpack.cli.verbs.stores import inspect_store

    _say_untold(path, asked, "a store")
    line = inspect_store(url, asked)
    return line and {**line, "source": path}


def _inspect_journal(path: str, asked: InspectRequest, *, several: bool) -> dict[str, Any]:
    from serialpack.cli.reporting.journal_sums import show_sums, summed, sums_line

    _say_untold(path, asked, "a journal")
    sums = summed(path)
    if asked.manner.as_json:
        return sums_line(path, sums)
    show_sums(path, sums, several=several)
    return {}


def _inspect_file(
    path: str, asked: InspectRequest, chosen: dict[str, Any], *, several: bool
) -> dict[str, Any]:
    """As ``_inspect``, of a container or of a file of any kind. DamagedError where it is damaged,
    once what is left of it was told."""
    from serialpack import api
    from serialpack.cli.files.run import data_of, named, progress_bar, say
    from serialpack.cli.options.chosen import only_chosen
    from serialpack.cli.reporting.inspected import line_of, show_found
    from serialpack.cli.reporting.salvage import add_hint, left_of
    from serialpack.cli.reporting.shapes import told_of_columns
    from serialpack.cli.words import complain
    from serialpack.errors import DamagedError, UsageError

    as_json, blocks, whole = asked.manner.as_json, asked.blocks, not chosen
    detailed = blocks or asked.columns or (asked.manner.verbose and whole)
    show = partial(show_found, path, several=several, detailed=detailed, whole=whole)
    try:
        with progress_bar(path, asked.manner):
            found = api.inspect(
                data_of(path), format=asked.format, table=asked.table, columns=asked.columns
            )
        if chosen:
            found = only_chosen(found, chosen)
    except DamagedError as error:
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
