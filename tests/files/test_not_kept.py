"""What a file system does not keep of mode and time is read back, and said in one line."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import serialpack
from serialpack.files.not_kept import NotKeptSum, has_holes
from serialpack.reports import NotKept

TIME = 10**18 + 123_456_789


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.json"
    path.write_text("[1]")
    path.chmod(0o640)
    os.utime(path, ns=(TIME, TIME))
    return path


def cut_to(step: int) -> Any:
    real = os.utime

    def cut(path: Any, *, ns: tuple[int, int], **how: Any) -> None:
        real(path, ns=(ns[0] // step * step, ns[1] // step * step), **how)

    return cut


def test_what_is_kept_is_not_told_of(source: Path, tmp_path: Path) -> None:
    assert serialpack.pack(source, tmp_path / "a.spk").not_kept is None
    assert serialpack.unpack(tmp_path / "a.spk", tmp_path / "b").not_kept is None
    assert serialpack.pack(io.BytesIO(b"[1]"), tmp_path / "c.spk").not_kept is None


def test_a_time_that_is_cut_is_in_each_report(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serialpack.pack(source, tmp_path / "a.spk")
    cut = cut_to(100)
    monkeypatch.setattr("serialpack.files.output.os.utime", cut)
    monkeypatch.setattr("serialpack.files.output._TIMED_OPEN", True)
    found = NotKept(None, 89)
    assert serialpack.pack(source, tmp_path / "b.spk").not_kept == found
    assert serialpack.unpack(tmp_path / "a.spk", tmp_path / "b").not_kept == found
    assert serialpack.convert(source, tmp_path / "b.yaml").not_kept == found


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="POSIX file modes")
@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP])
def test_a_mode_that_cannot_be_given_is_no_failure(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A disk that is another user's, as FAT is mounted, took no file: "cannot write: operation not
    permitted"."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("serialpack.files.output.os.fchmod", refuse)
    report = serialpack.pack(source, tmp_path / "a.spk")
    assert report.not_kept == NotKept((0o600, 0o640), 0)


def test_the_line_counts_and_names_the_first() -> None:
    def line(*found: tuple[str, NotKept | None]) -> str:
        both = NotKeptSum("output", "outputs")
        for path, each in found:
            both.add(path, each)
        return "\n".join(both.lines)

    keeps = "the file system does not keep "
    assert line(("a", None)) == ""
    assert line(("a", NotKept(None, 89))) == keeps + "the time (89 ns off) of a"
    mode = NotKept((0o777, 0o644), 0)
    assert line(("a", mode)) == keeps + "the mode (777, not 644) of a"
    both = NotKept((0o755, 0o644), 1_500_000_000)
    assert line(("a", both), ("b", None), ("c", both)) == keeps + (
        "the mode (755, not 644) and the time (up to 1.5 s off) of 2 outputs (first a)"
    )
    assert line(("a\n", NotKept(None, 5)), ("b", both)) == keeps + (
        "the mode (755, not 644) of b and the time (up to 1.5 s off) of 2 outputs (first a\\n)"
    )
    special = "set-user-ID, set-group-ID and sticky bits are not given to "
    assert line(("a", NotKept(None, 0, special=True))) == special + "a"
    assert line(("a", mode._replace(special=True)), ("b", NotKept(None, 0, special=True))) == (
        f"{keeps}the mode (777, not 644) of a\n{special}2 outputs (first a)"
    )
    assert "(20,454 days off)" in line(("a", NotKept(None, 20_454 * 86_400 * 10**9)))


@pytest.mark.skipif(not hasattr(os, "SEEK_HOLE"), reason="files have no holes here")
def test_a_file_that_takes_little_room_and_has_no_holes_is_not_sparse(tmp_path: Path) -> None:
    """As a file system that compresses has them."""
    (tmp_path / "a").write_bytes(b"text")
    compressed: Any = SimpleNamespace(st_blocks=0, st_size=4)
    assert not has_holes(str(tmp_path / "a"), compressed)
