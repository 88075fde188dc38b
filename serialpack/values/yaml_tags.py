"""A value of YAML under a tag that has no type of Python's: ``!Ref x``, ``!include a.yaml``."""

from __future__ import annotations

from typing import Any

#: What the tags of YAML itself begin with, which are written ``!!``.
PREFIX = "tag:yaml.org,2002:"


class YamlTag:
    """``value``: text, a list or a map, as it stands; ``tag``: in full, or as ``!Ref``."""

    __slots__ = ("tag", "value")

    def __init__(self, tag: str, value: Any) -> None:
        self.tag = tag
        self.value = value

    def __repr__(self) -> str:
        return f"{short_tag(self.tag)} {self.value!r}"


def short_tag(tag: str) -> str:
    """A tag as it is written: ``!Ref``, ``!!omap``, ``!<tag:example.com,2000:x>``."""
    if tag.startswith("!"):
        return tag
    return f"!!{tag.removeprefix(PREFIX)}" if tag.startswith(PREFIX) else f"!<{tag}>"


def full_tag(text: str) -> str:
    """The tag that ``short_tag`` wrote so; ValueError."""
    if text.startswith("!<") and text.endswith(">"):
        return text[2:-1]
    if text.startswith("!!"):
        return PREFIX + text[2:]
    if text.startswith("!"):
        return text
    raise ValueError("no tag of YAML's")


def as_map(value: Any) -> Any:
    """A map of one key, its tag; what is no ``YamlTag`` stays."""
    return {short_tag(value.tag): value.value} if type(value) is YamlTag else value


def of_map(made: dict[str, Any]) -> YamlTag:
    """What ``as_map`` made so; ValueError."""
    ((tag, value),) = made.items()
    return YamlTag(full_tag(tag), value)
