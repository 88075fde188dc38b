"""A cluster of two workers reads and writes a bucket: files as tasks, and blocks of a huge one."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.far.conftest import RECORDS
from tests.far.test_s3 import Bucket
from tests.far.test_s3 import _server as _server
from tests.far.test_s3 import bucket as bucket
from tests.faults.conftest import MIB, Start, finish
from tests.faults.conftest import start as start

pytest.importorskip("distributed", reason="pip install '.[dask]'")

from tests.faults.test_cluster import Cluster
from tests.faults.test_cluster import cluster as cluster

pytestmark = [pytest.mark.soak, pytest.mark.xdist_group("s3")]


def test_files_of_a_bucket_there_and_back(start: Start, bucket: Bucket, cluster: Cluster) -> None:
    sources = {f"{number}.ndjson": RECORDS[: 60 * (20_000 + number)] for number in range(6)}
    for name, data in sources.items():
        bucket.put(f"in/{name}", data)
    there = ("--scheduler", cluster.address)
    finish(start("pack", "-q", "-s", "raw", "-r", "s3://far/in", "-o", "s3://far/out", *there), 0)
    finish(start("unpack", "-q", "-r", "s3://far/out", "-o", "s3://far/back", *there), 0)
    assert {name: bucket.get(f"back/{name}") for name in sources} == sources
    assert len(bucket.fs.find("far")) == 3 * len(sources)


def test_a_huge_file_of_a_bucket_there_and_back(
    start: Start, bucket: Bucket, cluster: Cluster, tmp_path: Path
) -> None:
    """Workers ask for the bytes of their blocks; the container is that of a run without."""
    data = Random(1).randbytes(66 * MIB)
    url = bucket.put("huge", data)
    there = ("--scheduler", cluster.address)
    how = ("pack", "-q", "-s", "raw", "-c", "zstd:1", url, "-o")
    finish(start(*how, "s3://far/huge.spk", *there), 0)
    assert sum(bucket.sent) > 2 * len(data)
    finish(start(*how, tmp_path / "here.spk"), 0)
    assert bucket.get("huge.spk") == (tmp_path / "here.spk").read_bytes()
    finish(start("unpack", "-q", "s3://far/huge.spk", "-o", "s3://far/back", *there), 0)
    assert bucket.get("back") == data
