"""Every serializer, filter and codec: its name, its number in the container, where its class is.

One line a stage. Numbers are one sequence over all three kinds, and only ever added to; what each
means is written in man/spk.5. The packages ``serializers``, ``filters`` and ``codecs`` give the
same registries with the type of what is in them.
"""

from __future__ import annotations

from typing import Any

from serialpack.stages.stage import Entry, Registry

SERIALIZERS: Registry[Any] = Registry(
    "serializer",
    Entry("raw", 32, "serialpack.serializers.raw:RawSerializer"),
    Entry("columns", 36, "serialpack.serializers.columns:ColumnsSerializer"),
    Entry("json", 33, "serialpack.serializers.json:JsonSerializer"),
    Entry("ujson", 34, "serialpack.serializers.ujson:UJsonSerializer"),
    Entry("simplejson", 37, "serialpack.serializers.simplejson:SimpleJsonSerializer"),
    Entry("rapidjson", 38, "serialpack.serializers.rapidjson:RapidJsonSerializer"),
    Entry("pyrapidjson", 39, "serialpack.serializers.pyrapidjson:PyRapidJsonSerializer"),
    Entry("orjson", 40, "serialpack.serializers.orjson:OrJsonSerializer"),
    Entry("msgspec-json", 41, "serialpack.serializers.msgspec_json:MsgSpecJsonSerializer"),
    Entry("msgpack", 35, "serialpack.serializers.msgpack:MsgPackSerializer"),
    Entry("umsgpack", 42, "serialpack.serializers.umsgpack:UMsgPackSerializer"),
    Entry("ormsgpack", 43, "serialpack.serializers.ormsgpack:OrMsgPackSerializer"),
    Entry("msgspec-msgpack", 44, "serialpack.serializers.msgspec_msgpack:MsgSpecMsgPackSerializer"),
    Entry("cbor", 48, "serialpack.serializers.cbor:CborSerializer"),
    Entry("bson", 57, "serialpack.serializers.bson:BsonSerializer"),
    Entry("xml", 53, "serialpack.serializers.xml:XmlSerializer"),
    Entry("java", 56, "serialpack.serializers.java:JavaSerializer"),
    Entry("yaml", 49, "serialpack.serializers.yaml:YamlSerializer"),
    Entry("toml", 50, "serialpack.serializers.toml:TomlSerializer"),
    Entry("csv", 51, "serialpack.serializers.csv:CsvSerializer"),
    Entry("tsv", 52, "serialpack.serializers.csv:TsvSerializer"),
    Entry("protobuf", 54, "serialpack.serializers.protobuf:ProtobufSerializer"),
    Entry("pickle", 45, "serialpack.serializers.pickle:PickleSerializer"),
    Entry("marshal", 46, "serialpack.serializers.marshal:MarshalSerializer"),
    Entry("cloudpickle", 47, "serialpack.serializers.cloudpickle:CloudPickleSerializer"),
    Entry("avro", 55, "serialpack.serializers.avro:AvroSerializer"),
    Entry("parquet", 58, "serialpack.serializers.parquet:ParquetSerializer"),
    Entry("arrow", 59, "serialpack.serializers.arrow:ArrowSerializer"),
    Entry("objects", 60, "serialpack.serializers.objects.objects:ObjectsSerializer"),
)

FILTERS: Registry[Any] = Registry(
    "filter",
    Entry("shuffle", 64, "serialpack.filters.shuffle:Shuffle"),
    Entry("bitshuffle", 65, "serialpack.filters.bitshuffle:BitShuffle"),
    Entry("delta", 66, "serialpack.filters.delta:Delta"),
    Entry("xor", 67, "serialpack.filters.xor:Xor"),
    Entry("zigzag", 68, "serialpack.filters.zigzag:Zigzag"),
    Entry("ordered", 69, "serialpack.filters.ordered:Ordered"),
    Entry("byteswap", 70, "serialpack.filters.byteswap:ByteSwap"),
    Entry("transpose", 71, "serialpack.filters.transpose:Transpose"),
    Entry("scaled", 72, "serialpack.filters.scaled:Scaled"),
)

CODECS: Registry[Any] = Registry(
    "codec",
    Entry("none", 0, "serialpack.codecs.none:NoCodec"),
    Entry("zstd", 1, "serialpack.codecs.zstd:Zstd"),
    Entry("zlib", 2, "serialpack.codecs.zlib:Zlib"),
    Entry("bz2", 3, "serialpack.codecs.bz2:Bz2"),
    Entry("xz", 4, "serialpack.codecs.xz:Xz"),
    Entry("lz4", 5, "serialpack.codecs.lz4:Lz4"),
    Entry("snappy", 6, "serialpack.codecs.snappy:Snappy"),
    Entry("brotli", 7, "serialpack.codecs.brotli:Brotli"),
    Entry("lzo", 8, "serialpack.codecs.lzo:Lzo"),
    Entry("pcodec", 9, "serialpack.codecs.pcodec:Pcodec"),
    Entry("blosc-blosclz", 16, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-lz4", 17, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-lz4hc", 18, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-zlib", 19, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-zstd", 20, "serialpack.codecs.blosc:Blosc"),
    Entry("blosc-snappy", 21, "serialpack.codecs.blosc:Blosc"),
)

for _stages in (SERIALIZERS, FILTERS, CODECS):
    _stages.options = {"-s": SERIALIZERS, "--filter": FILTERS, "-c": CODECS}
