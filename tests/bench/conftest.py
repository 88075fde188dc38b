"""What the tests of bench share."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

ROOT = Path(__file__).parents[2]
PLANTED = Path(__file__).parent / "planted"


def running(mark: str) -> list[int]:
    """Processes that have ``mark`` in their environment: whoever started them has gone or not."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark.encode() in environ.read_bytes():
                found.append(int(environ.parent.name))
    return found


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stages of planted/ are registered, here and in every process started from here."""
    monkeypatch.syspath_prepend(str(PLANTED))
    for registry, entry in importlib.import_module("planted_stages").entries():
        monkeypatch.setitem(registry._by_name, entry.name, entry)
        monkeypatch.setitem(registry._by_number, entry.number, entry)
    path = [str(PLANTED), str(ROOT), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))


@pytest.fixture
def nothing_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After the test no process runs that was started in it."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc")
    mark = uuid4().hex
    monkeypatch.setenv("SERIALPACK_TEST", mark)
    yield
    # One that was just killed may take a moment.
    for _ in range(50):
        if not running(mark):
            return
        time.sleep(0.1)
    assert not running(mark)
