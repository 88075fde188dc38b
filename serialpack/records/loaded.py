"""``Loaded``: the records of one unit, read as far as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from serialpack.columns.stored.block import ColumnBlock, Form
from serialpack.conversion.sources.reading import SourceReader
from serialpack.errors import DamagedError, InputError, RefusedError, UsageError, ValueRefusedError
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.fields import OpenBlock
from serialpack.records.units import Unit, counted, read_values

#: After so many records of a block were read one by one, all of them are.
_ONE_BY_ONE = 8


class Loaded:
    """The records of a unit, read as far as they are asked for.

    All at once, where that can be; else each on its own, so that one that is refused does not
    take the others with it.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._member = unit.member
        self._asked = 0
        self._opened: OpenBlock | None = None
        self._columns: ColumnBlock | None = None
        self._values: list[Any] | None = None
        #: Of those that are refused: the record as a block of its own, and what reads it.
        self._bad: dict[int, tuple[SourceBlock, SourceReader]] = {}

    def one(self, number: int) -> Any:
        """A record of the unit, counted in it; InputError, RefusedError."""
        with counted(self.unit):
            self._asked += 1
            if self._values is None:
                few = self._asked <= _ONE_BY_ONE
                if few and (found := self._alone(number)):
                    return found[0]
                try:
                    self._read()
                except InputError:  # which may be in another one
                    if few or not (found := self._alone(number)):
                        raise
                    return found[0]
            return self._value(number)

    def some(self, numbers: Sequence[int]) -> list[Any]:
        """As ``one``, of several."""
        if len(numbers) > _ONE_BY_ONE:
            self._asked = max(self._asked, _ONE_BY_ONE)
        return [self.one(number) for number in numbers]

    def values(self) -> Iterator[Any]:
        """All of them, in order; InputError, RefusedError."""
        with counted(self.unit):
            self._read()
        values = self._values or []
        done = 0
        for number in sorted(self._bad):
            yield from values[done:number]
            with counted(self.unit):
                yield self._value(number)
            done = number + 1
        yield from values[done:] if done else values

    def _value(self, number: int) -> Any:
        if number in self._bad:
            block, reader = self._bad[number]
            return read_values(reader, block)[0]
        assert self._values is not None
        return self._values[number]

    def _read(self) -> None:
        """Read all of them."""
        if self._values is not None:
            return
        self._opened = self._columns = None
        unit, member = self.unit, self._member
        block = unit.block._replace(data=member.piece_of(unit))
        if unit.stored:
            block = member.placed(block)
        try:
            values = member.read(block)
        except ValueRefusedError:
            values = self._read_each(block)
            if not self._bad:
                raise
        if len(values) != unit.records:
            raise DamagedError(
                f"does not hold the {unit.records} records of its header", block=block.index
            )
        self._values = values

    def _read_each(self, block: SourceBlock) -> list[Any]:
        """The records one by one, None for each that is refused.

        None is taken for that where something else is wrong with the block.
        """
        reader = self._member.reader(block)
        values: list[Any] = []
        good, bad = b"", {}
        for number, (part, alone) in enumerate(reader.alone(block)):
            try:
                (value,) = read_values(alone, part)
                good = bytes(part.data)
            except (InputError, RefusedError):
                value = None
                bad[number] = part, alone
            values.append(value)
        parts = [part for part, _ in bad.values()]
        whole = any(part is block for part in parts)
        if not whole and not reader.broken_around(block, len(values), good, parts):
            self._bad = bad
        return values

    def _alone(self, number: int) -> list[Any]:
        """The one record, where it can be read without the others; else none."""
        unit = self.unit
        one = unit.records == 1 or (
            self._member.format.declared.is_json_text and not self._member.structure
        )
        if one or not unit.stored or unit.block.partial:
            return []
        text = self._text(number)
        if text is None:
            return []
        block, reader = self._member.alone(unit, number, text)
        try:
            found = read_values(reader, block)
        except InputError:  # where, is known when all are read
            return []
        return found if len(found) == 1 else []

    def _text(self, number: int) -> bytes | None:
        """The text of a record, or None where it has none of its own."""
        unit, member = self.unit, self._member
        opened = self._opened = self._opened or member.opened(unit.block.index)
        if opened is not None and opened.form is Form.COLUMNS:
            with opened.checked():
                columns = self._columns = self._columns or opened.columns()
                if columns.shape.records == unit.records:
                    return columns.text(number, number + 1)
        source = member.source_of(unit.block.index)
        try:
            span = member.format.record_range(
                source,
                member.plan.style,
                (number, number + 1),
                unit.records,
                first=unit.block.index == 0,
            )
        except (UsageError, ValueError):
            return None
        return None if span is None else bytes(source[span[0] : span[1]])
