"""What click finds wrong with the options, in the words of this program."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from typing import Any

import click

from serialpack.cli.options.foreign_options import instead, of_tar
from serialpack.cli.options.foreign_words import converts, meant_by
from serialpack.cli.options.values import said_by
from serialpack.text import command_line, quoted

#: Options of gzip and tar where a verb is expected, and words for the same.
_STOCK = {
    **dict.fromkeys(("-c", "-z"), "compress"),
    "-d": "decompress",
    "-l": "list",
    "-t": "test",
    "-V": "version",
    "-x": "extract",
}

#: So much alike are words of which one is taken for the other misspelt.
_NEAR = 0.8

#: How click says that a number is out of range, or none.
_NO_NUMBER = re.compile(r"(.+) is not (in the range|a valid (integer|float)).*", re.DOTALL)


def said_of(error: click.ClickException, verb: str | None, args: Sequence[str]) -> str:
    """What is wrong, and what helps, in one line; ``args``: the whole command line."""
    see = f"; see serialpack {verb} --help" if verb else "; see serialpack --help"
    if isinstance(error, click.NoSuchOption):
        return _unknown(error, verb, args) or f"unknown option {error.option_name}{see}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{said_by(error.param, error.ctx)}: {_value(error, error.param.type)}{see}"
    return error.format_message().removeprefix("Option ").rstrip(".") + see


def _unknown(error: click.NoSuchOption, verb: str | None, args: Sequence[str]) -> str | None:
    """The line where one knows what is meant: a file, or an option with another name or place."""
    name = error.option_name
    file = next((a for a in args if a.startswith(name) and os.path.lexists(a)), None)
    if file is not None:
        return f"{file} is read as options; {quoted(os.path.join(os.curdir, file))} is the file"
    said = f"unknown option {name}"
    if (command := of_tar(args)) is not None:
        return f"{said}; {command}"
    if verb is None:
        meant = meant_by(_STOCK[name], args[args.index(name) + 1 :]) if name in _STOCK else None
        if meant is not None:
            return f"{said}; {meant}"
    assert error.ctx is not None
    group = error.ctx.find_root().command
    assert isinstance(group, click.Group)
    options = {
        other: _options(its)
        for other in group.list_commands(error.ctx)
        if (its := group.get_command(error.ctx, other)) is not None
    }
    if verb is None:
        name = "--effort" if name[1:].isdigit() else name
        others = [other for other in options if name in options[other]]
        theirs = "unpack" if "unpack" in others and converts(args) else "VERB"
        command = command_line(["serialpack", others[0] if len(others) == 1 else theirs, *args])
        return f"{said} before a verb; {command}" if others else None
    if (words := instead(name, verb, args, options)) is not None:
        return said + words
    own = [option for option in options[verb] if option.startswith("--")]
    near = [option for option in own if option.startswith(name)]
    near = near or difflib.get_close_matches(name, own, n=1, cutoff=_NEAR)
    if others := [other for other in options if name.startswith("--") and name in options[other]]:
        return f"{said} of {verb}; it is one of {' and '.join(others)}"
    return f"{said}; did you mean {near[0]}?" if near else None


def _options(command: click.Command) -> list[str]:
    return [name for p in command.params for name in (*p.opts, *p.secondary_opts)]


def _value(error: click.BadParameter, wanted: click.ParamType[Any]) -> str:
    """The message for a value that an option or an argument does not take; ``wanted``: what it
    takes."""
    message = error.message.rstrip(".")
    match = _NO_NUMBER.fullmatch(message)
    if match is None:
        return message
    if not isinstance(wanted, click.IntRange):
        return f"{match[1]} is not a number"
    numbers = (
        f"of at least {wanted.min}" if wanted.max is None else f"from {wanted.min} to {wanted.max}"
    )
    return f"{match[1]} is not a whole number {numbers}"
