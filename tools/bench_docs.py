"""Writes docs/benchmarks.md from measuring the built-in samples, with the plots.

    python -m tools.bench_docs                     every sample: about nine minutes
    python -m tools.bench_docs uuid4 dna:10000     these, of their own size or of another
    python -m tools.bench_docs --budget 5          seconds for each, instead of its own
    python -m tools.bench_docs --page              measures nothing: the page from what is kept

Results are kept as JSON in docs/benchmarks/, as ``serialpack bench --save`` writes them, but with
figures of four digits; the plots stand beside them. A test holds the page against the results.
``docs/benchmarks/cold.json`` is shown where it is there: a file of over 1 GB, measured by
``serialpack bench --cold --save``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from serialpack.bench.reports import sentences
from serialpack.bench.reports.plot import plot
from serialpack.bench.results import Results, from_json
from serialpack.bench.run import Bench, Question
from serialpack.bench.samples import SAMPLES, parse_sample
from tools import _bench_text as text
from tools._bench_words import capital

DOCS = Path(__file__).parents[1] / "docs"

_INTRO = """# Benchmarks

Made by `make bench-docs`, which measures the built-in samples and writes this page from the
results; no figure in it is typed by hand. [measuring.md](measuring.md) says how it is measured.
All results, every row of them, are in [benchmarks/](benchmarks) as `serialpack bench --format json`
gives them, and `serialpack bench --compare` takes them. Of the runs the fastest counts. MB/s are
millions of bytes of the source a second. Bold, and in colour: on the front, which means that
nothing else here is both smaller and faster. `~`: measured with a part of the source, and scaled
up. [arrays.md](arrays.md) has arrays beside other files of them, and joblib's own benchmark.
"""


class Section(NamedTuple):
    """One sample on the page. ``budget``: seconds."""

    budget: float
    body: Callable[[Results], Iterator[str]]


SECTIONS = {
    "uuid4": Section(60, text.blosc),
    "phonebook": Section(60, text.blosc),
    "contacts": Section(60, text.blosc),
    "dna": Section(15, text.letters),
    "protein": Section(15, text.letters),
    "documents": Section(90, text.documents),
    "target-object": Section(120, text.curves),
    "messages": Section(40, text.messages),
    "field3d": Section(40, text.field),
    "field3d-fortran": Section(20, text.field),
    "random": Section(10, text.incompressible),
}

#: The results of the file that is read from the disk.
COLD = "cold"


class Kept:
    """The results in a folder."""

    def __init__(self, docs: Path) -> None:
        self.page = docs / "benchmarks.md"
        self.folder = docs / "benchmarks"

    def json(self, name: str) -> Path:
        """Where the results of a sample are."""
        return self.folder / f"{name}.json"

    def plot(self, name: str) -> Path:
        """Where its plot is."""
        return self.folder / f"{name}.svg"

    def read(self, name: str) -> Results | None:
        """None where it was not measured."""
        path = self.json(name)
        return from_json(json.loads(path.read_text("utf-8"))) if path.exists() else None

    def write(self, name: str, results: Results) -> None:
        """The results, a line a row, and their plot."""
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = shortened(results.to_json())
        rows = ",\n".join(json.dumps(row) for row in kept.pop("rows"))
        head = json.dumps(kept)[:-1]
        self.json(name).write_text(f'{head}, "rows": [\n{rows}\n]}}\n', "utf-8")
        self.draw(name)

    def draw(self, name: str) -> None:
        """The plot of what is kept, where there is something to draw."""
        found = self.read(name)
        if found is not None and any(row.pack_seconds for row in found.rows):
            plot(found, str(self.plot(name)), force=True)


def shortened(value: Any) -> Any:
    """``value`` with four digits of each fraction, which is more than two runs agree in."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    return [shortened(each) for each in value] if isinstance(value, list) else value


def page(kept: Kept) -> str:
    """All of docs/benchmarks.md."""
    parts = [_INTRO]
    for name, section in SECTIONS.items():
        sample, results = SAMPLES[name], kept.read(name)
        parts.append(f"## {name}\n\n{capital(sample.about)}.\n")
        if results is None:
            parts.append("Not measured yet.\n")
            continue
        command = f"serialpack bench --sample {results.source} --budget {results.budget:g}"
        parts += _shown(kept, name, results, f"`{command}`", section.body)
    results = kept.read(COLD)
    if results is not None:
        parts.append("## From the disk\n")
        parts += _shown(kept, COLD, results, f"`{results.source}`", text.cold)
    return "\n".join(parts)


def _shown(
    kept: Kept,
    name: str,
    results: Results,
    what: str,
    body: Callable[[Results], Iterator[str]],
) -> Iterator[str]:
    limit = sentences.limit(results)
    yield (
        f"{what}: {sentences.headline(results)}; {sentences.effort(results)}."
        + (f" {capital(limit)}." if limit else "")
        + f" On {sentences.machine(results)}.\n"
    )
    found = list(body(results))
    # Sentence and picture stand together: the first sentence says what it shows.
    yield from found[:1]
    if kept.plot(name).exists():
        yield f"![{_caption(results)}]({kept.folder.name}/{kept.plot(name).name})\n"
        yield f"{_caption(results)}.\n"
    yield from found[1:]


def _caption(results: Results) -> str:
    """What the plot shows, on what machine."""
    here = results.machine
    where = f"on {here.cpu}, {here.cores} cores"
    known = sum(row.pack_seconds is not None for row in results.rows)
    if any(row.n is not None for row in results.rows):
        ns = [row.n for row in results.rows if row.n is not None and row.pack_seconds]
        return f"Sizes and times of {results.source} over n, {min(ns):,} to {max(ns):,}, {where}"
    return f"Size against speed of {known:,} chains on {results.source}, {where}"


def measure(kept: Kept, name: str, budget: float | None) -> None:
    """Measure a sample, ``NAME`` or ``NAME:N``, and keep what was found.

    One of sweeps is measured over all of its N, or with ``:N`` as far as that.
    """
    sample, n = parse_sample(name)
    seconds = SECTIONS[sample.name].budget if budget is None else budget
    sweep = [point for point in sample.table.sweep if ":" not in name or point <= n]
    print(f"{name}: {seconds:g} s", file=sys.stderr, flush=True)
    found = Bench(Question(name, is_sample=True, budget=seconds, sweep=sweep)).run()
    kept.write(sample.name, found)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("samples", nargs="*", metavar="SAMPLE", help=", ".join(SECTIONS))
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="for each sample")
    parser.add_argument("--page", action="store_true", help="measure nothing; draw nothing")
    parser.add_argument("--docs", type=Path, default=DOCS, help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    kept = Kept(chosen.docs)
    if not chosen.page:
        for name in chosen.samples or SECTIONS:
            measure(kept, name, chosen.budget)
        kept.draw(COLD)
    kept.page.write_text(page(kept), "utf-8")


if __name__ == "__main__":
    main()
