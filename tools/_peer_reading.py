"""Output of any converter, read strictly, and compared with the values that should be in it.

Numbers are compared as numbers: 1.0 for 1 is no change, 1e2 for 100 is none, one digit is. The
order of keys does not count. What is not valid in its format counts as changed.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any


class Map(list[tuple[Any, Any]]):
    """A map as its pairs: keys that are equal in Python, or the same twice, stay apart."""


class Invalid(Exception):
    """The output is not what its format says."""


def of_python(value: Any) -> Any:
    """``value`` with every dict as a ``Map``."""
    if isinstance(value, dict):
        return Map((key, of_python(item)) for key, item in value.items())
    return [of_python(item) for item in value] if type(value) is list else value


def _not_a_number(word: str) -> Any:
    raise Invalid(f"{word} is no JSON")


def _json(data: bytes) -> list[Any]:
    """One or several JSON texts; numbers as decimals, with every digit and the sign of zero."""
    text = data.decode()
    decoder = json.JSONDecoder(
        object_pairs_hook=Map,
        parse_int=Decimal,
        parse_float=Decimal,
        parse_constant=_not_a_number,
    )
    space = re.compile(r"[ \t\r\n]*")
    found, at = [], len(_matched(space, text, 0))
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(_matched(space, text, at))
    return found


def _matched(pattern: re.Pattern[str], text: str, at: int) -> str:
    match = pattern.match(text, at)
    return match[0] if match else ""


def _msgpack(data: bytes) -> list[Any]:
    import msgpack

    unpacker = msgpack.Unpacker(object_pairs_hook=Map, strict_map_key=False)
    unpacker.feed(data)
    found, end = [], 0
    for message in unpacker:
        found.append(message)
        end = unpacker.tell()
    if end != len(data):
        raise Invalid("ends within a message")
    return found


def _cbor(data: bytes) -> list[Any]:
    import cbor2

    file = io.BytesIO(data)
    found = []
    while file.tell() < len(data):
        found.append(of_python(cbor2.CBORDecoder(file, read_size=1).decode()))
    return found


#: What plain text is taken for, by the core schema of YAML 1.2 (section 10.3.2).
_CORE_SCHEMA = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|"
    r"[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN",
}


def _yaml(version: str) -> Callable[[bytes], list[Any]]:
    """A reader of YAML documents: 1.1 as PyYAML reads it, or 1.2."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_pairs(self, node: Any, deep: bool = False) -> Any:  # noqa: ARG002
            built = self.construct_object
            return Map((built(k, deep=True), built(i, deep=True)) for k, i in node.value)

    Loader.add_constructor("tag:yaml.org,2002:map", Loader.construct_pairs)
    if version == "1.2":
        Loader.yaml_implicit_resolvers = {}
        for name, pattern in _CORE_SCHEMA.items():
            whole = re.compile(rf"(?:{pattern})\Z")
            Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", whole, None)
    return lambda data: list(yaml.load_all(data, Loader))


def _toml(data: bytes) -> list[Any]:
    import tomllib

    return [of_python(tomllib.loads(data.decode()))]


def _csv(data: bytes) -> list[Any]:
    rows = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
    return [[Map(zip(rows[0], row, strict=True)) for row in rows[1:]]] if rows else []


def _readers(target: str) -> list[Callable[[bytes], list[Any]]]:
    if target == "yaml":
        return [_yaml("1.1"), _yaml("1.2")]
    return [_READERS[target]]


_READERS: dict[str, Callable[[bytes], list[Any]]] = {
    "json": _json,
    "ndjson": _json,
    "msgpack": _msgpack,
    "cbor": _cbor,
    "toml": _toml,
    "csv": _csv,
}


def readings(target: str, data: bytes) -> list[list[Any]]:
    """The records of some output, once for each version of its format.

    Raises Invalid where no version has any.
    """
    found, said = [], ""
    for reader in _readers(target):
        try:
            found.append(reader(data))
        except Exception as error:  # a reader says in its own way that it will not have it
            said = said or clipped(str(error)) or type(error).__name__
    if not found:
        raise Invalid(said)
    return found


def unlike(want: Any, got: Any) -> str | None:
    """What became of ``want``, in words; None where ``got`` is the same."""
    if isinstance(want, Map) and isinstance(got, Map):
        return _unlike_map(want, got)
    if type(want) is list and type(got) is list and len(want) == len(got):
        pairs = zip(want, got, strict=True)
        return next((said for w, g in pairs if (said := unlike(w, g))), None)
    if _is_number(want) and _is_number(got):
        same = _same_number(want, got)
    else:
        same = type(want) is type(got) is not list and want == got
    return None if same else f"{shown(want)} became {shown(got)}"


def _unlike_map(want: Map, got: Map) -> str | None:
    left = list(got)
    for key, item in want:
        same = [n for n, (k, _) in enumerate(left) if unlike(key, k) is None]
        whole = [n for n in same if unlike(item, left[n][1]) is None]
        if whole:
            del left[whole[0]]
        elif len(same) == 1 and len(want) == len(got):
            return unlike(item, left[same[0]][1])
        else:
            break
    return None if not left and len(want) == len(got) else f"{shown(want)} became {shown(got)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _same_number(want: Any, got: Any) -> bool:
    """Whether ``got`` is that number: a double if ``want`` is a float, else digit by digit."""
    if isinstance(want, float):
        got = float(got)
    if want == 0 == got:
        return Decimal(want).is_signed() == Decimal(got).is_signed()
    return bool(Decimal(want) == Decimal(got))


def shown(value: Any) -> str:
    """A value in the page: short, and on one line."""
    if isinstance(value, Map):
        text = "{" + ", ".join(f"{shown(k)}: {shown(v)}" for k, v in value) + "}"
    elif type(value) is list:
        text = "[" + ", ".join(shown(item) for item in value[:9]) + "]"
    elif value is None or isinstance(value, str | bool):
        text = json.dumps(value)
    else:
        text = str(value)
    return clipped(text)


def clipped(text: str) -> str:
    """``text`` on one line of at most 70 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 70 else f"{line[:50]} ... {line[-15:]}"
