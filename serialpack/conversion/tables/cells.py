"""Columns of values as raw cells, and back.

Numbers and booleans are literals of JSON, bare; text that could be read as one is quoted.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import compress
from operator import is_
from typing import Any, NamedTuple

from serialpack.conversion.tables.shaping import LITERAL
from serialpack.formats.csv.tokens import texts_of, unquoted
from serialpack.formats.json.lossy import literal_scanner
from serialpack.formats.json.write import compact_lines
from serialpack.literal import MAX_DIGITS, Literal, integer, number
from serialpack.serializers.base import check_finite
from serialpack.values.kind_of import kind_of
from serialpack.values.missing import MISSING, Missing

_NUMBERS: frozenset[type] = frozenset({bool, int, float, type(None)})
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
}
_BOOLEANS = {True: "true", False: "false"}


class CellStyle(NamedTuple):
    """How cells are written. ``null``: the word for null; empty: as what is missing.

    ``alone``: the table has one column, in which an empty cell would be no row. ``plain``: all
    cells are text, as they are in a table that is read without its types, or ``null``.
    """

    delimiter: str = ","
    null: str = ""
    alone: bool = False
    plain: bool = False

    def written(self, values: Sequence[Any], *, is_json: bool = False) -> list[str]:
        """The raw cells of a column; ValueError or TypeError for a value that has none."""
        types = set(map(type, values))
        if types == {str} and not is_json:
            return self._texts(values)
        if len(types) == 1:
            return self._of_type(values, types.pop(), is_json=is_json)
        if len(types) == 2 and type(None) in types:
            (null,) = self._of_type([None], type(None), is_json=is_json)
            (kind,) = types - {type(None)}
            some = [value for value in values if value is not None]
            each = iter(self._of_type(some, kind, is_json=is_json))
            return [null if value is None else next(each) for value in values]
        made = {}
        kinds = list(map(type, values))
        for kind in types:
            some = list(compress(values, map(partial(is_, kind), kinds)))
            made[kind] = iter(self._of_type(some, kind, is_json=is_json)).__next__
        return [made[kind]() for kind in kinds]

    def _of_type(self, values: Sequence[Any], kind: type, *, is_json: bool) -> list[str]:
        if kind is Missing:
            return ["null" if self.alone and not self.null else ""] * len(values)
        if kind is type(None):
            null = "null" if is_json else self.null
            return [null or ("null" if self.alone else "")] * len(values)
        if kind is bool:
            return [_BOOLEANS[value] for value in values]
        if kind is int:
            return list(map(str, values))
        if kind is float:
            return floats(values)
        if kind is Literal:
            return [value.text for value in values]
        if is_json:
            return self._quoted(json_texts(values))
        if kind is not str:
            raise TypeError(f"a cell cannot hold {kind.__name__}")
        return self._texts(values)

    def _quoted(self, texts: list[str]) -> list[str]:
        mark = self.delimiter
        return [
            f'"{t.replace(_QUOTE, _TWO)}"' if '"' in t or mark in t or "\r" in t else t
            for t in texts
        ]

    def _texts(self, values: Sequence[str]) -> list[str]:
        """Text is quoted where it has to be; what that could be is looked for in all at once."""
        joined = "\n".join(values)
        mark = self.delimiter
        if self.plain:
            odd, quoted = _odd_text(mark), {""} if self.alone else set()
            quoted |= {self.null} - {""}
            if not odd(joined) and joined.count("\n") == len(values) - 1:
                return [f'"{v}"' if v in quoted else v for v in values] if quoted else [*values]
            return [
                f'"{v.replace(_QUOTE, _TWO)}"' if odd(v) or "\n" in v or v in quoted else v
                for v in values
            ]
        if joined.count("\n") != len(values) - 1 or has_odd(joined) or not joined:
            needs = _needs_quotes(mark, self.null)
            return [f'"{v.replace(_QUOTE, _TWO)}"' if needs(v) else v for v in values]
        if _has_literal(joined, self.null):
            is_one = _line_is_literal(self.null).fullmatch
            return [f'"{v}"' if mark in v or not v or is_one(v) else v for v in values]
        if mark in joined:
            return [f'"{v}"' if mark in v else v for v in values]
        return list(values)

    def read_as_text(self, cells: Sequence[str]) -> bool:
        """Whether each of raw cells is certainly read as the text in it."""
        if self.plain:
            return not self.null or self.null not in cells
        return not _has_literal("\n".join(cells), self.null)

    def read(
        self, cells: Sequence[str], *, is_json: bool = False, literals: bool = True
    ) -> list[Any]:
        """The values of raw cells; an empty one is missing. ValueError.

        ``literals``: numbers that Python spells otherwise are literals.
        """
        if is_json:
            return self._read_json(cells, literals=literals)
        if self.plain:
            texts = texts_of(cells)
            if not self.null or self.null not in cells:
                return texts
            return [None if c == self.null else text for c, text in zip(cells, texts, strict=True)]
        nothing: dict[str, Any] = {**({self.null: None} if self.null else {}), "": MISSING}
        filled = [cell for cell in cells if cell not in nothing]
        if filled and len(filled) < len(cells):  # cells are read alike beside any others
            each = iter(self.read(filled, literals=literals))
            return [nothing[cell] if cell in nothing else next(each) for cell in cells]
        found = _numbers(cells, literals=literals)
        if found is not None:
            return found
        joined = "\n".join(cells)
        if '"' in joined:
            joined = "\n".join([cell for cell in cells if cell[:1] != '"'])
            if not joined or not _has_literal(joined, self.null):
                return [unquoted(cell) if cell[:1] == '"' else cell or MISSING for cell in cells]
        elif not _has_literal(joined, self.null):
            return list(cells)
        return [self._value(cell, literals=literals) for cell in cells]

    def _read_json(self, cells: Sequence[str], *, literals: bool) -> list[Any]:
        import msgspec

        texts = texts_of(cells)
        if texts and all(texts) and (values := values_of(texts)) is not None:
            return values
        decode: Callable[[str], Any] = from_json if literals else msgspec.json.decode
        return [decode(text) if text else MISSING for text in texts]

    def _value(self, cell: str, *, literals: bool) -> Any:
        if not cell:
            return MISSING
        if cell[0] == '"':
            return unquoted(cell)
        if self.null and cell == self.null:
            return None
        if _literal(cell) is None:
            return cell
        return _WORDS[cell] if cell in _WORDS else _number(cell, literals=literals)


_QUOTE, _TWO = '"', '""'


_literal = re.compile(LITERAL).fullmatch


@cache
def _line_is_literal(null: str) -> re.Pattern[str]:
    """What has a line that is empty or a literal."""
    word = f"|{re.escape(null)}" if null else ""
    return re.compile(rf"^(?:{LITERAL}{word})?$", re.MULTILINE)


def _has_literal(joined: str, null: str) -> bool:
    """Whether one of the lines is empty or a literal."""
    data = f"\n{joined}\n".encode("utf-8", "surrogatepass")
    # Lines of which nothing but digits could be one; the pattern takes ten times as long.
    may_be = b"\n\n" in data.translate(None, _OF_NUMBERS)
    if not may_be and not any(b"\n%b\n" % word in data for word in _words(null)):
        return False
    return _line_is_literal(null).search(joined) is not None


_OF_NUMBERS = b"0123456789+-.eE"


@cache
def _words(null: str) -> list[bytes]:
    return [word.encode() for word in (*_WORDS, null) if word]


@cache
def _odd_text(delimiter: str) -> Callable[[str], Any]:
    return re.compile(f'["\r\ufeff{delimiter}]').search


def has_odd(text: str) -> bool:
    """Whether text is to be looked at on its own: a quote, a line's end, what could be a mark."""
    return '"' in text or "\r" in text or "\ufeff" in text


