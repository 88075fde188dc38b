"""``--scheduler``: what comes of it is what comes of a run without one."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import serialpack
from serialpack.cli.files.batch import Commit, FileJob
from serialpack.cli.files.cluster import Cluster
from serialpack.conversion.files import convert
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.preview import is_splittable
from serialpack.conversion.tables.shaping import Shaping
from serialpack.formats.base import SourceBlock
from tests.cli.conftest import Run

#: How one converts who says nothing of it.
HOW: ConvertOptions = {
    "format": None,
    "lossy": (),
    "tagged": False,
    "skip_bad": False,
    "as_source": True,
    "below": None,
    "verify": True,
    "trust": False,
    "options": {},
    "threads": 1,
    "elsewhere": None,
    "max_size": None,
    "force": False,
    "fields": (),
    "strict": False,
    "shaping": Shaping(),
    "delimiter": None,
    "encoding": None,
    "no_header": False,
    "table": None,
}

pytest.importorskip("distributed", reason="pip install '.[dask]'")


@pytest.fixture
def batch(tmp_path: Path) -> None:
    """Some files in two folders, of which one is no JSON."""
    folder = tmp_path / "in"
    (folder / "more").mkdir(parents=True)
    for number in range(9):
        (folder / "more" / f"{number}.json").write_text(f'{{"n": {number}, "m": "{number:099}"}}')
    (folder / "bad.json").write_text('{"n": ')


def lines(said: bytes) -> list[dict[str, Any]]:
    """Lines of ``--json``, without times."""
    found = [json.loads(line) for line in said.splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in found]


@pytest.mark.usefixtures("batch")
def test_a_local_cluster_makes_the_same(run: Run, tmp_path: Path) -> None:
    """The same outputs, lines, names and exit code; what failed is named as it was typed."""
    command = ("pack", "-r", "in", "-s", "cbor", "--json", "-o", "out")
    (tmp_path / "in/no").mkdir()
    (tmp_path / "in/no/0.json").write_text("{}")
    for name in ("here", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "no").touch()
    here = run(*command[:-1], "here", code=3)
    there = run(*command, "--scheduler", "local", "-j", "1", code=3)
    assert lines(there.stdout) == lines(here.stdout.replace(b'"here/', b'"out/'))
    said = there.stderr.replace(b": out/", b": here/").splitlines()
    assert said[:-1] == here.stderr.splitlines()[:-1]
    assert said[0].startswith(b"serialpack: in/bad.json: ")
    assert b"serialpack: in/no/0.json: here/no: is no folder" in said
    made = {path.name: path.read_bytes() for path in (tmp_path / "out/more").iterdir()}
    assert made == {path.name: path.read_bytes() for path in (tmp_path / "here/more").iterdir()}
    assert len(made) == 9
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"more", "no"}


@pytest.mark.parametrize(
    ("address", "said"),
    [("nonsense", b"no scheduler: missing port"), ("foo://host:1", b"no scheduler: unknown")],
)
def test_what_is_no_address_is_one_line(run: Run, sample: Path, address: str, said: bytes) -> None:
    stderr = run("pack", sample, "--scheduler", address, code=1).stderr
    assert stderr.startswith(b"serialpack: " + address.encode() + b": " + said)
    assert len(stderr.splitlines()) == 1
    assert stderr.endswith(b"--scheduler local needs none\n")


def test_another_server_is_said_to_be_none(run: Run, sample: Path) -> None:
    """dask took its words for a number of bytes to make room for: it was "out of memory"."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError):  # the server was closed
                while True:
                    with server.accept()[0] as connection:
                        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        stderr = run("pack", sample, "--scheduler", address, code=1).stderr
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert stderr.startswith(
        f"serialpack: {address}: no scheduler: what answers is none of dask".encode()
    )
    assert len(stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("pack",),
        ("pack", "sample.ndjson", "-o", "-"),
        ("pack", "--archive", "sample.ndjson", "-o", "a.spk"),
        ("unpack", "--salvage", "a.spk"),
    ],
)
@pytest.mark.usefixtures("sample")
def test_what_is_for_one_machine_is_refused(run: Run, tmp_path: Path, words: list[str]) -> None:
    """Not done here as if nothing had been said."""
    there = set(tmp_path.iterdir())
    stderr = run(*words, "--scheduler", "local", code=2).stderr
    assert b"--scheduler: tasks make files of files" in stderr
    assert set(tmp_path.iterdir()) == there


