"""What a sample is, and what several of them share."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from serialpack.bench.results import Entropy


def _unknown(_: int) -> Entropy | None:
    return None


class SampleTable(NamedTuple):
    """What a sample is measured with where the user names nothing, as in the benchmark that it is
    from.

    Stages as they are spelled; of filters ``""`` is none, and ``+`` joins several. Those that tell
    most come first, for a short budget leaves out the last. Every serializer is measured with every
    codec and every filter, but the codec ``none`` with no filter.
    """

    serializers: tuple[str, ...] = ()
    filters: tuple[str, ...] = ("",)
    #: Empty: all that are worth trying.
    codecs: tuple[str, ...] = ("none",)
    #: How many runs of each row, where there is time; None: as many as make the time sure.
    runs: int | None = None
    #: The N of the sweep that is made where the user gives no N; empty: no sweep.
    sweep: tuple[int, ...] = ()


class Sample(NamedTuple):
    """A sample: data of any size N, the same bytes on every machine and with every Python and
    NumPy.

    All callables take N, and give the same each time; they read nothing and keep nothing.
    """

    name: str
    #: What it is, in one line.
    about: str
    #: N where none is given, and what N counts.
    default: int
    unit: str
    #: How it is measured, as in the benchmark that it is from. object: ``make_value`` is dumped and
    #: loaded. file: the file is packed and unpacked.
    mode: Literal["object", "file"]
    #: The format of the file, by its name in the registry of formats.
    format: str
    make_value: Callable[[int], Any]
    #: The file, in pieces, since it may not fit into memory.
    chunks: Callable[[int], Iterator[bytes]]
    #: The least bytes that the data can take, where that follows from how it is made.
    limit: Callable[[int], Entropy | None] = _unknown
    table: SampleTable = SampleTable()

    def make_file(self, n: int) -> bytes:
        """All of the file."""
        # BytesIO gives its buffer as the bytes without a copy; ``join`` would hold all pieces
        # beside them.
        file = io.BytesIO()
        for chunk in self.chunks(n):
            file.write(chunk)
        return file.getvalue()


#: Serializers behind no codec, and behind blosc in all its settings: sizes of blocks, threads of
#: its own, and no shuffle, that of bytes and that of bits. 8 is the item size that blosc takes
#: where none is told.
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
    """A file with ``value`` as its JSON document, as ``json.dumps`` spells it."""
    yield json.dumps(value).encode() + b"\n"


def json_array(records: Iterable[Any], *, indent: int | None = None) -> Iterator[bytes]:
    """A file with ``records`` as a JSON array, as ``json.dumps`` spells it;
    a piece for each of them."""
    begin, between, end = "[", ", ", "]"
    if indent is not None:
        line = "\n" + " " * indent
        begin, between, end = begin + line, "," + line, "\n" + end
    mark = begin
    for record in records:
        text = json.dumps(record, indent=indent)
        # Line breaks within strings are escaped: all others are of the layout.
        yield (mark + (text if indent is None else text.replace("\n", line))).encode()
        mark = between
    yield f"{end}\n".encode()


def ndjson(records: Iterable[Any]) -> Iterator[bytes]:
    """A file with a line for each of ``records``, as ``json.dumps`` spells it."""
    for record in records:
        yield json.dumps(record).encode() + b"\n"
