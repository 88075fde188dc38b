"""The formats by name, by number and by extension."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from serialpack.errors import UsageError
from serialpack.formats.base import Format, Style
from serialpack.formats.declaration import Declaration, Variants
from serialpack.formats.shared.tidier import Tidier


class FormatRegistry:
    """The formats by name, by number and by extension; a module is imported when it is used."""

    def __init__(self, *declarations: Declaration) -> None:
        self._by_name = {d.name: d for d in declarations}
        self._by_number = {d.number: d for d in declarations}
        self._by_extension = {x: d for d in declarations for x in d.extensions}
        #: Offset in a file -> all magics that may stand there.
        self._magics: dict[int, tuple[bytes, ...]] = {}
        for d in declarations:
            for at in d.magic_at if d.magic else ():
                self._magics[at] = (*self._magics.get(at, ()), *d.magic)
        #: The formats themselves, by the names that they were asked for by.
        self._made: dict[str, Format] = {}
        if not len(declarations) == len(self._by_name) == len(self._by_number):
            raise ValueError("two formats share a name or a number")

    def __iter__(self) -> Iterator[Declaration]:
        return iter(self._by_name.values())

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def names(self) -> list[str]:
        return list(self._by_name)

    def declaration(self, name: str) -> Declaration:
        """The declaration of ``name``; UsageError where there is none, with names that may be
        meant."""
        if name not in self._by_name and (found := self._variant(name)) is not None:
            return found
        if name not in self._by_name:
            raise self._unknown(name)
        return self._by_name[name]

    def spelled(self, said: str, *, to: bool = False) -> str:
        """The name of the format that people call by its name or by an extension of its files.

        ``jsonl``, ``.yml``, ``JSON``; UsageError as of ``declaration``, TypeError for no text.
        ``to``: it is to be written.
        """
        if not isinstance(said, str):
            raise TypeError(f"a format must be text such as 'json', not {type(said).__name__}")
        name = said.strip().lower().removeprefix(".")
        found = None if name in self._by_name else self._by_extension.get(f".{name}")
        if found is not None:
            return found.name
        try:
            return self.declaration(name).name
        except UsageError as error:
            from serialpack.formats.foreign import known_name

            if to and (known := known_name(name)) is not None and known.not_written:
                raise UsageError(f"{name} is not written", hint=known.not_written) from error
            raise

    def _unknown(self, name: str) -> UsageError:
        import difflib

        from serialpack.formats.foreign import known_name

        if (known := known_name(name)) is not None:
            return UsageError(f"{name} is {known.cannot}", hint=known.instead)
        words = [*self._by_name, *(x.removeprefix(".") for x in self._by_extension)]
        near = list(dict.fromkeys(difflib.get_close_matches(name, words, n=3)))
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        return UsageError(
            f"unknown format {name!r}", hint=f"{meant}serialpack unpack --help lists all"
        )

    def sources(self) -> list[Declaration]:
        """The formats that a file can be in."""
        return [d for d in self if d.is_source]

    def source(self, name: str) -> Declaration:
        """The declaration of what a file is said to be, ``spelled`` as people do."""
        found = self.declaration(self.spelled(name))
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
        for at, magics in self._magics.items():
            if head.startswith(magics, at):
                break
        else:  # as mostly: then no format is asked
            return None
        begun = (
            d for d in self if d.magic and any(head.startswith(d.magic, n) for n in d.magic_at)
        )
        return next((d for d in begun if not d.sign or _imported(d.sign)(head)), None)

    def told(self, declared: Declaration, head: bytes) -> str:
        """The name of the format of a file that begins with ``head``, where its name or magic is
        that of ``declared``."""
        if not declared.told_by:
            return declared.name
        found: str = _imported(declared.told_by)(head, declared.name)
        return found

    def tidier(self, declared: Declaration, head: bytes, *, whole: bool) -> Tidier | None:
        """What is to read a file of the format that begins with ``head`` first; None where it is
        read as it is. ``whole``: ``head`` is all of it."""
        if not declared.tidied_by:
            return None
        return cast("Tidier | None", _imported(declared.tidied_by)(head, whole=whole))

    def dialects(self, name: str) -> dict[str, str]:
        """Delimiter -> the name of the table format that has it: ``name``, or a dialect of that."""
        return {d.delimiter.decode(): d.name for d in self if name in (d.name, d.dialect_of)}

    def get(self, name: str) -> Format:
        """The format itself. It keeps no state, so one serves all threads."""
        declared = self.declaration(name)
        found = self._made.get(name)
        if found is None or found.declared is not declared:
            found = self._made[name] = _instance(declared)
        return found


@cache
def _variants(declaration: Declaration) -> Variants:
    return cast(Variants, _imported(declaration.variants)())


@cache
def _instance(declaration: Declaration) -> Format:
    return cast(Format, _imported(declaration.where)(declaration))


@cache
def _imported(where: str) -> Any:
    """What ``where`` (module:name) names."""
    module, _, attribute = where.partition(":")
    return getattr(importlib.import_module(module), attribute)
