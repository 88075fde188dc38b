"""``serialpack pack``."""

from __future__ import annotations

from typing import Any

import click

from serialpack.cli.naming import SUFFIX, check_profile, check_removal, stat_of
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
    from serialpack.cli.run import (
        STDIO,
        Manner,
        Targets,
        each_file,
        input_files,
        print_stats,
        progress_bar,
        rounded,
        say,
        stdin,
        stdout,
    )
    from serialpack.cli.words import percent
    from serialpack.errors import UsageError
    from serialpack.files import remove_source
    from serialpack.formats import FORMATS
    from serialpack.units import format_size

    check_profile(profile, force=force)
    manner = Manner(as_json, quiet, verbose, no_progress)
    inputs = input_files(files, files_from, null)
    profiled: list[tuple[str, dict[str, float], dict[str, int]]] = []
    targets = Targets(inputs, output)
    options: dict[str, Any] = {
        "serializer": serializer,
        "filters": filters,
        "codec": codec,
        "effort": effort or DEFAULT_EFFORT,
    }
    choice = choose(serializer, filters, codec, effort=options["effort"])
    if format is not None:
        FORMATS.entry(format)
    if dry_run and as_json:
        raise UsageError("--dry-run and --json exclude each other")
    if no_verify and not keep:
        raise UsageError("--rm removes only what was proved: it goes without --no-verify")
    if exact and no_verify:
        raise UsageError("--exact and --no-verify exclude each other")

    if not dry_run:
        targets.make_folder()

    def work(path: str) -> dict[str, Any]:
        target = targets.of(path, lambda p: p + SUFFIX)
        if as_json and target == STDIO:
            raise UsageError(
                "--json and the data cannot both go to standard output", hint="-o FILE"
            )
        if not keep and STDIO in (path, target):
            raise UsageError("--rm needs a file on both sides")
        check_removal(path, keep=keep)
        if dry_run:
            if path != STDIO:
                api.check(path, None if target == STDIO else target, force=force)
            say(manner, f"would pack {path} to {target} as {choice.chain}")
            return {}
        before = None if path == STDIO else stat_of(path)
        bar = progress_bar(path, before.st_size if before else None, manner)
        try:
            report = api.pack(
                stdin() if path == STDIO else path,
                stdout(binary=True, force=force) if target == STDIO else target,
                **options,
                format=format,
                block_size=block_size,
                exact=exact,
                verify=not no_verify,
                threads=threads,
                meta=dict(meta),
                force=force,
                progress=bar,
            )
        finally:
            if bar is not None:
                bar.close()
        say(
            manner,
            f"{path}: {format_size(report.size)} -> {format_size(report.packed)}"
            f" ({percent(report.packed, report.size)}), {report.chain}, {report.kept}",
            verbose_only=target == STDIO,
        )
        say(manner, f"  {report.format}: {report.why}", verbose_only=True)
        if stats:
            print_stats(report.seconds, report.sizes)
        profiled.append((path, report.seconds, report.sizes))
        if not keep:
            remove_source(path, before)
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

    code = each_file(inputs, manner, work)
    if profile is not None:
        from serialpack.cli.profile import write_profile

        write_profile(profile, profiled, force=force, taken=targets.used)
    return code
