"""``serialpack pack``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from serialpack.cli.naming import STDIO, SUFFIX
from serialpack.cli.options import (
    KeyValue,
    Size,
    Verb,
    common_options,
    files_argument,
    output_options,
)

if TYPE_CHECKING:
    from serialpack.archive import PackOptions
    from serialpack.cli.run import Manner
    from serialpack.reports import PackReport


@click.command(
    "pack",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Pack each FILE into FILE.spk; no FILE or -: standard input to standard output.",
    examples=(
        ("serialpack pack data.json", "data.json.spk, exact bytes"),
        ("serialpack pack -9 *.json -o DIR/", "as small as can be, into a folder"),
        ("serialpack pack -s msgpack -c xz data.json", "stages of your choice"),
        ("cat data | serialpack pack > data.spk", "in a pipe"),
    ),
)
@click.option(
    "-s",
    "--serializer",
    metavar="NAME",
    default="auto",
    help="auto (default), raw, json, cbor, yaml, pickle, ...",
)
@click.option(
    "--filter",
    "filters",
    metavar="NAME[:SIZE]",
    multiple=True,
    help="shuffle, bitshuffle, delta; repeatable.",
)
@click.option(
    "-c",
    "--codec",
    metavar="NAME[:LEVEL]",
    default="auto",
    help="auto (default), none, zstd:19, xz; LEVEL: by effort.",
)
@click.option(
    "-1..-9",
    "--effort",
    type=click.IntRange(1, 9),
    metavar="N",
    help="Levels, blocks: -1 fastest, -9 smallest; default -3.",
)
@click.option("-F", "--from", "format", metavar="FORMAT", help="What FILE is; default: looked at.")
@click.option("--exact", is_flag=True, help="Refuse where only the values would come back.")
@click.option("--no-verify", is_flag=True, help="Skip the proof that it can be undone.")
@click.option("--trust", is_flag=True, help="Read a pickle, which runs code that is in it.")
@click.option("--schema", metavar="PATH", help="For protobuf (.proto) and avro (.avsc).")
@click.option("--message", metavar="MESSAGE", help="The message of a protobuf schema.")
@click.option("--block-size", type=Size(), metavar="SIZE", help="64K, 1M, ...: up to 64M.")
@click.option(
    "--meta",
    type=KeyValue(),
    metavar="KEY=VALUE",
    multiple=True,
    help="Your own words in the header; repeatable.",
)
@click.option("--archive", is_flag=True, help="All inputs into one container, which -o names.")
@output_options
@common_options
@files_argument
def command(
    files: tuple[str, ...],
    serializer: str,
    filters: tuple[str, ...],
    codec: str,
    effort: int | None,
    format: str | None,
    exact: bool,
    no_verify: bool,
    trust: bool,
    schema: str | None,
    message: str | None,
    block_size: int | None,
    meta: tuple[tuple[str, str], ...],
    archive: bool,
    output: str | None,
    force: bool,
    keep: bool,
    dry_run: bool,
    threads: int | None,
    stats: bool,
    profile: str | None,
    files_from: str | None,
    null: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    no_progress: bool,
) -> int:
    from serialpack import api
    from serialpack.auto import choose
    from serialpack.cli.run import (
        Input,
        Manner,
        Mover,
        Targets,
        data_of,
        input_files,
        print_line,
        say,
    )
    from serialpack.errors import UsageError
    from serialpack.formats import FORMATS
    from serialpack.stages.effort import DEFAULT_EFFORT

    manner = Manner(as_json, quiet, verbose, no_progress)
    inputs = input_files(files, files_from, null)
    one_output = _archive_name(inputs, output) if archive else None
    mover = Mover(
        manner,
        Targets(inputs, output) if one_output is None else Targets((), None),
        force=force,
        keep=keep,
        dry_run=dry_run,
        stats=stats,
        profile=profile,
    )
    effort = effort or DEFAULT_EFFORT
    choice = choose(serializer, filters, codec, effort=effort)
    if format is not None:
        FORMATS.source(format)
    if no_verify and not keep:
        raise UsageError("--rm removes only what was proved: it goes without --no-verify")
    if exact and no_verify:
        raise UsageError("--exact and --no-verify exclude each other")
    how: PackOptions = {
        "serializer": serializer,
        "filters": filters,
        "codec": codec,
        "effort": effort,
        "format": format,
        "block_size": block_size,
        "exact": exact,
        "verify": not no_verify,
        "trust": trust,
        "options": {k: v for k, v in (("schema", schema), ("message", message)) if v is not None},
        "threads": threads,
        "meta": dict(meta),
    }

    def chain_for(path: str) -> str:
        """What a dry run says; it leaves standard input to whoever comes after it."""
        found = choice if path == STDIO else api.chosen(path, choice, format=format)
        return str(found.chain) if found.settled else "auto"

    def work(path: str) -> dict[str, Any]:
        target = mover.targets.of(path, lambda p: p + SUFFIX)
        report = mover.move(
            [Input.of(path)],
            target,
            lambda to, bar: api.pack(data_of(path), to, force=force, progress=bar, **how),
            check=lambda: api.check(path, None if target == STDIO else target, force=force),
            plan=(f"would pack {p} to {target} as {chain_for(p)}" for p in [path]),
            closing=lambda done: [_closing(path, done)],
            binary=True,
        )
        if report is None:
            return {}
        say(manner, f"  {report.format}: {report.why}", verbose_only=True)
        return _line(path, target, report)

    def work_archive(target: str) -> dict[str, Any]:
        from serialpack.archive import pack_archive

        entries = _entries(inputs, manner)

        def check() -> None:
            for path in inputs:
                api.check(path, None if target == STDIO else target, force=force)

        report = mover.move(
            [Input.of(path) for path in inputs],
            target,
            lambda to, bar: pack_archive(entries, to, force=force, progress=bar, **how),
            check=check,
            plan=(
                f"would pack {p} into {target} as {e}, {chain_for(p)}" for e, p in entries.items()
            ),
            closing=lambda done: map(_closing, inputs, done.entries),
            binary=True,
        )
        for path, entry in zip(inputs, report.entries if report else (), strict=False):
            print_line(manner, _line(path, target, entry))
        return {}

    if one_output is not None:
        return mover.each([one_output], work_archive, inputs)
    return mover.each(inputs, work)


def _archive_name(inputs: Sequence[str], output: str | None) -> str:
    """The name of the archive; UsageError where ``inputs`` cannot become one."""
    from serialpack.errors import UsageError

    if output is None:
        raise UsageError("--archive needs a name for the container", hint="-o FILE.spk")
    if STDIO in inputs:
        raise UsageError("--archive takes files: standard input has no name to store")
    return output


def _entries(inputs: Sequence[str], manner: Manner) -> dict[str, str]:
    """The path in the archive -> the input. What is left out of a path is said."""
    from serialpack.cli.run import check_name, say
    from serialpack.errors import FileError
    from serialpack.paths import entry_path

    entries: dict[str, str] = {}
    said: set[str] = set()
    for path in inputs:
        check_name(path)
        entry, removed = entry_path(path)
        if entry in entries:
            raise FileError(
                f"another input has the same path in the archive, {entry}",
                path=path,
                hint="name each input once, from a folder that all are in",
            )
        if removed and removed not in said:
            said.add(removed)
            say(manner, f"{removed} is left out of paths in the archive")
        entries[entry] = path
    return entries


def _closing(path: str, report: PackReport) -> str:
    """The line that says what was done."""
    from serialpack.cli.words import ratio
    from serialpack.units import format_size

    return (
        f"{path}: {format_size(report.size)} -> {format_size(report.packed)}"
        f" ({ratio(report.packed, report.size)}), {report.chain}, {report.kept}"
    )


def _line(path: str, target: str, report: PackReport) -> dict[str, Any]:
    """The line for ``--json``."""
    from serialpack.cli.run import rounded

    entry = {} if report.entry is None else {"entry": report.entry}
    return {
        "source": path,
        "target": target,
        **entry,
        "chain": report.chain,
        "format": report.format,
        "size": report.size,
        "packed": report.packed,
        "container": report.packed - report.payload,
        "blocks": report.blocks,
        "stored_blocks": report.stored_blocks,
        "records": report.records,
        "exact": report.exact,
        "proved": report.proved,
        "seconds": rounded(report.seconds),
    }
