"""The choice of a chain for a source: by ``auto``, or apart for its large values."""

from collections.abc import Callable

from serialpack import auto
from serialpack.auto import Choice
from serialpack.files import Source
from serialpack.stages.stage import Buffer


def settle(
    choice: Choice, format: str, peek: Callable[[int], Buffer], source: Source | None = None
) -> Choice:
    """As ``auto.settle``, of a source that may have large values."""
    if not choice.settled and source is not None:
        from serialpack.extents import settle_apart

        if (apart := settle_apart(choice, format, peek, source)) is not None:
            return apart
    return auto.settle(choice, format, peek, source)
