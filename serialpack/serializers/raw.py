"""raw: the source's own bytes."""

from __future__ import annotations

from serialpack.formats.base import Format, SourceBlock, Spelling
from serialpack.serializers.base import Serializer
from serialpack.stages.stage import Buffer


class Raw(Serializer):
    """Passes the bytes as they are."""

    exact = True
    holds_gil = False
    text = False
    about = "the bytes as they are"

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:  # noqa: ARG002
        return block.data, block.records

    def decode(
        self,
        data: Buffer,
        fmt: Format,  # noqa: ARG002
        spelling: Spelling,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> Buffer:
        return data
