"""Options that other programs have for what is done here, and the command that does it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from serialpack.cli.naming import STDIO
from serialpack.cli.other_words import meant_by
from serialpack.errors import UsageError

#: What ours are called by gzip, zstd, xz, tar, rsync, cp and others.
_CALLED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("-o",): ("-C", "--directory", "--dest", "--destination", "--outdir", "--output-dir"),
    ("-o", STDIO): ("-O", "--stdout", "--to-stdout"),
    ("-j",): ("-T", "--jobs", "--processes", "--workers", "--num-threads"),
    ("-r",): ("-R", "-a", "--recurse"),
    ("--effort", "1"): ("--fast", "--fastest"),
    ("--effort", "9"): ("--best", "--ultra", "--smallest"),
    ("--effort",): ("--level", "--compression-level"),
    ("--dry-run",): ("-n", "--dry", "--simulate"),
    ("--skip-existing",): (
        *("-u", "--update", "--ignore-existing", "--skip-old-files", "--keep-old-files"),
        *("--resume", "--continue"),
    ),
    ("--rm",): ("--remove-source-files", "--remove-source", "--remove-files", "--move"),
    ("-f",): ("--overwrite", "-y", "--yes"),
    ("--gitignore",): ("--exclude-vcs", "--exclude-vcs-ignores"),
    ("--shared-dict",): ("-D", "--dict", "--dictionary"),
    ("--owner",): ("--numeric-owner", "--same-owner"),
    ("--journal",): ("--log", "--log-file"),
    ("-0",): ("--null", "--from0"),
    ("-q",): ("--silent",),
}

_OURS = {other: ours for ours, others in _CALLED.items() for other in others}

#: What another verb does.
_VERBS = {
    "-d": "decompress",
    "--decompress": "decompress",
    "--uncompress": "decompress",
    "-x": "extract",
    "--extract": "extract",
    "-l": "list",
    "--list": "list",
    "-z": "compress",
    "--compress": "compress",
    "-t": "test",
}


#: Letters of tar, the last of which names the archive.
_OF_TAR = re.compile(r"-?(?P<letters>[cxtvzjJap]*[cxt][cxtvzjJap]*)f")


def of_tar(args: Sequence[str]) -> str | None:
    """The command for what ``-czf out.spk folder`` and the like ask for; None for what is not."""
    at = next((n for n, word in enumerate(args) if _OF_TAR.fullmatch(word)), None)
    if at is None or at + 1 >= len(args):
        return None
    archive, *rest = args[at + 1 :]
    letters = args[at]
    if "c" in letters:
        words = ["pack", "-r", *rest, "--archive", "-o", archive]
    else:
        words = ["inspect" if "t" in letters else "unpack", archive]
        if "x" in letters and rest[:1] == ["-C"]:
            words += ["-o", *rest[1:2]]
    return shlex.join(["serialpack", *words])


def instead(name: str, verb: str, args: Sequence[str], known: set[str]) -> str | None:
    """The command that does what the option ``name`` of another program asks ``verb`` for.

    ``args``: the whole command line; ``known``: the options that the verb has. None: no idea.
    """
    at = next((n for n, word in enumerate(args) if word.split("=")[0] == name), None)
    if at is None:  # behind others, or before its value: -T0
        at = next((n for n, word in enumerate(args) if word.startswith(name)), None)
        if at is None or name.startswith("--") or not args[at][2:].isdigit():
            return None
        args = [*args[:at], name, args[at][2:], *args[at + 1 :]]
    before, after = list(args[:at]), list(args[at + 1 :])
    if name in _VERBS:
        rest = [word for word in (*before, *after) if word != verb]
        return meant_by(_VERBS[name], rest)
    ours = list(_OURS.get(name, ()))
    if name == "-T" and after and not after[0].isdigit():  # as tar has it
        ours = ["--files-from"]
    elif ours == ["-j"] and after[:1] == ["0"]:  # all there are, which is so without
        ours, after = [], after[1:]
    options = {word for word in ours if word.startswith("-") and word != STDIO}
    if name not in _OURS or not known.issuperset(options):
        return None
    value = args[at].partition("=")
    if value[1]:
        ours.append(value[2])
    return shlex.join(["serialpack", *before, *ours, *after])


def check_codec(codec: str, verb: str) -> None:
    """UsageError where the name of a codec is that of a file, as -c writes to standard output in
    other programs, or letters of tar."""
    import click

    args = click.get_current_context().find_root().obj or ()
    if f"-c{codec}" in args and (command := of_tar(args)) is not None:
        raise UsageError(f"-c is the codec, and there is none called {codec}", hint=command)
    if os.path.isfile(codec):
        raise UsageError(
            f"-c is the codec, and {codec} is a file",
            hint=shlex.join(["serialpack", verb, codec, "-o", STDIO]),
        )
