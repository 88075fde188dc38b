"""``serialpack unpack``."""

from __future__ import annotations

from typing import Any

import click

from serialpack.cli.naming import unpacked_name
from serialpack.cli.options import (
    Range,
    Size,
    Verb,
    common_options,
    files_argument,
    output_options,
)


@click.command(
    "unpack",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Unpack each FILE.spk to FILE; no FILE or -: standard input to standard output.",
    completes=".spk",
    examples=(
        ("serialpack unpack data.json.spk", "data.json again"),
        ("serialpack unpack --test *.spk", "check every byte, write nothing"),
        ("serialpack unpack --records 10:20 a.spk -o -", "ten records, quickly"),
        ("serialpack unpack < data.spk | jq .", "in a pipe"),
    ),
)
@click.option(
    "-t",
    "--to",
    metavar="FORMAT",
    help="Another format that FILE holds: what its blocks are serialized in.",
)
@click.option("--test", is_flag=True, help="Check every byte, write nothing.")
@click.option(
    "--records",
    type=Range(),
    metavar="A:B",
    help="Only those records; reads only their blocks.",
)
@click.option(
    "--bytes",
    "byte_range",
    type=Range(sizes=True),
    metavar="A:B",
    help="Only those bytes; reads only their blocks.",
)
@click.option("-N", "--name", is_flag=True, help="Name the output as the packed file was named.")
@click.option("--max-size", type=Size(), metavar="SIZE", help="Refuse to write more.")
@output_options
@common_options
@files_argument
def command(
    files: tuple[str, ...],
    to: str | None,
    test: bool,
    records: tuple[int, int | None] | None,
    byte_range: tuple[int, int | None] | None,
    name: bool,
    max_size: int | None,
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
    from serialpack.cli.run import Manner, Mover, Targets, input_files, rounded
    from serialpack.errors import UsageError
    from serialpack.units import format_size

    inputs = input_files(files, files_from, null)
    mover = Mover(
        Manner(as_json, quiet, verbose, no_progress),
        Targets(inputs, None if test else output),
        force=force,
        keep=keep,
        dry_run=dry_run,
        stats=stats,
        profile=profile,
    )
    if test and (output or not keep or records or byte_range):
        raise UsageError("--test writes nothing: it goes without -o, --rm, --records and --bytes")
    if not keep and (records or byte_range or to):
        raise UsageError("--rm needs the whole source to be unpacked")

    def unpack(source: Any, target: Any, progress: Any) -> api.UnpackReport:
        return api.unpack(
            source,
            target,
            to=to,
            record_range=records,
            byte_range=byte_range,
            threads=threads,
            max_size=max_size,
            force=force,
            progress=progress,
        )

    def work(path: str) -> dict[str, Any]:
        target = None if test else mover.targets.of(path, lambda p: unpacked_name(p, stored=name))
        what = f"{path}: all is well" if test else f"{path} -> {target}"
        report = mover.move(
            path,
            target,
            unpack,
            plan=f"would unpack {path} to {target}",
            closing=lambda done: f"{what}, {format_size(done.size)}, {done.kept}",
        )
        if report is None:
            return {}
        return {
            "source": path,
            "target": target,
            "format": report.format,
            "size": report.size,
            "blocks": report.blocks,
            "blocks_read": report.blocks_read,
            "records": report.records,
            "exact": report.exact,
            "seconds": rounded(report.seconds),
        }

    return mover.each(inputs, work)
