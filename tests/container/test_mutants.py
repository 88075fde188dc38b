"""A container that was made by someone else, with checksums that are right, harms no reader.

Whatever one of its values is changed to, every way in gives right output, or says that it is
damaged, unsupported or refused: never another exception.
"""

from __future__ import annotations

import copy
import io
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgpack
import pytest

import serialpack
from serialpack import api
from serialpack.cli.reporting.inspected import line_of, show_found
from serialpack.errors import InputError, MissingLibraryError, RefusedError, UsageError
from serialpack.serializers import SERIALIZERS
from tests.container.mutants import described, long_members, mutants, put, taken

#: How a reader says no. A range or a field that is not there is the call's fault.
SAID = (InputError, RefusedError, UsageError, MissingLibraryError)

OBJECTS = [
    {"id": n, "name": f"n {n % 3}", "a": {"b": [n, n / 2]}, "at": f"2024-01-{n % 28 + 1:02}"}
    for n in range(40)
]
LINES = b"".join(json.dumps(o).encode() + b"\n" for o in OBJECTS)
SOURCES = {
    "ndjson": ("ndjson", LINES),
    "array": ("json", json.dumps(OBJECTS, indent=1).encode() + b"\n"),
    "map": ("json", json.dumps({f"k{n}": o for n, o in enumerate(OBJECTS)}).encode()),
    "document": ("json", b'{"id": 1, "a": {"b": [1, 2.5]}}\n'),
    "csv": ("csv", b"id,name\r\n" + b"".join(b'%d,"n, %d"\r\n' % (n, n % 3) for n in range(40))),
    "msgpack": ("msgpack", b"".join(map(msgpack.packb, OBJECTS))),
    "elements": ("msgpack", msgpack.packb(OBJECTS)),
    "texts": ("ndjson", b"".join(b'{"id":"%d","name":"z %d"}\n' % (n, n % 4) for n in range(30))),
}
SERIALIZER_NAMES = [entry.name for entry in SERIALIZERS]

#: (source, serializer, the body: 0 is the header, the way to the value, what it becomes)
FOUND: list[tuple[str, str, int, tuple[Any, ...], Any]] = [
    ("array", "json", 0, (0, "s", "x"), "x"),
    ("array", "json", 0, (0, "s", "b"), "x" * 2000),
    ("array", "columns", 0, (0, "s", "s"), b"x"),
    ("array", "columns", 0, (0, "s", "x"), [0]),
    ("document", "json", 0, (0, "s", "k"), 2),
    ("document", "json", 0, (0, "s", "s"), ["x"]),
    ("ndjson", "columns", 0, (0, "f"), 3),
    ("csv", "columns", 0, (0, "f"), 2),
    ("msgpack", "columns", 0, (0, "f"), 2),
    ("array", "raw", 0, (0, "s", "z"), -1e308),
    ("array", "raw", 0, (0, "s", "z"), {"x": 1}),
    ("texts", "avro", 0, (0, "s", "z"), "x"),
    ("texts", "marshal", 0, (0, "s", "z"), None),
    ("csv", "json", 0, (0, "s", "q"), 2),
]


def packed(source: str, serializer: str, chain: str = "", **more: Any) -> bytes:
    """The container of a source in two blocks; skipped where the serializer does not take it."""
    name, data = SOURCES[source]
    *filters, codec = (chain or "zstd").split("+")
    how: dict[str, Any] = {"filters": filters, "codec": codec, "trust": True, "threads": 1, **more}
    out = io.BytesIO()
    try:
        api.pack(
            io.BytesIO(data),
            out,
            serializer=serializer,
            format=name,
            block_size=len(data) // 2 + 1,
            meta={"k": "v"},
            identity=("x", 5),
            **how,
        )
    except SAID as error:
        pytest.skip(str(error))
    return out.getvalue()


