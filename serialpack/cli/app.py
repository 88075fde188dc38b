"""The verbs, settings and exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, cast

import click

from serialpack._version import __version__
from serialpack.cli.guard import of_limit
from serialpack.cli.options.declared import Verb
from serialpack.cli.options.values import setting_name
from serialpack.cli.signals import stop_if_asked, until_stopped
from serialpack.cli.words import complain, name_standard_output, screen
from serialpack.errors import SerialpackError, UsageError

#: Verb -> the module that declares it. Loaded when it is called for.
VERBS = {
    "pack": "serialpack.cli.verbs.pack",
    "unpack": "serialpack.cli.verbs.unpack",
    "inspect": "serialpack.cli.verbs.inspect",
    "bench": "serialpack.cli.verbs.bench",
}

#: The reader of our output is gone: end as a command that SIGPIPE ends, without a word.
CLOSED_PIPE = 141


class Verbs(click.Group):
    """The group of verbs, each imported only when it is called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in VERBS:
            return None
        return cast(click.Command, importlib.import_module(VERBS[name]).command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise _unknown_verb(args[0], args[1:])
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each verb with what it does, and the first two of its examples."""
        formatter.write(f"{self.help}\n")
        formatter.write_paragraph()
        formatter.write_usage("serialpack", "VERB [OPTIONS] [FILE]...")
        formatter.write_paragraph()
        verbs = [v for n in VERBS if (v := self.get_command(ctx, n)) is not None]
        formatter.write_dl([(v.name or "", v.help or "") for v in verbs], col_spacing=3)
        formatter.write_paragraph()
        formatter.write_dl(
            [each for v in verbs if isinstance(v, Verb) for each in v.examples[:2]],
            col_max=40,
            col_spacing=3,
        )
        formatter.write_paragraph()
        formatter.write(f"{self.epilog}\n")


def _unknown_verb(word: str, args: list[str]) -> UsageError:
    """The error for a first word that is no verb, with the command that may be meant."""
    import difflib

    from serialpack.cli.options.foreign_words import meant_by

    message = f"unknown verb '{word}'"
    if (command := meant_by(word, args)) is not None:
        return UsageError(message, hint=command)
    near = difflib.get_close_matches(word, VERBS, n=1)
    return UsageError(
        message, hint=f"did you mean {near[0]}?" if near else f"the verbs are {', '.join(VERBS)}"
    )


@click.command(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    help="Pack data files small, convert them, look inside; prove that nothing changed.",
    epilog="VERB --help tells about a verb, with examples; --version names the version.",
)
@click.version_option(__version__, message="serialpack %(version)s")
def app() -> None:
    """The group that all verbs hang on."""


def run(args: list[str]) -> int:
    """Run the command line ``args``; the exit code."""
    return until_stopped(lambda: _answer(args or ["--help"]))


def _answer(args: list[str]) -> int:
    """The exit code of the command line; what went wrong is said, unless a signal ended it."""
    try:
        return _done(args)
    except Exception as error:
        stop_if_asked()
        return _told(error, args)


def _done(args: list[str]) -> int:
    """The exit code of the command line, where nothing ended it."""
    _replace_closed_streams()
    name_standard_output()
    for stream in (sys.stdout, sys.stderr):
        # Names of files can hold anything; printing one must never fail.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    # Not app.main(): it ends the program itself, with 1, when a pipe is closed.
    # What was typed is its object: hints show it again.
    with app.make_context("serialpack", [*args], default_map=_settings(), obj=args) as ctx:
        code = app.invoke(ctx)
    sys.stdout.flush()
    return int(code or 0) or int(screen.lacks_lines)


def _told(error: Exception, args: list[str]) -> int:
    """The exit code for ``error``, which is said; raises it where somebody looks for its place."""
    if isinstance(error, BrokenPipeError):
        return CLOSED_PIPE
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        from serialpack.cli.options.usage_errors import said_of

        complain(said_of(error, next((a for a in args if a in VERBS), None), args))
        return 2
    if isinstance(error, SerialpackError):
        complain(error.said, error.path)
        return error.exit_code
    if isinstance(error, OSError):
        complain((error.strerror or str(error)).lower(), str(error.filename or "") or _gone())
        return 1
    if os.environ.get("SERIALPACK_TRACEBACK"):
        raise error
    if (limit := of_limit(error)) is not None:
        complain(limit.said)
    elif isinstance(error, ImportError):
        from serialpack.broken import broken_library

        complain(broken_library(error).said)
    else:
        what = f"{type(error).__name__}: {error}"
        complain(f"internal error ({what}); SERIALPACK_TRACEBACK=1 shows where; please report it")
    return 1


def _gone() -> str | None:
    """The current folder, where it is removed: no path below it can be told."""
    try:
        os.getcwd()
    except OSError:
        return "the current folder"
    return None


def _replace_closed_streams() -> None:
    """Stand-ins for standard streams that the caller closed (``>&-``).

    Their numbers are taken, so that no file of ours gets one and what is meant for the stream.
    Reading and writing data fails; what is said on a closed standard error is lost.
    """
    for name, mode, flags in (
        ("stdin", "r", os.O_WRONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            stream: Any = open(descriptor, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            stream.buffer.raw.name = f"<{name}>"
            setattr(sys, name, stream)


def _settings() -> dict[str, Any]:
    """Defaults per user: ``config.toml`` in the platform's configuration folder.

    A table a verb, ``[pack]``, with the names of long options as keys.
    """
    path = os.path.join(click.get_app_dir("serialpack"), "config.toml")
    if not os.path.exists(path):
        return {}
    import tomllib

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"is not valid TOML ({error})", path=path) from None
    settings: dict[str, Any] = {}
    for verb, table in tables.items():
        command = app.get_command(click.Context(app), verb)
        if command is None or not isinstance(table, dict):
            raise UsageError(f"has no verb {verb!r}", path=path, hint=f"[{'], ['.join(VERBS)}]")
        known = {setting_name(p): p.name for p in command.params if isinstance(p, click.Option)}
        settings[verb] = {}
        for key, value in table.items():
            name = key.replace("-", "_")
            if name not in known:
                raise UsageError(f"[{verb}] has no option {key!r}", path=path)
            settings[verb][known[name]] = value
    return settings
