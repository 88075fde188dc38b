"""The tables of a database, or the lists of a map, as a file each, in a folder: all, or none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from serialpack import api
from serialpack.cli.files.rerun import is_done
from serialpack.cli.files.run import say
from serialpack.cli.naming import ending_of
from serialpack.cli.reporting.converted import kept_words, told_of
from serialpack.conversion.files import convert
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.routes.databases import in_map, only
from serialpack.conversion.tables.at import Lists
from serialpack.errors import RefusedError, SerialpackError, SeveralTablesError, UsageError
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
        error.hint = "--table NAME takes one of them, -o FOLDER/ a file of each, --to json all"
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
    is_map = above is not None
    lists = Lists(above or "", (*targets,))
    skips, verbose = asked.outputs.skip_existing, asked.manner.verbose
    force = how["force"]
    left = [t for t in targets.values() if skips and is_done(path, t, packed=False, force=force)]
    be = "would be " if mover.dry_run else ""
    for target in left:
        mover.line({"source": path, "target": target, "left": True})
        say(asked.manner, f"{path}: {target} is whole and no older, {be}left as it is")
    to_do = {table: target for table, target in targets.items() if target not in left}

    def convert_all(_: Any, progress: Progress | None) -> ArchiveReport[ConvertReport]:
        reports: list[ConvertReport] = []
        limit = LimitedWrite(len, how["max_size"])  # that of all together
        for table, target in to_do.items():
            alone: ConvertOptions = {**how, "table": table}
            if is_map:
                alone = only(table, lists.above, how)
            try:
                with in_map(table, lists, how["lossy"]) if is_map else nullcontext():
                    done = convert(path, target, to=to, progress=progress, **alone)
            except SerialpackError as error:
                if error.path in (None, path) and not is_map:
                    error.message = f"the table {table}: {error.message}"
                raise
            if is_map and AROUND not in how["lossy"]:  # which are the others
                losses = [loss for loss in done.losses if loss.rule != AROUND]
                done = done._replace(losses=losses)
            limit.check(done.size)
            limit.written += done.size
            kept_pipe = done.kept_pipe and not reports
            reports.append(done._replace(kept_pipe=kept_pipe))  # told once
        return ArchiveReport(tuple(reports))

    def check_all() -> None:
        for target in to_do.values():
            api.check(path, mover.targets.to_check(target), force=force)

    if not to_do:
        return {}
    mover.batch = None  # whose one job this was
    done = mover.move(
        [mover.input(path)],
        next(iter(to_do.values())),
        convert_all,
        check=check_all,
        plan=[f"would convert {path}: {table} to {target}" for table, target in to_do.items()],
        closing=lambda done: [
            line
            for table, report in zip(to_do, done.entries, strict=True)
            for line in (
                f"{path}: {table} -> {to_do[table]}, {format_size(report.size)},"
                f" {kept_words(report)}",
                *told_of(report, verbose=verbose),
            )
        ],
        files=lambda done: len(done.entries),
    )
    return {} if done is None else dict(zip(to_do, done.entries, strict=True))
