"""A folder of 10,000 JSON files as one file: serialpack's archives beside tar, zip and 7z.

    python -m benchmarks.archives                 indented and compact files, each of about 1.7 kB
    python -m benchmarks.archives --files 1000 -n 3

Commands run one after the other in turns (benchmarks.measure). The size of ``tar | zstd -19`` is 1
for sizes, its processor time for speeds: of seconds on the clock a busy machine tells little.
Tools that are not there are left out, which is said.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Step, alternate
from serialpack.bench.samples import parse_sample

#: What sizes and speeds are told beside.
YARDSTICK = "tar | zstd -19"


def write_files(folder: Path, count: int, *, indent: int | None) -> int:
    """So many documents, a person and some records each, in ten folders; all their bytes."""
    people = parse_sample("phonebook:1")[0].make_value(count)
    records = parse_sample("documents:1")[0].make_value(count * 8)
    share = 3 if indent else 8
    size = 0
    for n in range(count):
        person = {key: value for key, value in people[n].items() if key != "about"}
        document = {"id": n, "person": person, "items": records[n * share : n * share + share]}
        path = folder / f"{n % 10:02}" / f"item-{n:06}.json"
        path.parent.mkdir(exist_ok=True)
        size += path.write_text(json.dumps(document, indent=indent) + "\n")
    return size


def steps(folder: Path, out: Path) -> dict[str, Step]:
    """The commands whose tools are there, by their names."""
    tar = ("tar", "-C", str(folder.parent), "-cf", "-", folder.name)
    pack = (sys.executable, "-m", "serialpack", "pack", "-q", "-f", "-r", str(folder), "--archive")
    found = {
        f"serialpack -{effort}": Step((*pack, f"-{effort}", "-o", str(out / f"{effort}.spk")))
        for effort in (1, 3, 6)
    }
    found |= {
        f"tar | zstd -{level}": Step(("zstd", f"-{level}", "-q", "-c"), feed=tar)
        for level in (3, 19)
    }
    found["zip"] = Step(("zip", "-q", "-r", "-FS", str(out / "x.zip"), str(folder)))
    found["7z"] = Step(("7z", "a", "-bso0", str(out / "x.7z"), str(folder)))
    for name, step in list(found.items()):
        if shutil.which(step.argv[0]) is None:
            print(f"{name}: not installed, left out", file=sys.stderr)
            del found[name]
    return found


def size_of(step: Step, output: int) -> int:
    """Bytes of what a command made: a file it names, or its output."""
    files = [Path(word) for word in step.argv if Path(word).suffix in (".spk", ".zip", ".7z")]
    return files[0].stat().st_size if files else output


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=10_000, help="how many")
    parser.add_argument("-n", "--times", type=int, default=1, help="runs of each command")
    chosen = parser.parse_args()
    for kind, indent in (("indented", 2), ("compact", None)):
        with TemporaryDirectory() as name:
            folder = Path(name) / "files"
            folder.mkdir()
            total = write_files(folder, chosen.files, indent=indent)
            commands = steps(folder, Path(name))
            figures = alternate(commands, chosen.times)
            sizes = {each: size_of(commands[each], figures[each].output) for each in commands}
            print(f"{chosen.files:,} {kind} JSON files, {total:,} bytes")
            for each, size in sizes.items():
                share = size / sizes[YARDSTICK]
                speed = figures[YARDSTICK].cpu / figures[each].cpu
                seconds = f"{figures[each].median:7.2f} s, {figures[each].cpu:7.2f} s of CPU"
                print(f"{each:16} {size:12,} {share:6.3f} {seconds} {speed:8.2f} x")


if __name__ == "__main__":
    main()
