"""What the JSON serializers share: a record on each line, as compact JSON.

Any of them reads what any other wrote, as far as its library holds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from serialpack.depth import MAX_DEPTH, check_json
from serialpack.serializers.base import RecordSerializer, check_finite
from serialpack.stages.stage import Buffer
from serialpack.values.kinds import BEYOND_JSON

#: Strings and numbers; the group is an integer with so many digits that 64 bits may not hold it.
_LONG_INTEGER = re.compile(rb'"(?:[^"\\]|\\.)*+"|(-?[0-9]{19,}+)(?![.eE])|[0-9][-+.eE0-9]*')
#: Numbers that may be beyond the range of a double, or other bytes that look like one.
_MAY_OVERFLOW = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{300}")
#: How many values of a list or map are looked at to guess what the others are, and how far down.
_SAMPLES, _LEVELS = 16, 8
#: The most values of a map that is just written: to look at it first takes as long.
_FEW = 64
_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")


class JsonLines(RecordSerializer):
    """A serializer to compact JSON, each record on a line."""

    stored_format = "ndjson"
    cannot = BEYOND_JSON
    text = True

    def _check_depth(self, data: Buffer) -> None:
        if len(data) > MAX_DEPTH:
            check_json(bytes(data))


class LooseJsonLines(JsonLines):
    """As ``JsonLines``, by a library that reads a number beyond a double's range as an infinity."""

    def load_json(self, data: Buffer) -> list[Any]:
        records = self.load(data)
        if _MAY_OVERFLOW.search(data):
            check_finite(records)
        return records


def write_lines(records: list[Any], writer: Callable[[bool], Callable[[Any], str]]) -> bytes:
    """The records, by a library that writes one text at a time.

    ``writer(ascii_only)`` gives what writes a record, with characters beyond ASCII escaped or as
    they are. Where these are few they are escaped: a single wide one makes all of the text wide in
    memory, which takes three times as long.
    """
    if len(records) == 1 and type(records[0]) is dict and len(records[0]) <= _FEW:
        line = writer(True)(records[0])
        if "\\u" not in line:  # the same either way; quicker to tell now than before
            return f"{line}\n".encode()
    try:
        return _joined(list(map(writer(_mostly_ascii(records)), records)))
    except UnicodeEncodeError:  # a lone surrogate
        return _joined(list(map(writer(True), records)))


def _mostly_ascii(records: list[Any]) -> bool:
    """Whether few characters are beyond ASCII, guessed from some texts."""
    texts: list[str] = []
    values = _some_parts(records)
    for _ in range(_LEVELS):
        texts += [value for value in values if type(value) is str]
        values = [part for value in values[:_SAMPLES] for part in _some_parts(value)]
    text = "".join(texts)
    return (len(text) - len(text.encode("ascii", "ignore"))) * 16 <= len(text)


def _some_parts(value: Any) -> list[Any]:
    parts = list(value.values()) if type(value) is dict else value if type(value) is list else []
    return parts[:: len(parts) // _SAMPLES + 1]


def _joined(lines: list[str]) -> bytes:
    if len(lines) != 1:
        return "\n".join([*lines, ""]).encode()
    line = lines.pop()
    line += "\n"  # without a copy: there is no other reference to the text
    return line.encode()


def read_lines(data: Buffer, read: Callable[[bytes], Any]) -> list[Any]:
    """The records, by a library that reads one text at a time; ValueError where one is none."""
    return [read(line) for line in lines_of(data)]


def is_one_line(data: bytes) -> bool:
    """Whether ``data`` is one line, with its end or without, which need not be copied then."""
    return data.find(b"\n") in (-1, len(data) - 1) and data not in (b"", b"\n")


def lines_of(data: Buffer) -> list[bytes]:
    """The lines; the last one may have no end. White space may stand behind them."""
    text = bytes(data)
    if is_one_line(text):
        return [text]
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def scan_lines(data: Buffer, scan: Callable[[str, int], tuple[Any, int]]) -> list[Any]:
    """The records of all lines, by a scanner like the standard library's, which needs no copies."""
    text = str(data, "utf-8")
    records = []
    at = 0
    try:
        while at < len(text):
            record, at = scan(text, at)
            if text[at : at + 1] not in ("\n", ""):
                raise ValueError(f"no line end at character {at}")
            records.append(record)
            at += 1
    except StopIteration as stop:
        raise ValueError(f"no JSON value at character {stop.value}") from None
    return records


def finite(text: str) -> float:
    """The double that ``text`` names; ValueError where that is an infinity."""
    value = float(text)
    if value - value != 0:
        raise ValueError(f"{text[:40]} is beyond the range of a double")
    return value


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def check_integers(data: Buffer) -> None:
    """ValueError for an integer below -2^63 or from 2^64 up."""
    text = bytes(data)
    # A translation and a search take a twentieth of what a regular expression takes.
    if b"0" * 19 not in text.translate(_TO_ZERO):
        return
    for match in _LONG_INTEGER.finditer(text):
        digits = match[1]
        if digits and (len(digits) > 20 or not -(1 << 63) <= int(digits) < 1 << 64):
            raise ValueError(f"{digits[:40].decode()} is an integer beyond 64 bits")
