"""The serializers. To add one: a class in a file here, and a line below."""

from __future__ import annotations

from serialpack.errors import MissingLibraryError
from serialpack.serializers.base import Serializer, hint_for
from serialpack.stages.stage import Entry, Registry

__all__ = ["SERIALIZERS", "hint_for", "reader"]

SERIALIZERS: Registry[Serializer] = Registry(
    "serializer",
    Entry("raw", 32, "serialpack.serializers.raw:Raw"),
    Entry("columns", 36, "serialpack.serializers.columns:Columns"),
    Entry("json", 33, "serialpack.serializers.json:Json"),
    Entry("ujson", 34, "serialpack.serializers.ujson:UJson"),
    Entry("simplejson", 37, "serialpack.serializers.simplejson:SimpleJson"),
    Entry("rapidjson", 38, "serialpack.serializers.rapidjson:RapidJson"),
    Entry("pyrapidjson", 39, "serialpack.serializers.pyrapidjson:PyRapidJson"),
    Entry("orjson", 40, "serialpack.serializers.orjson:OrJson"),
    Entry("msgspec-json", 41, "serialpack.serializers.msgspec_json:MsgSpecJson"),
    Entry("msgpack", 35, "serialpack.serializers.msgpack:MsgPack"),
    Entry("umsgpack", 42, "serialpack.serializers.umsgpack:UMsgPack"),
    Entry("ormsgpack", 43, "serialpack.serializers.ormsgpack:OrMsgPack"),
    Entry("msgspec-msgpack", 44, "serialpack.serializers.msgspec_msgpack:MsgSpecMsgPack"),
    Entry("cbor", 48, "serialpack.serializers.cbor:Cbor"),
    Entry("bson", 57, "serialpack.serializers.bson:Bson"),
    Entry("xml", 53, "serialpack.serializers.xml:Xml"),
    Entry("java", 56, "serialpack.serializers.java:Java"),
    Entry("yaml", 49, "serialpack.serializers.yaml:Yaml"),
    Entry("toml", 50, "serialpack.serializers.toml:Toml"),
    Entry("csv", 51, "serialpack.serializers.csv:Csv"),
    Entry("tsv", 52, "serialpack.serializers.csv:Tsv"),
    Entry("protobuf", 54, "serialpack.serializers.protobuf:Protobuf"),
    Entry("pickle", 45, "serialpack.serializers.pickle:Pickle"),
    Entry("marshal", 46, "serialpack.serializers.marshal:Marshal"),
    Entry("cloudpickle", 47, "serialpack.serializers.cloudpickle:CloudPickle"),
    Entry("avro", 55, "serialpack.serializers.avro:Avro"),
    Entry("parquet", 58, "serialpack.serializers.parquet:Parquet"),
    Entry("arrow", 59, "serialpack.serializers.arrow:Arrow"),
)


def reader(name: str, values: tuple[int, ...] = ()) -> Serializer:
    """A serializer that reads what ``name`` wrote: itself, or where its library is absent another
    of the same format. MissingLibraryError where there is none.
    """
    try:
        return SERIALIZERS.create(name, values)
    except MissingLibraryError:
        stored = SERIALIZERS.cls(name).stored_format
        for entry in SERIALIZERS:
            cls = SERIALIZERS.cls(entry.name)
            if cls.stored_format == stored and cls.missing(entry.name) is None:
                return SERIALIZERS.create(entry.name)
        raise
