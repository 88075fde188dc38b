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
    if not choice.settled and source is not None:
        head = peek(choice.block_size + 1)
        if len(head) >= auto.LEAST and (source.size or len(head)) >= LEAST_TRIED:
            from serialpack.extents import settle_apart

            apart = settle_apart(choice, format, memoryview(head), source)
            if apart is not None:
                return apart
    return auto.settle(choice, format, peek, source)
