"""The kinds of values, and where one was lost: the words in which serializers declare what they
cannot hold, and in which refusals, hints and the table of fidelity say it.
"""

import re
import struct
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, NamedTuple

#: The kinds of values that a serializer may be unable to hold, and what messages call them.
KINDS = {
    # What JSON has words for.
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "float": "a float",
    "text": "text",
    "array": "an array",
    "nested": "a container inside a record",
    "bare": "a record that is not a map",
    "mixed": "records of different shapes",
    # Edges of those.
    "uint64": "an integer from 2^63 up to 2^64",
    "bigint": "an integer beyond 64 bits",
    "huge-integer": "an integer of more than 4300 digits",
    "inexact-integer": "an integer that no double holds",
    "integral-float": "a float without a fraction",
    "non-finite": "a NaN or an infinity",
    "nan-bits": "a NaN with bits of its own",
    "surrogates": "a lone surrogate",
    "control": "a control character",
    "nul": "a NUL in a key",
    "integer-key": "a key that is an integer",
    "key": "a key that is neither text nor an integer",
    "depth": "values nested too deeply",
    # What only the text of a source can say.
    "digits": "a number with more digits than a double holds",
    "overflow": "a number beyond the range of a double",
    "negative-zero": "a negative zero written as an integer",
    "duplicate-keys": "an object with a key twice",
    "order": "keys in their order",
    # What JSON has no words for.
    "bytes": "bytes",
    "bytearray": "a bytearray",
    "utc-datetime": "a date and time in UTC",
    "offset-datetime": "a date and time with an offset",
    "zoned-datetime": "a date and time in a named zone",
    "local-datetime": "a date and time without a zone",
    "date": "a date",
    "time": "a time of day",
    "timedelta": "a duration",
    "decimal": "a decimal",
    "fraction": "a fraction",
    "uuid": "a UUID",
    "tuple": "a tuple",
    "set": "a set",
    "frozenset": "a frozenset",
    "complex": "a complex number",
    "number-array": "an array or scalar of NumPy or of the module array",
    "tag": "a tagged value or an extension type",
    "object": "an object of a class",
    "function": "a function or a class",
    "cycle": "a container that holds itself",
    "value": "a value",
}

#: Lost where text becomes Python's numbers and dicts, so by every serializer of values.
TEXT_KINDS = frozenset({"digits", "overflow", "negative-zero", "duplicate-keys"})

#: The rules of ``--lossy`` about what only a source says.
DIGITS, DUPLICATES, NAN, UTF8 = "digits", "duplicates", "nan", "utf8"
COMMENTS, COLUMNS, AROUND, FIELDS = "comments", "columns", "around", "fields"
ORDER, SPACE, HEADER, ATTRIBUTES = "order", "space", "header", "attributes"
EMPTY = "empty"
CONTENT, LATIN1, RENAMED, SHORT_ROWS = "content", "latin-1", "renamed", "short-rows"
NO_ROWS, SCHEMA, VIEWS, LONG_ROWS = "no-rows", "schema", "views", "long-rows"
BLANK_LINES, SAFETY, NULLS = "blank-lines", "safety", "nulls"
#: That of what libraries have types for, and plain values stand for.
ARRAYS = "arrays"
OBJECTS = "objects"
#: The rules for columns of types that a table lacks, for those of times, and for times in a named
#: zone.
NEAREST, TIMESTAMPS, ZONES = "nearest", "timestamps", "zones"

#: What is no value, and is dropped where only values are kept: by rule, in words, for one and for
#: several.
DROPPED = {
    COMMENTS: ("comment", "comments"),
    SPACE: ("white space between elements", "white spaces between elements"),
    EMPTY: ("empty document", "empty documents"),
    HEADER: ("header", "headers"),
    ATTRIBUTES: ("attribute, link or the like", "attributes, links and the like"),
    NO_ROWS: ("column name of tables without rows", "column names of tables without rows"),
    SCHEMA: ("key, index or the like", "keys, indexes and the like"),
    VIEWS: ("view that cannot be read", "views that cannot be read"),
}

#: Kinds that no serializer holds, since Python itself cannot.
NEVER = TEXT_KINDS | {"huge-integer", "depth"}

