"""What is at the edge: empty files, full disks, words that no header holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from serialpack.stages.stage import is_installed
from tests.cli.conftest import Run


@pytest.mark.skipif(not is_installed("tomli_w"), reason="tomli-w is not installed")
def test_an_empty_file_is_an_empty_map(tmp_path: Path, run: Run) -> None:
    """It is so in TOML: one record in no bytes."""
    empty = tmp_path / "e.toml"
    empty.write_bytes(b"")
    run("pack", "-s", "toml", empty)
    empty.write_bytes(b"other")
    run("unpack", "-f", f"{empty}.spk")
    assert empty.read_bytes() == b""
    document = tmp_path / "d.json"
    document.write_bytes(b"{}")
    run("unpack", "--to", "toml", document)
    assert (tmp_path / "d.toml").read_bytes() == b""
    run("pack", "-s", "toml", tmp_path / "d.toml")
    run("unpack", "--test", tmp_path / "d.toml.spk")


def test_what_no_header_holds_is_a_wrong_call(tmp_path: Path, run: Run) -> None:
    """Words of the user's that are no text are refused, and nothing is written."""
    (tmp_path / "a").write_bytes(b"a")
    done = run("pack", "--meta", b"k=\xff", tmp_path / "a", code=2)
    assert b"the header cannot hold" in done.stderr
    assert not (tmp_path / "a.spk").exists()
