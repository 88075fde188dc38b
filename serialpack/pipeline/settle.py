"""Settles which chain packs a source: one for all of it, or one for each of its large values."""

from collections.abc import Callable

from serialpack.auto import choice as auto
from serialpack.auto.choice import Choice
from serialpack.files.source import Source
from serialpack.stages.stage import Buffer


def settle(
    choice: Choice, format: str, peek: Callable[[int], Buffer], source: Source | None = None
) -> Choice:
    """The choice of a chain, once the front of the source can be looked at: for one that has large
    values (arrays in an .npz file, say) a chain for each (``auto.extents``), for all others as
    ``auto.choice.settle``."""
    if not choice.settled and source is not None:
        from serialpack.auto.extents import settle_apart

        if (apart := settle_apart(choice, format, peek, source)) is not None:
            return apart
    return auto.settle(choice, format, peek, source)
