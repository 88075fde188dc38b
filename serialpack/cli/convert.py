"""``serialpack unpack --to``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from serialpack import api
from serialpack.cli.naming import STDIO, converted_name
from serialpack.cli.run import Input, Manner, Mover, data_of, rounded, say
from serialpack.conversion.files import ConvertOptions, check_convert, convert
from serialpack.errors import UsageError
from serialpack.reports import ConvertReport
from serialpack.units import format_size

if TYPE_CHECKING:
    from serialpack.cli.progress import ProgressBar

#: So many of the places where something was left out are told.
_MOST_TOLD = 10


def convert_files(
    mover: Mover,
    manner: Manner,
    inputs: Sequence[str],
    to: str,
    how: ConvertOptions,
    *,
    keep: bool,
    stored_name: bool,
) -> int:
    """Convert each of ``inputs`` to the format ``to``; the exit code."""
    check_convert(to, format=how["format"], lossy=how["lossy"], threads=how["threads"])
    if not keep and (how["lossy"] or how["skip_bad"] or how["fields"] or not how["verify"]):
        raise UsageError(
            "--rm needs a conversion that is proved and loses nothing",
            hint="leave out --lossy, --skip-bad, --fields and --no-verify",
        )

    def target_of(path: str) -> str:
        return mover.targets.of(path, lambda p: converted_name(p, to, stored=stored_name))

    batch = None
    if len(inputs) > 1 and not mover.dry_run:
        from serialpack.cli.batch import batch_of

        batch = batch_of(inputs, mover.targets, target_of, to, how, keep=keep)

    def work(path: str) -> dict[str, Any]:
        if batch is None:
            given, job = Input.of(path), None
            target = target_of(path)
        else:
            given, job = batch.next(path)
            target = job.target

        def one(to_file: Any, bar: ProgressBar | None) -> ConvertReport:
            if batch is not None and job is not None:
                return batch.report(job)
            return convert(data_of(path), to_file, to=to, progress=bar, **how)

        report = mover.move(
            [given],
            target,
            one,
            check=lambda: api.check(path, None if target == STDIO else target, force=how["force"]),
            plan=[f"would convert {path} to {target}"],
            closing=lambda done: [f"{path} -> {target}, {format_size(done.size)}, {done.kept}"],
        )
        if report is None:
            return {}
        for line in _told(report):
            say(manner, line)
        return _line(path, target, report)

    return mover.each(inputs, work)


def _told(report: ConvertReport) -> list[str]:
    """What was lost or left out, a line each."""
    lines = [f"  no record has a field {name}" for name in report.missing]
    lines += [
        f"  {loss.rule}: {loss.count} changed, first in record {loss.record}, {loss.value_path}:"
        f" {loss.was} became {loss.became or 'nothing'}"
        for loss in report.losses
    ]
    for place in report.places[:_MOST_TOLD]:
        some = f"record {place.record}" if place.records == 1 else f"from record {place.record} on"
        lines.append(f"  left out: {some} (byte {place.offset}): {place.error}")
    if report.left_out > _MOST_TOLD:
        lines.append(f"  left out: {report.left_out - _MOST_TOLD} more")
    return lines


def _line(path: str, target: str | None, report: ConvertReport) -> dict[str, Any]:
    """The line for ``--json``."""
    return {
        "source": path,
        "target": target,
        "format": report.format,
        "to": report.to,
        "size": report.size,
        "records": report.records,
        "losses": [loss._asdict() for loss in report.losses],
        "left_out": report.left_out,
        "places": [place._asdict() for place in report.places],
        "missing": report.missing,
        "exact": report.exact,
        "proved": report.proved,
        "seconds": rounded(report.seconds),
    }
