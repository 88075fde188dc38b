"""What a serializer promises, declared as data: what it cannot hold, and what people choose by.

``encode`` turns one block of the source into serialized bytes, ``decode`` undoes it. The
pipeline proves each block by decoding it again; a serializer need not check itself, but must
never be trusted without.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from serialpack.errors import RefusedError, ValueRefusedError
from serialpack.formats.base import (
    Difference,
    Format,
    SourceBlock,
    Spelling,
    Unheld,
    ValueFormat,
    value_step,
)
from serialpack.serializers._collector import collector_held
from serialpack.stage import Buffer, Stage

#: The losses that a serializer may declare, and what each is called in a message.
LOSSES = {
    "bigint": "an integer beyond 64 bits",
    "digits": "a number with more digits than a double holds",
    "overflow": "a number beyond the range of a double",
    "negative-zero": "a negative zero written as an integer",
    "duplicate-keys": "an object with a key twice",
    "surrogates": "a lone surrogate",
    "huge-integer": "an integer of more than 4300 digits",
    "depth": "values nested too deeply",
    "value": "a value",
}

#: What no serializer that reads JSON into Python's own numbers and dicts can hold.
JSON_LOSSES = frozenset(
    {"digits", "overflow", "negative-zero", "duplicate-keys", "huge-integer", "depth"}
)


class Serializer(Stage, ABC):
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
        with collector_held():
            return self._encode(block, fmt)

    def _encode(self, block: SourceBlock, fmt: ValueFormat) -> tuple[Buffer, int | None]:
        try:
            records = fmt.parse(block)
        except Unheld as unheld:
            raise self.refuse(block, unheld.difference) from None
        try:
            return self.dump(records), len(records)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise self._refusal(block, records, error) from None

    def decode(self, data: Buffer, fmt: Format, spelling: Spelling, *, first: bool) -> Buffer:
        """The block's text. ValueError for bytes that this serializer never wrote."""
        assert isinstance(fmt, ValueFormat)
        with collector_held():
            return fmt.spell(self.load(data), spelling, first=first)

    def refuse(self, block: SourceBlock, lost: Difference) -> ValueRefusedError:
        """The error for a value of ``block`` that is lost; its record is counted in the file."""
        return ValueRefusedError(
            f"{self.name} cannot hold {LOSSES[lost.kind]}: {lost.was}"
            + (f" became {lost.became}" if lost.became else ""),
            record=block.first_record + lost.record,
            value_path=lost.value_path,
            hint=hint_for(lost.kind),
        )

    def _refusal(
        self, block: SourceBlock, records: list[Any], error: Exception
    ) -> ValueRefusedError:
        """Which value the library would not take, found by dumping each record alone."""
        for number, record in enumerate(records):
            if self._refuses(record):
                path, value = self._descend(record)
                lost = Difference(number, path, _shown(value), "", _kind_of(value))
                return self.refuse(block, lost)
        return self.refuse(block, Difference(0, "$", "the block", str(error), "value"))

    def _refuses(self, value: Any) -> bool:
        try:
            self.dump([value])
        except (ValueError, TypeError, OverflowError, RecursionError):
            return True
        return False

    def _descend(self, value: Any) -> tuple[str, Any]:
        """The innermost value that is refused on its own, and the path to it."""
        path = "$"
        while isinstance(value, dict | list):
            parts: Iterable[tuple[str, Any]]
            if isinstance(value, dict):
                key = next((key for key in value if self._refuses(key)), None)
                if key is not None:
                    return path, key
                parts = ((value_step(key), part) for key, part in value.items())
            else:
                parts = ((f"[{i}]", part) for i, part in enumerate(value))
            found = next(((step, part) for step, part in parts if self._refuses(part)), None)
            if found is None:
                break
            path += found[0]
            value = found[1]
        return path, value


def check_finite(values: Any) -> None:
    """ValueError where a NaN or an infinity stands in ``values``: JSON has no word for them."""
    stack: list[Any] = [values]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, float) and value - value != 0:
            raise ValueError(f"{value} is not JSON")


def _kind_of(value: Any) -> str:
    """The loss that a value which a library refuses stands for."""
    if isinstance(value, int):
        return "bigint"
    if isinstance(value, str):
        return "surrogates"
    if isinstance(value, float):
        return "overflow"
    return "depth" if isinstance(value, dict | list) else "value"


def _shown(value: Any) -> str:
    text = ascii(value) if not isinstance(value, dict | list) else type(value).__name__
    return text if len(text) <= 40 else f"{text[:20]}...{text[-8:]}"


def hint_for(kind: str) -> str:
    """Which serializers can hold what ``kind`` names: ``json or raw can``."""
    from serialpack.serializers import SERIALIZERS

    able = []
    for entry in SERIALIZERS:
        cls = SERIALIZERS.cls(entry.name)
        if kind not in cls.cannot and cls.missing(entry.name) is None and not cls.exact:
            able.append(entry.name)
    names = [*able[:3], "raw"]
    return (", ".join(names[:-1]) + " or " if able else "") + names[-1] + " can"
