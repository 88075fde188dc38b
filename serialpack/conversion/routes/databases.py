"""Databases of several tables, read as one map of their records by name, and made of such a map.

``from_tables`` gives the content of a database as that map. ``into_tables`` converts each list of
the map into a table of its own, and joins them in one database.
"""

from __future__ import annotations

import hashlib
import io
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from serialpack.api import Target, target_name
from serialpack.compressed.pieces import Pieces
from serialpack.conversion.blocks.writing import ProvingWriter
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rules import BY_TABLE, EVERY, RULES
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.sources.content import Content
from serialpack.conversion.sources.datasets import kept_copy
from serialpack.conversion.sources.reading import SourceReader
from serialpack.conversion.tables.at import Lists
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.survey_result import SurveyResult
from serialpack.conversion.tables.to_database import NO_ROWS_COLUMN, no_records
from serialpack.conversion.targets.sinks import opened_target
from serialpack.errors import (
    RefusedError,
    SerialpackError,
    UnreadableTableError,
    ValueRefusedError,
    Ways,
)
from serialpack.files.source import Source
from serialpack.files.targets import not_kept_by
from serialpack.formats import FORMATS
from serialpack.formats.base import MAX_BLOCK
from serialpack.formats.python.pickle import PROTOCOL, dump_pickle
from serialpack.formats.shared.random_access import FileRead, as_file
from serialpack.formats.sqlite.database import open_table, tables_in
from serialpack.formats.sqlite.write import NewDatabase, is_name, join_tables, same_names
from serialpack.hidden import temporary_folder
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.reports import ConvertReport
from serialpack.values.kinds import AROUND, NO_ROWS, VIEWS, Loss, totals

#: Bytes of rows that are read at a time, and what a row takes beside its bytes, about.
_BLOCK, _ROW = 1 << 20, 32


def from_tables(content: Content, plan: ConversionPlan, losses: Losses, source: Source) -> Content:
    """``content``, a database, as one map of its tables by name, where it has several; a copy of a
    pipe that is made for that is closed with ``source``. ``plan``: how rows are read.

    Errors as of reading one; RefusedError for more than one map holds, ValueRefusedError for what
    ``losses`` does not allow.
    """
    content = kept_copy(content, source)
    path = as_file(content.read).path
    assert path is not None
    tables = list(tables_in(Path(path), counted=False))
    if len(tables) < 2 or all(table.wrong for table in tables):
        return content
    reading = _Tables(path, plan, losses)
    document = {table.name: reading.rows(table.name) for table in tables if not table.wrong}
    names = ", ".join(document)
    told = [Loss(BY_TABLE, len(document), 0, "$", f"the tables {names:.60}", "lists by name")]
    for table in tables:
        place = Lists().place(table.name)
        if table.wrong:
            told.append(Loss(VIEWS, 1, 0, place, table.name, f"{table.name}: {table.wrong}"))
        elif not document[table.name]:
            names = ", ".join(table.columns)
            told.append(Loss(NO_ROWS, len(table.columns), 0, place, f"{names:.60}", ""))
    counted = Losses(losses.allowed)
    counted.merge(told)
    check_dropped(told, counted, plan.target)
    counted.check_carried(plan.target)
    made = ConversionPlan("pickle", fields=plan.fields, alone=True)
    return content._replace(
        read=Pieces(iter([dump_pickle(document, PROTOCOL)])).read,
        plan=made._replace(source_serializer=("pickle", (PROTOCOL,))),
        of=content.of or as_file(content.read),
        dropped=(*content.dropped, *told, *losses.report()),
        as_it_is=False,
    )


class _Tables:
    """Reads all rows of tables of one database, as long as these are few enough for one map."""

    def __init__(self, path: str, plan: ConversionPlan, losses: Losses) -> None:
        writer = ProvingWriter(plan)
        self._reader = SourceReader(plan, lambda lost, first: writer.refuse(lost, first))
        self._path = path
        self._losses = losses
        self._size = 0

    def rows(self, table: str) -> list[Any]:
        """The records of a table."""
        file = FileRead(lambda _: b"", self._path, table)
        records: list[Any] = []
        losses = Losses(self._losses.allowed)
        try:
            for block in self._reader.format.split(file, _BLOCK, for_values=True):
                self._size += len(block.data) + _ROW * (block.records or 0)
                if self._size > MAX_BLOCK:
                    raise RefusedError(
                        "with those before it, it is too large for one map",
                        hint="--to ndjson --table NAME takes one of any size",
                    )
                records += self._reader.read(block, losses)
        except SerialpackError as error:
            if not isinstance(error, UnreadableTableError):
                error.message = f"the table {table}: {error.message}"
            raise
        self._losses.merge(_in_map(Lists().place(table), loss) for loss in losses.report())
        return records


