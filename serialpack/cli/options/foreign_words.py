"""Words that other programs have for what a verb does, and the command that does it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise

from serialpack.cli.naming import STDIO, SUFFIX
from serialpack.container.reader import SNIFF, is_container
from serialpack.conversion.targets.writers import is_written, named_format
from serialpack.text import command_line

#: What is shown where no file was named.
_FILE = "FILE"


def _pack(args: Sequence[str]) -> list[str]:
    return ["pack", *(args or [_FILE])]


def _unpack(args: Sequence[str]) -> list[str]:
    if args and _are_not_packed(args):
        from serialpack.cli.options.implied_format import uncompressing

        words = uncompressing(args[0]) if len(args) == 1 else None
        return words or _inspect(args)  # there is nothing to unpack
    return ["unpack", *(args or [_FILE + SUFFIX])]


def _print(args: Sequence[str]) -> list[str]:
    if args and _are_not_packed(args):
        return ["unpack", "--to", "ndjson", *args, "-o", STDIO]
    return ["unpack", *(args or [_FILE + SUFFIX]), "-o", STDIO]


def _test(args: Sequence[str]) -> list[str]:
    if args and _are_not_packed(args):
        return _inspect(args)
    return ["unpack", "--test", *(args or [_FILE + SUFFIX])]


def _inspect(args: Sequence[str]) -> list[str]:
    return ["inspect", *(args or [_FILE])]


def _convert(args: Sequence[str]) -> list[str]:
    """``convert a.csv b.json``, as some programs have it, and ``convert a.csv``."""
    said = {"-t", "--to", "-o", "--output"} & {word.partition("=")[0] for word in args}
    files = _files(args)
    if not said and len(files) == len(args) == 2 and not os.path.exists(files[1]):
        return ["unpack", files[0], "-o", files[1]]
    return ["unpack", *([] if said else ["--to", "json"]), *(args or [_FILE])]


def _named(file: str, args: Sequence[str]) -> list[str]:
    """A file alone, and with a second name that says a format and is not there yet, or options of
    a conversion."""
    if len(args) == 1 and is_target(args[0]):
        return ["unpack", file, "-o", args[0]]
    return ["unpack" if file.endswith(SUFFIX) or converts(args) else "pack", file, *args]


def is_target(name: str) -> bool:
    """Whether ``name`` says a format that is written, and is not there yet."""
    to = None if os.path.lexists(name) else named_format(name)
    return to is not None and is_written(to)


def converts(args: Sequence[str]) -> bool:
    """Whether the options among ``args`` ask for a conversion."""
    words = [part for word in args for part in word.split("=", 1)]
    outputs = [after for word, after in pairwise(words) if word in ("-o", "--output")]
    return not {"-t", "--to"}.isdisjoint(words) or any(map(is_target, outputs))


def _are_not_packed(args: Sequence[str]) -> bool:
    """Whether all files that are named are there, and one of them is no container."""
    files = _files(args)
    return all(map(os.path.isfile, files)) and not all(map(_is_packed, files))


def _is_packed(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return is_container(file.read(SNIFF))
    except OSError:
        return path.endswith(SUFFIX)


def _files(args: Sequence[str]) -> list[str]:
    return [word for word in args if not word.startswith("-")]


_WORDS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    **dict.fromkeys(("convert", "to", "transcode"), _convert),
    **dict.fromkeys(("compress", "encode", "create", "add", "zip"), _pack),
    **dict.fromkeys(("decompress", "uncompress", "extract", "decode", "unzip", "x"), _unpack),
    **dict.fromkeys(("cat", "print", "dump"), _print),
    **dict.fromkeys(("test", "verify", "check"), _test),
    **dict.fromkeys(("list", "ls", "info", "show", "stat", "identify", "file"), _inspect),
    **dict.fromkeys(("schema", "describe", "meta", "fields", "columns", "names"), _inspect),
    "head": lambda args: ["inspect", "--head", "10", *(args or [_FILE])],
    "help": lambda args: [*args[:1], "--help"],
    "version": lambda args: ["--version"],  # noqa: ARG005
    **dict.fromkeys(("benchmark", "compare"), lambda args: ["bench", *(args or [_FILE])]),
}


def meant_by(word: str, args: Sequence[str]) -> str | None:
    """The command that does what ``word`` and the arguments behind it ask for; None: no idea."""
    if word in _WORDS:
        words = _WORDS[word](args)
    elif os.path.isfile(word):
        words = _named(word, args)
    else:
        return None
    return command_line(["serialpack", *words])
