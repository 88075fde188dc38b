"""``serialpack bench``."""

from __future__ import annotations

import click

from serialpack.cli.options.declared import (
    Verb,
    Without,
    common_options,
    file_only,
    files_argument,
    from_option,
    input_options,
)
from serialpack.cli.options.requests import BenchRequest, request
from serialpack.cli.options.values import Speed, Threads
from serialpack.stores.registry import STORES


@click.command(
    "bench",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure which serializer and codec suit FILE; print the command to copy.",
    examples=(
        ("serialpack bench data.json", "a table, and what to run"),
        ("serialpack bench -r folder", "a sample of the files in it"),
        ("serialpack bench --prefer portable data.json", "what other languages read"),
        ("serialpack bench -c zstd:3 -c lz4 -j 1,2 data.csv", "stages of your choice"),
        ("serialpack bench --sample contacts:60000", "data that is built in"),
    ),
    without=(
        Without("sample", "--sample is no file", ("format",)),
        Without("store", "--store measures its values", ("prefer", "line", "threads", "cold_all")),
        Without("as_json", "--json is a report itself", ("report",)),
    ),
)
@click.option(
    "-s",
    "--serializer",
    "serializers",
    metavar="NAME",
    multiple=True,
    help="Only these; default: all that can hold FILE.",
)
@click.option(
    "--filter",
    "filters",
    metavar="NAME[:SIZE]",
    multiple=True,
    help="Only these; default: those that help.",
)
@click.option(
    "-c",
    "--codec",
    "codecs",
    metavar="NAME[:LEVEL]",
    multiple=True,
    help="Only these; default: those worth trying.",
)
@from_option
@click.option(
    "--budget",
    type=float,
    metavar="SECONDS",
    help="How long to measure; default: 20.",
)
@click.option("--sample", metavar="SAMPLE", help="Built-in data in place of FILE: contacts:60000.")
@click.option("--sweep", metavar="A:B:STEP", help="Measure for several numbers of records.")
@click.option(
    "--prefer",
    type=click.Choice(["size", "speed", "portable", "text", "safe"]),
    metavar="WHAT",
    help="Recommend by size, speed, portable, text, safe.",
)
@click.option(
    "--line",
    type=Speed(),
    metavar="SPEED",
    help="Balance for a line of SPEED bytes/s; default: 10M.",
)
@click.option("--peers", is_flag=True, help="Measure the stock gzip, zstd, xz, lz4 too.")
@click.option(
    "-j", "--threads", type=Threads(), metavar="N,...", help="Threads to measure; default: all."
)
@click.option(
    "--store",
    type=click.Choice([*STORES]),
    metavar="STORE",
    help="Measure single values in a store: lmdb, ...",
)
@click.option("--disk", is_flag=True, help="Measure through files, not in memory.")
@click.option("--cold", is_flag=True, help="As --disk, dropped from the cache before reads.")
@click.option("--cold-all", is_flag=True, help="The same with all of the cache, as root.")
@click.option(
    "--format",
    "report",
    type=click.Choice(["table", "json", "csv", "markdown"]),
    default="table",
    metavar="REPORT",
    help="Print a table (default), json, csv, markdown.",
)
@click.option(
    "--plot", metavar="PATH", callback=file_only, help="Draw size against speed: .png or .svg."
)
@click.option(
    "--html", metavar="PATH", callback=file_only, help="Write a page to look at in a browser."
)
@click.option("--save", metavar="PATH", callback=file_only, help="Keep the results, for --compare.")
@click.option("--compare", metavar="PATH", help="Show what changed since these results.")
@click.option("-f", "--force", is_flag=True, help="Overwrite.")
@input_options
@common_options
@files_argument
@request(BenchRequest)
def command(asked: BenchRequest) -> int:
    from serialpack.cli.verbs.benching import Bencher

    return Bencher(asked).run()
