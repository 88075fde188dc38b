"""The formats by name, by number and by extension."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import cast

from serialpack.errors import UsageError
from serialpack.formats.base import Format, Style
from serialpack.formats.declaration import Declaration, Variants


class FormatRegistry:
    """The formats by name, by number and by extension; a module is imported when it is used."""

    def __init__(self, *declarations: Declaration) -> None:
        self._by_name = {d.name: d for d in declarations}
        self._by_number = {d.number: d for d in declarations}
        self._by_extension = {x: d for d in declarations for x in d.extensions}
        if not len(declarations) == len(self._by_name) == len(self._by_number):
            raise ValueError("two formats share a name or a number")

    def __iter__(self) -> Iterator[Declaration]:
        return iter(self._by_name.values())

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def names(self) -> list[str]:
        return list(self._by_name)

    def declaration(self, name: str) -> Declaration:
        """That of ``name``, or UsageError with the nearest names."""
        if name not in self._by_name and (found := self._variant(name)) is not None:
            return found
        if name not in self._by_name:
            import difflib

            near = difflib.get_close_matches(name, self._by_name, n=3) or self.names()
            raise UsageError(f"unknown format {name!r}", hint="known: " + ", ".join(near))
        return self._by_name[name]

    def sources(self) -> list[Declaration]:
        """The formats that a file can be in."""
        return [d for d in self if d.is_source]

    def source(self, name: str) -> Declaration:
        """As ``declaration``, for what a file is said to be."""
        found = self.declaration(name)
        if not found.is_source:
            raise UsageError(f"no file is in the format {name}", hint="serialpack.dump makes them")
        return found

    def _variant(self, name: str) -> Declaration | None:
        bases = [
            d for d in self if d.variants and d.name.partition(":")[0] == name.partition(":")[0]
        ]
        return next((found for d in bases if (found := _variants(d).named(name, d))), None)

    def by_number(self, number: int, style: Style | None = None) -> Declaration | None:
        """The format that a container says its source is in, by number and style.

        None where it is not known; ValueError where the style is none.
        """
        found = self._by_number.get(number)
        return _variants(found).stored(style or {}, found) if found and found.variants else found

    def by_extension(self, name: str) -> Declaration | None:
        """The format that a file's name ends in (``data.json``), if any does."""
        dot = name.rfind(".")
        return self._by_extension.get(name[dot:].lower()) if dot >= 0 else None

    def by_magic(self, head: bytes) -> Declaration | None:
        """The format that a file which begins so is in, if its first bytes tell."""
        return next((d for d in self if d.magic and head.startswith(d.magic)), None)

    def get(self, name: str) -> Format:
        """The format itself. It keeps no state, so one serves all threads."""
        return _instance(self.declaration(name))


@cache
def _variants(declaration: Declaration) -> Variants:
    module, _, attribute = declaration.variants.partition(":")
    return cast(Variants, getattr(importlib.import_module(module), attribute)())


@cache
def _instance(declaration: Declaration) -> Format:
    module, _, attribute = declaration.where.partition(":")
    made = getattr(importlib.import_module(module), attribute)(declaration)
    return cast(Format, made)