#: What is beyond the data model of JSON (RFC 8259 as Python reads it).
BEYOND_JSON = NEVER | {
    *("non-finite", "nan-bits", "integer-key", "key"),
    *("bytes", "bytearray", "decimal", "fraction", "uuid", "tuple", "set", "frozenset", "complex"),
    *("utc-datetime", "offset-datetime", "zoned-datetime", "local-datetime"),
    *("date", "time", "timedelta", "number-array", "tag", "object", "function", "cycle", "value"),
}


class Instead(NamedTuple):
    """What a user can make of a value to have it held: in Python's words, and of which kind that
    is, if of one that some do not hold."""

    words: str
    kind: str = ""


class Difference(NamedTuple):
    """The first value that does not come back: where it was, what it was, and what came instead.

    ``became`` is empty where nothing came. ``kind`` is one of ``KINDS``. ``because``: what the
    library says of it, or the class; with ``became``, of reading what was written. ``instead``:
    see ``instead_of``.
    """

    record: int
    value_path: str
    was: str
    became: str
    kind: str
    because: str = ""
    instead: Instead | None = None


def unplaced(error: Exception) -> Difference:
    """The difference for records that cannot be written or read at all, where no value is to
    blame."""
    return Difference(0, "$", "the records", AN_ERROR, "value", str(error))


#: What came instead, where what was written cannot be read again.
AN_ERROR = "an error"


class Unheld(Exception):
    """A value that Python itself cannot hold. Internal: users get a refusal. ``hint``: the way out,
    where there is one."""

    def __init__(self, difference: Difference, hint: str = "") -> None:
        super().__init__(difference)
        self.difference = difference
        self.hint = hint


class Loss(NamedTuple):
    """What a rule of ``--lossy`` changed: how often; and of the first one where, what was, and what
    became of it.

    ``record`` counts from 0 in the whole source. Of comments, ``value_path`` is ``line N``, from 1
    on, and ``became`` is empty.
    """

    rule: str
    count: int  # type: ignore[assignment]  # a method of tuple, which nobody needs here
    record: int
    value_path: str
    was: str
    became: str


def totals(losses: Iterable[Loss]) -> list[Loss]:
    """One loss for each rule, with the count of all and the place of the first."""
    found: dict[str, Loss] = {}
    for loss in losses:
        known = found.setdefault(loss.rule, loss)
        if known is not loss:
            first = loss if loss.record < known.record else known
            found[loss.rule] = first._replace(count=known.count + loss.count)
    return list(found.values())


#: The most keys that are shown of those that came in another order.
_FEW = 3


class Spelled(str):
    """Text of a source, which messages show as it stands there: on one line, without quotes."""

    def __repr__(self) -> str:
        return super().__repr__()[1:-1]


def value_step(key: Any) -> str:
    """One step of a value's path into a map: ``.price``, ``["odd key"]`` or ``[(1, 2)]``."""
    if not isinstance(key, str):
        return f"[{shown(key)}]"
    if re.fullmatch(_NAME, key):
        return f".{key}"
    import json

    return f"[{json.dumps(key)}]"


#: A key that a path has as it is.
_NAME = "[A-Za-z_][A-Za-z0-9_]*"

#: A step into a map by a key that is text, or into a list.
_STEP = rf'\.({_NAME})|\[("(?:[^"\\]|\\.)*")\]|\[(\d+)\]'


def steps_of(path: str) -> list[str | int] | None:
    """The keys and numbers of items that a value's ``path`` is made of; None where it has keys that
    are no text."""
    import json

    steps: list[str | int] = []
    at, step = 1, re.compile(_STEP)  # not at each start
    while at < len(path):
        found = step.match(path, at)
        if found is None:
            return None
        name, text, number = found.groups()
        steps.append(int(number) if number else name or json.loads(text))
        at = found.end()
    return steps


#: Where a value stands: the path of what it stands in, and its step there, a number or a key. As
#: text, the paths of nested values would grow with the square of the depth, even if nobody asks.
Path = tuple[Any, Any]

#: The path of a record.
ROOT: Path = (None, None)


def path_text(path: Path) -> str:
    """``$.items[3]["odd key"]``."""
    steps: list[str] = []
    while path is not ROOT:
        path, step = path
        steps.append(value_step(step))
    return "$" + "".join(reversed(steps))


#: Of a memoryview, which is of the kind of arrays, but is none.
AS_BYTES = Instead("bytes(view)", "bytes")
_AS_LIST = Instead("list(it)", "array")
_AS_DICT = Instead("dict(it)")

