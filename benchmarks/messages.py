"""Messages of dask.distributed in serialpack's family and in its own: bytes, and processor time.

    python -m benchmarks.messages            measures, and writes the table of docs/dask.md
    python -m benchmarks.messages --print    prints it

Each value is made the frames of a message and back again, joined between as by a socket, in one
process: by the family "serialpack", and by "dask" and "pickle", as they are by default
(``distributed.comm.compression`` false) and with lz4. Figures are the minimum of runs that take
turns, in processor time: ratios of one run of this program.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Literal

import numpy as np
from distributed.protocol.serialize import deserialize_bytes, serialize_bytelist

from benchmarks.objects import fastest
from serialpack.contrib.distributed import register
from tools._marks import between

PAGE = Path(__file__).parents[1] / "docs" / "dask.md"

Compression = str | Literal[False]

#: Name -> families, and distributed's own compression.
WAYS: Mapping[str, tuple[list[str], Compression]] = {
    "serialpack": (["serialpack"], False),
    "dask": (["dask", "pickle"], False),
    "dask, lz4": (["dask", "pickle"], "lz4"),
}


def values() -> dict[str, Any]:
    """What is sent, by what it is called."""
    draw = np.random.default_rng(1)
    records = [
        {"id": n, "name": f"name {n}", "tags": ["a", "b"], "x": n * 1.5} for n in range(20_000)
    ]
    found: dict[str, Any] = {
        "a call": {"op": "update", "key": ("task", 12), "values": [1, 2.5, None], "who": "me"},
        "records, 10 kB": records[:200],
        "records, 1 MB": records,
    }
    for name, size in (("10 kB", 10_000), ("1 MB", 1_000_000), ("100 MB", 100_000_000)):
        items = size // 8
        found[f"a walk (int64), {name}"] = np.cumsum(draw.integers(-3, 4, size=items))
        found[f"prices (float64), {name}"] = np.round(np.cumsum(draw.normal(size=items)), 2)
        found[f"noise (float64), {name}"] = draw.normal(size=items)
    return found


def sent(value: Any, families: list[str], compression: Compression) -> bytes:
    frames = serialize_bytelist(
        value, serializers=families, compression=compression, on_error="raise"
    )
    return b"".join(frames)


def table() -> str:
    register()
    heads = [f"{way}, {what}" for what in ("bytes", "write", "read") for way in WAYS]
    lines = [f"| message | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for name, value in values().items():
        runs = 3 if "100 MB" in name else 7
        made = {way: sent(value, *how) for way, how in WAYS.items()}
        writes: dict[str, Callable[[], object]] = {
            way: partial(_frames, value, *how) for way, how in WAYS.items()
        }
        reads: dict[str, Callable[[], object]] = {
            way: partial(deserialize_bytes, data) for way, data in made.items()
        }
        cells = [f"{len(data):,}" for data in made.values()]
        cells += map(_time, fastest(writes, process_time, runs).values())
        cells += map(_time, fastest(reads, process_time, runs).values())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _frames(value: Any, families: list[str], compression: Compression) -> object:
    return serialize_bytelist(value, serializers=families, compression=compression)


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--print", action="store_true", dest="shown")
    if parser.parse_args().shown:
        print(table())
    else:
        PAGE.write_text(between(PAGE.read_text("utf-8"), "messages", table()), "utf-8")


if __name__ == "__main__":
    main()
