"""Says of a source, before it is converted, what will become of it.

``is_splittable``: whether others can convert its blocks; ``preview_table``: which columns its table
of text will have; ``check_tables``: whether it is several tables, where the target is one.
"""

from __future__ import annotations

import io
from typing import NamedTuple

from serialpack.api import opened_source
from serialpack.conversion.losses.rules import DATABASES, TABLES
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.preparing import prepared
from serialpack.conversion.routes.copying import is_copied
from serialpack.conversion.surveying import survey_source
from serialpack.conversion.tables.rewindable import Rereadable
from serialpack.conversion.tables.survey_result import SurveyResult
from serialpack.conversion.targets.writers import holds_tables
from serialpack.errors import SerialpackError, SeveralTablesError
from serialpack.files.source import Path
from serialpack.formats import FORMATS
from serialpack.formats.base import ValueFormat
from serialpack.formats.shared.random_access import FileRead
from serialpack.text import number_of
from serialpack.values.structure import Structure


class TablePreview(NamedTuple):
    """The table of text that a source is to become: its line of names (none: rows alone), what
    stands between its cells, and what is known of the source."""

    names: tuple[str, ...]
    delimiter: str
    known: SurveyResult

    def between(self, delimiter: str) -> SurveyResult:
        """What is known of the source, where this is to stand between its cells."""
        layout, kept = self.known.layout, self.known.kept
        if layout is None or kept is None or delimiter == self.delimiter:
            return self.known
        kept = kept._replace(delimiter=delimiter)
        return self.known._replace(layout=layout._replace(kept=kept), kept=kept)


def is_splittable(source: Path, to: str, how: ConvertOptions) -> bool:
    """Whether the blocks of ``source`` stand in it as they are read, and what becomes of each in
    the target: then others can read and convert them. What is wrong with it, converting says."""
    try:
        with opened_source(source, trust=how["trust"]) as opened:
            content, plan, *_ = prepared(opened, FORMATS.spelled(to), how, threads=1)
            stands = content.read == opened.read
    except (SerialpackError, OSError):
        return False
    target = FORMATS.get(plan.target)
    in_blocks = isinstance(target, ValueFormat) and target.join is not None
    return stands and (in_blocks or plan.target in TABLES)


def preview_table(again: Rereadable, to: str, how: ConvertOptions) -> TablePreview | None:
    """The table of text ``to`` that a source is to become; None where there is none to be told
    of, or anything is wrong, which converting says."""
    try:
        known = survey_source(again, io.BytesIO(), to, how, None)
    except (SerialpackError, OSError):
        return None
    if known is None or known.layout is None:
        return None
    layout = known.layout
    mark = FORMATS.declaration(known.target).delimiter.decode()
    names = tuple(column.name for column in layout.columns) if layout.rows == "maps" else ()
    return TablePreview(names, mark if layout.kept is None else layout.kept.delimiter, known)


def check_tables(source: Path, to: str, how: ConvertOptions, *, apart: bool) -> None:
    """SeveralTablesError where ``source`` is several tables, and ``to`` is one: those of a
    database, and, where they are wanted ``apart``, the lists of records that a map has alone.

    Errors as of the conversion, as far as is looked for that.
    """
    if holds_tables(to):
        return
    with opened_source(source, trust=how["trust"]) as opened:
        content, plan, *_ = prepared(opened, to, how, threads=1)
        if (
            plan.source in DATABASES
            and isinstance(content.read, FileRead)
            and not is_copied(plan.source, to, how)
        ):
            from serialpack.formats.sqlite.database import opened as opened_table

            with opened_table(content.read):
                return
        fmt = FORMATS.get(plan.source)
        if not apart or to not in TABLES - DATABASES or not isinstance(fmt, ValueFormat):
            return
        first = next(iter(fmt.split(content.read, 1, for_values=True)))
        if fmt.declared.sequence or fmt.structure(first, 0) == Structure.ARRAY:
            return
    known = survey_source(Rereadable(source), io.BytesIO(), to, how, None)
    if known is None or known.layout is None:
        return
    from serialpack.conversion.routes.databases import tables_of

    if lists := tables_of(known, how):
        count = number_of(len(lists.names), "list")
        several = SeveralTablesError(f"it is {count} of records by name")
        several.tables, several.above = lists.names, lists.above
        raise several