#: So many tables are made of one map: for each it is read once more.
_MOST = 64

#: Converts into a file of a format, with other options than were said; where ``losses`` counts
#: them, nothing is written.
Convert = Callable[..., ConvertReport]


def tables_of(known: SurveyResult, how: ConvertOptions) -> Lists | None:
    """The tables that the one record is, which would be a row: a document that is a map of nothing
    but lists of records, of two or more: one table would be a list again. None where it is none, or
    the user said what is wanted."""
    assert known.layout is not None
    found, at = known.layout.tables, how["shaping"].at
    names = found.names
    # What stands around a path is told, where it is left out, of one table.
    around = at and {AROUND, EVERY}.intersection(how["lossy"])
    said = how["table"] is not None or around or how["fields"] or how["strict"]
    if said or not 0 < len(names) <= _MOST:
        return None
    if FORMATS.declaration(known.source).sequence:
        return None
    found = found._replace(above=f"{at}.{found.above}" if at else found.above)
    if found.above and any("." in name for name in names):
        return None  # the paths of which are others
    return found if all(map(is_name, names)) and same_names(names) is None else None


def into_tables(
    source: Source,
    target: Target,
    to: str,
    lists: Lists,
    how: ConvertOptions,
    one: Convert,
) -> ConvertReport:
    """Make a database with a table of each of ``lists``, which ``one`` makes alone.

    Errors as of the conversion.
    """
    names = lists.names
    with temporary_folder() as folder:
        paths = [Path(folder) / f"{number}.db" for number in range(len(names) + 1)]
        *parts, whole = paths
        reports = {}
        for path, name in zip(parts, names, strict=True):
            if name in lists.empty:
                NewDatabase(path, name, [(NO_ROWS_COLUMN, "")]).close()
            else:
                reports[name] = _table_alone(path, name, to, lists, how, one)
        _join(whole, list(zip(parts, names, strict=True)), verify=how["verify"])
        with opened_target(target, how["force"], source.stat, verify=how["verify"]) as into:
            out = LimitedWrite(into.write, how["max_size"])
            with whole.open("rb") as file:
                for data in iter(partial(file.read, _BLOCK), b""):
                    out(data)
    was = "the lists of the map"
    told = [Loss(BY_TABLE, len(names), 0, lists.place(), was, "tables by name")]
    if lists.empty:
        place = lists.place(next(filter(lists.empty.__contains__, names)))
        told.append(no_records(place, len(lists.empty)))
    told += _told(reports, lists, how, one)
    first, *_ = each = [*reports.values()]
    return first._replace(
        source=source.path,
        target=target_name(target),
        size=into.size(out.written),
        records=sum(report.records or 0 for report in each),
        losses=[loss for loss in told if not RULES[loss.rule].is_carried(to)],
        left_out=sum(report.left_out for report in each),
        places=[place for report in each for place in report.places],
        carried=[loss for loss in told if RULES[loss.rule].is_carried(to)],
        back=next((report.back for report in each if report.back), ()),
        types={f"{n}.{c}": t for n, r in reports.items() for c, t in r.types.items()},
        columns=sum(report.columns for report in each),
        text=tuple(f"{n}.{name}" for n, report in reports.items() for name in report.text),
        not_kept=not_kept_by(into.plain),
    )


def _as_row(to: str, how: ConvertOptions, one: Convert) -> str:
    """The hint that all of the map goes into one row, where it does."""
    try:
        one(io.BytesIO(), to, {**how, "table": "data"}, losses=Losses(how["lossy"]))
    except SerialpackError:
        return ""
    return "--table NAME makes one row of all, with the lists as JSON text"


