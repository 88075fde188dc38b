"""How many values tables have, and how many bytes they would take, told before any is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from serialpack.errors import RefusedError
from serialpack.formats.base import MAX_BLOCK
from serialpack.formats.shared.document import Malformed
from serialpack.formats.tables.folded import is_folded, too_much, weights
from serialpack.formats.tables.library import arrow, is_plain, is_view, view_lengths

#: How many values and how many bytes of text there may be for each byte of a file, and beside
#: these: columns of few values that come again and again take next to no bytes.
_VALUES, MOST_VALUES = 64, 1 << 20
_BYTES, _MOST_BYTES = 16, MAX_BLOCK


def check_types(schema: Any) -> None:
    """RefusedError for a column of a type that pyarrow reads and then has no class for; Malformed
    for lists of a negative length."""
    lib = arrow().lib
    unread = {lib.Type_INTERVAL_MONTHS, lib.Type_INTERVAL_DAY_TIME}
    stack = list(schema.types)
    while stack:
        kind = stack.pop()
        if kind.id in unread:
            raise RefusedError(
                f"columns of the type {kind} are not read here",
                hint="pack -s raw keeps the bytes",
            )
        if arrow().types.is_fixed_size_list(kind) and kind.list_size < 0:
            raise Malformed(f"lists of {kind.list_size} items")
        stack += [kind.field(i).type for i in range(kind.num_fields)]


class _Measure(ABC):
    """Goes through all that is in arrays. A subclass says what counts of it."""

    @abstractmethod
    def take(self, values: int, text: int = 0) -> None:
        """Count ``values`` values, and ``text`` bytes of text that stand in an array once for
        several values."""

    @abstractmethod
    def take_plain(self, array: Any) -> None:
        """Count an array each of whose values stands in it."""

    @abstractmethod
    def take_words(self, array: Any) -> None:
        """Count what a dictionary holds, used or not."""

    def take_array(self, array: Any) -> None:
        """Count all that is in an array, and in the arrays that it holds.

        Only lengths are looked at, which are right in any array that was validated, also if not in
        full.
        """
        kind = array.type
        self.take(len(array))
        if is_plain(kind):
            self.take_plain(array)
            return
        pa = arrow()
        is_a = pa.types
        if isinstance(kind, pa.BaseExtensionType):
            self.take_array(array.storage)
        elif is_a.is_dictionary(kind):
            self._take_dictionary(array)
        elif is_view(kind):
            self.take(0, int(view_lengths(array).sum()))
        elif is_a.is_map(kind):
            self.take_array(_used(array, array.keys))
            self.take_array(_used(array, array.items))
        elif is_a.is_list(kind) or is_a.is_large_list(kind):
            self.take_array(_used(array, array.values))
        elif is_a.is_fixed_size_list(kind):
            size = kind.list_size
            self.take_array(array.values.slice(array.offset * size, len(array) * size))
        elif is_a.is_struct(kind) or is_a.is_union(kind):
            for i in range(kind.num_fields):
                self.take_array(array.field(i))
        else:
            self.take_plain(array)

    def _take_dictionary(self, array: Any) -> None:
        import pyarrow.compute as pc

        pa, words = arrow(), array.dictionary
        self.take_words(words)
        if words.type in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary()):
            lengths = pc.binary_length(words).cast("int64")
        else:
            return
        self.take(0, pc.sum(lengths.take(array.indices)).as_py() or 0)


class Room(_Measure):
    """How many values, and bytes of text, may still come of a file; ``take`` raises RefusedError
    beyond."""

    def __init__(self, size: int, most: int) -> None:
        self._values = most + size * _VALUES
        self._bytes = _MOST_BYTES + size * _BYTES
        self._unseen = size

    def pass_over(self, size: int) -> None:
        """Note that ``size`` bytes of the file are one part of it. Malformed where the parts
        together are larger than the file: some share bytes."""
        self._unseen -= size
        if self._unseen < 0:
            raise Malformed("it points at the same bytes twice")

    def has_room(self, text: int) -> bool:
        """Whether there may be ``text`` more bytes of text."""
        return text <= self._bytes

    def take_array(self, array: Any) -> None:
        if is_folded(array.type):
            self.take(*weights(array, self._values).of(0, len(array)))
        else:
            super().take_array(array)

    def take_plain(self, array: Any) -> None:
        """Nothing: these values stand in the file as they are."""

    def take_words(self, array: Any) -> None:
        self.take_array(array)

    def take(self, values: int, text: int = 0) -> None:
        self._values -= values
        self._bytes -= text
        if self._values < 0 or self._bytes < 0:
            raise too_much()


class Weight(_Measure):
    """How many values there are in arrays, and about how many bytes they take."""

    def __init__(self) -> None:
        self.values = self.bytes = 0

    def take(self, values: int, text: int = 0) -> None:
        self.values += values
        self.bytes += text

    def take_plain(self, array: Any) -> None:
        self.bytes += array.nbytes

    def take_words(self, array: Any) -> None:
        """Nothing: those words count that are used, as often as they are."""


def _used(lists: Any, items: Any) -> Any:
    """The part of ``items`` that is in ``lists``, which may be a slice of an array."""
    if not len(lists):
        return items.slice(0, 0)
    start, end = lists.offsets[0].as_py(), lists.offsets[-1].as_py()
    return items.slice(max(start, 0), max(end - start, 0))
