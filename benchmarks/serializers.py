"""What serialpack costs on top of each serializer's bare library: ratios of one run.

    python -m benchmarks.serializers                    100,000 documents, every serializer
    python -m benchmarks.serializers --quick            10,000 documents: whether it runs, no more
    python -m benchmarks.serializers --only msgpack     repeatable
    python -m benchmarks.serializers --files FILE...    JSON files instead of the documents
    python -m benchmarks.serializers --files FILE... --compact     beside compact JSON

The documents have the fields f0 to f7 (text, integers, floats). ``bare`` is the library's own write
and read, in this process; ``dumps`` and ``loads`` are serialpack's, around the same with the codec
``none``, without the proof and with it. Of files, ours is ``pack`` and ``unpack``, and ``bare``
does the same work by libraries alone, from a file object to another and back: msgspec reads the
JSON, the library writes and reads its own, and the fastest of the usual writers that gives the
file's very bytes (msgspec, or ujson where all but ASCII is escaped; indented by msgspec) writes
JSON again; with ``--compact``, msgspec, whatever the file looked like. Every figure is the minimum
of the runs, which alternate; the garbage collector is off. Exits 0 also where a target is missed:
the table says so.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
import ujson

import serialpack
from serialpack.errors import RefusedError
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import RecordSerializer

#: The most that serialpack may cost: times the bare library, without the proof and with it.
TARGETS = (1.10, 2.00)


class Line(NamedTuple):
    """Seconds of one serializer: bare write and read; ours, without the proof and with it."""

    name: str
    bare: float
    ours: float
    proved: float


def documents(count: int) -> list[dict[str, Any]]:
    """Flat records with text, integers and floats."""
    kinds: list[Callable[[int, int], Any]] = [
        lambda n, i: f"value {n} of field {i}",
        lambda n, i: n * 7919 + i,
        lambda n, i: n / 7 + i,
    ]
    return [{f"f{i}": kinds[i % 3](n, i) for i in range(8)} for n in range(count)]


def texts(count: int) -> list[dict[str, str]]:
    """The same, as text: what CSV holds."""
    return [{key: str(value) for key, value in d.items()} for d in documents(count)]


#: The bare library's own write and read, as its manual shows them.
BARE: dict[str, Callable[[], tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {}


def _bare(name: str) -> Callable[[Any], Any]:
    def add(make: Any) -> Any:
        BARE[name] = make
        return make

    return add


def _module(name: str, write: str, read: str) -> tuple[Any, Any]:
    import importlib

    module = importlib.import_module(name)
    return getattr(module, write), getattr(module, read)


for _name, _where in {
    "json": ("json", "dumps", "loads"),
    "ujson": ("ujson", "dumps", "loads"),
    "simplejson": ("simplejson", "dumps", "loads"),
    "rapidjson": ("rapidjson", "dumps", "loads"),
    "pyrapidjson": ("rapidjson", "dumps", "loads"),
    "orjson": ("orjson", "dumps", "loads"),
    "msgspec-json": ("msgspec.json", "encode", "decode"),
    "msgpack": ("msgpack", "packb", "unpackb"),
    "umsgpack": ("umsgpack", "packb", "unpackb"),
    "ormsgpack": ("ormsgpack", "packb", "unpackb"),
    "msgspec-msgpack": ("msgspec.msgpack", "encode", "decode"),
    "cbor": ("cbor2", "dumps", "loads"),
    "marshal": ("marshal", "dumps", "loads"),
    "cloudpickle": ("cloudpickle", "dumps", "loads"),
}.items():
    BARE[_name] = lambda where=_where: _module(*where)  # type: ignore[misc]


@_bare("pickle")
def _pickle() -> tuple[Any, Any]:
    return lambda obj: pickle.dumps(obj, 5), pickle.loads


@_bare("yaml")
def _yaml() -> tuple[Any, Any]:
    import yaml

    return (
        lambda obj: yaml.dump(obj, Dumper=yaml.CSafeDumper, sort_keys=False),
        lambda text: yaml.load(text, Loader=yaml.CSafeLoader),
    )


@_bare("bson")
def _bson() -> tuple[Any, Any]:
    import bson

    return bson.encode, bson.decode


@_bare("toml")
def _toml() -> tuple[Any, Any]:
    import tomllib

    import tomli_w

    return tomli_w.dumps, tomllib.loads


@_bare("csv")
def _csv() -> tuple[Any, Any]:
    import csv

    def write(records: Any) -> str:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
        return text.getvalue()

    return write, lambda text: list(csv.DictReader(io.StringIO(text)))


@_bare("avro")
def _avro() -> tuple[Any, Any]:
    import fastavro

    def write(records: Any) -> bytes:
        types = {str: "string", int: "long", float: "double"}
        fields = [{"name": k, "type": types[type(v)]} for k, v in records[0].items()]
        file = io.BytesIO()
        schema = {"type": "record", "name": "Document", "fields": fields}
        fastavro.writer(file, schema, records)
        return file.getvalue()

    return write, lambda data: list(fastavro.reader(io.BytesIO(data)))


@_bare("parquet")
def _parquet() -> tuple[Any, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(records: Any) -> bytes:
        file = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(records), file)
        return file.getvalue()

    return write, lambda data: pq.read_table(io.BytesIO(data)).to_pylist()


@_bare("arrow")
def _arrow() -> tuple[Any, Any]:
    import pyarrow as pa

    def write(records: Any) -> bytes:
        table = pa.Table.from_pylist(records)
        file = io.BytesIO()
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        return file.getvalue()

    return write, lambda data: pa.ipc.open_file(io.BytesIO(data)).read_all().to_pylist()


def lines(count: int, times: int, only: list[str]) -> Iterator[Line | str]:
    """A line for each serializer, or why there is none."""
    for entry in SERIALIZERS:
        cls = SERIALIZERS.cls(entry.name)
        if not issubclass(cls, RecordSerializer) or (only and entry.name not in only):
            continue
        if cls.missing(entry.name) is not None:
            yield f"{entry.name}: not installed"
        elif entry.name not in BARE:
            yield f"{entry.name}: no bare library writes the same"
        else:
            yield _line(entry.name, cls, count, times)


def file_lines(
    paths: list[str], times: int, only: list[str], *, compact: bool
) -> Iterator[Line | str]:
    """A line for each JSON file and serializer, or why there is none."""
    for path in paths:
        source = Path(path).read_bytes()
        spell = msgspec.json.encode if compact else speller(source)
        for name, make in BARE.items():
            if name not in SERIALIZERS or (only and name not in only):
                continue
            cls = SERIALIZERS.cls(name)
            held = (
                issubclass(cls, RecordSerializer) and not cls.tabular and "bare" not in cls.cannot
            )
            if not held or cls.missing(name) is not None:
                continue
            write, read = make()

            def bare(
                write: Any = write, read: Any = read, source: bytes = source, spell: Any = spell
            ) -> None:
                packed, unpacked = io.BytesIO(), io.BytesIO()
                data = write(msgspec.json.decode(io.BytesIO(source).read()))
                packed.write(data.encode() if isinstance(data, str) else data)
                packed.seek(0)
                unpacked.write(spell(read(packed.read())))

            def ours(verify: bool, name: str = name, source: bytes = source) -> None:
                packed, unpacked = io.BytesIO(), io.BytesIO()
                serialpack.pack(
                    io.BytesIO(source),
                    packed,
                    serializer=name,
                    codec="none",
                    format="json",
                    verify=verify,
                    threads=1,
                )
                packed.seek(0)
                serialpack.unpack(packed, unpacked, trust=True, threads=1)

            try:
                bare()
            except (LookupError, TypeError, ValueError) as error:
                yield f"{name}, {Path(path).name}: the bare library fails ({error!r})"
                continue
            yield _measured(f"{name}, {Path(path).name}", bare, ours, times)


def speller(source: bytes) -> Callable[[Any], bytes]:
    """The fastest of the usual writers that gives ``source`` again; compact where none does."""
    text = source.strip()
    tail = source[len(source.rstrip()) :]
    for encode in (msgspec.json.encode, _ascii):
        for indent in (None, 0, 1, 2, 4):

            def spell(value: Any, encode: Any = encode, indent: int | None = indent) -> bytes:
                written: bytes = encode(value)
                written = written if indent is None else msgspec.json.format(written, indent=indent)
                return written + tail if tail else written

            if spell(msgspec.json.decode(source)).strip() == text:
                return spell
    return msgspec.json.encode


def _ascii(value: Any) -> bytes:
    return ujson.dumps(value, ensure_ascii=True, escape_forward_slashes=False).encode()


def _line(name: str, cls: type[RecordSerializer], count: int, times: int) -> Line | str:
    obj: Any = texts(count) if "integer" in cls.cannot else documents(count)
    if "bare" in cls.cannot and not cls.tabular:
        obj = {"documents": obj}
    write, read = BARE[name]()
    chain = f"{name}+none"

    def ours(verify: bool) -> Any:
        packed = serialpack.dumps(obj, chain, verify=verify, threads=1)
        return serialpack.loads(packed, trust=True, threads=1)

    return _measured(name, lambda: read(write(obj)), ours, times)


def _measured(
    name: str, bare: Callable[[], Any], ours: Callable[[bool], Any], times: int
) -> Line | str:
    ways: list[Callable[[], Any]] = [bare, lambda: ours(False), lambda: ours(True)]
    best = [float("inf")] * len(ways)
    try:
        for _ in range(times):
            for number, way in enumerate(ways):
                started = perf_counter()
                way()
                best[number] = min(best[number], perf_counter() - started)
                gc.collect()
    except RefusedError as refused:
        return f"{name}: {refused}"
    return Line(name, *best)


def main() -> None:
    """Print the table, and the same as JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="10,000 documents")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--only", action="append", default=[], metavar="SERIALIZER")
    parser.add_argument("--files", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--compact", action="store_true", help="bare writes compact JSON")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    gc.disable()
    found = []
    measured = (
        file_lines(chosen.files, chosen.times, chosen.only, compact=chosen.compact)
        if chosen.files
        else lines(10_000 if chosen.quick else 100_000, chosen.times, chosen.only)
    )
    for line in measured:
        if isinstance(line, str):
            print(f"| {line} |")
            continue
        found.append(line)
        shown = [ratio / line.bare for ratio in (line.ours, line.proved)]
        met = ["" if s <= t else " (missed)" for s, t in zip(shown, TARGETS, strict=True)]
        cells = [f"{s:.2f}{m}" for s, m in zip(shown, met, strict=True)]
        print(f"| {line.name} | {line.bare:.3f} s | {' | '.join(cells)} |", flush=True)
    if chosen.json:
        print(json.dumps([line._asdict() for line in found]))


if __name__ == "__main__":
    main()
