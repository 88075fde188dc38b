"""Several outputs one after another, where that is one file of their format."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, Any

from serialpack.cli.files.mover import Mover
from serialpack.cli.reporting.say import said_later
from serialpack.cli.words import NOT_ALL, complain
from serialpack.conversion.preview import TablePreview
from serialpack.conversion.tables.survey_result import Below
from serialpack.csv_front import before_header, separator_line
from serialpack.errors import RefusedError, UsageError
from serialpack.formats import FORMATS
from serialpack.formats.csv.tokens import rows_of
from serialpack.formats.declaration import Declaration
from serialpack.reports import ConvertReport
from serialpack.spool import Spool
from serialpack.stages.stage import Buffer

#: Bytes that are kept in memory: of a table until its line of names is known to be the same, and
#: of the text that inputs are joined as.
_IN_MEMORY = 16 << 20

#: The rule by which rows have no line of names.
_BARE_ROWS = "shapes"


def into_one(
    mover: Mover,
    target: str,
    work: Callable[[str], dict[str, Any]],
    finish: Callable[[], dict[str, Any]],
) -> int:
    """Do ``work`` for each input of ``mover``, and ``finish`` where none failed, which makes
    ``target`` of them all; only then is told what became of each. The exit code."""
    inputs = mover.inputs
    left, waiting = len(inputs), list[Callable[[], object]]()

    def step(path: str) -> dict[str, Any]:
        nonlocal left
        left -= 1
        if left >= 0:
            with said_later(waiting):
                mover.line(work(path))
            return {}
        if mover.tally.has_failed:
            complain(NOT_ALL, target)
            return {}
        with said_later(waiting):
            line = finish()
        for tell in waiting:
            tell()
        return line

    return mover.each([*inputs, target], step)


class JoinedOutputs:
    """What several inputs become, as one file.

    UsageError for a format of which two files are none, RefusedError where one does not go with
    those before it.
    """

    def __init__(self) -> None:
        self._declared: Declaration | None = None
        self._first = ""
        self._written = False
        self._last = b""
        self._names: bytes | None = None
        self._bare = False
        self._part: JoinedPart | None = None
        self._ahead: dict[str, TablePreview] = {}
        #: All their names of columns, where they are tables that were looked at ahead, each once.
        self._columns: dict[str, None] = {}
        #: What stands between the cells of all of them, where not all have the same there.
        self.delimiter: str | None = None

    def look_at(self, path: str, table: TablePreview) -> None:
        """That the input ``path`` is to become ``table``."""
        last = next(reversed(self._ahead.values()), None)
        if last is not None and last == table:  # of very many there is one line of names in memory
            table = last
        elif last is not None and last.delimiter != table.delimiter:
            self.delimiter = next(iter(self._ahead.values())).delimiter
        self._ahead[path] = table
        self._columns.update(dict.fromkeys(table.names))

    @property
    def lacks_any(self) -> bool:
        """Whether a table that was looked at lacks a column that another has."""
        tables = [table for table in self._ahead.values() if table.names]
        return any(len(set(table.names)) < len(self._columns) for table in tables)

    @property
    def is_uneven(self) -> bool:
        """Whether a column is JSON text in one of the tables that were looked at, and no such in
        another."""
        names: dict[bool, set[str]] = {True: set(), False: set()}
        for table in self._ahead.values():
            layout = table.known.layout
            for column in () if layout is None else layout.columns:
                names[column.is_json].add(column.name)
        return not names[True].isdisjoint(names[False])

    def below(self, path: str) -> Below | None:
        """What the rows of the input ``path`` are to stand below; None: its own names."""
        table = self._ahead.get(path)
        if not self._columns or (table is not None and not table.names):
            return None
        known = None if table is None else table.between(self.delimiter or table.delimiter)
        return Below((*self._columns,), known)

    def _is_below(self, row: bytes) -> bool:
        """Whether a line has the names of all, however they are quoted there."""
        if not self._columns:
            return False
        mark = self.delimiter or next(iter(self._ahead.values())).delimiter
        return rows_of(row[before_header(row) :].decode(), mark) == [[*self._columns]]

    def check(self, format: str, path: str, *, packed: bool = False) -> None:
        """Whether ``path`` in ``format`` can follow; ``packed``: its very bytes do."""
        declared = FORMATS.declaration(format)
        plain = declared.joins == b"" and not declared.delimiter
        if declared.joins is None or (packed and not plain):
            raise UsageError(
                f"{format} files one after another are no {format} file",
                hint=f"--to {format if declared.delimiter else 'ndjson'} joins"
                f" {'their rows' if declared.delimiter else 'any'}, -o FOLDER keeps them apart",
            )
        if self._declared is not None and self._declared != declared:
            raise RefusedError(
                f"it is {format}, {self._first} is {self._declared.name}",
                hint="--to FORMAT makes them one",
            )
        self._declared = declared
        self._first = self._first or path

    def part(self, raw: IO[bytes]) -> JoinedPart:
        """What to write the next output to, which ``check`` was called for."""
        assert self._declared is not None
        if self._names is None and self._part is not None and self._part.front:
            self._names = _first_row(io.BytesIO(self._part.front))  # it failed behind that
        spooled = bool(self._declared.delimiter) and self._names is not None
        self._part = JoinedPart(self, raw, spooled=spooled)
        return self._part

    def put(self, raw: IO[bytes], data: Buffer, *, begins: bool) -> None:
        """Write ``data``, with what stands between where an output ``begins``."""
        assert self._declared is not None
        if begins and self._written:
            if self._declared.has_lines and self._last != b"\n":
                _write(raw, b"\n")
            _write(raw, self._declared.joins or b"")
        _write(raw, data)
        self._written = True
        self._last = bytes(memoryview(data)[-1:])

    def below_names(self, table: IO[bytes], report: ConvertReport) -> None:
        """Leave ``table`` behind its line of names; RefusedError where these are others."""
        if not report.size:
            return
        bare = any(loss.rule == _BARE_ROWS for loss in report.carried)
        if self._names is None:
            self._names, self._bare = _first_row(table), bare
        elif bare or self._bare:
            raise RefusedError("rows without names are not joined", hint="--to ndjson joins any")
        elif (row := _first_row(table)) != self._names and not self._is_below(row):
            raise RefusedError(
                f"its line of names is not that of {self._first}", hint="--to ndjson joins any"
            )


class JoinedFile:
    """A file object by what writes to it."""

    def __init__(self, write: Callable[[Buffer], object]) -> None:
        self._write = write

    def write(self, data: Buffer) -> int:
        """All of ``data``."""
        self._write(data)
        return memoryview(data).nbytes


class JoinedPart:
    """A file object for one output."""

    name = "standard output"

    def __init__(self, joined: JoinedOutputs, raw: IO[bytes], *, spooled: bool) -> None:
        self._joined = joined
        self._raw = raw
        self._begun = False
        self._spool = Spool() if spooled else None
        #: How it begins, where that is written at once.
        self.front = bytearray()

    def write(self, data: Buffer) -> int:
        """All of ``data``."""
        if self._spool is not None:
            return self._spool.write(data)
        if len(self.front) < _IN_MEMORY:
            self.front += data
        self._put(data)
        return len(data)

    def finish(self, report: ConvertReport, *, is_table: bool) -> None:
        """Write what was held back, once it is known to go with the rest."""
        if not is_table:
            return
        if self._spool is None:
            self._joined.below_names(io.BytesIO(self.front), report)
            return
        with self._spool as spool:
            spool.seek(0)
            self._joined.below_names(spool, report)
            while piece := spool.read(1 << 20):
                self._put(piece)

    def _put(self, data: Buffer) -> None:
        if len(data):
            self._joined.put(self._raw, data, begins=not self._begun)
            self._begun = True


def _write(raw: IO[bytes], data: Buffer) -> None:
    view = memoryview(data)
    while view:
        view = view[raw.write(view) :]


def _first_row(table: IO[bytes]) -> bytes:
    row = b""
    while line := table.readline():
        row += line
        if separator_line(row) < len(row) and row.count(b'"') % 2 == 0:
            break
    return row