#: Python's own types whose objects give values when they are asked, beside all its iterators.
_GIVE = frozenset({"generator", "map", "filter", "zip", "enumerate"}) | frozenset(
    {"dict_keys", "dict_values", "dict_items"}
)


def instead_of(value: Any) -> Instead | None:
    """What to make of a value that only shows or gives others, such as a generator; None of any
    other."""
    cls: Any = type(value)
    if cls is memoryview:
        return AS_BYTES
    if cls is MappingProxyType:
        return _AS_DICT
    gives = cls.__name__ in _GIVE or cls.__name__.endswith("iterator")
    return _AS_LIST if gives and cls.__module__ == "builtins" else None


def bare(record: Any) -> Difference:
    """That the first record is not a map."""
    instead = instead_of(record)
    if instead is not None and instead.kind:  # of it comes no map, either
        instead = None if instead == AS_BYTES else instead._replace(kind="bare")
    return Difference(0, "$", shown(record), "", "bare", instead=instead)


#: Types whose classes are not told from them by their words.
_AS_PLAIN = (int, float, complex, str, bytes, list, tuple, dict)
_PLAIN_WORDS: frozenset[Any] = frozenset(kind.__repr__ for kind in _AS_PLAIN)


#: Of more values together only the type is shown: to spell all of them takes long.
_MOST_SPELLED = 10_000
#: Types by their identity: a class may have no hash, and any equality.
_HOLDING = {id(kind) for kind in (tuple, set, frozenset, list, dict)}
_LEAVES = {id(kind) for kind in (int, float, complex, str, bytes)}


def _is_long(value: Any) -> bool:
    """Whether more than ``_MOST_SPELLED`` values stand in a tuple, a set or a type with others
    filled in (``list[int]``), each counted in all its places: they may share what is in them."""
    left, count = [value], 0
    while left and count <= _MOST_SPELLED:
        each = left.pop()
        kind: Any = type(each)
        if id(kind) in _HOLDING:
            inside: Any = each.values() if kind is dict else each
        elif kind is slice:
            inside = each.start, each.stop, each.step
        elif kind.__module__ in ("types", "typing") and type(each) is not type:
            inside = getattr(each, "__args__", ())
        else:
            continue
        count += len(inside)
        if count <= _MOST_SPELLED:
            left += [part for part in inside if id(type(part)) not in _LEAVES]
    return count > _MOST_SPELLED


def shown(value: Any) -> str:
    """A value in a message: short, and on one line."""
    # By what it holds as a dict: somebody's class may say otherwise, or nothing; and an object may
    # say that it is of another class, for which it stands.
    kind: Any = type(value)
    if (issubclass(kind, dict) and dict.__len__(value)) or (
        issubclass(kind, list) and list.__len__(value)
    ):
        return type(value).__name__
    if value is None:
        return "null"
    if type(value) is memoryview:
        return "a memoryview"  # whose address tells nobody anything
    try:
        text = type(value).__name__ if _is_long(value) else ascii(value)
        if type(value) not in _AS_PLAIN and type(value).__repr__ in _PLAIN_WORDS:
            text = f"{type(value).__name__}({text})"
    except Exception:  # somebody's __repr__, or an integer of too many digits
        text = type(value).__name__
    if text == "nan" and type(value) is float:
        bits = struct.pack(">d", value).hex()
        text = text if bits == "7ff8000000000000" else f"nan (bits {bits})"
    if "\n" in text:  # a table, or an array of several dimensions
        text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:20]}...{text[-8:]}"


def in_order(keys: Iterable[Any], others: Iterable[Any]) -> tuple[str, str]:
    """Two orders of the same keys, for a message: a few keys of each, from the first one that
    moved."""
    pairs = list(zip(keys, others, strict=True))
    start = next(at for at, (key, other) in enumerate(pairs) if key != other)
    few = pairs[start : start + _FEW]
    more = ", ..." if start + _FEW < len(pairs) else ""
    was, became = (", ".join(shown(pair[side]) for pair in few) + more for side in (0, 1))
    return was, became


def key_kind(key: Any) -> str | None:
    """The kind of a map that has ``key``, by that; None for text, which every map takes.

    Only text with a NUL is of a kind of its own: some libraries end a key there.
    """
    if type(key) is str:
        return "nul" if "\0" in key else None
    return "integer-key" if type(key) is int else "key"
