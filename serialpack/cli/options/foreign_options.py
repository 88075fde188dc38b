"""Options that other programs have for what is done here, and the command that does it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence

from serialpack.cli.naming import STDIO, typed_words
from serialpack.cli.options.foreign_words import meant_by
from serialpack.detection.detect import DELIMITERS
from serialpack.errors import UsageError
from serialpack.formats import FORMATS
from serialpack.text import command_line

#: What Miller calls formats behind --i, of what is read, and --o, of what is written.
_OF_MILLER = {"csv": "csv", "tsv": "tsv", "json": "json", "jsonl": "ndjson"}

#: What ours are called by gzip, zstd, xz, tar, rsync, cp, jq, Miller and others; ``{}`` is the
#: number behind their name. Of several that one name may mean, the first that fits the verb.
_CALLED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("-o",): (
        *("-C", "--directory", "--dest", "--destination", "--outdir", "--output-dir"),
        *("--out", "--outfile", "--out-file", "--output-file"),
    ),
    ("-o", STDIO): ("-O", "--stdout", "--to-stdout"),
    ("-j",): ("-T", "--jobs", "--processes", "--workers", "--num-threads"),
    ("-r",): ("-R", "-a", "--recurse"),
    ("--effort", "1"): ("--fast", "--fastest"),
    ("--effort", "9"): ("--best", "--ultra", "--smallest"),
    ("--effort",): ("--level", "--compression-level"),
    ("--records", "0:{}"): ("-n", "--limit", "--head", "--rows", "--lines"),
    ("--head", "{}"): ("-n", "--limit", "--rows", "--lines"),
    ("--dry-run",): ("-n", "--dry", "--simulate"),
    ("--skip-existing",): (
        *("-u", "--update", "--ignore-existing", "--skip-old-files", "--keep-old-files"),
        *("--resume", "--continue"),
    ),
    ("--rm",): ("--remove-source-files", "--remove-source", "--remove-files", "--move"),
    ("-f",): ("--overwrite", "--clobber", "-y", "--yes"),
    ("--gitignore",): ("--exclude-vcs", "--exclude-vcs-ignores"),
    ("--shared-dict",): ("-D", "--dict", "--dictionary"),
    ("--owner",): ("--numeric-owner", "--same-owner"),
    ("--journal",): ("--log", "--log-file"),
    ("-0",): ("--null", "--from0"),
    ("-q",): ("--silent",),
    ("--to",): (
        *("--format", "--output-format", "--out-format"),
        *("--as", "--into", "--type", "--convert"),
    ),
    ("--from",): ("--input-format", "--in-format", "--input-type"),
    **{("--from", name): (f"--i{letters}",) for letters, name in _OF_MILLER.items()},
    **{("--to", name): (f"--o{letters}",) for letters, name in _OF_MILLER.items()},
    ("--indent", "2"): ("--pretty", "--pretty-print", "--prettify"),
    ("--delimiter",): ("--sep", "--delim", "--field-separator", "--ifs"),
    ("--out-delimiter",): ("--ofs", "--out-sep", "--output-delimiter"),
    ("--encoding",): ("--charset", "-e"),
    ("--fields",): ("--columns", "--cols", "--select", "--keys"),
    ("--table",): ("--sheet",),
    ("--skip-bad",): ("--ignore-errors", "--skip-errors"),
    ("--infer",): ("--detect-types", "--infer-types", "--type-inference"),
    ("--types",): ("--dtype", "--dtypes", "--column-types"),
    ("--null",): ("--null-value", "--nullstr", "--na", "--na-value", "--na-values", "--na-rep"),
    # What is so without being said; what stands behind it is the file.
    (): (
        *("-i", "--in", "--input", "--infile", "--in-file", "--input-file", "--file"),
        *("--compact", "--compact-output", "--no-inference", "--no-detect-types", "--no-infer"),
    ),
}

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


#: What others do with records by what stands in them, and unpacking does not.
_BY_VALUES = frozenset(
    {
        *("--where", "--filter", "--query", "--sql", "--grep", "--unique", "--distinct"),
        *("--sort", "--sort-by", "--order-by", "--group-by", "--rename", "--drop", "--join"),
        *("--explode", "--unnest", "--unwind"),
    }
)
#: What stands between the cells of tables, as it is typed.
_MARKS = frozenset({*DELIMITERS, *DELIMITERS.values()})
#: Options by which others leave out lines above a table, and that say how text is to be written.
_SKIPS = frozenset({"--skip", "--skip-rows", "--skip-lines", "--skiprows", "-K"})
_ENCODES = frozenset({"--out-encoding", "--output-encoding", "--to-encoding"})
#: What says by itself what is written, so that the name of a format says what is read.
_TARGETS = frozenset({"--to", "-t", "-o", "--output"})
#: For a number that is left out.
_NO_NUMBER = "{:.0}"
#: With what a part of the records is not taken.
_CONVERTS = frozenset({"--to", "--fields"})
_JQ = (
    "; serialpack unpack FILE --to ndjson -o - | jq -c 'select(.a == 1)' is a way, duckdb another"
    " with what -o FILE.parquet writes"
)


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
    return command_line(["serialpack", *words])


def instead(
    name: str, verb: str, args: Sequence[str], options: Mapping[str, Collection[str]]
) -> str | None:
    """What does what the option ``name`` of another program asks ``verb`` for: behind a semicolon
    the command, or what another verb takes.

    ``args``: the whole command line; ``options``: those that each verb has. None: no idea.
    """
    at = next((n for n, word in enumerate(args) if word.split("=")[0] == name), None)
    if at is None:  # behind others, or before its value: -T0
        at = next((n for n, word in enumerate(args) if word.startswith(name)), None)
        if at is None or name.startswith("--") or not args[at][2:].isdigit():
            return None
        args = [*args[:at], name, args[at][2:], *args[at + 1 :]]
    value = args[at].partition("=")[2]
    before, after = args[:at], (*([value] if value else ()), *args[at + 1 :])
    if name in _VERBS and not (verb == "unpack" and name == "-d" and _is_mark(after)):
        others = [word for word in (*before, *after) if word != verb]
        command = meant_by(_VERBS[name], others)
        return command and f"; {command}"
    if verb == "unpack" and name in _BY_VALUES:
        return _JQ
    if verb == "unpack" and (shell := _by_the_shell(name, after)) is not None:
        return shell
    for has in (verb, *options):
        for ours in _ours(name, after, args):
            found = _with_number(ours, after)
            if found is None or not {*filter(_is_option, ours)} <= {*options[has]}:
                continue
            words, rest = found
            if "--records" in words and not _CONVERTS.isdisjoint(args):
                number = words[-1].rpartition(":")[2]
                return f"; | head -n {number} behind --to ndjson -o - takes so many records"
            if has == verb:
                rest = _all_ours(rest, args, options[verb])
                return f"; {command_line(['serialpack', *before, *words, *rest])}"
            return f" of {verb}; {has} takes {command_line(words)}"
    return None


def _all_ours(rest: Sequence[str], said: Sequence[str], options: Collection[str]) -> list[str]:
    """``rest`` of the command line ``said``, with the other options of another program that stand
    in it as ours, where there is one way to say each."""
    words: list[str] = []
    while rest:
        word, rest = rest[0], rest[1:]
        name, _, value = word.partition("=")
        if not _is_option(word) or name in options or name in _VERBS:
            words.append(word)
            continue
        after = [value, *rest] if value else rest
        ways = [
            ours for ours in _ours(name, after, said) if {*filter(_is_option, ours)} <= {*options}
        ]
        found = _with_number(ways[0], after) if len(ways) == 1 else None
        if found is None:
            words.append(word)
        else:
            words += found[0]
            rest = found[1]
    return words


def _is_mark(after: Sequence[str]) -> bool:
    """Whether what stands behind an option is what stands between cells."""
    return bool(after) and after[0] in _MARKS


def _by_the_shell(name: str, after: Sequence[str]) -> str | None:
    """What other tools do around a conversion; None for what they are not needed for."""
    if name in _SKIPS and after and after[0].isdigit():
        return f"; tail -n +{int(after[0]) + 1} FILE >NEW.csv leaves out so many lines"
    if name in _ENCODES:
        return "; iconv -f OLD -t NEW FILE >NEW.csv writes text in another encoding"
    return None


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != STDIO


def _with_number(
    ours: Sequence[str], after: Sequence[str]
) -> tuple[list[str], Sequence[str]] | None:
    """``ours`` with the number that they take, and what stands behind it; None without one."""
    if any("{" in word for word in ours):
        if not (after and after[0].isdigit()):
            return None
        return [said for word in ours if (said := word.format(after[0]))], after[1:]
    return [*ours], after


def _ours(name: str, after: Sequence[str], said: Sequence[str]) -> list[tuple[str, ...]]:
    """What ``name`` may mean, with ``after`` behind it; ``said``: the whole command line."""
    if name == "-T" and after and not after[0].isdigit():  # as tar has it
        return [("--files-from",)]
    if name == "-T" and after and after[0] == "0":  # all there are, which is so without
        return [(_NO_NUMBER,)]
    format = name.removeprefix("--").lower()
    if format in FORMATS or FORMATS.by_extension(f".{format}"):
        return [("--from" if _TARGETS & {*said} else "--to", format)]
    if name == "-d" and _is_mark(after):
        return [("--delimiter",)]
    return [ours for ours, others in _CALLED.items() if name in others]


def check_codec(codec: str, verb: str) -> None:
    """UsageError where what is no codec is the name of a file, as -c writes to standard output in
    other programs, or letters of tar."""
    args = typed_words()
    if f"-c{codec}" in args and (command := of_tar(args)) is not None:
        raise UsageError(f"-c is the codec, and there is none called {codec}", hint=command)
    if os.path.isfile(codec):
        raise UsageError(
            f"-c is the codec, and {codec} is a file",
            hint=command_line(["serialpack", verb, codec, "-o", STDIO]),
        )
