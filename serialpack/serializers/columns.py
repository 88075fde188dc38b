"""columns: records as typed columns, byte for byte. ``man/spk-columns.5``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serialpack.effort import DEFAULT_EFFORT, EFFORTS
from serialpack.errors import UnsupportedError
from serialpack.formats.base import Format, SourceBlock, Spelling
from serialpack.serializers._collector import collector_held
from serialpack.serializers.base import Serializer
from serialpack.stage import MAX_BLOCK, Buffer, Param

if TYPE_CHECKING:
    from serialpack.columns.shape import Split

#: How a block begins: its text under zstd, or its structure and its columns.
TEXT, COLUMNS = b"\0", b"\1"

#: Format -> the kind of text that the columns are cut from.
_KINDS = {"json": "json", "ndjson": "json", "csv": "csv", "tsv": "tsv", "msgpack": "msgpack"}

#: Columns this much smaller than a sample promises of text are not held against all of the text.
_CLEARLY = 0.8
#: The sample: so many pieces of so many bytes.
_PIECES, _PIECE = 4, 64 << 10

#: Values may be so much longer than the source: MessagePack's numbers are columns of text.
_LONGER = 3


class Columns(Serializer):
    """A block's records taken apart: like values stand together, each kind as suits it.

    A block that has no records, or would not be smaller so, is its text under zstd.
    """

    library = "pcodec"
    exact = True
    portable = False
    compresses = True
    params = (Param("effort", min(EFFORTS), max(EFFORTS), DEFAULT_EFFORT),)
    levels = (":3", ":6")
    about = "records as typed columns, byte for byte"

    @classmethod
    def keeps(cls, fmt: Format) -> bool:  # noqa: ARG003
        return False

    @classmethod
    def suits(cls, fmt: Format) -> bool:
        return fmt.name in _KINDS

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        source = bytes(block.data)
        kind = None if block.partial or block.continued else _KINDS.get(fmt.name)
        columns = None
        if kind is not None:
            from serialpack.columns import shape

            with collector_held():
                split = shape.split(source, kind)
                columns = None if split is None else self._columns(split)
        large = len(source) > _PIECES * _PIECE
        if columns is not None and large and len(columns) < _CLEARLY * self._foreseen(source):
            return columns, block.records
        text = self.plain(source)
        return (text if columns is None or len(text) <= len(columns) else columns), block.records

    def plain(self, source: Buffer) -> Buffer:
        return TEXT + self._zstd(source)

    def _columns(self, split: Split) -> bytes:
        from serialpack.columns import pack, structure
        from serialpack.columns.wire import counted

        (effort,) = self.values
        names = ["/".join(map(str, column.path)) for column in split.shape.columns]
        packed = pack.encode_all(split.columns, effort, names)
        return b"".join((COLUMNS, counted(structure.write(split.shape, effort)), packed))

    def _foreseen(self, source: bytes) -> float:
        """About how many bytes the text would take; of more than the sample."""
        step = (len(source) - _PIECE) // (_PIECES - 1)
        pieces = b"".join(source[i * step : i * step + _PIECE] for i in range(_PIECES))
        return len(self._zstd(pieces)) * len(source) / len(pieces)

    def _zstd(self, data: Buffer) -> bytes:
        import zstandard

        (effort,) = self.values
        return zstandard.ZstdCompressor(level=EFFORTS[effort].zstd_level).compress(data)

    def decode(
        self,
        data: Buffer,
        fmt: Format,  # noqa: ARG002
        spelling: Spelling,  # noqa: ARG002
        *,
        first: bool,  # noqa: ARG002
    ) -> Buffer:
        stored = bytes(data)
        if stored.startswith(TEXT):
            return _unzstd(stored[1:])
        if not stored.startswith(COLUMNS):
            raise ValueError("it is neither columns nor text")
        from serialpack.columns.texts import Unknown

        try:
            with collector_held():
                return self._joined(stored)
        except Unknown as error:
            raise UnsupportedError(f"needs {error}", hint="update serialpack") from None

    def _joined(self, stored: bytes) -> bytes:
        from serialpack.columns import packed, shape, structure
        from serialpack.columns.wire import Reader

        reader = Reader(stored, 1)
        outline = structure.read(reader.counted(), MAX_BLOCK)
        most = MAX_BLOCK * _LONGER - outline.size
        columns = packed.decode_all(stored[reader.position :], sum(outline.numbers), most)
        return shape.join(outline, columns)


def _unzstd(stored: bytes) -> bytes:
    """The text; ValueError for any other bytes."""
    import zstandard

    try:
        size = zstandard.frame_content_size(stored)
        if not 0 <= size <= MAX_BLOCK:
            raise ValueError("its text does not say its size, or one that is too large")
        text = zstandard.ZstdDecompressor().decompress(stored, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(text) != size:
        raise ValueError("its text is of another size than it says")
    return text
