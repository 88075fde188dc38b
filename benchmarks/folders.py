"""A folder of 10,000 JSON files of about 2 kB, each packed by itself: beside ``zstd -r``.

    python -m benchmarks.folders                  indented and compact files, half of each
    python -m benchmarks.folders --files 1000 -n 9

Commands run one after the other in turns. Each run writes into a folder of its own, and nothing is
removed before the end: for half a minute ext4 passes over the inodes of what was just removed, one
by one, which takes longer than all else. What a run leaves to be written is brought to disk before
the next one, which would have to wait for it. The yardstick of what packs is ``zstd -r``, of what
unpacks ``zstd -d -r``; both bring nothing to disk. Of a busy machine processor time tells more than
seconds on the clock.
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.archives import size_of, write_files
from benchmarks.measure import Run, Step, run

COMMAND = (sys.executable, "-m", "serialpack")
PACK, UNPACK = (*COMMAND, "pack", "-q", "-r"), (*COMMAND, "unpack", "-q", "-r")
ZSTD = ("zstd", "-q", "-r")

#: What is measured, each group beside the first of it: words before the folder that is read.
GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "files": {
        "zstd -r": ZSTD,
        "pack -r": PACK,
        "pack -r -j 1": (*PACK, "-j", "1"),
        "pack -r --sync each": (*PACK, "--sync", "each"),
        "pack -r --no-verify": (*PACK, "--no-verify"),
    },
    "zst": {"zstd -d -r": (*ZSTD, "-d")},
    "spk": {
        "unpack -r": UNPACK,
        "unpack -r -j 1": (*UNPACK, "-j", "1"),
        "unpack -r --test": (*UNPACK, "--test"),
    },
}


def steps(below: Path, numbers: count[int]) -> dict[str, Step]:
    """The commands, each with a folder of its own to write to."""
    found = {}
    for source, commands in GROUPS.items():
        for name, words in commands.items():
            out = below / f"out-{next(numbers)}"
            out.mkdir()
            into = [] if "--test" in words else ["-o", str(out)]
            if words[0] == "zstd":
                into[0] = "--output-dir-mirror"
            found[name] = Step((*words, str(below / source), *into))
    again = (*PACK, "--skip-existing", str(below / "files"), "-o", str(below / "spk"))
    return {**found, "pack -r --skip-existing": Step(again)}


def measured(below: Path, times: int) -> dict[str, list[Run]]:
    """The runs of each command."""
    numbers = count()
    (below / "zst").mkdir()
    run(Step((*ZSTD, str(below / "files"), "--output-dir-mirror", str(below / "zst"))))
    run(Step((*PACK, str(below / "files"), "-o", str(below / "spk"))))
    runs: dict[str, list[Run]] = {}
    for _ in range(times):
        for name, step in steps(below, numbers).items():
            os.sync()
            runs.setdefault(name, []).append(run(step))
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=10_000, help="how many")
    parser.add_argument("-n", "--times", type=int, default=3, help="runs of each command")
    chosen = parser.parse_args()
    with TemporaryDirectory() as name:
        below = Path(name)
        for kind, indent in (("indented", 2), ("compact", None)):
            (below / "files" / kind).mkdir(parents=True)
            write_files(below / "files" / kind, chosen.files // 2, indent=indent)
        runs = measured(below, chosen.times)
        sizes = [size_of(below / folder) for folder in GROUPS]
        print(f"{chosen.files:,} files: {sizes[0]:,} bytes; .zst {sizes[1]:,}, .spk {sizes[2]:,}")
        print("| command | seconds | of the processor | speed | by the processor |")
        print("| --- | --- | --- | --- | --- |")
        for name, found in runs.items():
            beside = runs["zstd -d -r" if name.startswith(("unpack", "zstd -d")) else "zstd -r"]
            pairs = [*zip(found, beside, strict=True)]
            clock, cpu = median(r.seconds for r in found), median(r.cpu for r in found)
            ratios = [
                median(other.seconds / each.seconds for each, other in pairs),
                median(other.cpu / each.cpu for each, other in pairs),
            ]
            print(f"| {name} | {clock:.2f} | {cpu:.2f} | {ratios[0]:.2f}x | {ratios[1]:.2f}x |")


if __name__ == "__main__":
    main()
