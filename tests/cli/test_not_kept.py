"""What an archive does not keep, or give back, is told when it is packed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from serialpack.archive.not_kept import leads_out
from tests.cli.conftest import Run
from tests.cli.told import needs_posix


@needs_posix
def test_hard_links_and_links_out_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in/x").mkdir(parents=True)
    (tmp_path / "in/a.json").write_text("[1]")
    (tmp_path / "alone").hardlink_to(tmp_path / "in/a.json")
    (tmp_path / "in/x/inside").symlink_to("../a.json")
    said = run("pack", "-r", "in", "--archive", "-o", "a.spk").stderr.decode()
    assert "a.spk: " not in said
    (tmp_path / "in/x/b.json").hardlink_to(tmp_path / "in/a.json")
    (tmp_path / "in/x/out").symlink_to("/etc")
    said = run("pack", "-r", "in", "--archive", "-o", "b.spk").stderr.decode()
    assert "b.spk: 2 names of the same files (hard links) became files of their own\n" in said
    assert "b.spk: 1 link leads out of what unpack writes to, and will not be made by it\n" in said
    refused = run("unpack", "b.spk", code=4).stderr.decode()
    assert "b/in/x/out: is a link out of the folder" in refused
    assert run("pack", "-q", "-r", "in", "--archive", "-o", "c.spk").stderr == b""


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="Python knows no attributes here")
def test_extended_attributes_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    try:
        os.setxattr(tmp_path / "a.json", "user.note", b"1")
    except OSError:
        pytest.skip("this file system keeps no attributes")
    said = run("pack", "a.json", "--archive", "-o", "a.spk").stderr.decode()
    assert "a.spk: 1 entry has extended attributes or an ACL, which are not kept\n" in said


@pytest.mark.parametrize(
    ("entry", "target", "out"),
    [
        ("a", "b", False),
        ("a", "..", True),
        ("x/a", "..", False),
        ("x/a", "../../b", True),
        ("x/a", "y/../b", True),
        ("a", "/", True),
    ],
)
def test_which_links_lead_out(entry: str, target: str, out: bool) -> None:
    assert leads_out(entry, target) == out


def test_an_archive_without_files_is_told_of(run: Run, tmp_path: Path) -> None:
    """Nothing at all was said."""
    (tmp_path / "in/x").mkdir(parents=True)
    run("pack", "-r", "in", "--archive", "-o", "a.spk")
    assert run("unpack", "a.spk", "-o", "out").stderr == b"a.spk -> out: 2 entries, 0 B\n"
