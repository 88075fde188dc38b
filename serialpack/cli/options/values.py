"""The types of the values that options take, and what such a value is called in an error."""

import os
import re
from typing import Any

import click
from click.core import ParameterSource

from serialpack.errors import UsageError
from serialpack.units import parse_size


def setting_name(option: click.Option) -> str:
    """What ``option`` is called in ``config.toml``, and in capitals in ``SERIALPACK_VERB_OPTION``.

    Its long name, with ``_`` for ``-``.
    """
    return next(n for n in option.opts if n.startswith("--"))[2:].replace("-", "_")


def said_by(param: click.Parameter, ctx: click.Context | None) -> str:
    """What gave ``param`` its value: the option, or a default of the user's own."""
    source = None if ctx is None or param.name is None else ctx.get_parameter_source(param.name)
    if source is ParameterSource.ENVIRONMENT and isinstance(param.envvar, str):
        return param.envvar
    name = max(param.opts, key=len)
    if source is ParameterSource.DEFAULT_MAP and isinstance(param, click.Option):
        return f"config.toml: {setting_name(param)}"
    return name


class Size(click.ParamType[int]):
    """Bytes, or 64K, 1M, 2.5GiB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Range(click.ParamType[tuple[int, int | None]]):
    """``A:B``: from A up to but not including B; either may be left out.

    ``sizes``: of bytes, so that 1M:2M can be said.
    """

    name = "range"

    def __init__(self, *, sizes: bool = False) -> None:
        self._number = parse_size if sizes else int

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int | None]:
        if isinstance(value, tuple):
            return value
        first, colon, last = value.partition(":")
        try:
            if not colon or first.startswith("-") or last.startswith("-"):
                raise ValueError(value)
            start = self._number(first) if first else 0
            stop = self._number(last) if last else None
        except ValueError:
            self.fail(f"{value!r} is not A:B, like 10:20, :5 or 100:", param, ctx)
        if stop is not None and stop < start:
            self.fail(f"{value!r} ends before it begins", param, ctx)
        return start, stop


class FormatName(click.ParamType[str]):
    """A format by its name or an extension of its files: ndjson, jsonl, .jsonl."""

    name = "format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from serialpack.formats import FORMATS

        try:
            return FORMATS.spelled(value, to=param is not None and param.name == "to")
        except UsageError as error:
            if param is not None:
                error.message = f"{said_by(param, ctx)}: {error.message}"
                if param.name == "to" and os.path.isfile(value):  # other programs test a file by -t
                    from serialpack.cli.options.foreign_words import meant_by

                    error.hint = meant_by("test", [value])
            raise


class KeyValue(click.ParamType[tuple[str, str]]):
    """``KEY=VALUE``."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, text = value.partition("=")
        if not equals or not key:
            self.fail(f"{value!r} is not KEY=VALUE", param, ctx)
        return key, text


class Threads(click.ParamType[tuple[int, ...]]):
    """``1,2,4``."""

    name = "threads"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(int(text) for text in str(value).split(","))
        except ValueError:
            numbers = ()
        if not numbers or min(numbers) < 1:
            self.fail(f"{value!r} is not numbers of threads, like 1,2,4", param, ctx)
        return numbers


class Speed(click.ParamType[float]):
    """Bytes a second, as networks count: 10M is ten million."""

    name = "speed"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,9})?)([kMGT]?)(?:B/s)?", str(value).strip(), re.I)
        speed = float(match[1]) * 1000.0 ** " KMGT".index(match[2].upper() or " ") if match else 0.0
        if not speed:
            self.fail(f"{value!r} is not bytes a second, like 100M", param, ctx)
        return speed
