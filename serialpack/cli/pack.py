"""``serialpack pack``."""

from __future__ import annotations

from typing import Any

import click

from serialpack.cli.naming import SUFFIX
from serialpack.cli.options import (
    KeyValue,
    Size,
    Verb,
    common_options,
    files_argument,
    output_options,
)


@click.command(
    "pack",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Pack each FILE into FILE.spk; no FILE or -: standard input to standard output.",
    examples=(
        ("serialpack pack data.json", "data.json.spk: zstd, exact bytes"),
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
    help="auto (default), raw, json, ujson, msgpack: see inspect --stages.",
)
@click.option(
    "--filter",
    "filters",
    metavar="NAME[:SIZE]",
    multiple=True,
    help="shuffle, bitshuffle, delta with an item size; repeatable.",
)
@click.option(
    "-c",
    "--codec",
    metavar="NAME[:LEVEL]",
    default="auto",
    help="auto (default), none, zstd:19, lz4, blosc-zstd:1@256K, xz, ...",
)
@click.option(
    "-1..-9",
    "--effort",
    type=click.IntRange(1, 9),
    metavar="N",
    help="From fastest (-1) to smallest (-9); default -3.",
)
@click.option("-F", "--from", "format", metavar="FORMAT", help="What FILE is; default: looked at.")
@click.option("--exact", is_flag=True, help="Refuse where only the values would come back.")
@click.option("--no-verify", is_flag=True, help="Skip the proof that it can be undone.")
@click.option("--block-size", type=Size(), metavar="SIZE", help="64K, 1M, ...: up to 64M.")
@click.option(
    "--meta",
    type=KeyValue(),
    metavar="KEY=VALUE",
    multiple=True,
    help="Your own words in the header; repeatable.",
)
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
    block_size: int | None,
    meta: tuple[tuple[str, str], ...],
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
    from serialpack.auto import DEFAULT_EFFORT, choose
    from serialpack.cli.run import Manner, Mover, Targets, input_files, rounded, say
    from serialpack.cli.words import percent
    from serialpack.errors import UsageError
    from serialpack.formats import FORMATS
    from serialpack.units import format_size

    manner = Manner(as_json, quiet, verbose, no_progress)
    inputs = input_files(files, files_from, null)
    mover = Mover(
        manner,
        Targets(inputs, output),
        force=force,
        keep=keep,
        dry_run=dry_run,
        stats=stats,
        profile=profile,
    )
    effort = effort or DEFAULT_EFFORT
    choice = choose(serializer, filters, codec, effort=effort)
    if format is not None:
        FORMATS.entry(format)
    if no_verify and not keep:
        raise UsageError("--rm removes only what was proved: it goes without --no-verify")
    if exact and no_verify:
        raise UsageError("--exact and --no-verify exclude each other")

    def pack(source: Any, target: Any, progress: Any) -> api.PackReport:
        return api.pack(
            source,
            target,
            serializer=serializer,
            filters=filters,
            codec=codec,
            effort=effort,
            format=format,
            block_size=block_size,
            exact=exact,
            verify=not no_verify,
            threads=threads,
            meta=dict(meta),
            force=force,
            progress=progress,
        )

    def work(path: str) -> dict[str, Any]:
        target = mover.targets.of(path, lambda p: p + SUFFIX)
        report = mover.move(
            path,
            target,
            pack,
            plan=f"would pack {path} to {target} as {choice.chain}",
            closing=lambda done: (
                f"{path}: {format_size(done.size)} -> {format_size(done.packed)}"
                f" ({percent(done.packed, done.size)}), {done.chain}, {done.kept}"
            ),
            binary=True,
        )
        if report is None:
            return {}
        say(manner, f"  {report.format}: {report.why}", verbose_only=True)
        return {
            "source": path,
            "target": target,
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

    return mover.each(inputs, work)
