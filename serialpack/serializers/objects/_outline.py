"""The outline of a message of ``objects``, for people: no array is made, no class is needed."""

from __future__ import annotations

from typing import Any

from serialpack.depth import MAX_DEPTH, TooDeep
from serialpack.formats.arrays.header import ArrayHeader
from serialpack.formats.msgpack.values import messages
from serialpack.serializers.base import ObjectOutline
from serialpack.serializers.objects._extension_table import Extension, Met, extension
from serialpack.serializers.objects._own_types import REFERRED
from serialpack.serializers.objects.arrays import ARRAY, SAME, SAME_OBJECT, descr_of, one_of
from serialpack.serializers.objects.columns import OBJECTS_OF, OF_ARRAYS
from serialpack.serializers.objects.of_arrow import ARROW
from serialpack.stages.stage import Buffer


def outline(message: Buffer) -> ObjectOutline:
    """The outline of a message; one of ``FAILURES`` where it is none."""
    reader = _Outliner()
    try:
        (value,) = messages(message, ext_hook=reader)
    except (LookupError, MemoryError, SyntaxError) as error:  # the last two: of a type's name
        raise ValueError(f"no message of an object ({type(error).__name__})") from None
    return ObjectOutline(value, reader.beside, reader.listed)


class _Outliner:
    def __init__(self) -> None:
        self.beside: list[ArrayHeader | None] = []
        self.listed: set[int] = set()
        self._met = Met()
        #: Whether there were objects or arrays that are referred to by their numbers, nobody knows
        #: how many.
        self._uncounted = False
        self._level = 0

    def __call__(self, code: int, data: bytes) -> Any:
        if self._level >= MAX_DEPTH:
            raise TooDeep
        self._level += 1
        before = len(self.beside)
        (parts,) = messages(data, ext_hook=self)
        self._level -= 1
        if code in OF_ARRAYS:
            self.listed.update(range(before, len(self.beside)))
        found = extension(code)
        # Parts that stand by columns are told, and no list.
        made = self._told(code, found, parts) if isinstance(parts, list) else parts
        if found.each:
            self._uncounted = True
        else:
            self._met.keep(found, made)
        return made

    def _told(self, code: int, found: Extension, parts: Any) -> Any:
        if found.told is not None:
            return found.told(parts)
        if code == ARRAY:
            return self._array(*parts)
        if code == ARROW:
            inside, size = parts
            self.beside += [None] if inside is None else []
            return f"table of Arrow, {size} bytes"
        if code == OBJECTS_OF:
            self._uncounted |= parts[0] in REFERRED
            return {parts[2]: parts[3]}
        if code in (SAME, SAME_OBJECT) and self._uncounted:
            return "the same as one before"
        return one_of(self._met.stands_for(code), *parts)

    def _array(
        self, inside: bytes | None, descr: str, shape: list[int], fortran: bool, _: bool
    ) -> str:
        header = ArrayHeader(descr_of(descr), fortran, tuple(shape), 0)
        self.beside += [header] if inside is None else []
        return header.words
