"""``JsonText``: the base of JSON and NDJSON, which turns blocks of text into values and back."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from serialpack.formats import FORMATS
from serialpack.formats.base import Difference, SourceBlock, Style, StyleTypes, Unheld, ValueFormat
from serialpack.formats.json.parse import (
    Scanner,
    UnheldNumber,
    failed,
    place_of,
    strict_scanner,
    text_of,
    values_scanner,
)
from serialpack.formats.shared.document import Malformed
from serialpack.literal import is_number
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import DIGITS, DUPLICATES, NAN, UTF8
from serialpack.values.structure import Structure

# Modules for style, writing and comparing are imported where they are used: packing the bytes
# as they are needs none of them, and starts 4 ms sooner (of some 65).
if TYPE_CHECKING:
    from serialpack.formats.json.parse import JsonFrame
    from serialpack.formats.json.style import JsonStyle


#: An integer -0, which Python has no value for, or what looks like one within a text.
_NEGATIVE_ZERO = re.compile(rb"-0(?![.0-9eE])")


class JsonText(ValueFormat):
    """A format of JSON text. A subclass says where its records stand."""

    restyled = True
    heeds = frozenset({DIGITS, DUPLICATES, NAN, UTF8})
    keeps_literals = True

    style_types: ClassVar[StyleTypes] = {
        **dict.fromkeys("khjtb", (str,)),
        **dict.fromkeys("xf", (int,)),
        "s": (list, int),
        "n": (int, str),
    }

    #: What ``style`` calls the format.
    _kind: ClassVar[Structure]

    @abstractmethod
    def _fast(self, block: SourceBlock, data: bytes) -> list[Any] | None:
        """The records; None where the strict way must read them, or where they may be too deep."""

    @abstractmethod
    def _scan(self, block: SourceBlock, text: str, scanner: Scanner) -> Iterator[Any]:
        """The records, strictly; Malformed where the text breaks the syntax."""

    @abstractmethod
    def _deep(self, block: SourceBlock, data: bytes) -> Difference | None:
        """What is lost of a record that is nested too deeply, else None; Malformed where its
        brackets stay open."""

    @abstractmethod
    def framed(self, block: SourceBlock, data: bytes) -> JsonFrame | None:
        """Where the records of a block stand; of lines, where the only one stands. None where the
        strict way must tell."""

    def detect_style(self, block: SourceBlock) -> Style:
        return self._learn(block).stored()

    def _learn(self, block: SourceBlock) -> JsonStyle:
        from serialpack.formats.json import style as json_style

        return json_style.detect_style(
            bytes(block.data), self._kind, first=block.index == 0, last=block.last
        )

    def write_text(self, records: list[Any], style: Style, *, first: bool) -> bytes:
        from serialpack.formats.json import write as json_write

        return json_write.write(records, self.parsed(style), first=first)

    def parsed(self, style: Style) -> JsonStyle:
        """What a stored style means; ValueError where it is none."""
        from serialpack.formats.json import style as json_style

        return json_style.style_of(style, self._kind)

    def style_changes(self, block: SourceBlock, style: Style) -> Style:
        from serialpack.formats.json import style as json_style

        parsed = self.parsed(style)
        tail = json_style.tail_of(block.data, parsed.kind)
        return {} if tail == parsed.tail else {"t": tail}

    def style_guesses(self, block: SourceBlock, style: Style) -> Iterator[Style]:
        from dataclasses import replace

        from serialpack.formats.json import style as json_style

        usual = self.parsed(style)
        found = self._learn(block)
        if block.index:
            found = replace(found, head=usual.head)
        if found != usual and found.kind == usual.kind:
            yield json_style.changes(style, found)
        if json_style.floats_differ(block.data):
            found = replace(found, python_floats=not found.python_floats)
            yield json_style.changes(style, found)

    def parse(self, block: SourceBlock) -> list[Any]:
        data = bytes(block.data)
        records = self._fast(block, data) if self._is_fast(data) else None
        if records is not None:
            return records
        self._check_depth(block, data)
        text = text_of(block, data)
        try:
            records = list(self._scan(block, text, self._scanner()))
        except Malformed as bad:
            self._fail(block, text, bad)
        except UnheldNumber:
            from serialpack.formats.json import compare as json_compare

            lost = json_compare.unheld(self._strict(block, data))
            raise Unheld(lost or Difference(0, "$", "a number", "another", "value")) from None
        if block.records is None and not (block.index == 0 and block.last):
            raise place_of(block, "", "records cannot be told apart from here on")
        return records

    def _is_fast(self, data: bytes) -> bool:
        return self.marks is None and not (self.literals and _NEGATIVE_ZERO.search(data))

    def _scanner(self) -> Scanner:
        if self.marks is None and not self.literals:
            return values_scanner()
        from serialpack.formats.json import lossy as _lossy

        if self.marks is None:
            return _lossy.literal_scanner()
        return _lossy.marking_scanner(self.marks, literals=self.literals)

    def literal_of(self, text: str) -> str | None:
        return text if is_number(text) else None

    def spells_floats(self, block: SourceBlock, style: Style, target: str) -> bool:
        """Whether the numbers of a block, which is the very text of its values in ``style``,
        are spelled as ``target`` spells these values."""
        from serialpack.formats.json.style import floats_differ

        if self.writes_as(target) and not self.parsed(style).python_floats:
            return True
        return not floats_differ(block.data)

    def writes_as(self, other: str) -> bool:
        return FORMATS.declaration(other).is_json

    def parse_as(
        self,
        block: SourceBlock,
        array: Callable[[bytes], list[Any]],
        lines: Callable[[bytes], list[Any]],
    ) -> list[Any] | None:
        """The records as ``array`` reads an array of them, or ``lines`` lines of them.

        None where they do not read them: nothing is known of the text then. Also of text that
        they do read, only what is written of the records again tells whether it is the same.
        Both see to it that values are not nested too deeply.
        """
        try:
            records = self._read_as(block, bytes(block.data), array, lines)
        except (ValueError, RecursionError):
            return None
        return records if records is not None and len(records) == block.records else None

    @abstractmethod
    def _read_as(
        self,
        block: SourceBlock,
        data: bytes,
        array: Callable[[bytes], list[Any]],
        lines: Callable[[bytes], list[Any]],
    ) -> list[Any] | None:
        """As ``parse_as``, but any error may be raised."""

    def _check_depth(self, block: SourceBlock, data: bytes) -> None:
        try:
            lost = self._deep(block, data)
        except Malformed as bad:
            self._fail(block, str(data, "utf-8", "replace"), bad)
        if lost is not None:
            raise Unheld(lost)

    def _fail(self, block: SourceBlock, text: str, bad: Malformed) -> NoReturn:
        raise failed(block, text, bad) from None

    def _strict(self, block: SourceBlock, data: bytes) -> Iterator[Any]:
        text = text_of(block, data)
        try:
            yield from self._scan(block, text, strict_scanner())
        except Malformed as bad:
            self._fail(block, text, bad)

    def difference(self, block: SourceBlock, restored: Buffer) -> Difference | None:
        from serialpack.formats.json import compare as json_compare

        data, after = bytes(block.data), bytes(restored)
        try:
            self._check_depth(block, data)
        except Unheld as unheld:
            return unheld.difference
        text = block._replace(data=after)
        return json_compare.difference(
            self._strict(block, data), self._strict(text, after), literals=self.literals
        )
