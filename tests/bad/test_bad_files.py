"""Every bad file is refused for what is bad in it, in one line, cheaply, by every way in."""

from __future__ import annotations

import hashlib
import io
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

import serialpack
from tests.bad.make import HERE, bad_files, listed

LISTED = listed()
MIB = 1 << 20


def test_every_rule_has_its_file_and_every_file_its_line() -> None:
    assert len(LISTED) > 80
    assert {f"{bad.name}.spk" for bad in bad_files()} == set(LISTED)
    assert {p.name for p in HERE.glob("*.spk")} == set(LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_a_bad_file_never_changes(name: str) -> None:
    assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == LISTED[name][1]


@pytest.mark.parametrize("name", LISTED)
def test_a_bad_file_is_refused_for_its_fault(name: str, tmp_path: Path) -> None:
    _, _, error, words, _ = LISTED[name]
    # An archive becomes no file: it is checked.
    target = None if name.startswith(("bad-rows", "bad-archive")) else tmp_path / "out"
    tracemalloc.start()
    try:
        with pytest.raises(getattr(serialpack, error)) as caught:
            serialpack.unpack(HERE / name, target, threads=1)
        assert tracemalloc.get_traced_memory()[1] < 20 * MIB
    finally:
        tracemalloc.stop()
    assert caught.value.exit_code == 3
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.path == str(HERE / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", LISTED)
def test_a_bad_file_breaks_no_other_way_in(name: str) -> None:
    """Looking at it from the end or asking for a range refuses it, says what is missing, or shows
    what is sound."""
    for look in (
        lambda file: serialpack.inspect(file),
        lambda file: serialpack.unpack(file, io.BytesIO(), record_range=(0, 2)),
        lambda file: serialpack.unpack(file, io.BytesIO(), byte_range=(80, 90)),
    ):
        with suppress(serialpack.InputError, serialpack.UsageError, serialpack.FileError):
            look(io.BytesIO((HERE / name).read_bytes()))
