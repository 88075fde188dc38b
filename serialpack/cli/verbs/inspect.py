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
from serialpack.text import number_of

if TYPE_CHECKING:
    from serialpack.inspection.info import ColumnsInfo, Inspection, MemberInfo

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
    """Tell what is in ``path``, of an archive the ``chosen`` entries; the line for ``--json``."""
    from serialpack import api
    from serialpack.cli.files.run import data_of, named, progress_bar, say
    from serialpack.cli.naming import STDIO
    from serialpack.cli.options.chosen import only_chosen
    from serialpack.cli.reporting.journal import is_journal
    from serialpack.cli.reporting.salvage import add_hint, left_of
    from serialpack.cli.reporting.shapes import told_of_columns, told_of_containers
    from serialpack.cli.words import complain
    from serialpack.errors import DamagedError, UsageError
    from serialpack.files.regular import beginning_of
    from serialpack.stores.registry import store_in

    as_json, blocks = asked.manner.as_json, asked.blocks
    untold = partial(told_of_containers, blocks=blocks, columns=asked.columns)
    told = path == STDIO or asked.format is not None or is_store(path)
    begins = b"" if told else beginning_of(path, _BEGINNING)
    url = store_in(path, begins) or path
    if is_store(url) and not chosen:
        from serialpack.cli.verbs.stores import inspect_store

        if said := untold("a store"):
            say(asked.manner, f"{named(path)}: {said}")
        line = inspect_store(url, asked)
        return line and {**line, "source": path}
    if asked.head is not None:
        from serialpack.cli.verbs.heads import show_head

        show_head(path, asked)
        return {}
    if not chosen and is_journal(begins):
        from serialpack.cli.reporting.journal_sums import show_sums, summed, sums_line

        if said := untold("a journal"):
            say(asked.manner, f"{path}: {said}")
        sums = summed(path)
        if as_json:
            return sums_line(path, sums)
        show_sums(path, sums, several=several)
        return {}
    whole = not chosen
    detailed = blocks or asked.columns or (asked.manner.verbose and whole)
    try:
        with progress_bar(path, asked.manner):
            found = api.inspect(
                data_of(path),
                format=asked.format,
                table=asked.table,
                columns=asked.columns,
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
            _show(path, found, blocks, several=several, detailed=detailed, whole=whole)
            raise
        add_hint(error, path)
        complain(error.said, named(path))
        return _as_json(path, found, blocks)
    said = untold() if found.shape is not None else told_of_columns(found, columns=asked.columns)
    if said:
        say(asked.manner, f"{named(path)}: {said}")
    damage = found.damage_inside
    if as_json and damage is None:
        return _as_json(path, found, blocks)
    if not as_json:
        _show(path, found, blocks, several=several, detailed=detailed, whole=whole)
    if damage is not None:
        raise damage
    return {}


#: What a block of columns is kept as, and why.
_FORMS = {
    "columns": "as columns",
    "larger": "as text: columns would hardly be smaller",
    "shapeless": "as text: there are no records alike in it",
    "unknown": "as text: columns do not take this format apart",
    "unproved": "as text: columns did not give back its bytes",
}


def _show(
    path: str, found: Inspection, blocks: bool, *, several: bool, detailed: bool, whole: bool = True
) -> None:
    from serialpack.cli.reporting.shapes import shape_rows, show_entries, show_listing
    from serialpack.cli.words import print_table

    rows: list[tuple[str, str]] = [("file", path)] if several else []
    if found.shape is not None:
        print_table(rows + shape_rows(found))
        if found.shape.listing is not None:
            show_listing(found.shape.listing)
    elif found.members and found.members[0].entries is not None and not detailed:
        if rows:
            print_table(rows)
        show_entries(found.members, whole=whole)
        if several:
            print()
        return
    for number, member in enumerate(found.members):
        if len(found.members) > 1:
            rows.append(("member", f"{number + 1} of {len(found.members)}"))
        print_table(rows + _member_rows(member))
        rows = []
        if member.listing is not None:
            show_listing(member.listing)
        if member.columns is not None:
            _show_columns(member, member.columns)
        if blocks:
            _show_blocks(member)
    if several:
        print()


def _member_rows(member: MemberInfo) -> list[tuple[str, str]]:
    from serialpack.cli.reporting.shapes import array_rows, holds_rows, listing_rows
    from serialpack.cli.words import counted, ratio
    from serialpack.formats import FORMATS
    from serialpack.reports import kept
    from serialpack.units import format_size

    digest = member.digest
    envelope = "zstd (any zstd tool reads it)" if member.zstd_envelope else "own"
    blocks = str(len(member.blocks))
    if len(member.blocks) != 1:
        blocks += f" of up to {format_size(member.block_size)}"
    if damaged := sum(block.damaged for block in member.blocks):
        blocks += f", {damaged} damaged"
    if member.stored_blocks:
        blocks += f", {member.stored_blocks} stored"
    for form, count in (member.forms or {}).items():
        if form == "shapeless" and not FORMATS.declaration(member.format).columns:
            form = "unknown"
        blocks += f", {count} {_FORMS[form]}"
    array = member.array
    rows = [
        ("stages", str(member.chain)),
        ("format", member.format + (f": {array.words}" if array else "")),
        *(array_rows(array) if array else []),
        ("size", counted(member.size)),
        ("packed", f"{counted(member.packed)}, {ratio(member.packed, member.size)}"),
        ("container", f"{number_of(member.container, 'byte')} around the data"),
        ("records", "not known" if member.records is None else f"{member.records:,}"),
        ("blocks", blocks),
        ("restores", kept(exact=member.exact, proved=member.proved)),
        ("envelope", envelope),
        ("checksum", f"XXH3-{4 * len(digest)} {digest}" if digest else "not known"),
        ("written by", f"serialpack {member.writer}"),
    ]
    if member.why:
        rows.insert(1, ("because", member.why))
    if member.holds is not None:
        rows += holds_rows(member.holds)
    if member.listing is not None:
        rows += listing_rows(member.listing)
    if (needed := member.dictionary) is not None:
        here = "" if needed.found else ", not found here; --shared-dict PATH names it"
        rows.append(("dictionary", f"{needed.name} ({needed.hash}){here}"))
    if member.entry is not None:
        rows.insert(0, ("entry", member.entry))
    elif member.entries is not None:
        rows.insert(0, ("entries", f"{len(member.entries):,}"))
    if member.name is not None:
        rows.append(("name", member.name))
    if member.mtime is not None:
        rows.append(("modified", member.modified or ""))
    return rows + [(f"meta {key}", value) for key, value in member.meta.items()]


def _show_columns(member: MemberInfo, found: ColumnsInfo) -> None:
    from serialpack.cli.words import percent, print_table, ratio
    from serialpack.text import printable

    rows = [
        (
            printable(info.path) or "(record)",
            info.type,
            ", ".join(info.encodings) or "in the structure",
            f"{info.values:,}",
            f"{info.size:,}",
            f"{info.packed:,}",
            percent(info.packed, member.packed),
            ratio(info.packed, info.size, " more"),
        )
        for info in found.columns
    ]
    others = (("(structure)", found.structure), ("(blocks of text)", found.text))
    rows += [
        (name, "", "", "", "", f"{size:,}", percent(size, member.packed), "")
        for name, size in others
        if size
    ]
    heads = ("column", "type", "encoding", "values", "size", "packed", "share", "ratio")
    print_table(rows, headers=heads, right=(3, 4, 5, 6, 7))


def _show_blocks(member: MemberInfo) -> None:
    from serialpack.cli.words import print_table, ratio

    print_table(
        [
            (
                str(b.number),
                f"{b.start:,}-{b.end:,}",
                f"{b.size:,}",
                f"{b.end - b.start:,}",
                ratio(b.end - b.start, b.size, " more"),
                "?" if b.records is None else f"{b.records:,}",
                ", ".join(n for n in ("stored", "exact", "continued", "damaged") if getattr(b, n)),
            )
            for b in member.blocks
        ],
        headers=("block", "bytes", "size", "packed", "ratio", "records", "flags"),
        right=(0, 1, 2, 3, 4, 5),
    )


def _as_json(path: str, found: Inspection, blocks: bool) -> dict[str, Any]:
    from serialpack.cli.reporting.shapes import array_line, listing_line, shape_line

    if found.shape is not None:
        line = {"source": path, "container": False, "size": found.size}
        return {**line, **shape_line(found.shape)}
    members = []
    for member in found.members:
        values = member._asdict()
        values["chain"] = str(member.chain)
        # Nanoseconds are beyond what readers of JSON hold as a number.
        del values["mtime"], values["damage"]
        values["modified"] = member.modified
        values["array"] = array_line(member.array)
        values["dictionary"] = member.dictionary and member.dictionary._asdict()
        values["stored_blocks"] = member.stored_blocks
        values["blocks"] = len(member.blocks)
        if member.holds is None:
            del values["holds"]
        if member.listing is None:
            del values["listing"]
        else:
            values["listing"] = listing_line(member.listing)
        if member.entries is None:
            del values["entries"]
        else:
            values["entries"] = [entry._asdict() for entry in member.entries]
        if blocks:
            values["block_list"] = [b._asdict() for b in member.blocks]
        if member.columns is None:
            del values["columns"]
        else:
            values["columns"] = {
                **member.columns._asdict(),
                "columns": [info._asdict() for info in member.columns.columns],
            }
        members.append(values)
    line = {"source": path, "container": True, "size": found.size, "members": members}
    if found.damage:
        line |= {"damage": [each._asdict() for each in found.damage], "exit": 3}
    return line
