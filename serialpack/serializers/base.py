"""What a serializer promises, declared as data: what it cannot hold, and what people choose by.

``encode`` turns one block of the source into serialized bytes, ``decode`` undoes it. The
pipeline proves each block by decoding it again; a serializer need not check itself, but must
never be trusted without.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.formats.base import Format, SourceBlock, Spelling, ValueFormat
from serialpack.stage import Buffer, Stage

#: The losses that a serializer may declare, and what each is called in a message.
LOSSES = {
    "bigint": "an integer beyond 64 bits",
    "digits": "a number with more digits than a double holds",
    "overflow": "a number beyond the range of a double",
    "negative-zero": "a negative zero written as an integer",
    "duplicate-keys": "an object with a key twice",
    "surrogates": "a lone surrogate",
    "depth": "values nested too deeply",
    "value": "a value",
}


class Serializer(Stage):
    """Turns a block of a source into serialized bytes and back."""

    #: Formats of the source that it takes; None: any bytes.
    sources: ClassVar[tuple[str, ...] | None] = None
    #: The format that its serialized blocks are in; None: the source's own.
    stored_format: ClassVar[str | None] = None
    #: Losses (keys of LOSSES) that a source may hold and this serializer cannot: refused.
    cannot: ClassVar[frozenset[str]] = frozenset()
    #: Whether it always gives back the very bytes.
    exact: ClassVar[bool] = False
    #: Whether it holds the GIL while it works, so that worker processes pay.
    holds_gil: ClassVar[bool] = True
    portable: ClassVar[bool] = True
    text: ClassVar[bool] = False
    safe: ClassVar[bool] = True

    @abstractmethod
    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        """The serialized bytes of ``block``, and how many records they hold."""

    @abstractmethod
    def decode(self, data: Buffer, fmt: Format, spelling: Spelling, *, first: bool) -> Buffer:
        """The block's source bytes again, spelled as well as can be."""


class ValueSerializer(Serializer):
    """A serializer of Python values: a block is a sequence of serialized records."""

    sources = ("json", "ndjson")

    @abstractmethod
    def dump(self, records: list[Any]) -> bytes:
        """The records, one after another. Raises whatever its library raises."""

    @abstractmethod
    def load(self, data: Buffer) -> list[Any]:
        """The records again; ValueError (or a subclass) for bytes that hold none."""

    def encode(self, block: SourceBlock, fmt: Format) -> tuple[Buffer, int | None]:
        assert isinstance(fmt, ValueFormat)
        if block.partial:
            raise RefusedError(
                "a record is larger than 64 MiB",
                hint="-s raw packs records of any size",
            )
        records = fmt.parse(block)
        try:
            return self.dump(records), len(records)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise self._refusal(block, fmt, records, error) from None

    def decode(self, data: Buffer, fmt: Format, spelling: Spelling, *, first: bool) -> Buffer:
        assert isinstance(fmt, ValueFormat)
        return fmt.spell(self.load(data), spelling, first=first)

    def _refusal(
        self, block: SourceBlock, fmt: Format, records: list[Any], error: Exception
    ) -> ValueRefusedError:
        """Which record the library would not take, found by dumping each alone."""
        raise NotImplementedError
