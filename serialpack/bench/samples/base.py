"""What a sample is, and how files are written of one."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from serialpack.bench.results import Entropy


def _unknown(_: int) -> Entropy | None:
    return None


class SampleTable(NamedTuple):
    """What its field measures a sample with: the table that is made where the user names nothing.

    Stages as they are spelled; of a filter, ``""`` is none, and ``+`` joins several. Those that
    tell most come first: a short budget leaves out the last. Every serializer goes with every
    codec and filter, but the codec ``none`` with no filter.
    """

    serializers: tuple[str, ...] = ()
    filters: tuple[str, ...] = ("",)
    #: Empty: all that are worth trying.
    codecs: tuple[str, ...] = ("none",)
    #: So many runs, where there is time; None: until the time is meaningful.
    runs: int | None = None
    #: Measured over these N where none is given.
    sweep: tuple[int, ...] = ()


class Sample(NamedTuple):
    """Data of any size, the same bytes on every machine and with every Python and NumPy.

    All callables take N and give the same each time. Nothing is read and nothing is kept.
    """

    name: str
    #: What it is: one line.
    about: str
    #: N where none is given, and what N counts.
    default: int
    unit: str
    #: How the benchmark that it reproduces is run. object: the value is dumped and loaded by
    #: serializers. file: the file is packed and unpacked.
    mode: Literal["object", "file"]
    #: What the file is in, by its name in the registry of formats.
    format: str
    make_value: Callable[[int], Any]
    #: The file, in pieces, for one that does not fit into memory.
    chunks: Callable[[int], Iterator[bytes]]
    #: The least bytes that the data can take, where that is known from how it is made.
    limit: Callable[[int], Entropy | None] = _unknown
    table: SampleTable = SampleTable()

    def make_file(self, n: int) -> bytes:
        """All of the file."""
        # The buffer of BytesIO becomes the bytes without a copy; join holds all pieces beside them.
        file = io.BytesIO()
        for chunk in self.chunks(n):
            file.write(chunk)
        return file.getvalue()


#: Python's own serializers and those of other languages, behind no codec and behind blosc with its
#: settings: block sizes, its own threads, no, byte and bit shuffle. 8 is the item size that blosc
#: takes where none is told.
BLOSC_TABLE = SampleTable(
    serializers=("pickle", "marshal", "json", "ujson", "rapidjson", "msgpack"),
    filters=("", "shuffle:8", "bitshuffle:8"),
    codecs=(
        "none",
        *(
            f"blosc-{codec}@{block}/{threads}"
            for threads in (1, 2, 4)
            for block in ("256K", "64K", "1M")
            for codec in ("lz4:9", "zstd:1")
        ),
    ),
)


def json_document(value: Any) -> Iterator[bytes]:
    """One JSON document, as ``json.dumps`` spells it."""
    yield json.dumps(value).encode() + b"\n"


def json_array(records: Iterable[Any], *, indent: int | None = None) -> Iterator[bytes]:
    """One JSON array, as ``json.dumps`` spells it, a piece for each of ``records``."""
    begin, between, end = "[", ", ", "]"
    if indent is not None:
        line = "\n" + " " * indent
        begin, between, end = begin + line, "," + line, "\n" + end
    mark = begin
    for record in records:
        text = json.dumps(record, indent=indent)
        # Line breaks in strings are escaped: those that are left are the layout.
        yield (mark + (text if indent is None else text.replace("\n", line))).encode()
        mark = between
    yield f"{end}\n".encode()


def ndjson(records: Iterable[Any]) -> Iterator[bytes]:
    """A line for each of ``records``, as ``json.dumps`` spells it."""
    for record in records:
        yield json.dumps(record).encode() + b"\n"
