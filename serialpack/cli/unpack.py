"""``serialpack unpack``."""

from __future__ import annotations

import click

from serialpack.cli.options import (
    Range,
    Size,
    Verb,
    common_options,
    files_argument,
    output_options,
)
from serialpack.cli.requests import UnpackRequest, request


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
@request(UnpackRequest)
def command(asked: UnpackRequest) -> int:
    _check(asked)
    if asked.to is not None:
        from serialpack.cli.convert import Converter

        return Converter(asked, asked.to).run()
    from serialpack.cli.unpacking import Unpacker

    return Unpacker(asked).run()


def _check(asked: UnpackRequest) -> None:
    """UsageError where options do not go together."""
    from serialpack.errors import UsageError

    keep, part = asked.outputs.keep, asked.records or asked.byte_range
    if asked.test and (asked.outputs.output or not keep or part):
        raise UsageError("--test writes nothing: it goes without -o, --rm, --records and --bytes")
    if asked.salvage and (asked.test or asked.to or not keep or part):
        raise UsageError(
            "--salvage takes all that is left, and its source stays: it goes without --to, --test,"
            " --records, --bytes and --rm"
        )
    if not keep and part:
        raise UsageError("--rm needs the whole source to be unpacked")
    if asked.to is not None:
        if asked.test or part:
            raise UsageError("--test, --records and --bytes do not go with --to")
    elif (
        *(asked.format, asked.tagged, asked.skip_bad, asked.no_verify),
        *(asked.lossy, asked.fields, asked.schema, asked.message),
    ) != (None, False, False, False, (), (), None, None):
        raise UsageError(
            "--from, --fields, --lossy, --tagged and the like go with --to", hint="--to FORMAT"
        )
