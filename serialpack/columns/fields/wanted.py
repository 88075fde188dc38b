"""What is wanted of records: some fields, each a path of keys."""

from __future__ import annotations

import json
from collections.abc import Sequence

#: The keys on the way to a field.
Field = tuple[str, ...]


class UntoldError(ValueError):
    """A text of which the fields cannot be told from its structure: it is no valid JSON, or not
    what its caller takes it for. ``record``: so many of the block's records stand before the
    place where that shows; None where it shows in no one place.
    """

    def __init__(self, record: int | None, reason: str = "it is not valid JSON") -> None:
        place = "the block" if record is None else f"record {record} of the block"
        super().__init__(f"{place}: {reason}")
        self.record = record
        self.reason = reason


class NotMapsError(UntoldError):
    """The block's record of this number, from 0, is no map."""

    def __init__(self, record: int) -> None:
        super().__init__(record, "it is no map")


class Wanted:
    """What is wanted of a map, of each key. ``whole``: all that is at ``field``, the way to it."""

    def __init__(self, field: Field = ()) -> None:
        self.field = field
        self.whole = False
        self.inner: dict[str, Wanted] = {}

    def names(self) -> set[str]:
        """All keys, of the maps inside too."""
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


#: All that is inside, wherever that is; and all that may turn out to be wanted.
ALL, MAYBE = EVERYTHING = Wanted(), Wanted()


def unescaped(key: bytes) -> str:
    """A key as text, without escapes; those that are none stay."""
    text = key.decode("utf-8", "surrogateescape")
    if "\\" in text:
        try:
            return str(json.loads(f'"{text}"', strict=False))
        except ValueError:
            pass
    return text
