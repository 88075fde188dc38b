"""Shows records and arrays as lines of JSON, for ``inspect --head`` of formats that are no text."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Generator
from contextlib import closing
from datetime import date, time, timedelta
from itertools import islice
from typing import Any

from serialpack.formats.base import Read, ValueFormat
from serialpack.formats.losses.exact import not_held
from serialpack.formats.shared.random_access import FileRead
from serialpack.values.durations import duration_text
from serialpack.values.kinds import KINDS, Unheld

#: The most items of a list that are shown.
CORNER = 10

#: Types of keys that JSON writes as the name of a member.
_NAMES = (str, int, float, type(None))

#: Bytes of the blocks that are read: few records are wanted.
_BLOCK_SIZE = 256 << 10


def first_lines(fmt: ValueFormat, read: Read, count: int) -> bytes:
    """The first ``count`` records of a source, as lines; errors as of ``split`` and ``parse``."""
    if not isinstance(read, FileRead):
        read = FileRead(read)
    with closing(_records(fmt, read)) as records:
        return b"".join(map(shown_corner, islice(records, count)))


def _records(fmt: ValueFormat, read: Read) -> Generator[Any, None, None]:
    for block in fmt.split(read, _BLOCK_SIZE, for_values=True):
        try:
            records = fmt.parse(block)
        except Unheld as unheld:
            lost = unheld.difference
            what = f"{KINDS[lost.kind]} is not shown: {lost.was}"
            raise not_held(lost._replace(record=block.first_record + lost.record), what) from None
        yield from records


def shown_corner(value: Any) -> bytes:
    """A line of JSON, for people, with the first items of each list in ``value``."""
    text = json.dumps(_corner(value), default=_words, ensure_ascii=False)
    return text.encode(errors="backslashreplace") + b"\n"  # which JSON spells a lone surrogate by


def _words(value: Any) -> str:
    """What stands in JSON for a value that it has no word for, as conversions to it write that."""
    if isinstance(value, bytes | bytearray):
        return b64encode(value).decode()
    if isinstance(value, timedelta):
        return duration_text(value)
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def _corner(value: Any) -> Any:
    """``value`` with the first items of each list, and three dots for the others."""
    if isinstance(value, dict):
        return {
            name if isinstance(name, _NAMES) else str(name): _corner(part)
            for name, part in value.items()
        }
    if not isinstance(value, list):
        return value
    return [_corner(part) for part in value[:CORNER]] + ["..."] * (len(value) > CORNER)
