"""A value of YAML under a tag that has no type of Python's: ``!Ref x``, ``!include a.yaml``."""

from __future__ import annotations

from typing import Any

#: How YAML's own tags begin, in full; in short they are written ``!!``.
PREFIX = "tag:yaml.org,2002:"


class YamlTag:
    """``tag``: as it is in full, or as ``!Ref``; ``value``: what it stands before, text, a list or
    a map."""

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
    """The tag that ``short_tag`` writes as ``text``; ValueError."""
    if text.startswith("!<") and text.endswith(">"):
        return text[2:-1]
    if text.startswith("!!"):
        return PREFIX + text[2:]
    if text.startswith("!"):
        return text
    raise ValueError("no tag of YAML's")


def as_map(value: Any) -> Any:
    """A YamlTag as a map whose one key is its tag; any other value as it is."""
    return {short_tag(value.tag): value.value} if type(value) is YamlTag else value


def of_map(made: dict[str, Any]) -> YamlTag:
    """The YamlTag that ``as_map`` made ``made`` of; ValueError where it made none so."""
    ((tag, value),) = made.items()
    return YamlTag(full_tag(tag), value)
