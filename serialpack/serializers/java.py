"""java: Java serialization streams, by javaobj-py3; read, never written."""

from __future__ import annotations

from typing import Any

from serialpack.serializers._stored import StoredSerializer
from serialpack.values.kinds import KINDS


class Java(StoredSerializer):
    """Holds nothing but a stream that Java wrote, as it is, once all of it was understood."""

    library = "javaobj"
    distribution = "javaobj-py3"
    extra = "java"
    stored_format = "java"
    cannot = frozenset(KINDS)
    portable = False
    about = "Java serialization streams, read by javaobj-py3, never written"

    def _dump(self, records: list[Any]) -> bytes:  # noqa: ARG002
        raise ValueError("java is read, never written")

    def read(self, data: bytes) -> list[Any]:
        from serialpack.formats.java.read import read_stream

        return read_stream(data)
