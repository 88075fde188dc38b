"""``serialpack unpack``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from serialpack.cli.naming import STDIO, unpacked_name
from serialpack.cli.options import (
    Range,
    Size,
    Verb,
    common_options,
    files_argument,
    output_options,
)

if TYPE_CHECKING:
    from serialpack.conversion.files import ConvertOptions
    from serialpack.reports import UnpackReport


@click.command(
    "unpack",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Unpack each FILE.spk to FILE, or convert any FILE with --to; no FILE: a pipe.",
    completes=".spk",
    examples=(
        ("serialpack unpack data.json.spk", "data.json again"),
        ("serialpack unpack --to json config.yaml", "config.json: a conversion"),
        ("serialpack unpack --test *.spk", "check every byte, write nothing"),
        ("serialpack unpack --records 10:20 a.spk -o -", "ten records, quickly"),
    ),
)
@click.option("-t", "--to", metavar="FORMAT", help="Write json, yaml, msgpack, csv, ... instead.")
@click.option("-F", "--from", "format", metavar="FORMAT", help="What FILE is; default: looked at.")
@click.option("--lossy", metavar="KIND", multiple=True, help="Allow a loss: keys, comments, ...")
@click.option("--tagged", is_flag=True, help="Write, and read, JSON that says every type.")
@click.option("--skip-bad", is_flag=True, help="Leave out bad records, and say which.")
@click.option("--fields", multiple=True, metavar="A,B.C", help="With --to: only those fields.")
@click.option("--no-verify", is_flag=True, help="With --to: skip the proof.")
@click.option("--schema", metavar="PATH", help="For protobuf (.proto) and avro (.avsc).")
@click.option("--message", metavar="MESSAGE", help="The message of a protobuf schema.")
@click.option("--test", is_flag=True, help="Check every byte, write nothing.")
@click.option("--salvage", is_flag=True, help="Write what is left of a damaged FILE.")
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
@click.option("--trust", is_flag=True, help="Undo pickle too, which runs code that is in FILE.")
@output_options
@common_options
@files_argument
def command(
    files: tuple[str, ...],
    to: str | None,
    format: str | None,
    lossy: tuple[str, ...],
    tagged: bool,
    skip_bad: bool,
    fields: tuple[str, ...],
    no_verify: bool,
    schema: str | None,
    message: str | None,
    test: bool,
    salvage: bool,
    records: tuple[int, int | None] | None,
    byte_range: tuple[int, int | None] | None,
    name: bool,
    max_size: int | None,
    trust: bool,
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
    from serialpack.cli.run import Manner, Mover, Targets, input_files
    from serialpack.errors import DamagedError, SerialpackError, UsageError

    manner = Manner(as_json, quiet, verbose, no_progress)
    inputs = input_files(files, files_from, null)
    mover = Mover(
        manner,
        Targets(inputs, None if test else output),
        force=force,
        keep=keep,
        dry_run=dry_run,
        stats=stats,
        profile=profile,
    )
    if test and (output or not keep or records or byte_range):
        raise UsageError("--test writes nothing: it goes without -o, --rm, --records and --bytes")
    if salvage and (test or to or not keep or records or byte_range):
        raise UsageError(
            "--salvage takes all that is left, and its source stays: it goes without --to, --test,"
            " --records, --bytes and --rm"
        )
    if not keep and (records or byte_range):
        raise UsageError("--rm needs the whole source to be unpacked")
    how: ConvertOptions = {
        "format": format,
        "lossy": [rule for each in lossy for rule in each.split(",")],
        "tagged": tagged,
        "skip_bad": skip_bad,
        "verify": not no_verify,
        "trust": trust,
        "options": {k: v for k, v in (("schema", schema), ("message", message)) if v is not None},
        "threads": threads,
        "max_size": max_size,
        "force": force,
        "fields": fields,
    }
    if to is not None:
        if test or records or byte_range:
            raise UsageError("--test, --records and --bytes do not go with --to")
        from serialpack.cli.convert import convert_files

        return convert_files(mover, manner, inputs, to, how, keep=keep, stored_name=name)
    if format or lossy or tagged or skip_bad or fields or no_verify or schema or message:
        raise UsageError(
            "--from, --fields, --lossy, --tagged and the like go with --to", hint="--to FORMAT"
        )

    from serialpack import api
    from serialpack.archive import is_archive, unpack_archive
    from serialpack.cli.run import Input, data_of, error_line, named, print_line, say
    from serialpack.cli.salvage import every_damage, tell_losses
    from serialpack.cli.words import complain
    from serialpack.paths import check_folder
    from serialpack.units import format_size

    if not keep and STDIO in inputs:
        raise UsageError("--rm needs a file on both sides")

    def work(path: str) -> dict[str, Any]:
        given = Input.of(path)
        if test or (dry_run and path == STDIO):
            return one(given, data_of(path))
        with api.opened_source(data_of(path)) as source:
            if not salvage:
                return (entries if is_archive(source) else one)(given, source)
            from serialpack.pipeline.sought import sought

            with sought(source) as left:
                return (entries if is_archive(left, salvage=True) else one)(given, left)

    def one(given: Input, source: Any) -> dict[str, Any]:
        path = given.path
        target = None if test else mover.targets.of(path, file_name)
        what = f"{path}: all is well" if test else f"{path} -> {target}"
        try:
            report = mover.move(
                [given],
                target,
                lambda to_file, bar: api.unpack(
                    source,
                    to_file,
                    record_range=records,
                    byte_range=byte_range,
                    threads=threads,
                    max_size=max_size,
                    trust=trust,
                    force=force,
                    salvage=salvage,
                    progress=bar,
                ),
                check=lambda: api.check(path, None if target == STDIO else target, force=force),
                plan=[f"would {'salvage' if salvage else 'unpack'} {path} to {target}"],
                closing=lambda done: [f"{what}, {format_size(done.size)}, {done.kept}"],
                counts_written=True,
            )
        except DamagedError as error:
            if not test:
                raise
            raise every_damage(path, error, trust=trust, threads=threads) from None
        if report is None:
            return {}
        tell_losses(report, named(path))
        return _line(path, target, report)

    def file_name(path: str) -> str:
        return unpacked_name(path, stored=name, salvage=salvage)

    def entries(given: Input, source: Any) -> dict[str, Any]:
        path = given.path
        if records or byte_range:
            raise UsageError("--records and --bytes do not reach into an archive: unpack it")
        folder = mover.targets.folder_of(path, lambda p: unpacked_name(p, stored=False))

        def tell(entry: str, found: UnpackReport | SerialpackError) -> None:
            if isinstance(found, SerialpackError):
                complain(str(found), found.path or f"{named(path)}: {entry}")
                print_line(manner, {"source": path, "entry": entry, **error_line(found)})
                return
            mover.taken.add(os.path.realpath(found.target or ""))
            say(manner, f"{path} -> {found.target}, {format_size(found.size)}, {found.kept}")
            tell_losses(found, f"{named(path)}: {entry}")
            print_line(manner, _line(path, found.target, found))

        report = mover.move(
            [given],
            folder,
            lambda below, bar: unpack_archive(
                source,
                below,
                threads=threads,
                max_size=max_size,
                trust=trust,
                force=force,
                salvage=salvage,
                progress=bar,
                each=tell,
            ),
            check=lambda: check_folder(folder),
            plan=[f"would unpack the entries of {path} below {folder}"],
            closing=lambda _: (),
            counts_written=True,
        )
        if report is None or not report.damage:
            return {}
        for place in [place for place in report.damage if place.member is None]:
            complain(str(place), named(path))
        damaged = DamagedError("the archive is damaged; what is left of it was written")
        damaged.damage = report.damage
        raise damaged

    return mover.each(inputs, work, hint=not salvage)


def _line(path: str, target: str | None, report: UnpackReport) -> dict[str, Any]:
    """The line for ``--json``."""
    from serialpack.cli.run import rounded
    from serialpack.cli.salvage import losses

    entry = {} if report.entry is None else {"entry": report.entry}
    return {
        "source": path,
        "target": target,
        **entry,
        "format": report.format,
        "size": report.size,
        "blocks": report.blocks,
        "blocks_read": report.blocks_read,
        "records": report.records,
        "exact": report.exact,
        **losses(report),
        "seconds": rounded(report.seconds),
    }
