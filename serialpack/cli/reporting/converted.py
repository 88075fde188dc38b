"""What is said of conversions: of one in lines of its own, of many in a line for each kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from serialpack.conversion.losses.rules import DATABASES, TEXT_TABLES
from serialpack.conversion.tables.closing_line import closing_words
from serialpack.errors import NO_NAME
from serialpack.reports import ConvertReport
from serialpack.text import in_line, number_of, quoted
from serialpack.values.kinds import DROPPED, FIELDS, Loss, totals

#: So many lists within a record are named.
_MOST_LISTS = 3

#: So many of the columns that stay text are named.
_MOST_TEXT = 5

#: So many of the places where something was left out are told.
_MOST_TOLD = 10

#: What is said of lists below names, in a table with types.
_HEADER = "the first row looks like names: --header takes it for those of the columns"

#: What is said of an array of very many columns, before the length of its header.
_HEADER_IS_LONG = "its header is long: np.load reads it with max_header_size="


def kept_words(report: ConvertReport) -> str:
    """What is in the target, and in which other shape."""
    words = closing_words(report.carried, report.back, report.to)
    return ", ".join(each for each in (report.kept, report.typed, words) if each)


def told_of(report: ConvertReport, *, verbose: bool) -> list[str]:
    """What was lost or left out, a line each."""
    lines = [f"  {_missing(name)}" for name in report.missing]
    if found := _found(report):
        lines.append(f"  it was {found}")
    if report.inside.lists:
        lines.append(f"  it is one row: {_lists(report)}")
    if report.inside.columnar:
        lines.append(f"  it is one row: {_columnar(report)}")
    if report.inside.header and report.to not in TEXT_TABLES:
        lines.append(f"  {_HEADER}")
    if report.text:
        lines.append(f"  {_text(report)}")
    if report.array_header:
        lines.append(f"  {_HEADER_IS_LONG}{report.array_header}")
    if report.kept_pipe:
        lines.append("  it was kept in a temporary file, where it is read more than once")
    lines += [_line_of(loss, "carried") for loss in report.carried if verbose]
    lines += [_line_of(loss, "changed") for loss in _changed(report)]
    return lines + [f"  {line}" for line in _left_out(report)]


class _Kind(NamedTuple):
    """What is so of some files: of how many, and the first; ``values``: of so many in all."""

    files: int
    first: str
    loss: Loss | None = None
    values: int = 0


class Summed:
    """What there is to say of files that nobody is told of one by one."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}
        #: By target: what was carried, in how many files, and what reads it as it was: None where
        #: that is not the same for all.
        self._carried: dict[str, tuple[list[Loss], int, tuple[str, ...] | None]] = {}
        self._left_out: list[str] = []
        self._header = _Kind(0, "")

    def add(self, shown: str, report: ConvertReport) -> None:
        """The file that is called ``shown`` was converted."""
        for loss in _changed(report):
            self._count(f"{loss.rule}: ", shown, loss)
        for name in report.missing:
            self._count(_missing(name), shown)
        if found := _found(report):
            self._count(found, shown)
        if report.inside.lists:
            self._count(f"one row, {_lists(report)}", shown)
        if report.inside.columnar:
            self._count(f"one row, {_columnar(report)}", shown)
        if report.inside.header and report.to not in TEXT_TABLES:
            self._count(_HEADER, shown)
        if report.array_header:
            files, first = self._header.files + 1, self._header.first or shown
            most = max(self._header.values, report.array_header)
            self._header = _Kind(files, first, values=most)
        self._left_out += [f"{shown}: {line}" for line in _left_out(report)]
        if report.carried:
            losses, files, back = self._carried.get(report.to, ([], 0, report.back))
            same = report.back if back == report.back else None
            self._carried[report.to] = totals([*losses, *report.carried]), files + 1, same

    def _count(self, kind: str, shown: str, loss: Loss | None = None) -> None:
        known = self._kinds.get(kind, _Kind(0, shown, loss))
        values = known.values + (0 if loss is None else loss.count)
        self._kinds[kind] = known._replace(files=known.files + 1, values=values)

    def lines(self) -> Iterator[str]:
        """All of it, a line for each kind."""
        for kind, (files, first, loss, values) in self._kinds.items():
            of_files = number_of(files, "file")
            if loss is None:
                yield f"  {of_files}: {kind}; the first is {first}"
                continue
            yield f"  {kind}{values:,} changed in {of_files}, first in {first}, {_at(loss)}"
        for to, (losses, files, back) in self._carried.items():
            yield f"  {closing_words(losses, back or (), to)}; in {number_of(files, 'file')}"
        if self._header.files:
            files, first, _, most = self._header
            yield f"  {number_of(files, 'file')}: {_HEADER_IS_LONG}{most}; the first is {first}"
        yield from (f"  {line}" for line in self._left_out)


