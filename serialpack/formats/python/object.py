"""A Python object as a source: what ``dump`` packs, serialized once, in blocks of plain bytes."""

from __future__ import annotations

from collections.abc import Iterator

from serialpack.formats.base import Format, Read, SourceBlock
from serialpack.formats.shared.split import split_plain


class ObjectFormat(Format):
    """One object, as its serializer wrote it: the bytes of all blocks, one after another.

    It is one record. Blocks after the first are pieces of it.
    """

    about = "a Python object, as its serializer wrote it"
    serialized = True

    def split(
        self,
        read: Read,
        block_size: int,
        *,
        for_values: bool = False,
        most_values: int = 0,  # noqa: ARG002
    ) -> Iterator[SourceBlock]:
        for block in split_plain(read, block_size, for_values=for_values):
            later = block.index > 0
            yield block._replace(
                records=int(not later),
                first_record=int(later),
                partial=later or not block.last,
                continued=later,
            )
