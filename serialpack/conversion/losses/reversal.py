"""The proof of rules that carry values: what a rule made is read again, and must be what it was.

``can_be_read_back`` takes the rule, the value and what it became.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import starmap
from typing import Any
from uuid import UUID

from serialpack.values.durations import duration_of, nanoseconds_in
from serialpack.values.equality import difference
from serialpack.values.nanoseconds import DURATION, LOCAL_TIME, UTC_TIME, fine_kind
from serialpack.values.yaml_tags import YamlTag, of_map


def can_be_read_back(rule: str, was: Any, became: Any) -> bool:
    """Whether ``rule`` made ``became`` of ``was`` so that it can be read back."""
    back = _BACK.get(rule)
    if back is None:
        return True
    try:
        if rule == "zones":
            was = was.replace(tzinfo=timezone(was.utcoffset()), fold=0)
        if rule == "keys" and type(was) is tuple:
            return difference(was, _parts(json.loads(became), was)) is None
        return difference(was, back(became, type(was))) is None
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        return False


def read_back(rule: str, text: str, kind: type) -> Any:
    """The value of the type ``kind`` that ``rule`` made ``text`` of; ValueError, TypeError,
    OverflowError or ArithmeticError where it is read as none, or cannot be read back."""
    if rule not in _BACK:
        raise ValueError(rule)
    return _BACK[rule](text, kind)


def _parts(found: Any, was: Any) -> Any:
    """A tuple that was a key, of the list that its text is; ValueError."""
    if type(was) is tuple:
        return tuple(starmap(_parts, zip(found, was, strict=True)))
    return _key(found, type(was)) if type(found) is str and type(was) is not str else found


def _bytes(text: str, kind: type) -> Any:
    return kind(b64decode(text, validate=True))


def _moment(text: str, kind: type) -> Any:
    """The time of the type ``kind`` that a text says; ValueError."""
    if kind is timedelta:
        return duration_of(text)
    if kind in (date, datetime, time):
        return kind.fromisoformat(text)
    fine = fine_kind(kind)
    if fine == LOCAL_TIME:
        return kind(text)
    if fine == DURATION:
        return kind(nanoseconds_in(text), "ns")
    if fine == UTC_TIME:
        whole, _, rest = text.partition(".")
        seconds = datetime.fromisoformat(whole + "+00:00") - datetime.fromisoformat(_EPOCH)
        return kind(seconds.days * 86400 + seconds.seconds, int(rest.partition("+")[0]))
    raise ValueError(kind)


_EPOCH = "1970-01-01T00:00:00+00:00"


def _digits(text: str, kind: type) -> Any:
    return kind(text)


def _extended(made: Any, kind: type) -> Any:
    """The value of BSON that Extended JSON says, of the type ``kind``."""
    from bson.codec_options import DatetimeConversion
    from bson.json_util import RELAXED_JSON_OPTIONS, loads

    options = RELAXED_JSON_OPTIONS.with_options(
        datetime_conversion=DatetimeConversion.DATETIME_AUTO, tz_aware=True, tzinfo=UTC
    )
    found = loads(json.dumps(made), json_options=options)
    if kind.__name__ == "Regex":  # the flags of BSON's are plain integers
        return kind(found.pattern, int(found.flags))
    return found


def _tag(made: dict[str, Any], kind: type) -> Any:
    if kind is YamlTag:
        return of_map(made)
    from serialpack.conversion.tagging.library_tags import of_shallow_tag

    return of_shallow_tag(made)


def _key(text: str, kind: type) -> Any:
    """The key of the type ``kind`` that a text says; ValueError."""
    if kind is int:
        return int(text)
    if kind is float:
        return float(text)
    if kind in (Decimal, Fraction, UUID, complex):
        return kind(text)
    if kind in (bytes, bytearray):
        return _bytes(text, kind)
    if kind in (bool, type(None)):
        return {"true": True, "false": False, "null": None}[text]
    return _moment(text, kind)


_BACK: dict[str, Callable[[Any, type], Any]] = {
    "bson": _extended,
    "tags": _tag,
    "bytes": _bytes,
    "timestamps": _moment,
    "zones": _moment,
    "decimals": _digits,
    "complex": _digits,
    "keys": _key,
}
