"""Folders for outputs that all failed are not left behind; others are never touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.injected import HIDDEN, has_unnamed, injected
from tests.noise import noise


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Two folders of files that are no containers, and no JSON."""
    for name in ("in/x/a.json.spk", "in/x/y/b.json.spk", "in/c.json.spk"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{")
        (tmp_path / name.removesuffix(".spk")).write_text("{")
    return tmp_path


COMMANDS = [
    ("unpack", "-r", "in", "--include", "*.spk"),
    ("unpack", "--to", "yaml", "-r", "in", "--include", "*.json"),
    ("pack", "-s", "cbor", "-r", "in"),
    ("unpack", "in/c.json.spk"),
    ("unpack", "in/c.json.spk", "in/x/a.json.spk"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_where_all_fail_no_folder_is_left(run: Run, broken: Path, command: tuple[str, ...]) -> None:
    """An empty ``-o`` folder was left, and empty ones below it."""
    run(*command, "-o", "new/out/", code=3)
    assert not (broken / "new").exists()
    # But none that was there.
    (broken / "there/out/x").mkdir(parents=True)
    run(*command, "-o", "there/out/", code=3)
    assert [*(broken / "there").rglob("*")] == [broken / "there/out", broken / "there/out/x"]


def test_what_is_whole_keeps_its_folders(run: Run, broken: Path) -> None:
    """Those that others failed for go."""
    (broken / "in/x/y/b.json").write_text("[1]")
    run("pack", "-s", "cbor", "-r", "in", "--exclude", "c.json", "-o", "out", code=3)
    assert sorted((broken / "out").rglob("*")) == [
        broken / "out/x",
        broken / "out/x/y",
        broken / "out/x/y/b.json.spk",
    ]


def test_an_archive_whose_entries_fail_leaves_no_folder(run: Run, tmp_path: Path) -> None:
    """But those that it holds, also empty ones."""
    (tmp_path / "in/x").mkdir(parents=True)
    (tmp_path / "in/empty").mkdir()
    (tmp_path / "in/x/a.bin").write_bytes(noise(200_000))
    several = ("--archive", "--block-size", "64K")
    run("pack", "in/x/a.bin", *several, "-o", "alone.spk")
    run("pack", "-r", "in", *several, "-o", "all.spk")
    for name in ("alone.spk", "all.spk"):
        data = bytearray((tmp_path / name).read_bytes())
        data[50_000] ^= 1
        (tmp_path / name).write_bytes(data)
    run("unpack", "alone.spk", "-o", "new/out", code=3)
    assert not (tmp_path / "new").exists()
    run("unpack", "all.spk", "-o", "new", code=3)
    assert sorted((tmp_path / "new").rglob("*")) == [
        tmp_path / "new/in",
        tmp_path / "new/in/empty",
        tmp_path / "new/in/x",
    ]


@pytest.mark.parametrize("hides", [True, False], ids=["hidden", "unnamed"])
def test_a_folder_that_another_run_removed_is_made_again(
    run: Run, tmp_path: Path, hides: bool
) -> None:
    """Two runs side by side, of which one fails, and is done just as the other one begins; where
    outputs have no name yet, any time before they get it."""
    if not hides and not has_unnamed(tmp_path):
        pytest.skip("no files without a name here")
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / name).write_text(name)
    call, about = ("open", ".serialpack-") if hides else ("link", "in/a.spk")
    env = injected(
        tmp_path / "site",
        f"{HIDDEN * hides}import os\n"
        f"real = os.{call}\n"
        "def calling(*args, **named):\n"
        f"    if {about!r} in str(args) and not os.path.exists('done'):\n"
        "        os.mkdir('done')\n"
        "        os.rmdir('out/in'); os.rmdir('out')\n"
        "    return real(*args, **named)\n"
        f"os.{call} = calling\n",
    )
    run("pack", "in/a", "in/b", "-o", "out/in/", env=env)
    assert (tmp_path / "done").exists()
    assert len([*(tmp_path / "out/in").iterdir()]) == 2


def test_a_dictionary_that_cannot_be_trained_leaves_no_folder(run: Run, tmp_path: Path) -> None:
    """The folder that it was to be in."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.json").write_text("[1]")
    run("pack", "-r", "in", "-o", "out", "--shared-dict", "out/kinds.dict", code=4)
    assert not (tmp_path / "out").exists()
