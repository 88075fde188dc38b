"""A cluster: a killed worker costs only a retry, Ctrl-C cancels, other versions are said."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

import serialpack
from tests.cli.conftest import environment
from tests.faults.conftest import MIB, Command, Start, finish, hidden, records, wait_for

pytest.importorskip("distributed", reason="pip install '.[dask]'")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="open files of a process: /proc"),
]

FILES = 8


class Cluster(NamedTuple):
    """A scheduler, in a process of its own, and workers, in one each."""

    address: str
    scheduler: Command
    workers: list[Command]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Two workers with one thread each, which nobody starts again."""
    env = environment(tmp_path)
    dask: list[str | Path] = [sys.executable, "-m", "dask"]
    where = ["--no-dashboard", "--host", "127.0.0.1"]
    said = tmp_path / "address.json"
    log_file = tmp_path / "log"
    with log_file.open("wb") as log:
        started = [
            subprocess.Popen(
                [*dask, "scheduler", "--port", "0", "--scheduler-file", said, *where],
                env=env,
                stderr=log,
            )
        ]
        wait_for(lambda: said.exists() and said.stat().st_size, "the scheduler")
        worker = [*dask, "worker", "--scheduler-file", said, "--no-nanny", "--nthreads", "1"]
        started += [
            subprocess.Popen([*worker, *where], env=env, stderr=log, cwd=tmp_path) for _ in range(2)
        ]
        wait_for(lambda: log_file.read_text().count("Registered to") == 2, "the workers")
        yield Cluster(json.loads(said.read_text())["address"], started[0], started[1:])
    for process in reversed(started):
        process.kill()
        process.wait()


@pytest.fixture
def batch(tmp_path: Path) -> None:
    """Files that take a while each at ``-6``."""
    folder = tmp_path / "in"
    folder.mkdir()
    random = Random(20)
    for number in range(FILES):
        rows = (f'{{"n": {n}, "x": {random.random()}}}\n' for n in range(30_000))
        (folder / f"{number}.ndjson").write_text("".join(rows))


def holds_hidden(process: Command) -> bool:
    """Whether it is writing an output, which is below its folder; what pytest captures is not."""
    place = Path(f"/proc/{process.pid}/cwd").readlink()
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found = link.readlink()
            if found.is_relative_to(place) and (
                found.name.startswith(".serialpack-") or found.name.endswith(" (deleted)")
            ):
                return True
    return False


def assert_outputs_alone(folder: Path) -> None:
    """There are some outputs, none hidden; without any there is no folder."""
    if folder.exists():
        assert not hidden(folder)
        assert 0 < len(list(folder.iterdir())) < FILES


