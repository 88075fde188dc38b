"""What is sent once more, after a worker of a cluster was killed, must be what stands there."""

from __future__ import annotations

import pytest

from serialpack.files.output import OutputGroup
from serialpack.files.uploads import FarOutput

fsspec = pytest.importorskip("fsspec", reason="pip install '.[remote]'")


def test_what_must_be_the_same_stays() -> None:
    """Another file is not overwritten, and what is not there is written."""
    store = fsspec.filesystem("memory")
    for name in ("same", "other"):
        store.pipe(f"/again/{name}", b"data")
    before = store.info("/again/same")["created"]
    with OutputGroup(each=True) as group:
        group.only_same = True
        for name, data in (("same", b"data"), ("other", b"atad"), ("new", b"data")):
            with FarOutput(f"memory://again/{name}", force=True) as output:
                output.write(data)
        failed = group.commit()
    assert list(failed) == ["memory://again/other"]
    assert store.info("/again/same")["created"] == before
    assert store.cat("/again/other") == store.cat("/again/new") == b"data"
