"""columns: records as typed columns, byte for byte. ``man/spk-columns.5``."""

from __future__ import annotations

from collections.abc import Sequence

from serialpack.codecs.zstd import Zstd
from serialpack.errors import UnsupportedError
from serialpack.formats.base import Format, SourceBlock, Spelling
from serialpack.serializers._collector import collector_held
from serialpack.serializers.base import Serializer
from serialpack.stages.effort import EFFORTS
from serialpack.stages.stage import Buffer, dialled
from serialpack.watch import within

#: Columns this much smaller than a sample promises of text are not held against all of the text.
_CLEARLY = 0.8
#: Of text that is compressed already they must save this much of what a filter must (``Effort``).
_LEAST = 0.2

#: The sample: so many pieces of so many bytes.
_PIECES, _PIECE = 4, 64 << 10

#: About how far the work is when the block is taken apart; then its text is looked at.
_APART = 0.85


class Columns(Serializer):
    """A block's records taken apart: like values stand together, each kind as suits it.

    A block that has no records, or would hardly be smaller so, is its text under zstd.
    """

    library = "pcodec"
    exact = True
    portable = False
    compresses = True
    params = (dialled("effort", min(EFFORTS), max(EFFORTS), tuple(EFFORTS)),)
    levels = (":3", ":6")
    about = "records as typed columns, byte for byte"

    @classmethod
    def keeps(cls, fmt: Format) -> bool:  # noqa: ARG003
        return False

    @classmethod
    def suits(cls, fmt: Format) -> bool:
        return bool(fmt.declared.columns)

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        from serialpack.columns.stored.block import Form

        source = bytes(block.data)
        with within(0, _APART):
            columns = None if block.partial or block.continued else self.apart(source, fmt)
        if columns is None:
            return self._text(source, Form.SHAPELESS), block.records
        if len(source) > _PIECES * _PIECE and len(columns) < _CLEARLY * self._foreseen(source):
            return columns, block.records
        text = self._text(source, Form.LARGER)
        most = (1 - _LEAST * EFFORTS[self.values[0]].least_gain) * len(text)
        return (columns if len(columns) < most else text), block.records

    def plain(self, source: Buffer) -> Buffer:
        from serialpack.columns.stored.block import Form

        return self._text(source, Form.UNPROVED)

    def parts(self, data: Buffer) -> Sequence[Buffer]:
        from serialpack.columns.stored import block

        if block.Form.of(data) is not block.Form.COLUMNS:
            return (data,)
        view = memoryview(data)
        return [view[start:stop] for start, stop in block.Columns(view).pieces()]

    def apart(self, source: bytes, fmt: Format) -> bytes | None:
        """The block of ``source`` as columns, whatever its size; None where it has no records."""
        from serialpack.columns.parse import shape
        from serialpack.columns.stored import block

        (effort,) = self.values
        kind = fmt.declared.columns
        if not kind:
            return None
        with collector_held():
            split = shape.split(source, kind)
            return None if split is None else block.write(split, effort)

    def _text(self, source: Buffer, form: int) -> bytes:
        from serialpack.columns.stored import block

        (effort,) = self.values
        (level,) = (param.at(effort) for param in Zstd.params)
        return block.write_text(source, block.Form(form), level)

    def _foreseen(self, source: bytes) -> float:
        """About how many bytes the text would take; of more than the sample."""
        step = (len(source) - _PIECE) // (_PIECES - 1)
        pieces = b"".join(source[i * step : i * step + _PIECE] for i in range(_PIECES))
        return len(self._text(pieces, 0)) * len(source) / len(pieces)

    def decode(
        self,
        data: Buffer,
        fmt: Format,  # noqa: ARG002
        spelling: Spelling,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> Buffer:
        from serialpack.columns.stored import block
        from serialpack.columns.texts import Unknown

        try:
            with collector_held():
                return block.read(bytes(data))
        except Unknown as error:
            raise UnsupportedError(f"needs {error}", hint="update serialpack") from None
