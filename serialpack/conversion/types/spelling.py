"""Types of text, and how all values of one column are spelled in them."""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from serialpack.conversion.types.conventions import CONVENTIONS, EXACT, FULL, texts_of
from serialpack.conversion.types.times import (
    date_of,
    day_first,
    in_utc,
    month_first,
    times_text,
    to_microseconds,
)
from serialpack.formats.losses.exact import MAX_DIGITS, Inexact, held
from serialpack.literal import Literal
from serialpack.text import complex_text, in_line, quoted
from serialpack.values.durations import duration_of, duration_text

#: No type: cells stay what they are.
TEXT = "text"
#: Numbers with a comma before their decimals.
COMMA = "decimal-comma"
#: Dates whose first number is the month, and the day.
MONTH_FIRST, DAY_FIRST = "mdy", "dmy"
#: The moment of a time with whatever offset.
MOMENT = "utc"
#: Numbers with all their digits.
DECIMAL = "decimal"
#: A list, also where a format that has none of one item, or of none, wrote that item, or nothing.
LIST = "list"

#: So many decimals a style has at most.
_MOST_DECIMALS = 99

#: So many of the cells of a column tell whether few are in it, many times.
_SAMPLE = 256

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.([0-9]*))?|\.[0-9]+)(?:([eE])[-+]?[0-9]+)?", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ])(\d\d:\d\d(?:(:\d\d)(?:\.(\d{1,6}))?)?)(.*)", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d(?:(:\d\d)(?:\.(\d{1,6}))?)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
#: As in much of Europe; between points the month is never first.
_DAY_FIRST = re.compile(r"\d\d\.\d\d\.\d{4}", re.ASCII)
#: Numbers whose points stand between thousands: before a comma, or more than one.
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:(?:\.[0-9]{3})+,[0-9]*|(?:\.[0-9]{3}){2,})", re.ASCII)
#: Numbers whose commas may stand between thousands, as in English; and those whose surely do.
COMMA_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+", re.ASCII)
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:(?:,\d{3}){2,}(?:\.\d*)?|,\d{3}\.\d*)", re.ASCII)
#: How Python, NumPy and pandas write numbers that are none.
NON_FINITE = frozenset({"nan", "inf", "-inf"})
#: The zones of times that are in none, or in UTC.
ZONES = ("", "Z", "+00:00")
_OFFSET = r"[+-](?!00:00)(?:[01]\d|2[0-3]):[0-5]\d"
_IS_OFFSET = re.compile(_OFFSET, re.ASCII).fullmatch
#: The words for true and false, by that for true.
BOOLEANS = {yes: (yes, no) for yes, no in (("true", "false"), ("TRUE", "FALSE"), ("True", "False"))}


class Spelling(NamedTuple):
    """A type, and how its values are written.

    ``style``: of numbers ``""``: the shortest digits, ``.0``: with a point, ``f2``: two decimals,
    ``e18``: an exponent behind so many, ``FULL``, a name of ``CONVENTIONS``; of booleans the word
    for true; of dates ``.``: the day first; of times how many digits of seconds, ``m``: none of
    them, ``t``: those up to the last that is not 0, ``p``: six or none, as Python writes them; of
    timestamps what stands before the time, its digits, and the zone.
    """

    type: str
    style: str = ""


def possible(cell: str) -> Iterator[Spelling]:
    """The spellings that a cell, not empty, may have, in the order in which they are taken."""
    number = _NUMBER.fullmatch(cell)
    if number is not None:
        decimals, exponent = number.groups()
        if decimals is None and exponent is None:
            yield Spelling("integer")
        yield Spelling("number")
        yield from (Spelling("number", ".0"), Spelling("number", FULL))
        if len(decimals or "") > _MOST_DECIMALS:
            return
        if decimals and exponent is None:
            yield Spelling("number", f"f{len(decimals)}")
        if exponent == "e":
            yield Spelling("number", f"e{len(decimals or '')}")
        for name, convention in CONVENTIONS.items():
            if (exponent or convention.exponent[0]) == convention.exponent[0]:
                yield Spelling("number", name)
        return
    for yes, no in BOOLEANS.values():
        if cell in (yes, no):
            yield Spelling("boolean", yes)
    if _DATE.fullmatch(cell):
        yield Spelling("date")
    elif _DAY_FIRST.fullmatch(cell):
        yield Spelling("date", ".")
    elif (found := _TIME.fullmatch(cell)) is not None:
        for digits in _digits(*found.groups()):
            yield Spelling("time", digits)
    elif (found := _MOMENT.fullmatch(cell)) is not None and (
        # Of the first and the last day of all, UTC may have none.
        found[5] in ZONES or (_IS_OFFSET(found[5]) and "0001" < cell[:4] < "9999")
    ):
        for digits in _digits(found[3], found[4]):
            yield Spelling("timestamp", f"{found[1]}{digits}{found[5]}")


