"""The choice of a chain for a source: by ``auto``, or apart for its large values."""

from collections.abc import Callable

from serialpack import auto
from serialpack.auto import Choice
from serialpack.files import Source
from serialpack.stages.stage import Buffer

#: Fewer bytes are not worth the time that it takes to try chains for the large values in them.
LEAST_TRIED = 1 << 20


def settle(
    choice: Choice, format: str, peek: Callable[[int], Buffer], source: Source | None = None
) -> Choice:
    """As ``auto.settle``, of a source that may have large values."""
    found = auto.settle(choice, format, peek, source)
    if choice.settled or source is None or not found.looked_at:
        return found
    head = peek(choice.block_size + 1)
    if (source.size or len(head)) < LEAST_TRIED:
        return found
    from serialpack.extents import settle_apart

    return settle_apart(choice, format, memoryview(head), source) or found
