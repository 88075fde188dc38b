"""What dump and load cost beside joblib, NumPy and bare serializers: ratios of one run.

    python -m benchmarks.objects                  all of it, with an array of 256 MiB
    python -m benchmarks.objects --array 1024     the array has so many MiB
    python -m benchmarks.objects --only messages  or arrays, models, lists; repeatable

``messages``: ``dumps`` and ``loads`` together, of about 100 bytes and 10 kB, beside the bare
serializer's own, in CPU time. ``arrays``: float64 under the codec none, through memory beside two
copies by NumPy, and through files (written into the page cache, read from it) beside joblib and
numpy.save; then numbers that compress well under a fast chain, in CPU time, beside Blosc alone.
``models``: a dict of 100 arrays, and an object of trees, beside joblib's settings; ``lists``: those
of numbers, moments and records, beside its ``compress=3``.
Every figure is the minimum of runs that alternate. joblib is taken from the environment that
benchmarks/arrays.py has, and measured where it can be installed.
"""

from __future__ import annotations

import argparse
import io
import json
import marshal
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import msgpack
import numpy as np

import serialpack
from benchmarks.environment import environment

RUNS, LEAST = 7, 0.02

#: Chain -> the bare library's write and read.
BARE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "msgpack+none": (msgpack.packb, msgpack.unpackb),
    "json+none": (lambda obj: json.dumps(obj).encode(), json.loads),
    "pickle+none": (pickle.dumps, pickle.loads),
    "marshal+none": (marshal.dumps, marshal.loads),
}
MESSAGE = {"id": 12345, "op": "update", "values": [1, 2.5, None], "key": "task-0123456789abcdef"}


def fastest(
    works: Mapping[str, Callable[[], object]], clock: Callable[[], float], runs: int = RUNS
) -> dict[str, float]:
    """Seconds of each, at best; they take turns, each as often as takes a while."""
    times = {}
    best = dict.fromkeys(works, float("inf"))
    for name, work in works.items():
        start = clock()
        work()
        times[name] = max(int(LEAST / max(clock() - start, 1e-7)), 1)
    for _ in range(runs):
        for name, work in works.items():
            start = clock()
            for _ in range(times[name]):
                work()
            best[name] = min(best[name], (clock() - start) / times[name])
    return best


def _both_ways(value: Any, write: Callable[[Any], Any], read: Callable[[Any], Any]) -> object:
    return read(write(value))


def messages() -> None:
    large = [{"id": n, "name": f"name {n}", "tags": ["a", "b"], "x": n * 1.5} for n in range(230)]
    print("| serializer | message | bare, µs | over it, unproved | proved | bytes over |")
    print("| --- | --- | --- | --- | --- | --- |")
    for chain, (write, read) in BARE.items():
        for value in (MESSAGE, large):
            bare, ours = write(value), serialpack.dumps(value, chain)

            def both(verify: bool, value: Any = value, chain: str = chain) -> object:
                data = serialpack.dumps(value, chain, verify=verify)
                return serialpack.loads(data, trust=True)

            works: dict[str, Callable[[], object]] = {
                "bare": partial(_both_ways, value, write, read),
                "unproved": partial(both, False),
                "proved": partial(both, True),
            }
            took = fastest(works, process_time)
            over = [
                f"+{(took[name] - took['bare']) * 1e6:.1f} µs ({took[name] / took['bare']:.2f}x)"
                for name in ("unproved", "proved")
            ]
            cells = chain, f"{len(bare)} bytes", f"{took['bare'] * 1e6:.1f}", *over
            print(f"| {' | '.join(cells)} | {len(ours) - len(bare)} |")