def looks(data: bytes, source: bytes | None) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every way in; where what comes out must be the source's bytes, that is held against it."""

    def unpack() -> None:
        out = io.BytesIO()
        report = api.unpack(io.BytesIO(data), out, trust=True, threads=1)
        assert source is None or not report.exact or out.getvalue() == source

    def a_range(start: int, stop: int | None) -> None:
        out = io.BytesIO()
        api.unpack(io.BytesIO(data), out, byte_range=(start, stop), trust=True)
        # Blocks that are not asked for are not looked at: what the index says of their sizes
        # is believed. So it is right where the whole is.
        with suppress(*SAID):
            whole = io.BytesIO()
            api.unpack(io.BytesIO(data), whole, trust=True, threads=1)
            assert out.getvalue() == whole.getvalue()[start:stop]

    def records(start: int, stop: int | None) -> None:
        api.unpack(io.BytesIO(data), io.BytesIO(), record_range=(start, stop), trust=True)

    def convert(to: str, *fields: str) -> None:
        how: dict[str, Any] = {"to": to, "fields": fields, "trust": True, "threads": 1}
        serialpack.convert(io.BytesIO(data), io.BytesIO(), **how)

    def inspect(*, columns: bool) -> None:
        found = api.inspect(io.BytesIO(data), columns=columns)
        json.dumps(line_of("x", found, True))
        show_found("x", found, True, several=False, detailed=True)

    def opened() -> None:
        found = serialpack.open(io.BytesIO(data), trust=True)
        for number in {0, len(found) // 2, len(found) - 1} if found else ():
            found[number]
        for _ in zip(range(200), found, strict=False):
            pass

    yield "unpack", unpack
    yield "test", lambda: api.unpack(io.BytesIO(data), None, trust=True, threads=1)
    yield "bytes 3:25", lambda: a_range(3, 25)
    yield "bytes 30:", lambda: a_range(30, None)
    yield "records 0:1", lambda: records(0, 1)
    yield "records 3:25", lambda: records(3, 25)
    yield "records 30:", lambda: records(30, None)
    yield "head", lambda: api.first_records(io.BytesIO(data), io.BytesIO(), 3)
    for to in ("json", "msgpack", "csv"):
        yield f"to {to}", lambda to=to: convert(to)  # type: ignore[misc]
        yield f"fields to {to}", lambda to=to: convert(to, "id", "a.b")  # type: ignore[misc]
    yield "inspect", lambda: inspect(columns=False)
    yield "columns", lambda: inspect(columns=True)
    yield "open", opened
    yield "fields", lambda: serialpack.open(io.BytesIO(data), trust=True).fields("name", "a.b")
    yield "load", lambda: serialpack.load(io.BytesIO(data), trust=True)
    yield "lazily", lambda: serialpack.load(io.BytesIO(data), trust=True, mmap_mode="r")


def harmless(data: bytes, source: bytes | None, what: str) -> None:
    """Every look at ``data`` is right, or says why not."""
    for name, look in looks(data, source):
        try:
            look()
        except SAID:
            continue
        except Exception as error:
            error.add_note(f"{name} of a mutant: {what}")
            raise


@pytest.mark.parametrize(("source", "serializer", "body", "way", "value"), FOUND)
def test_what_was_found(
    source: str, serializer: str, body: int, way: tuple[Any, ...], value: Any
) -> None:
    codec = "none" if serializer == "columns" else "zstd"
    parts = copy.deepcopy(taken(packed(source, serializer, codec)))
    *path, last = way
    at: Any = [parts.header, *(objects for objects, _ in parts.blocks)][body]
    for key in path:
        at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    at[last] = value
    harmless(put(parts), SOURCES[source][1], f"{way} = {value!r}")


def test_a_container_put_together_again_is_the_same() -> None:
    for source, serializer, chain in (
        ("ndjson", "raw", "zstd"),
        ("array", "json", "xz"),
        ("csv", "columns", "none"),
    ):
        container = packed(source, serializer, chain)
        assert put(taken(container)) == container


@pytest.mark.parametrize("serializer", SERIALIZER_NAMES)
@pytest.mark.parametrize("source", SOURCES)
def test_a_changed_value(source: str, serializer: str) -> None:
    if serializer not in ("raw", "json", "msgpack", "columns") and source not in ("texts", "csv"):
        pytest.skip("enough of these")
    container = packed(source, serializer)
    seed = zlib.crc32(f"{source} {serializer}".encode())
    for what, mutant in mutants(container, 8, seed):
        harmless(mutant, SOURCES[source][1], what)


@pytest.mark.parametrize("chain", ["shuffle:4+lz4", "delta:2+bitshuffle:8+blosc-lz4", "xz", "none"])
def test_a_changed_value_behind_filters_and_codecs(chain: str) -> None:
    for what, mutant in mutants(packed("ndjson", "raw", chain), 20, zlib.crc32(chain.encode())):
        harmless(mutant, LINES, what)


@pytest.mark.parametrize("source", SOURCES)
def test_changed_descriptions_of_columns(source: str) -> None:
    container = packed(source, "columns", "none")
    for what, mutant in described(container, 20, zlib.crc32(source.encode())):
        harmless(mutant, SOURCES[source][1], what)


@pytest.mark.parametrize("source", ["msgpack", "array", "csv"])
def test_columns_of_another_structure(source: str) -> None:
    """The structure says one thing of the number of columns and their values, these another."""
    for other in SOURCES:
        with long_members():
            mine, theirs = (taken(packed(each, "columns", "none")) for each in (source, other))
        swapped = theirs._replace(header=mine.header)
        harmless(put(swapped), None, f"{source} with the columns of {other}")


@pytest.mark.parametrize("chain", ["json+zstd", "msgpack+xz", "pickle+none", "marshal+zlib"])
def test_a_changed_value_around_an_object(chain: str) -> None:
    container = serialpack.dumps({"a": 1, "b": [1, 2]}, chain, meta={"a": "b"})
    for what, mutant in mutants(container, 25, zlib.crc32(chain.encode())):
        harmless(mutant, None, what)
