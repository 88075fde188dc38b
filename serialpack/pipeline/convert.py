"""A restored source as JSON: what ``unpack --to json`` writes of a source that is none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

from serialpack.container.reader import first_header
from serialpack.container.records import DEFAULT_BLOCK_SIZE
from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.files import Source
from serialpack.formats import FORMATS
from serialpack.formats.base import Read, Unheld, ValueFormat
from serialpack.pipeline.pack import Progress
from serialpack.pipeline.unpack import Limit, Unpacked, Write, member_plan, unpack_stream
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES, ValueSerializer
from serialpack.stage import MAX_BLOCK, Buffer
from serialpack.values import difference

#: Formats whose sources are sequences also where they hold one record only.
_SEQUENCES = frozenset({"ndjson", "csv", "tsv", "avro", "parquet", "arrow"})

_HINT = "unpack it without --to"

#: Who writes the records: the first whose proof holds.
_WRITERS = ("ujson", "json")


def unpack_json(
    source: Source,
    write: Write,
    *,
    trust: bool,
    threads: int,
    max_size: int | None,
    progress: Progress | None,
) -> Unpacked | None:
    """Unpack, and write the records as JSON; None, before anything is done, where the container
    holds JSON itself or nothing that has values.

    A large source goes through a temporary file. RefusedError where it is read on trust only.
    """
    format = member_plan(first_header(source.peek), trust=trust).format
    fmt = FORMATS.get(format)
    if not isinstance(fmt, ValueFormat) or format == "json":
        return None
    if not fmt.safe and not trust:
        raise RefusedError(
            f"reading {format} can run any code that the file's writer put into it",
            hint="--trust (trust=True in Python) reads it",
        )
    out = Limit(write, max_size)
    with tempfile.SpooledTemporaryFile(MAX_BLOCK) as file:
        done = unpack_stream(
            source.read, file.write, trust=trust, threads=threads, progress=progress
        )
        file.seek(0)
        records = write_json(file.read, out, done.format)
    return done._replace(format="json", written=out.written, records=records, exact=False)


def write_json(read: Read, write: Callable[[Buffer], object], format: str) -> int:
    """Write the records of the source that ``read`` gives as one JSON document; how many.

    An array of them; the record itself where a source of its format need not be a sequence and
    this one has only one. Each block is proved: what is written is read back and compared.
    ValueRefusedError for a value that JSON cannot hold, SyntaxInputError.
    """
    fmt = FORMATS.get(format)
    assert isinstance(fmt, ValueFormat)
    count = 0
    for block in fmt.cut(read, DEFAULT_BLOCK_SIZE, for_values=True):
        if block.partial:
            raise RefusedError("a record is larger than 64 MiB", hint=_HINT)
        try:
            records = fmt.parse(block)
        except Unheld as unheld:
            refuse = _writer(_WRITERS[-1]).refuse
            raise refuse(unheld.difference, block.first_record, _HINT) from None
        lines = _lines(records, block.first_record)
        if block.index == 0 and block.last and len(records) == 1 and format not in _SEQUENCES:
            write(lines)
            return 1
        if records:
            write(b"[\n" if not count else b",\n")
            write(lines.removesuffix(b"\n").replace(b"\n", b",\n"))
        count += len(records)
    write(b"\n]\n" if count else b"[]\n")
    return count


def _writer(name: str) -> ValueSerializer:
    serializer = SERIALIZERS.create(name)
    assert isinstance(serializer, ValueSerializer)
    return serializer


def _lines(records: list[Any], first_record: int) -> bytes:
    """The records as JSON lines, by the first writer whose proof holds."""
    refusal: ValueRefusedError | None = None
    for name in _WRITERS:
        serializer = _writer(name)
        try:
            lines = serializer.dump(records)
            again = serializer.load(lines)
        except FAILURES as error:
            refusal = serializer.refuse(serializer.blame(records, error), first_record, _HINT)
            continue
        # Records are dumped line by line, and have no line ends in them.
        pairs = enumerate(zip(records, again, strict=True))
        lost = next(filter(None, (difference(*pair, record=n) for n, pair in pairs)), None)
        if lost is None:
            return lines
        refusal = serializer.refuse(lost, first_record, _HINT)
    assert refusal is not None
    raise refusal