def arrays(mebibytes: int, folder: Path) -> None:
    array = np.random.default_rng(1).random(mebibytes << 17)
    ours, theirs, other = folder / "a.spk", folder / "a.npy", folder / "a.joblib"
    packed = serialpack.dumps(array, "objects+none")

    def dump() -> None:
        with ours.open("wb") as file:  # by its name it would be brought to disk
            serialpack.dump(array, file, "objects+none")

    works: dict[str, Callable[[], object]] = {
        "copy": array.copy,
        "dumps": lambda: serialpack.dumps(array, "objects+none"),
        "loads": lambda: serialpack.loads(packed),
        "dump": dump,
        "load": lambda: serialpack.load(ours),
        "load, mapped": lambda: serialpack.load(ours, mmap_mode="r"),
        "numpy.save": lambda: np.save(theirs, array),
        "numpy.load": lambda: np.load(theirs),
    }
    if find_spec("joblib"):
        import joblib

        works["joblib.dump"] = lambda: joblib.dump(array, other)
        works["joblib.load"] = lambda: joblib.load(other)
    took = fastest(works, perf_counter, 3)
    print("| work | GB/s |\n| --- | --- |")
    for name, seconds in took.items():
        print(f"| {name} | {array.nbytes / seconds / 1e9:.2f} |")
    ratio = 2 * took["copy"] / (took["dumps"] + took["loads"])
    print(f"\ndumps and loads: {ratio:.2f} of the speed of two copies")
    for one, two in (("numpy.save", "numpy.load"), ("joblib.dump", "joblib.load")):
        if one in took:
            ratio = (took[one] + took[two]) / (took["dump"] + took["load"])
            print(f"dump and load: {ratio:.2f} times as fast as {one} and {two}")


def fast_chain(mebibytes: int) -> None:
    """A core's speed under shuffle and blosc-lz4, and what of it Blosc takes for itself."""
    import blosc

    chain, block = "objects+shuffle:8+blosc-lz4", 4 << 20
    walk = np.cumsum(np.random.default_rng(1).integers(-3, 4, mebibytes << 17)) * 0.5
    flat = walk.data.cast("B")
    packed = serialpack.dumps(walk, chain)
    blosc.set_nthreads(1)
    cut = [flat[at : at + block] for at in range(0, len(flat), block)]
    chunks = [blosc.compress(piece, 8, 5, blosc.SHUFFLE, "lz4") for piece in cut]
    works: dict[str, Callable[[], object]] = {
        "dumps": lambda: serialpack.dumps(walk, chain, threads=1),
        "dumps, unproved": lambda: serialpack.dumps(walk, chain, threads=1, verify=False),
        "loads": lambda: serialpack.loads(packed, threads=1),
        "blosc.compress": lambda: [
            blosc.compress(each, 8, 5, blosc.SHUFFLE, "lz4") for each in cut
        ],
        "blosc.decompress": lambda: [blosc.decompress(each) for each in chunks],
    }
    took = fastest(works, process_time, 3)
    print(f"\n| {chain}, {walk.nbytes / len(packed):.1f} times smaller | GB/s a core |")
    print("| --- | --- |")
    for name, seconds in took.items():
        print(f"| {name} | {walk.nbytes / seconds / 1e9:.2f} |")


class Forest:
    """Trees of arrays, as those of scikit-learn are kept."""

    def __init__(self, count: int) -> None:
        draw = np.random.default_rng(2)
        self.trees = [
            {
                "feature": draw.integers(0, 30, 9000),
                "threshold": np.round(draw.normal(size=9000), 3),
                "left": np.arange(9000) * 2 + 1,
                "value": draw.random((9000, 1, 3)).astype("f4").astype("f8"),
            }
            for _ in range(count)
        ]


