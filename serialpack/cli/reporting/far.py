"""What is said of far files while they are read and written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from serialpack.cli.words import note
from serialpack.far import is_far

if TYPE_CHECKING:
    from serialpack.cli.options.requests import Manner


def hear_of_far(paths: Iterable[str | None], manner: Manner) -> None:
    """Where one of ``paths`` is a URL, say what its server cannot do, and with ``-v`` what is
    tried again."""
    if manner.quiet or not any(map(is_far, paths)):
        return
    import logging

    class Said(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            note(record.getMessage())

    log = logging.getLogger("serialpack.far")
    log.handlers = [Said()]
    log.propagate = False
    log.setLevel(logging.INFO if manner.verbose else logging.WARNING)
