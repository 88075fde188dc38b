"""Small files of an archive share blocks, in which alike ones find each other."""

from __future__ import annotations

import random
from pathlib import Path

from tests.cli.conftest import Run


def test_files_that_are_alike_find_each_other_in_one_block(run: Run, tmp_path: Path) -> None:
    """Blocks were those of one file, and the window was less than those that they have now."""
    draw = random.Random(1)
    (tmp_path / "in").mkdir()
    texts = [draw.randbytes(400_000).hex() for _ in range(7)]
    for number, text in enumerate([*texts, texts[0]]):
        (tmp_path / f"in/{number}.txt").write_text(text)
    # Each of them takes 423,429 bytes.
    run("pack", "-q", "-r", "in", "--archive", "-o", "a.spk")
    assert (tmp_path / "a.spk").stat().st_size < 7.5 * 423_429
    run("unpack", "-q", "a.spk", "-o", "out")
    assert (tmp_path / "out/in/7.txt").read_text() == texts[0]
