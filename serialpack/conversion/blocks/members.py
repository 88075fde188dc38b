"""Converts the members of one large map, which is read some members at a time.

The map is one record. So errors and losses are said to be in record 0, whichever member it is.
"""

from __future__ import annotations

from serialpack.conversion.blocks.converter import BlockConverter
from serialpack.conversion.plan import Found
from serialpack.errors import ValueRefusedError
from serialpack.formats.base import SourceBlock


class MembersConverter(BlockConverter):
    """Of blocks of members; it is one record that they are in, whatever their number."""

    def __call__(self, block: SourceBlock) -> Found:
        """As of ``BlockConverter``, with all places in record 0."""
        try:
            found = super().__call__(block)
        except ValueRefusedError as refused:
            if refused.record is not None:
                refused.record = 0
            raise
        return found._replace(losses=[loss._replace(record=0) for loss in found.losses])
