"""Arrow as a source: IPC files (which Feather is too) and IPC streams, by pyarrow.

Files put together are no file.
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.flatbuffers import (
    CONTINUES,
    begins_stream,
    file_blocks,
    restored_size,
)
from serialpack.formats.tables.pieces import check_inner, columns_of, rows_with, with_columns
from serialpack.formats.tables.room import Room, check_types
from serialpack.formats.tables.table import TableFormat
from serialpack.stages.stage import Buffer

_MAGIC = b"ARROW1"
#: Bytes of a stream that tell that it is one.
_FRONT = 4 << 10


class ArrowFormat(TableFormat):
    """Apache Arrow's IPC format. Written as a file, whatever was read."""

    title = "Arrow"
    about = "Arrow IPC (Feather), a table as columns"
    #: pyarrow writes types of 63 levels; an array counts for two here.
    levels = 60
    one_dictionary = True

    def read_table(self, data: bytes, most: int) -> Any:
        view, room = memoryview(data), Room(len(data), most)
        with tables.reading():
            for metadata, body in _messages(view):
                room.pass_over(len(metadata) + len(body))
                room.take(0, restored_size(metadata, body))
            source = tables.arrow().BufferReader(data)
            with _opened(source, view) as reader:
                check_types(reader.schema)
                table = reader.read_all()
            _check_end(source, view)
        return table

    def batches(
        self,
        path: Path,
        size: int,  # noqa: ARG002
        values: int,
        wanted: Collection[str] | None,
    ) -> Iterator[Any]:
        """As the base class says. A batch may be as large as the file: it is read where it is
        mapped, and the memory of what was read is let go. Were the file cut short meanwhile, the
        system would end the process."""
        pa = tables.arrow()
        with path.open("rb") as file:
            if not file.read(1):  # of no bytes there is no map
                raise _no_magic()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        view, seen = memoryview(mapped), Room(len(mapped), 0)
        with tables.reading():
            for metadata, body in _messages(view):
                seen.pass_over(len(metadata) + len(body))
                Room(len(body), 0).take(0, restored_size(metadata, body))
                _let_go(mapped)
            source = pa.BufferReader(pa.py_buffer(mapped))
            with _opened(source, view) as reader:
                check_types(reader.schema)
                names = columns_of(reader.schema, wanted)
                yield with_columns(reader.schema, names)
                most = rows_with(values, len(names or reader.schema))
                for each in _batches(reader):
                    batch = each if names is None else each.select(names)
                    check_inner(batch)
                    _let_go(mapped)
                    for at in range(0, batch.num_rows, most):
                        yield batch.slice(at, most)
                        _let_go(mapped)
            _check_end(source, view)

    def read_schema(self, data: bytes) -> Any:
        ipc = tables.arrow().ipc
        with (ipc.open_file if data.startswith(_MAGIC) else ipc.open_stream)(data) as reader:
            return reader.schema

    def own_table(self, data: bytes) -> Any:
        pa = tables.arrow()
        return pa.ipc.open_file(pa.BufferReader(data)).read_all()

    def open_writer(self, sink: Any, schema: Any) -> Any:
        return tables.arrow().ipc.new_file(sink, schema)

    def has_rows(self, data: bytes, written: bytes) -> bool:
        """A batch has the same bytes wherever it stands: only the footer says where."""
        size = int.from_bytes(data[-10:-6], "little")
        blocks = list(file_blocks(data[-10 - size : -10]))
        start = min((offset for offset, _, _ in blocks), default=0)
        end = max((sum(block) for block in blocks), default=0)
        return written.endswith(data[start:end])

    def write_table(self, table: Any, *, stored: bool) -> bytes:  # noqa: ARG002
        pa = tables.arrow()
        file = io.BytesIO()
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        return file.getvalue()


def _is_file(data: memoryview) -> bool:
    """Whether ``data`` begins as a file, and not as a stream; Malformed where it begins as
    neither."""
    if data[:8] == _MAGIC + b"\0\0":
        if len(data) < 18 or data[-6:] != _MAGIC:
            raise Malformed("it does not end with ARROW1", len(data))
        return True
    if data[:4] != CONTINUES and not begins_stream(bytes(data[:_FRONT])):
        if bytes(data[:4]) == bytes(data[-4:]) == b"FEA1":
            raise Malformed("it is Feather of version 1, which pyarrow.feather reads", 0)
        raise _no_magic()
    return False


def _no_magic() -> Malformed:
    return Malformed("it begins neither as an Arrow file nor as a stream", 0)


def _opened(source: Any, data: memoryview) -> Any:
    ipc = tables.arrow().ipc
    return (ipc.open_file if _is_file(data) else ipc.open_stream)(source)


def _batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "get_batch"):  # of a file
        return map(reader.get_batch, range(reader.num_record_batches))
    return iter(reader)


def _check_end(source: Any, data: memoryview) -> None:
    """Malformed where anything stands behind the end of a stream."""
    if not _is_file(data) and source.tell() != len(data):
        raise Malformed("more than a stream", source.tell())


def _let_go(mapped: mmap.mmap) -> None:
    """Have the system keep no page of the file in this process's memory."""
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _messages(data: memoryview) -> Iterator[tuple[bytes, Buffer]]:
    """The messages of a file or stream, each as its metadata and its body."""
    return _in_file(data) if _is_file(data) else _in_stream(data)


def _in_file(data: memoryview) -> Iterator[tuple[bytes, Buffer]]:
    """The messages that the footer of a file points at."""
    size = int.from_bytes(data[-10:-6], "little")
    if size > len(data) - 18:
        raise Malformed(f"a footer of {size} bytes is announced", len(data) - 10)
    for offset, metadata, body in file_blocks(bytes(data[-10 - size : -10])):
        if min(offset, metadata, body) < 0 or offset + metadata + body > len(data):
            raise Malformed("its footer points beyond it", len(data) - 10 - size)
        start = offset + metadata
        yield _unprefixed(bytes(data[offset:start])), data[start : start + body]


def _in_stream(data: memoryview) -> Iterator[tuple[bytes, Buffer]]:
    """The messages of a stream, up to its end."""
    for message in tables.arrow().ipc.MessageReader.open_stream(data):
        body = message.body
        yield message.metadata.to_pybytes(), memoryview(body) if body else b""


def _unprefixed(metadata: bytes) -> bytes:
    """``metadata`` without what stands before it: its length, behind a mark or not."""
    return metadata[8 if metadata.startswith(CONTINUES) else 4 :]
