"""``serialpack unpack``."""

from __future__ import annotations

from typing import Any

import click

from serialpack.cli.naming import check_profile, check_removal, stat_of, unpacked_name
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
    from serialpack.errors import UsageError
    from serialpack.files import remove_source
    from serialpack.units import format_size

    check_profile(profile, force=force)
    manner = Manner(as_json, quiet, verbose, no_progress)
    inputs = input_files(files, files_from, null)
    profiled: list[tuple[str, dict[str, float], dict[str, int]]] = []
    targets = Targets(inputs, None if test else output)
    if dry_run and as_json:
        raise UsageError("--dry-run and --json exclude each other")
    if test and (output or not keep or records or byte_range):
        raise UsageError("--test writes nothing: it goes without -o, --rm, --records and --bytes")

    if not dry_run:
        targets.make_folder()

    def work(path: str) -> dict[str, Any]:
        target = None if test else targets.of(path, lambda p: unpacked_name(p, stored=name))
        if as_json and target == STDIO:
            raise UsageError(
                "--json and the data cannot both go to standard output", hint="-o FILE"
            )
        if not keep and (STDIO in (path, target) or records or byte_range or to):
            raise UsageError("--rm needs a file on both sides, and the whole source")
        check_removal(path, keep=keep)
        if dry_run:
            if path != STDIO:
                api.check(path, None if target == STDIO else target, force=force)
            say(manner, f"would unpack {path} to {target}")
            return {}
        before = None if path == STDIO else stat_of(path)
        bar = progress_bar(path, before.st_size if before else None, manner)
        try:
            report = api.unpack(
                stdin() if path == STDIO else path,
                stdout(force=force) if target == STDIO else target,
                to=to,
                record_range=records,
                byte_range=byte_range,
                threads=threads,
                max_size=max_size,
                force=force,
                progress=bar,
            )
        finally:
            if bar is not None:
                bar.close()
        what = f"{path}: all is well" if test else f"{path} -> {target}"
        say(
            manner,
            f"{what}, {format_size(report.size)}, {report.kept}",
            verbose_only=target == STDIO,
        )
        if stats:
            print_stats(report.seconds, report.sizes)
        profiled.append((path, report.seconds, report.sizes))
        if not keep:
            remove_source(path, before)
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

    code = each_file(inputs, manner, work)
    if profile is not None:
        from serialpack.cli.profile import write_profile

        write_profile(profile, profiled, force=force, taken=targets.used)
    return code