@cache
def _needs_quotes(delimiter: str, null: str) -> Callable[[str], Any]:
    word = f"|{re.escape(null)}" if null else ""
    return re.compile(rf'["\r\n{delimiter}]|\A(?:(?:{LITERAL}{word})?\Z|\ufeff)').search


def floats(values: Sequence[float]) -> list[str]:
    """The shortest literals of doubles; ValueError for a NaN with bits of its own."""
    import msgspec

    found = msgspec.json.encode(values)[1:-1].decode().split(",") if values else []
    if "null" in found:
        return [_odd(v) if text == "null" else text for v, text in zip(values, found, strict=True)]
    return found


def _odd(value: float) -> str:
    """The word for a NaN or an infinity."""
    if kind_of(value) == "nan-bits":
        raise ValueError("a NaN with bits of its own")
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def json_texts(values: Sequence[Any]) -> list[str]:
    """The JSON text of each value; ValueError for NaN and infinities, which JSON has not, and for
    lone surrogates, whose escapes are read as none."""
    import msgspec

    try:
        data = msgspec.json.Encoder().encode_lines(values)
        if b"null" in data:  # which is what NaN is written as
            check_finite(list(values))
        # Line ends within text are escaped.
        return data.decode().split("\n")[:-1]
    except (ValueError, TypeError, OverflowError, RecursionError):
        data = compact_lines(list(values))
        if b"\\ud" in data:  # a lone surrogate, perhaps
            json.dumps(values, ensure_ascii=False, default=repr).encode()
        return data.decode().split("\n")[:-1]