def _table_alone(
    path: Path, name: str, to: str, lists: Lists, how: ConvertOptions, one: Convert
) -> ConvertReport:
    """Make a database of the list ``name`` alone in the file ``path``; a refusal also tells how to
    make one row of the map, where that would do."""
    try:
        with path.open("wb") as file, in_map(name, lists, how["lossy"]):
            return one(file, to, {**only(name, lists.above, how), "table": name})
    except ValueRefusedError as error:
        # What is said of columns would take the table alone.
        as_row = _as_row(to, how, one)
        if error.record is None and as_row:
            error.hint, error.ways = as_row, None
        elif as_row:
            error.hint = f"{error.hint}, {as_row}" if error.hint else as_row
        raise


def _join(whole: Path, parts: Sequence[tuple[Path, str]], *, verify: bool) -> None:
    """Put the table of each of ``parts``, a database and the name of its table, into the database
    ``whole``; ``verify``: and see that its rows are the same there."""
    try:
        join_tables(whole, parts)
    except sqlite3.Error as error:
        raise RefusedError(f"SQLite does not take it: {error}") from None
    for path, name in parts:
        if verify and _digest(path, name) != _digest(whole, name):
            raise ValueRefusedError("the rows in the database are not those that were proved")


@contextmanager
def in_map(name: str, lists: Lists, lossy: Collection[str]) -> Iterator[None]:
    """Where the list ``name`` of ``lists`` is made a table: errors have their places in the map,
    and do not ask for what ``only`` asks for but ``lossy`` does not."""
    try:
        yield
    except ValueRefusedError as error:
        place = error.value_path
        if not place.startswith(tuple(map(lists.place, lists.names))):  # as of what cannot be read
            error.value_path = _below(lists.place(name), error.record) + place[1:]
            error.record = None if error.record is None else 0
        # Nobody has to name the rule by which the other lists are left out.
        ways = Ways() if error.ways is None else error.ways
        named = tuple(rule for rule in ways.rules if rule != AROUND)
        if named and AROUND not in lossy:
            error.ways = ways._replace(rules=named)
            error.hint = str(error.ways)
        raise


def only(name: str, above: str, how: ConvertOptions) -> ConvertOptions:
    """``how``, for the one list of that name below the path ``above``; what is around it is the
    others, and is not lost."""
    at = how["shaping"].at
    own = f"{above.removeprefix(f'{at}.') if at else above}{name}."
    types = [(n.removeprefix(own), kind) for n, kind in how["shaping"].types if n.startswith(own)]
    return {
        **how,
        "shaping": how["shaping"]._replace(at=above + name, types=tuple(types)),
        "lossy": [*how["lossy"], AROUND],
    }


def _told(
    reports: Mapping[str, ConvertReport], lists: Lists, how: ConvertOptions, one: Convert
) -> list[Loss]:
    """What is told of the tables, with its places in the map; of reading that, which is done for
    each of them, what is told once."""
    found = {name: [*each.losses, *each.carried] for name, each in reports.items()}
    told: list[Loss] = []
    if set.intersection(*(set(map(_place, each)) for each in found.values())):
        all_held: ConvertOptions = {**how, "shaping": Shaping()}
        read = one(io.BytesIO(), "pickle", all_held, losses=Losses(()))
        told = [*read.losses, *read.carried]
    once = {_place(loss): loss.count for loss in told}
    for name, losses in found.items():
        for loss in losses:
            count = loss.count - once.get(_place(loss), 0)
            if _place(loss) not in once:
                loss = _in_map(lists.place(name), loss)
            if count > 0 and loss.rule != AROUND:
                told.append(loss._replace(count=count))
    return totals(told)


def _below(place: str, record: int | None) -> str:
    """The place of a list, or of a record in that."""
    return place if record is None else f"{place}[{record}]"


def _in_map(place: str, loss: Loss) -> Loss:
    """``loss`` of a record of the list at ``place``, with its place in the map."""
    return loss._replace(record=0, value_path=_below(place, loss.record) + loss.value_path[1:])


def _place(loss: Loss) -> Loss:
    """``loss`` but for how often it was."""
    return loss._replace(count=0)


def _digest(path: Path, table: str) -> bytes:
    """Of all rows of a table."""
    digest = hashlib.blake2b()
    with open_table(path, table) as found:
        for _, rows in found.pieces(_BLOCK):
            digest.update(rows.data)
    return digest.digest()
