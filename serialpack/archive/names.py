"""Which paths the entries of one archive can have."""

from __future__ import annotations

import os
from collections.abc import Mapping

from serialpack.container.entries import fault_of
from serialpack.errors import UsageError
from serialpack.files.source import File, Path


def check_together(sources: Mapping[str, Path | File]) -> None:
    """UsageError where the paths of ``sources`` cannot be those of one archive; TypeError."""
    if not isinstance(sources, Mapping):
        kind = type(sources).__name__
        raise TypeError(f'sources must be a mapping as {{"a.json": "folder/a.json"}}, not {kind}')
    if not sources:
        raise UsageError("an archive has at least one entry")
    seen = {""}
    for path in sources:
        if fault := fault_of(path):
            raise UsageError(f"the path of an entry {fault}: {path!r}")
        folder = path.rpartition("/")[0]
        while folder not in seen:
            seen.add(folder)
            source = sources.get(folder)
            if source is not None and not _is_folder(source):
                raise UsageError(f"{folder!r} cannot be both an entry and the folder of one")
            folder = folder.rpartition("/")[0]


def _is_folder(source: Path | File) -> bool:
    named = isinstance(source, str | os.PathLike)
    return named and os.path.isdir(source) and not os.path.islink(source)  # type: ignore[arg-type]
