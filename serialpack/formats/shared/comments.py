"""Finds the comments of YAML, TOML and XML, which no value holds: a conversion says it drops them.

Each function takes text that is valid in its format, whole documents of it; of other text what it
finds means nothing. XML's processing instructions count as comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from serialpack.formats.base import SourceBlock
from serialpack.values.kinds import COMMENTS, Loss, Spelled, shown

#: Where a comment begins, and its text.
Found = tuple[int, str]

# What ends a line in YAML 1.1.
_HASH = re.compile("#[^\r\n\x85\u2028\u2029]*")
#: The first line of a block scalar, up to where a comment may stand.
_HEADER = re.compile(r"[|>][-+0-9]*[ \t]+")

#: Outside of its texts and comments, TOML has no quotes and no hashes. A text of several lines
#: may end in one quote or two more than the three that close it. What is not closed goes on to
#: the end: no TOML, and looked through once.
_TOML = re.compile(
    r"""
    "{3}(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5})?+
    |'{3}(?:[^']|'(?!''))*+(?:'{3,5})?+
    |"(?:[^"\\\n]|\\.)*+"?+
    |'[^'\n]*+'?+
    |(\#[^\r\n]*+)
    """,
    re.VERBOSE | re.DOTALL,
)

#: In XML that is well-formed, these begin nothing else, and hold nothing of each other; and they
#: end.
_XML = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|(<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z))", re.DOTALL)
_DECLARATION = re.compile(r"\ufeff?<\?xml\s[^>]*\?>")


def comments(
    block: SourceBlock, marks: tuple[bytes, ...], find: Callable[[str], Iterator[Found]]
) -> Loss | None:
    """The comments that ``find`` finds in a block; ``marks``: without all of them, it has none."""
    data = bytes(block.data)
    if not any(mark in data for mark in marks):
        return None
    text = data.decode("utf-8", "replace")
    found = find(text)
    first = next(found, None)
    if first is None:
        return None
    line = max(block.line, 0) + text.count("\n", 0, first[0]) + 1
    was = shown(Spelled(" ".join(first[1].split())))
    count = 1 + sum(1 for _ in found)
    return Loss(COMMENTS, count, block.first_record, f"line {line}", was, "")


def in_yaml(text: str) -> Iterator[Found]:
    """The comments of YAML: what begins with a hash between two tokens, or in the first line of a
    block scalar."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = text.removeprefix("\ufeff")
    #: The next hash, which is behind all tokens so far.
    at = text.find("#")
    try:
        following = loader(text).get_token
        while at >= 0 and (token := following()) is not None:
            start, end = token.start_mark.index, token.end_mark.index
            if at < start:
                yield from _hashes(text, at, start)
                at = text.find("#", start)
            if start <= at < end:
                if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
                    header = _HEADER.match(text, start)
                    if header and (found := _HASH.match(text, header.end())):
                        yield found.start(), found[0]
                at = text.find("#", end)
    except (yaml.YAMLError, ValueError, OverflowError):  # which reading it says better
        return
    if at >= 0:
        yield from _hashes(text, at, len(text))


def _hashes(text: str, start: int, end: int) -> Iterator[Found]:
    return ((found.start(), found[0]) for found in _HASH.finditer(text, start, end))


def in_toml(text: str) -> Iterator[Found]:
    return ((found.start(), found[0]) for found in _TOML.finditer(text) if found[1])


def blanked(text: str) -> str:
    """A TOML text with blanks for all quoted texts and comments."""
    return _TOML.sub(lambda found: " " * len(found[0]), text)


def in_xml(text: str) -> Iterator[Found]:
    head = _DECLARATION.match(text)
    found = _XML.finditer(text, head.end() if head else 0)
    return ((match.start(), match[0]) for match in found if match[1])
