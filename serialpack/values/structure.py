"""How the records of a source make up the document that it is."""

from __future__ import annotations

from enum import StrEnum


class Structure(StrEnum):
    """How a source's records make it up. The letters stand in containers."""

    #: One record, which is the document.
    DOCUMENT = "d"
    #: The elements of the one array that is the document.
    ARRAY = "a"
    #: Maps of one member each: the members of the one map that is the document.
    MAP = "m"
    #: Records one after another, with nothing around them.
    SEQUENCE = "n"
