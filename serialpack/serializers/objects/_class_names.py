"""Classes by their names, and names by their classes: nothing is imported."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from serialpack.errors import UnsupportedError
from serialpack.text import in_message

#: What gives the names in a module, and in a class, without asking either: a module may be imported
#: only when somebody asks it for something, and an object may stand for another one, as the request
#: of a web server does.
_IN_MODULE, _IN_CLASS = (vars(kind)["__dict__"] for kind in (ModuleType, type))


def _names_in(found: Any) -> Any:
    if issubclass(type(found), ModuleType):
        return _IN_MODULE.__get__(found)
    return _IN_CLASS.__get__(found) if issubclass(type(found), type) else {}


def names_of_class(cls: type) -> tuple[str, str]:
    """Module and qualified name of ``cls``; TypeError where these do not lead back to it."""
    if _class_at(cls.__module__, cls.__qualname__) is not cls:
        raise TypeError(f"the class of {cls.__name__} is not found by its name")
    return cls.__module__, cls.__qualname__


def _class_at(module: str, name: str) -> Any:
    """The class of that name in an imported module; None where there is none. ``Page[int]``, which
    stands in none, is looked for among the classes derived from ``Page``."""
    found: Any = sys.modules.get(module)
    plain = name.partition("[")[0]
    for part in plain.split("."):
        found = _names_in(found).get(part)
    if not issubclass(type(found), type):
        return None
    if plain == name:
        return found
    derived: list[type] = type.__subclasses__(found)
    filled = [each for each in derived if each.__qualname__ == name]
    return filled[0] if len(filled) == 1 else None


def class_named(module: str, name: str) -> type:
    """The class of that name in an imported module; UnsupportedError where there is none."""
    found: type | None = _class_at(module, name)
    if found is None:
        there = module in sys.modules
        hint = "has it been renamed?" if there else f"import {in_message(module)} first"
        what = in_message(f"{module}.{name}")
        raise UnsupportedError(f"needs the class {what}, which is not here", hint=hint)
    return found
