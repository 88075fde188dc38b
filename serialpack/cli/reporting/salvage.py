"""What is said of damaged containers, and how what is left of them is had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serialpack import api
from serialpack.cli.naming import STDIO, SUFFIX
from serialpack.cli.words import complain
from serialpack.errors import ArchiveError, DamagedError, NotContainerError, SerialpackError
from serialpack.text import quoted

if TYPE_CHECKING:
    from serialpack.inspection.info import Inspection
    from serialpack.reports import UnpackReport


def add_hint(error: SerialpackError, path: str) -> None:
    """Say in ``error`` how to get what is left of the container ``path``, if anything is."""
    damaged = isinstance(error, DamagedError) or (
        isinstance(error, ArchiveError)
        and any(isinstance(each, DamagedError) for _, each in error.failures)
    )
    # What has lost its first bytes is told by its name.
    named_so = isinstance(error, NotContainerError) and path.endswith(SUFFIX)
    if not (damaged or named_so) or path == STDIO:
        return
    from serialpack.container.salvage import has_blocks

    try:
        with open(path, "rb") as file:
            if not has_blocks(file):
                return
    except (OSError, SerialpackError):
        return
    before = f"{error.hint}, or " if error.hint else ""
    error.hint = f"{before}serialpack unpack --salvage {quoted(path)} gives back what is whole"


def every_damage(
    path: str, error: DamagedError, *, trust: bool, threads: int | None
) -> DamagedError:
    """The error that sums up all damage in ``path``, each place of which is told here; ``error`` is
    the first.

    Standard input cannot be read again, so ``error`` itself is given back for it.
    """
    if path == STDIO:
        return error
    try:
        report = api.unpack(path, None, salvage=True, trust=trust, threads=threads)
    except SerialpackError:
        return error
    if not report.damage:
        return error
    for place in report.damage:
        complain(str(place), path)
    places = f"{len(report.damage)} place" + "s" * (len(report.damage) > 1)
    found = DamagedError(f"damaged in {places}: {report.whole_blocks} are whole")
    found.damage = report.damage
    return found


def left_of(path: str, error: DamagedError) -> Inspection:
    """What is left of a damaged file; ``error`` again where nothing is."""
    if path == STDIO:
        raise error
    try:
        found = api.inspect(path, salvage=True)
    except SerialpackError:
        raise error from None
    if not found.damage:
        raise error
    return found


def tell_losses(report: UnpackReport, name: str) -> None:
    """A line for each range that is lost, and for what else is damaged in the container."""
    # An entry is called by its path.
    here: dict[str, Any] = {} if report.entry is None else {"member": 0}
    for place in report.damage:
        if place.block is None or not report.lost:
            complain(str(place._replace(**here)), name)
    for lost in report.lost:
        complain(f"lost: {lost._replace(**here)}", name)


def losses(report: UnpackReport) -> dict[str, Any]:
    """What ``--json`` says of a damaged container, and of no other."""
    if not (report.damage or report.lost):
        return {}
    return {
        "damage": [each._asdict() for each in report.damage],
        "lost": [each._asdict() for each in report.lost],
        "exit": 3,
    }
