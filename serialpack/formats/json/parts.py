"""Large records of JSON, part by part: where these begin is told from brackets and commas alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serialpack.formats.base import SourceBlock, Style
from serialpack.formats.json.join import NdJsonJoin
from serialpack.formats.json.parse import (
    CLOSING,
    MEMBER,
    OPENING,
    before_white,
    behind_white,
)
from serialpack.formats.json.text import JsonText
from serialpack.formats.pieces.parts import (
    BYTES,
    LEVELS,
    MEMBERS,
    Cutter,
    Parts,
    RecordPart,
    RecordText,
    is_large_record,
)
from serialpack.stages.stage import WIDE, Buffer
from serialpack.values.structure import Structure

_STRUCTURES = {"[": Structure.ARRAY, "{": Structure.MAP}


class JsonCutter(Cutter):
    """Cuts records of JSON and NDJSON. Parts are lines without white space, whatever the text
    has."""

    part_format = "ndjson"

    def __init__(self, fmt: JsonText) -> None:
        self._format = fmt

    def records(self, block: SourceBlock) -> Iterator[Parts] | None:
        if not is_large_record(block):
            return None
        text = bytes(block.data)
        found = self._format.framed(block, text)
        if found is None:
            return None
        if found.kind == Structure.MAP:  # one member, which is a map of its own
            return iter([_Cut(text).parts(found.start, found.end, Structure.MAP)])
        start = behind_white(text, found.start, found.end)
        inside = _inside(text, start, before_white(text, found.end))
        return None if inside is None else iter([_Cut(text).parts(*inside)])


class JsonRecordText(RecordText):
    """Writes records of JSON and NDJSON. They are laid out once they are whole: to put in white
    space needs no values."""

    def __init__(self, fmt: JsonText, style: Style) -> None:
        from serialpack.formats.json.write import compact_engine

        super().__init__(NdJsonJoin())
        self._style = fmt.parsed(style)
        self._engine = compact_engine(self._style)

    def write(self, value: Any) -> bytes:
        return self._engine(value) + b"\n"

    def text(self, record: Buffer, *, first: bool) -> Buffer:
        from serialpack.formats.json.write import write_encoded

        return write_encoded(bytes(memoryview(record)[:-1]), self._style, first=first)


def _inside(text: bytes, start: int, end: int) -> tuple[int, int, Structure] | None:
    """Where the members stand of the map or array that is all of ``text[start:end]``, and which of
    the two it is. None for any other value, and where it is empty."""
    structure = _STRUCTURES.get(chr(text[start])) if start < end else None
    if structure is None or text[end - 1 : end] != CLOSING[structure].encode():
        return None
    if behind_white(text, start + 1, end - 1) == end - 1:
        return None
    return start + 1, end - 1, structure


class _Cut:
    """A text that is being cut."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def parts(self, start: int, end: int, structure: Structure, level: int = 0) -> Parts:
        """The parts of the map or array that has its members in ``text[start:end]``."""
        begin = start
        for count, stop in self._ends(start, end):
            if count == 1 and stop - begin > WIDE:
                yield from self._large(begin, stop, structure, level)
            else:
                yield self._compact(self._text[begin:stop], structure, count)
            begin = stop + 1
        yield None

    def _ends(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """For each part how many members it has, and where it ends. A part is larger than ``BYTES``
        only where it has one member."""
        from serialpack.formats.json.scan import JsonScan

        scan, begin, before, count = JsonScan(), start, start, 0
        for commas, close in scan.pieces(self._text, start, end):
            if close >= 0:
                raise ValueError("a bracket that nothing opens")
            for comma in commas.tolist():
                if count and comma - begin > BYTES:
                    yield count, before
                    begin, count = before + 1, 0
                before, count = comma, count + 1
                if count == MEMBERS:
                    yield count, before
                    begin, count = before + 1, 0
        if scan.depth or scan.in_string:
            raise ValueError("the text ends too early")
        if count:
            yield count, before
        yield 1, end

    def _compact(
        self, text: bytes, structure: Structure, count: int, *, opens: bool = False
    ) -> RecordPart:
        import msgspec

        whole = b"%b%b%b" % (OPENING[structure].encode(), text, CLOSING[structure].encode())
        data = msgspec.json.format(whole, indent=-1)
        if len(data) == 2:
            raise ValueError("no value where one was expected")
        return RecordPart(data, structure, count, opens=opens)

    def _large(self, start: int, end: int, structure: Structure, level: int) -> Parts:
        """The parts for one large member of a map or array."""
        inside, key = self._value(start, end, structure)
        if inside is None or level + 1 >= LEVELS:
            yield self._compact(self._text[start:end], structure, 1)
            return
        yield self._compact(key + b"null", structure, 1, opens=True)
        yield from self.parts(*inside, level=level + 1)

    def _value(
        self, start: int, end: int, structure: Structure
    ) -> tuple[tuple[int, int, Structure] | None, bytes]:
        """Where the members of a member's value stand (as ``_inside``), and the text before its
        value."""
        text = self._text
        at = start
        if structure == Structure.MAP:
            key = MEMBER.match(text, start, end)
            if key is None:
                raise ValueError("expected a key in double quotes")
            at = key.end()
        key_text = text[start:at]
        return _inside(text, behind_white(text, at, end), before_white(text, end)), key_text
