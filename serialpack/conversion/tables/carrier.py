"""Values as such that the columns of a table hold."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from serialpack.conversion.losses.by_columns import Columns
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import TYPED_TABLES
from serialpack.conversion.tables.layout import Layout, schema_of
from serialpack.conversion.tables.zones import zone_of, zoned_in
from serialpack.formats.shared.document import compared
from serialpack.serializers import SERIALIZERS
from serialpack.serializers.base import FAILURES, RecordSerializer
from serialpack.values.kind_of import kind_of
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
        self._decimals: dict[tuple[Any, ...], bool] = {}
        self._utf8 = utf8
        if utf8:
            self._refused |= {"surrogates"}

    def carried(self, records: list[Any], losses: Losses, first_record: int) -> list[Any]:
        """The records, with what is changed counted in ``losses``."""
        return losses.apply(records, self._refused, self._holds, first_record, self._never)

    def carried_columns(
        self, columns: Columns, losses: Losses, first_record: int
    ) -> Columns | None:
        """As ``carried``, of records that are their columns; None where that takes the records."""
        how = self._refused, self._holds, first_record, self._never
        return losses.apply_to_columns(columns, *how)

    def _holds(self, value: Any) -> bool:
        if kind_of(value) in _LIBRARIES:
            return has_nanoseconds(value)
        if type(value) is not Decimal:
            return self._comes_back(value)
        # Those of as many digits and places are held alike; to try one takes a millisecond.
        _, digits, places = value.as_tuple()
        like = len(digits), places, value.is_signed() and not value
        if like not in self._decimals:
            self._decimals[like] = self._comes_back(value)
        return self._decimals[like]

    def _comes_back(self, value: Any) -> bool:
        """Whether a value, alone, is read again as it was written."""
        try:
            if self._utf8 and isinstance(value, str):
                value.encode()
            # A record of a table is a map, whatever stands in it.
            alone = {"x": value} if "bare" in self._serializer.cannot else value
            return compared([alone], self._serializer.load(self._serializer.dump([alone]))) is None
        except FAILURES:
            return False


class ZoneCarrier(Carrier):
    """As of any table with types, but that columns of times in one zone stay what they are."""

    def __init__(self, like: str, beside: frozenset[str], layout: Layout | None, *, utf8: bool):
        super().__init__(like, beside, utf8=utf8)
        #: The zones of columns, once they are known.
        self._zones = None if layout is None else dict(_zones_in(layout))

    def carried(self, records: list[Any], losses: Losses, first_record: int) -> list[Any]:
        """While they are looked at, times stay where those of a block are in one zone."""
        kept = self._kept(records)
        if not kept:
            return super().carried(records, losses, first_record)
        nothing = dict.fromkeys(kept)
        without = [
            {key: None if key in nothing else value for key, value in record.items()}
            for record in records
        ]
        made = super().carried(without, losses, first_record)
        for was, became in zip(records, made, strict=True):
            became.update((name, was[name]) for name in kept if name in was)
        return made

    def _kept(self, records: list[Any]) -> list[Any]:
        if self._zones == {} or not {dict}.issuperset(map(type, records)):
            return []
        times = zoned_in(records, self._zones)
        zones = {name: zone_of(some) for name, some in times.items()}
        if self._zones is None:
            return [name for name, zone in zones.items() if zone is not None]
        return [name for name, zone in zones.items() if zone == self._zones[name]]


def _zones_in(layout: Layout) -> Iterator[tuple[str, str]]:
    """The columns of one key that have a zone, and that."""
    if layout.schema is None:
        return
    for column, field in zip(layout.columns, schema_of(layout), strict=True):
        zone = getattr(field.type, "tz", None)
        if len(column.path) == 1 and zone not in (None, "UTC"):
            yield column.path[0], zone
