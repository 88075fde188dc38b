"""``serialpack unpack``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from serialpack.cli.options.declared import (
    Verb,
    Without,
    common_options,
    files_argument,
    from_option,
    input_options,
    is_given,
    output_options,
    shared_dict_option,
)
from serialpack.cli.options.requests import StoredValues, UnpackRequest, as_workers_see, request
from serialpack.cli.options.values import FormatName, Range, Size
from serialpack.far import is_store

if TYPE_CHECKING:
    from serialpack.cli.verbs.stores import StoreReader, StoreWriter


def _lists() -> dict[str, list[str]]:
    """The formats and the kinds of loss, as they are declared."""
    from serialpack.conversion.losses.rules import EVERY, RULES
    from serialpack.conversion.targets.writers import written
    from serialpack.formats import FORMATS
    from serialpack.stores.registry import STORES

    targets = written()
    only_read = [d.name for d in FORMATS.sources() if d.name not in {*targets, "bytes"}]
    return {
        "Formats, also by extension (jsonl, yml)": targets,
        "Only read": only_read,
        "Losses": [*(name for name, rule in RULES.items() if rule.is_loss), EVERY],
        "Stores": [f"{name}://PATH" for name in STORES],
    }


#: What is done around files, of which a store and its values are none.
_OF_FILES = (
    *("skip_existing", "name", "sync", "stats", "profile", "journal", "scheduler"),
    *("include", "exclude", "gitignore", "nul"),
)


@click.command(
    "unpack",
    cls=Verb,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Unpack each FILE.spk to FILE, or convert any FILE with --to; no FILE: a pipe.",
    completes=".spk",
    lists=_lists,
    without=(
        Without("test", "--test writes nothing", ("skip_existing", "name", "dry_run")),
        Without("output", "-o STORE fills one store, anew", _OF_FILES, is_store),
        Without(
            "get",
            "--get takes one value out of a store",
            (*_OF_FILES, "dry_run", "as_json", "key", "duplicates", "serializer", "codec"),
            is_given,
        ),
    ),
    examples=(
        ("serialpack unpack data.json.spk", "data.json again"),
        ("serialpack unpack --to json config.yaml", "config.json: a conversion"),
        ("serialpack unpack --test *.spk", "check every byte, write nothing"),
        ("serialpack unpack --records 10:20 a.spk -o -", "ten records, quickly"),
        ("serialpack unpack a.csv -o sqlite-kv://a.db", "a value a record, in a store"),
    ),
)
@click.option(
    "-t", "--to", type=FormatName(), metavar="FORMAT", help="Write FORMAT instead; see below."
)
@from_option
@click.option("--delimiter", metavar="CHAR", help="With --to: between fields of CSV; , ; | or tab.")
@click.option("--encoding", metavar="ENCODING", help="With --to: of text that is not UTF-8.")
@click.option("--no-header", is_flag=True, help="With --to: of CSV; columns are column1, ...")
@click.option("--table", metavar="NAME", help="With --to: of a database; default: FILE's, or one.")
@click.option("--lossy", metavar="KIND", multiple=True, help="Allow a loss: digits, ..., or all.")
@click.option("--strict", is_flag=True, help="Refuse what needs another type or shape.")
@click.option("--at", metavar="A.B", help="Take the records from the value named A.B.")
@click.option("--columnar", is_flag=True, help="Read a map of lists as columns, records across.")
@click.option("--header", is_flag=True, help="Take the first of several lists for names.")
@click.option("--null", metavar="WORD", help="The word for null in cells; empty is missing then.")
@click.option("--typed", is_flag=True, help="Read bare cells as values, quoted ones as text.")
@click.option(
    "--nest",
    metavar="[NAME]",
    is_flag=False,
    flag_value="",
    help="Read columns a.b as maps, column NAME as JSON.",
)
@click.option("--infer", is_flag=True, help="Give columns of text the type of all their cells.")
@click.option(
    "--types",
    metavar="NAME=TYPE",
    multiple=True,
    help="Give columns a type: integer, number, date, ...",
)
@click.option("--indent", type=click.IntRange(1, 16), metavar="N", help="Spaces for each level.")
@click.option("--ascii", is_flag=True, help="Escape what is not ASCII, in JSON and NDJSON.")
@click.option("--flatten", is_flag=True, help="Write maps as columns a.b in Parquet and Arrow.")
@click.option("--separator", metavar="WORD", help="Between a and b in columns a.b; default: a dot.")
@click.option(
    "--out-delimiter", metavar="CHAR", help="Between fields of CSV that is written: , ; |."
)
@click.option("--tagged", is_flag=True, help="Write, and read, JSON that says every type.")
@click.option("--skip-bad", is_flag=True, help="Leave out bad records, and say which.")
@click.option(
    "--fields",
    multiple=True,
    metavar="A,B.C",
    help="Only those fields; without --to, in its format.",
)
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
@shared_dict_option
@click.option("--trust", is_flag=True, help="Undo pickle too, which runs code that is in FILE.")
@click.option("--key", metavar="FIELD", help="With -o STORE: key; default: the record's number.")
@click.option(
    "--duplicates",
    type=click.Choice(["first", "last"]),
    metavar="WHICH",
    help="With -o STORE: keep first or last.",
)
@click.option(
    "-s", "--serializer", metavar="NAME", default="auto", help="With -o STORE: of its values."
)
@click.option(
    "-c", "--codec", metavar="NAME[:LEVEL]", default="auto", help="With -o STORE: of its values."
)
@click.option("--get", metavar="KEY", help="Of a STORE: the value of KEY, as JSON.")
@output_options
@input_options
@common_options
@files_argument
@request(UnpackRequest)
def command(asked: UnpackRequest) -> int:
    nest = asked.conversion.nest
    if nest and not asked.files and os.path.exists(nest):
        # --nest names nothing, then.
        asked = asked._replace(files=(nest,), conversion=asked.conversion._replace(nest=""))
    asked = as_workers_see(asked)
    stores = _of_stores(asked)
    if stores is not None:
        return stores.run()
    said = {**asked.input._asdict(), **asked.conversion._asdict()}
    converting = [name for name, value in said.items() if value not in _NOT_GIVEN]
    if asked.to is None and asked.outputs.output is not None:
        from serialpack.cli.options.implied_format import format_meant

        asked = asked._replace(to=format_meant(asked, converts=bool(converting)))
    _check(asked, converting)
    if asked.to is not None or asked.conversion.fields:
        from serialpack.cli.verbs.convert import Converter

        return Converter(asked, asked.to).run()
    from serialpack.cli.verbs.unpacking import Unpacker

    return Unpacker(asked).run()


def _of_stores(asked: UnpackRequest) -> StoreReader | StoreWriter | None:
    """What writes to a store, or takes a value out of one, where that is asked for."""
    output, values = asked.outputs.output, asked.values
    if values.get is None and not is_store(output):
        if values != StoredValues("auto", "auto", None, None, None):
            from serialpack.cli.options.foreign_options import check_codec
            from serialpack.errors import UsageError
            from serialpack.stages.chain import is_codec

            if not is_codec(values.codec):
                check_codec(values.codec, "unpack")
            raise UsageError(
                "--key, --duplicates, -s and -c are for the values of a store",
                hint="-o sqlite-kv://FILE.db",
            )
        return None
    from serialpack.cli.verbs.stores import StoreReader, StoreWriter

    return StoreWriter(asked) if values.get is None else StoreReader(asked)


#: What an option is that was not given.
_NOT_GIVEN = (None, False, ())


def _check(asked: UnpackRequest, converting: list[str]) -> None:
    """UsageError where options do not go together; ``converting``: those given for --to."""
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
    if asked.to is not None or asked.conversion.fields:
        if not asked.whole:
            raise UsageError(
                "--test, --salvage, --records and --bytes do not go with --to, --fields",
                hint="a pipe of two does both, or | head -n N behind --to ndjson -o -"
                if part
                else None,
            )
    elif converting:
        names = [f"--{'from' if n == 'format' else n.replace('_', '-')}" for n in converting]
        raise UsageError(
            f"{' and '.join(names)} {'go' if len(names) > 1 else 'goes'} with --to",
            hint="--to FORMAT, -o FILE.json",
        )
