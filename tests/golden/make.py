"""Makes the golden files: good containers of every chain, kept for ever.

``python tests/golden/make.py`` writes those that are missing, with a line each in MANIFEST.tsv;
it never changes one. A later library may compress to other bytes: the files must stay readable.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from unittest.mock import patch

from tests.golden.buffers import FEW as FEW
from tests.golden.buffers import NUMBERS as NUMBERS
from tests.golden.buffers import TWO, Array, framed
from tests.golden.filters import filtered
from tests.golden.objects import DUMPED, serialized
from tests.golden.shared import ARCHIVES, NAMES, make_shared
from tests.golden.tables import FOUND, PACKED, SHARED, SHORT, WORDS
from tests.manifest import rows_of

HERE = Path(__file__).parent
MANIFEST = HERE / "MANIFEST.tsv"

#: Every golden file is packed as if its source were named so, and written at this time.
NAME, MTIME = "sample.{format}", 1_700_000_000_123_456_789

#: The path of each entry of an archive.
ENTRY = "é/folder {number}/{name}"


def records(count: int) -> list[dict[str, Any]]:
    """Records with every kind of value that JSON has; the same on every machine."""
    return [
        {
            "id": n,
            "name": f"Zoë {n * 7919 % 1000}",
            "ratio": n / 8,
            "big": 2**53 + n,
            "ok": n % 2 == 0,
            "none": None,
            "tags": [f"t{n % 3}", f"t{n % 5}"],
            "at": {"lat": n * 0.5 - 90, "lon": -n * 0.25},
        }
        for n in range(count)
    ]


#: What the golden files of dumped objects hold.
OBJECT = {"a": [1, 2.5, "é"], "b": None}


#: What one holds whose types are Python's own.
OWN = {"set": {1}, "pair": (1, -(2**70)), "date": date(2001, 12, 14), "path": PurePosixPath("a/b")}

#: Limits beyond which values are written otherwise, lowered for files to be small.
_BY_COLUMNS = {
    "serializers.objects.guessed.FEW_NUMBERS": 3,
    "serializers.objects.columns.FEW_NUMBERS": 3,
    "serializers.objects._alike.FEW_NUMBERS": 3,
    "serializers.objects._grouping.FEW_NUMBERS": 3,
    "serializers.objects._grouping.FEW_ROWS": 3,
    "serializers.objects.write.LONG": 0,
    "serializers.objects.write._MANY_OBJECTS": 1,
}
_LIMITS = {
    "object-in-place": {"formats.python.buffers.LARGE": 64},
    "object-together": _BY_COLUMNS,
    "object-alike": _BY_COLUMNS,
    "object-several": _BY_COLUMNS,
    "object-parted": _BY_COLUMNS,
    "object-stacked": _BY_COLUMNS,
}

#: The serializers that were tried with every kind of source; of the others there is one file.
_FIRST = ("json", "ujson", "msgpack")


def _hash(*what: object) -> bytes:
    return hashlib.sha256(repr(what).encode()).hexdigest().encode()


def _nulls(count: int) -> bytes:
    """An Avro file of nulls: magic, schema, end of the metadata, marker, then one block."""
    sync = bytes(range(16))
    number = bytes([count << 1 & 127 | 128, count >> 6])
    return b'Obj\1\x02\x16avro.schema\x0c"null"\0' + sync + number + b"\0" + sync


def sources() -> dict[str, tuple[str, bytes]]:
    """Name -> format and bytes of each source."""
    many = records(40)
    ndjson = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in many).encode()
    return {
        "ndjson": ("ndjson", ndjson),
        "array": ("json", json.dumps(many, indent=2).encode() + b"\n"),
        # Records of which some columns are long, then others.
        "mixed": (
            "ndjson",
            b"".join(
                b'{"id":%d,"a":"%b","b":"%b"}\n' % (n, _hash(n, "a"), _hash(n, "b"))
                for n in range(400)
            )
            + b"".join(b"[" * n + b"]" * n + b"\n" for n in range(120)),
        ),
        "map": ("json", json.dumps({f"key {n}": r for n, r in enumerate(many)}).encode()),
        "document": ("json", b'{"config": {"depth": [1, [2, [3]]]}, "x": "\\u00e9"}\n'),
        "csv": ("csv", b"id,name\n" + b"".join(b'%d,"a ""q"", %d"\n' % (n, n) for n in range(60))),
        "semicolons": (
            "csv:semicolon",
            b"id;name\r\n" + b"".join(b'%d;"a ""q""; %d,5"\r\n' % (n, n) for n in range(60)),
        ),
        "bars": ("csv:pipe", b"id|name\n" + b"".join(b"%d|a %d;5\n" % (n, n) for n in range(60))),
        **FOUND,
        "numbers": ("bytes", b"".join((n * n * 37).to_bytes(4, "little") for n in range(500))),
        "tenths": ("bytes", struct.pack("<400d", *((n * n % 1000 - 90) / 10 for n in range(400)))),
        "odd": ("bytes", bytes(range(256)) * 3 + b"tail"),
        "noise": ("bytes", b"".join(hashlib.sha256(bytes([n])).digest() for n in range(20))),
        "empty": ("bytes", b""),
        "long": ("bytes", b"0123456789\n" * 6000),
        "texts": (
            "ndjson",
            b"".join(b'{"id":"%d","name":"Zo\xc3\xab %d"}\n' % (n, n * 7 % 10) for n in range(40)),
        ),
        # As they are spelled that were packed from it when all YAML was read by YAML 1.1.
        "yaml:1.1": (
            "yaml:1.1",
            b"day: 2001-12-14\ntrue: true\nword: 'no'\n---\n- \"a\\Nb\"\n",
        ),
        "yaml": (
            "yaml",
            b"day: !!timestamp 2001-12-14\n'on': true\nword: '2001-12-15'\n"
            b'octal: 12\n---\n- "a\\Lb"\n',
        ),
        # A stream of one string: magic, version, TC_STRING, its length and its text.
        "java": ("java", bytes.fromhex("aced 0005 74 0005") + b"hello"),
        # Records of which none takes a byte: an empty map, and nulls behind their schema.
        "toml": ("toml", b""),
        "avro": ("avro", _nulls(300)),
        "object-json": ("object", b'{"a":[1,2.5,"\xc3\xa9"],"b":null}\n'),
        "object-msgpack": (
            "object",
            b"\x82\xa1a\x93\x01\xcb@\x04\0\0\0\0\0\0\xa2\xc3\xa9\xa1b\xc0",
        ),
        "object-own": (
            "object",
            b"\x84\xa3set\xd5\x03\x91\x01\xa4pair\xc7\x11\x02\x92\x01\xc7\x0c\x01\x91\xc4\t\x00\x00\x00\x00\x00\x00\x00\x00\xc0\xa4date\xc7\x0c\n\x91\xaa2001-12-14\xa4path\xc7\x13\x0e\x92\xadPurePosixPath\xa3a/b",
        ),
        "object-buffers": ("object", framed(TWO, NUMBERS)),
        "object-in-place": ("object", framed(TWO, FEW)),
        **{name: ("object", data) for name, data in serialized().items()},
        "treacherous": (
            "ndjson",
            b'{"n":9007199254740993,"m":18446744073709551615,"l":-9223372036854775808}\n'
            b'{"z":-0.0,"e":1e-7,"f":1e22,"s":"\\ud83d\\ude00","c":"\\u0000\\u001f"}\n'
            b'{"":"empty key","__proto__":1,"a":[],"o":{}}\n',
        ),
    }


class Golden(NamedTuple):
    """One golden file: its name, its source, how it is packed, the rule it keeps.

    An archive has several sources, with commas between them.
    """

    name: str
    source: str
    options: dict[str, Any]
    sentence: str


def wanted() -> Iterator[Golden]:
    """Every golden file there must be: a chain for each registered stage, and each special rule."""
    from serialpack.codecs import CODECS
    from serialpack.serializers import SERIALIZERS

    for entry in CODECS:
        yield Golden(
            f"raw+{entry.name}",
            "ndjson",
            {"codec": entry.name},
            f"codec {entry.name} at its default level",
        )
    yield from (Golden(*each) for each in filtered())
    yield Golden("raw+xz-items", "numbers", {"codec": "xz:6@4"}, "a codec told an item's size")
    for entry in SERIALIZERS:
        if entry.name == "raw":
            continue
        if entry.name == "columns":
            for source in ("texts", "ndjson", "array", "map", "csv", "treacherous", "odd"):
                yield Golden(
                    f"columns-{source}",
                    source,
                    {"serializer": "columns"},
                    f"records as columns, or as their text; source {source}",
                )
            yield Golden(
                "columns-blocks",
                "array",
                {"serializer": "columns", "block_size": 1500},
                "columns of blocks that begin within an array",
            )
            yield Golden(
                "columns-shapeless",
                "odd",
                {"serializer": "columns"},
                "a block that has nothing to take apart says so",
            )
            yield Golden(
                "columns-parts",
                "mixed",
                {"serializer": "columns", "block_size": 57_000},
                "columns in several parts, and in one",
            )
            continue
        if entry.name not in _FIRST:
            source = entry.name if entry.name == "java" else "texts"
            yield Golden(
                f"{entry.name}-{source}",
                source,
                {"serializer": entry.name},
                f"serializer {entry.name}, source {source}",
            )
            continue
        for source in ("ndjson", "array", "map", "document", "treacherous"):
            yield Golden(
                f"{entry.name}-{source}",
                source,
                {"serializer": entry.name},
                f"serializer {entry.name}, source {source}",
            )
        yield Golden(
            f"{entry.name}-blocks",
            "array",
            {"serializer": entry.name, "codec": "zlib", "block_size": 1500},
            f"serializer {entry.name}, an array cut into blocks of whole elements",
        )
    for source in ("yaml:1.1", "yaml"):
        yield Golden(
            f"pickle-{source.replace(':', '-')}",
            source,
            {"serializer": "pickle"},
            f"values of {source}, which becomes the very text again",
        )
    for source in ("ndjson", "array", "csv", "map"):
        yield Golden(
            f"blocks-{source}",
            source,
            {"block_size": 600},
            f"blocks of 600 bytes or less, cut at the records of {source}",
        )
    for codec in ("zstd", "xz", "blosc-zstd:1@64K"):
        name = codec.partition(":")[0]
        yield Golden(f"empty-{name}", "empty", {"codec": codec}, "an empty source: one empty block")
        yield Golden(f"stored-{name}", "noise", {"codec": codec}, "a block that did not shrink")
    for name in ("toml", "avro"):
        yield Golden(
            f"{name}-weightless",
            name,
            {"serializer": name},
            "more records than bytes of the source",
        )
    for source in ("semicolons", "bars"):
        for serializer in ("columns", "msgpack"):
            yield Golden(
                f"{serializer}-{source}",
                source,
                {"serializer": serializer, "codec": "none"},
                f"CSV with {source} between its fields, under {serializer}",
            )
    for source, serializer in PACKED:
        said: dict[str, Any] = {"serializer": serializer, "codec": "none", "block_size": 600}
        yield Golden(f"{serializer}-{source}", source, said, f"{WORDS[source]}, under {serializer}")
    yield Golden("effort-1", "ndjson", {"effort": 1}, "the fastest effort")
    yield Golden("effort-9", "ndjson", {"effort": 9}, "the smallest effort")
    yield Golden(
        "meta", "document", {"meta": {"who": "Zoë", "why": "a test"}}, "the user's own words"
    )
    yield Golden("unproved", "ndjson", {"verify": False}, "packed without the proof")
    dumped: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("object-json", "object-json", {"dump": "json+zstd:3", "meta": {"as": "a member"}}),
        ("object-msgpack", "object-msgpack", {"dump": "msgpack+xz:6", "meta": {"as": "a member"}}),
        ("small-json", "object-json", {"dump": "json+zstd:3"}),
        ("small-msgpack", "object-msgpack", {"dump": "msgpack+none"}),
        ("small-unproved", "object-json", {"dump": "json+zlib:6", "verify": False}),
        ("object-buffers", "object-buffers", {"dump": "pickle:5+xz:6", "verify": False}),
        ("object-own", "object-own", {"dump": "objects+none"}),
        (
            "object-in-place",
            "object-in-place",
            {"dump": "pickle:5+none", "verify": False, "meta": {"as": "a member"}},
        ),
        *((name, name, {"dump": chain}) for name, chain in DUMPED.items()),
    )
    for name, source, how in dumped:
        yield Golden(name, source, how, f"a dumped object, {how['dump']}")
    yield from (Golden(*each) for each in (*SHORT, *SHARED, *ARCHIVES))


def paths_of(golden: str, names: Sequence[str]) -> list[str]:
    """The paths of the entries of a golden archive, whose sources have these names."""
    if golden.startswith("shared-rows-names"):
        return [*NAMES]
    return [ENTRY.format(number=n, name=name) for n, name in enumerate(names)]


def make(golden: Golden) -> bytes:
    """The container of one golden file."""
    import serialpack
    from serialpack import api
    from serialpack.serializers import SERIALIZERS
    from serialpack.serializers.one_object import of_values

    names = golden.source.split(",")
    if "shared" in golden.options:
        given = [(NAME.format(format=sources()[n][0]), sources()[n][1]) for n in names]
        paths = paths_of(golden.name, [name for name, _ in given])
        files = dict(zip(paths, (data for _, data in given), strict=True))
        return make_shared(files, MTIME, golden.options["shared"])
    out = io.BytesIO()
    for number, name in enumerate(names):
        format, data = sources()[name]
        identity = (NAME.format(format=format), MTIME)
        entry = ENTRY.format(number=number, name=identity[0]) if len(names) > 1 else None
        how: dict[str, Any] = {"format": format, "threads": 1, "identity": identity, "entry": entry}
        few = name == "object-in-place"
        if "dump" in golden.options:
            options = {k: v for k, v in golden.options.items() if k != "dump"}
            obj: Any = [Array(n) for n in NUMBERS] if name == "object-buffers" else OBJECT
            obj = OWN if name == "object-own" else obj
            if name in DUMPED:
                import tests.fidelity.things  # noqa: F401  (classes are not imported by their names)

                (obj,) = of_values(SERIALIZERS.create("objects")).load_object([data])
            with ExitStack() as stack:
                for limit, value in _LIMITS.get(name, {}).items():
                    stack.enter_context(patch(f"serialpack.{limit}", value))
                obj = [Array(n) for n in FEW] if few else obj
                out.write(serialpack.dumps(obj, golden.options["dump"], **options))
        else:
            api.pack(io.BytesIO(data), out, **how, **golden.options)
    if len(names) > 1:
        return out.getvalue()
    back = io.BytesIO()
    serialpack.unpack(io.BytesIO(out.getvalue()), back, trust=True)
    if back.getvalue() != data and golden.source != "treacherous":
        sys.exit(f"{golden.name} does not give back its source")
    return out.getvalue()


def listed() -> dict[str, list[str]]:
    """The manifest: file name -> its fields."""
    return rows_of(MANIFEST)


def main() -> None:
    known = listed()
    with MANIFEST.open("a", encoding="utf-8", newline="\n") as manifest:
        if not known:
            manifest.write("file\tsha256\tsource\tsentence\n")
        for golden in wanted():
            file = f"{golden.name}.spk"
            if file in known:
                continue
            from serialpack.errors import MissingLibraryError

            try:
                container = make(golden)
            except MissingLibraryError as error:
                print(f"left out {file}: {error}", file=sys.stderr)
                continue
            (HERE / file).write_bytes(container)
            digest = hashlib.sha256(container).hexdigest()
            manifest.write(f"{file}\t{digest}\t{golden.source}\t{golden.sentence}\n")
            print(file)


if __name__ == "__main__":
    main()
