"""URLs of pydantic's core, which C code keeps, as an extension of MessagePack, and back; and the
classes of that core."""

from __future__ import annotations

from typing import Any

from serialpack.errors import UnsupportedError
from serialpack.imported import imported

OF_PYDANTIC = 53

#: The classes: URLs of one host, and of several.
_URLS = ("Url", "MultiHostUrl")


def parts_of_url(value: Any) -> tuple[int, list[Any]] | None:
    """The extension of a URL: the name of its class, and its text; None for all else."""
    core, name = imported("pydantic_core"), type(value).__name__
    if core is None or name not in _URLS or type(value) is not getattr(core, name, None):
        return None
    return OF_PYDANTIC, [name, str(value)]


def url_of(name: str, text: str) -> Any:
    """The URL that the parts are of; ValueError for others."""
    if name not in _URLS or type(text) is not str:
        raise ValueError(f"pydantic has no URLs of {name}")
    return class_of_core(name)(text)


def class_of_core(name: str) -> Any:
    """The class of pydantic's core of that name; UnsupportedError where it is not imported, for a
    reader imports nothing."""
    core = imported("pydantic_core")
    if core is None:
        raise UnsupportedError(
            f"needs the class pydantic_core.{name}, which is not here", hint="import pydantic first"
        )
    return getattr(core, name)