def as_well(spelling: Spelling) -> set[Spelling]:
    """The other spellings of cells that all are in this one: seconds without a fraction."""
    kind, style = spelling
    if kind not in ("time", "timestamp") or "0" not in style[:2]:
        return set()
    return {Spelling(kind, style.replace("0", digits, 1)) for digits in "tp"}


def rank(spelling: Spelling) -> tuple[int, int, str]:
    """Which of several that fit is taken: the first; as many digits of seconds before others."""
    first = ("", ".0").index(spelling.style) if spelling.style in ("", ".0") else 2
    return list(TYPES).index(spelling.type), first, spelling.style


def _digits(seconds: str | None, fraction: str | None) -> str:
    """The styles that the digits of a time's seconds may have, each a letter."""
    if seconds is None:
        return "m"
    count = len(fraction or "")
    trimmed = "t" if (fraction or "1")[-1] != "0" else ""
    python = "p" if fraction is None or (count == 6 and fraction != "000000") else ""
    return f"{count}{trimmed}{python}"


def values_of(cells: Sequence[str], spelling: Spelling) -> list[Any] | None:
    """The values of cells that all are in a spelling, none of them empty; None where one is not.

    What is spelled from them again is the cells.
    """
    if not cells:
        return []
    some = cells[:: len(cells) // _SAMPLE + 1]
    if 2 * len(set(some)) <= len(some):  # then each of them is read once
        each = list(dict.fromkeys(cells))
        known = _values_of(each, spelling)
        return known and list(map(dict(zip(each, known, strict=True)).__getitem__, cells))
    return _values_of(cells, spelling)


def _values_of(cells: Sequence[str], spelling: Spelling) -> list[Any] | None:
    try:
        parse = _PARSE[spelling.type] if spelling.style != "." else date_of
        values = [*map(parse, cells)]
        has_offset = spelling.type == "timestamp" and spelling.style[2:] not in ZONES
        if has_offset and not {1, 9999}.isdisjoint(value.year for value in values):
            return None  # UTC may not have it
        return values if spelled(values, spelling) == list(cells) else None
    except (ValueError, OverflowError, ArithmeticError):
        return None


def spelled(values: Sequence[Any], spelling: Spelling) -> list[str]:
    """The text of values of a type. One of ``serializers.base.FAILURES`` where one has none."""
    kind, style = spelling
    if not _KINDS[kind].issuperset(map(type, values)):
        raise TypeError(f"a value that is no {kind}")
    if kind == "number":
        return _numbers(values, style)
    if kind == COMMA:
        return [text.replace(".", ",") for text in _numbers(values, style)]
    if kind == "boolean":
        yes, no = BOOLEANS[style or "true"]
        return [yes if value else no for value in values]
    if kind in ("time", "timestamp"):
        return times_text(values, style)
    if style == ".":
        return [".".join(reversed(value.isoformat().split("-"))) for value in values]
    return list(map(_SPELL[kind], values))


def _numbers(values: Sequence[float], style: str) -> list[str]:
    if style in ("", ".0"):
        texts = list(map(repr, values))
        if style:
            return texts
        if "-0.0" in texts or max(map(abs, values), default=0) > EXACT:
            keep = list(map(_keeps_point, texts, values))
            return [t if kept else t[:-2] for t, kept in zip(texts, keep, strict=True)]
        return [text[:-2] if text[-2:] == ".0" else text for text in texts]
    if style in CONVENTIONS:
        return texts_of(values, style)
    how = f".{int(style[1:])}{style[0]}"
    return [format(value, how) for value in values]


def _keeps_point(text: str, value: float) -> bool:
    return text[-2:] != ".0" or abs(value) > EXACT or text == "-0.0"


def _ungrouped(text: str) -> str:
    """A number without the commas that surely stand between thousands in it."""
    return text.replace(",", "") if _GROUPED.fullmatch(text) else text


def _decimal(text: str) -> Decimal:
    text = _ungrouped(text)
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    value = Decimal(text)
    few = value.is_finite() and 0 < int(value.as_tuple().exponent) <= MAX_DIGITS
    return Decimal(int(value)) if few else value  # 1e2 is 100, with no places


def decimal_of(value: Any) -> Decimal:
    """The decimal that a number is, of a double that of its shortest digits; ValueError for what
    is no finite number."""
    if type(value) not in (int, float, Literal):
        raise ValueError(value)
    return Decimal(value) if type(value) is int else _decimal(repr(value))


def _number(text: str) -> float:
    """The double of a literal; Inexact where none is it."""
    text = _ungrouped(text)
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    value = float(text)
    plain = text.removeprefix("+")
    return float(held(Literal(plain, value if value - value == 0 else None)))


def with_point(text: str) -> str:
    """A number with a decimal comma as it is written with a point; of other text no number."""
    if _THOUSANDS.fullmatch(text):
        text = text.replace(".", "")
    return "" if "." in text else text.replace(",", ".")  # between thousands, or a decimal point


def are_with_comma(cells: Iterable[str]) -> bool:
    """Whether all cells are numbers whose decimals, if any, stand behind a comma."""
    return all(_NUMBER.fullmatch(with_point(cell)) for cell in cells)


def has_commas(cells: Collection[str]) -> bool | None:
    """Whether all cells are numbers, and one has a decimal comma; None: each comma may stand
    between thousands."""
    if "," not in "".join(cells) or not are_with_comma(cells):
        return False
    return any("," in c and COMMA_THOUSANDS.fullmatch(c) is None for c in cells) or None


def _complex(text: str) -> complex:
    if "_" in text:  # Python's own, of numbers in programs
        raise ValueError(text)
    return complex(text)


def _integer(text: str) -> int:
    text = text.replace(",", "") if COMMA_THOUSANDS.fullmatch(text) else text
    if re.fullmatch(r"[-+]?[0-9]+", text, re.ASCII) is None or len(text) > MAX_DIGITS:
        raise ValueError(text)
    return int(text)


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _boolean_word(text: str) -> bool:
    return text in BOOLEANS


def _base64(text: str) -> bytes:
    return b64decode(text, validate=True)


def read(text: str, kind: str) -> Any:
    """The value of text of a type in whatever spelling; ValueError, Inexact where it has none."""
    try:
        return _READ[kind](text)
    except Inexact:
        raise
    except (LookupError, ArithmeticError) as error:
        raise ValueError(text) from error


#: Quickly, where the text is compared with what is spelled again; and whatever the spelling is.
_PARSE: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "number": float,
    "boolean": _boolean_word,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timestamp": datetime.fromisoformat,
    MOMENT: in_utc,
    MONTH_FIRST: month_first,
    DAY_FIRST: day_first,
    "decimal": Decimal,
    "duration": duration_of,
    "bytes": _base64,
    "complex": _complex,
    COMMA: lambda text: float(text.replace(",", ".")),
}
_READ: dict[str, Callable[[str], Any]] = {
    **_PARSE,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": date_of,
    **{kind: to_microseconds(_PARSE[kind]) for kind in ("time", "timestamp", MOMENT)},
    "decimal": _decimal,
    COMMA: lambda text: _number(with_point(text)),
}

