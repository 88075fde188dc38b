"""Lines of ``--json``, of which lists may be long."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Later:
    """A list in a line, whose items are made as they are written, and not kept. ``items`` is called
    for them once."""

    def __init__(self, items: Callable[[], Iterable[Any]]) -> None:
        self.items = items


def pieces_of(line: dict[str, Any]) -> Iterator[str]:
    """``line`` as JSON, without an end of line, in pieces."""
    lists: list[Later] = []
    mark = os.urandom(16).hex()  # no text in the line can have it

    def put_off(value: Any) -> str:
        if not isinstance(value, Later):
            raise TypeError(f"JSON has no {type(value).__name__}")
        lists.append(value)
        return mark

    front, *behind = json.dumps(line, default=put_off).split(f'"{mark}"')
    yield front
    for each, rest in zip(lists, behind, strict=True):
        between = "["
        for item in each.items():
            yield between + json.dumps(item)
            between = ", "
        yield "[]" if between == "[" else "]"
        yield rest
