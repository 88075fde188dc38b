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


def test_a_plan_says_of_near_copies_that_they_share_a_block(run: Run, tmp_path: Path) -> None:
    """It named the chain that each would have alone."""
    draw = random.Random(2)
    (tmp_path / "in").mkdir()
    data = draw.randbytes(4_500_000)  # too large to share blocks otherwise
    for number in range(2):
        changed = data[: number * 1000] + draw.randbytes(50) + data[number * 1000 + 50 :]
        (tmp_path / f"in/{number}.bin").write_bytes(changed)
    (tmp_path / "in/other.bin").write_bytes(draw.randbytes(6_000_000))
    words = ("pack", "-r", "in", "--archive", "-o", "a.spk")
    said = run(*words, "--dry-run").stderr.decode().splitlines()
    kept = "in a block of files that are nearly copies"
    assert [line.endswith(kept) for line in said] == [False, True, True, False]
    assert kept not in run(*words, "--dry-run", "--block-size", "1M").stderr.decode()
    run(*words)
    assert (tmp_path / "a.spk").stat().st_size < 4_500_000 * 1.01 + 6_000_000


def test_near_copies_come_into_one_block_wherever_they_stand(run: Run, tmp_path: Path) -> None:
    """Those of up to a block were not looked for, and a block of noise with copies far apart in it
    was stored."""
    draw = random.Random(3)
    (tmp_path / "in").mkdir()
    held = {}
    for number in range(16):
        data = draw.randbytes(500_000 + 10_000 * number)
        held[f"a{number:02}.jpg"] = data
        held[f"b{draw.randrange(10**9)}.jpg"] = draw.randbytes(3_000) + data[1000:]
    for name, data in held.items():
        (tmp_path / "in" / name).write_bytes(data)
    run("pack", "-q", "-r", "in", "--archive", "-o", "a.spk")
    assert (tmp_path / "a.spk").stat().st_size < 0.52 * sum(map(len, held.values()))
    run("unpack", "-q", "a.spk", "-o", "out")
    assert {each.name: each.read_bytes() for each in (tmp_path / "out/in").iterdir()} == held
