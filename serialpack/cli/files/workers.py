"""What does one file after another of a batch. Each process begins by importing this alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, cast

from serialpack import api

if TYPE_CHECKING:
    from serialpack.archive.write import PackOptions
    from serialpack.cli.files.batch import FileJob
    from serialpack.pipeline.line import Progress
    from serialpack.reports import PackReport, UnpackReport


def file_packer(how: PackOptions, force: bool) -> Callable[[FileJob, Progress], PackReport]:
    """What packs one file after another, in the one thread that it is called in."""
    alone: PackOptions = {**how, "threads": 1}

    def work(job: FileJob, progress: Progress) -> PackReport:
        assert job.target is not None
        return api.pack(job.path, job.target, force=force or job.again, progress=progress, **alone)

    if how.get("shared_dict") is not None:
        return work
    from serialpack.cli.files.fast_path import AlikePacker

    return AlikePacker(work, how, force=force)


def know(shared_dict: str | None) -> None:
    """Read the dictionary that is named, which inputs are then unpacked with."""
    if shared_dict is not None:
        from serialpack import dictionaries

        dictionaries.know(shared_dict)


def file_unpacker(
    how: dict[str, Any], shared_dict: str | None
) -> Callable[[FileJob, Progress], UnpackReport | None]:
    """What unpacks one file after another, in the one thread that it is called in; None for an
    archive, which is many files."""
    from serialpack.archive.detect import is_archive

    how = {**how, "threads": 1}
    know(shared_dict)

    def work(job: FileJob, progress: Progress) -> UnpackReport | None:
        with api.opened_source(job.path) as source:
            if is_archive(source):
                return None
            return api.unpack(
                cast("IO[bytes]", source),
                job.target,
                progress=progress,
                **{**how, "force": how["force"] or job.again},
            )

    if how["max_size"] is not None:
        return work
    from serialpack.cli.files.fast_path import AlikeUnpacker

    return AlikeUnpacker(work, trust=how["trust"], force=how["force"])
