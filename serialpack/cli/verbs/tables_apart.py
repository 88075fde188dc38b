"""The tables of a database, or the lists of a map, as a file each, in a folder: all, or none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from serialpack import api
from serialpack.cli.files.rerun import is_done
from serialpack.cli.naming import ending_of
from serialpack.cli.reporting.converted import kept_words, told_of
from serialpack.cli.reporting.say import say
from serialpack.conversion.files import convert
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.routes.databases import in_map, only
from serialpack.conversion.tables.at import Lists
from serialpack.errors import (
    RefusedError,
    SerialpackError,
    SeveralTablesError,
    UnreadableTableError,
    UsageError,
)
from serialpack.files.disk import folded
from serialpack.files.paths import safe_name
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.reports import ArchiveReport, ConvertReport
from serialpack.text import printable
from serialpack.units import format_size
from serialpack.values.kinds import AROUND

if TYPE_CHECKING:
    from serialpack.cli.files.mover import Mover
    from serialpack.cli.options.requests import UnpackRequest
    from serialpack.pipeline.line import Progress

#: What there is to do about a table that has no file of its own.
_BY_ITSELF = "--table NAME -o FILE takes each by itself"


def tables_apart(
    error: SeveralTablesError, asked: UnpackRequest, mover: Mover, path: str, to: str
) -> dict[str, str]:
    """Each table of ``path`` -> its target, but for views that cannot be read, which are told of;
    ``error``, with the way, where ``-o`` names no folder that they could go to, and where ``path``
    is not read more than once."""
    if len(mover.inputs) == 1 and os.path.isfile(path):
        if (folder := mover.targets.folder_of_parts(path)) is not None:
            if not asked.outputs.keep:
                is_map = error.above is not None
                what = "they are several" if is_map else "a database is more than its tables"
                raise UsageError(f"--rm needs one output: {what}", hint="use -k")
            tables = [table for table in error.tables if table not in error.unread]
            if asked.conversion.strict or not tables:
                tables = [*error.tables]  # of which reading says what is wrong
            targets = [os.path.join(folder, name) for name in _file_names(tables, to)]
            mover.taken.update(map(os.path.realpath, targets))
            for view in [table for table in error.tables if table not in tables]:
                why = error.unread[view]
                say(asked.manner, f"{path}: the view {view} is left out: {why}")
            return dict(zip(tables, targets, strict=True))
        error.hint = (
            "--table NAME takes one of them, -o FOLDER/ makes a file of each, --to json one of all"
        )
    elif mover.targets.is_joined:
        error.hint = "--table NAME joins one of each, --to json -o FOLDER/ keeps all of each"
    raise error


def _file_names(tables: Sequence[str], to: str) -> list[str]:
    """What the files of ``tables`` are called; RefusedError where one cannot be called as its
    table, or two would be one file on some system."""
    of: dict[str, str] = {}
    names = []
    for table in tables:
        name = safe_name(table.replace("/", "_").replace("\\", "_"))
        if name is None or name.startswith("."):
            said = f"a file cannot be called as the table {printable(table)!r}"
            raise RefusedError(said, hint=_BY_ITSELF)
        other = of.setdefault(folded(name), table)
        if other != table:
            said = f"the tables {printable(other)} and {printable(table)} would be one file"
            raise RefusedError(said, hint=_BY_ITSELF)
        names.append(name + ending_of(to))
    return names


def move_tables(
    asked: UnpackRequest,
    mover: Mover,
    path: str,
    targets: Mapping[str, str],
    to: str,
    how: ConvertOptions,
    above: str | None,
) -> dict[str, ConvertReport]:
    """Convert the tables of ``path``, a database or a map of lists, each to its target, and say so;
    what came of each that was not left as it was. ``above``: as of ``SeveralTablesError``."""
    to_do = _not_done(asked, mover, path, targets, force=how["force"])
    if not to_do:
        return {}

    def convert_all(_: Any, progress: Progress | None) -> ArchiveReport[ConvertReport]:
        lists = None if above is None else Lists(above, (*targets,))
        return _convert_tables(path, to_do, to, how, lists, progress)

    def check_all() -> None:
        for target in to_do.values():
            api.check(path, mover.targets.to_check(target), force=how["force"])

    mover.batch = None  # whose one job this was
    done = mover.move(
        [mover.input(path)],
        next(iter(to_do.values())),
        convert_all,
        check=check_all,
        plan=[f"would convert {path}: {table} to {target}" for table, target in to_do.items()],
        closing=lambda done: _closing(path, to_do, done.entries, verbose=asked.manner.verbose),
        files=lambda done: len(done.entries),
    )
    return {} if done is None else dict(zip(to_do, done.entries, strict=True))


def _not_done(
    asked: UnpackRequest, mover: Mover, path: str, targets: Mapping[str, str], *, force: bool
) -> dict[str, str]:
    """The tables that are still to be converted, with their targets; of each other table is said
    that its target is left as it is."""
    skips = asked.outputs.skip_existing
    be = "would be " if mover.dry_run else ""
    to_do = {}
    for table, target in targets.items():
        if not (skips and is_done(path, target, packed=False, force=force)):
            to_do[table] = target
            continue
        mover.line({"source": path, "target": target, "left": True})
        say(asked.manner, f"{path}: {target} is whole and no older, {be}left as it is")
    return to_do


def _convert_tables(
    path: str,
    to_do: Mapping[str, str],
    to: str,
    how: ConvertOptions,
    lists: Lists | None,
    progress: Progress | None,
) -> ArchiveReport[ConvertReport]:
    """Convert each table of ``path`` to its target; errors as of ``convert``. ``lists``: those of
    a map, which are its tables; None: it is a database."""
    reports: list[ConvertReport] = []
    limit = LimitedWrite(len, how["max_size"])  # that of all together
    for table, target in to_do.items():
        if lists is None:
            done = _convert_table(path, table, target, to, how, progress)
        else:
            done = _convert_list(path, table, target, to, how, lists, progress)
        limit.check(done.size)
        limit.written += done.size
        kept_pipe = done.kept_pipe and not reports
        reports.append(done._replace(kept_pipe=kept_pipe))  # told once
    return ArchiveReport(tuple(reports))


def _convert_table(
    path: str, table: str, target: str, to: str, how: ConvertOptions, progress: Progress | None
) -> ConvertReport:
    """Convert a table of a database; an error about it names it."""
    alone: ConvertOptions = {**how, "table": table}
    try:
        return convert(path, target, to=to, progress=progress, **alone)
    except SerialpackError as error:
        if error.path in (None, path) and not isinstance(error, UnreadableTableError):
            error.message = f"the table {table}: {error.message}"
        raise


def _convert_list(
    path: str,
    name: str,
    target: str,
    to: str,
    how: ConvertOptions,
    lists: Lists,
    progress: Progress | None,
) -> ConvertReport:
    """Convert one list of a map; the other lists around it are no loss, for they have files too."""
    with in_map(name, lists, how["lossy"]):
        done = convert(path, target, to=to, progress=progress, **only(name, lists.above, how))
    if AROUND in how["lossy"]:
        return done
    return done._replace(losses=[loss for loss in done.losses if loss.rule != AROUND])


def _closing(
    path: str, targets: Mapping[str, str], reports: Sequence[ConvertReport], *, verbose: bool
) -> Iterator[str]:
    """The lines that say what became of each table."""
    for (table, target), report in zip(targets.items(), reports, strict=True):
        size = format_size(report.size)
        yield f"{path}: {table} -> {target}, {size}, {kept_words(report)}"
        yield from told_of(report, verbose=verbose)
