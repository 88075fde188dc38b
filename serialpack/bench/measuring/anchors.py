"""Anchors, which rows are compared with: a copy of memory, and the stock tools on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from serialpack.bench.measuring.disk import Files
from serialpack.bench.results import Anchor
from serialpack.hidden import temporary_folder


class Tool(NamedTuple):
    """A stock compressor: the command that packs standard input, and the one that unpacks it."""

    pack: tuple[str, ...]
    unpack: tuple[str, ...]


#: The tools, in the order in which they are run: the quick ones first.
TOOLS = (
    Tool(("lz4", "-c"), ("lz4", "-dc")),
    Tool(("zstd", "-3", "-q", "-c"), ("zstd", "-dqc")),
    Tool(("gzip", "-6", "-c"), ("gzip", "-dc")),
    Tool(("xz", "-6", "-c"), ("xz", "-dc")),
)


def memory_copy(seconds: float, size: int, held: int) -> Anchor:
    """The anchor for a copy of all ``size`` bytes,
    where that of the ``held`` ones took ``seconds``."""
    whole = seconds * size / max(held, 1)
    return _anchor("memcpy", "", size, size, whole, whole)


def stock_tools(
    path: str,
    size: int,
    seconds: float,
    progress: Callable[[str], object],
    files: Files | None,
) -> list[Anchor]:
    """An anchor for each tool, run once on the file at ``path``, as long as ``seconds`` last.

    ``progress(name)``: is told which tool is run. ``files``: where rows go through files, the
    tools' files too are brought to disk, and read cold.
    """
    until = perf_counter() + seconds
    return [_run(tool, path, size, until - perf_counter(), progress, files) for tool in TOOLS]


def _run(
    tool: Tool,
    path: str,
    size: int,
    seconds: float,
    progress: Callable[[str], object],
    files: Files | None,
) -> Anchor:
    """The anchor for one tool, which says why where it has no figures."""
    name = " ".join(word for word in tool.pack if word not in ("-c", "-q"))
    nothing = Anchor(name, "", None, None, None, None, None, None)
    if shutil.which(tool.pack[0]) is None:
        return nothing._replace(why="not installed")
    progress(name)
    with temporary_folder(files and files.folder) as folder:
        packed, back = Path(folder, "packed"), Path(folder, "back")
        try:
            there = _pipe(tool.pack, Path(path), packed, seconds, files)
            again = _pipe(tool.unpack, packed, back, seconds - there, files)
        except subprocess.TimeoutExpired:
            return nothing._replace(why="not done within the budget")
        except subprocess.CalledProcessError as error:
            return nothing._replace(why=f"failed (exit {error.returncode})")
        if back.stat().st_size != size:
            return nothing._replace(why="gave back another size")
        return _anchor(name, _version(tool), size, packed.stat().st_size, there, again)


def _pipe(
    command: tuple[str, ...], source: Path, target: Path, seconds: float, files: Files | None
) -> float:
    """The seconds that ``command`` took from ``source`` to ``target``. subprocess.SubprocessError
    where it fails, or takes more than ``seconds``."""
    if files is not None:
        files.cool(str(source))
    since = perf_counter()
    with source.open("rb") as reading, target.open("wb") as writing:
        subprocess.run(
            command,
            stdin=reading,
            stdout=writing,
            stderr=subprocess.DEVNULL,
            timeout=max(seconds, 0.001),
            check=True,
        )
        if files is not None:
            os.fsync(writing.fileno())
    return perf_counter() - since


def _version(tool: Tool) -> str:
    """The version that a tool says it has; empty where it says none."""
    command = [tool.pack[0], "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    line = (done.stdout or done.stderr).splitlines()
    # Not the first number in it: lz4 says the width of its words before the version.
    found = re.search(r"\d+(\.\d+)+", line[0]) if line else None
    return found[0] if found else ""


def _anchor(name: str, version: str, size: int, packed: int, pack: float, unpack: float) -> Anchor:
    """The row of a stock tool. ``size``, ``packed``: in bytes; ``pack``, ``unpack``: in seconds."""
    return Anchor(
        name=name,
        version=version,
        size=packed,
        ratio=size / packed if packed else None,
        pack_seconds=pack,
        unpack_seconds=unpack,
        pack_speed=size / pack if pack else None,
        unpack_speed=size / unpack if unpack else None,
    )