class Done(NamedTuple):
    """A task that was done, and what it gave; it went both ways as bytes."""

    result: Any


class Answered(NamedTuple):
    """A task whose worker ended right after it gave its result: so there is no exception."""

    key: str
    status: str = "lost"

    def exception(self) -> None: ...


class AllAnswered(list[tuple[Answered, Any]]):
    """What ``as_completed`` gives, in the order in which it was added."""

    def add(self, task: Answered) -> None:
        self.append((task, [None]))

    def __next__(self) -> tuple[Answered, Any]:
        return self.pop(0)


class OneAtATime:
    """What ``Cluster`` needs of a client and of distributed, here."""

    KilledWorker = ChildProcessError

    def nthreads(self) -> dict[str, int]:
        return {"here": 1}

    def map(self, _: Any, groups: list[Any], *, pure: bool, key: str) -> list[Answered]:
        assert not pure
        return [Answered(f"{key}-{number}") for number in range(len(groups))]

    def as_completed(self, *, with_results: bool, raise_errors: bool) -> AllAnswered:
        assert (with_results, raise_errors) == (True, False)
        return AllAnswered()

    def submit(self, function: Any, *args: Any, pure: bool) -> Done:
        assert not pure
        function, args = pickle.loads(pickle.dumps((function, args)))
        return Done(pickle.loads(pickle.dumps(function(*args), protocol=5)))

    def gather(self, task: Done, *, direct: bool) -> Any:
        assert direct
        return task.result


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster.__new__(Cluster)
    made.client = made._distributed = OneAtATime()
    made.tell = None
    return made


def test_what_a_worker_answered_before_it_ended_counts(cluster: Cluster) -> None:
    """It was a TypeError: what had become of the task was asked of its state alone."""
    groups = [[FileJob(name, None)] for name in "ab"]
    done = cluster.in_order(groups, lambda: lambda *_: None, Commit(each=False, read_back=False))
    assert list(done) == [(group, [None]) for group in groups]


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.ndjson", "a.bin"])
@pytest.mark.parametrize("serializer", ["raw", "columns", "msgpack"])
def test_a_cut_file_is_the_same_container(
    cluster: Cluster, tmp_path: Path, name: str, serializer: str
) -> None:
    """Workers read the blocks themselves; whoever packs sees no difference."""
    rows = [{"n": n, "s": f"n{n * n},"} for n in range(3000)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "a.csv").write_text("n,s\n" + "".join(f'{r["n"]},"{r["s"]}"\n' for r in rows))
    (tmp_path / "a.bin").write_bytes(bytes(range(256)) * 300)
    if (name, serializer) == ("a.bin", "msgpack"):
        serializer = "auto"
    path, here, there = tmp_path / name, tmp_path / "here", tmp_path / "there"
    serialpack.pack(path, here, serializer=serializer, block_size=16 << 10)
    elsewhere = partial(cluster.blocks, str(path))
    told = serialpack.pack(
        path, there, serializer=serializer, block_size=16 << 10, elsewhere=elsewhere
    )
    assert told.blocks > 2
    assert there.read_bytes() == here.read_bytes()


