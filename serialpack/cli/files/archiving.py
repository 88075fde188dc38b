"""What ``pack --archive`` makes of its inputs: the archive's name, and those of its entries."""

from __future__ import annotations

import os
from collections.abc import Sequence

from serialpack.cli.files.each_file import check_name
from serialpack.cli.files.inputs import recursive_command
from serialpack.cli.naming import STDIO, SUFFIX
from serialpack.cli.options.requests import Manner
from serialpack.cli.reporting.say import say
from serialpack.container.entries import fault_of
from serialpack.errors import FileError, FolderError, RefusedError, SerialpackError, UsageError
from serialpack.files.paths import entry_path
from serialpack.text import printable, quoted


def archive_name(inputs: Sequence[str], output: str | None) -> str:
    """The name of the archive; UsageError where ``inputs`` cannot become one."""
    if output is None:
        raise UsageError("--archive needs a name for the container", hint="-o FILE.spk")
    if output.endswith("/") or os.path.isdir(output):
        is_there = os.path.isdir(output)
        name = os.path.join(output, f"NAME{SUFFIX}") if is_there else output.rstrip("/") + SUFFIX
        raise UsageError(
            f"--archive makes a file: {printable(output)} is a folder", hint=f"-o {quoted(name)}"
        )
    if STDIO in inputs:
        raise UsageError("--archive takes files: standard input has no name to store")
    return output


def entries_of(
    inputs: Sequence[str], manner: Manner, *, recursive: bool
) -> tuple[dict[str, str], list[tuple[str, SerialpackError]]]:
    """The path in the archive -> the input; and inputs that no archive holds, with the reason.

    What is left out of a path is said.
    """
    entries: dict[str, str] = {}
    refused: list[tuple[str, SerialpackError]] = []
    said: set[str] = set()
    for path in inputs:
        check_name(path)
        entry, removed = entry_path(path)
        if not entry and os.path.isdir(path):
            continue  # the folder that all are in
        if not recursive and os.path.isdir(path) and not os.path.islink(path):
            raise FolderError("is a folder", path=path, hint=recursive_command(path))
        if fault := fault_of(entry):
            hint = "without --archive it can be packed"
            error = RefusedError(f"its path in the archive {fault}", path=path, hint=hint)
            refused.append((path, error))
            continue
        if entry in entries:
            raise FileError(
                f"another input has the same path in the archive, {entry}",
                path=path,
                hint="name each input once, from a folder that all are in",
            )
        if removed and removed not in said:
            said.add(removed)
            say(manner, f"{removed} is left out of paths in the archive")
        entries[entry] = path
    return entries, refused
