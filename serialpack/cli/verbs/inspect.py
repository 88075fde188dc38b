"""``serialpack inspect``."""

from __future__ import annotations

import sys

import click

from serialpack.cli.options.declared import (
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
from serialpack.cli.options.values import Size
from serialpack.errors import WORST_FIRST, UsageError

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
    if asked.fidelity and not asked.stages:
        raise UsageError("--fidelity goes with --stages")
    return _show_stages(asked) if asked.stages else _inspect_files(asked)


def _show_stages(asked: InspectRequest) -> int:
    """List the stages, or what each of them holds; the exit code."""
    from serialpack.cli.verbs.stage_list import show_fidelity, show_stages

    if asked.files:
        raise UsageError("--stages takes no FILE")
    if asked.fidelity and not asked.manner.as_json:
        show_fidelity()
    else:
        show_stages(asked.manner.as_json)
    return 0


def _inspect_files(asked: InspectRequest) -> int:
    """Tell what is in each file; the exit code."""
    from serialpack.cli.files.each_file import each_file, tell_found
    from serialpack.cli.files.inputs import Takes, input_files
    from serialpack.cli.files.workers import know
    from serialpack.cli.options.chosen_entries import in_archives
    from serialpack.cli.reporting.far import hear_of_far
    from serialpack.cli.verbs.inspecting import inspect_one
    from serialpack.detection.detect import check_table
    from serialpack.formats import FORMATS

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
            lambda path: inspect_one(path, asked, chosen, several=several),
        ),
    ]
    return min(codes, key=WORST_FIRST.index)
