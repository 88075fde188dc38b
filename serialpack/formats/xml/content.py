"""What is in an element, one after another: as a map where that has its order, else a list."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Any

#: The key for the text of an element, beside other elements.
TEXT = "#text"

#: The key of what is in an element whose text and elements alternate.
CONTENT_KEY = "#content"

#: What text between elements may be made of that means nothing there.
SPACES = " \t\r\n"


def is_space(name: str, part: Any) -> bool:
    return name == TEXT and not part.strip(SPACES)


def grouped(content: list[tuple[str, Any]]) -> dict[str, Any] | None:
    """``content`` as a map, in which what has one name stands together; None where that changes the
    order."""
    found: dict[str, Any] = {}
    for name, items in groupby(content, itemgetter(0)):
        parts = [part for _, part in items]
        if name in found or (name == TEXT and len(parts) > 1):
            return None
        found[name] = parts if len(parts) > 1 else parts[0]
    return found


def loses_space(element: dict[str, Any]) -> bool:
    """Whether the text of ``element`` is white space beside elements, which is read as none."""
    beside = (key[:1] != "@" or type(part) in (dict, list) for key, part in element.items())
    return is_space(TEXT, element.get(TEXT) or "x") and sum(beside) > 1


def as_read(element: dict[str, Any], *, keeps_space: bool) -> dict[str, Any] | None:
    """The map that is read of what is written of ``element``, which has ``#content``; None where
    that has white space which is read as none, unless the element ``keeps_space``."""
    content, value = list[tuple[str, Any]](), dict[str, Any]()
    for key, part in element.items():
        if key[:1] == "@" and type(part) not in (dict, list):
            value[key] = part
        elif key == CONTENT_KEY:
            content += [(TEXT, p) if type(p) is str else next(iter(p.items())) for p in part]
        else:
            content += [(key, each) for each in (part if type(part) is list else [part])]
    runs = [(name, [part for _, part in some]) for name, some in groupby(content, itemgetter(0))]
    content = [
        (name, part)
        for name, parts in runs
        for part in (["".join(parts)] if name == TEXT else parts)
        if name != TEXT or part
    ]
    if len(content) == 1 and content[0][0] == TEXT:
        return {**value, TEXT: content[0][1]}
    kept = [item for item in content if keeps_space or not is_space(*item)]
    found = grouped(kept)
    if len(kept) < len(content) and (found is not None or all(name != TEXT for name, _ in kept)):
        return None
    if found is not None:
        return {**value, **found}
    return {**value, CONTENT_KEY: [p if name == TEXT else {name: p} for name, p in content]}
