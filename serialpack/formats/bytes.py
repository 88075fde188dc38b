"""Any bytes: no records, no values."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.formats.base import Format, Read, SourceBlock
from serialpack.formats.shared.split import split_plain


class BytesFormat(Format):
    """Bytes that mean nothing to serialpack."""

    about = "any bytes"

    def split(
        self,
        read: Read,
        block_size: int,
        *,
        for_values: bool = False,
        most_values: int = 0,  # noqa: ARG002
    ) -> Iterator[SourceBlock]:
        return split_plain(read, block_size, for_values=for_values)
