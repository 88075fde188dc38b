"""The reading half: blocks of a source become records, and their text is proved."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from serialpack.collector import gc_paused
from serialpack.formats.base import SourceBlock, Style, ValueFormat
from serialpack.values.kinds import Difference


class Proof(NamedTuple):
    """The outcome of a proof.

    ``lost``: the first value that is not the same; None where all are. ``exact``: whether the very
    bytes come back, or only the same values. ``style``: how the style of this block differs from
    the source's; mostly empty.
    """

    lost: Difference | None
    exact: bool
    style: Style


class Reading:
    """A format, and the style of one source in it."""

    def __init__(self, fmt: ValueFormat, style: Style) -> None:
        self.format = fmt
        self.style = style

    def read(self, block: SourceBlock) -> list[Any]:
        """The records of a block; SyntaxInputError, RefusedError, and Unheld for what Python
        cannot hold."""
        return self.format.parse(block)

    def text(self, block: SourceBlock, records: list[Any], changes: Style) -> bytes:
        """The text of a block with these ``records``, in the source's style with ``changes``."""
        return self.format.write_text(records, {**self.style, **changes}, first=block.index == 0)

    def prove(
        self,
        block: SourceBlock,
        records: list[Any],
        strictly: Callable[[], list[Any]] | None = None,
    ) -> Proof:
        """Prove that ``records``, read from the block or from its serialized bytes, give it back.

        First the bytes are compared, in the source's style and in guesses at the block's own. Where
        they differ, the values are: strictly, as read from the text that will be written.
        ``strictly`` gives the records for that, where ``records`` may equal others whose text
        differs. One of ``serializers.base.FAILURES`` for values that have no text.
        """
        guess = self._exact(block, records)
        if guess is not None:
            return Proof(None, True, guess)
        if strictly is not None:
            records = strictly()
        changed = self.format.style_changes(block, self.style)
        text = self.text(block, records, changed)
        with gc_paused():
            return Proof(self.format.difference(block, text), False, changed)

    def style_of(self, block: SourceBlock, records: list[Any]) -> Style | None:
        """How the style differs in which the block is the very text of ``records``; None where no
        such style is found.

        One of ``serializers.base.FAILURES`` for values that have no text.
        """
        changes = self._exact(block, records)
        return None if changes is None else {**self.style, **changes}

    def guesses(self, block: SourceBlock) -> Iterator[Style]:
        """Guesses how the style of a block may differ from the source's, likeliest first."""
        yield self.format.style_changes(block, self.style)
        yield from self.format.style_guesses(block, self.style)

    def _exact(self, block: SourceBlock, records: list[Any]) -> Style | None:
        source = bytes(block.data)
        for guess in self.guesses(block):
            if self.text(block, records, guess) == source:
                return guess
        return None

    def is_usual(self, block: SourceBlock, records: list[Any]) -> bool:
        """Whether the block's text is that of ``records`` in the source's style."""
        changed = self.format.style_changes(block, self.style)
        return self.text(block, records, changed) == bytes(block.data)
