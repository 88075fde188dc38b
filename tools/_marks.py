"""Generated parts of a page that is otherwise written by hand: what is between two marks."""

from __future__ import annotations

import re


def between(text: str, name: str, made: str) -> str:
    """``text`` with what is between the marks of ``name`` replaced by ``made``."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not marks.search(text):
        raise SystemExit(f"the page has lost its marks <!-- {name} -->")
    return marks.sub(lambda found: found[1] + made + found[2], text)
