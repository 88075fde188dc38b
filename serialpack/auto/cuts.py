"""Cuts a source into blocks that come with what was found while it was looked at."""

from collections.abc import Callable, Iterator
from functools import partial

from serialpack.formats import FORMATS
from serialpack.formats.base import Read, SourceBlock
from serialpack.stages.stage import Buffer

Split = Callable[[Read, int], Iterator[SourceBlock]]


def whole(
    format: str, data: Buffer, payload: Buffer | None, read: Read, block_size: int
) -> Iterator[SourceBlock]:
    """The blocks of a source; of one that is ``data``, with the ``payload`` made of that."""
    for block in FORMATS.get(format).split(read, block_size):
        yield block._replace(payload=payload) if block.data == data else block


def of_learned(format: str, learned: object, read: Read, block_size: int) -> Iterator[SourceBlock]:
    """The blocks of a source, with what a codec has ``learned`` of samples of it."""
    for block in FORMATS.get(format).split(read, block_size):
        yield block._replace(learned=learned)


def cuts_otherwise(split: Split | None) -> bool:
    """Whether ``split`` cuts a source as its format and the size of blocks alone do not."""
    return split is not None and not (
        isinstance(split, partial) and split.func in (whole, of_learned)
    )
