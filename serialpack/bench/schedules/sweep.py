"""``--sweep``: which N are measured, and which chains where the user names none."""

from __future__ import annotations

import re

from serialpack.bench.samples import Sample, SampleTable
from serialpack.errors import UsageError
from serialpack.units import parse_size

#: The most points of a sweep: more must be a mistake in its step.
MOST_POINTS = 1000

#: Over a file: its bytes, and three ways to take it apart, each behind one codec.
_OF_FILES = SampleTable(
    serializers=("raw", "json", "msgpack", "pickle"), codecs=("zstd:3",), runs=5
)

#: Over Python objects of a sample whose own table is not for a sweep.
_OF_OBJECTS = SampleTable(serializers=("pickle", "marshal", "json", "msgpack"), runs=10)

_HINT = "write A:B:STEP, as in 100:10000:100, or A:B:xFACTOR, as in 100:100M:x10"


def parse_sweep(text: str) -> list[int]:
    """The N that ``text`` names: from A in steps, or times a factor, up to B. UsageError.

    ``100:10000:100``, ``1K:64K:1K``, ``100:100M:x10``.
    """
    parts = re.fullmatch(r"([^:]+):([^:]+):(x?)([^:]+)", text)
    if parts is None:
        raise UsageError(f"--sweep {text!r} is no sweep", hint=_HINT)
    first, last, step = (_number(text, part) for part in (parts[1], parts[2], parts[4]))
    if last < first:
        raise UsageError(f"--sweep {text!r} ends before it begins", hint=_HINT)
    if not parts[3]:
        points = range(first, last + 1, step)
        if len(points) > MOST_POINTS:
            raise UsageError(
                f"--sweep {text!r} has {len(points):,} points, and at most {MOST_POINTS:,} may be",
                hint=_HINT,
            )
        return [*points]
    if step == 1:
        raise UsageError(f"--sweep {text!r} does not grow", hint=_HINT)
    found = [first]
    while found[-1] * step <= last:
        found.append(found[-1] * step)
    return found


def _number(text: str, part: str) -> int:
    """The number that ``part`` of the sweep ``text`` spells. UsageError."""
    digits = part.replace("_", "")
    try:
        number = parse_size(digits) if digits.isascii() else 0
    except (ValueError, OverflowError):
        number = 0
    if number < 1:
        raise UsageError(f"--sweep {text!r}: {part!r} is no whole number from 1", hint=_HINT)
    return number


def swept_table(sample: Sample | None) -> SampleTable:
    """What a sweep measures where the user names nothing. ``sample``: the built-in sample that it
    is over; None: it is over a file."""
    if sample is None or sample.mode == "file":
        return _OF_FILES
    return sample.table if sample.table.sweep else _OF_OBJECTS
