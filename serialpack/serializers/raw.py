"""raw: the source's own bytes."""

from __future__ import annotations

from serialpack.serializers.base import ByteSerializer
from serialpack.stages.stage import Buffer


class RawSerializer(ByteSerializer):
    """Passes the bytes as they are."""

    passes = True
    holds_gil = False
    about = "the bytes as they are"

    def encode(self, data: Buffer, kind: str) -> Buffer:  # noqa: ARG002
        return data

    def decode(self, data: Buffer) -> Buffer:
        return data
