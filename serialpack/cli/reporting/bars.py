"""Which bar is shown, where there is someone to look at one."""

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from serialpack.cli.naming import stat_of
from serialpack.cli.options.requests import Manner
from serialpack.cli.reporting.say import named

if TYPE_CHECKING:
    from serialpack.cli.reporting.progress import FilesBar, ProgressBar


def shows_progress(manner: Manner) -> bool:
    """Whether there is someone to look at a bar, and who wants one."""
    return not (manner.quiet or manner.no_progress) and sys.stderr.isatty()


def progress_bar(
    path: str, manner: Manner, *, counts_written: bool = False
) -> AbstractContextManager["ProgressBar | None"]:
    """A bar where there is someone to look at it."""
    if not shows_progress(manner):
        return nullcontext()
    from serialpack.cli.reporting.progress import ProgressBar

    return ProgressBar(os.path.basename(named(path)), counts_written=counts_written)


def files_bar(files: Sequence[str], manner: Manner) -> AbstractContextManager["FilesBar | None"]:
    """A bar over several files, where there is someone to look at it."""
    if len(files) < 2 or not shows_progress(manner):
        return nullcontext()
    from serialpack.cli.reporting.progress import FilesBar

    return FilesBar([0 if found is None else found.st_size for found in map(stat_of, files)])
