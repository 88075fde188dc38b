"""A source is converted in one pass: opened, sent along the route that suits, and reported."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial

from serialpack.api import Target, check_target, target_name
from serialpack.columns.fields.wanted import Field
from serialpack.conversion.losses.losses import Losses, check_dropped
from serialpack.conversion.losses.rules import RULES
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.plan import ConversionPlan
from serialpack.conversion.preparing import Prepared, is_as_stored, prepared
from serialpack.conversion.routes.copying import (
    copied,
    copied_as_array,
    copied_database,
    copied_table,
    is_copied,
    schema_dropped,
    table_in_place,
)
from serialpack.conversion.routes.outcome import Converted, comes_back, comes_back_by
from serialpack.conversion.routes.stream import convert_stream
from serialpack.conversion.sources.fields import Fields, fields_lost
from serialpack.conversion.tables.closing_line import turned_back_by
from serialpack.conversion.tables.layout import text_columns
from serialpack.conversion.tables.rewindable import Rereadable
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.survey_result import SurveyResult, TableKept
from serialpack.conversion.tables.writers import has_plain_text
from serialpack.conversion.targets.sinks import HeldWrite, OpenTarget, is_own_file, opened_target
from serialpack.conversion.types.spelling import TEXT
from serialpack.files.targets import not_kept_by
from serialpack.formats import FORMATS
from serialpack.pipeline.line import Progress
from serialpack.pipeline.unpack import LimitedWrite
from serialpack.pipeline.workers import usable_cores
from serialpack.reports import ConvertReport, RecordsInside
from serialpack.values.kinds import AROUND, totals


class OnePass:
    """Converts a source, as it is now, from its front to its end.

    ``known``: what is known of a source that was looked at. ``losses`` counts what is changed;
    nothing is written then. ``refused``, ``listed``: as of the plan.
    """

    def __init__(
        self,
        again: Rereadable,
        to: str,
        how: ConvertOptions,
        known: SurveyResult | None,
        block_size: int | None = None,
        progress: Progress | None = None,
        losses: Losses | None = None,
        refused: bool = False,
        listed: bool = False,
    ) -> None:
        self._again = again
        self._to = to
        self._how = how
        self._threads = how["threads"] or usable_cores()
        self._known = known
        self._block_size = block_size
        self._progress = progress
        self._losses = losses
        self._refused, self._listed = refused, listed
        self._wanted = Fields(how["fields"])

    def into(self, target: Target) -> ConvertReport:
        """Write ``target``; errors as of ``files.convert``."""
        how = self._how
        with ExitStack() as stack:
            opened = stack.enter_context(self._again.opened(trust=how["trust"]))
            check_target(target, how["force"], opened.stat)
            front = prepared(opened, self._to, how, self._threads, self._again.restored)
            front = self._as_known(front)
            table = stack.enter_context(self._table_kept(front, target))
            with opened_target(target, how["force"], opened.stat, verify=how["verify"]) as into:
                # A file is left behind whole or not at all; of a pipe the front waits.
                held = HeldWrite(into.write) if how["fields"] and into.patch is None else None
                write = held or into.write if self._losses is None else _no_write
                out = LimitedWrite(write, how["max_size"])
                done = self._by_route(front, out, into, held, table)
                done = self._with_dropped(front, done)
                missing = self._missing(front, done)
                done = self._without_fields(done, missing, written=bool(out.written))
                if held is not None:
                    held.release()
                opened.check_unchanged()
                long = _long_header(self._to, out.front, into)
        report = self._report(front, done, target, into.size(out.written))
        not_kept = not_kept_by(into.plain)
        return report._replace(missing=missing, not_kept=not_kept, array_header=long)

    def _as_known(self, front: Prepared) -> Prepared:
        """``front``, with what is known of all its records."""
        plan = front.plan._replace(refused=self._refused, listed=self._listed)
        known = self._known
        if known is None:
            return front._replace(plan=plan)
        plan = plan._replace(layout=known.layout, types=known.types, kept=known.kept)
        return front._replace(plan=plan, block_size=known.block_size)

    def _is_by_types(self, front: Prepared) -> bool:
        """Whether the target is a table that is made by the types of the source."""
        return self._known is not None and self._known.by_types and not _is_made(front)

    def _table_kept(
        self, front: Prepared, target: Target
    ) -> AbstractContextManager[TableKept | None]:
        """Such a table in a temporary file, where it cannot be made in its place; None else."""
        if not self._is_by_types(front) or (self._losses is None and is_own_file(target)):
            return nullcontext()
        from serialpack.conversion.tables.batches import kept_table

        return kept_table(front.content.read, front.plan, self._how["max_size"], self._progress)

    def _is_same(self, front: Prepared) -> bool:
        """Whether the target has the very bytes of the content."""
        to, how = self._to, self._how
        return is_as_stored(front.content, to, how) or is_copied(front.plan.source, to, how)

    def _by_route(
        self,
        front: Prepared,
        out: LimitedWrite,
        into: OpenTarget,
        held: HeldWrite | None,
        table: TableKept | None,
    ) -> Converted:
        """Write the target by the first route that can be taken."""
        content, plan, progress = front.content, front.plan, self._progress
        if is_copied(plan.source, self._to, self._how):
            return copied_database(content.read, out, progress)
        same = self._is_same(front)
        if same or _is_made(front):
            checked = same and self._how["verify"] and content.projected is None
            done = copied(content.read, out, progress, plan.source if checked else None)
            if same and content.projected is not None:
                done = done._replace(records=content.projected.records)
            return done
        if table is not None:
            return copied_table(table, out, progress)
        if self._is_by_types(front):
            assert into.so_far is not None
            return table_in_place(content.read, plan, out, into.so_far, progress)
        if (array := copied_as_array(content.read, out, plan, progress)) is not None:
            return array
        return convert_stream(
            content.read,
            out,
            plan,
            block_size=front.block_size or self._block_size,
            threads=self._threads,
            size=front.size,
            patch=into.patch,
            progress=progress,
            losses=self._losses,
            elsewhere=front.elsewhere,
            seen=None if held is None else partial(_released, held, self._wanted),
        )

    def _with_dropped(self, front: Prepared, done: Converted) -> Converted:
        """``done`` with what was dropped of the source; ValueRefusedError where that may not be."""
        content = front.content
        dropped = [*content.all_dropped, *schema_dropped(content.read, self._to)]
        check_dropped(dropped, Losses(front.plan.lossy), self._to)
        dropped += () if self._known is None else self._known.told
        return done._replace(losses=totals([*done.losses, *dropped]))

    def _missing(self, front: Prepared, done: Converted) -> list[str]:
        """The fields that were asked for and that no record has."""
        projected = front.content.projected
        return self._wanted.missing(done.fields if projected is None else projected.found)

    def _without_fields(self, done: Converted, missing: list[str], *, written: bool) -> Converted:
        """``done`` with the fields that are missing; ValueRefusedError where none may be."""
        if not missing or not written or done.records == 0:
            return done
        lost = fields_lost(missing, self._how["lossy"])
        if self._losses is not None:
            self._losses.merge([lost])
        return done._replace(losses=totals([*done.losses, lost]))

    def _report(self, front: Prepared, done: Converted, target: Target, size: int) -> ConvertReport:
        """What is told of the conversion to ``target``, a file of ``size`` bytes."""
        to, how, known = self._to, self._how, self._known
        content, plan, layout = front.content, front.plan, front.plan.layout
        whole = self._is_same(front) and not how["fields"]
        above = f"{how['shaping'].at}." if how["shaping"].at else ""
        return ConvertReport(
            source=front.name,
            target=target_name(target),
            format=content.found,
            to=to,
            read=done.read,
            size=size,
            records=done.records,
            losses=[loss for loss in done.losses if not RULES[loss.rule].is_carried(to)],
            left_out=done.left_out,
            places=done.places,
            exact=whole,
            proved=how["verify"] or whole,
            seconds=done.seconds,
            carried=[loss for loss in done.losses if RULES[loss.rule].is_carried(to)],
            back=_back(plan, done),
            by_content=content.by_content,
            read_as="" if content.loose is None else content.loose.words,
            inside=RecordsInside() if layout is None else layout.inside.below(above),
            apart=layout is not None and bool(layout.tables.names) and AROUND not in plan.lossy,
            kept_pipe=content.kept,
            types=_types(plan),
            columns=0 if known is None or not how["shaping"].gives_types else known.columns,
            text=() if known is None else known.text,
            commas=() if known is None else known.commas,
            decimals=() if known is None else known.decimals,
            comes_back=comes_back(plan, done, as_it_is=content.as_it_is),
            comes_back_by=comes_back_by(plan),
        )


def _types(plan: ConversionPlan) -> dict[str, str]:
    """The columns of text that have a type in the target, and which."""
    found = {column.name: column.spelling.type for column in plan.types}
    texts = text_columns(plan.layout) if found else ()
    return {name: kind for name, kind in found.items() if kind == TEXT or name not in texts}


def _released(held: HeldWrite, wanted: Fields, found: frozenset[Field]) -> None:
    """Write what is held once all the fields were found that were asked for."""
    if not wanted.missing(found):
        held.release()


def _no_write(_: object) -> None:
    """Where nothing is written."""


def _long_header(to: str, front: bytes, into: OpenTarget) -> int:
    """How long the header of an array in the target ``to`` is where NumPy reads it only if it is
    told so; 0 where it is not, or nobody knows. ``front``: the first bytes of the target."""
    declared = FORMATS.declaration(to)
    zipped = declared.has_arrays and not declared.has_datasets
    if not (declared.is_array or zipped):
        return 0
    from serialpack.formats.arrays.header import MOST_UNTOLD, header_size
    from serialpack.formats.arrays.zipped import longest_header

    try:
        path = into.so_far() if into.so_far is not None and zipped else ""
        size = longest_header(path) if zipped else header_size(front)
    except (OSError, ValueError):  # of what is no file, or no such array by itself
        return 0
    return size if size > MOST_UNTOLD else 0


def _is_made(front: Prepared) -> bool:
    """Whether what is read was made in the format of the target, and no values are asked for."""
    plan = front.plan
    values = plan.tagged or plan.skip_bad or plan.fields or plan.shaping != Shaping() or plan.step
    return front.content.made and plan.source == plan.target and not values


def _back(plan: ConversionPlan, done: Converted) -> tuple[str, ...]:
    """The options by which the target is turned back into what the source was."""
    if done.at:
        return ("-F", plan.target, "--at", done.at)
    is_text = bool(FORMATS.declaration(plan.target).delimiter)
    if plan.layout is None or (is_text and has_plain_text(plan)):
        return ()  # such cells need no words to be read as text, and by --typed are none
    return turned_back_by(plan.target, plan.layout, plan.shaping, done.losses)
