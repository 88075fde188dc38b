"""What columns is put beside: general compressors, and two that take records apart.

zstd and xz are the system's. brotli, clp-s and Parquet come from the package index, into an
environment of their own in the cache folder. What is not there is left out, and said.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.environment import environment
from benchmarks.measure import Step

#: Distribution -> what it is called here.
PACKAGES = {"brotli": "brotli", "pyarrow": "Parquet", "yscope-clp-core": "clp-s"}

#: The formats of records that clp-s takes, and that pyarrow takes of JSON.
_RECORDS = frozenset({"ndjson"})

_BROTLI = """
import brotli, sys
with open(sys.argv[2], "rb") as file:
    data = file.read()
if sys.argv[1] == "-d":
    sys.stdout.buffer.write(brotli.decompress(data))
else:
    sys.stdout.buffer.write(brotli.compress(data, quality=int(sys.argv[1]), lgwin=24))
"""

#: As much a block as there is: pyarrow takes the types of a file from its first block.
_PARQUET = """
import sys
import pyarrow as pa
from pyarrow import json, parquet
pa.set_cpu_count(1)
table = json.read_json(sys.argv[2], json.ReadOptions(use_threads=False, block_size=1 << 30))
out = pa.PythonFile(sys.stdout.buffer, "w")
parquet.write_table(table, out, compression="zstd", compression_level=int(sys.argv[1]))
"""


class Tool(NamedTuple):
    """A command that packs, and the one that unpacks.

    Both take what to read and where to write. ``reads``: the formats that it can read, all where
    none is named. ``threads``: how many it may use. ``proved``: whether ours proves what it packs.
    """

    name: str
    pack: Callable[[str, str], Step]
    unpack: Callable[[str, str], Step] | None
    reads: frozenset[str] = frozenset()
    threads: int = 1
    proved: bool | None = None

    @property
    def key(self) -> str:
        """What tells it from all others."""
        if self.proved is None:
            return self.name
        return f"{self.name}, {self.threads}, {'proved' if self.proved else 'not proved'}"

    def takes(self, format: str) -> bool:
        """Whether it reads that."""
        return not self.reads or format in self.reads


def ours(command: str, effort: int, *, threads: int = 2, proved: bool = True) -> Tool:
    """``serialpack pack -s columns``."""
    count = ["-j", str(threads)]
    verify = [] if proved else ["--no-verify"]
    words = [command, "pack", "-q", "-s", "columns", f"-{effort}", *count, *verify]
    return Tool(
        f"columns -{effort}",
        lambda source, to: Step([*words, source, "-o", "-"], into=to),
        lambda packed, to: Step([command, "unpack", "-q", *count, packed, "-o", "-"], into=to),
        threads=threads,
        proved=proved,
    )


def _stream(name: str, pack: list[str], unpack: list[str]) -> Tool:
    """A command that reads a file, named last, and writes to its standard output."""
    return Tool(
        name,
        lambda source, to: Step([*pack, source], into=to),
        lambda packed, to: Step([*unpack, packed], into=to),
    )


class Peers:
    """The tools that are there, by the name that the tables have: ``zstd -19``, ``clp-s -3``."""

    def __init__(self, *, install: bool) -> None:
        self._python, found = environment("peers", PACKAGES, install=install)
        self.versions = {PACKAGES[name]: version for name, version in found.items()}
        for command in ("zstd", "xz"):
            if version := _version(command):
                self.versions[command] = version
        self.absent = {"zstd", "xz", *PACKAGES.values()} - set(self.versions)

    def tools(self, *names: str) -> list[Tool]:
        """Those of ``names`` that are there."""
        return [self._tool(name) for name in names if name.split()[0] in self.versions]

    def _tool(self, name: str) -> Tool:
        command, level = name.split(" -")
        match command:
            case "zstd":
                words = ["zstd", "-q", "-T1", *["--ultra"][: int(level) > 19], f"-{level}", "-c"]
                return _stream(name, words, ["zstd", "-q", "-dc"])
            case "xz":
                return _stream(name, ["xz", "-T1", f"-{level}", "-c"], ["xz", "-T1", "-dc"])
            case "brotli":
                run = [str(self._python), "-c", _BROTLI]
                return _stream(name, [*run, level], [*run, "-d"])
            case "clp-s":
                return self._clp(name, level)
            case "Parquet":
                return self._parquet(name, level)
        raise ValueError(f"no compressor is called {name}")

    def _clp(self, name: str, level: str) -> Tool:
        """It writes folders, and adds to what is in one."""
        command = str(self._python.with_name("clp-s"))
        anew = ["sh", "-c", 'rm -rf "$0"; exec "$@"']
        words = [command, "c", "--compression-level", level]
        return Tool(
            name,
            lambda source, to: Step([*anew, to, *words, to, source]),
            lambda packed, to: Step([*anew, to, command, "x", packed, to]),
            reads=_RECORDS,
        )

    def _parquet(self, name: str, level: str) -> Tool:
        """Into Parquet; there is no way back to the text."""
        words = [str(self._python), "-c", _PARQUET, level]
        return Tool(
            name,
            lambda source, to: Step([*words, source], into=to),
            None,
            reads=_RECORDS,
        )


def _version(command: str) -> str | None:
    """The first number that a command says of itself."""
    if shutil.which(command) is None:
        return None
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+(\.\d+)*", done.stdout)
    return found[0] if found else None


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size
