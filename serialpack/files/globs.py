"""Globs over paths with ``/`` between their parts, as ripgrep and .gitignore read them.

A glob without a ``/``, other than at its end, is held against the name, in whatever folder; one
with a ``/`` against the whole path, from which ``./`` may be where it begins. ``*`` and ``?`` stand
for anything but ``/``, ``[a-z]`` and ``[!a-z]`` for one character, ``{a,b}`` for either, ``**`` as
a part of the path for any number of folders; ``\\`` takes a character as it stands. A ``/`` at the
end: folders only. Who asks for a folder means all in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from serialpack.errors import UsageError
from serialpack.text import named_here, quoted

#: Whether a path, of a folder or not, is meant by one of several globs.
Matches = Callable[[str, bool], bool]

_TOKEN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\\.|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)
_WORDS = {
    "/**/": "/(?:.*/)?",
    "**/": "(?:.*/)?",
    "/**": "/.*",
    "*": "[^/]*",
    "?": "[^/]",
    "{": "(?:",
    "}": ")",
}


def matches_any(globs: Sequence[str]) -> Matches:
    """What tells whether a path is meant by one of ``globs``; UsageError for one that is none."""
    of_all = _compiled([glob for glob in globs if not glob.endswith("/")])
    of_folders = _compiled([glob[:-1] for glob in globs if glob.endswith("/")])

    def matches(path: str, is_folder: bool) -> bool:
        if of_all is not None and of_all(path) is not None:
            return True
        return is_folder and of_folders is not None and of_folders(path) is not None

    return matches


def chosen_by(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool] | None:
    """Whether a path is taken: ``include`` means it, or a folder that it is in, or there are none,
    and ``exclude`` does not. None: all are."""
    if not (include or exclude):
        return None
    takes = matches_any(tuple(include)) if include else None
    leaves = matches_any(tuple(exclude)) if exclude else None

    def wanted(path: str) -> bool:
        parts = named_here(path).split("/")
        above = [("/".join(parts[:n]), n < len(parts)) for n in range(1, len(parts) + 1)]
        if leaves is not None and any(leaves(each, folder) for each, folder in above):
            return False
        return takes is None or any(takes(each, folder) for each, folder in above)

    return wanted


def _compiled(globs: Sequence[str]) -> Callable[[str], object] | None:
    if not globs:
        return None
    return re.compile("|".join(map(_expression, globs)), re.DOTALL).fullmatch


def _expression(glob: str) -> str:
    """The regular expression of the paths that ``glob`` means."""
    anywhere = "/" not in glob
    parts: list[str] = []
    depth = 0
    for token in _TOKEN.findall(glob.removeprefix("./").removeprefix("/")):
        if token == "," and depth:
            parts.append("|")
            continue
        depth += (token == "{") - (token == "}")
        if depth < 0:
            break
        if token in _WORDS:
            parts.append(_WORDS[token])
        elif len(token) > 1 and token[0] == "[":
            is_not = token[1] in "!^"
            parts.append(f"(?!/)[{'^' * is_not}{_escaped(token[1 + is_not : -1])}]")
        else:
            parts.append(re.escape(token[-1] if len(token) == 2 else token))
    text = ("(?:.*/)?" if anywhere else "") + "".join(parts)
    try:
        if depth or not glob.strip("/"):
            raise re.error("a brace is not closed" if depth > 0 else "nothing that it means")
        re.compile(text)
    except re.error as error:
        raise UsageError(
            f"{glob!r} is no glob: {error.msg}", hint="\\ takes a character as it is"
        ) from None
    return f"(?:{text})"


def _escaped(members: str) -> str:
    """The members of a class, which a regular expression gives other meanings."""
    return re.sub(r"([\\\[\]^&~|])", r"\\\1", members)


def glob_of(path: str) -> str:
    """The glob that means ``path`` alone."""
    # One without a slash means a name in any folder.
    return "/" * ("/" not in path) + re.sub(r"[\\*?\[\]{}]", r"\\\g<0>", path)


def include(path: str) -> str:
    """The option that takes ``path`` alone, as it is typed."""
    return f"--include {quoted(glob_of(path))}"


def exclude(path: str) -> str:
    """The option that leaves ``path`` out, as it is typed."""
    return f"--exclude {quoted(glob_of(path))}"