@pytest.mark.parametrize(
    "verb", [("pack", "-6"), ("unpack", "--to", "msgpack")], ids=lambda v: v[0]
)
@pytest.mark.usefixtures("batch")
def test_a_killed_worker_costs_only_a_retry(
    start: Start, cluster: Cluster, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    """All is there in the end, as from a run without a cluster, and nothing else."""
    out = tmp_path / "out"
    command = start(*verb, "-q", "-r", "in", "-o", "out", "--scheduler", cluster.address)
    wait_for(lambda: holds_hidden(cluster.workers[0]), "a worker that writes")
    cluster.workers[0].kill()
    finish(command, 0)
    assert len(list(out.iterdir())) == FILES
    finish(start(*verb, "-q", "-r", "in", "-o", "here"), 0)
    for path in out.iterdir():
        assert path.read_bytes() == (tmp_path / "here" / path.name).read_bytes()
    assert verb[0] != "pack" or serialpack.inspect(path).members


@pytest.mark.parametrize(
    "how",
    [
        ("pack", "-s", "raw", "-c", "zstd:5", "data.txt"),
        ("unpack", "data.spk"),
        ("unpack", "--to", "msgpack", "data.ndjson"),
    ],
    ids=["pack", "unpack", "convert"],
)
def test_of_a_cut_file_a_killed_worker_costs_its_blocks(
    start: Start, cluster: Cluster, tmp_path: Path, how: tuple[str, ...]
) -> None:
    """Which the other one does; the client writes, what a run without a cluster does."""
    if how[0] == "pack":
        (tmp_path / how[-1]).write_bytes(
            b"".join(Random(number).randbytes(3 << 20) * 2 for number in range(12))
        )
    elif how[-1] == "data.spk":
        text = b"".join(b64encode(Random(number).randbytes(6 << 20)) for number in range(12))
        serialpack.pack(BytesIO(text), tmp_path / how[-1], serializer="raw", codec="zlib:1")
    else:
        (tmp_path / how[-1]).write_bytes(records(70 * MIB))
    assert (tmp_path / how[-1]).stat().st_size > 64 * MIB
    command = start(*how, "-q", "-o", "there", "--scheduler", cluster.address)
    wait_for(lambda: holds_hidden(command), "an output of the client's")
    cluster.workers[0].kill()
    finish(command, 0)
    finish(start(*how, "-q", "-o", "here"), 0)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


@pytest.mark.usefixtures("batch")
def test_ctrl_c_cancels(start: Start, cluster: Cluster, tmp_path: Path) -> None:
    """What is begun leaves nothing, what waits is never begun; the workers are as before."""
    command = start("pack", "-q6", "-r", "in", "-o", "out", "--scheduler", cluster.address)
    wait_for(lambda: holds_hidden(cluster.workers[1]), "a worker that writes")
    command.send_signal(signal.SIGINT)
    finish(command, 130, most=0)
    wait_for(lambda: not any(map(holds_hidden, cluster.workers)), "an end")
    time.sleep(1)
    assert_outputs_alone(tmp_path / "out")
    finish(start("pack", "-q1", "-r", "in", "-o", "more", "--scheduler", cluster.address), 0)
    assert len(list((tmp_path / "more").iterdir())) == FILES


def of_session(leader: Command) -> list[str]:
    """The processes of its session, also those that ended and nobody has asked of yet."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            if int(status.read_text().rpartition(")")[2].split()[3]) == leader.pid:
                found.append(status.parent.name)
    return found


@pytest.mark.usefixtures("batch")
def test_ctrl_c_ends_a_cluster_of_its_own(start: Start, tmp_path: Path) -> None:
    """Ctrl-C goes to the workers, too: they say nothing of it, and none outlives the command."""
    how = ("-r", "in", "-o", "out", "--scheduler", "local", "-j", "2")
    command = start("pack", "-q9", *how, start_new_session=True)
    wait_for(lambda: (tmp_path / "out").exists() and hidden(tmp_path / "out"), "an output")
    assert len(of_session(command)) > 3
    os.killpg(command.pid, signal.SIGINT)
    finish(command, 130, most=0)
    assert not of_session(command)
    assert_outputs_alone(tmp_path / "out")


@pytest.mark.usefixtures("batch")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_cluster_of_its_own_starts(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    """Workers that were not up yet said of Ctrl-C by a traceback each, of many lines; and what was
    not ended was told, and left its folders."""
    (place := tmp_path / "temporary").mkdir()
    how = ("-r", "in", "-o", "out", "--scheduler", "local", "-j", "2")
    env = {"TMPDIR": str(place)}
    command = start("pack", "-q9", *how, start_new_session=True, env=env)
    wait_for(lambda: len(of_session(command)) > 2, "a worker that starts")
    if number == signal.SIGINT:
        os.killpg(command.pid, number)
    else:
        command.send_signal(number)
    finish(command, 128 + number, most=0)
    assert not of_session(command)
    assert not any(place.iterdir())


@pytest.mark.usefixtures("batch")
def test_a_scheduler_that_goes(start: Start, cluster: Cluster) -> None:
    """What is not done is named, a line each; nobody waits for it to come again."""
    command = start("pack", "-q6", "-r", "in", "-o", "out", "--scheduler", cluster.address)
    wait_for(lambda: holds_hidden(cluster.workers[0]), "a worker that writes")
    cluster.scheduler.kill()
    said = finish(command, 1, most=FILES).splitlines()
    assert said
    gone = f".ndjson: the scheduler {cluster.address} is gone; --skip-existing goes on"
    assert all(line.startswith("serialpack: in/") and gone in line for line in said)


@pytest.mark.usefixtures("batch")
def test_a_scheduler_that_is_not_there(start: Start) -> None:
    """One line, which also says how long it was waited for."""
    command = start("pack", "-r", "in", "-o", "out", "--scheduler", "tcp://127.0.0.1:9")
    said = finish(command, 1)
    assert said.startswith("serialpack: tcp://127.0.0.1:9: no scheduler: nobody answers")
    within = re.search(r"within (\d+) seconds", said)
    assert within is not None
    assert int(within[1]) < 10


@pytest.mark.usefixtures("batch")
def test_other_versions_are_said(start: Start, cluster: Cluster, tmp_path: Path) -> None:
    """Of what workers have; the work goes on."""
    folder = tmp_path / "other" / "serialpack-0.0.1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: serialpack\nVersion: 0.0.1\n")
    command = start(
        *("pack", "-1", "-r", "in", "-o", "out", "--scheduler", cluster.address),
        env={"PYTHONPATH": os.pathsep.join((str(folder.parent), str(Path(__file__).parents[2])))},
    )
    said = finish(command, 0, most=FILES + 2)
    assert f" serialpack {serialpack.__version__}, here it is 0.0.1; " in said
