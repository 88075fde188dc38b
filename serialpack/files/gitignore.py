"""Whether ``.gitignore`` files ignore a path, by git's own rules (gitignore(5)), which are over
bytes.

A path is only checked by itself, not by the folders that it is in: the caller never enters a folder
that is ignored.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": string.digits,
    "graph": "".join(map(chr, range(33, 127))),
    "lower": string.ascii_lowercase,
    "print": "".join(map(chr, range(32, 127))),
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}

_TOKEN = re.compile(
    rb"(?P<folders>(?:(?<=/)|^)\*\*+(?:/|$))|(?P<any>\*+)|(?P<one>\?)|(?P<end>\\$)"
    rb"|\[(?P<not>[!^]?)(?P<of>\]?(?>(?:\\.|\[:[^]]*:\]|[^\]\\])*))\]|(?P<open>\[)"
    rb"|\\?(?P<as_it_is>.)",
    re.DOTALL,
)
_MEMBER = re.compile(rb"\[:(?P<name>[^]]*):\]|\\?(?P<first>.)(?:-\\?(?P<last>.))?", re.DOTALL)


class _Rule(NamedTuple):
    """A line of a ``.gitignore`` file. ``means(path)``: whether it matches; ``of_names``: it is
    matched with base names, not with paths; ``taken``: it begins with ``!``, and takes back what an
    earlier line ignores; ``folders``: it matches folders only."""

    means: Callable[[bytes], object]
    of_names: bool
    taken: bool
    folders: bool


class GitIgnore:
    """Tells what is ignored below ``folder``: by the ``.gitignore`` files in it, in folders below
    it, and in those above it up to the root of its repository; ``.git`` itself always is."""

    def __init__(self, folder: str) -> None:
        self._root = os.fsencode(os.path.realpath(folder))
        #: By folder, the last line first.
        self._rules: dict[bytes, list[_Rule]] = {}
        #: The folders above the one that is walked, of the same repository.
        self._above: list[bytes] = []
        above = self._root
        found: list[bytes] = []
        while not os.path.lexists(os.path.join(above, b".git")):
            above, before = os.path.dirname(above), above
            if above == before:
                found = []
                break
            found.append(above)
        self._above = found

    def __call__(self, path: str, is_folder: bool) -> bool:
        """Whether ``path``, given from the folder on, is ignored."""
        absolute = os.path.join(self._root, os.fsencode(path))
        folder, name = os.path.split(absolute)
        if name == b".git":
            return True
        folders = [folder]
        while folders[-1] != self._root:
            folders.append(os.path.dirname(folders[-1]))
        for folder in (*folders, *self._above):  # the nearest that says anything
            below = absolute[len(folder.rstrip(b"/")) + 1 :]
            for rule in self._of(folder):
                if (is_folder or not rule.folders) and rule.means(name if rule.of_names else below):
                    return not rule.taken
        return False

    def _of(self, folder: bytes) -> list[_Rule]:
        if folder not in self._rules:
            self._rules[folder] = []
            with suppress(OSError):
                # Git does not follow a link here either.
                flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
                with open(os.open(os.path.join(folder, b".gitignore"), flags), "rb") as file:
                    self._rules[folder] = _rules(file.read())
        return self._rules[folder]


def _rules(text: bytes) -> list[_Rule]:
    """The rules of a file's ``text``, the last line first."""
    rules = []
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        glob = line.removesuffix(b"\r")
        if glob.startswith(b"#"):
            continue
        if (plain := re.fullmatch(rb"((?:[^\\]|\\.)*?) *", glob, re.DOTALL)) is not None:
            glob = plain[1]
        taken, glob = glob.startswith(b"!"), glob.removeprefix(b"!")
        folders, glob = glob.endswith(b"/"), glob.removesuffix(b"/")
        if glob and (means := _means(glob.removeprefix(b"/"))) is not None:
            rules.append(_Rule(means, b"/" not in glob, taken, folders))
    return rules[::-1]


def _means(glob: bytes) -> Callable[[bytes], object] | None:
    """What tells whether ``glob`` means a path; None where it means none at all."""
    parts: list[bytes] = []
    for token in _TOKEN.finditer(glob):
        if token["folders"]:
            parts.append(b"(?:.*/)?" if token[0].endswith(b"/") else b".*")
        elif token["any"]:
            parts.append(b"[^/]*")
        elif token["one"]:
            parts.append(b"[^/]")
        elif token["of"] is not None:
            members = _members(token["of"])
            if members is None:
                return None
            meant = (set(range(256)) - members if token["not"] else members) - {ord("/")}
            parts.append(b"[%s]" % b"".join(b"\\x%02x" % each for each in sorted(meant)))
            if not meant:
                return None
        elif token["as_it_is"] is not None:
            parts.append(re.escape(token["as_it_is"]))
        else:  # a class that is not closed, or a backslash before nothing
            return None
    return re.compile(b"".join(parts), re.DOTALL).fullmatch


def _members(text: bytes) -> set[int] | None:
    """The characters of a class; None where it names one that there is not."""
    members: set[int] = set()
    for token in _MEMBER.finditer(text):
        if token["name"] is not None:
            known = _CLASSES.get(token["name"].decode("ascii", "replace"))
            if known is None:
                return None
            members.update(known.encode())
        else:
            first = token["first"][0]
            # The first one also where the range, from there to the last, is none: [z-a].
            members.update((first, *range(first, (token["last"] or token["first"])[0] + 1)))
    return members