@pytest.mark.parametrize("chain", ["raw zstd:1", "columns zstd:1", "msgpack zstd:1", "raw none"])
def test_a_cut_container_is_unpacked_to_the_same(
    cluster: Cluster, tmp_path: Path, chain: str
) -> None:
    """Workers read stored blocks themselves, of parts and in place too."""
    path, there = tmp_path / "a.spk", tmp_path / "there"
    source = "".join(f'{{"n": {n}, "s": "n{n * n},"}}\n' for n in range(3000)).encode()
    (tmp_path / "a.ndjson").write_bytes(source)
    serializer, codec = chain.split()
    serialpack.pack(
        tmp_path / "a.ndjson", path, serializer=serializer, codec=codec, block_size=16 << 10
    )
    path.write_bytes(path.read_bytes() * 2)
    told = serialpack.unpack(path, there, elsewhere=partial(cluster.blocks, str(path)))
    assert told.blocks > 4
    assert there.read_bytes() == source * 2
    with pytest.raises(serialpack.RefusedError, match="would write more"):
        serialpack.unpack(path, None, max_size=99_999, elsewhere=partial(cluster.blocks, str(path)))


@pytest.mark.parametrize("target", ["json", "ndjson", "csv", "msgpack", "parquet", "yaml"])
@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.ndjson", "a.msgpack", "a.cbor"])
def test_a_cut_source_becomes_the_same(
    cluster: Cluster, tmp_path: Path, name: str, target: str
) -> None:
    """Read once, or twice where its columns are not known before."""
    rows = [{"n": n, "s": f"n{n * n}\u00e9,"} for n in range(400)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    path, here, there = tmp_path / name, tmp_path / "here", tmp_path / "there"
    if name != "a.json":
        convert(tmp_path / "a.json", path, to=name[2:])
    cut = 0

    def elsewhere(blocks: Iterator[SourceBlock], make: Any) -> Iterator[Any]:
        nonlocal cut
        for each in cluster.blocks(str(path), blocks, make):
            cut += 1
            yield each

    convert(path, here, to=target, block_size=2 << 10)
    told = convert(path, there, to=target, block_size=2 << 10, elsewhere=elsewhere)
    assert there.read_bytes() == here.read_bytes()
    assert told.records in (400, None)
    assert cut > 2


@pytest.mark.parametrize("name", ["a.ndjson", "a.ndjson.gz", "a.ndjson.spk", "a.csv"])
def test_what_does_not_stand_in_the_source_is_not_cut(
    cluster: Cluster, tmp_path: Path, name: str
) -> None:
    """What is read of it is here only: of what is compressed, packed, or in another encoding."""
    path = tmp_path / name
    rows = "n,m\n" * 3000
    data = rows.encode("utf-16") if name == "a.csv" else b'{"n": 1}\n' * 3000
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    if name.endswith("spk"):
        serialpack.pack(io.BytesIO(data), path, format="ndjson", force=True)
    assert is_splittable(path, "json", HOW) == (name == "a.ndjson")
    assert not is_splittable(path, "npy", HOW)
    assert not is_splittable(tmp_path / "none", "json", HOW)
    convert(path, tmp_path / "out", to="json", elsewhere=partial(cluster.blocks, str(path)))


def test_a_file_that_changes_between_two_readers_is_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    path = tmp_path / "data"
    path.write_bytes(bytes(100_000))

    def read(pieces: Iterator[SourceBlock]) -> Iterator[SourceBlock]:
        for piece in pieces:
            path.write_bytes(b"x" * 100_000)
            yield piece

    def elsewhere(blocks: Iterator[SourceBlock], make: Any) -> Iterator[Any]:
        return cluster.blocks(str(path), read(blocks), make)

    with pytest.raises(serialpack.FileError, match="changed while it was read"):
        serialpack.pack(path, tmp_path / "out", elsewhere=elsewhere)
    assert not (tmp_path / "out").exists()


def test_a_file_is_cut_where_it_is_more_than_a_share(cluster: Cluster) -> None:
    """Never one of less than 64 MiB."""
    jobs = [FileJob("a", "b", size=each << 20) for each in (1, 200, 300)]
    assert cluster.share(jobs[:1]) == 64 << 20
    assert cluster.share(jobs) == 501 << 20
