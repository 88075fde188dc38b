"""What other programs call an option, and what that is here."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Sequence

from serialpack.cli.naming import STDIO
from serialpack.cli.other_words import meant_by
from serialpack.errors import UsageError
from serialpack.formats import FORMATS

#: What an option is here: with a word in capitals for its value, where it takes one. Several where
#: verbs have one each.
_OPTIONS = {
    **dict.fromkeys(("--format", "--output-format", "--out-format"), ("--to FORMAT",)),
    **dict.fromkeys(("--as", "--into", "--type", "--convert"), ("--to FORMAT",)),
    **dict.fromkeys(("--input-format", "--in-format", "--input-type"), ("--from FORMAT",)),
    **dict.fromkeys(("--out", "--outfile", "--out-file", "--output-file"), ("-o FILE",)),
    **dict.fromkeys(("-C", "--directory", "--outdir", "--output-dir"), ("-o FILE",)),
    **dict.fromkeys(("-O", "--stdout", "--to-stdout"), ("-o -",)),
    **dict.fromkeys(("--overwrite", "--clobber", "--yes", "-y"), ("-f",)),
    **dict.fromkeys(("--pretty", "--pretty-print", "--prettify"), ("--indent 2, with --to json",)),
    **dict.fromkeys(("--sep", "--delim", "--field-separator"), ("--delimiter CHAR",)),
    "--charset": ("--encoding ENCODING",),
    "--header": ("--no-header, where the first row is none",),
    **dict.fromkeys(("--head", "--limit", "--rows", "--lines"), ("--records 0:N", "--head N")),
    **dict.fromkeys(("--columns", "--cols", "--select", "--keys"), ("--fields A,B",)),
    "--sheet": ("--table NAME",),
    **dict.fromkeys(("--ignore-errors", "--skip-errors"), ("--skip-bad",)),
    **dict.fromkeys(("--level", "--compression-level"), ("--effort N",)),
    **dict.fromkeys(("--best", "--ultra"), ("-9",)),
    **dict.fromkeys(("--fast", "--fastest"), ("-1",)),
    **dict.fromkeys(("--jobs", "--workers", "--processes", "--num-threads"), ("-j N",)),
    **dict.fromkeys(("-R", "-a", "--recurse"), ("-r",)),
    **dict.fromkeys(("-u", "--update", "--ignore-existing", "--resume"), ("--skip-existing",)),
    **dict.fromkeys(("--skip-old-files", "--keep-old-files"), ("--skip-existing",)),
    **dict.fromkeys(("--remove-source-files", "--remove-source", "--remove-files"), ("--rm",)),
    **dict.fromkeys(("--exclude-vcs", "--exclude-vcs-ignores"), ("--gitignore",)),
    **dict.fromkeys(("-D", "--dict", "--dictionary"), ("--shared-dict FILE",)),
    **dict.fromkeys(("--numeric-owner", "--same-owner"), ("--owner",)),
    **dict.fromkeys(("--log", "--log-file"), ("--journal FILE",)),
    **dict.fromkeys(("--null", "--from0"), ("-0",)),
    "--silent": ("-q",),
    # Of head, and of rsync and make.
    "-n": ("--records 0:N", "--head N", "--dry-run"),
    "--dry": ("--dry-run",),
    # Of xz and zstd, and of tar.
    "-T": ("-j N", "--files-from FILE"),
}

#: What another verb does.
_VERBS = {
    **dict.fromkeys(("-d", "--decompress", "--uncompress"), "decompress"),
    **dict.fromkeys(("-x", "--extract"), "extract"),
    **dict.fromkeys(("-l", "--list"), "list"),
    **dict.fromkeys(("-z", "--compress"), "compress"),
    "-t": "test",
}

#: A value of an option, in the words for it.
_VALUE = re.compile(r"\b(N|A,B|[A-Z]{4,})$")

#: Letters of tar, the last of which names the archive.
_OF_TAR = re.compile(r"-?[cxtvzjJap]*[cxt][cxtvzjJap]*f")


def option_meant(name: str, options: Collection[str], value: str = "") -> str | None:
    """What the option ``name`` of other programs is, of a verb that has ``options``; of several
    what goes with its ``value``. The name of a format is asked for by ``--to``. None: no idea."""
    meant = _OPTIONS.get(name, ())
    if (format := name.removeprefix("--").lower()) in FORMATS or FORMATS.by_extension(f".{format}"):
        meant = (*meant, f"--to {format}")
    fit = [words for words in meant if _option_in(words) in options]
    if value and not value.isdigit() and len(fit) > 1:  # a number is not meant
        fit = [words for words in fit if not words.endswith("N")] or fit
    return fit[0] if fit else None


def _option_in(words: str) -> str:
    """The name by which ``words`` are one of a verb's options; an effort is ``--effort``."""
    name = words.partition(" ")[0].rstrip(",")
    return "--effort" if name[1:].isdigit() else name


def instead(name: str, verb: str, options: Collection[str], args: Sequence[str]) -> str | None:
    """What to type for the option ``name`` of another program, a command or words for it.

    ``verb`` has ``options``; ``args``: the whole command line. None: no idea.
    """
    before, value, after = _around(name, args)
    if name in _VERBS:
        return meant_by(_VERBS[name], [word for word in (*before, *after) if word != verb])
    words = option_meant(name, options, value or (after[0] if after else ""))
    if words is None:
        return None
    if "," in words and "A,B" not in words:
        return f"did you mean {words}?"
    if _VALUE.search(words) is not None:
        if not (value or after):
            return f"did you mean {words}?"
        value, after = (value, after) if value else (after[0], after[1:])
        if words == "-j N" and value == "0":  # all there are, which is so without
            words = ""
        words = _VALUE.sub(lambda _: shlex.quote(value), words)
    return shlex.join(["serialpack", *before, *shlex.split(words), *after])


def _around(name: str, args: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """What is typed before the option ``name``, its value where that is one word with it, and what
    is behind."""
    for at, word in enumerate(args):
        if word.startswith(name) and (
            len(word) == len(name) or word[len(name)] == "=" or word[len(name) :].isdigit()
        ):
            return [*args[:at]], word[len(name) :].removeprefix("="), [*args[at + 1 :]]
    return [*args], "", []


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
