"""Time zones, and times in them, as the parts of extensions of MessagePack: made and undone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, timezone
from functools import lru_cache
from pickle import PicklingError
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from serialpack.errors import UnsupportedError
from serialpack.imported import imported
from serialpack.serializers.objects.of_pydantic import class_of_core
from serialpack.text import in_message


def parts_of_zone(zone: Any) -> list[Any]:
    """The name of a zone; or seconds and microseconds of its offset from UTC, and what it is called
    where it has a name of its own. Of one of pydantic the name of its class, and seconds. TypeError
    for another one."""
    if type(zone) is ZoneInfo and zone.key is not None:
        try:
            zone.__reduce__()
        except PicklingError:
            raise TypeError("a time zone out of a file") from None
        return [zone.key]
    if type(zone) is not timezone:
        if type(zone) is _of_pydantic():
            return ["TzInfo", round(zone.utcoffset(None).total_seconds())]
        raise TypeError("a time in a named zone")
    given: Any = zone
    offset, *named = given.__getinitargs__()  # its name only where it was given one
    return [offset.days * 86400 + offset.seconds, offset.microseconds, *named]


@lru_cache(64)
def zone_of(*parts: Any) -> Any:
    """The zone again; what Python raises where the parts are none of one."""
    if len(parts) == 1 and type(parts[0]) is str:
        return _zone(parts[0])
    if len(parts) == 2 and parts[0] == "TzInfo":
        return _zone_of_pydantic(parts[1])
    seconds, microseconds, *named = parts
    offset = timedelta(seconds=seconds, microseconds=microseconds)
    return timezone(offset, *named) if offset or named else UTC


def _zone(key: str) -> ZoneInfo:
    try:
        return ZoneInfo(key)
    except (ZoneInfoNotFoundError, OSError):
        hint = "pip install tzdata brings those that the system lacks"
        what = f"needs the time zone {in_message(key)}, which is not here"
        raise UnsupportedError(what, hint=hint) from None


def _of_pydantic() -> Any:
    """The class of the zones of times that pydantic reads; None where it is not imported."""
    return getattr(imported("pydantic_core"), "TzInfo", None)


def _zone_of_pydantic(seconds: Any) -> Any:
    if type(seconds) is not int:
        raise ValueError("no offset of a time zone")
    return class_of_core("TzInfo")(seconds)


def parts_of_moment(value: datetime | time) -> list[Any]:
    """The text of a time and its fold, and of one that has a zone the parts of that."""
    zone = value.tzinfo
    if zone is None:
        return [value.isoformat(), value.fold]
    naive = value.replace(tzinfo=None, fold=0).isoformat()
    return [naive, value.fold, *parts_of_zone(zone)]


def moment_back(cls: Any) -> Callable[..., Any]:
    """What makes a time of ``cls`` again out of its parts."""

    def back(text: str, fold: int, *zone: Any) -> Any:
        found = cls.fromisoformat(text)
        if zone:
            return found.replace(fold=fold, tzinfo=zone_of(*zone))
        return found if fold == 0 else found.replace(fold=fold)

    return back
