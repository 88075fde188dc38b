"""What the user says about tables."""

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

from serialpack.errors import UsageError
from serialpack.formats import FORMATS

#: Text that is read as a value, where cells are: a literal of JSON, or a number that JSON has not.
LITERAL = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null|NaN|-?Infinity"


class Shaping(NamedTuple):
    """How records become rows, and rows records.

    ``null``: the word for null in a cell, also beside text that gets types; None: null is an empty
    cell, as a missing key is.
    ``typed``: bare literals are values, what is quoted is text. ``nest``: dotted columns become
    maps again, and the columns that it names are JSON text, ``-`` none of them, where it names none
    each cell that is JSON of a list, a map or a string; None: they stay as they are.
    ``flatten``: maps become dotted columns also where the target has maps. ``separator``: what
    stands between the keys of a dotted column; None: a dot, or of what is written another word
    where keys have dots. ``at``: the path of the list that is the records. ``columnar``: what is
    there, or all of the document, has the records by columns (``tables.columnar``); ``header``:
    they are lists, the first of which has the names of columns. ``indent``: spaces for each level
    of JSON. ``ascii``: JSON has an escape for each character that is not ASCII. ``infer``: columns
    of text get the types that all their cells have. ``types``: the columns that the user named,
    each with its type. ``delimiter``: what stands between the fields of CSV that is written, a
    comma, ``;`` or ``|``; None: what the source has, where that is CSV.
    """

    null: str | None = None
    typed: bool = False
    nest: tuple[str, ...] | None = None
    flatten: bool = False
    separator: str | None = None
    at: str | None = None
    columnar: bool = False
    header: bool = False
    indent: int = 0
    ascii: bool = False
    infer: bool = False
    types: tuple[tuple[str, str], ...] = ()
    delimiter: str | None = None

    @property
    def reads(self) -> bool:
        """Whether it says how rows are read."""
        nulls = self.null is not None and self.gives_types
        return self.typed or self.nest is not None or nulls

    @property
    def picks(self) -> bool:
        """Whether the records are taken out of one document, which is read as a whole."""
        return self.at is not None or self.columnar or self.header

    @property
    def gives_types(self) -> bool:
        """Whether text is to become values of other types."""
        return self.infer or bool(self.types)

    @property
    def between(self) -> str:
        """What stands between the keys of a dotted column, as far as that is known."""
        return "." if self.separator is None else self.separator

    def check(self) -> None:
        """UsageError for what no table can be written with, or read."""
        if not self.between or not self.between.isprintable() or '"' in self.between:
            raise UsageError("--separator is one or more printable characters", hint="like . or /")
        if self.gives_types and self.typed:
            raise UsageError("--infer and --types go without --typed, which reads cells as values")
        if self.columnar and self.header:
            raise UsageError("--columnar and --header exclude each other")
        if self.null is None:
            return
        marks = {'"', *(declared.delimiter.decode() for declared in FORMATS)}
        odd = not self.null.isprintable() or re.search(r"\s", self.null)
        if odd or not marks.isdisjoint(self.null) or not self.null:
            raise UsageError(f"--null {self.null!r} is no word", hint="--null null")
        if self.null != "null" and re.fullmatch(LITERAL, self.null):
            raise UsageError(f"--null {self.null} is read as a value", hint="--null null")


#: The word of ``--nest`` for no column: all are text, or values, and none is JSON.
NO_COLUMNS = "-"


def types_of(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Names and types in lines of CSV, ``a=integer,b=date``; UsageError where it is none."""
    found = []
    for text in texts:
        for word in column_names(text, "--types a=integer,b=date"):
            name, equals, kind = word.rpartition("=")
            if not equals or not name:
                raise UsageError(f"--types: {word!r} is not NAME=TYPE", hint="--types a=integer")
            found.append((name, kind))
    return tuple(found)


def column_names(text: str, usage: str = '--nest tags,"a, b"') -> tuple[str, ...]:
    """The names of columns in a line of CSV; UsageError where it is none."""
    try:
        rows = list(csv.reader([text], strict=True))
    except csv.Error:
        raise UsageError(f"{usage.partition(' ')[0]} is no line of CSV", hint=usage) from None
    return tuple(name for row in rows for name in row)