def values_of(texts: Sequence[str]) -> list[Any] | None:
    """The values of JSON texts that are written as they are here; None where some are not."""
    import msgspec

    joined = "\n".join(texts)
    if _may_be_literals(joined):
        return None
    try:
        values: list[Any] = msgspec.json.decode(f"[{','.join(texts)}]")
        # No line is more than one text: so each is that of its value.
        again = msgspec.json.Encoder().encode_lines(values)
        return values if again == f"{joined}\n".encode() else None
    except (ValueError, RecursionError):
        return None


def _numbers(cells: Sequence[str], *, literals: bool) -> list[Any] | None:
    """The values of cells that all are numbers as they are written here, or true and the like.

    None where some of them may be literals.
    """
    import msgspec

    if not cells or cells[0][:1] not in _FIRST:
        return None
    joined = ",".join(cells)
    if literals and _may_be_literals(joined):
        return None
    try:
        values: list[Any] = msgspec.json.decode(f"[{joined}]")
        if len(values) != len(cells) or not _NUMBERS.issuperset(map(type, values)):
            return None
        return values if msgspec.json.encode(values)[1:-1].decode() == joined else None
    except (ValueError, RecursionError):
        return None


_FIRST = frozenset("-0123456789tfn")


def _may_be_literals(text: str) -> bool:
    """Whether there may be numbers that Python spells otherwise among those written here."""
    return "0.0000" in text or _EXPONENT.search(text) is not None


#: With the plain character first, it is looked for ten times as fast.
_EXPONENT = re.compile(r"e(?<=[0-9]e)")


def _number(text: str, *, literals: bool) -> int | float | Literal:
    """The number of a literal of JSON."""
    if text.lstrip("-").isdigit():
        if literals:
            return integer(text)
        return int(text) if len(text) <= MAX_DIGITS else float(text)
    return number(text) if literals else float(text)


def reads_as_json(text: str) -> bool:
    """Whether text is JSON, of a list, a map or a string."""
    return text[:1] in _OPENING and from_json(text) is not MISSING


_OPENING = frozenset('[{"')


def from_json(text: str) -> Any:
    """The value of JSON text, with literals; MISSING where it is none."""
    import msgspec

    try:
        if not _NUMBERS_WITHIN.search(text):
            return msgspec.json.decode(text)
        text = text.strip(" \t\r\n")
        value, end = literal_scanner()(text, 0)
        if "\\u" in text:  # a lone surrogate, perhaps: that is none to msgspec
            json.dumps(value, ensure_ascii=False, default=repr).encode()
        return value if end == len(text) else MISSING
    except (ValueError, RecursionError, StopIteration):
        return MISSING


#: What a number has, anywhere in JSON text, that may be a literal.
_NUMBERS_WITHIN = re.compile(r"[0-9][.eE]|-0|[0-9]{4301}")
