"""The side of the source: its blocks are read as records, and records are written as its text
again."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from serialpack.collector import gc_paused
from serialpack.formats.base import SourceBlock, Style, ValueFormat
from serialpack.values.kinds import Difference


class Proof(NamedTuple):
    """The outcome of a proof.

    ``lost``: the first value that would come back different; None where all are the same.
    ``exact``: whether the very bytes come back, and not only the same values. ``style``: in what
    the style of this block differs from that of the source; mostly empty.
    """

    lost: Difference | None
    exact: bool
    style: Style


class Reading:
    """Reads and writes the blocks of one source: its format, and its style (how it spells
    values)."""

    def __init__(self, fmt: ValueFormat, style: Style) -> None:
        self.format = fmt
        self.style = style

    def read(self, block: SourceBlock) -> list[Any]:
        """The records of a block; SyntaxInputError, RefusedError, or ``Unheld`` for a value that
        Python cannot hold."""
        return self.format.parse(block)

    def text(self, block: SourceBlock, records: list[Any], changes: Style) -> bytes:
        """The text of ``records`` in the source's style with ``changes``; ``block``: the block that
        they are of."""
        return self.format.write_text(records, {**self.style, **changes}, first=block.index == 0)

    def prove(
        self,
        block: SourceBlock,
        records: list[Any],
        strictly: Callable[[], list[Any]] | None = None,
    ) -> Proof:
        """Prove that ``records``, as they will come back, give the text of ``block`` or its values.

        First bytes are compared: those of the block with the text of ``records``, in the source's
        style and in others that the block may have (``guesses``). If none is the same, values are
        compared: those of the block with those read from the text that unpacking will write.
        ``strictly``: gives the records for that, where ``records`` were read so that values may
        equal others with another text. Raises one of ``serializers.base.FAILURES`` for values that
        have no text.
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
        """The style in which ``records`` have the very text of the block; None where none is found.
        Raises one of ``serializers.base.FAILURES`` for values that have no text.
        """
        changes = self._exact(block, records)
        return None if changes is None else {**self.style, **changes}

    def guesses(self, block: SourceBlock) -> Iterator[Style]:
        """In what the style of ``block`` may differ from the source's: guesses, the likeliest
        first."""
        yield self.format.style_changes(block, self.style)
        yield from self.format.style_guesses(block, self.style)

    def _exact(self, block: SourceBlock, records: list[Any]) -> Style | None:
        source = bytes(block.data)
        for guess in self.guesses(block):
            if self.text(block, records, guess) == source:
                return guess
        return None

    def is_usual(self, block: SourceBlock, records: list[Any]) -> bool:
        """Whether the block is the very text of ``records`` in the source's style (with the
        differences that the format can tell, without guessing)."""
        changed = self.format.style_changes(block, self.style)
        return self.text(block, records, changed) == bytes(block.data)
