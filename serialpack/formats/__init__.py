"""The formats: what a file is, where its records are, how its text was written.

Enter at ``FORMATS``, which gives a format by name, number or extension; ``base.Format`` is the
contract. A package a family, in which the file named after a format declares it, and ``shared``
for what families have in common; no family knows another. To add one: a class in a file, and a
line below.

- block: a piece of the source, of whole records where these are known
- style: how a text was written (separators, indent, escapes, line ends)
- value format: one whose blocks can become values and text again
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, cast

from serialpack.errors import UsageError
from serialpack.formats.base import Format


class FormatEntry(NamedTuple):
    """One registry line. ``number`` is the format's number in the container, for ever."""

    name: str
    number: int
    where: str
    #: Of file names, lower case, with the dot; the first is the usual one.
    extensions: tuple[str, ...] = ()
    #: Whether a file can be in it.
    is_source: bool = True


class FormatRegistry:
    """The formats by name, by number and by extension; a module is imported when it is used."""

    def __init__(self, *entries: FormatEntry) -> None:
        self._by_name = {e.name: e for e in entries}
        self._by_number = {e.number: e for e in entries}
        self._by_extension = {x: e for e in entries for x in e.extensions}
        if not len(entries) == len(self._by_name) == len(self._by_number):
            raise ValueError("two formats share a name or a number")

    def __iter__(self) -> Iterator[FormatEntry]:
        return iter(self._by_name.values())

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def names(self) -> list[str]:
        return list(self._by_name)

    def entry(self, name: str) -> FormatEntry:
        """The line of ``name``, or UsageError with the nearest names."""
        if name not in self._by_name:
            import difflib

            near = difflib.get_close_matches(name, self._by_name, n=3) or self.names()
            raise UsageError(f"unknown format {name!r}", hint="known: " + ", ".join(near))
        return self._by_name[name]

    def sources(self) -> list[FormatEntry]:
        """The formats that a file can be in."""
        return [e for e in self if e.is_source]

    def source(self, name: str) -> FormatEntry:
        """As ``entry``, for what a file is said to be."""
        found = self.entry(name)
        if not found.is_source:
            raise UsageError(f"no file is in the format {name}", hint="serialpack.dump makes them")
        return found

    def by_number(self, number: int) -> FormatEntry | None:
        return self._by_number.get(number)

    def by_extension(self, name: str) -> FormatEntry | None:
        """The format that a file's name ends in (``data.json``), if any does."""
        dot = name.rfind(".")
        return self._by_extension.get(name[dot:].lower()) if dot >= 0 else None

    def get(self, name: str) -> Format:
        """The format itself. It keeps no state, so one serves all threads."""
        return _instance(self.entry(name).where)


@cache
def _instance(where: str) -> Format:
    module, _, attribute = where.partition(":")
    return cast(Format, getattr(importlib.import_module(module), attribute)())


#: Numbers are only ever added.
FORMATS = FormatRegistry(
    FormatEntry("bytes", 0, "serialpack.formats.bytes:Bytes"),
    FormatEntry("json", 1, "serialpack.formats.json.json:Json", (".json", ".geojson", ".topojson")),
    FormatEntry(
        "ndjson", 2, "serialpack.formats.json.ndjson:NdJson", (".ndjson", ".jsonl", ".ldjson")
    ),
    FormatEntry("csv", 3, "serialpack.formats.csv.csv:Csv", (".csv",)),
    FormatEntry("tsv", 4, "serialpack.formats.csv.csv:Tsv", (".tsv", ".tab")),
    FormatEntry("msgpack", 5, "serialpack.formats.msgpack.msgpack:MsgPack", (".msgpack", ".mpk")),
    FormatEntry("object", 6, "serialpack.formats.python.object:Object", is_source=False),
    FormatEntry("yaml:1.1", 7, "serialpack.formats.yaml.yaml:Yaml11"),
    FormatEntry("yaml", 19, "serialpack.formats.yaml.yaml:Yaml", (".yaml", ".yml")),
    FormatEntry("toml", 8, "serialpack.formats.toml.toml:Toml", (".toml",)),
    FormatEntry("cbor", 9, "serialpack.formats.cbor.cbor:Cbor", (".cbor",)),
    FormatEntry("bson", 10, "serialpack.formats.bson.bson:Bson", (".bson",)),
    FormatEntry("xml", 11, "serialpack.formats.xml.xml:Xml", (".xml",)),
    FormatEntry(
        "protobuf", 12, "serialpack.formats.protobuf.protobuf:Protobuf", (".protobuf", ".pb")
    ),
    FormatEntry("avro", 13, "serialpack.formats.avro.avro:Avro", (".avro",)),
    FormatEntry("java", 14, "serialpack.formats.java.java:Java", (".ser",)),
    FormatEntry("pickle", 15, "serialpack.formats.python.pickle:Pickle", (".pkl", ".pickle")),
    FormatEntry("marshal", 16, "serialpack.formats.python.marshal:Marshal"),
    FormatEntry("parquet", 17, "serialpack.formats.tables.parquet:Parquet", (".parquet",)),
    FormatEntry(
        "arrow", 18, "serialpack.formats.tables.arrow:Arrow", (".arrow", ".feather", ".arrows")
    ),
)
