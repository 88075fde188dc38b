"""Arrow as a source: IPC files (which Feather is too) and IPC streams, by pyarrow.

Files put together are no file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables import records as tables
from serialpack.formats.tables.flatbuffers import file_blocks, restored_size
from serialpack.formats.tables.table import TableFormat

_MAGIC = b"ARROW1"
#: What a message of a stream begins with.
_CONTINUES = b"\xff\xff\xff\xff"


class ArrowFormat(TableFormat):
    """Apache Arrow's IPC format. Written as a file, whatever was read."""

    title = "Arrow"
    about = "Arrow IPC (Feather), a table as columns"
    #: pyarrow writes types of 63 levels; an array counts for two here.
    levels = 60

    def read_table(self, data: bytes, most: int) -> Any:
        pa = tables.arrow()
        is_file = data.startswith(_MAGIC + b"\0\0")
        if is_file and (len(data) < 18 or not data.endswith(_MAGIC)):
            raise Malformed("it does not end with ARROW1", len(data))
        if not is_file and not data.startswith(_CONTINUES):
            raise Malformed("it begins neither as an Arrow file nor as a stream", 0)
        source = pa.BufferReader(data)
        opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
        room = tables.Room(len(data), most)
        try:
            for metadata, body in (_in_file if is_file else _in_stream)(data):
                room.pass_over(len(metadata) + len(body))
                room.take(0, restored_size(metadata, body))
            with opened(source) as reader:
                table = reader.read_all()
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            raise Malformed(tables.first_line(error)) from None
        if not is_file and source.tell() != len(data):
            raise Malformed("more than a stream", source.tell())
        return table

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


def _in_file(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The messages that the footer of a file points at: metadata, and body."""
    size = int.from_bytes(data[-10:-6], "little")
    if size > len(data) - 18:
        raise Malformed(f"a footer of {size} bytes is announced", len(data) - 10)
    for offset, metadata, body in file_blocks(data[-10 - size : -10]):
        if min(offset, metadata, body) < 0 or offset + metadata + body > len(data):
            raise Malformed("its footer points beyond it", len(data) - 10 - size)
        start = offset + metadata
        yield _unprefixed(data[offset:start]), data[start : start + body]


def _in_stream(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The messages of a stream, up to its end."""
    for message in tables.arrow().ipc.MessageReader.open_stream(data):
        body = message.body
        yield message.metadata.to_pybytes(), body.to_pybytes() if body else b""


def _unprefixed(metadata: bytes) -> bytes:
    """Metadata without what stands before them: their length, behind a mark or not."""
    return metadata[8 if metadata.startswith(_CONTINUES) else 4 :]
