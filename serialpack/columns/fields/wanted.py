"""What is wanted of records, as a tree of keys; and the errors where it cannot be told."""

from __future__ import annotations

import json
from collections.abc import Sequence

#: The keys on the way to a field.
Field = tuple[str, ...]


class UntoldError(ValueError):
    """The fields of a text cannot be told from its structure: it is not valid, or not what its
    caller takes it for.

    ``record``: how many records of the block stand before the place where that shows; None where it
    shows in no single place. ``reason``: why, in words.
    """

    def __init__(self, record: int | None, reason: str = "it is not valid JSON") -> None:
        place = "the block" if record is None else f"record {record} of the block"
        super().__init__(f"{place}: {reason}")
        self.record = record
        self.reason = reason


class NotMapsError(UntoldError):
    """A record of the block is no map. ``record``: its number in the block, from 0."""

    def __init__(self, record: int) -> None:
        super().__init__(record, "it is no map")


class Wanted:
    """What is wanted of a value. ``field``: the keys on the way to it; ``whole``: all of it is
    wanted; ``inner``: else, what is wanted of each of its members."""

    def __init__(self, field: Field = ()) -> None:
        self.field = field
        self.whole = False
        self.inner: dict[str, Wanted] = {}

    def names(self) -> set[str]:
        """All keys below it, at any depth."""
        found: set[str] = set()
        todo = [self]
        while todo:
            inner = todo.pop().inner
            found.update(inner)
            todo += inner.values()
        return found


def wanted(fields: Sequence[Field]) -> Wanted:
    """The tree of all ``fields``. ValueError where one has no keys."""
    root = Wanted()
    for field in fields:
        if not field:
            raise ValueError("a field without a name")
        at = root
        for number, key in enumerate(field, 1):
            at = at.inner.setdefault(key, Wanted(field[:number]))
        at.whole = True
    return root


#: All of a value is wanted; or as long as a data key was not looked at, all of its value may be.
ALL, MAYBE = EVERYTHING = Wanted(), Wanted()


def unescaped(key: bytes) -> str:
    """A key as text, with its escapes resolved; where one is not valid, all stay."""
    text = key.decode("utf-8", "surrogateescape")
    if "\\" in text:
        try:
            return str(json.loads(f'"{text}"', strict=False))
        except ValueError:
            pass
    return text
