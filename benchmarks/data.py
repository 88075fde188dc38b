"""Data of any size for benchmarks and for ``make try``, the same bytes on every machine.

    python -m benchmarks.data contacts --size 300_000_000 contacts.ndjson
    python -m benchmarks.data random --size 1_000_000 -            to standard output
    python -m benchmarks.data repeat FILE --size 4_294_967_296     FILE again and again
    python -m benchmarks.data sample uuid4:1000 uuid4.json         a sample of serialpack bench

The size is in bytes; contacts end with the record that reaches it. Files that benchmarks share
are kept in a cache folder: $SERIALPACK_BENCH_CACHE, or one in the system's temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import IO

from serialpack.bench.samples import contacts, parse_sample, random_bytes
from serialpack.bench.samples.base import ndjson
from serialpack.errors import UsageError


def write_ndjson(out: IO[bytes], size: int) -> None:
    """Contacts, one a line."""
    written = 0
    for line in ndjson(contacts.records()):
        if written >= size:
            return
        written += out.write(line)


def write_json(out: IO[bytes], size: int) -> None:
    """Contacts as one JSON array, spelled as json.dumps spells it."""
    written, mark = 0, b"["
    for record in contacts.records():
        if written >= size and mark != b"[":
            break
        written += out.write(mark + json.dumps(record).encode())
        mark = b", "
    out.write(b"]\n")


def write_random(out: IO[bytes], size: int) -> None:
    """Bytes that no codec can shrink."""
    out.writelines(random_bytes.SAMPLE.chunks(size))


#: Kind -> (its writer, its file name's extension)
KINDS: dict[str, tuple[Callable[[IO[bytes], int], None], str]] = {
    "contacts": (write_ndjson, "ndjson"),
    "contacts-json": (write_json, "json"),
    "random": (write_random, "bin"),
}


def cache_folder() -> Path:
    """Where benchmarks keep their files; made if need be, never inside the repository."""
    chosen = os.environ.get("SERIALPACK_BENCH_CACHE")
    folder = Path(chosen) if chosen else Path(tempfile.gettempdir()) / "serialpack-bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cached(kind: str, size: int) -> Path:
    """A file of ``kind`` of about ``size`` bytes, written now if it is not in the cache."""
    write, extension = KINDS[kind]
    return made(f"{kind}-{size}.{extension}", lambda out: write(out, size))


def made(name: str, write: Callable[[IO[bytes]], object], *, anew: bool = False) -> Path:
    """The file ``name`` in the cache, whole or not at all.

    ``write`` makes it if it is not there, or in any case with ``anew``.
    """
    path = cache_folder() / name
    if anew or not path.exists():
        part = path.with_name(f"{name}.{os.getpid()}.part")
        try:
            with part.open("wb", buffering=1 << 20) as out:
                write(out)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return path


def repeat(path: Path, size: int, out: IO[bytes]) -> None:
    """Write ``size`` bytes: the file again and again, from memory it does not hold whole."""
    left = size
    while left:
        with path.open("rb", buffering=0) as file:
            while left and (data := file.read(min(left, 1 << 20))):
                out.write(data)
                left -= len(data)


def head(path: Path, lines: int) -> bytes:
    """The first lines of a file."""
    with path.open("rb") as file:
        return b"".join(islice(file, lines))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="kind", required=True)
    for kind, (write, _) in KINDS.items():
        verb = verbs.add_parser(kind, help=write.__doc__)
        verb.add_argument("--size", type=int, required=True, help="bytes")
        verb.add_argument("file", help="- for standard output")
    verb = verbs.add_parser("repeat", help="a file again and again, to standard output")
    verb.add_argument("file")
    verb.add_argument("--size", type=int, required=True, help="bytes")
    verb = verbs.add_parser("sample", help="a sample of serialpack bench")
    verb.add_argument("sample", metavar="NAME[:N]")
    verb.add_argument("file", help="- for standard output")
    chosen = parser.parse_args()
    if chosen.kind == "repeat":
        repeat(Path(chosen.file), chosen.size, sys.stdout.buffer)
        return
    if chosen.kind == "sample":
        try:
            sample, n = parse_sample(chosen.sample)
        except UsageError as error:
            parser.error(str(error))
    to_stdout = chosen.file == "-"
    with nullcontext(sys.stdout.buffer) if to_stdout else Path(chosen.file).open("wb") as out:
        if chosen.kind == "sample":
            out.writelines(sample.chunks(n))
        else:
            KINDS[chosen.kind][0](out, chosen.size)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # The reader has had enough; what is still buffered must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
