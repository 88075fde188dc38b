"""Sources that are read block by block: how to write some, and to put blocks together again."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st

import serialpack
from serialpack.errors import SerialpackError
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Unheld, ValueFormat

#: The size of a block that all of a source goes into.
WHOLE = 1 << 20

sizes = st.integers(1, 64)

_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
_scalars = st.one_of(st.none(), st.booleans(), st.integers(-(1 << 53), 1 << 53), _text)


def values(scalars: st.SearchStrategy[Any] = _scalars) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(_text, inner, max_size=3)
        ),
        max_leaves=6,
    )


maps = st.dictionaries(_text, values(), max_size=3)
rows = st.builds(lambda a, b: {"a": a, "b": b}, st.integers(-(1 << 63), (1 << 63) - 1), _text)


class Stream(NamedTuple):
    """A format, records that it holds, and how a sequence of them is written."""

    name: str
    records: st.SearchStrategy[list[Any]]
    write: Callable[[list[Any]], bytes]

    @property
    def format(self) -> ValueFormat:
        return value_format(self.name)


def value_format(name: str) -> ValueFormat:
    fmt = FORMATS.get(name)
    assert isinstance(fmt, ValueFormat)
    return fmt


def written(name: str, records: list[Any]) -> bytes:
    """A source of ``records``, by the format itself."""
    return value_format(name).write(records)  # type: ignore[attr-defined, no-any-return]


def avro_blocks(records: list[Any]) -> bytes:
    """A container file with a record in each of its blocks."""
    import fastavro

    fields = [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}]
    schema = {"type": "record", "name": "R", "fields": fields}
    file = io.BytesIO()
    fastavro.writer(file, schema, records, sync_interval=1, sync_marker=b"sixteen bytes of")
    return file.getvalue()


def yaml_documents(records: list[Any]) -> bytes:
    """Documents of each kind of beginning and end that may be mixed."""
    made = []
    for number, record in enumerate(records):
        text = written("yaml", [record])
        begin = [b"---\n", b"# note\n--- # begins\n", b"%YAML 1.1\n---\n"][number % 3]
        end = b"" if text.endswith(b"...\n") else b"...\n"
        made.append((begin if number else b"") + text + end)
    return b"".join(made)


STREAMS = [
    Stream("msgpack", st.lists(values(), max_size=8), lambda r: written("msgpack", r)),
    Stream("cbor", st.lists(values(), max_size=8), lambda r: written("cbor", r)),
    Stream("bson", st.lists(maps, max_size=8), lambda r: written("bson", r)),
    Stream("protobuf", st.lists(values(), max_size=8), lambda r: written("protobuf", r)),
    Stream("avro", st.lists(rows, max_size=8), avro_blocks),
    Stream("yaml", st.lists(values(), max_size=8), lambda r: written("yaml", r)),
    Stream("yaml", st.lists(values(), max_size=8), yaml_documents),
]

#: Bad records behind good ones: where the error is, from their first byte on.
BAD = {
    "msgpack": (b"\x91\xc1", 1),
    "cbor": (b"\x82\x01\x1c", 3),
    "bson": (b"\x04\x00\x00\x00", 0),
    "protobuf": (b"\x02\x7f\x00", 1),
    "yaml": (b"---\n\xc3\xa9: [1,\n}\n", 12),
}

#: Records that Python does not hold, behind good ones.
LOST = {
    "msgpack": b"\x82\xa1k\x01\xa1k\x02",
    "cbor": b"\xa2\x61k\x01\x61k\x02",
    "bson": b"\x08\x00\x00\x00\x06k\x00\x00",
    "yaml": b"---\n{k: 1, k: 2}\n",
}

#: What reads no source: whatever is wrong with it.
REFUSED = (SerialpackError, Unheld)


def blocks_of(name: str, source: bytes, size: int) -> list[SourceBlock]:
    """Blocks to be parsed; what is promised of them is checked in ``texts.split``."""
    from tests.formats import texts

    return texts.split(name, source, size, lines=True)


def parsed(name: str, source: bytes, size: int) -> list[Any]:
    """The records of a source cut into blocks of ``size``; one of REFUSED where it is bad.

    Elements of an array that is the source are put together again, and members of a map.
    """
    fmt = value_format(name)
    blocks = blocks_of(name, source, size)
    records: list[Any] = []
    for block in blocks:
        assert block.inside == blocks[0].inside
        found = fmt.parse(block)
        assert block.records in (None, len(found))
        records += found
    if blocks[0].inside == "a":
        return [records]
    if blocks[0].inside == "m":
        assert all(len(member) == 1 for member in records)
        merged = {key: value for member in records for key, value in member.items()}
        if len(merged) < len(records):
            raise Twice
        return [merged]
    return records


class Twice(Exception):
    """A key stands twice in a map that came in several blocks, which nobody said so far."""


def outcome(name: str, source: bytes, size: int) -> list[Any] | None:
    """As ``parsed``; None where it is refused."""
    try:
        return parsed(name, source, size)
    except (*REFUSED, Twice):
        return None


def there_and_back(source: bytes, name: str, serializer: str, size: int) -> bytes:
    packed, back = io.BytesIO(), io.BytesIO()
    serialpack.pack(
        io.BytesIO(source), packed, serializer=serializer, format=name, block_size=size, threads=1
    )
    packed.seek(0)
    serialpack.unpack(packed, back, trust=True)
    return back.getvalue()
