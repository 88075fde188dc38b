"""A folder of 10,000 JSON files as one file, beside tar, zip and 7z; and a file each, beside zstd.

    python -m benchmarks.archives                 indented and compact files, each of about 1.7 kB
    python -m benchmarks.archives --files 1000 -n 3

Commands run one after the other in turns (benchmarks.measure). The first of each group is 1 for its
sizes, and for its speeds by processor time: of seconds on the clock a busy machine tells little.
Tools that are not there are left out, which is said.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.measure import Step, alternate
from serialpack.bench.samples import parse_sample

_PACK = (sys.executable, "-m", "serialpack", "pack", "-q", "-f", "-r")


class Command(NamedTuple):
    """One of a group, and the file or folder that it makes (None: its output is what it makes)."""

    step: Step
    made: Path | None = None

    def size(self, output: int) -> int:
        """Bytes of what it made, of which so many were its output."""
        return output if self.made is None else size_of(self.made)


def size_of(made: Path) -> int:
    """Bytes of a file, or of all below a folder."""
    files = made.rglob("*") if made.is_dir() else [made]
    return sum(path.stat().st_size for path in files if path.is_file())


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


def one_file(folder: Path, out: Path) -> dict[str, Command]:
    """What makes one file of the folder, by name."""
    tar = ("tar", "-C", str(folder.parent), "-cf", "-", folder.name)
    found = {
        f"tar | zstd -{level}": Command(Step(("zstd", f"-{level}", "-q", "-c"), feed=tar))
        for level in (19, 3)
    }
    for effort in (1, 3, 6):
        made = out / f"{effort}.spk"
        argv = (*_PACK, f"-{effort}", str(folder), "--archive", "-o", str(made))
        found[f"serialpack -{effort}"] = Command(Step(argv), made)
    for name, options in (("zip", ("-q", "-r", "-FS")), ("7z", ("a", "-bso0"))):
        made = out / f"archive.{name}"
        found[name] = Command(Step((name, *options, str(made), str(folder))), made)
    return found


def a_file_each(folder: Path, out: Path) -> dict[str, Command]:
    """What makes a file of each file in the folder, by name."""
    options = {
        "zstd -r -3": ("zstd", "-3", "-q", "-f", "-r", str(folder), "--output-dir-mirror"),
        "serialpack -r": (*_PACK, str(folder), "-o"),
        "  --sync each": (*_PACK, str(folder), "--sync", "each", "-o"),
    }
    return {
        name: Command(Step((*argv, str(out / str(n)))), out / str(n))
        for n, (name, argv) in enumerate(options.items())
    }


def compare(commands: dict[str, Command], times: int) -> None:
    """Run a group whose first is the yardstick, and print a line for each."""
    for name, command in list(commands.items()):
        if shutil.which(command.step.argv[0]) is None:
            print(f"{name}: not installed, left out", file=sys.stderr)
            del commands[name]
    figures = alternate({name: command.step for name, command in commands.items()}, times)
    sizes = {name: command.size(figures[name].output) for name, command in commands.items()}
    first = next(iter(commands))
    for name, size in sizes.items():
        share, speed = size / sizes[first], figures[first].cpu / figures[name].cpu
        seconds = f"{figures[name].median:7.2f} s, {figures[name].cpu:7.2f} s of CPU"
        print(f"{name:16} {size:12,} {share:6.3f} {seconds} {speed:8.2f} x")


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
            print(f"{chosen.files:,} {kind} JSON files, {total:,} bytes")
            for group in (one_file, a_file_each):
                compare(group(folder, Path(name)), chosen.times)


if __name__ == "__main__":
    main()
