"""Data of any size for benchmarks and for ``make try``, the same bytes on every machine.

    python -m benchmarks.data contacts --size 300_000_000 contacts.ndjson
    python -m benchmarks.data random --size 1_000_000 -            to standard output
    python -m benchmarks.data repeat FILE --size 4_294_967_296     FILE again and again

The size is in bytes; contacts end with the record that reaches it. Files that benchmarks share
are kept in a cache folder: $SERIALPACK_BENCH_CACHE, or one in the system's temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import IO, Any

_SEED = 1
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_STREETS = ("Street", "Road", "Avenue", "Lane")


def contacts(seed: int = _SEED) -> Iterator[dict[str, Any]]:
    """Phone-book records without end, about 400 bytes each as JSON."""
    r = Random(seed)
    names = ["".join(r.choices(_LETTERS, k=r.randint(3, 9))).title() for _ in range(800)]
    streets = [f"{name} {r.choice(_STREETS)}" for name in names[:400]]
    index = 0
    while True:
        yield {
            "id": str(uuid.UUID(int=r.getrandbits(128), version=4)),
            "index": index,
            "name": {"first": r.choice(names), "last": r.choice(names)},
            "age": r.randint(18, 90),
            "balance": round(r.random() * 10000, 2),
            "phone": f"+1 ({r.randint(200, 999)}) {r.randint(200, 999)}-{r.randint(0, 9999):04d}",
            "email": f"{r.choice(names).lower()}@{r.choice(names).lower()}.example",
            "address": f"{r.randint(1, 999)} {r.choice(streets)}, {r.choice(names)}ville, "
            f"{r.randint(10000, 99999)}",
            "registered": f"20{r.randint(10, 25)}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}"
            f"T{r.randint(0, 23):02d}:{r.randint(0, 59):02d}:{r.randint(0, 59):02d}",
            "active": r.random() < 0.5,
            "tags": [name.lower() for name in r.choices(names, k=r.randint(1, 5))],
            "latitude": round(r.uniform(-90, 90), 6),
            "longitude": round(r.uniform(-180, 180), 6),
            "note": None,
        }
        index += 1


def write_ndjson(out: IO[bytes], size: int) -> None:
    """Contacts, one a line."""
    written = 0
    for record in contacts():
        if written >= size:
            return
        written += out.write(json.dumps(record).encode() + b"\n")


def write_json(out: IO[bytes], size: int) -> None:
    """Contacts as one JSON array, spelled as json.dumps spells it."""
    written, mark = 0, b"["
    for record in contacts():
        if written >= size and mark != b"[":
            break
        written += out.write(mark + json.dumps(record).encode())
        mark = b", "
    out.write(b"]\n")


def write_random(out: IO[bytes], size: int) -> None:
    """Bytes that no codec can shrink."""
    r = Random(_SEED)
    for start in range(0, size, 1 << 20):
        out.write(r.randbytes(min(1 << 20, size - start)))


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
    chosen = parser.parse_args()
    if chosen.kind == "repeat":
        repeat(Path(chosen.file), chosen.size, sys.stdout.buffer)
    elif chosen.file == "-":
        KINDS[chosen.kind][0](sys.stdout.buffer, chosen.size)
    else:
        with Path(chosen.file).open("wb") as out:
            KINDS[chosen.kind][0](out, chosen.size)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # The reader has had enough; what is still buffered must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
