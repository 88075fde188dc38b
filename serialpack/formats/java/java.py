"""Java serialization streams (Java Object Serialization Specification, section 6) as a source.

They are read, never written. Primitive data is bytes; strings, boxed primitives, the usual lists,
maps and sets, arrays, enum constants (by their names), dates, UUIDs and big numbers are values of
Python. Objects of other classes are refused: their fields mean what the class makes of them. Where
an object wrote nothing else, ``--lossy objects`` makes a map of them.
"""

from __future__ import annotations

from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats.base import SourceBlock, Style
from serialpack.formats.shared.document import DocumentFormat
from serialpack.values.kinds import OBJECTS


class JavaFormat(DocumentFormat):
    """What an ObjectOutputStream wrote: each object, and each piece of primitive data."""

    about = "Java serialization streams; read, never written"
    title = "Java serialization"
    heeds = frozenset({OBJECTS})

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats.java.read import read_stream

        return read_stream(data, self.marks)

    def write(self, records: list[Any]) -> bytes:  # noqa: ARG002
        raise _unwritten()

    def write_stored(self, records: list[Any]) -> bytes:  # noqa: ARG002
        raise ValueError("java is read, never written")

    def detect_style(self, block: SourceBlock) -> Style:  # noqa: ARG002
        """RefusedError: whoever asks how it is written could not unpack it."""
        raise _unwritten()


def _unwritten() -> RefusedError:
    return RefusedError(
        "Java serialization is read, never written, so it could not be unpacked again",
        hint="pack -s raw or -s java keeps the bytes",
    )
