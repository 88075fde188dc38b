"""What is wanted of records: some fields, each a path of keys."""

from __future__ import annotations

import json
from collections.abc import Sequence

#: The keys on the way to a field.
Field = tuple[str, ...]


class UntoldError(ValueError):
    """The fields of a text cannot be told from its structure: it is not valid JSON, or not what its
    caller takes it for. ``record``: how many records of the block stand before the place where that
    shows; None where it shows in no one place.
    """

    def __init__(self, record: int | None, reason: str = "it is not valid JSON") -> None:
        place = "the block" if record is None else f"record {record} of the block"
        super().__init__(f"{place}: {reason}")
        self.record = record
        self.reason = reason


class NotMapsError(UntoldError):
    """A record of the block is no map; ``record``: its number, from 0."""

    def __init__(self, record: int) -> None:
        super().__init__(record, "it is no map")


class Wanted:
    """What is wanted of a map, for each key. ``field``: the way to it; ``whole``: all of it is."""

    def __init__(self, field: Field = ()) -> None:
        self.field = field
        self.whole = False
        self.inner: dict[str, Wanted] = {}

    def names(self) -> set[str]:
        """All keys, also those of the maps inside."""
        found: set[str] = set()
        todo = [self]
        while todo:
            inner = todo.pop().inner
            found.update(inner)
            todo += inner.values()
        return found


def wanted(fields: Sequence[Field]) -> Wanted:
    """``fields`` as a tree. ValueError where one is empty."""
    root = Wanted()
    for field in fields:
        if not field:
            raise ValueError("a field without a name")
        at = root
        for number, key in enumerate(field, 1):
            at = at.inner.setdefault(key, Wanted(field[:number]))
        at.whole = True
    return root


#: Everything is wanted; and everything, but it may turn out that less is.
ALL, MAYBE = EVERYTHING = Wanted(), Wanted()


def unescaped(key: bytes) -> str:
    """A key as text without its escapes; what is no valid escape stays."""
    text = key.decode("utf-8", "surrogateescape")
    if "\\" in text:
        try:
            return str(json.loads(f'"{text}"', strict=False))
        except ValueError:
            pass
    return text
