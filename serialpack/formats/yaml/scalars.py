"""YAML's scalars: what plain text means, by the core schema of YAML 1.2 or by YAML 1.1, strictly.

YAML 1.1, as PyYAML reads it, takes ``no``, ``on`` and ``off`` for booleans, ``0777`` for octal,
``1:30`` for 90 and ``2001-12-14`` for a date; the core schema (YAML 1.2.2, section 10.3) takes all
of them for text or another number. PyYAML never took ``y`` and ``n`` for booleans, so here they
are text, always quoted when written: other readers of YAML 1.1 take them for booleans.

PyYAML takes more than YAML means (``!!null x`` as null, base64 with foreign characters) and drops
digits that Python cannot hold. Here that is an error, or Inexact.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from fractions import Fraction
from typing import Any

from serialpack.formats.losses.exact import MAX_DIGITS, Inexact, checked_integer, exact_float
from serialpack.literal import Literal

#: The first characters of all plain text that can mean anything else than itself.
_BEGINS = frozenset("~nNyYtTfFoO+-0123456789.<=")

#: Those of them that begin words, and the length of the longest of these words.
_WORDS = frozenset("nNyYtTfFoO")
_LONGEST_WORD = len("false")

#: YAML 1.1 as PyYAML's resolver has it. The name of the group is the end of the tag.
_PLAIN = re.compile(
    r"""
    (?P<null>~|null|Null|NULL|)
    |(?P<bool>yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)
    |(?P<int>[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+
        |[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)
    |(?P<float>[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?
        |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))
    |(?P<timestamp>[0-9]{4}-[0-9]{2}-[0-9]{2}
        |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?
        (?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)
    |(?P<merge><<)
    """,
    re.VERBOSE,
)
#: YAML 1.2's core schema; and the merge key, which it has not, but what is written for its
#: readers has.
_CORE = re.compile(
    r"""
    (?P<null>~|null|Null|NULL|)
    |(?P<bool>true|True|TRUE|false|False|FALSE)
    |(?P<int>[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)
    |(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?
        |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))
    |(?P<merge><<)
    """,
    re.VERBOSE,
)
#: What still other readers of YAML 1.1 take for booleans, and (``=``) for its default key.
_ELSEWHERE = frozenset("yYnN=")

#: With fewer digits than this an integer is not a huge one.
_FEW = 100

_BOOLEANS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?")
_TIMESTAMP = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:(?:[Tt]|[ \t]+)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
    r"(?:\.(?P<fraction>[0-9]*))?"
    r"(?:[ \t]*(?P<zone>Z|(?P<sign>[-+])(?P<hours>[0-9]{1,2})(?::(?P<minutes>[0-9]{2}))?))?)?"
)


def _is_text(text: str) -> bool:
    """Whether ``text`` can mean nothing else than itself, told by its first character and its
    length."""
    if not text:
        return False
    first = text[0]
    return first not in _BEGINS or (len(text) > _LONGEST_WORD and first in _WORDS)


def plain_tag(text: str, *, core: bool) -> str:
    """The end of the tag that plain ``text`` gets: ``str``, ``int``, ... or ``merge``.

    ``core``: by YAML 1.2's core schema, else by YAML 1.1.
    """
    if _is_text(text):
        return "str"
    match = (_CORE if core else _PLAIN).fullmatch(text)
    return (match.lastgroup or "str") if match else "str"


def needs_quotes(text: str) -> bool:
    """Whether some reader of YAML would take ``text`` for something else, were it plain."""
    if _is_text(text):
        return False
    return bool(text in _ELSEWHERE or _PLAIN.fullmatch(text) or _CORE.fullmatch(text))


#: Decimal numbers that have no leading zeros, and hexadecimal ones.
_NUMBER = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0x[0-9a-fA-F]+"
)
_NO_POINT = re.compile(r"\A([-+]?[0-9]+)(?=[eE])")
_NO_SIGN = re.compile(r"(?<=[eE])(?=[0-9])")


def literal_of(text: str) -> str | None:
    """``text``, a number, spelled so that readers of YAML 1.1 and of YAML 1.2 read the same: 1e2 as
    1.0e+2.

    None where it is no number to some of them, or another one.
    """
    if not _NUMBER.fullmatch(text):
        return None
    text = _NO_SIGN.sub("+", _NO_POINT.sub(r"\1.0", text))
    tags = {plain_tag(text, core=True), plain_tag(text, core=False)}
    return text if tags in ({"int"}, {"float"}) else None


def spelled_number(tag: str, text: str, *, core: bool) -> Any:
    """As ``scalar``, but a number that Python writes in another way is a literal."""
    try:
        value = scalar(tag, text, core=core)
    except Inexact as lost:
        if lost.kind == "huge-integer" or not _NUMBER.fullmatch(text):
            raise
        return Literal(text, None if lost.kind == "overflow" and lost.nearest else lost.nearest)
    if type(value) is float and value - value == 0:
        return value if repr(value) == text and "e" not in text else Literal(text, value)
    return Literal(text, value) if type(value) is int and str(value) != text else value


def scalar(tag: str, text: str, *, core: bool) -> Any:
    """The value of ``text`` under the tag that ends in ``tag``.

    ValueError where it has none, Inexact where Python cannot hold it, KeyError for a tag that is
    none of a scalar.
    """
    return (_CORE_READERS if core else _READERS)[tag](text)


def _core_null(text: str) -> None:
    if plain_tag(text, core=True) != "null":
        raise ValueError("not a null")


def _core_boolean(text: str) -> bool:
    if plain_tag(text, core=True) != "bool":
        raise ValueError("not a boolean")
    return text.lower() == "true"


def _core_integer(text: str) -> int:
    if len(text) < _FEW and text.isascii() and text.isdigit():  # nearly all
        return int(text)
    if plain_tag(text, core=True) != "int":
        raise ValueError("not an integer")
    if text[:2] in ("0o", "0x"):
        return checked_integer(int(text[2:], 8 if text[1] == "o" else 16), text)
    if len(text.lstrip("+-0")) > MAX_DIGITS:
        raise Inexact("huge-integer", text)
    value = int(text.lstrip("+-0") or "0")
    return -value if text[0] == "-" else value


def _core_float(text: str) -> float:
    if plain_tag(text, core=True) not in ("float", "int") or text[:2] in ("0o", "0x"):
        raise ValueError("not a float")
    word = text.lower().lstrip("+-")
    if word in (".inf", ".nan"):
        return float(text[0].replace("+", "").strip(".") + word[1:])
    return exact_float(text)


def _null(text: str) -> None:
    if plain_tag(text, core=False) != "null":
        raise ValueError("not a null")


def _boolean(text: str) -> bool:
    if plain_tag(text, core=False) != "bool":
        raise ValueError("not a boolean")
    return _BOOLEANS[text.lower()]


def _integer(text: str) -> int:
    digits = text.replace("_", "").lstrip("+-")
    if plain_tag(text, core=False) != "int" or not digits or digits in ("0b", "0x"):
        raise ValueError("not an integer")
    if len(digits) > MAX_DIGITS and not digits.startswith("0"):
        raise Inexact("huge-integer", text)
    if digits == "0" or not digits.startswith("0"):
        value = 0
        for part in digits.split(":"):
            value = value * 60 + int(part)
    elif digits[1] in "bx":
        value = int(digits, 0)
    else:
        value = int(digits, 8)
    return checked_integer(-value if text[0] == "-" else value, text)


def _float(text: str) -> float:
    digits = text.replace("_", "").lower()
    if plain_tag(text, core=False) == "float":
        if digits.endswith(".inf"):
            return float(digits.replace(".", ""))
        if digits == ".nan":
            return float("nan")
        if ":" in digits:
            return _sexagesimal(digits)
    elif not _DECIMAL.fullmatch(text):
        raise ValueError("not a float")
    return exact_float(digits)


def _sexagesimal(digits: str) -> float:
    """The float that 1:30.5 means, as PyYAML adds it up; Inexact where that is another number."""
    if len(digits) > MAX_DIGITS:
        raise Inexact("digits", digits)
    exact, value, base = Fraction(0), 0.0, 1
    for part in digits.lstrip("+-").split(":"):
        exact = exact * 60 + Fraction(part.rstrip("."))
    try:
        for part in reversed(digits.lstrip("+-").split(":")):
            value += float(part) * base
            base *= 60
    except OverflowError:
        value = float("inf")
    if value - value != 0:
        raise Inexact("overflow", digits, -value if digits[0] == "-" else value)
    if Fraction(repr(value)) != exact:
        raise Inexact("digits", digits, -float(exact) if digits[0] == "-" else float(exact))
    return -value if digits[0] == "-" else value


def _timestamp(text: str) -> date:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError("not a date or time")
    fraction = match["fraction"] or ""
    try:
        day = date(int(match["year"]), int(match["month"]), int(match["day"]))
        if match["hour"] is None:
            return day
        of_day = time(int(match["hour"]), int(match["minute"]), int(match["second"]))
        zone = None
        if match["zone"]:
            offset = timedelta(hours=int(match["hours"] or 0), minutes=int(match["minutes"] or 0))
            zone = timezone(-offset if match["sign"] == "-" else offset)
    except ValueError:
        raise ValueError("no such date or time") from None
    micro = int(fraction[:6].ljust(6, "0"))
    value = datetime.combine(day, of_day.replace(microsecond=micro), zone)
    if fraction[6:].strip("0"):
        raise Inexact("digits", text, value)
    return value


def _binary(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        raise ValueError("not base64") from None


_READERS: dict[str, Callable[[str], Any]] = {
    "null": _null,
    "bool": _boolean,
    "int": _integer,
    "float": _float,
    "timestamp": _timestamp,
    "binary": _binary,
    "str": str,
    "merge": str,
}
_CORE_READERS: dict[str, Callable[[str], Any]] = {
    **_READERS,
    "null": _core_null,
    "bool": _core_boolean,
    "int": _core_integer,
    "float": _core_float,
}
