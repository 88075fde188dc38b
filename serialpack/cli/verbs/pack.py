"""``serialpack pack``."""

from __future__ import annotations

import click

from serialpack.cli.options.declared import (
    Verb,
    common_options,
    file_only,
    files_argument,
    from_option,
    input_options,
    output_options,
    table_options,
)
from serialpack.cli.options.requests import PackRequest, as_workers_see, request
from serialpack.cli.options.values import KeyValue, Size


@click.command(
    "pack",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Pack each FILE into FILE.spk; no FILE or -: standard input to standard output.",
    examples=(
        ("serialpack pack data.json", "data.json.spk, exact bytes"),
        ("serialpack pack -9 *.json -o DIR/", "as small as can be, into a folder"),
        ("serialpack pack -r FOLDER -o DIR/", "all its files, its tree kept"),
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
@from_option
@table_options("CSV")
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
@click.option(
    "--shared-dict",
    metavar="PATH",
    callback=file_only,
    help="A dictionary for small files of a kind; trained if not there.",
)
@click.option("--archive", is_flag=True, help="All inputs into one container, which -o names.")
@click.option("--owner", is_flag=True, help="With --archive: keep numbers of user and group.")
@output_options
@input_options
@common_options
@files_argument
@request(PackRequest)
def command(asked: PackRequest) -> int:
    from serialpack.cli.verbs.packing import Packer
    from serialpack.stages.chain import is_codec

    if not is_codec(asked.codec):
        from serialpack.cli.options.foreign_options import check_codec

        check_codec(asked.codec, "pack")
    return Packer(as_workers_see(asked)).run()
