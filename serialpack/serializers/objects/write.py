"""Messages of ``objects`` written: what Python has beside MessagePack as extensions of that."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from types import NoneType
from typing import Any

from serialpack.depth import TooDeep, says_depth
from serialpack.formats.msgpack.values import FIRST_ROOM
from serialpack.formats.python.buffers import LARGE, TINY, SmallBuffers, frame_pieces
from serialpack.formats.shared.recursion import NeedsRoom
from serialpack.imported import imported
from serialpack.serializers.objects._extension_table import COUNTED
from serialpack.serializers.objects._grouping import GROUPED, GROUPS, Grouping
from serialpack.serializers.objects._msgpack_mistaken import ANY_TAKEN, check_taken
from serialpack.serializers.objects._own_types import (
    DATACLASS,
    ENUM,
    OWN_CLASSES,
    OWN_TYPES,
    REFERRED,
    TUPLE,
    Makers,
    holding,
    maker_of,
    maker_of_others,
    why_not_held,
)
from serialpack.serializers.objects._referred import MetArrays, Referred
from serialpack.serializers.objects.arrays import (
    ARRAY,
    SAME,
    SCALAR,
    described,
    is_array,
    parts_of_few,
    parts_of_masked,
    parts_of_objects,
    parts_of_shown,
)
from serialpack.serializers.objects.columns import (
    LONG,
    OF_ARRAYS,
    ROWS,
    STACK,
    Together,
)
from serialpack.serializers.objects.guessed import FEW_NUMBERS, has_long_list, may_have_columns
from serialpack.serializers.objects.of_arrow import ARROW, is_table, parts_of_arrow, stream_of
from serialpack.serializers.objects.of_numpy import OF_NUMPY, parts_of_numpy, parts_of_odd
from serialpack.serializers.objects.of_pandas import (
    OF_PANDAS,
    is_index,
    parts_of_pandas,
)
from serialpack.serializers.objects.of_polars import parts_of_polars
from serialpack.serializers.objects.of_pydantic import parts_of_url
from serialpack.serializers.objects.of_scipy import parts_of_scipy
from serialpack.serializers.objects.of_xarray import parts_of_xarray
from serialpack.stages.stage import Buffer

#: What each makes of a value of a library that it knows: an extension and its parts.
_LIBRARIES = (
    *(parts_of_numpy, parts_of_masked, parts_of_shown),
    *(parts_of_pandas, parts_of_arrow, parts_of_polars, parts_of_scipy, parts_of_url),
)

#: Flat extensions, whose parts are no more than text, bytes and numbers; and types of which the
#: parts of others are, where they are fewer: integers may be larger than MessagePack's.
_FLAT, _FLAT_TYPES = (
    frozenset({ARRAY, SCALAR, SAME}),
    frozenset({str, bytes, float, bool, NoneType}),
)
_SEVERAL = 8
#: Of more tuples, or so many values of a class, it is worth it to look whether they are in lists.
_MANY_TUPLES, _MANY_OBJECTS = 200, 4096
#: Of so many extensions most may be moments in a list, and after so few a long list is looked for;
#: in the first ones numbers are.
_MANY_EXTENSIONS, _FEW_EXTENSIONS, _LOOKED_AT = LONG // 8, 256, 64
#: Of a tuple of more items it is worth it to look whether they are numbers.
_LONG_TUPLE = 16
#: When so many more extensions may be met, it is looked whether columns are worth it.
_LOOKED_FOR_COLUMNS = frozenset({0, _MANY_EXTENSIONS - _FEW_EXTENSIONS})


class ManySmall(Exception):
    """There are many small values, which may be worth being written together."""


class ExtensionWriter:
    """Writes messages, with ``most`` extensions in each other; ``beside``: with large buffers in
    ``buffers``, not in them; ``alone``: that nobody proves; without ``OWN_CLASSES``, and without
    what the library takes; ``bytearrays``: with those, which the library takes for bytes;
    ``rows``: with lists of tuples as one extension each, for which it asks about no tuple;
    ``columns``: so also with many numbers, with many rows of any kind, and with many objects of a
    class, with ``referring`` also those of ``REFERRED``; ``small``: with all but ``TINY`` buffers
    beside."""

    def __init__(
        self,
        most: int,
        *,
        beside: bool = False,
        alone: bool = False,
        bytearrays: bool = False,
        rows: bool = False,
        columns: bool = False,
        referring: bool = True,
        small: bool = False,
    ) -> None:
        self.data = b""
        self._records: list[Any] = []
        self.buffers: list[memoryview] = []
        #: Fewer bytes are not put there; and those that are not.
        self._least = TINY if small else LARGE if beside else math.inf
        self._small = SmallBuffers()
        #: Writes what is flat; and what write messages in each other. Made for the first.
        self._flat_packer: Any = None
        self._packers: list[Any] = []
        #: What makes the parts of values of a class, of those that were met.
        self._makers: Makers = {}
        self._beside = beside
        self._alone = alone
        self._grouping = Grouping(
            bytearrays=bytearrays,
            rows=rows,
            columns=columns,
            referring=referring and beside,
            makers=None if alone else self._makers,
        )
        #: How many more tuples may be met before lists of them are looked for; and how many more
        #: extensions, before many numbers are.
        self._tuples = math.inf if self._grouping.rows else _MANY_TUPLES
        self._more = math.inf if self._grouping.rows or not beside else _MANY_EXTENSIONS
        #: Whether it has made arrays of numbers that are none, or taken objects together.
        self.made = False
        #: How many values grouped by class were met; and the parts of the first extensions, in
        #: which many numbers are looked for.
        self._small_met, self._first_parts = 0, list[list[Any]]()
        #: Makes the extension of a code and data, without the questions that its class asks.
        self._ext: Callable[[tuple[int, bytes]], Any]
        self._level, self._most = 0, most
        self._arrays = MetArrays(referring=beside)
        self._array_class = getattr(imported("numpy"), "ndarray", None)
        self._of_library = False
        self._referred = Referred(referring=beside)
        self._met_of_pandas: set[type] = set()  # to find who knows a class takes long
        #: What stands for each member of an enum, by its identity: many values have the same few.
        self._members: dict[int, tuple[Any, Any]] = {}

    def write(self, records: list[Any]) -> None:
        """Write a message for each of ``records``."""
        self._records = records
        self.data = b"".join([self.message(record) for record in records])
        if self._referred.classes:
            holders = holding(self._makers)
            self._referred.check_places(records, holders, self._grouping.with_fields)

    @property
    def met_bytearrays(self) -> bool:
        return self._grouping.met

    def is_worth_columns(self) -> bool:
        """Whether what it has written, as far as it came, may be worth being written by columns."""
        if not self._beside:
            return False
        if self._small_met >= _MANY_OBJECTS or self._has_long_list():
            return True
        if len(self.data) < LONG and self._more > 0:
            return False
        likely = self._small_met >= FEW_NUMBERS or any(map(may_have_columns, self._first_parts))
        return likely or any(map(may_have_columns, self._records))

    def _has_long_list(self) -> bool:
        met = _MANY_EXTENSIONS - self._more
        if self._tuples >= 0 and max(met, self._small_met) < _FEW_EXTENSIONS:
            return False
        return any(has_long_list(record, _MANY_OBJECTS) for record in self._records)

    def is_worth_buffers(self) -> bool:
        """Whether so much is in small buffers that these may be worth filters of their own."""
        return self._beside and not self._alone and self._small.are_worth_it

    def close(self) -> None:
        """To be called at the end: what writes messages holds this, which holds that."""
        self._packers.clear()
        self._first_parts.clear()
        self._records = []

    def pieces(self) -> list[Buffer]:
        return frame_pieces(self.data, self.buffers) if self.buffers else [self.data]

    def message(self, value: Any, *, looked: bool = True) -> bytes:
        """One of ``FAILURES`` for what is not held. ``looked``: whether it may stand by columns."""
        if self._level == len(self._packers):
            self._packers.append(self._packer())
        looked = self._grouping.bytearrays or (looked and self._grouping.rows)
        try:
            apart = self._grouping.apart(value) if looked else value
            data: bytes = self._packers[self._level].pack(apart)
        except ValueError as error:
            if says_depth(error):
                raise TooDeep from None
            raise
        if self._alone and ANY_TAKEN.search(data):
            check_taken(value)
        return data

    def _packer(self) -> Any:
        """One more: each writes one level, and is kept, as to make it takes longer than to pack."""
        import msgpack

        self._ext = partial(tuple.__new__, msgpack.ExtType)
        # Of the library's own types none passes: what they are read as is another one.
        return msgpack.Packer(
            use_bin_type=True,
            strict_types=True,
            default=self._extension,
            buf_size=FIRST_ROOM,
        )

    def _together(self, code: int, parts: list[Any]) -> Any:
        if code == ROWS or code in _FLAT:
            return self._inside(code, parts)
        self.made |= code in GROUPS
        if code in OF_ARRAYS:
            parts = [self._made_array(parts[0]), *parts[1:]]
        return self._inside(code, [self._grouping.apart(part) for part in parts], looked=False)

    def _group(self, code: int, parts: list[Any], objects: Sequence[Any]) -> Any:
        """``objects``, each of which may stand elsewhere, too; where one did, apart from the
        others."""
        met: MetArrays | Referred = self._arrays if code == STACK else self._referred
        if known := met.begin(objects):
            parted = self._grouping.parted_by([*objects], known)
            return list(objects) if parted is None else self._together(parted.code, parted.parts)
        if code != STACK:
            self._check_referred(type(objects[0]))
        found = self._together(code, parts)
        met.end(objects, again=not self._of_library)
        return found

    def _made_array(self, items: Any) -> Together:
        """What stands for an array that was made for it: counted, but none refers to it. It stands
        beside the message, however few they are: so filters are tried."""
        facts, data = described(items)
        self._arrays.keep(items, again=False)
        self.made = True
        if self._beside:
            self.buffers.append(data)
        return Together(ARRAY, [None if self._beside else bytes(data), *facts])

    def _extension(self, value: Any) -> Any:
        cls = type(value)
        if cls is Together:
            return self._group(*value) if value.objects else self._together(value.code, value.parts)
        if cls is tuple:
            self._tuples -= 1
            if self._tuples < 0:
                raise ManySmall
        make = OWN_TYPES.get(cls)
        if make is None:
            if cls is self._array_class and (few := parts_of_few(value, self._least)):
                self._meet_small()
                return self._inside(*self._array(value, few))
            if self._members and (member := self._members.get(id(value))):
                self._meet_small()
                return member[1]
            if self._referred.known and (known := self._referred.known_as(value)):
                return self._ext((known[0], self._flat([known[1]])))
            make = self._makers.get(cls)
            # Arrays are not of one class: each scalar's has its own, and may be an enum too.
            met = make is not None or cls in self._met_of_pandas
            if not met and not is_array(value) and (make := maker_of(cls)) is not None:
                self._makers[cls] = make
        made = make(value) if make is not None else None
        if made is None:
            return self._of_library_too(value)
        if self._alone and made[0] in OWN_CLASSES:
            raise TypeError(f"cannot hold {cls.__name__}")
        self._more -= 1
        if len(self._first_parts) < _LOOKED_AT:
            self._first_parts.append(made[1])
        elif self._more in _LOOKED_FOR_COLUMNS and self.is_worth_columns():
            raise ManySmall
        # Not by a star, which is a call from C: Python 3.12 allows 1500 of these in each other.
        found = self._inside(made[0], made[1])
        if made[0] in GROUPED:
            self._meet_small()
        if made[0] in REFERRED:
            # One with attributes alone, or an exception: it is one again everywhere.
            self._check_referred(cls)
            self._referred.keep(value)
        elif made[0] == DATACLASS:
            self._grouping.with_fields.add(cls)
        elif made[0] == ENUM:
            self._members[id(value)] = value, found
        return found

    def _meet_small(self) -> None:
        self._small_met += 1
        many = self._small_met == _MANY_OBJECTS
        if not many and self._small_met != _FEW_EXTENSIONS:
            return
        if self._beside and not self._grouping.rows and (many or self._has_long_list()):
            raise ManySmall

    def _check_referred(self, cls: type) -> None:
        if self._of_library:
            raise TypeError(f"cannot hold {cls.__name__} in an object of a library")
        self._referred.meet(cls)

    def _of_library_too(self, value: Any) -> Any:
        """What becomes of a value that is none of Python's own."""
        made, of_library = None, self._of_library
        if type(value) in self._met_of_pandas:
            made = parts_of_pandas(value)
            self._of_library = True
        elif is_array(value):
            made = parts_of_objects(value)
            if made is not None:
                self._referred.in_arrays.append(made[1][0])
            made = made or parts_of_odd(value) or self._array(value)
        elif is_table(value):
            made = self._table(value)
        else:  # its arrays are the user's own
            made = parts_of_xarray(value)
        if made is None:
            made = next(filter(None, (make(value) for make in _LIBRARIES)), None)
            self._of_library = made is not None or of_library
        if made is None:
            if type(value) in self._makers or (make := maker_of_others(type(value))) is None:
                raise TypeError(why_not_held(type(value)))
            self._makers[type(value)] = make
            return self._extension(value)
        code, parts = made
        found = self._inside(code, parts)
        self._of_library = of_library
        if code in COUNTED:
            self._referred.keep(value, again=code == OF_NUMPY or not of_library)
        elif code == OF_PANDAS:
            self._met_of_pandas.add(type(value))
            self._referred.keep_index(value, again=is_index(value))
        return found

    def _inside(self, code: int, parts: list[Any], *, looked: bool = True) -> Any:
        """The extension that holds ``parts``; ``looked``: whether these may stand by columns."""
        if self._level >= self._most:
            raise NeedsRoom
        self._level += 1
        if code in _FLAT or (len(parts) < _SEVERAL and _FLAT_TYPES.issuperset(map(type, parts))):
            data = self._flat(parts)
        else:  # most tuples are written sooner than looked into
            if code == TUPLE:
                looked = len(parts) > _LONG_TUPLE or list in map(type, parts)
            data = self.message(parts, looked=looked)
        self._level -= 1
        return self._ext((code, data))

    def _array(self, value: Any, few: list[Any] | None = None) -> tuple[int, list[Any]]:
        """An extension and its parts, which ``few`` are where they stand in the message."""
        if (known := self._arrays.number_of(value)) is not None:
            return SAME, [known]
        if few is None:
            import numpy as np

            facts, data = described(np.asarray(value))
            if isinstance(value, np.generic):
                if not self._of_library:  # those in a moment of pandas stand in no list
                    self._meet_small()
                return SCALAR, [bytes(data), facts[0]]
            few = [self._placed(data, facts[0]), *facts]
        else:
            self._small.add(len(few[0]), few[1])
        self._arrays.keep(value, again=not self._of_library)
        return ARRAY, few

    def _flat(self, parts: list[Any]) -> Any:
        if self._flat_packer is None:
            import msgpack

            self._flat_packer = msgpack.Packer(use_bin_type=True)
        return self._flat_packer.pack(parts)

    def _table(self, value: Any) -> tuple[int, list[Any]]:
        data = stream_of(value)
        return ARROW, [self._placed(data, ARROW), data.nbytes]

    def _placed(self, data: memoryview, items: object) -> bytes | None:
        """``data`` for the message; None where it is put beside that. ``items``: their type."""
        if data.nbytes < self._least:
            self._small.add(data.nbytes, items)
            return bytes(data)
        self._small.end_row()
        self.buffers.append(data)
        return None
