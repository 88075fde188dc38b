"""Values as such that the columns of a table hold."""

from __future__ import annotations

from typing import Any

from serialpack.conversion.losses import Losses
from serialpack.conversion.rules import TYPED_TABLES
from serialpack.formats.shared.document import compared
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.values.equality import kind_of
from serialpack.values.nanoseconds import has_nanoseconds

#: The kinds of values of libraries. Columns with types have one for times with nanoseconds.
_LIBRARIES = frozenset({"tag", "number-array"})


class Carrier:
    """Turns values that a table's columns do not hold into such as they do, by rules."""

    def __init__(self, like: str, beside: frozenset[str], *, utf8: bool = False) -> None:
        """``like``: the serializer that holds what the cells do, and ``beside`` which kinds.
        ``utf8``: text is only held where it has an encoding, which escapes of JSON do not need.
        """
        serializer = SERIALIZERS.create(like)
        assert isinstance(serializer, RecordSerializer)
        self._serializer = serializer
        self._never = serializer.cannot - beside
        self._refused = self._never | (serializer.partly - beside)
        if like in TYPED_TABLES:
            self._never -= _LIBRARIES
        self._utf8 = utf8
        if utf8:
            self._refused |= {"surrogates"}

    def carried(self, records: list[Any], losses: Losses, first_record: int) -> list[Any]:
        """The records, with what is changed counted in ``losses``."""
        return losses.apply(records, self._refused, self._holds, first_record, self._never)

    def _holds(self, value: Any) -> bool:
        if kind_of(value) in _LIBRARIES:
            return has_nanoseconds(value)
        try:
            if self._utf8 and isinstance(value, str):
                value.encode()
            # A record of a table is a map, whatever stands in it.
            alone = {"x": value} if "bare" in self._serializer.cannot else value
            return compared([alone], self._serializer.load(self._serializer.dump([alone]))) is None
        except FAILURES:
            return False
