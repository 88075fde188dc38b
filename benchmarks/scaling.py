"""What a cluster gains, and what it costs: ``python -m benchmarks.scaling``.

    python -m benchmarks.scaling             measures, and writes the table of docs/scaling.md
    python -m benchmarks.scaling --no-write  measures, and prints it

Packs a batch on clusters of one and two workers in turn, several times, and counts what goes
through the scheduler for each task. The workers are processes of this machine: what is measured
of two is its own two cores, whoever else uses them.
"""

from __future__ import annotations

import argparse
import importlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from serialpack.cli.files.batch import Commit, FileJob
from serialpack.cli.files.cluster import Cluster
from serialpack.cli.files.workers import file_packer
from serialpack.pipeline.workers import usable_cores
from tools._marks import between

#: The page that has the table.
PAGE = Path(__file__).parents[1] / "docs" / "scaling.md"

#: So many small files are packed while messages are counted.
_SMALL = 400


class Work(NamedTuple):
    """One run: seconds that passed, and of CPU of all workers."""

    wall: float
    cpu: float


def made(folder: Path, files: int, size: int) -> list[FileJob]:
    """Files of records, of about ``size`` bytes each, and where they go."""
    random = Random(7)
    jobs = []
    for number in range(files):
        path = folder / f"{number}.ndjson"
        lines: list[str] = []
        while sum(map(len, lines[-1:])) * len(lines) < size:
            word = random.randbytes(4).hex()
            lines.append(f'{{"id": {len(lines)}, "x": {random.random()}, "s": "{word}"}}\n')
        path.write_text("".join(lines))
        jobs.append(FileJob(str(path), f"{path}.spk", size=size))
    return jobs


def waiting_packer(seconds: float) -> Callable[[FileJob, Any], Any]:
    """What packs a file, and waits so long for each, as for a storage that is far away."""
    pack = file_packer({"serializer": "columns"}, force=True)

    def work(job: FileJob, progress: Any) -> Any:
        time.sleep(seconds)
        return pack(job, progress)

    return work


def run(cluster: Cluster, jobs: list[FileJob], in_group: int, wait: float = 0) -> Work:
    """Pack all ``jobs``, so many in a task."""
    make = partial(waiting_packer, wait)
    groups = [jobs[at : at + in_group] for at in range(0, len(jobs), in_group)]
    before, since = cpu(cluster), time.perf_counter()
    for _, outcomes in cluster.in_order(groups, make, Commit(each=False, read_back=False)):
        for outcome in outcomes:
            assert not isinstance(outcome, Exception), outcome
    return Work(time.perf_counter() - since, cpu(cluster) - before)


def cpu(cluster: Cluster) -> float:
    """Seconds of CPU that all workers have used."""
    return float(sum(cluster.client.run(time.process_time).values()))


@contextmanager
def opened(workers: int) -> Iterator[Cluster]:
    """A cluster of so many workers, here."""
    cluster = Cluster("local", workers)
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def counted(cluster: Cluster) -> Iterator[Counter[str]]:
    """What the scheduler, which is in this process, reads and writes meanwhile."""
    tcp: Any = importlib.import_module("distributed.comm.tcp")
    found: Counter[str] = Counter()
    own = cluster.client.scheduler.address
    read, write = tcp.TCP.read, tcp.TCP.write

    def note(comm: Any, message: Any, way: str) -> None:
        if comm.local_address == own:
            found[f"{way} messages"] += len(message) if isinstance(message, list | tuple) else 1
            found[f"{way} turns"] += 1

    async def reading(self: Any, *args: Any, **named: Any) -> Any:
        message = await read(self, *args, **named)
        note(self, message, "read")
        return message

    async def writing(self: Any, message: Any, *args: Any, **named: Any) -> Any:
        note(self, message, "written")
        size = await write(self, message, *args, **named)
        if self.local_address == own:
            found["bytes"] += size
        return size

    tcp.TCP.read, tcp.TCP.write = reading, writing
    try:
        yield found
    finally:
        tcp.TCP.read, tcp.TCP.write = read, write


def table(done: dict[tuple[int, float], list[Work]], files: int, size: int, load: float) -> str:
    """The runs by workers and waiting, one turn after another."""
    lines = [
        f"{files} files of {size / 1e6:g} MB, on {usable_cores()} cores with a load of {load:.0f};"
        " one turn after another:",
        "",
        "| work | 1 worker | 2 workers |",
        "| --- | --- | --- |",
    ]
    for wait in sorted({wait for _, wait in done}, reverse=True):
        words = f"waiting {wait:g} s for each file, as for a far storage" if wait else "not waiting"
        rows = {f"{words}: seconds": "wall", "seconds of the processor of all workers": "cpu"}
        for row, field in rows.items():
            cells = [
                ", ".join(f"{getattr(work, field):.2f}" for work in done[workers, wait])
                for workers in (1, 2)
            ]
            lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure, print a line for each, and write the page's table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=32)
    parser.add_argument("--size", type=int, default=1 << 20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--wait", type=float, default=0.5)
    parser.add_argument("--no-write", action="store_true")
    asked = parser.parse_args()
    load, runs = os.getloadavg()[0], dict[tuple[int, float], list[Work]]()
    with tempfile.TemporaryDirectory() as folder:
        jobs = made(Path(folder), asked.files, asked.size)
        for turn in range(asked.turns):
            for workers, wait in ((1, 0.0), (2, 0.0), (1, asked.wait), (2, asked.wait)):
                with opened(workers) as cluster:
                    run(cluster, jobs[:4], 1)  # what is imported once is imported
                    done = run(cluster, jobs, 1, wait)
                runs.setdefault((workers, wait), []).append(done)
                rate = asked.files * asked.size / 1e6
                print(
                    f"turn {turn}, {workers} workers, waiting {wait} s a file: {done.wall:.2f} s,"
                    f" {rate / done.wall:.1f} MB/s; CPU {done.cpu:.2f} s",
                    flush=True,
                )
        measured = table(runs, asked.files, asked.size, load)
        print(measured)
        if not asked.no_write:
            PAGE.write_text(between(PAGE.read_text("utf-8"), "scaling", measured), "utf-8")
        small = made(Path(folder), _SMALL, 100)
        for in_group in (1, 20):
            with opened(2) as cluster, counted(cluster) as found:
                done = run(cluster, small, in_group)
            tasks = _SMALL // in_group
            each = {name: round(count / tasks, 1) for name, count in sorted(found.items())}
            print(f"{_SMALL} files of 100 B, {in_group} a task: {done.wall:.2f} s; a task: {each}")


if __name__ == "__main__":
    main()
