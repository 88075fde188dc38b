"""The formats: what a file is, where its records are, how its text was written.

Enter at ``FORMATS``, which gives a format by name, number or extension; ``base.Format`` is the
contract. A package a family, in which the file named after a format declares it; no family knows
another. To add one: a class in a file, and a line below.

What families have in common: ``shared`` splits, reads and writes (``document`` for whole files,
``lines``, ``split``), ``messages`` is the base of MessagePack and CBOR, ``losses`` finds what
values cannot hold, ``pieces`` puts together what is written in pieces.

- block: a piece of the source, of whole records where these are known
- boundary: where a record ends and the next begins; sources are split into blocks there
- style: how a text was written (separators, indent, escapes, line ends)
- bytes: what is in no format that is known; also what a container calls it
- value format: one whose blocks can become values and text again
"""

from __future__ import annotations

from serialpack.formats.declaration import Declaration
from serialpack.formats.registry import FormatRegistry
from serialpack.msgpack_bytes import LISTS, MAPS

__all__ = ["FORMATS", "Declaration"]

_MSGSPEC_JSON = ("msgspec-json", "json")
_JSON_KIND = "serialpack.formats.json.found:json_kind"

#: Numbers are only ever added.
FORMATS = FormatRegistry(
    Declaration("bytes", 0, "serialpack.formats.bytes:BytesFormat", joins=b""),
    Declaration(
        "json",
        1,
        "serialpack.formats.json.json:JsonFormat",
        (".json", ".geojson", ".topojson", ".json5", ".jsonc"),
        told_by=_JSON_KIND,
        is_text=True,
        columns="json",
        writers=_MSGSPEC_JSON,
        is_json=True,
        integer_bits=53,
    ),
    Declaration(
        "ndjson",
        2,
        "serialpack.formats.json.ndjson:NdJsonFormat",
        (".ndjson", ".jsonl", ".ldjson"),
        told_by=_JSON_KIND,
        is_text=True,
        has_lines=True,
        sequence=True,
        joins=b"",
        columns="json",
        writers=_MSGSPEC_JSON,
        is_json=True,
        integer_bits=53,
    ),
    Declaration(
        "csv",
        3,
        "serialpack.formats.csv.csv:CsvFormat",
        (".csv",),
        told_by="serialpack.formats.csv.dialects:dialect_told",
        is_text=True,
        has_lines=True,
        delimiter=b",",
        sequence=True,
        joins=b"",
        columns="csv",
    ),
    Declaration(
        "tsv",
        4,
        "serialpack.formats.csv.csv:TsvFormat",
        (".tsv", ".tab"),
        is_text=True,
        has_lines=True,
        delimiter=b"\t",
        sequence=True,
        joins=b"",
        columns="tsv",
        dialect_of="csv",
    ),
    Declaration(
        "csv:semicolon",
        30,
        "serialpack.formats.csv.csv:SemicolonFormat",
        is_target=False,
        is_text=True,
        has_lines=True,
        delimiter=b";",
        sequence=True,
        joins=b"",
        columns="csv:semicolon",
        dialect_of="csv",
        writers=("csv",),
    ),
    Declaration(
        "csv:pipe",
        31,
        "serialpack.formats.csv.csv:PipeFormat",
        is_target=False,
        is_text=True,
        has_lines=True,
        delimiter=b"|",
        sequence=True,
        joins=b"",
        columns="csv:pipe",
        dialect_of="csv",
        writers=("csv",),
    ),
    Declaration(
        "csv:dialect",
        33,
        "serialpack.formats.csv.csv:DialectFormat",
        is_source=False,
        is_target=False,
        is_text=True,
        has_lines=True,
        delimiter=b",",
        sequence=True,
        variants="serialpack.formats.csv.found:CsvVariants",
    ),
    Declaration(
        "msgpack",
        5,
        "serialpack.formats.msgpack.msgpack:MsgPackFormat",
        (".msgpack", ".mpk"),
        containers=MAPS | LISTS,
        joins=b"",
        columns="msgpack",
        writers=("msgspec-msgpack", "msgpack"),
    ),
    Declaration("object", 6, "serialpack.formats.python.object:ObjectFormat", is_source=False),
    Declaration(
        "yaml:1.1",
        7,
        "serialpack.formats.yaml.yaml:Yaml11Format",
        tidied_by="serialpack.formats.yaml.empty:without_empty",
        is_text=True,
        is_target=False,
        version_of="yaml",
    ),
    Declaration(
        "yaml",
        19,
        "serialpack.formats.yaml.yaml:YamlFormat",
        (".yaml", ".yml"),
        tidied_by="serialpack.formats.yaml.empty:without_empty",
        is_text=True,
        joins=b"---\n",
    ),
    Declaration("toml", 8, "serialpack.formats.toml.toml:TomlFormat", (".toml",), is_text=True),
    Declaration(
        "cbor",
        9,
        "serialpack.formats.cbor.cbor:CborFormat",
        (".cbor",),
        magic=(b"\xd9\xd9\xf7",),  # the tag "self-described" (RFC 8949, 3.4.6)
        containers=frozenset(range(0x80, 0xC0)),  # the major types 4 and 5 (RFC 8949, 3.1)
        joins=b"",
    ),
    Declaration(
        "bson",
        10,
        "serialpack.formats.bson.bson:BsonFormat",
        (".bson",),
        sequence=True,
        joins=b"",
        decimal128=True,
    ),
    Declaration(
        "xml",
        35,
        "serialpack.formats.xml.xml:XmlFormat",
        (".xml", ".svg", ".gpx", ".kml", ".rss", ".atom", ".rdf", ".xsd", ".xsl", ".wsdl", ".pom"),
        magic=(b"<?xml",),
        told_by="serialpack.formats.xml.root:kind_told",
        is_text=True,
        says_encoding=True,
        own_writer=True,
        has_elements=True,
    ),
    Declaration(
        "typed-xml",
        11,
        "serialpack.formats.xml.typed:TypedXmlFormat",
        is_text=True,
        says_encoding=True,
        writers=("xml",),
    ),
    Declaration(
        "protobuf",
        12,
        "serialpack.formats.protobuf.protobuf:ProtobufFormat",
        (".protobuf", ".pb"),
        sequence=True,
    ),
    Declaration(
        "avro",
        13,
        "serialpack.formats.avro.avro:AvroFormat",
        (".avro",),
        magic=(b"Obj\x01",),
        sequence=True,
        one_schema=True,
    ),
    Declaration(
        "java",
        14,
        "serialpack.formats.java.java:JavaFormat",
        (".ser",),
        magic=(b"\xac\xed\x00\x05",),
    ),
    Declaration(
        "pickle",
        15,
        "serialpack.formats.python.pickle:PickleFormat",
        (".pkl", ".pickle"),
        magic=(b"\x80\x04\x95", b"\x80\x05\x95"),
        sign="serialpack.formats.python.found:is_framed",
        told_by="serialpack.formats.python.found:pickle_told",
    ),
    Declaration("marshal", 16, "serialpack.formats.python.marshal:MarshalFormat"),
    Declaration(
        "parquet",
        17,
        "serialpack.formats.tables.parquet:ParquetFormat",
        (".parquet",),
        magic=(b"PAR1\x15",),  # the first field of a page, or of the footer
        sequence=True,
        one_schema=True,
        typed_columns=True,
    ),
    Declaration(
        "arrow",
        18,
        "serialpack.formats.tables.arrow:ArrowFormat",
        (".arrow", ".feather", ".arrows"),
        # Streams from before 0.15 begin with a length; where the rest is found stands behind it.
        magic=(b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\0\0\0"),
        magic_at=(0, 5),
        sign="serialpack.formats.tables.found:begins_arrow",
        sequence=True,
        one_schema=True,
        typed_columns=True,
    ),
    Declaration(
        "npy",
        32,
        "serialpack.formats.arrays.npy:NpyFormat",
        (".npy",),
        magic=(b"\x93NUMPY",),
        sequence=True,
        is_array=True,
    ),
    Declaration(
        "npz",
        38,
        "serialpack.formats.arrays.npz:NpzFormat",
        (".npz",),
        magic=(b"PK\x03\x04", b"PK\x05\x06"),  # the second is of one without arrays
        sign="serialpack.formats.arrays.found:is_npz",
        has_arrays=True,
    ),
    Declaration(
        "nifti",
        36,
        "serialpack.formats.arrays.nifti:NiftiFormat",
        (".nii",),
        magic=(b"n+1\0", b"n+2\0\r\n\x1a\n"),
        magic_at=(344, 4),
        is_target=False,
        is_array=True,
    ),
    Declaration(
        "mrc",
        37,
        "serialpack.formats.arrays.mrc:MrcFormat",
        (".mrc",),
        magic=tuple(
            b"MAP" + end + order for end in (b" ", b"\0") for order in (b"DD", b"DA", b"\x11\x11")
        ),
        magic_at=(208,),
        is_target=False,
        is_array=True,
    ),
    Declaration(
        "hdf5",
        39,
        "serialpack.formats.arrays.hdf5.hdf5:Hdf5Format",
        (".h5", ".hdf5", ".he5", ".nc4"),
        magic=(b"\x89HDF\r\n\x1a\n",),
        magic_at=(0, *(512 << n for n in range(8))),  # behind what others keep in front of it
        has_arrays=True,
        has_datasets=True,
    ),
    Declaration(
        "sqlite",
        34,
        "serialpack.formats.sqlite.sqlite:SqliteFormat",
        (".db", ".sqlite", ".sqlite3"),
        magic=(b"SQLite format 3\0",),
        has_magic=True,
        sequence=True,
        is_database=True,
    ),
)