def _changed(report: ConvertReport) -> list[Loss]:
    return [loss for loss in report.losses if loss.rule != FIELDS]


def _missing(name: str) -> str:
    return f"no record has a field {name}"


def _found(report: ConvertReport) -> str:
    """As what it was read, where that is not what its name says."""
    if not (report.by_content or report.read_as):
        return ""
    sure = ", by its content; --from says otherwise" if report.by_content else ""
    return f"read as {report.read_as or report.format}{sure}"


def _lists(report: ConvertReport) -> str:
    """What has the lists in a single row as records."""
    lists = " or ".join(f"--at {quoted(key)}" for key in report.inside.lists[:_MOST_LISTS])
    way = "-o FOLDER/ makes a file of each; " if report.apart and report.to not in DATABASES else ""
    return (
        f"{way}{lists} takes the list in it as the records;"
        " --lossy around lets go of what stands beside it"
    )


#: What makes records of a map of maps, with their keys in a column.
_BY_KEY = "jq -c 'to_entries[] | {key} + .value' FILE | serialpack unpack -F ndjson --to csv"


def _columnar(report: ConvertReport) -> str:
    """What has the columns in a single row as columns."""
    above = report.inside.columnar[0]
    if report.inside.by_key:
        return f"--columnar reads its maps as columns; {_BY_KEY} makes records of them"
    if not above:
        return "--columnar reads its lists as columns, and the records across them"
    return (
        f"--at {quoted(above)} --columnar reads the lists there as columns;"
        " --lossy around lets go of what stands beside it"
    )


def _text(report: ConvertReport) -> str:
    """Which columns have got no type, by ``--infer``, and how those of numbers get one."""
    names = report.text
    some = ", ".join(str(name) or NO_NAME for name in names[:_MOST_TEXT])
    more = f" and {len(names) - _MOST_TEXT:,} more" if len(names) > _MOST_TEXT else ""
    ways = [
        f"--types {quoted(','.join(in_line(f'{name}={kind}') for name in found[:_MOST_TEXT]))}"
        f" {does}"
        for kind, found, does in (
            ("decimal-comma", report.commas, "reads a decimal comma"),
            ("decimal", report.decimals, "keeps all digits of numbers, =number makes doubles"),
        )
        if found
    ]
    way = "; ".join(ways) or "--types NAME=number (date, boolean, ...) reads any spelling of one"
    return f"text as before: {some}{more}; {way}"


def _left_out(report: ConvertReport) -> Iterator[str]:
    for place in report.places[:_MOST_TOLD]:
        some = f"record {place.record}" if place.records == 1 else f"from record {place.record} on"
        some = some if place.records != 0 else "behind all records"
        yield f"left out: {some} (byte {place.offset}): {place.error}"
    if report.left_out > _MOST_TOLD:
        yield f"left out: {report.left_out - _MOST_TOLD} more"


def _line_of(loss: Loss, done: str) -> str:
    done = "dropped" if loss.rule in DROPPED else done
    return f"  {loss.rule}: {loss.count} {done}, first in {_at(loss)}"


def _at(loss: Loss) -> str:
    if loss.rule in DROPPED:
        instead = f" ({loss.became})" if loss.became else ""
        return f"record {loss.record}, {loss.value_path}: {loss.was}{instead}"
    became = loss.became or "nothing"
    return f"record {loss.record}, {loss.value_path}: {loss.was} became {became}"
