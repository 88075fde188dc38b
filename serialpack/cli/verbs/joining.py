"""Several inputs into one file of a format that has no way to be written on.

Their records are written one after another as text, which is what becomes that file: types of
columns are found over all of them, and what is refused is refused before there is a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from serialpack.cli.files.joined import into_one
from serialpack.cli.files.mover import Mover
from serialpack.cli.files.removal import Input
from serialpack.cli.naming import STDIO
from serialpack.cli.options.implied_format import format_kept
from serialpack.cli.reporting.converted import kept_words
from serialpack.compressed.source import uncompressed_name
from serialpack.conversion.files import convert
from serialpack.conversion.losses.rules import DATABASES, TEXT_TABLES
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.tables.rewindable import Rereadable, is_pipe
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.targets.writers import named_format
from serialpack.errors import SerialpackError, UsageError, ValueRefusedError
from serialpack.files.source import shown
from serialpack.formats import FORMATS
from serialpack.reports import ConvertReport
from serialpack.serializers import SERIALIZERS
from serialpack.spool import Spool
from serialpack.text import number_of, printable
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.pipeline.line import Progress


#: What is told where numbers had a width.
_WITHOUT_WIDTHS = "text of all inputs, in which numbers have no width: int32 is int64 then"

#: Does an input, or says what a report is to be told as; the line for ``--json``.
Work = Callable[[str], dict[str, Any]]
Told = Callable[[str, str, str, ConvertReport], dict[str, Any]]


class Through(NamedTuple):
    """How inputs become one file in the format ``to``, through ``medium``, the text that they are
    joined as: ``first`` says how each becomes that, ``then`` how that becomes the file."""

    to: str
    medium: str
    first: ConvertOptions
    then: ConvertOptions
    #: Whether inputs, and what they become, say how wide numbers are.
    has_widths: bool
    #: How many records each input had, as far as it was converted; None: they were not counted.
    records: list[int | None]

    @property
    def gives_types(self) -> bool:
        """Whether columns of text are to get types."""
        return self.then["shaping"].gives_types

    def run(
        self,
        mover: Mover,
        target: str,
        work: Work,
        *,
        told: Told,
        write_to: Callable[[IO[bytes]], object],
    ) -> int:
        """Do ``work`` for each input of ``mover``, then make ``target`` of what that wrote to what
        ``write_to`` was called with; the exit code."""

        def one(path: str) -> dict[str, Any]:
            line = work(path)
            return {**line, "to": self.to} if line else line

        with Spool() as text:
            write_to(text)
            return into_one(mover, target, one, lambda: self._whole(text, mover, target, told))

    def part(self, report: ConvertReport) -> ConvertReport:
        """What there is to tell of one input, of which nothing is written alone."""
        self.records.append(report.records)
        return report._replace(size=0, back=(), comes_back="")

    def _whole(self, text: Spool, mover: Mover, target: str, told: Told) -> dict[str, Any]:
        """Make ``target`` of the ``text`` of all inputs; the line for ``--json``."""
        # By its name it would be compressed, where the target is.
        name = uncompressed_name(shown(target))
        source = Rereadable(text, kept=text.is_on_disk, name=name)

        def one(to_file: Any, bar: Progress | None) -> ConvertReport:
            report = convert(source, to_file, to=self.to, progress=bar, **self.then)
            # What was read is told of the inputs; they are not what comes back.
            comes_back = "cells" if report.comes_back else ""
            read_as = _WITHOUT_WIDTHS if self.has_widths else report.read_as
            return report._replace(read=0, comes_back=comes_back, read_as=read_as)

        try:
            report = mover.move(
                [Input(path, None) for path in mover.inputs],
                target,
                one,
                check=tuple,
                plan=(),
                closing=lambda done: [
                    f"{number_of(len(mover.inputs), 'file')} -> {target},"
                    f" {format_size(done.size)}, {kept_words(done)}"
                ],
                binary=not FORMATS.declaration(self.to).is_text,
                files=lambda _: 0,
            )
        except ValueRefusedError as refused:
            if refused.record is not None and FORMATS.declaration(self.to).sequence:
                refused.message += self._input_of(refused.record, mover.inputs)
            raise
        assert report is not None  # there is no plan of it
        return told(target, target, target, report)

    def _input_of(self, record: int, inputs: Sequence[str]) -> str:
        """Which record of which input one of all is, in words; nothing where that is not known."""
        for path, count in zip(inputs, self.records, strict=False):
            if count is None:
                break
            if record < count:
                return f" (record {record} of {printable(path)})"
            record -= count
        return ""


def joined_through(
    inputs: Iterable[str], to: str, how: ConvertOptions, *, as_records: bool = False
) -> Through:
    """How ``inputs`` become one file in the format ``to``, as ``how`` says.

    The rows of tables of text pass as such a table, so that columns get types as they do of one,
    unless they are to pass ``as_records``; all else passes as NDJSON, with the tags by which times,
    bytes and decimals are read as what they are, unless there is JSON on either side, in which a
    tag is what it says.
    """
    formats = {format_of_input(path, how["format"]) for path in inputs}
    said = how["shaping"]
    of_text = formats <= TEXT_TABLES and not (said.typed or said.nest is not None)
    is_table = of_text and not as_records
    in_text = to in TEXT_TABLES
    medium = "csv" if is_table else "ndjson"
    if said.null and said.gives_types and not is_table:
        raise UsageError(
            "--null beside --infer or --types is for inputs that are all tables of text",
            hint="without --null, or --typed --null in place of --infer",
        )
    is_json = any(FORMATS.declaration(name).is_json for name in (*formats, to))
    tagged = how["tagged"] or not (is_table or is_json)
    nulls_read = not (is_table or (in_text and not said.typed))
    of_target = to in SERIALIZERS and SERIALIZERS.cls(to).takes_options
    plain: ConvertOptions = {**how, "tagged": tagged}
    first: ConvertOptions = {
        **plain,
        "shaping": _of_reading(said, null=said.null if nulls_read else None),
        "options": {} if of_target else how["options"],
        "table": None if formats.isdisjoint(DATABASES) else how["table"],
        "max_size": None,
        "as_source": False,
    }
    then: ConvertOptions = {
        **plain,
        "format": medium,
        "shaping": _of_writing(said, null=said.null if is_table or in_text else None),
        "options": how["options"] if of_target else {},
        "table": how["table"] if to in DATABASES else None,
        "fields": (),
        "skip_bad": False,
        "delimiter": None,
        "encoding": None,
        "no_header": False,
    }
    has_widths = _has_widths(to) and any(map(_has_widths, formats))
    return Through(to, medium, first, then, has_widths, [])


def _of_reading(said: Shaping, *, null: str | None) -> Shaping:
    """What of ``said`` is for the inputs, with which text is null."""
    return Shaping(
        null=null,
        typed=said.typed,
        nest=said.nest,
        separator=said.separator,
        at=said.at,
        columnar=said.columnar,
        header=said.header,
    )


def _of_writing(said: Shaping, *, null: str | None) -> Shaping:
    """What of ``said`` is for the one output, with which text is null."""
    return Shaping(
        null=null,
        flatten=said.flatten,
        separator=said.separator,
        indent=said.indent,
        ascii=said.ascii,
        infer=said.infer,
        types=said.types,
        delimiter=said.delimiter,
    )


def _has_widths(format: str) -> bool:
    """Whether its columns, or arrays, have types that say how wide a number is."""
    declared = FORMATS.declaration(format)
    return declared.one_schema or declared.is_array or declared.has_arrays


def format_of_input(path: str, said: str | None) -> str:
    """The format of an input, by its name alone where reading takes away what is read; NDJSON
    where anything is wrong with it, which converting says."""
    if said is None and path != STDIO and os.path.exists(path) and is_pipe(path):
        return named_format(path) or "ndjson"
    try:
        return format_kept(path, said)
    except (SerialpackError, OSError):
        return "ndjson"
