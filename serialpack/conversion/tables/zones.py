"""Columns of times that all are in one zone, for which Arrow and Parquet have a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo


def zone_of(times: Sequence[datetime]) -> str | None:
    """The zone that all times are in, as Arrow calls it; None where they are in none, in UTC or in
    several, or where one of them is not what its moment is in that zone."""
    zones = {id(time.tzinfo): time.tzinfo for time in times}
    names = {_name(zone) for zone in zones.values()}
    if len(names) != 1 or None in names or not all(map(_comes_back, times)):
        return None
    return names.pop()


def _name(zone: Any) -> str | None:
    if type(zone) is ZoneInfo:
        # Of another of that name, or of UTC, the same would not come back.
        try:
            known = zone.key not in (None, "UTC") and ZoneInfo(zone.key) is zone
        except (LookupError, ValueError, OSError):  # read from a file of somebody's
            return None
        return zone.key if known else None
    if type(zone) is not timezone or zone is UTC:
        return None
    offset = zone.utcoffset(None)
    if repr(zone) != repr(timezone(offset)) or offset % timedelta(minutes=1):
        return None
    return datetime(2000, 1, 1, tzinfo=zone).isoformat()[-6:]


def _comes_back(time: datetime) -> bool:
    try:
        again = time.astimezone(UTC).astimezone(time.tzinfo)
    except OverflowError:
        return False
    return again.fold == time.fold and again.replace(tzinfo=None) == time.replace(tzinfo=None)


def zoned_in(
    records: list[dict[Any, Any]], names: Mapping[str, str] | None
) -> dict[Any, list[datetime]]:
    """The times of each column, or of each of ``names``, that has some in a zone."""
    found: dict[Any, list[datetime]] = {}
    for record in records:
        for name in record if names is None else names.keys() & record.keys():
            value = record[name]
            if type(value) is datetime and value.tzinfo is not None and value.tzinfo is not UTC:
                found.setdefault(name, []).append(value)
    return found
