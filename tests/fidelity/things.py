"""Classes for the table of values. They are in a module of their own, so that pickle finds them."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum, IntFlag
from typing import Any


@dataclass
class Point:
    x: int
    y: float
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Frozen:
    name: str


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Rights(Flag):
    READ = 1
    WRITE = 2


class Bits(IntFlag):
    LOW = 1


Pair = namedtuple("Pair", ["first", "second"])


class Plain:
    """An object with attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Slotted:
    __slots__ = ("__private", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.__private = value


class Text(str):
    """Text of a class of its own."""


class Number(int):
    """An integer of a class of its own."""


class Keyed(dict[Any, Any]):
    """A map of a class of its own."""


class Forgetful:
    """An object whose pickled form leaves an attribute out."""

    def __init__(self) -> None:
        self.kept = 1
        self.lost = 2

    def __getstate__(self) -> dict[str, int]:
        return {"kept": self.kept}


def function() -> None:
    """A function."""
