"""How a verb is declared: its options, shared ones included, and its help with examples.

Help, manual pages and completions are all made from these declarations.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from serialpack.cli.options.values import FormatName, setting_name
from serialpack.errors import UsageError
from serialpack.far import is_far
from serialpack.without_pandas import leave_pandas_out

F = TypeVar("F", bound=Callable[..., Any])

#: Letters of options without a value, which may stand in one word with an effort: ``-9f``.
_CLUSTER = re.compile(r"-([fhkqv]*)([1-9])([fhkqv]*)")


def is_given(value: object) -> bool:
    """Whether ``value`` is that of an option that was given, also where it is empty, or 0."""
    return value is not None


class Without(NamedTuple):
    """Options (``others``) that have no effect beside ``option``, and are refused where they are
    typed. All are names of parameters. ``applies``: for which values of ``option``; ``said``: what
    the error says of it."""

    option: str
    said: str
    others: tuple[str, ...]
    applies: Callable[[Any], bool] = bool


#: How much is told, of every verb: one of them.
_TOLD = ("quiet", "verbose")
_QUIET = Without("quiet", "-q prints errors only", ("verbose",))


class Verb(click.Command):
    """A verb: ``examples`` (command, what it does) come first in its help and manual page.

    ``completes`` says what a shell offers for its arguments: a file ending, or any file.
    ``lists`` gives what stands at the end of its help: words, and what they are. ``without``: which
    options do not go together.
    """

    def __init__(
        self,
        *args: Any,
        examples: tuple[tuple[str, str], ...] = (),
        completes: str = "",
        lists: Callable[[], dict[str, list[str]]] = dict,
        without: tuple[Without, ...] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.completes = completes
        self._lists = lists
        self._without = (_QUIET, *without)
        for param in self.params:
            if isinstance(param, click.Option):
                param.envvar = f"SERIALPACK_{self.name}_{setting_name(param)}".upper()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(p.name == "effort" for p in self.params):
            args = spell_out_effort(args, self._valued)
        left = super().parse_args(ctx, args)
        for one, other in (_TOLD, _TOLD[::-1]):  # what is typed outweighs a default of the other
            if _typed(ctx, (one,)) and not _typed(ctx, (other,)):
                ctx.params[other] = False
        self._check_together(ctx)
        if ctx.params.get("trust"):
            leave_pandas_out(leave=False)  # what is pickled may be of any library
        return left

    def _check_together(self, ctx: click.Context) -> None:
        """UsageError where options were typed that have no effect together. A default of the
        user's own is for other calls, too."""
        for rule in self._without:
            if rule.applies(ctx.params[rule.option]) and (given := _typed(ctx, rule.others)):
                raise UsageError(f"{rule.said}: it goes without {' and '.join(given)}")

    @property
    def _valued(self) -> set[str]:
        """The options that take the next word as their value."""
        options = [p for p in self.params if isinstance(p, click.Option) and not p.is_flag]
        return {name for option in options for name in option.opts}

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples first, then the usage, then the options: one screen."""
        width = max((len(command) for command, _ in self.examples), default=0)
        for command, does in self.examples:
            formatter.write(f"{command.ljust(width)}  # {does}\n")
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        formatter.write(f"{self.help}\n" if self.help else "")
        formatter.write_paragraph()
        formatter.write_dl(option_rows(self, ctx), col_max=28, col_spacing=2)
        lists = self._lists()
        if lists:
            formatter.write_paragraph()
        for what, words in lists.items():
            formatter.write_text(f"{what}: {', '.join(words)}")


def _typed(ctx: click.Context, names: Sequence[str]) -> list[str]:
    """Which of the options with these parameters' ``names`` stand on the command line, as they are
    spelled there."""
    source = ParameterSource.COMMANDLINE
    return [
        max(param.opts, key=len)
        for param in ctx.command.params
        if param.name in names and ctx.get_parameter_source(param.name) is source
    ]


def option_rows(command: click.Command, ctx: click.Context) -> list[tuple[str, str]]:
    """The options of ``command`` as people read them: how they are typed, what they do."""
    records = [
        p.get_help_record(ctx) for p in command.get_params(ctx) if isinstance(p, click.Option)
    ]
    # click adds a number's range; the texts say what is not plain.
    return [(r[0], re.sub(r"  \[x?[0-9<>=x]+\]$", "", r[1])) for r in records if r is not None]


def spell_out_effort(args: list[str], valued: set[str]) -> list[str]:
    """``-9`` and ``-9f`` as ``--effort 9`` (``-f``): one option, however the dial is typed.

    ``valued``: options whose next word is their value, and stays what it is.
    """
    result: list[str] = []
    for at, arg in enumerate(args):
        if arg == "--":
            return result + args[at:]
        match = _CLUSTER.fullmatch(arg)
        if match is None or (at and args[at - 1] in valued):
            if re.fullmatch(r"-[0-9]{2,}", arg) and not (at and args[at - 1] in valued):
                raise UsageError(
                    f"{arg}: efforts are -1 to -9", hint=f"-c zstd:{arg[1:]} is zstd's level"
                )
            result.append(arg)
            continue
        flags = match[1] + match[3]
        result += [f"-{flags}"] * bool(flags) + ["--effort", match[2]]
    return result


def _apply(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


#: Of the verbs that look at what a file is.
from_option = click.option(
    "-F",
    "--from",
    "format",
    type=FormatName(),
    metavar="FORMAT",
    help="Format of FILE; default: by name and content.",
)


def table_options(of: str) -> Callable[[F], F]:
    """The options that say how a table of text is written; ``of``: what else may be in another
    encoding, as the help names it."""
    encoding = f"Of {of} that is not UTF-8: cp1252, ..."
    return _apply(
        click.option("--delimiter", metavar="CHAR", help="Between fields of CSV: , ; | or tab."),
        click.option("--encoding", metavar="ENCODING", help=encoding),
        click.option("--no-header", is_flag=True, help="Of CSV: its first line is a record."),
    )


def _output(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """The value of ``-o``: ``-`` for any name of standard output, so that what it leads to is
    written to and not replaced; a URL without its login."""
    if value is not None and is_far(value):
        from serialpack.far.urls import shown

        if value.startswith("memory:"):  # with --rm nothing would be left
            raise UsageError("-o: memory:// ends with the command", hint="name a file or a bucket")
        return shown(value)
    return "-" if value in _STANDARD_OUTPUT else value


def file_only(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """The value of an option that names a file. UsageError for ``-``: only ``-o`` and ``--json``
    write to standard output."""
    if value == "-":
        raise UsageError(
            f"{param.opts[0]} is a file, and cannot be standard output",
            hint="name it; ./- is a file of that name",
        )
    return value


_STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")

#: Options of the verbs that write files.
output_options = _apply(
    click.option(
        "-o",
        "--output",
        metavar="PATH",
        callback=_output,
        help="Write to a file, a folder, or - for standard output.",
    ),
    click.option("-f", "--force", is_flag=True, help="Overwrite; write binary to a terminal."),
    click.option(
        "-k/ ",
        "--keep/--rm",
        default=True,
        help="Keep the input (default), or remove it when safe.",
    ),
    click.option(
        "--skip-existing",
        is_flag=True,
        help="Skip FILE if its output is whole and has its time.",
    ),
    click.option(
        "--sync",
        type=click.Choice(["group", "each"]),
        default="group",
        metavar="HOW",
        help="Bring files to disk by group (default) or each.",
    ),
    click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing."),
    click.option(
        "-j",
        "--threads",
        type=click.IntRange(1),
        metavar="N",
        help="Worker threads; default: all cores.",
    ),
    click.option("--stats", is_flag=True, help="Show seconds and bytes of each stage."),
    click.option(
        "--profile",
        metavar="PATH",
        callback=file_only,
        help="Draw where the time goes, as a page of HTML.",
    ),
    click.option(
        "--journal",
        metavar="PATH",
        callback=file_only,
        help="Keep the lines of --json in a file.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="Work on a Dask cluster; local: start one here."
    ),
)

#: Options of the verbs that take several inputs.
input_options = _apply(
    click.option("-r", "--recursive", is_flag=True, help="Take the files in folders, all the way."),
    click.option(
        "--include",
        metavar="GLOB",
        multiple=True,
        help="In folders and archives: only what GLOB means.",
    ),
    click.option(
        "--exclude",
        metavar="GLOB",
        multiple=True,
        help="In folders and archives: not what GLOB means.",
    ),
    click.option(
        "--gitignore", is_flag=True, help="With -r: leave out what .gitignore files name."
    ),
    click.option("--files-from", metavar="PATH", help="Read names of inputs, a line each (- too)."),
    click.option("-0", "--nul", is_flag=True, help="With --files-from: NUL ends each name."),
)

#: Of the verbs that unpack what was packed with it; ``pack`` says more of it.
shared_dict_option = click.option(
    "--shared-dict",
    metavar="PATH",
    callback=file_only,
    help="The dictionary that FILE was packed with.",
)

#: Options of every verb.
common_options = _apply(
    click.option("--json", "as_json", is_flag=True, help="One JSON line a file, for scripts."),
    click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
    click.option("-v", "--verbose", is_flag=True, help="Print what was chosen, and why."),
    click.option("--no-progress", is_flag=True, help="Draw no progress bar."),
)

files_argument = click.argument(
    "files", nargs=-1, metavar="[FILE]...", type=click.Path(readable=False)
)
