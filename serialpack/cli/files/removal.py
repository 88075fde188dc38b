"""What ``--rm`` removes, and when: whatever ends a run, its journal lacks no file that is gone."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from serialpack.errors import FileError, SerialpackError
from serialpack.far import is_far

if TYPE_CHECKING:
    from serialpack.cli.reporting.journal import Journal
    from serialpack.cli.reporting.tally import Tally


class Input(NamedTuple):
    """An input, with its status from before it was opened: what --rm removes must be that."""

    path: str
    before: os.stat_result | None


class Removal:
    """Removes sources whose lines are in the journal, once these are on the disk."""

    def __init__(self, tally: "Tally") -> None:
        self._tally = tally
        self.journal: Journal | None = None
        #: What waits for more to be removed with: to bring the journal to disk takes longer than
        #: to pack a small file.
        self._waiting: list[Input] = []

    def add(self, inputs: Sequence[Input]) -> None:
        """``inputs`` are to be removed, as soon as their lines are written."""
        self._waiting += inputs

    def rest(self) -> Iterator[tuple[str, SerialpackError]]:
        """Remove what waits, of which all was told; those that could not be, and why."""
        inputs, self._waiting = self._waiting, []
        return self.of(inputs)

    def of(
        self, inputs: Sequence[Input], *, attributes_told: bool = False
    ) -> Iterator[tuple[str, SerialpackError]]:
        """As ``rest``, of ``inputs``. ``attributes_told``: also of what is nowhere then."""
        if self.journal is not None and inputs:
            self.journal.to_disk()
        for path, before in inputs:
            try:
                if not is_far(path) and (why := _kept_open(path)) is not None:
                    raise self._tally.kept(FileError(f"{why}; not removed", path=path))
                self._tally.remove(path, before, attributes_told=attributes_told)
            except SerialpackError as error:
                yield path, error


def _kept_open(path: str) -> str | None:
    """As ``sqlite.unwritten.kept_open``, which only a run that removes files needs."""
    from pathlib import Path

    from serialpack.formats.sqlite.unwritten import kept_open

    return kept_open(Path(path))
