"""What ``unpack`` does with stores, and ``inspect``: records into one, a value out of one."""

from __future__ import annotations

from typing import Any

from serialpack import api
from serialpack.cli.files.each_file import each_file
from serialpack.cli.files.standard_streams import data_of, stdout
from serialpack.cli.files.workers import know
from serialpack.cli.naming import STDIO
from serialpack.cli.options.conversion_options import convert_options
from serialpack.cli.options.requests import InspectRequest, UnpackRequest
from serialpack.cli.reporting.bars import progress_bar
from serialpack.cli.reporting.converted import told_of
from serialpack.cli.reporting.say import rounded, say
from serialpack.cli.words import counted, print_table, ratio
from serialpack.conversion.files import convert
from serialpack.conversion.stores import StoreReport, convert_to_store
from serialpack.errors import UsageError
from serialpack.far import is_store
from serialpack.formats import FORMATS
from serialpack.stores.registry import store_named
from serialpack.text import number_of
from serialpack.units import format_size


class StoreWriter:
    """One call of ``unpack FILE -o STORE``. UsageError for what cannot be asked for."""

    def __init__(self, asked: UnpackRequest) -> None:
        self._asked = asked
        self._url = asked.outputs.output or ""
        self._source = _one(asked, "-o STORE")
        self._name = store_named(self._url)
        know(asked.shared_dict)
        if asked.to is not None:
            raise UsageError("a store has no format", hint="-s says which serializer it has")

    def run(self) -> int:
        """Fill the store; the exit code."""
        return each_file([self._source], self._asked.manner, self._write)

    def _write(self, source: str) -> dict[str, Any]:
        """Fill the store with the records of ``source``; the line for ``--json``."""
        asked = self._asked
        force = asked.outputs.force
        if asked.outputs.dry_run:
            from serialpack.stores.new import check_new

            if source != STDIO:
                api.check(source, None)
            check_new(self._name, force=force)
            say(asked.manner, f"would write the records of {source} into {self._url}")
            return {}
        with progress_bar(source, asked.manner) as progress:
            done = convert_to_store(
                data_of(source),
                self._url,
                chain=f"{asked.values.serializer}+{asked.values.codec}",
                key=asked.values.key,
                duplicates=asked.values.duplicates,
                progress=progress,
                how=convert_options(asked),
            )
        say(asked.manner, f"{source} -> {self._url}, {_closing(done)}")
        for line in told_of(done.converted, verbose=asked.manner.verbose):
            say(asked.manner, line)
        return _line(source, self._url, done)


class StoreReader:
    """One call of ``unpack STORE --get KEY``. UsageError for what cannot be asked for."""

    def __init__(self, asked: UnpackRequest) -> None:
        self._asked = asked
        self._url = _one(asked, "--get")
        if not is_store(self._url):
            raise UsageError("--get takes a value out of a store", hint="sqlite-kv://FILE.db")

    def run(self) -> int:
        """Write the value; the exit code."""
        return each_file([self._url], self._asked.manner, self._get)

    def _get(self, url: str) -> dict[str, Any]:
        """Write the value of the key that is asked for, as JSON or in the format of the output; the
        line for ``--json``, which is empty."""
        from io import BytesIO

        from serialpack.stores.export import StoreStream

        asked = self._asked
        assert asked.values.get is not None
        stream = StoreStream(url, trust=asked.trust)
        try:
            value, found = stream.value(asked.values.get), stream.format
        finally:
            stream.close()
        output = asked.outputs.output or STDIO
        to = asked.to or _named(output) or "json"
        how = convert_options(asked)
        # One line of NDJSON is a document of JSON, and not a list with one in it.
        how["format"] = "json" if FORMATS.declaration(found).is_json else found
        target = stdout(force=asked.outputs.force) if output == STDIO else output
        done = convert(BytesIO(value), target, to=to, **how)
        if output != STDIO:
            say(
                asked.manner,
                f"{url}, {asked.values.get} -> {output}, {format_size(done.size)}, {done.kept}",
            )
        for line in told_of(done, verbose=asked.manner.verbose):
            say(asked.manner, line)
        return {}


def _named(output: str) -> str | None:
    from serialpack.conversion.targets.writers import named_format

    return None if output == STDIO else named_format(output)


def _one(asked: UnpackRequest, option: str) -> str:
    """The one input; UsageError for several, and for what does not go with ``option``."""
    if not (asked.outputs.keep and asked.whole):
        raise UsageError(f"{option} goes without --rm, --test, --salvage, --records and --bytes")
    if len(asked.files) > 1 or asked.sources.recursive or asked.sources.files_from is not None:
        raise UsageError(f"{option} takes one FILE")
    return asked.files[0] if asked.files else STDIO


def _closing(done: StoreReport) -> str:
    """What was done, in words."""
    words = [
        number_of(done.records, "value"),
        f"{format_size(done.size)} -> {format_size(done.stored)} ({ratio(done.stored, done.size)})",
        done.chain
        + (f" with a dictionary of {format_size(done.dictionary)}" if done.dictionary else ""),
        done.converted.kept,
    ]
    if done.left_out:
        words.append(f"{done.left_out:,} left out, whose keys others have")
    return ", ".join(words)


def _line(source: str, url: str, done: StoreReport) -> dict[str, Any]:
    """The line for ``--json``."""
    converted = done.converted
    return {
        "source": source,
        "target": url,
        "format": converted.format,
        "chain": done.chain,
        "records": done.records,
        "read": converted.read,
        "size": done.size,
        "stored": done.stored,
        "dictionary": done.dictionary,
        "duplicates": done.left_out,
        "carried": [loss._asdict() for loss in converted.carried],
        "losses": [loss._asdict() for loss in converted.losses],
        "left_out": converted.left_out,
        "proved": converted.proved,
        "seconds": rounded(converted.seconds),
    }


def inspect_store(url: str, asked: InspectRequest) -> dict[str, Any]:
    """Tell what is in a store; the line for ``--json``."""
    from serialpack.stores.facts import facts_of

    if asked.head is not None:
        from serialpack.cli.verbs.heads import show_store_head

        show_store_head(url, asked.head, asked.max_size)
        return {}
    found = facts_of(url)
    if asked.manner.as_json:
        return {"source": url, **found._asdict()}
    keys = {"own": "their own", "number": "numbers of records", "field": f"field {found.field}"}
    integers = number_of(found.integer_keys, "integer")
    rows = [
        ("store", found.kind),
        ("values", f"{found.values:,}"),
        ("keys", f"{keys[found.keys]}; {found.text_keys:,} text, {integers}"),
        ("chain", found.chain),
        ("dictionary", counted(found.dictionary) if found.dictionary else "none"),
        ("size", counted(found.size)),
        ("stored", f"{counted(found.stored)}, {ratio(found.stored, found.size)}"),
        ("file", counted(found.file) if found.file else "none"),
        ("largest", counted(found.largest)),
        *([("format", found.format)] if found.format else []),
        ("written by", f"serialpack {found.writer}"),
    ]
    print_table(rows)
    return {}
