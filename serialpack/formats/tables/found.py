"""Which files are Arrow's: those that begin with its magic, and streams, which have none."""

from serialpack.formats.tables.flatbuffers import begins_stream


def begins_arrow(head: bytes) -> bool:
    return head.startswith(b"ARROW1") or begins_stream(head)