_KINDS: dict[str, frozenset[type]] = {
    TEXT: frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({float}),
    "boolean": frozenset({bool}),
    "date": frozenset({date}),
    "time": frozenset({time}),
    "timestamp": frozenset({datetime}),
    MOMENT: frozenset({datetime}),
    **dict.fromkeys((MONTH_FIRST, DAY_FIRST), frozenset({date})),
    "decimal": frozenset({Decimal}),
    "duration": frozenset({timedelta}),
    "bytes": frozenset({bytes}),
    "complex": frozenset({complex}),
    COMMA: frozenset({float}),
    LIST: frozenset({list}),
}

_SPELL: dict[str, Callable[[Any], str]] = {
    "integer": str,
    **dict.fromkeys(("date", MONTH_FIRST, DAY_FIRST), date.isoformat),
    MOMENT: lambda value: value.isoformat().replace("+00:00", "Z"),
    "decimal": lambda value: format(value, "f"),
    "duration": duration_text,
    "bytes": lambda value: b64encode(value).decode(),
    "complex": complex_text,
}

#: The types by name, in the order in which they are tried, and the kinds of their values.
TYPES: dict[str, tuple[str, ...]] = {
    TEXT: (),
    "integer": ("integer",),
    "number": ("float", "integral-float"),
    "boolean": ("boolean",),
    "date": ("date",),
    "time": ("time",),
    "timestamp": ("local-datetime", "utc-datetime"),
    MOMENT: ("utc-datetime",),
    MONTH_FIRST: ("date",),
    DAY_FIRST: ("date",),
    "decimal": ("decimal",),
    "duration": ("timedelta",),
    "bytes": ("bytes",),
    "complex": ("complex",),
    COMMA: ("float", "integral-float"),
    LIST: ("array",),
}


#: The styles that there are, of types that have more than one.
_STYLES = {
    **dict.fromkeys(("number", COMMA), "|".join([r"|\.0|[ef]\d{1,2}", FULL, *CONVENTIONS])),
    "boolean": "true|TRUE|True",
    "date": r"|\.",
    "time": "[m0-6tp]",
    "timestamp": r"[T ][m0-6tp](Z|\+00:00|)" + f"|[T ][m0-6tp]{_OFFSET}",
}


def is_style(kind: Any, style: Any) -> bool:
    """Whether there is such a style, of such a type."""
    known = isinstance(kind, str) and kind in TYPES and isinstance(style, str)
    return known and re.fullmatch(_STYLES.get(kind, ""), style, re.ASCII) is not None


def python_types(kind: str) -> frozenset[type]:
    """The types of Python's that values of a type have."""
    return _KINDS[kind]


def types_option(name: str, kind: str) -> str:
    """The option that gives a column a type, as it is typed."""
    return f"--types {quoted(in_line(f'{name}={kind}'))}"
