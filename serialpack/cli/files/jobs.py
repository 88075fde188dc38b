"""The inputs that can be done ahead of what is told of them, and those that are not to be done."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from serialpack.cli.files.batch import FileJob
from serialpack.cli.files.each_file import check_name
from serialpack.cli.files.outputs import Targets
from serialpack.cli.naming import check_removal
from serialpack.cli.options.requests import Outputs
from serialpack.errors import ExistingFileError, SerialpackError
from serialpack.far import is_far
from serialpack.files.disk import without_dead
from serialpack.files.source import status


class Jobs:
    """What is known of inputs beforehand. What is wrong with one, doing it will say.

    ``target_of`` and ``to`` say where each goes, and in which format; ``packed``: they become
    containers.
    """

    def __init__(
        self,
        paths: Iterable[str],
        targets: Targets,
        outputs: Outputs,
        target_of: Callable[[str], str | None],
        to: Callable[[str], str],
        *,
        packed: bool,
    ) -> None:
        self._packed = packed
        self._targets = targets
        self._outputs = outputs
        #: Those that are to be done.
        self.all: list[FileJob] = []
        #: The status that sources had before they were read, of those that are to be removed.
        self.before: dict[str, os.stat_result | None] = {}
        #: Those whose output is there, and that are to be removed where it is what they become.
        self.again: set[str] = set()
        self._left: dict[str, str] = {}
        self._refused: dict[str, ExistingFileError] = {}
        for path in paths:
            try:
                job = self._job(path, target_of, to)
            except ExistingFileError as error:
                self._refused[path] = error
                continue
            except (SerialpackError, OSError, ValueError):
                continue
            if job is not None:
                self.all.append(job)
        self._to_do = {job.path: job for job in self.all}

    def left_at(self, path: str) -> str | None:
        """What ``path`` became in an earlier run, and is left; None where it is to be done.

        ExistingFileError where it must not be.
        """
        if path in self._refused:
            raise self._refused[path]
        return self._left.get(path)

    def done_meanwhile(self, path: str) -> str | None:
        """What another run has made of ``path`` since this one began, where that is to be left."""
        outputs, job = self._outputs, self._to_do.get(path)
        if job is None or job.target is None or not (outputs.skip_existing and outputs.keep):
            return None
        return job.target if self._is_done(path, job.target) else None

    def without_dead(self) -> Iterator[str]:
        """Remove what killed runs left where outputs go; what is said of it, a line each."""
        targets = (*(job.target for job in self.all if job.target), *self._left.values())
        return without_dead(map(os.path.dirname, targets))

    def _job(
        self, path: str, target_of: Callable[[str], str | None], to: Callable[[str], str]
    ) -> FileJob | None:
        """The job for an input; None where it was done before, and is to be left."""
        outputs = self._outputs
        check_name(path)
        check_removal(path, keep=outputs.keep)
        target = target_of(path)
        # Groups are brought to a disk: what is far is done one by one, but by a cluster.
        far = outputs.scheduler is None and (is_far(path) or is_far(target))
        if far and not outputs.skip_existing:
            return None
        before = status(path)
        if outputs.skip_existing and target is not None and self._is_done(path, target):
            if outputs.keep:
                self._left[path] = target
                return None
            self.again.add(path)
        if far:
            return None
        if not outputs.keep:
            self.before[path] = before
        folder = None if is_far(target) else self._targets.folder_for(target)
        return FileJob(path, target, to(path), before.st_size, folder, path in self.again)

    def _is_done(self, path: str, target: str) -> bool:
        from serialpack.cli.files.rerun import is_done

        return is_done(path, target, packed=self._packed, force=self._outputs.force)