def models(folder: Path) -> None:
    draw = np.random.default_rng(3)
    hundred = {f"a{n}": np.cumsum(draw.integers(-3, 4, 20_000)) * 0.5 for n in range(100)}
    print("| model | by | MB | dump, s | load, s |\n| --- | --- | --- | --- | --- |")
    for name, obj in (("dict of 100 arrays", hundred), ("forest", Forest(25))):
        kind = "pickle" if name == "forest" else "objects"
        made: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {}
        for chain in ("shuffle:8+zstd:1", "shuffle:8+blosc-lz4", "shuffle:8+zstd:9"):

            def save(path: Path, obj: Any = obj, chain: str = f"{kind}+{chain}") -> None:
                with path.open("wb") as file:
                    serialpack.dump(obj, file, chain)

            made[f"{kind}+{chain}"] = save, lambda path: serialpack.load(path, trust=True)
        if find_spec("joblib"):
            import joblib

            settings: tuple[Any, ...] = (0, ("zlib", 1), ("zlib", 3), ("lz4", 1), ("xz", 1))
            for how in settings:
                if how and how[0] == "lz4" and find_spec("lz4") is None:
                    continue

                def store(path: Path, obj: Any = obj, how: Any = how) -> object:
                    return joblib.dump(obj, path, compress=how)

                made[f"joblib, compress={how!r}"] = store, joblib.load
        for by, (write, read) in made.items():
            path = folder / "model"
            works = {"dump": partial(write, path), "load": partial(read, path)}
            took = fastest(works, perf_counter, 3)
            size = path.stat().st_size / 1e6
            print(f"| {name} | {by} | {size:.2f} | {took['dump']:.3f} | {took['load']:.3f} |")


def _by_joblib(obj: Any) -> bytes:
    import joblib

    file = io.BytesIO()
    joblib.dump(obj, file, compress=3)
    return file.getvalue()


def _from_joblib(data: bytes) -> Any:
    import joblib

    return joblib.load(io.BytesIO(data))


def lists() -> None:
    draw = np.random.default_rng(4)
    count, day = 200_000, datetime(2024, 1, 1)
    floats = draw.normal(size=count).tolist()
    kinds: dict[str, Any] = {
        "integers in a row": list(range(count)),
        "integers below 1000": draw.integers(0, 1000, count).tolist(),
        "floats": floats,
        "of two digits": [round(each, 2) for each in floats],
        "a third None": [None if n % 3 == 0 else each for n, each in enumerate(floats)],
        "moments": [day + timedelta(seconds=n) for n in range(count)],
        "tuples": [(n, each) for n, each in enumerate(floats)],
        "maps": [{"id": n, "x": each, "name": f"n{n % 50}"} for n, each in enumerate(floats)],
        "map of floats": dict(enumerate(floats)),
        "texts": [f"user {n % 777}" for n in range(count)],
    }
    if not find_spec("joblib"):
        return
    print("| list of 200,000 | bytes | of joblib's | dump, time of joblib's | load |")
    print("| --- | --- | --- | --- | --- |")
    for name, obj in kinds.items():
        packed, made = serialpack.dumps(obj), _by_joblib(obj)
        works: dict[str, Callable[[], object]] = {
            "dumps": partial(serialpack.dumps, obj),
            "loads": partial(serialpack.loads, packed),
            "joblib.dump": partial(_by_joblib, obj),
            "joblib.load": partial(_from_joblib, made),
        }
        took = fastest(works, perf_counter, 3)
        size = len(packed) / len(made)
        times = took["dumps"] / took["joblib.dump"], took["loads"] / took["joblib.load"]
        print(f"| {name} | {len(packed):,} | {size:.3f} | {times[0]:.2f} | {times[1]:.2f} |")


def _find_joblib() -> None:
    """Have ``import joblib`` find that of the peers, behind all that is installed here."""
    python, versions = environment("arrays", ("joblib",), install=True)
    if "joblib" in versions:
        where = "import joblib, pathlib; print(pathlib.Path(joblib.__file__).parents[1])"
        done = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
        sys.path.append(done.stdout.strip())


def main() -> None:
    parser = argparse.ArgumentParser(description="dump and load beside joblib, NumPy and others")
    parser.add_argument("--array", type=int, default=256, help="MiB of the array")
    names = ("messages", "arrays", "models", "lists")
    parser.add_argument("--only", action="append", choices=names, help="repeatable")
    given = parser.parse_args()
    if not find_spec("joblib"):
        _find_joblib()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in given.only or names:
            print(f"\n## {name}\n")
            if name == "messages":
                messages()
            elif name == "arrays":
                arrays(given.array, folder)
                fast_chain(given.array)
            elif name == "models":
                models(folder)
            else:
                lists()


if __name__ == "__main__":
    main()
