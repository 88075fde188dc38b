"""What a file takes beside the work on its bytes, for ``bench`` of many files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from serialpack.cli.files.batch import FileJob
from serialpack.cli.files.workers import file_packer, file_unpacker
from serialpack.files.output import OutputGroup
from serialpack.files.source import file_error
from serialpack.hidden import temporary_folder

#: So many files, of so many bytes; and how often. The fastest counts.
_FILES, _BYTES, _ROUNDS = 64, 64, 4


def seconds_per_file() -> tuple[float, float]:
    """Seconds to pack a file of next to nothing, and to unpack it: opening it, writing what it
    becomes and giving that its name; without bringing it to disk.

    FileError where there is no place for temporary files.
    """
    pack = file_packer({"serializer": "raw", "codec": "none"}, False)
    how = {"force": False, "trust": False, "max_size": None}
    unpack = file_unpacker(how, None)
    there: list[float] = []
    back: list[float] = []
    try:
        with temporary_folder() as folder:
            sources = [os.path.join(folder, f"{number}.txt") for number in range(_FILES)]
            for path in sources:
                with open(path, "wb") as file:
                    file.write(b"a" * _BYTES)
            for turn in range(_ROUNDS):
                made = [os.path.join(folder, f"{turn}.{n}.spk") for n in range(_FILES)]
                there.append(_timed(pack, sources, made))
                back.append(_timed(unpack, made, [path[:-4] for path in made]))
    except OSError as error:
        raise file_error(error, "temporary file", "write") from error
    return min(there), min(back)


def _timed(work: Any, sources: Sequence[str], targets: Sequence[str]) -> float:
    """Seconds a file."""
    since = perf_counter()
    with OutputGroup() as group:
        for source, target in zip(sources, targets, strict=True):
            work(FileJob(source, target, size=os.stat(source).st_size), _nothing)
        for output in group.outputs:
            output.give_name()
        group.outputs = []
    return (perf_counter() - since) / len(sources)


def _nothing(*_: object) -> None:
    """A progress that nobody sees."""
