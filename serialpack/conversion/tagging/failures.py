"""The errors of tagging, and the places of values in records that they tell.

``Untaggable`` is for a value without a tag, ``TagsTooDeep`` for values nested too deeply once they
are tagged, ``BadTag`` for what looks like a tag and is none. Each says at which path of which
record that is.
"""

from __future__ import annotations

from typing import Any

from serialpack.formats.base import Difference
from serialpack.values.kinds import value_step

#: Where a value stands: the place it is inside of, the step from there (the number of an element,
#: the key of a member of a JSON object, or the key of any other map in a tuple of one), the
#: container, and how many arrays and objects of JSON are around what is in it.
Place = tuple[Any, Any, Any, int]


class TagFailure(Exception):
    """A value that cannot be tagged, or a tag that cannot be read.

    ``difference`` says which value it is: ``record`` counts from 0 in the records given.
    """

    def __init__(self, difference: Difference, reason: str) -> None:
        super().__init__(difference, reason)
        self.difference = difference
        self.reason = reason

    def __str__(self) -> str:
        lost = self.difference
        return f"record {lost.record}, {lost.value_path}: {lost.was} {self.reason}"


class Untaggable(TagFailure, TypeError):
    """A value that no tag is for: an object of a class, a function, a value that holds itself."""


class TagsTooDeep(TagFailure, ValueError):
    """Values whose tagged form is nested more deeply than the readers of JSON take."""


class BadTag(TagFailure, ValueError):
    """What looks like a tag, and is none. The path is that in the text: ``$.at["$date"]``."""


def difference_at(place: Place | None, step: Any, was: str, kind: str) -> Difference:
    """``was``, at ``step`` from ``place``."""
    steps = [step]
    while place is not None:
        steps.append(place[1])
        place = place[0]
    record = steps.pop()
    path = "".join(
        f"[{s}]" if type(s) is int else value_step(s if type(s) is str else s[0])
        for s in reversed(steps)
    )
    return Difference(record, f"${path}", was, "", kind)
