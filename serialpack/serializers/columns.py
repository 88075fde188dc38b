"""columns: records as typed columns, byte for byte. ``man/spk-columns.5``."""

from __future__ import annotations

from collections.abc import Sequence

from serialpack.codecs.zstd import Zstd, compressor_for, far_compressor
from serialpack.collector import gc_paused
from serialpack.errors import UnsupportedError
from serialpack.serializers.base import ByteSerializer
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer, dialled, most_values
from serialpack.watch import within

#: Columns below this share of what the text would take, as a sample tells, win without a trial,
#: where they are also below the second of what it takes in the quickest way: a sample does not tell
#: what comes again far off, as in small files of one kind, which took up to 2.7 times less.
_CLEARLY, _SURELY = 0.8, 0.65
#: The share of what a filter must save (``Effort.least_gain``) that columns must save.
_LEAST = 0.2

#: Bytes of memory that a value of a block takes (30 to 90 were seen, and more for what is around
#: it). So a block of 4 MiB may have a value in every four bytes.
_BYTES_OF_VALUE = 76
#: The most values of any block, for its columns are in memory all at once.
_MOST_VALUES = 5 << 18

#: The sample: so many pieces of so many bytes.
_PIECES, _PIECE = 4, 64 << 10

#: The level of the quickest way that still finds what comes again anywhere in a block.
_QUICK_LEVEL = 3

#: A text with more places for each value has keys that are data: of blocks of JSON over 256 KiB its
#: columns took more than the text, those of nearly all others less.
_TANGLED = 0.15

#: About the share of the work that is done when the block is taken apart; its text is tried then.
_APART = 0.85


class ColumnsSerializer(ByteSerializer):
    """Takes the records of a block apart into columns of like values, each encoded as suits it.

    A block without records, or one that this makes hardly smaller, is its text under zstd.
    """

    library = "pcodec"
    portable = False
    compresses = True
    params = (dialled("effort", min(EFFORTS), max(EFFORTS), tuple(EFFORTS)),)
    levels = (":3", ":6")
    about = "records as typed columns, byte for byte"

    @classmethod
    def most_values(cls, block_size: int) -> int:
        return min(most_values(block_size, _BYTES_OF_VALUE), _MOST_VALUES)

    @classmethod
    def suits(cls, kind: str) -> bool:
        return bool(kind)

    def encode(self, data: Buffer, kind: str) -> Buffer:
        from serialpack.columns.stored.block import Form

        source = bytes(data)
        with within(0, _APART):
            columns = self.apart(source, kind)
        if columns is None:
            return self._text(source, Form.SHAPELESS)
        if len(source) > _PIECES * _PIECE and self._wins(columns, source):
            return columns
        text = self._text(source, Form.LARGER)
        most = (1 - _LEAST * EFFORTS[self.values[0]].least_gain) * len(text)
        return columns if len(columns) < most else text

    def plain(self, data: Buffer) -> Buffer:
        from serialpack.columns.stored.block import Form

        return self._text(data, Form.UNPROVED)

    def parts(self, data: Buffer) -> Sequence[Buffer]:
        from serialpack.columns.stored import block

        if block.Form.of(data) is not block.Form.COLUMNS:
            return (data,)
        view = memoryview(data)
        return [view[start:stop] for start, stop in block.ColumnBlock(view).pieces()]

    def apart(self, source: bytes, kind: str) -> bytes | None:
        """The block of ``source`` as columns, whatever its size; None where it has no records."""
        from serialpack.columns.parse import shape
        from serialpack.columns.stored import block

        (effort,) = self.values
        if not kind:
            return None
        with gc_paused():
            split = shape.split(source, kind)
            return None if split is None else block.write(split, effort)

    def _text(self, source: Buffer, form: int) -> bytes:
        from serialpack.columns.stored import block

        (effort,) = self.values
        (level,) = (param.at(effort) for param in Zstd.params)
        return block.write_text(source, block.Form(form), compressor_for(level, len(source)))

    def is_tangled(self, source: bytes, kind: str) -> bool:
        """Whether keys are data in ``source``, and hardly anything stands in the same place again,
        so that columns are no smaller than text."""
        from serialpack.columns.parse import shape

        with gc_paused():
            split = shape.split(source, kind)
        return split is None or len(split.shape.nodes) > _TANGLED * len(split.shape.walk)

    def _wins(self, columns: bytes, source: bytes) -> bool:
        """Whether ``columns`` are sure to be smaller than the text of ``source`` under zstd."""
        if len(columns) >= _CLEARLY * self._foreseen(source):
            return False
        quickly = far_compressor(_QUICK_LEVEL, write_content_size=True, enable_ldm=True)
        return len(columns) < _SURELY * len(quickly.compress(source))

    def _foreseen(self, source: bytes) -> float:
        """About how many bytes the text would take under zstd, told from a sample of it."""
        step = (len(source) - _PIECE) // (_PIECES - 1)
        pieces = b"".join(source[i * step : i * step + _PIECE] for i in range(_PIECES))
        return len(self._text(pieces, 0)) * len(source) / len(pieces)

    def decode(self, data: Buffer) -> Buffer:
        from serialpack.columns.stored import block
        from serialpack.columns.texts import Unknown

        try:
            with gc_paused():
                return block.read(bytes(data))
        except Unknown as error:
            raise UnsupportedError(f"needs {error}", hint="update serialpack") from None
